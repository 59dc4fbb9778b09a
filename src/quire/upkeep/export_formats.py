"""Write an export as one text: JSON, the MCP memory server's lines, or a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from quire.layers.table import path_from_root
from quire.model.records import Edge, Record
from quire.model.text import plain_newlines
from quire.upkeep.export import Holdings
from quire.upkeep.export_page import is_beginning, render_page

EXPORT_FORMATS = ("markdown", "json", "mcp", "okf")
_VERSION = 1
"""Of the JSON document; a key that is added does not change it."""
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
        "edges": [_edge_fields(edge) for edge in found.edges],
    }
    return msgspec.json.format(_encoded(document), indent=2).decode() + "\n"


def _record_fields(found: Holdings, record: Record) -> dict[str, Any]:
    verdict = found.verdicts.get(record.ref)
    is_private = record.ref in found.private
    return {
        "ref": record.ref,
        "layer": record.layer,
        "kind": record.kind,
        "title": record.title,
        "text": record.text,
        "status": record.status,
        "stage": record.stage,
        "section": record.section,
        "scope": record.scope,
        "tags": record.tags,
        "anchors": record.anchors,
        "seen": record.seen,
        "commit": record.commit,
        "contested": record.contested,
        "origin": record.origin,
        "weight": record.weight,
        "half_life": record.half_life,
        "since": record.since,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "path": "" if is_private else path_from_root(record.layer, record.path),
        "private": is_private,
        "verdict": verdict.verdict if verdict else None,
        "because": verdict.because if verdict else "",
    }


def _edge_fields(edge: Edge) -> dict[str, Any]:
    return {
        "ref": edge.ref,
        "source": edge.source,
        "predicate": edge.predicate,
        "target": edge.target,
        "status": edge.status,
        "confidence": edge.confidence,
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
        return msgspec.json.encode(_whole(value))


def _whole(value: Any) -> Any:
    """The same without halves of characters, which JSON in UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value
