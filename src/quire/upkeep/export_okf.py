"""Write an export as an Open Knowledge Format bundle: one Markdown file for each record, and an index of them."""

from __future__ import annotations

import json
import re

from quire.files.digests import hex_digest
from quire.layers.table import layer_named
from quire.model.ids import slugify
from quire.model.records import Edge, Record
from quire.model.text import headline, one_line, plain_newlines
from quire.upkeep.export import Holdings

_VERSION = "0.1"
_SUMMARY = 160
_NAME_CHARS = 80
_HEAD_MARK = re.compile(r"^(?=---|\.\.\.|\+\+\+)", re.M)


def render_okf(found: Holdings) -> dict[str, bytes]:
    """The files by their paths in the bundle; the same memory gives the same files."""
    paths = _paths(found.records)
    outgoing: dict[str, list[Edge]] = {}
    for edge in found.edges:
        outgoing.setdefault(edge.source, []).append(edge)
    files = {paths[r.ref]: _concept(found, r, outgoing.get(r.ref, []), paths) for r in found.records if r.ref in paths}
    name = one_line(found.project["name"])
    lines = ["---", f'okf_version: "{_VERSION}"', "---", "", f"# Memory of {name}", ""]
    titles = {paths[r.ref]: _title(r) for r in found.records}
    lines += [f"- [{_plain(titles[path])}]({path})" for path in sorted(files)]
    files["index.md"] = "\n".join(lines) + "\n"
    return {path: text.encode("utf-8", "replace") for path, text in files.items()}


def _paths(records: tuple[Record, ...]) -> dict[str, str]:
    paths: dict[str, str] = {}
    taken: set[str] = set()
    for record in records:
        slug = slugify(_title(record), hex_digest)[:_NAME_CHARS].strip("-") or "record"
        path = f"{record.layer}/{record.kind}/{slug}.md"
        if path in taken or slug in ("index", "log"):
            path = f"{record.layer}/{record.kind}/{slug}-{hex_digest(record.ref)[:8]}.md"
        taken.add(path)
        paths.setdefault(record.ref, path)
    return paths


def _concept(found: Holdings, record: Record, edges: list[Edge], paths: dict[str, str]) -> str:
    verdict = found.verdicts.get(record.ref)
    text = plain_newlines(record.text).strip()
    head = {
        "type": record.kind.capitalize(),
        "title": _title(record),
        "description": headline(text or _title(record), _SUMMARY),
        "resource": record.anchors[0] if record.anchors else "",
        "tags": list(record.tags),
        "timestamp": record.updated_at,
        "status": record.status,
        "section": record.section,
        "ref": record.ref,
        "layer": layer_named(record.layer).name,
        "verdict": verdict.verdict if verdict else "",
    }
    # A text of JSON is one of YAML, too.
    lines = [
        "---",
        *(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items() if value),
        "---",
        "",
    ]
    # A line of marks in the text would be taken for the end of a head by careless readers.
    lines += [_HEAD_MARK.sub("\\\\", text), ""] if text else []
    linked = [edge for edge in edges if edge.target in paths]
    if linked:
        lines += ["# Relations", ""]
        lines += [f"- {edge.predicate} [{edge.target}](/{paths[edge.target]})" for edge in linked]
        lines.append("")
    return "\n".join(lines)


def _title(record: Record) -> str:
    return one_line(record.title) or record.ref


def _plain(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", text)
