"""Write an export as one text: JSON, the MCP memory server's lines, or a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from quire.layers.table import path_from_root
from quire.model.records import Record
from quire.model.text import plain_newlines
from quire.model.untyped import with_texts
from quire.upkeep.export import Holdings
from quire.upkeep.export_page import is_beginning, render_page

EXPORT_FORMATS = ("markdown", "json", "mcp", "okf")
_VERSION = 1
"""Of the JSON document; a key that is added does not change it."""
_RECORD_FIELDS = (
    *("ref", "layer", "kind", "title", "text", "status", "stage", "section", "scope", "tags", "anchors", "seen"),
    *("commit", "contested", "origin", "weight", "half_life", "since", "created_at", "updated_at"),
)
_EDGE_FIELDS = ("ref", "source", "predicate", "target", "status", "confidence")
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


class ExportText(msgspec.Struct, frozen=True, kw_only=True):
    """The text, and how many relations are in it: not every form has all of them."""

    text: str
    edges: int


def render_export(found: Holdings, output_format: str) -> ExportText:
    """The text in one of the formats."""
    edges = len(found.edges)
    if output_format == "json":
        text = _json(found)
    elif output_format == "mcp":
        text, edges = _mcp(found)
    else:
        text = render_page(found)
    return ExportText(
        # A half of a character that another program wrote down is no text, and no file of text can hold it.
        text=text if text.isascii() else text.encode("utf-8", "replace").decode(),
        edges=edges,
    )


def _json(found: Holdings) -> str:
    document = {
        "version": _VERSION,
        "exported_at": found.exported_at,
        "project": found.project,
        "records": [_record_fields(found, record) for record in found.records],
        "edges": [{name: getattr(edge, name) for name in _EDGE_FIELDS} for edge in found.edges],
    }
    return msgspec.json.format(_encoded(document), indent=2).decode() + "\n"


def _record_fields(found: Holdings, record: Record) -> dict[str, Any]:
    verdict = found.verdicts.get(record.ref)
    is_private = record.ref in found.private
    return {
        **{name: getattr(record, name) for name in _RECORD_FIELDS},
        "path": "" if is_private else path_from_root(record.layer, record.path),
        "private": is_private,
        "verdict": verdict.verdict if verdict else None,
        "because": verdict.because if verdict else "",
    }


def _mcp(found: Holdings) -> tuple[str, int]:
    """Lines as the reference server for MCP keeps its graph: entities, then relations between them and their number."""
    entities: dict[str, tuple[str, dict[str, None]]] = {}
    for record in found.records:
        # Files of two branches may hold the same ref; a graph has one entity of a name.
        _, said = entities.setdefault(record.ref, (record.kind, {}))
        said.update(dict.fromkeys(_observations(record)))
    lines: list[dict[str, Any]] = [
        {"type": "entity", "name": name, "entityType": kind, "observations": list(said)}
        for name, (kind, said) in entities.items()
    ]
    ends = dict.fromkeys((edge.source, edge.target, edge.predicate) for edge in found.edges)
    lines += [
        {"type": "relation", "from": source, "to": target, "relationType": predicate}
        for source, target, predicate in ends
        if source in entities and target in entities
    ]
    return "".join(_encoded(line).decode() + "\n" for line in lines), len(lines) - len(entities)


def _observations(record: Record) -> Iterable[str]:
    text = plain_newlines(record.text)
    if record.title and not is_beginning(record.title, text):
        yield record.title
    yield from (part.strip("\n") for part in _PARAGRAPHS.split(text) if part.strip())
    yield f"Status: {record.status}"
    if record.stage:
        yield f"Stage: {record.stage}"
    if record.section:
        yield f"Section: {record.section}"
    yield from (f"Anchor: {anchor}" for anchor in record.anchors)
    if record.tags:
        yield f"Tags: {', '.join(record.tags)}"


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # JSON in UTF-8 cannot hold halves of characters.
        return msgspec.json.encode(with_texts(value, lambda text: text.encode("utf-8", "replace").decode()))
