"""What a command does, counted from outside: how often it starts git, and how often it parses Python."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

_WATCH = """
import os, signal, sys

def watch(event, arguments):
    # `ast.parse` names no file.
    if event == "compile" and arguments[1] == "<unknown>":
        notes = os.open(os.environ["QUIRE_TEST_PARSES"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(notes, b".")
        if os.fstat(notes).st_size == int(os.environ["QUIRE_TEST_STOP"]):
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(notes)

sys.addaudithook(watch)
"""

__all__ = ["calls_of_git", "counted_parses"]


def calls_of_git(folder: Path, environment: Mapping[str, str]) -> tuple[str, Path]:
    """A `git` that notes every call before it is made; the PATH that leads to it, and its notes."""
    real = shutil.which("git", path=environment["PATH"])
    assert real
    notes, program = folder / "calls", folder / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {notes}\nexec {real} "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{environment['PATH']}", notes


def counted_parses(environment: Mapping[str, str], folder: Path, stop_at: int = 0) -> tuple[dict[str, str], Path]:
    """An environment in which Python notes every parse, as a byte; with `stop_at`, the parse at which it is killed."""
    notes = folder / "parses"
    notes.touch()
    (folder / "sitecustomize.py").write_text(_WATCH, encoding="utf-8")
    added = {"PYTHONPATH": str(folder), "QUIRE_TEST_PARSES": str(notes), "QUIRE_TEST_STOP": str(stop_at or -1)}
    return {**environment, **added}, notes
