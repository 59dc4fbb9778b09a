"""The programs of a user: git, and the installed command, run in an environment of their own."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from in_process import run_in_process, runs_alike
from standing import run_standing

SECONDS = 60
"""How long a command may take unless a test says otherwise."""


def make_environment(folder: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Tess Ter\n\temail = tess@example.com\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n[advice]\n\tdetachedHead = false\n"
        "[maintenance]\n\tauto = false\n",
        encoding="utf-8",
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MEMORY_HOME": str(home / "registry"),
        "LANG": "C.UTF-8",
        "PYTHONWARNINGS": "error",
    }


def begins_python(options: str = "") -> str:
    """The first lines of a script in Python; the system takes no path with blanks behind `#!`."""
    if " " not in sys.executable:
        return f"#!{sys.executable} {options}".rstrip() + "\n"
    return f"#!/bin/sh\n'''exec' '{sys.executable}' {options} \"$0\" \"$@\"\n' '''\n"


without_shell = pytest.mark.skipif(
    " " in sys.executable, reason="below a path with blanks the installed programs begin with a shell, which speaks up"
)


def empty_repository(folder: Path) -> None:
    """What `git init` leaves, but for the examples of hooks; copied, since most tests begin with one."""
    shutil.copytree(_template(), folder)


@functools.cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="quire-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    env = make_environment(folder)
    subprocess.run(["git", "init", "--quiet", str(folder / "empty")], env=env, check=True)
    for hook in (folder / "empty/.git/hooks").glob("*.sample"):
        hook.unlink()
    return folder / "empty"


class Git:
    """The git program, for what a user does with it."""

    def __init__(self, cwd: Path, env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self.env = env

    def __call__(self, *arguments: str | bytes | Path, cwd: Path | None = None, stdin: bytes = b"") -> str:
        line = ["git", *arguments]
        done = subprocess.run(line, cwd=cwd or self.cwd, env=self.env, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape")

    def commit(self, message: str = "work") -> str:
        self("add", "--all")
        self("commit", "--quiet", "--allow-empty", "--message", message)
        return self._head() or self("rev-parse", "HEAD").strip()

    def _head(self) -> str:
        """The commit of a branch that is kept as a file; empty where it is kept elsewhere."""
        try:
            head = (self.cwd / ".git/HEAD").read_text()
            return (self.cwd / ".git" / head.removeprefix("ref: ").strip()).read_text().strip()
        except OSError:
            return ""


class Run(msgspec.Struct, frozen=True):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        assert self.json["ok"] is True, self.out
        return self.json["data"]

    @property
    def error(self) -> Any:
        """The error of a failed command, its envelope checked on the way."""
        envelope = self.json
        assert set(envelope) == {"ok", "error", "warnings", "meta"}
        assert envelope["ok"] is False
        assert set(envelope["error"]) == {"code", "message", "hint", "details"}
        return envelope["error"]


class Memory:
    """The installed command. Whatever a test is about, a crash of the program fails it.

    A call runs in this process (see `in_process.py`) where that makes no difference, else in a process of its own: from
    a standing start (see `standing.py`), or anew where it should be `fresh`.
    """

    def __init__(self, cwd: Path, env: Mapping[str, str], prefix: Sequence[str] = (), *, fresh: bool = False) -> None:
        found = shutil.which("memory", path=os.path.dirname(sys.executable))
        assert found, "the package is not installed beside this interpreter"
        self.program = [*prefix, found]
        self.fresh = fresh or bool(prefix)
        self.cwd = cwd
        self.env = env

    def __call__(
        self,
        *arguments: str,
        stdin: bytes | str | dict[str, Any] = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Run:
        line = [*self.program, *arguments]
        place, environment, given = cwd or self.cwd, {**self.env, **(env or {})}, _bytes(stdin)
        found, limit = None, seconds or SECONDS
        if not self.fresh and seconds is None and runs_alike(arguments, str(place), environment):
            found = run_in_process(arguments, str(place), environment, given)
        elif not self.fresh:
            found = run_standing(line, str(place), environment, given, limit)
        if found is None:
            done = subprocess.run(
                line,
                cwd=place,
                env=environment,
                input=given,
                capture_output=True,
                timeout=seconds or SECONDS,
                check=False,
            )
            found = done.returncode, done.stdout, done.stderr
        code, out, err = found
        run = Run(code, out.decode(), err.decode())
        for said in (run.out, run.err):
            assert "Traceback" not in said, said
            assert "Quire itself failed" not in said, said
        return run

    def start(self, *arguments: str, cwd: Path | None = None, **options: Any) -> subprocess.Popen[bytes]:
        """The command in the background."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([*self.program, *arguments], cwd=cwd or self.cwd, env=self.env, **pipes)

    def init(self, *arguments: str, **options: Any) -> Run:
        run = self("init", *arguments, **options)
        assert run.code == 0, run.err
        return run

    def save(self, *nodes: dict[str, Any], task: str = "test", **lists: Any) -> Any:
        """Save these nodes and answer with the report; it must work."""
        run = self("save", "--stdin", "--json", stdin={"task": task, "nodes": list(nodes), **lists})
        assert run.code == 0, run.out
        return run.data


def _bytes(stdin: bytes | str | dict[str, Any]) -> bytes:
    if isinstance(stdin, dict):
        return json.dumps(stdin).encode()
    return stdin.encode() if isinstance(stdin, str) else stdin
