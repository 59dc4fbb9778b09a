"""Hooks as a client runs them: the installed command, fresh, with a payload on its standard input."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from quire.clients.lines import read_log
from quire.clients.receipts import Receipt, read_receipts

__all__ = ["SHOP_NODES", "SILENCE", "Answered", "Hooks", "left_behind", "text_in", "unseen"]

SILENCE = {"claude": "", "codex": "", "opencode": "", "gemini": "{}\n", "cursor": "{}\n", "copilot": "{}\n"}
NAMES = ("hookSpecificOutput", "hookEventName", "additionalContext", "additional_context", "context")
SHOP_NODES = (
    {
        "kind": "feature",
        "title": "Order book",
        "body": "Orders are only ever appended; a correction is a new order.",
        "stage": "building",
        "anchors": ["src/orders.py"],
    },
    {"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift on the ledger hosts; sort by sequence number."},
    {"kind": "decision", "title": "Webhook retries", "body": "Webhook deliveries are retried at most five times."},
)
_MARK = "QUIRE_TEST_OF_HOOKS"


class Answered(msgspec.Struct, frozen=True):
    """How a hook ended, what it said, and how long it took."""

    code: int
    out: str
    err: str


class Hooks:
    """The hooks of one project."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        found = shutil.which("quire", path=os.path.dirname(sys.executable))
        assert found, "the package is not installed beside this interpreter"
        self.program = found
        self.root = root
        self.mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self.env = {**env, _MARK: self.mark}

    def __call__(
        self,
        *words: str,
        stdin: bytes | dict[str, Any] | None = None,
        prefix: Sequence[str] = (),
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        **options: Any,
    ) -> Answered:
        """Run one hook to its end. A dictionary is a payload, and the folder is filled in."""
        given = self.payload(**(stdin or {})) if stdin is None or isinstance(stdin, dict) else stdin
        done = subprocess.run(
            [*prefix, self.program, "hook", *words],
            cwd=cwd or self.root,
            env=self._env(env),
            input=given,
            capture_output=True,
            timeout=90,
            check=False,
            **options,
        )
        return Answered(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(
        self, *words: str, env: Mapping[str, str | None] | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        """A hook whose standard input is held open."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        line = [self.program, "hook", *words]
        return subprocess.Popen(line, cwd=self.root, env=self._env(env), **pipes)

    def said(self, *words: str, **fields: Any) -> str:
        """The text that a hook hands over; it must end well, and in the client's form."""
        done = self(*words, stdin=fields)
        assert (done.code, done.err) == (0, "")
        return text_in(done.out, words[0])

    def payload(self, **fields: Any) -> bytes:
        return json.dumps({"session_id": "s-1", "cwd": str(self.root), **fields}).encode()

    def edit(self, file: str, client: str = "claude", **fields: Any) -> str:
        """What is said before an edit of a file of the project."""
        given = {"tool_name": "Edit", "tool_input": {"file_path": str(self.root / file)}, **fields}
        return self.said(client, "before-edit", **given)

    def receipts(self, session: str = "") -> list[Receipt]:
        return read_receipts(str(self.root), session)

    def log(self) -> list[str]:
        return read_log(str(self.root), 1_000)

    def forget(self) -> None:
        """As if no hook had ever been heard."""
        for name in ("receipts.jsonl", "receipts-old.jsonl", "ended.jsonl", "hooks.log"):
            (self.root / ".memory/local" / name).unlink(missing_ok=True)

    def _env(self, more: Mapping[str, str | None] | None) -> dict[str, str]:
        return {name: value for name, value in {**self.env, **(more or {})}.items() if value is not None}


def text_in(out: str, client: str) -> str:
    """The text in an answer; an answer that is no silence and not in the client's form fails the test."""
    if out == SILENCE[client]:
        return ""
    answer = json.loads(out)
    assert out.endswith("}\n")
    assert out.count("\n") == 1
    nested = answer.get("hookSpecificOutput")
    if nested is not None:
        assert (set(answer), set(nested)) == ({NAMES[0]}, set(NAMES[1:3]))
        return str(nested["additionalContext"])
    ((name, text),) = answer.items()
    assert name in NAMES[2:]
    return str(text)


def left_behind(hooks: Hooks, seconds: float = 0.0) -> list[str]:
    """The processes that these hooks started and that still are there after so long; dead ones count, too."""
    until = time.monotonic() + seconds
    while (found := _running(hooks.mark)) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def _running(mark: str) -> list[str]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")) if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if f"{_MARK}={mark}".encode() in Path("/proc", name, "environ").read_bytes():
                line = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.append(f"{name} {line}")
    return found


def unseen(tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """What no hook may change: everything but this machine's own files and the index."""
    own = (".memory/local/", ".memory/index/", ".git/")
    return {name: data for name, data in tree.items() if not name.startswith(own)}
