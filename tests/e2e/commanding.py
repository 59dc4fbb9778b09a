"""The command line run inside this process: what it prints and how it ends, without the cost of starting it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from in_process import run_in_process

__all__ = ["CMAP", "FIVE", "GAPS", "REDIS", "SAMPLE", "WORKER", "Here", "Said", "copy_of", "fact_line", "lines_of"]

WORKER, FIVE, CMAP, GAPS, REDIS = "57afd07611e9", "267c091a6041", "3d1f0c9a77b2", "8800aa11bb22", "90ff13579bdf"


def fact_line(name: str, section: str, content: str, **fields: Any) -> dict[str, Any]:
    created = "2026-03-01T09:00:00.000Z"
    return {"_type": "fact", "id": name, "section": section, "content": content, "created_at": created, **fields}


SAMPLE = (
    fact_line(WORKER, "Architecture", "Webhook retries run in the worker, never in the request.", version=1),
    fact_line(FIVE, "Constraints", "A delivery is retried at most five times.", version=2),
    fact_line(CMAP, "Known Issues", "PDF export hangs on fonts without a cmap.", version=3, tags=["pdf"]),
    fact_line(GAPS, "Specs", "Invoices are numbered without gaps.", version=4),
    fact_line(
        REDIS,
        "Decisions",
        "The queue lives in Redis.",
        version=5,
        status="archived",
        archived_at="2026-03-01T10:00:00.000Z",
        reason="it moved",
    ),
)
"""A small store: one fact in each of four sections, and one that was put away."""


class Said(msgspec.Struct, frozen=True):
    """How a command line ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output; nothing else may be said anywhere."""
        assert self.out.count("\n") == 1
        assert self.err == ""
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        envelope = self.json
        assert set(envelope) == {"ok", "data", "warnings", "meta"}
        assert envelope["ok"] is True, self.out
        assert set(envelope["meta"]) == {"project_root", "memory_root"}
        return envelope["data"]

    @property
    def warnings(self) -> list[str]:
        """The codes of the warnings."""
        return [item["code"] for item in self.json["warnings"]]

    @property
    def error(self) -> Any:
        envelope = self.json
        assert set(envelope) == {"ok", "error", "warnings", "meta"}
        assert envelope["ok"] is False
        assert set(envelope["error"]) == {"code", "message", "hint", "details"}
        return envelope["error"]


class Here:
    """A repository, and the command run in it. A crash of the program fails the test, whatever it is about."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self.root = root
        self.env = dict(env)

    @property
    def file(self) -> Path:
        return self.root / ".memory/facts.jsonl"

    def __call__(
        self, *arguments: str, stdin: bytes | str = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Said:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        code, *said = run_in_process(arguments, str(cwd or self.root), {**self.env, **(env or {})}, given)
        out, err = (item.decode() for item in said)
        for text in (out, err):
            assert "Traceback" not in text, text
            assert "Quire itself failed" not in text, text
        return Said(code, out, err)

    def write(self, *lines: dict[str, Any] | bytes) -> None:
        """Make the file anew of these lines."""
        raw = (line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines)
        self.file.write_bytes(b"".join(line + b"\n" for line in raw))

    def forget_reading(self) -> None:
        """What was read counts for more from then on: two answers are compared as if nothing had been read."""
        (self.root / ".memory/local/access.jsonl").unlink(missing_ok=True)

    def facts(self, *arguments: str, **options: Any) -> Said:
        return self("facts", *arguments, **options)

    def store(self, section: str, content: str, *arguments: str, **options: Any) -> str:
        """Store a fact, and give its id; it must work."""
        data = self.facts("store", section, content, *arguments, "--json", **options).data
        name: str = data["fact"]["id"]
        return name

    def listed(self, *arguments: str) -> dict[str, str]:
        """The active facts, by their ids."""
        return {item["id"]: item["content"] for item in self.facts("list", *arguments, "--json").data["results"]}


def copy_of(memory: Any, folder: Path) -> Here:
    """The repository of an installed command, copied, and the command run in the copy."""
    root = folder / "copy"
    shutil.copytree(memory.cwd, root)
    return Here(root, memory.env)


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of facts, each one an object."""
    return [json.loads(line) for line in file.read_bytes().splitlines()]
