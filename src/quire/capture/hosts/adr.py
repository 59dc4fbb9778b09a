"""Import architecture decision records: each accepted one becomes a decision of the graph."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from quire.capture.hosts.adr_document import (
    CONSEQUENCES,
    CONTEXT,
    DECISION,
    OPTIONS,
    AdrDocument,
    number_of,
    read_adr_document,
    title_of,
)
from quire.capture.hosts.source_files import named_folders
from quire.capture.hosts.structured_files import ANCHORS_MOST, code_paths, find_file, markdown_below
from quire.capture.hosts.structured_proposals import (
    BODY_CHARS,
    StructuredCollector,
    begun_text,
    node_id,
    shortened,
)
from quire.capture.hosts.types import FILE_BYTES, FILES_MOST, HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.files.paths import escaping_part, read_inside
from quire.model.anchors import anchor_fault, normal_anchor
from quire.model.ids import is_id
from quire.model.text import cut, one_line

_FOLDERS = (
    *("adr", "adrs", "madr", "decisions", "decision-records", "decision-log", "design-decisions"),
    *("architecture-decisions", "architecture_decisions", "architectural-decisions", "architecture-decision-records"),
)
_LOOSE = ("decisions", "decision-log", "design-decisions")
"""Folders of these names hold records where they lie among documents; elsewhere they may hold anything."""
_DOCUMENTS = re.compile(r"(?i)(?:^|/)(?:docs?|documentation|architecture|design)/")
_NAMED = ".adr-dir"
"""Where the tools for such records keep the name of their folder."""
_NO_RECORD = re.compile(r"(?i)^(?:readme|index|changelog|contributing|toc|summary)\.md$|template")
_STATUS_CHARS = 400
_SHARES = {CONTEXT: 550, DECISION: 850, CONSEQUENCES: 450}
_OPTION = re.compile(r"^[-*+] +(.+)$|^\d+[.)] +(.+)$", re.M)
_CODE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1`*~*[ \t]*(?:\n|\Z)", re.M | re.S)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\n]*\)")

# -- finding --------------------------------------------------------------------------------------


def find_adr(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:  # noqa: ARG001
    """The Markdown files of the folders where such records lie. Forms and tables of contents are left out."""
    found: dict[str, HostSource] = {}
    for folder in (*_named_folder(root), *_known_folders(root)):
        for path in markdown_below(root, folder):
            source = None if _NO_RECORD.search(path.rpartition("/")[2]) else find_file("adr", root, path, "project")
            if source is not None and len(found) < FILES_MOST:
                # On a disk that knows no case, two spellings of a folder are one.
                found.setdefault(os.path.realpath(source.path).casefold(), source)
    return list(found.values())


def _named_folder(root: str) -> list[str]:
    try:
        name = read_inside(root, _NAMED, 1_000).decode("utf-8").strip().strip("/").removeprefix("./")
    except (OSError, ValueError):
        return []
    return [] if escaping_part(name) or not name.isprintable() else [name]


def _known_folders(root: str) -> list[str]:
    found = named_folders(root, _FOLDERS)
    return [path for path in found if path.rpartition("/")[2].lower() not in _LOOSE or _DOCUMENTS.search(path)]


# -- reading --------------------------------------------------------------------------------------


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    """The decision that a record holds; one that no longer holds says so. A document that is none is counted."""
    found, text = begun_text(source, places, now)
    record = read_adr_document(text, source.shown)
    if record is None:
        found.skipped = 1 if text else 0
    elif found.may_pass(text, 1, spread=True):
        _add(found, record, places.root)
    return found.read(is_one_record=True)


def _add(found: StructuredCollector, record: AdrDocument, root: str) -> None:
    shown, folder = found.source.shown, os.path.dirname(found.source.shown)
    status = one_line(_plain(record.status))
    texts = "\n".join(record.parts.values())
    own = node_id("decision", record.title)
    by = (_decision_at(name, root, folder) for name in record.replaced_by) if record.standing == "over" else ()
    found.node(
        "decision",
        record.title,
        _body(record),
        record.line,
        quote=_plain(record.parts.get(DECISION, "")),
        standing="" if record.standing == "holds" else record.standing,
        said=cut(status, _STATUS_CHARS) if record.standing != "holds" else "",
        replaced_by=next((target for target in by if is_id(target) and target != own), ""),
        id=own,
        anchors=[*([shown] if _may_anchor(found, shown) else []), *code_paths(texts, root, folder)][:ANCHORS_MOST],
        tags=["adr", *record.tags],
        related=_related(record, root, folder),
    )


def _may_anchor(found: StructuredCollector, shown: str) -> bool:
    """Whether a record can be anchored to its file: it lies in the project, and its name is no pattern."""
    return found.source.scope == "project" and not anchor_fault(shown) and normal_anchor(shown) == shown


# -- the body -------------------------------------------------------------------------------------


def _body(record: AdrDocument) -> str:
    """A status that says something; context, decision and consequences, each as far as it fits.

    The decision first gets what is left.
    """
    parts = {name: _plain(record.parts[name]) for name in _SHARES if name in record.parts}
    status = shortened(_plain(record.status), _STATUS_CHARS)
    first = f"Status:{_gap(status)}{status}\n\n" if status else ""
    options = _options(record.parts.get(OPTIONS, ""))
    room = BODY_CHARS - len(first) - sum(len(name) + 4 for name in parts)
    if sum(map(len, parts.values())) > room:
        # Code is what can be looked up elsewhere.
        parts = {name: _CODE.sub("", text).strip() for name, text in parts.items()}
    sizes = {name: min(len(text), _SHARES[name]) for name, text in parts.items()}
    for name in (DECISION, CONTEXT, CONSEQUENCES):
        left = room - sum(sizes.values())
        if name in parts and left > 0:
            sizes[name] = min(len(parts[name]), sizes[name] + left)
    written = [f"{name}:{_gap(text)}{shortened(text, sizes[name])}" for name, text in parts.items()]
    body = first + "\n\n".join(written)
    return f"{body}\n\n{options}" if options and len(body) + len(options) + 2 <= BODY_CHARS else body


def _gap(text: str) -> str:
    """A list and a block of code begin on a line of their own."""
    return "\n" if _OPTION.match(text) or text.startswith(("```", "|", ">")) else " "


def _plain(text: str) -> str:
    """Links that lead out of a folder that the body does not stand in, as their words."""
    return _LINK.sub(r"\1", text)


def _options(text: str) -> str:
    names = [one_line(_plain(found[1] or found[2])).rstrip(".;") for found in _OPTION.finditer(text)]
    return f"{OPTIONS}: {'; '.join(names)}." if names else ""


# -- other records --------------------------------------------------------------------------------


def _related(record: AdrDocument, root: str, folder: str) -> list[dict[str, str]]:
    """The decisions that it replaces or amends. They may not be there, or not yet."""
    own = node_id("decision", record.title)
    related: dict[tuple[str, str], None] = {}
    for predicate, names in (("supersedes", record.supersedes), ("related_to", record.amends)):
        for name in names:
            target = _decision_at(name, root, folder)
            if is_id(target) and target != own and ("supersedes", target) not in related:
                related[predicate, target] = None
    return [{"predicate": predicate, "to": target} for predicate, target in related]


def _decision_at(name: str, root: str, folder: str) -> str:
    """The id of the decision that a file name or a number stands for; empty where no record is there."""
    path = os.path.normpath(f"{folder}/{name}")
    if name.isdecimal():
        number = int(name)
        listed = [item for item in markdown_below(root, folder) if number_of(item) == number]
        path = listed[0] if len(listed) == 1 else ""
    if not path or escaping_part(path):
        return ""
    try:
        return node_id("decision", title_of(read_inside(root, path, FILE_BYTES).decode("utf-8"), path))
    except (OSError, ValueError):
        return ""
