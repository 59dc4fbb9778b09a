"""A file of facts where the original program keeps it is noticed, until it was imported."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commanding import WORKER, Here, fact_line

from installed import Memory

LINES = (
    fact_line(WORKER, "Architecture", "Webhook retries run in the worker.", status="active"),
    fact_line("267c091a6041", "Constraints", "A delivery is retried at most five times.", status="active"),
    {"_type": "mind", "name": "other"},
)
COMMANDS = (("facts",), ("facts", "list"), ("init",), ("import", "--dry-run"), ("status",))


@pytest.fixture
def here(memory: Memory) -> Here:
    memory.init("--no-guidance")
    return Here(memory.cwd, memory.env)


def leave(here: Here, path: str) -> Path:
    file = here.root / path
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in LINES) + "no json\n")
    return file


@pytest.mark.parametrize("path", ["ai/memory/facts.jsonl", ".omegon/memory/facts.jsonl", ".pi/memory/facts.jsonl"])
def test_it_is_noticed_until_it_was_imported(here: Here, path: str) -> None:
    file = leave(here, path)
    before = file.read_bytes()
    for line in COMMANDS:
        said = here(*line)
        assert f"{path}: Another program keeps 2 facts there, and none of them is in this memory." in said.err, line
        assert f"`memory facts import {path}` imports them" in said.err
        assert "FactsNotImported" in here(*line, "--json").warnings
    assert here("facts", "import", path).code == 0
    for line in COMMANDS:
        assert "FactsNotImported" not in here(*line, "--json").warnings, line
    assert set(here.listed()) == {WORKER, "267c091a6041"}
    assert file.read_bytes() == before


def test_the_one_that_the_original_reads_is_named(here: Here) -> None:
    for path in (".pi/memory/facts.jsonl", "ai/memory/facts.jsonl"):
        leave(here, path)
    assert "ai/memory/facts.jsonl: " in here("facts").err
    assert ".pi/memory" not in here("facts").err


def test_what_is_no_such_file_is_not_spoken_of(here: Here) -> None:
    leave(here, "elsewhere/facts.jsonl")
    (here.root / "ai").symlink_to(here.root / "elsewhere")
    (here.root / ".omegon/memory").mkdir(parents=True)
    os.mkfifo(here.root / ".omegon/memory/facts.jsonl")
    (here.root / ".pi/memory").mkdir(parents=True)
    (here.root / ".pi/memory/facts.jsonl").write_bytes(b"\xff\xfe{}\n[]\n" + b"[" * 100_000)
    for line in COMMANDS:
        assert "Another program" not in here(*line).err, line
