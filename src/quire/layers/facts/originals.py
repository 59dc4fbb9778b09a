"""Find fact files where the original program keeps them. They are reported, never read as ours."""

from __future__ import annotations

import msgspec

from quire.files.json_files import json_value
from quire.files.paths import read_inside
from quire.layers.facts.layout import FILE_BYTES
from quire.layers.facts.store import read_all
from quire.model.errors import QuireError
from quire.model.records import Problem, warning_at

PLACES = ("ai/memory/facts.jsonl", ".omegon/memory/facts.jsonl", ".pi/memory/facts.jsonl")
"""In the order in which that program looks for its file."""


class _Line(msgspec.Struct):
    type: str = msgspec.field(name="_type", default="")
    id: str = ""


def not_imported(root: str) -> list[Problem]:
    """Says which file is there, if none of its facts is known here, and how to bring them in."""
    for path in PLACES:
        ids = _ids(root, path)
        if ids:
            return [] if _knows_any(root, ids) else [_problem(path, len(ids))]
    return []


def _ids(root: str, path: str) -> set[str]:
    try:
        data = read_inside(root, path, FILE_BYTES)
    except OSError:
        return set()
    found = set()
    for raw in data.splitlines():
        line = json_value(raw, _Line)
        if line is not None and line.type == "fact" and line.id:
            found.add(line.id)
    return found


def _knows_any(root: str, ids: set[str]) -> bool:
    """Whether one of these ids stands in our file; what was imported keeps its id."""
    try:
        data = read_all(root)
    except QuireError:
        return True  # that the file cannot be read is reported elsewhere
    return any(msgspec.json.encode(name) in data for name in ids)


def _problem(path: str, count: int) -> Problem:
    facts = "1 fact" if count == 1 else f"{count:,} facts"
    said = f"Another program keeps {facts} there, and none of them is in this memory."
    hint = f"`memory facts import {path}` imports them and does not change the file."
    return warning_at("FactsNotImported", path, said, hint)
