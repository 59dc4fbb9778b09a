"""Merge three versions of a node's fields, its text, or a relation.

Git merges the two files of a node one by one. A text has the digest that it has: where both sides changed it, the
sidecar gets a digest that stands for any text, until the next save writes the right one.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.files.json_files import decode_object
from quire.layers.graph.codec import ANY_BODY, body_text, encode_fields, merged_layout, relation_hash
from quire.layers.graph.layout import FOLDER, NODES, RELATIONS
from quire.layers.merge_record import (
    Fields,
    Rule,
    as_deleted_elsewhere,
    by_order,
    contested_fields,
    earliest,
    latest,
    merge_record,
    one_sided,
    read_versions,
    settle_field,
    together,
    without_notes,
)
from quire.model.contested import BODY, CONTESTED, RECORD, Choice, ContestedField, MergedFile
from quire.model.errors import InvalidStore
from quire.model.seals import Seal, parse_seal

_HASH = "content_hash"
_TIMES: dict[str, Rule] = {"created_at": earliest, "updated_at": latest}
_NODE: dict[str, Rule] = {
    **_TIMES,
    "tags": together,
    "anchors": together,
    "evidence": together,
    "status": by_order("active", "open", "closed", "stale", "superseded"),
    "source": by_order(),
    _HASH: lambda *_: ANY_BODY,
}
_RELATION: dict[str, Rule] = {
    **_TIMES,
    "evidence": together,
    "status": by_order("active", "stale", "rejected"),
    _HASH: by_order(),
}
_WHO = ("id", "type", "from", "predicate", "to")
"""What makes a record another one."""


def merge_file(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
    """One file of the graph, named from the project's root; None for what is no file of a node or a relation."""
    is_node, is_relation, is_body = _is_node(path), _is_relation(path), _is_body(path)
    if not (is_node or is_relation or is_body):
        return None
    data, is_settled = one_sided(base, ours, theirs)
    if not is_settled:
        data = _body(base, ours, theirs) if is_body else _fields(path, base, ours, theirs)
    return MergedFile(data=data, contested=tuple(contested_in(path, data)) if data else ())


def contested_in(path: str, data: bytes) -> list[ContestedField]:
    """What branches disagree on in a file; of a text, the record is named by its file."""
    if _is_body(path):
        from quire.layers.graph.merge_body import contested_blocks, readings

        text = body_text(data)
        return (
            [ContestedField(ref=path, field=BODY, values=readings(text), path=path)] if contested_blocks(text) else []
        )
    if f'"{CONTESTED}"'.encode() not in data or not (_is_node(path) or _is_relation(path)):
        return []
    fields = decode_object(data)
    return contested_fields(str(fields.get("id")), fields, path)


def settled(path: str, data: bytes, choices: Sequence[Choice]) -> bytes | None:
    """The file with these fields settled; None where it is removed with its record."""
    if _is_body(path):
        return next((choice.value.encode() for choice in choices if choice.field == BODY), data)
    fields = before = decode_object(data)
    for choice in choices:
        if choice.field == RECORD and choice.value is None:
            return None
        fields = settle_field(fields, choice.field, choice.value)
    return _encoded(path, fields, before)


def deleted_elsewhere(path: str, data: bytes) -> bytes:
    """The file with a note that another branch deleted its record."""
    if _is_body(path):
        return data
    fields = decode_object(data)
    return _encoded(path, as_deleted_elsewhere(fields), fields)


def _fields(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    was, mine, yours = read_versions(path, base, ours, theirs)
    if mine and yours and any(mine.get(name) != yours.get(name) for name in _WHO):
        raise InvalidStore(f"`{path}` holds another record on each side.", hint="Rename one of the two records.")
    found = merge_record(was, mine, yours, _NODE if _is_node(path) else _RELATION)
    if found is None:
        return None
    if _is_node(path):
        found = _sealed_once(found)
    sides = [without_notes(side) for side in (mine, yours) if side]
    return _encoded(path, found, merged_layout(sides, found))


def _sealed_once(fields: Fields) -> Fields:
    """A node with one seal for each anchor: of two, whichever does not fit, the verdict says so."""
    evidence = fields.get("evidence")
    if not isinstance(evidence, list):
        return fields
    last: dict[str, str] = {}
    for item in evidence:
        seal = _seal_in(item)
        if seal:
            last[seal.anchor] = max(last.get(seal.anchor, ""), seal.id)
    kept = [item for item in evidence if (seal := _seal_in(item)) is None or last[seal.anchor] == seal.id]
    return {**fields, "evidence": kept}


def _seal_in(item: object) -> Seal | None:
    if not isinstance(item, dict) or item.get("kind") != "file" or not isinstance(item.get("id"), str):
        return None
    return parse_seal(item["id"])


def _encoded(path: str, fields: Fields, before: Fields) -> bytes:
    if _is_relation(path) and _HASH in fields:
        fields = {**fields, _HASH: relation_hash(fields)}
    return encode_fields(fields, before)


def _body(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes:
    if ours is None or theirs is None:
        return ours or theirs or b""
    from quire.layers.graph.merge_body import merge_bodies

    try:
        was = body_text(base) if base is not None else None
        return merge_bodies(was, body_text(ours), body_text(theirs)).encode()
    except UnicodeDecodeError as error:
        raise InvalidStore("A side is not UTF-8 text.") from error


def _is_node(path: str) -> bool:
    return path.startswith(f"{FOLDER}/{NODES}/") and path.endswith(".json")


def _is_body(path: str) -> bool:
    return path.startswith(f"{FOLDER}/{NODES}/") and path.endswith(".md")


def _is_relation(path: str) -> bool:
    return path.startswith(f"{FOLDER}/{RELATIONS}/") and path.endswith(".json")
