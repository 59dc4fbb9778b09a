"""The command line run inside this process: what it prints and how it ends, without the cost of a process.

A call has its own arguments, environment, folder and streams, and puts back what it found. It runs the function that
the installed script calls. What only a process of its own can show (a signal, a time limit, a server, a child that it
leaves behind, what Python reads as it starts) is not for it: see `runs_alike`.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from quire.surfaces.cli.main import run

__all__ = ["SAME", "run_in_process", "runs_alike"]

# What these say is heeded when the interpreter starts, and by nobody later.
EARLY = ("PYTHON", "LC_", "LANG", "MALLOC", "LD_")
SAME = {"LANG": "C.UTF-8", "PYTHONWARNINGS": "error"}
# They fork, become another program, or are ended by a signal.
PROCESSES = ("hook", "view", "serve")


def runs_alike(arguments: Sequence[str], cwd: str, env: Mapping[str, str]) -> bool:
    """Whether a call in this process does all that a process of its own would do."""
    early = {name: value for name, value in env.items() if name.startswith(EARLY)}
    return (
        early == SAME
        and os.path.isdir(cwd)
        and not any(word in PROCESSES for word in arguments)
        and threading.current_thread() is threading.main_thread()
    )


def run_in_process(
    arguments: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bytes
) -> tuple[int, bytes, bytes]:
    """The exit code, and what was said on standard output and on standard error."""
    with _surroundings(cwd, env), _streams(stdin) as (out, err):
        try:
            code = run(list(arguments))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        sys.stdout.flush()
        sys.stderr.flush()
        return code, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def _surroundings(cwd: str, env: Mapping[str, str]) -> Iterator[None]:
    folder, before = os.open(".", os.O_RDONLY), dict(os.environ)
    try:
        os.chdir(cwd)
        _replace_environment(env)
        yield
    finally:
        _replace_environment(before)
        os.fchdir(folder)
        os.close(folder)


def _replace_environment(env: Mapping[str, str]) -> None:
    zone = os.environ.get("TZ")
    for name in os.environ.keys() - env.keys():
        del os.environ[name]
    for name, value in env.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    if env.get("TZ") != zone:
        time.tzset()


@contextlib.contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Standard input is a file that is gone when it is closed, since some ask for its number."""
    number = os.memfd_create("stdin")
    os.write(number, stdin)
    os.lseek(number, 0, os.SEEK_SET)
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdin, sys.stdout, sys.stderr
    with os.fdopen(number, encoding="utf-8", errors="surrogateescape") as given:
        sys.stdin = given
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8", errors="surrogateescape")
        sys.stderr = io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace")
        try:
            yield out, err
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
