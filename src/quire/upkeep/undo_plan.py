"""Plan an undo: the earlier files, the checks, and the events to log.

A file that is not as the change left it is refused, except where each of its lines stands for itself: of facts,
proposals and notes only the lines of the change are put back, and what others wrote stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files.json_files import compact
from quire.files.layout import LOCAL
from quire.files.paths import inside, read_if_there
from quire.files.undo_recorder import RecordedChange, is_as_left, overtaken, put_back, put_lines_back
from quire.layers.facts.layout import FILE as FACTS
from quire.layers.facts.layout import FILE_BYTES
from quire.layers.graph.layout import FOLDER, NODES, RELATIONS, body_of, sidecar_of
from quire.layers.merge_record import contested_fields
from quire.layers.record_parts import fields_of
from quire.model.contested import CONTESTED, SETTLED
from quire.model.errors import Conflict
from quire.model.untyped import as_text
from quire.model.vocabulary import LIVE_STATUSES

if TYPE_CHECKING:
    from quire.inbox.rejections import Rejections
    from quire.layers.graph.store import GraphStore

_NOTES = f"{LOCAL}/notes.md"
_ATTRIBUTES = ".gitattributes"
_STAMPS = ("body_path", "content_hash", "updated_at")


class UndoStep(msgspec.Struct, frozen=True):
    """A file that is put back: below the folder of its layer, as it is, as it will be."""

    path: str
    now: bytes | None
    data: bytes | None


def steps_back(folder: str, noted: Sequence[tuple[str, RecordedChange]]) -> list[UndoStep]:
    """The files below a layer's folder as they are to be; Conflict where that would lose what someone did since."""
    steps: list[UndoStep] = []
    is_exact = True
    # How git merges the facts is said for as long as there are any: it is taken back last, or not at all.
    for path, item in sorted(noted, key=lambda pair: pair[0] == _ATTRIBUTES):
        now = _held(folder, path)
        if is_as_left(item, now):
            if path != _ATTRIBUTES or is_exact:
                steps.append(UndoStep(path, now, put_back(item, now)))
        elif path != _ATTRIBUTES:
            is_exact = False
            steps.append(UndoStep(path, now, _merged_back(folder, path, item, now)))
    return [step for step in steps if step.now != step.data]


def _merged_back(folder: str, path: str, item: RecordedChange, now: bytes | None) -> bytes | None:
    """A file that is not as it was left, with this change taken back: only where each line stands for itself."""
    if now == item.before and not item.start:
        return now  # someone put it back already
    shown = f"{os.path.basename(folder)}/{path}"
    if not path.endswith(".jsonl") and path != _NOTES:
        raise overtaken(shown)
    return put_lines_back(msgspec.structs.replace(item, path=shown), now)


# -- what may not be torn -----------------------------------------------------------------------


def refuse_torn(graph: GraphStore, steps: Sequence[UndoStep]) -> None:
    """Refuse what would leave something that leads nowhere: it was tied since to what would go."""
    going = {step.path for step in steps if step.data is None}
    made = {_id_of(step.data) for step in steps if _is_sidecar(step.path) and step.data is not None}
    gone = {_id_of(step.now) for step in steps if _is_sidecar(step.path) and step.data is None} - made
    for node_id in sorted(filter(None, gone)):
        for relation in graph.relations_touching(node_id):
            if relation.path not in going:
                raise _tied(node_id, relation.path)
    for step in steps:
        if step.path.startswith(f"{RELATIONS}/"):
            fields = fields_of(step.data)
            for node_id in (fields[end] for end in ("from", "to") if isinstance(fields.get(end), str)):
                if node_id not in made and (node_id in gone or graph.find_node(node_id) is None):
                    raise Conflict(
                        f"`{node_id}` no longer exists, and this change would refer to it.",
                        hint="Restore it first.",
                        details={"id": node_id},
                    )
        elif step.path == FACTS:
            _refuse_torn_facts(step.now or b"", step.data or b"")


def _refuse_torn_facts(now: bytes, data: bytes) -> None:
    from quire.layers.facts.lines import read_lines

    kept = {fact.id for fact in read_lines(_only_in(data, now)).facts}
    for fact in read_lines(_only_in(now, data)).facts:
        if fact.id not in kept and b'"%s"' % fact.id.encode() in data:
            raise _tied(f"fact:{fact.id}", FACTS)


def _tied(what: str, path: str) -> Conflict:
    return Conflict(
        f"Another record refers to `{what}` since then; undo would break that reference.",
        hint=f"See `{FOLDER}/{path}`: undo that change first.",
        details={"path": f"{FOLDER}/{path}", "id": what},
    )


def refuse_rejected(graph: GraphStore, steps: Sequence[UndoStep], rejections: Rejections) -> None:
    """Refuse to say again what someone rejected since."""
    by_path = {step.path: step for step in steps}
    for step in steps:
        if step.path == FACTS:
            for content in _new_contents(step.now or b"", step.data or b""):
                rejections.refuse({"content": content})
        elif _is_sidecar(step.path):
            fields, was = fields_of(step.data), fields_of(step.now)
            is_back = was.get("status") not in LIVE_STATUSES
            body = by_path.get(body_of(step.path))
            texts = {}
            if is_back or was.get("title") != fields.get("title"):
                texts["title"] = str(fields.get("title", ""))
            if is_back or body is not None:
                data = body.data if body is not None else _held(graph.folder, body_of(step.path))
                texts["body"] = (data or b"").decode("utf-8", "replace")
            if fields.get("status") in LIVE_STATUSES:
                rejections.refuse(texts)


def _new_contents(now: bytes, data: bytes) -> Iterator[str]:
    from quire.layers.facts.lines import read_lines

    said = {fact.content for fact in read_lines(_only_in(now, data)).facts if fact.is_active}
    for fact in read_lines(_only_in(data, now)).facts:
        if fact.is_active and fact.content not in said:
            yield fact.content


def _only_in(one: bytes, other: bytes) -> bytes:
    """The lines that only the first has."""
    there = set(other.split(b"\n"))
    return b"".join(line + b"\n" for line in one.split(b"\n") if line not in there)


# -- the log --------------------------------------------------------------------------------------


def events_back(graph: GraphStore, steps: Sequence[UndoStep], task: str, at: str) -> bytes:
    """What is added to the log, in its own words: what was done stays in it, and what was undone comes after."""
    paths = {step.path: step for step in steps}
    sidecars = {sidecar_of(path) for path in paths if path.startswith(f"{NODES}/")}
    relations = {path for path in paths if path.startswith(f"{RELATIONS}/")}
    told = []
    more: dict[str, Any]
    for path in sorted(sidecars | relations):
        stored = None if path in paths else _held(graph.folder, path)
        now, data = (paths[path].now, paths[path].data) if path in paths else (stored, stored)
        before, after = fields_of(now), fields_of(data)
        if path in relations:
            name, more = _what_became(before, after), {}
            line: dict[str, Any] = {"event": f"relation.{name}", "relation_id": (after or before).get("id")}
        else:
            name, more = _what_became_of_node(before, after, body=body_of(path) in paths)
            line = {"event": f"memory.{name}", "id": (after or before).get("id"), "reason": task}
        told.append({**line, "actor": "user", "timestamp": at, "payload": {"task": task, **more}})
    return b"".join(compact(line) + b"\n" for line in told if line.get("id") or line.get("relation_id"))


def _what_became(before: dict[str, Any], after: dict[str, Any]) -> str:
    return "updated" if before and after else "created" if after else "deleted"


def _what_became_of_node(before: dict[str, Any], after: dict[str, Any], *, body: bool) -> tuple[str, dict[str, Any]]:
    name = _what_became(before, after)
    status, by = after.get("status"), after.get("superseded_by")
    if name != "updated":
        return name, {}
    if status == "stale" != before.get("status"):
        return "marked_stale", {}
    if status == "superseded" and (before.get("status"), before.get("superseded_by")) != (status, by):
        return "superseded", {"superseded_by": by}
    names = {key for key in (*before, *after) if before.get(key) != after.get(key) and key not in _STAMPS}
    open_before, open_after = ({one.field for one in contested_fields("", side)} for side in (before, after))
    names = names - {CONTESTED, SETTLED} | (open_before ^ open_after)
    return name, {"fields": sorted({*names, "body"} if body else names)}


# -- files ------------------------------------------------------------------------------------------


def _held(folder: str, path: str) -> bytes | None:
    return read_if_there(inside(folder, path), FILE_BYTES)


def _id_of(data: bytes | None) -> str:
    return as_text(fields_of(data).get("id"))


def _is_sidecar(path: str) -> bool:
    return path.startswith(f"{NODES}/") and path.endswith(".json")
