"""Write an export as a Markdown document whose structure no stored text can break."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from quire.layers.table import layer_named
from quire.model.records import Edge, Record
from quire.model.text import one_line, plain_newlines, without_marks
from quire.upkeep.export import Holdings

_KINDS = {"decision": "Decisions", "gotcha": "Gotchas", "question": "Questions", "project": "Project"}
_SHORT = {"checkpoint": "Checkpoints", "event": "Events"}
"""What is reported in a line each: it repeats what the bundle says, or what was said in a session."""
_TICKS = re.compile("`+")

Edges = dict[str, list[Edge]]


def render_page(found: Holdings) -> str:
    """Every record with all that is known of it, by layer and part."""
    lines = [f"# Memory of {one_line(found.project['name'])}", "", f"Exported {found.exported_at}.", ""]
    if not found.records:
        lines += ["Nothing is recorded.", ""]
    outgoing, incoming = _ends(found)
    for layer, in_layer in groupby(found.records, lambda record: record.layer):
        lines += [f"## {layer_named(layer).heading}", ""]
        for title, records in groupby(in_layer, _part):
            lines += [f"### {title}", ""]
            for record in records:
                if record.kind in _SHORT:
                    lines.append(_in_short(record))
                else:
                    lines += _in_full(found, record, outgoing, incoming)
            if lines[-1]:
                lines.append("")
    return "\n".join(lines)


def _ends(found: Holdings) -> tuple[Edges, Edges]:
    outgoing: Edges = {}
    incoming: Edges = {}
    for edge in found.edges:
        outgoing.setdefault(edge.source, []).append(edge)
        incoming.setdefault(edge.target, []).append(edge)
    return outgoing, incoming


def _part(record: Record) -> str:
    if record.kind in _SHORT:
        return _SHORT[record.kind]
    if record.layer == "graph":
        return f"Features: {record.stage or 'idea'}" if record.kind == "feature" else _KINDS.get(record.kind, "Other")
    name = "Episodes" if record.kind == "episode" else one_line(record.section) or "Other"
    if record.kind == "bundle":
        name = name.replace("-", " ").capitalize()
    return f"{name} (mind {one_line(record.scope)})" if record.scope else name


def _in_short(record: Record) -> str:
    status = "" if record.status == "active" else f", {one_line(record.status)}"
    return f"- {_code(record.ref)} ({one_line(record.created_at) or 'no date'}{status}): {one_line(record.text)}"


def _in_full(found: Holdings, record: Record, outgoing: Edges, incoming: Edges) -> Iterator[str]:
    text = plain_newlines(record.text)
    title = "" if is_beginning(record.title, text) and record.layer != "graph" else f" {one_line(record.title)}"
    yield f"#### {_code(record.ref)}{title}".rstrip()
    yield ""
    yield from _details(found, record)
    relations = [
        *(_relation(edge, f"{one_line(edge.predicate)} {_code(edge.target)}") for edge in outgoing.get(record.ref, ())),
        *(
            _relation(edge, f"{_code(edge.source)} {one_line(edge.predicate)} this")
            for edge in incoming.get(record.ref, ())
        ),
    ]
    if relations:
        yield "- Relations:"
        yield from relations
    yield ""
    if text.strip():
        # Quoted line by line: neither a heading nor a fence nor a tag that is left open reaches out of a quotation.
        yield from (f"> {line}" if line else ">" for line in text.strip("\n").split("\n"))
        yield ""


def _details(found: Holdings, record: Record) -> Iterator[str]:
    yield f"- Status: {one_line(record.status)}" + (", private" if record.ref in found.private else "")
    verdict = found.verdicts.get(record.ref)
    if verdict:
        yield f"- Verdict: {verdict.verdict}" + (f" ({one_line(verdict.because)})" if verdict.because else "")
    if record.anchors:
        yield f"- Anchors: {', '.join(map(_code, record.anchors))}"
    if record.tags:
        yield f"- Tags: {', '.join(map(one_line, record.tags))}"
    if record.origin:
        yield f"- Origin: {one_line(record.origin)}" + (
            f", at commit {one_line(record.commit)}" if record.commit else ""
        )
    dates = (("created", record.created_at), ("updated", record.updated_at), ("confirmed", record.since))
    said = [f"{name} {one_line(date)}" for name, date in dates if date]
    if said:
        yield f"- Dates: {', '.join(said)}"


def _relation(edge: Edge, said: str) -> str:
    notes = [one_line(note) for note in (edge.status if edge.status != "active" else "", edge.confidence or "") if note]
    return f"  - {said}" + (f" ({', '.join(notes)})" if notes else "")


def _code(text: str) -> str:
    """A text as code, whatever ticks it holds."""
    shown = one_line(text)
    ticks = "`" * (1 + max((len(found) for found in _TICKS.findall(shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def is_beginning(title: str, text: str) -> bool:
    """Whether a title only says how the text begins."""
    said = title.removesuffix("…")
    return one_line(text).startswith(said) or one_line(without_marks(text)).startswith(said)
