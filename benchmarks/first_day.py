"""Ten tasks of a first day: how many commands each takes, how many words one types, and how many one reads.

An earlier version is measured with its own program: `python -m benchmarks.first_day OLD/bin/memory` prints it. Tasks
for which that version has no verb of its own are done as its help says.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PAY = "import os\n\n\ndef charge(order):\n    return order.total\n\n\ndef refund(order):\n    return -order.total\n"
_BILLING = {"tags": ["billing"], "anchors": ["src/pay.py"]}
_NODES = [
    {"kind": "gotcha", "title": "Refunds are negative charges", "body": "The ledger wants a sign.", **_BILLING},
    {"kind": "decision", "title": "Retries run in the worker", "body": "A request must not wait.", **_BILLING},
    {"kind": "feature", "title": "Retry queue", "body": "Failed jobs run again.", "stage": "building", **_BILLING},
    {"kind": "question", "title": "Do we retry refunds?", "body": "Nobody has decided.", "tags": ["billing"]},
]
Line = tuple[tuple[str, ...], str]
"""A command, and what is written to its standard input."""


def _of(*lines: str) -> list[Line]:
    return [(tuple(line.split("|")), "") for line in lines]


def _saved(**node: Any) -> list[Line]:
    return [(("save", "--stdin"), json.dumps({"task": "first day", "nodes": [node]}))]


NOW: dict[str, list[Line]] = {
    "record that webhooks arrive twice": _of("add|gotcha|Webhooks can arrive twice|--anchor|src/pay.py"),
    "record a decision with its reason": _of("add|decision|Invoices live in Postgres|--why|two workers write at once"),
    "record a preference": _of("add|preference|Use uv, never pip"),
    "what do we know about retries": _of("query|retries"),
    "list all gotchas of billing": _of("list|--kind|gotcha|--tag|billing"),
    "read a record by half of its name": _of("inspect|retry-queue"),
    "find out how a verb is used": _of("help|confirm"),
    "what is out of date": _of("sync"),
    "what changed behind a record": _of("inspect|gotcha.refunds-are-negative-charges"),
    "confirm all that a formatter run touched": _of("confirm|--commit|HEAD|--reason|only formatting"),
}
BEFORE: dict[str, list[Line]] = {
    "record that webhooks arrive twice": _saved(
        kind="gotcha", title="Webhooks can arrive twice", body="Webhooks can arrive twice", anchors=["src/pay.py"]
    ),
    "record a decision with its reason": _saved(
        kind="decision", title="Invoices live in Postgres", body="Two workers write at once"
    ),
    "record a preference": _of("profile|remember|tools|package_manager|uv, never pip"),
    "list all gotchas of billing": _of("query|gotchas of billing|--kind|gotcha"),
    "read a record by half of its name": _of("inspect|retry-queue", "query|retry queue", "inspect|feature.retry-queue"),
    "find out how a verb is used": _of("help|confirm", "confirm|--help"),
    "confirm all that a formatter run touched": _of(
        "sync",
        "confirm|gotcha.refunds-are-negative-charges|decision.retries-run-in-the-worker|feature.retry-queue|"
        "--reason|only formatting",
    ),
}
"""What a version without `add`, `list`, `help VERB` and `confirm --commit` needs instead."""

__all__ = ["run"]


def run(program: str = "") -> dict[str, Any]:
    """The figures of this version, or of an earlier one that is named by its program."""
    memory = program or str(Path(sys.executable).parent / "memory")
    tasks = {**NOW, **BEFORE} if program else NOW
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        root = _project(Path(folder) / "shop", memory)
        found = {task: _done(lines, memory, root) for task, lines in tasks.items()}
    return {"tasks": found, "together": {name: sum(one[name] for one in found.values()) for name in _NAMES}}


_NAMES = ("commands", "words typed", "words read", "failed")


def _project(root: Path, memory: str) -> Path:
    """A shop with four records, whose code a formatter has touched since."""
    (root / "src").mkdir(parents=True)
    (root / "src/pay.py").write_text(PAY)
    for line in (["git", "init", "-q"], [memory, "init", "--no-guidance"], *_COMMIT):
        _call(line, root)
    _call([memory, "save", "--stdin"], root, json.dumps({"task": "start", "nodes": _NODES}))
    (root / "src/pay.py").write_text(PAY.replace("(order)", "(  order  )"))
    for line in _COMMIT:
        _call(line, root)
    return root


_COMMIT = (
    ["git", "add", "-A"],
    ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Run the formatter"],
)


def _done(lines: list[Line], memory: str, root: Path) -> dict[str, int]:
    runs = [_call([memory, *line], root, stdin) for line, stdin in lines]
    typed = sum(len(" ".join(("memory", *line, stdin)).split()) for line, stdin in lines)
    read = sum(len((done.stdout + done.stderr).split()) for done in runs)
    failed = sum(done.returncode != 0 for done in runs)
    return dict(zip(_NAMES, (len(lines), typed, read, failed), strict=True))


def _call(line: list[str], root: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(line, cwd=root, input=stdin, text=True, capture_output=True, check=False)


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:2]), indent=2))
