"""Merge what lies beside nodes and relations: the log, settings, the mark of a sync, rejections, records of wiring."""

from __future__ import annotations

import re
from typing import Any

from quire.files.json_files import pretty
from quire.layers.graph.layout import CONFIG, EVENTS, FOLDER, SYNC_STATE
from quire.layers.merge_lines import merge_lines
from quire.layers.merge_record import (
    Fields,
    Rule,
    by_order,
    earliest,
    latest,
    merge_record,
    one_sided,
    read_versions,
    together,
    without_notes,
)
from quire.model.contested import MergedFile

_REJECTED, _WIRING = f"{FOLDER}/rejected/", f"{FOLDER}/integrations/"
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"]*)"')
_REJECTION: dict[str, Rule] = {
    "rejected_at": earliest,
    "lifted_at": latest,
    **dict.fromkeys(("reason", "kind", "origin"), by_order()),
}


def merge_beside(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
    """One such file, named from the project's root; None where a merge of texts is right."""
    is_ours = path in (f"{FOLDER}/{name}" for name in (EVENTS, CONFIG, SYNC_STATE))
    if not (is_ours or (path.startswith((_REJECTED, _WIRING)) and path.endswith(".json"))):
        return None
    data, is_settled = one_sided(base, ours, theirs)
    if is_settled or ours is None or theirs is None:
        return MergedFile(data=data) if is_settled else None
    if path.endswith(".jsonl"):
        return MergedFile(data=merge_lines(base, ours, theirs, _time))
    was, mine, yours = read_versions(path, base, ours, theirs)
    merged = _merged(path, was, mine or {}, yours or {})
    return MergedFile(data=pretty(merged))


def _merged(path: str, base: Fields | None, ours: Fields, theirs: Fields) -> Fields:
    if path.endswith(SYNC_STATE):
        return _one_of("last_sync_at", ours, theirs)
    if path.startswith(_WIRING):
        # It tells of a file as one side wrote it. What is not as it says is known by its form.
        whole = _one_of("path", ours, theirs)
        sides = ((side or {}).get("clients", []) for side in (base, ours, theirs))
        return {**whole, "clients": together(*sides)}
    if not path.startswith(_REJECTED):
        return merge_record(base, ours, theirs, dict.fromkeys({**ours, **theirs}, _by_key)) or {}
    found = merge_record(base, ours, theirs, _REJECTION) or {}
    if base is None and not ("lifted_at" in ours and "lifted_at" in theirs):
        # Rejected on both sides, and lifted on one: the other's rejection holds.
        found.pop("lifted_at", None)
    return without_notes(found)


def _by_key(base: Any, ours: Any, theirs: Any) -> Any:
    """Settings, inner ones too: of two values the larger text."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return by_order()(base, ours, theirs)
    rules: dict[str, Rule] = dict.fromkeys({**ours, **theirs}, _by_key)
    return merge_record(base if isinstance(base, dict) else {}, ours, theirs, rules)


def _one_of(name: str, ours: Fields, theirs: Fields) -> Fields:
    """One side as a whole: the one whose field names the later time, or is the larger text."""
    held = [side.get(name) for side in (ours, theirs)]
    return max((side for side in (ours, theirs) if side.get(name) == latest(None, *held)), key=pretty)


def _time(line: bytes) -> Any:
    found = _TIME.search(line)
    return found[1] if found else b""
