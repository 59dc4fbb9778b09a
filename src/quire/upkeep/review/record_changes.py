"""Find what a change does to records: adds, changes, retires them, confirms them without a word, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from quire.inbox.rejections import Rejections
from quire.layers.protocol import Layer
from quire.layers.record_parts import fields_of
from quire.layers.table import layer_named, layer_of_file
from quire.model.contested import ContestedField, value_shown
from quire.model.records import Edge, Problem, Record
from quire.model.seals import parse_seal
from quire.model.text import cut
from quire.upkeep.merge.merge_files import Files, items_in
from quire.upkeep.review.findings import ReviewFinding, quoted
from quire.upkeep.views.change_words import changes_in_words

_RESEALED = ("compared with the code again", "no longer compared with the code")
_ALONG = "source commit:"
"""What changes whenever a record is held against the code."""
_SHOWN = 12
_CHARS = 200


class RecordState(msgspec.Struct, frozen=True):
    """The records and relations of one side of a change, by their refs, and the files that they were read from."""

    files: Files
    records: dict[str, Record]
    edges: dict[str, Edge]
    problems: list[Problem]


def state_of(files: Files) -> RecordState:
    """Read the records of all layers from contents of files."""
    state = RecordState(files, {}, {}, [])
    for item in items_in(files):
        if isinstance(item, Record):
            state.records[item.ref] = item
        elif isinstance(item, Edge):
            state.edges[item.ref] = item
        else:
            state.problems.append(item)
    return state


def changes_of_records(before: RecordState, after: RecordState) -> Iterator[ReviewFinding]:
    """A finding for each record that the change adds, changes or retires, or confirms without a word."""
    edges = _edge_words(before.edges, after.edges)
    reasons = dict(sorted(_reasons(after.files) - _reasons(before.files)))
    for ref in dict.fromkeys((*after.records, *before.records, *edges)):
        old, new = before.records.get(ref), after.records.get(ref)
        said = [*_words(before, after, old, new), *edges.get(ref, ())]
        code = _code(old, new, said) or ("M302" if _is_confirmed(old, new) else "")
        if code == "M302" and all(word in _RESEALED for word in said):
            if _is_confirmed(old, new):
                yield _confirmation(new, reasons.get(ref, ""))
        elif code:
            yield _finding(code, new or old, _message(code, ref, old, new), said)


def _confirmation(record: Record | None, reason: str) -> ReviewFinding:
    """That someone says that a record still holds: a record change with a reason, a warning without one."""
    ref = record.ref if record else ""
    if reason:
        return _finding("M302", record, f"Confirms {quoted(ref)}.", (f"reason: {reason}",))
    return _finding("M204", record, f"{quoted(ref)} is confirmed without a reason.", ())


def _code(old: Record | None, new: Record | None, said: list[str]) -> str:
    if old is None and new is None:
        return "M302" if said else ""
    if old is None:
        return "M301"
    if new is None or (_is_live(old) and not _is_live(new)):
        return "M303"
    return "M302" if said else ""


def _is_live(record: Record) -> bool:
    return record.status in layer_named(record.layer).live


def _is_confirmed(old: Record | None, new: Record | None) -> bool:
    """Whether what was seen of an anchor is another than before; notes beside the anchors do not count."""
    if old is None or new is None:
        return False
    seals = [
        {text for text in record.seen if (seal := parse_seal(text)) and seal.anchor in record.anchors}
        for record in (old, new)
    ]
    return seals[0] != seals[1]


def _words(before: RecordState, after: RecordState, old: Record | None, new: Record | None) -> list[str]:
    """What differs in a record that both sides have, in words."""
    if old is None or new is None:
        return []
    said: dict[str, None] = {}
    holdings = [layer_named(record.layer).holding(record) for record in (old, new)]
    for old_path, new_path in zip(*(holding.paths for holding in holdings), strict=False):
        was, now = (
            holding.part(state.files[path]) if path in state.files else None
            for holding, state, path in zip(holdings, (before, after), (old_path, new_path), strict=True)
        )
        said.update(dict.fromkeys(changes_in_words(was, now)))
    return [word for word in said if not word.startswith(_ALONG)]


def _edge_words(before: Mapping[str, Edge], after: Mapping[str, Edge]) -> dict[str, list[str]]:
    """For records by their ref, which of their relations came, went or changed."""
    found: dict[str, list[str]] = {}
    for ref in dict.fromkeys((*after, *before)):
        old, new = before.get(ref), after.get(ref)
        edge = new or old
        how = _edge_change(old, new)
        if edge is not None and how:
            found.setdefault(edge.source, []).append(f"relation {how}: {edge.predicate} {edge.target}")
    return found


def _edge_change(old: Edge | None, new: Edge | None) -> str:
    if old is None or new is None:
        return "added" if old is None else "removed"
    if (old.source, old.predicate, old.target) != (new.source, new.predicate, new.target):
        return "changed"
    if old.status != new.status:
        return f"now {new.status}"
    return f"now of {new.confidence} confidence" if old.confidence != new.confidence else ""


def _reasons(files: Files) -> set[tuple[str, str]]:
    """The records that lines of logs give a reason for, each with its reason."""
    found = set()
    for path, data in files.items():
        for line in data.split(b"\n") if path.endswith(".jsonl") and b'"reason"' in data else ():
            fields = fields_of(line) if b'"reason"' in line else {}
            if isinstance(fields.get("id"), str) and fields.get("event") and fields.get("reason"):
                found.add((fields["id"], str(fields["reason"])))
    return found


def _message(code: str, ref: str, old: Record | None, new: Record | None) -> str:
    record = new or old
    kind = record.kind if record else "record"
    if code == "M301":
        return f"Adds the {kind} {quoted(ref)}."
    if code == "M303":
        if new is None:
            return f"Deletes the {kind} {quoted(ref)}."
        return f"Retires the {kind} {quoted(ref)}: it is {new.status} now."
    return f"Changes the {kind} {quoted(ref)}."


def _finding(code: str, record: Record | None, message: str, said: Iterable[str]) -> ReviewFinding:
    details = list(said)
    more = [f"{len(details) - _SHOWN} more"] if len(details) > _SHOWN else []
    path = layer_named(record.layer).holding(record).paths[:1] if record else ()
    return ReviewFinding(
        code=code,
        message=message,
        ref=record.ref if record else "",
        kind=record.kind if record else "",
        title=record.title if record else "",
        details=tuple(cut(text, _CHARS) for text in (*details[:_SHOWN], *more)),
        path=path[0] if path else "",
    )


def changes_of_parts(
    before: RecordState, after: RecordState, changed_in: Mapping[str, list[str]]
) -> Iterator[ReviewFinding]:
    """A finding for each file of a layer that only tells which of its parts changed."""
    read = {path for state in (before, after) for record in state.records.values()
            for path in layer_named(record.layer).holding(record).paths}  # fmt: skip
    for path, names in changed_in.items():
        if names and path not in read:
            shown = ", ".join(map(quoted, names[:_SHOWN]))
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield ReviewFinding(code="M302", message=f"Changes {shown}{more}.", path=path)


def contested_records(before: RecordState, after: RecordState) -> Iterator[ReviewFinding]:
    """A finding for each field that branches disagree on since this change."""
    known = {(one.ref, one.field): one.values for one in _contested(before.files)}
    for one in _contested(after.files):
        if known.get((one.ref, one.field)) == one.values:
            continue
        record = after.records.get(one.ref)
        values = (value_shown(value, _CHARS) for value in one.values)
        yield ReviewFinding(
            code="M401",
            message=f"Branches gave {quoted(one.field)} of {quoted(one.ref)} different values.",
            ref=one.ref,
            kind=record.kind if record else "",
            title=record.title if record else "",
            details=tuple(values),
            anchor=one.field,
            path=one.path,
        )


def _contested(files: Files) -> Iterator[ContestedField]:
    for path, data in files.items():
        layer: Layer | None = layer_of_file(path)
        for one in layer.contested_in(path, data) if layer else ():
            yield msgspec.structs.replace(one, path=path)


def rejected_values(before: RecordState, after: RecordState, rejections: Rejections) -> Iterator[ReviewFinding]:
    """A finding for each record that says what was rejected, and did not say it before."""
    for ref, record in after.records.items():
        old = before.records.get(ref)
        if not _is_live(record) or (old is not None and _rejected(old, rejections)):
            continue
        found = _rejected(record, rejections)
        if found:
            yield _finding("M402", record, f"{quoted(ref)} repeats what was rejected on {found}.", ())


def _rejected(record: Record, rejections: Rejections) -> str:
    """The day on which what a record says was rejected; empty where nobody did."""
    if not rejections.found:
        return ""
    texts = layer_named(record.layer).says(record)
    return next((hit.rejected_at[:10] for text in texts if (hit := rejections.match(text))), "")
