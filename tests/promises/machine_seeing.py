"""What a memory says of itself, in the form of the model; and whether its index says what its files say."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from machine_model import Entry, Fact, Node

from quire.index.catalog import Index
from quire.index.open_index import with_index

if TYPE_CHECKING:
    from machine_run import Run

__all__ = ["compare_index", "look", "words_in"]

WORD = re.compile(r"\bq[a-p]{8}q\b")
RECORD = (
    "ref, layer, kind, title, text, status, path, stage, section, scope, weight, half_life, since, created_at,"
    " updated_at, updated, tags, anchors, origin, seen, commit_id, raw"
)
TABLES = {
    "records": f"SELECT {RECORD} FROM records",
    "names": "SELECT ref, name FROM names LEFT JOIN records ON id = record",
    "edges": "SELECT layer, path, ref, source, predicate, target, status, confidence, raw FROM edges",
    "tallies": "SELECT * FROM tallies WHERE number != 0",
    "problems": "SELECT * FROM problems",
    "vectors": "SELECT ref, vector FROM vectors LEFT JOIN records ON records.id = record",
    "words": "SELECT term, doc, cnt FROM vocabulary",
}
"""What an index must hold whatever happened before: numbers of rows are its own business."""


def words_in(text: str) -> list[str]:
    return WORD.findall(text)


def look(run: Run) -> dict[str, Any]:
    """Everything that is remembered, as the verbs tell it."""
    project = run.project(run.steps % 4)
    held = json.loads(run.call(project, "export", "json", everything=True, private=True).text)
    records = {item["ref"]: item for item in held["records"]}
    graph = [item for item in records.values() if item["layer"] == "graph" and item["kind"] != "project"]
    facts = {item["ref"]: words_in(item["text"])[0] for item in records.values() if item["kind"] == "fact"}
    run.ids = {word: ref for ref, word in facts.items()}
    if len(run.ids) < len(facts):
        return {"facts": {"doubled": sorted(facts.items())}}
    replaces = {item["source"]: item["target"] for item in held["edges"] if item["ref"].find(" replaces ") > 0}
    status = run.call(project, "profile_status")
    return {
        "nodes": {item["ref"]: _node(run, project, item) for item in graph},
        "relations": {
            (item["source"], item["predicate"], item["target"]): item["status"]
            for item in held["edges"]
            if item["ref"].startswith("rel.")
        },
        "facts": {
            facts[ref]: Fact(
                records[ref]["section"],
                records[ref]["text"],
                records[ref]["status"],
                tuple(records[ref]["tags"]),
                facts.get(replaces.get(ref, ""), ""),
            )
            for ref in facts
        },
        "connections": {
            (facts.get(item["source"], item["source"]), item["predicate"], facts.get(item["target"], item["target"]))
            for item in held["edges"]
            if item["ref"].startswith("edge:") and item["status"] == "active"
        },
        "episodes": {
            words_in(item["title"])[0]: words_in(item["text"])[-1]
            for item in records.values()
            if item["kind"] == "episode"
        },
        "entries": _entries(run, project),
        "sessions": status.session_count,
        "sources": {source.id for source in run.call(project, "journal_sources").sources},
        "imported": {
            word
            for item in records.values()
            if item["kind"] == "event" and item["section"] == "imported_session"
            for word in words_in(item["text"])
        },
        "checkpoints": sum(item["kind"] == "checkpoint" for item in records.values()),
        "rejected": {item.value: not item.lifted_at for item in run.call(project, "inbox_rejected").results},
        "notes": [note.text for note in run.call(project, "notes").notes],
        "proposals": {item.id: item.status for item in run.call(project, "inbox", status="all").proposals},
        "pins": sorted(facts[view.ref] for view in run.call(project, "memory_working").pins),
        "forgotten": [f"{item.category}.{item.key}" for item in run.call(project, "profile_restore").results][::-1],
    }


def _node(run: Run, project: Any, item: dict[str, Any]) -> Node:
    by = ""
    if item["status"] == "superseded":
        by = run.call(project, "inspect_node", item["ref"]).node.node.superseded_by or ""
    return Node(
        item["kind"],
        item["title"],
        item["text"],
        item["status"],
        item["stage"],
        tuple(item["tags"]),
        tuple(item["anchors"]),
        by,
    )


def _entries(run: Run, project: Any) -> dict[str, Entry]:
    held = json.loads(run.call(project, "profile_export", "json", everything=True).content)
    found = {}
    for category, entries in held["memories"].items():
        for key, fields in entries.items():
            links = tuple((link["target"], link["relation"]) for link in fields["links"])
            value = "" if (category, key) == ("assistant", "name") else fields["value"]
            found[f"{category}.{key}"] = Entry(
                value, fields["status"], fields["importance"], tuple(fields["tags"]), links
            )
    return found


def _held(index: Index) -> dict[str, list[Any]]:
    found = {name: list(index._connection.execute(query)) for name, query in TABLES.items()}
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def compare_index(run: Run) -> list[str]:
    """Where the index differs from one that is made from nothing."""
    project = run.project(run.steps % 4)
    used: dict[str, list[Any]] = project.with_index(_held)
    fresh: dict[str, list[Any]] = with_index(None, project.sources(), _held)
    wrong = []
    for name, rows in fresh.items():
        if used[name] != rows:
            more = [row for row in used[name] if row not in rows]
            less = [row for row in rows if row not in used[name]]
            wrong.append(f"  {name}: only in the index {more[:3]!r}, only in a fresh one {less[:3]!r}")
    return wrong
