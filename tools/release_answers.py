"""What a version says of its sample: which lines are asked, and what of the answers is held against later ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["READS", "read_all"]


def _picked(found: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: found[key] for key in keys if key in found}


def _status(data: Any) -> Any:
    return {
        **_picked(data, "nodes_by_kind", "relations", "unreadable"),
        "titles": {stage: item["titles"] for stage, item in data["features_by_stage"].items()},
    }


def _object(data: Any) -> Any:
    return _picked(data["object"], "id", "type", "title", "body", "status", "stage", "tags", "superseded_by")


def _facts_listed(data: Any) -> Any:
    return sorted([item["id"], item["section"], item["content"], item["status"]] for item in data["results"])


def _episodes(data: Any) -> Any:
    return sorted([item["id"], item["title"], item["narrative"]] for item in data["results"])


def _entries(data: Any) -> Any:
    return {
        f"{category}.{name}": _picked(entry, "value", "tags", "status", "importance", "confidence", "links", "x_owner")
        for category, entries in json.loads(data["content"])["memories"].items()
        for name, entry in entries.items()
        if (category, name) != ("assistant", "name")
    }


def _profile_status(data: Any) -> Any:
    return _picked(data, "session_count", "total", "links", "private", "private_entries", "forgotten", "backups")


def _journal_status(data: Any) -> Any:
    keys = ("schema_version", "latest_checkpoint_id", "checkpoints", "events", "bundle_hash")
    return {**_picked(data, *keys), "sources": [[item["id"], item["type"], item["path"]] for item in data["sources"]]}


def _events(data: Any) -> Any:
    return [[item["id"], item["kind"], item["summary"]] for item in data["results"]]


def _proposals(data: Any) -> Any:
    return sorted([item["id"], item["into"], item["text"], item["status"]] for item in data["results"])


def _wired(data: Any) -> Any:
    """The parts that every version writes. A later version offers slash commands, too, and words its skill anew."""
    return {
        item["client"]: [
            [part["part"], part["path"], "present" if _is_reworded(part) else part["state"]]
            for part in item["parts"]
            if part["part"] != "command"
        ]
        for item in data["clients"]
        if item["wired"]
    }


def _is_reworded(part: Any) -> bool:
    return part["part"] == "skill" and part["state"] == "changed"


READS: dict[tuple[str, ...], tuple[str, Callable[[Any], Any]]] = {
    ("status",): ("status", _status),
    **{
        ("inspect", name): ("inspect", _object)
        for name in (
            "project.harbor",
            "feature.retry-queue",
            "feature.mailer",
            "decision.queue-in-redis",
            "decision.queue-in-postgres",
            "question.gaps-in-numbers",
            "gotcha.late-clocks",
        )
    },
    ("facts", "list"): ("facts list", _facts_listed),
    ("facts", "search-archive", "queue fax"): ("facts search-archive", _facts_listed),
    ("facts", "episodes"): ("facts episodes", _episodes),
    ("notes",): ("notes", lambda data: [note["text"] for note in data["notes"]]),
    ("profile", "export", "--format", "json"): ("profile export", _entries),
    ("profile", "status"): ("profile status", _profile_status),
    ("journal", "status"): ("journal status", _journal_status),
    ("journal", "log", "--events"): ("journal log", _events),
    ("inbox", "--status", "all"): ("inbox", _proposals),
    ("integrate", "--status"): ("integrate", _wired),
}
"""What is asked: the line, the verb that it needs, and what of the answer is held against later versions."""


def read_all(run: Callable[..., Any], has: Callable[[str], bool]) -> dict[str, Any]:
    return {" ".join(line): pick(run(*line)) for line, (verb, pick) in READS.items() if has(verb)}
