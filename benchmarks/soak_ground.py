"""The project of a soak: a repository with all four layers, the home of its user, the installed programs."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.facts_speed import make_lines
from benchmarks.journal_sessions import make_events
from benchmarks.profile_speed import make_document
from benchmarks.stores import make_records
from quire.files.world import real_world
from quire.layers.facts.lines import encode_record
from quire.layers.journal.events import encode_event
from quire.project import Project

FILES = 40
SHARES = {"graph": 0.4, "facts": 0.4, "profile": 0.1, "journal": 0.1}
"""How many of the records each layer has, where a project is to have many."""
_CODE = "LIMIT = {number}\n\n\ndef berth(boat: int) -> int:\n    return boat + LIMIT\n"
_PASSED_ON = ("PATH", "PYTHONPATH", "TMPDIR")

__all__ = ["FILES", "SHARES", "Place", "make_place", "write_session"]


class Place(msgspec.Struct, frozen=True):
    """Where everything happens."""

    base: Path
    env: Mapping[str, str]
    programs: Path

    @property
    def root(self) -> Path:
        return self.base / "harbor"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def agent(self) -> Path:
        """Where an agent keeps the sessions that the journal imports."""
        return self.base / "agent"

    def program(self, name: str) -> str:
        return str(self.programs / name)

    def project(self) -> Project:
        """A fresh look from this process."""
        root = str(self.root)
        return Project.open(root, msgspec.structs.replace(real_world(root), env=dict(self.env)))

    def memory(self, *arguments: str, given: Any = None, codes: tuple[int, ...] = (0,)) -> Any:
        """Run the installed command, which must work; its data."""
        data = b"" if given is None else json.dumps(given).encode()
        line = [self.program("memory"), *arguments, "--json"]
        done = subprocess.run(line, cwd=self.root, env=self.env, input=data, capture_output=True, check=False)
        if done.returncode not in codes or done.stderr:
            raise RuntimeError(f"{arguments} ended with {done.returncode}: {(done.stdout + done.stderr)[:400]!r}")
        return json.loads(done.stdout)["data"]

    def git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["git", *arguments], cwd=self.root, env=self.env, capture_output=True, check=False)


def make_place(base: Path, records: int = 0) -> Place:
    """A project under git, with a graph, facts, a profile and a journal; of so many records, or of a few."""
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    env |= {"HOME": str(base / "home"), "MEMORY_HOME": str(base / "home/registry"), "LANG": "C.UTF-8"}
    # Whoever is started finds everything compiled from the second time on.
    env |= {"PYTHONPYCACHEPREFIX": str(base / "compiled")}
    # A busy machine must not cut hooks short; whether they are slow is told by what bare Python takes beside them.
    env |= {"MEMORY_HOOK_SECONDS": "30"}
    place = Place(base, env, Path(sys.executable).parent)
    (place.root / "src").mkdir(parents=True)
    place.agent.joinpath("transcripts").mkdir(parents=True)
    place.home.mkdir()
    (place.home / ".gitconfig").write_text("[user]\nname = Soak\nemail = soak@example.com\n[gc]\nauto = 0\n")
    for number in range(FILES):
        (place.root / f"src/part{number}.py").write_text(_CODE.format(number=number))
    (place.root / "README.md").write_text("# Harbor\n\nBerths, seasons and invoices.\n")
    place.git("init", "--quiet")
    place.memory("init")
    place.memory("journal", "init")
    place.memory("journal", "add", "claude-local", str(place.agent), "--name", "agent")
    place.memory("facts", "store", "Specs", "A berth is at most forty feet long.")
    place.memory("profile", "remember", "tools", "package_manager", "uv, never pip")
    place.memory("save", "--stdin", given={"task": "Set up", "nodes": _nodes()})
    if records:
        _fill(place, records)
    place.git("add", "--all")
    place.git("commit", "--quiet", "--message", "Set up")
    place.memory("rebuild")
    return place


def _nodes() -> list[dict[str, Any]]:
    """Two that a page goes on to change, and some that govern files."""
    own = [
        {"kind": "gotcha", "title": "Page board", "body": "The words of the page stand here."},
        {"kind": "decision", "title": "Page decision", "body": "The page replaces it again and again."},
    ]
    tied = [
        {
            "kind": ("gotcha", "decision", "feature")[at % 3],
            "title": f"Part {at} of the harbor",
            "body": f"Berths of part {at} are counted from the quay.",
            "anchors": [f"src/part{at}.py", f"src/part{(at * 7 + 3) % FILES}.py#berth"],
            **({"stage": "building"} if at % 3 == 2 else {}),
        }
        for at in range(12)
    ]
    return [*own, *tied]


def _fill(place: Place, records: int) -> None:
    """Written as the layers' files are, not by commands: a hundred thousand saves would take an hour."""
    numbers = {layer: int(records * share) for layer, share in SHARES.items()}
    make_records(place.root / ".memory", numbers["graph"])
    with (place.root / ".memory/facts.jsonl").open("ab") as facts:
        facts.writelines(encode_record(line) + b"\n" for line in make_lines(numbers["facts"], "soak"))
    file = place.root / ".ai-state/memory.json"
    held = json.loads(file.read_bytes())
    for category, entries in make_document(numbers["profile"], "soak")["memories"].items():
        held["memories"].setdefault(category, {}).update(entries)
    file.write_text(json.dumps(held, indent=2, ensure_ascii=False) + "\n")
    with (place.root / ".agent-memory/history/events.jsonl").open("ab") as history:
        history.writelines(encode_event(event) + b"\n" for event in make_events(numbers["journal"], "soak", "agent"))


def write_session(folder: Path, root: Path, word: str, turns: tuple[str, ...]) -> Path:
    """A session as Claude Code keeps it, named by its word."""
    chance = random.Random(word)
    lines = []
    for number, text in enumerate(turns):
        role = "assistant" if number % 2 else "user"
        line = {"type": role, "sessionId": word, "cwd": str(root), "uuid": f"u-{chance.getrandbits(32):08x}"}
        line |= {"timestamp": f"2026-03-01T10:{number:02}:00.000Z"}
        lines.append({**line, "message": {"role": role, "content": text}})
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{word}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
