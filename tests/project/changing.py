"""A project's memory in this process, its clock moved by hand, its index held against one made from nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from quire.files.world import World
from quire.index.catalog import Index
from quire.layers.facts.lines import read_lines
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.status import status
from quire.verbs.facts.episodes import ShowEpisodes
from quire.verbs.facts.episodes import episodes as episodes_fact
from quire.verbs.facts.inspect import inspect_fact
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.overview import overview
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.store import Store
from quire.verbs.facts.store import store as store_fact
from quire.verbs.graph.save import save_nodes
from quire.verbs.verb import Arguments
from thorough import either, some

TEXTS = (
    "Invoices are written by the billing worker.",
    "The retry queue lives in Redis.",
    "Boats are named after rivers.",
    "Every port has one harbour master.",
    "Tickets expire after ninety days.",
    "Maps are drawn at night.",
)
QUESTIONS = ("who writes invoices", "redis retry queue", "harbour master")
MINDS = (None, "default", "side", "primensus")
NODE = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "stage": "building"}
RECORD = (
    "ref, layer, kind, title, text, status, path, stage, section, scope, weight, half_life, since, created_at,"
    " updated_at, updated, tags, anchors, origin, seen, commit_id, raw"
)
# What must be the same in both. Numbers of rows are left out: nothing outside the index knows them.
TABLES = {
    "records": f"SELECT {RECORD} FROM records",
    "names": "SELECT ref, name FROM names LEFT JOIN records ON id = record",
    "edges": "SELECT layer, path, ref, source, predicate, target, status, confidence, raw FROM edges",
    "tallies": "SELECT * FROM tallies WHERE number != 0",
    "summaries": "SELECT * FROM summaries",
    "problems": "SELECT * FROM problems",
    "files": "SELECT * FROM files",
    "vectors": "SELECT ref, vector FROM vectors LEFT JOIN records ON records.id = record",
    "signs": "SELECT ref, bits FROM signs JOIN vectors USING (id) LEFT JOIN records ON records.id = record",
    "words": "SELECT term, doc, cnt FROM vocabulary",
}


class Memory:
    """A project in this process, with a clock that is moved by hand and ids that never repeat."""

    def __init__(self, folder: str) -> None:
        self.now = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
        self.count = 0
        root = os.path.join(folder, "harbor")
        os.mkdir(root)
        # Without git: what is tested here needs none, and every step would wait for it.
        env = {"HOME": folder, "MEMORY_HOME": os.path.join(folder, "registry"), "PATH": ""}
        world = World(
            cwd=root, env=env, now=lambda: self.now, token=self._token, sleep=lambda _seconds: None, pid=os.getpid()
        )
        self.project = Project.open(root, world)
        init_memory(self.project, guidance=False)
        save_nodes(self.project, {"task": "t", "nodes": [NODE]})
        self.file = Path(root, ".memory", "facts.jsonl")

    def _token(self) -> str:
        self.count += 1
        return f"{self.count:04x}" * 4

    def wait(self, **span: float) -> None:
        self.now += timedelta(**span)

    @property
    def data(self) -> bytes:
        return self.file.read_bytes() if self.file.exists() else b""

    def names(self) -> list[str]:
        return sorted({fact.id for fact in read_lines(self.data).facts})

    def edges(self) -> list[str]:
        return sorted({f"edge:{edge.id}" for edge in read_lines(self.data).connections})

    def episodes(self) -> list[str]:
        return sorted({f"episode:{episode.id}" for episode in read_lines(self.data).episodes})

    def store(self, text: str, section: str = "Architecture", **more: Any) -> str:
        return store_fact(self.project, Store(section=section, content=text, **more)).fact.id

    def knows(self) -> dict[str, list[Any]]:
        """All that the index holds, in an order of its own."""

        def work(index: Index) -> dict[str, list[Any]]:
            found = {name: list(index._connection.execute(query)) for name, query in TABLES.items()}
            return {name: sorted(rows, key=repr) for name, rows in found.items()}

        return self.project.with_index(work)

    def answers(self) -> dict[str, Any]:
        """What the project says when it is asked."""
        project = self.project
        found: dict[str, Any] = {"facts": overview(project, Arguments()), "problems": status(project)}
        # What they answer from is compared as a whole, by `knows`: an everyday run asks for some of it.
        for place, mind in enumerate(some(MINDS, 2)):
            found[f"query {mind}"] = list_facts(project, ListFacts(mind=mind))
            found[f"episodes {mind}"] = episodes_fact(project, ShowEpisodes(mind=mind))
            for question in either(QUESTIONS[place % 3 : place % 3 + 1], QUESTIONS):
                found[f"recall {mind} {question}"] = find_facts(project, Recall(query=question, mind=mind), note=False)
                found[f"archive {mind} {question}"] = search_archive(project, SearchArchive(query=question, mind=mind))
        found["sessions"] = episodes_fact(project, ShowEpisodes(query="redis tickets"))
        for name in some(self.names(), 2):
            found[name] = inspect_fact(project, f"fact:{name}")
        return {name: msgspec.to_builtins(answer) for name, answer in found.items()}

    def from_nothing(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The same asked of an index that knows only the files; the other one is put back."""
        folder = os.path.join(self.project.root, ".memory", "index")
        os.rename(folder, f"{folder}-kept")
        try:
            return work()
        finally:
            shutil.rmtree(folder)
            os.rename(f"{folder}-kept", folder)

    def check(self, *, answers: bool = True) -> None:
        """What is known is what the file says."""
        for ask in (self.knows, self.answers) if answers else (self.knows,):
            patched, made = ask(), self.from_nothing(ask)
            for name, expected in made.items():
                assert patched[name] == expected, name


def line(kind: str, name: str, **fields: Any) -> bytes:
    usual: dict[str, Any] = {"_type": kind, "id": name}
    if kind == "fact":
        usual |= {"section": "Decisions", "content": f"Fact {name}.", "created_at": "2026-03-01T00:00:00.000Z"}
    elif kind == "edge":
        usual |= {"relation": "depends_on", "created_at": "2026-03-01T00:00:00.000Z"}
    else:
        usual |= {"title": "Session", "narrative": "redis tickets", "date": "2026-03-01"}
    return json.dumps({**usual, **fields}).encode() + b"\n"
