"""Architecture decision records in a project's documents: each that holds becomes a decision of the graph."""

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
    read_adr_document,
    title_of,
)
from quire.capture.hosts.structured import (
    BODY_CHARS,
    Gathering,
    add_node,
    begun_text,
    gathered,
    may_pass,
    node_id,
    shortened,
)
from quire.capture.hosts.structured_files import code_paths, find_file, markdown_below
from quire.capture.hosts.types import FILE_BYTES, FILES_MOST, HostRead, HostSource, Places
from quire.files import escaping_part, read_inside
from quire.model import is_id, one_line

_FOLDERS = (
    *("docs/adr", "docs/adrs", "docs/ADR", "docs/decisions", "docs/architecture/decisions", "docs/architecture/adr"),
    *("doc/adr", "doc/adrs", "doc/decisions", "doc/architecture/decisions", "adr", "adrs"),
)
_NAMED = ".adr-dir"
"""Where the tools for such records keep the name of their folder."""
_NO_RECORD = re.compile(r"(?i)^(?:readme|index|changelog|contributing|toc|summary)\.md$|template")
# Somebody still has to agree.
_PROPOSED = re.compile(r"^\W*(?:proposed|proposal|draft|pending|in[ -]review|in discussion|rfc|open|wip|in progress)\b")
# What no longer holds, or never did. The graph takes a node in as one that holds, so these are left out.
_OVER = re.compile(
    r"^\W*(?:superseded|superceded|deprecated|rejected|obsolete|withdrawn|retired|replaced|abandoned|declined)\b"
    r"|(?<!partially )(?<!partly )\b(?:superseded|superceded|replaced) by\b"
)
_SHARES = {CONTEXT: 550, DECISION: 850, CONSEQUENCES: 450}
_OPTION = re.compile(r"^[-*+] +(.+)$|^\d+[.)] +(.+)$", re.M)
_CODE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1`*~*[ \t]*(?:\n|\Z)", re.M | re.S)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")

__all__ = ["find_adr", "read_adr"]


# -- finding --------------------------------------------------------------------------------------


def find_adr(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:  # noqa: ARG001
    """The Markdown files of the folders where such records lie. Forms and tables of contents are left out."""
    found: dict[str, HostSource] = {}
    for folder in (*_named_folder(root), *_FOLDERS):
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


# -- reading --------------------------------------------------------------------------------------


def read_adr(source: HostSource, places: Places, now: str) -> HostRead:
    """The decision that a record holds. One that no longer holds is counted, and so is a document that is none."""
    found, text = begun_text(source, places, now)
    record = read_adr_document(text, source.shown)
    if record is None or _OVER.search(record.status):
        found.skipped = 1 if text else 0
    elif may_pass(found, text, 1, spread=True):
        _add(found, record, places.root)
    return gathered(found)


def _add(found: Gathering, record: AdrDocument, root: str) -> None:
    folder = os.path.dirname(found.source.shown)
    is_proposed = _PROPOSED.match(record.status) is not None
    texts = "\n".join(record.parts.values())
    add_node(
        found,
        "decision",
        record.title,
        _body(record, is_proposed=is_proposed),
        record.line,
        quote=_plain(record.parts.get(DECISION, "")),
        id=node_id("decision", record.title),
        anchors=code_paths(texts, root, folder),
        tags=["adr", *(["proposed"] if is_proposed else []), *record.tags],
        related=_related(record, root, folder),
    )


# -- the body -------------------------------------------------------------------------------------


def _body(record: AdrDocument, *, is_proposed: bool) -> str:
    """Context, decision and consequences, each as far as it fits; the decision first gets what is left."""
    parts = {name: _plain(record.parts[name]) for name in _SHARES if name in record.parts}
    first = "Proposed, not accepted yet.\n\n" if is_proposed else ""
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
        listed = [item for item in markdown_below(root, folder) if _number_of(item) == number]
        path = listed[0] if len(listed) == 1 else ""
    if not path or escaping_part(path):
        return ""
    try:
        return node_id("decision", title_of(read_inside(root, path, FILE_BYTES).decode("utf-8"), path))
    except (OSError, ValueError):
        return ""


def _number_of(path: str) -> int | None:
    found = re.match(r"(?i)(?:adr[-_]?)?0*(\d{1,5})(?=[-_. ])", path.rpartition("/")[2])
    return int(found[1]) if found else None
