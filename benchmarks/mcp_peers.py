"""The servers that are measured beside each other, each with a store of the same texts."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.facts_speed import make_lines
from benchmarks.mcp_talk import Served, Server
from benchmarks.stores import make_records
from quire.layers.facts.layout import FILE
from quire.layers.facts.lines import encode_record
from quire.layers.facts.types import Fact

OFFICIAL = "@modelcontextprotocol/server-memory@2026.8.31"
ABSENT = {"the original graph server": "@aictx/memory", "the original journal server": "@agent-connect/memory"}
"""Servers that could stand here too, if their packages were to be had."""
_SECONDS = 300
_LEAST_CHARACTERS = 5

__all__ = ["OFFICIAL", "Peer", "Question", "Store", "fetch_official", "look_for_originals", "make_stores", "node"]


class Question(msgspec.Struct, frozen=True):
    """Words of a record, and the one of them that fewest records hold: some servers look for a text as it stands."""

    words: str
    rarest: str


class Store(msgspec.Struct, frozen=True, kw_only=True):
    """The same records as each server wants them."""

    root: Path
    """A project with so many nodes in its graph and as many facts."""
    jsonl: Path
    """The official server's file with an entity for each node."""
    table: Path
    """A bare full-text table of the nodes."""
    questions: tuple[Question, ...]


class Peer(msgspec.Struct, frozen=True):
    """One server: how it is started, and which call asks it something."""

    line: tuple[str, ...]
    tool: str
    asked: str
    """The argument that takes the question."""
    rest: Mapping[str, Any] = {}
    rarest: bool = False
    """Whether it is asked for the rarest word only."""
    http: bool = False

    def start(self, store: Store) -> Server:
        env = {**os.environ, "MEMORY_FILE_PATH": str(store.jsonl)}
        return (Served if self.http else Server)(self.line, store.root, env)

    def arguments(self, question: Question) -> dict[str, Any]:
        return {self.asked: question.rarest if self.rarest else question.words, **self.rest}


def node() -> str | None:
    return shutil.which("node") if shutil.which("npm") else None


def fetch_official(folder: Path) -> tuple[str, ...] | str:
    """The line that starts the official server, or why it could not be had."""
    program = node()
    if program is None:
        return "node and npm are not installed"
    line = [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(folder),
        OFFICIAL,
    ]
    done = subprocess.run(line, capture_output=True, text=True, timeout=_SECONDS, check=False)
    script = folder / "node_modules" / OFFICIAL.rpartition("@")[0] / "dist/index.js"
    if done.returncode or not script.exists():
        return f"npm could not install it: {done.stderr.strip()[:120]}"
    return program, str(script)


def look_for_originals() -> dict[str, str]:
    """What the registry says of the original servers."""
    if node() is None:
        return dict.fromkeys(ABSENT, "node and npm are not installed")
    found = {}
    for name, package in ABSENT.items():
        done = subprocess.run(
            ["npm", "view", package, "version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        missing = "E404" in done.stderr
        found[name] = "not in the npm registry" if missing else done.stdout.strip() or "the registry does not answer"
    return found


def make_stores(folder: Path, records: int, memory: str, questions: int) -> Store:
    """A project with this many nodes and as many facts, its index made; the nodes once more as others want them."""
    root = folder / f"store-{records}"
    root.mkdir()
    env = {**os.environ, "GIT_AUTHOR_NAME": "Bench", "GIT_AUTHOR_EMAIL": "bench@example.com"}
    env |= {"GIT_COMMITTER_NAME": "Bench", "GIT_COMMITTER_EMAIL": "bench@example.com"}
    for line in (["git", "init", "-q"], ["git", "commit", "-q", "--allow-empty", "-m", "Begin"], [memory, "init"]):
        subprocess.run(line, cwd=root, env=env, check=True, capture_output=True)
    texts = make_records(root / ".memory", records)
    subprocess.run([memory, "facts", "store", "Decisions", "The first."], cwd=root, check=True, capture_output=True)
    facts = [line for line in make_lines(records, f"facts {records}") if isinstance(line, Fact)]
    (root / ".memory" / FILE).write_bytes(b"".join(encode_record(fact) + b"\n" for fact in facts))
    subprocess.run([memory, "query", "anything"], cwd=root, check=True, capture_output=True)
    nodes = list(_nodes(root))
    jsonl, table = folder / f"store-{records}.jsonl", folder / f"store-{records}.sqlite"
    with jsonl.open("w") as file:
        for kind, title, body in nodes:
            entity = {"type": "entity", "name": title, "entityType": kind, "observations": [body]}
            file.write(json.dumps(entity) + "\n")
    with contextlib.closing(sqlite3.connect(table)) as connection, connection:
        connection.execute("CREATE VIRTUAL TABLE raw USING fts5 (title, body, tokenize = 'porter unicode61')")
        connection.executemany("INSERT INTO raw VALUES (?, ?)", [(title, body) for _, title, body in nodes])
    return Store(root=root, jsonl=jsonl, table=table, questions=_questions(texts, questions))


def _nodes(root: Path) -> Iterator[tuple[str, str, str]]:
    """Kind, title and body of each node."""
    for path in sorted((root / ".memory/memory").glob("n*.json")):
        fields = json.loads(path.read_bytes())
        yield fields["type"], fields["title"], path.with_suffix(".md").read_text()


def _questions(texts: list[str], number: int) -> tuple[Question, ...]:
    """Two to six words of a known record, common ones among them."""
    chance = random.Random(number)
    held: dict[str, int] = {}
    for text in texts:
        for word in set(_words(text)):
            held[word] = held.get(word, 0) + 1
    found = []
    while len(found) < number:
        words = _words(chance.choice(texts))
        picked = chance.sample(words, chance.randint(2, 6))
        long = [word for word in picked if len(word) >= _LEAST_CHARACTERS]
        if long:
            found.append(Question(" ".join(picked), min(long, key=lambda word: held[word])))
    return tuple(found)


def _words(text: str) -> list[str]:
    return text.lower().rstrip(".").split()
