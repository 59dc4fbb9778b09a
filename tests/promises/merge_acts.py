"""What is done on a branch, layer by layer, and what a memory says of it afterwards."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import Any

from journal_trials import prune
from merge_branches import Act, Yard

from quire.verbs.admin.export import Export, export
from quire.verbs.facts.store import Store
from quire.verbs.facts.store import store as store_fact
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.reject import Reject
from quire.verbs.inbox.reject import reject as reject_text
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry

__all__ = [
    "archive_events",
    "change_node",
    "delete_node",
    "events_of",
    "forget",
    "make_node",
    "records",
    "reject",
    "remember",
    "sessions",
    "source",
    "store",
]


def make_node(title: str, **fields: Any) -> Act:
    """A node whose name is made of its title."""
    node = {"kind": "gotcha", "title": title, "body": f"{title} says this.", **fields}
    return lambda yard: save_nodes(yard.project, {"task": "merge", "nodes": [node]})


def change_node(name: str, **fields: Any) -> Act:
    return lambda yard: save_nodes(yard.project, {"task": "merge", "nodes": [{"id": name, **fields}]})


def delete_node(name: str) -> Act:
    gone = [{"id": name, "reason": "no longer true"}]
    return lambda yard: save_nodes(yard.project, {"task": "merge", "nodes": [], "delete": gone})


def store(text: str) -> Act:
    return lambda yard: store_fact(yard.project, Store(section="Specs", content=text))


def remember(category: str, key: str, value: str) -> Act:
    return lambda yard: remember_entry(yard.project, RememberEntry(category=category, key=key, value=value))


def forget(category: str, key: str) -> Act:
    return lambda yard: forget_entry(yard.project, ForgetEntry(category=category, key=key))


def reject(value: str) -> Act:
    return lambda yard: reject_text(yard.project, Reject(value=value))


def source(yard: Yard) -> None:
    """Where sessions of an agent lie, on this machine and on any other."""
    yard.sessions.mkdir(exist_ok=True)
    add(yard.project, JournalAdd(source_type="claude-local", path=str(yard.sessions), name="claude"))


def sessions(*numbers: int, day: str = "2026-03-01") -> Act:
    """Sessions on a machine of their own: it knows nothing of those of others, nor of what others noted."""

    def act(yard: Yard) -> None:
        shutil.rmtree(yard.root / ".agent-memory/local", ignore_errors=True)
        shutil.rmtree(yard.sessions)
        yard.sessions.mkdir()
        for number in numbers:
            yard.say(number, day)
        assert import_sessions(yard.project).imported == len(numbers)

    return act


def archive_events(yard: Yard) -> None:
    """What is old and recalled goes into the archive."""
    journal_recall(yard.project, JournalRecall())
    assert prune(yard.project)


def events_of(yard: Yard) -> Counter[str]:
    """How often each session is told, in the history and in the archive."""
    files = [yard.root / ".agent-memory/history/events.jsonl", *yard.root.glob(".agent-memory/archive/*/events.jsonl")]
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert len({line["id"] for line in lines}) == len(lines), f"an id twice in {file}"
        # What the archive holds may stand in the history again: a copy, under the same id.
        assert all(found.get(line["id"], line) == line for line in lines), "one id for two events"
        found |= {line["id"]: line for line in lines}
    return Counter(line["externalItemId"] for line in found.values() if line["kind"] == "imported_session")


def records(yard: Yard) -> dict[str, str]:
    """Everything that the memory tells, and the same from an index that is made from nothing."""

    def told() -> dict[str, str]:
        document = json.loads(export(yard.project, Export(output_format="json", everything=True, private=True)).text)
        return {record["ref"]: record["text"] for record in document["records"]}

    found = told()
    shutil.rmtree(yard.root / ".memory/index")
    assert told() == found
    return found
