"""Claude Code's own notes on a project: an index, and a file for each thing it keeps, with a head that says its type.

What it noted of the user and of their feedback is theirs, and goes to the profile; what it noted of the project and of
places elsewhere are facts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from quire.capture.hosts.documents import DocumentPart, HostDocument, read_document
from quire.capture.hosts.items import TextItem
from quire.capture.hosts.proposal_collector import ProposalCollector, plain, slug
from quire.capture.hosts.sections import Manner, propose_facts
from quire.capture.hosts.source_files import files_in, home_sources
from quire.capture.hosts.topics import ARCHITECTURE, CONSTRAINTS, DECISIONS, ISSUES, is_knowledge
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.claude import encoded_folder
from quire.capture.transcripts.types import KnownPlaces
from quire.layers.profile.layout import RELATIONSHIPS, USER
from quire.model.untyped import as_text

_INDEX = "MEMORY.md"
_DEPTH = 3
# The type stands in the head itself or, in newer files, one step further in.
_TYPE = re.compile(r"^[ \t]*type:[ \t]*[\"']?(user|feedback|project|reference)\b", re.M)
_POINTER = re.compile(r"\[[^\]\n]+\]\([^)\s]+\.md\)")
_SECTIONS = (
    (DECISIONS, re.compile(r"\bdecid|\bdecision|\bchose\b|\bswitch(?:ed|ing) (?:from|to)\b|\binstead of\b", re.I)),
    (ISSUES, re.compile(r"\bbugs?\b|\bbroken\b|\bflaky\b|\bregression|\bfails?\b|\bcrash|\bknown issue", re.I)),
    (CONSTRAINTS, re.compile(r"\bmust\b|\bnever\b|\bdeadline|\bfreeze|\bonly\b|\brequire|\bdo not\b|\bdon't\b", re.I)),
)


def find_claude_memory(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:
    """The notes of the folder that Claude Code keeps for this project."""
    config = env.get("CLAUDE_CONFIG_DIR") or (os.path.join(home, ".claude") if home else "")
    found: dict[str, HostSource] = {}
    for top in dict.fromkeys((root, os.path.realpath(root))) if config else ():
        folder = os.path.join(config, "projects", encoded_folder(top), "memory")
        for source in home_sources("claude-memory", files_in(folder, (".md",), _DEPTH), home):
            # The folder's name spells the project's whole path, which is nobody's business.
            shown = source.shown.replace(f"/{encoded_folder(top)}/", "/…/")
            found[source.path] = msgspec.structs.replace(source, shown=shown)
    return list(found.values())


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    document = read_document(source.path, source.shown, places, source.scope)
    gathering = ProposalCollector(document, places.root, now)
    kind = _TYPE.search(document.head_text)
    if kind:
        _propose_whole(gathering, document, kind[1])
    else:
        parts = tuple(_without_pointers(part, gathering) for part in document.parts)
        title = "" if os.path.basename(source.path) == _INDEX else document.title or _name(document)
        propose_facts(gathering, parts, Manner(title=title, default=ARCHITECTURE))
    return gathering.read(source)


def _propose_whole(gathering: ProposalCollector, document: HostDocument, kind: str) -> None:
    """A file that holds one thing is one proposal."""
    items = [item for part in document.parts for item in part.items if item.form == "code" or is_knowledge(item)]
    kept = gathering.admitted(items)
    if not kept:
        gathering.skipped += not items
        return
    name, told = _field(document, "name") or _name(document), _field(document, "description")
    text = "\n".join(item.shown for item in kept)
    if kind in ("user", "feedback"):
        key = slug(name) or slug(_name(document)) or kind
        gathering.entry(USER if kind == "user" else RELATIONSHIPS, key, text, kept, (kind,))
        return
    heading = plain(name.replace("-", " ").replace("_", " ") if " " not in name else name)
    said = f"{heading}:\n{text}" if "\n" in text else f"{heading}: {text}"
    section = ARCHITECTURE if kind == "reference" else _section(f"{name} {told} {text[:400]}")
    gathering.fact(section, said, kept, (kind,))


def _section(text: str) -> str:
    return next((section for section, words in _SECTIONS if words.search(text)), ARCHITECTURE)


def _field(document: HostDocument, name: str) -> str:
    return as_text(document.head.get(name))


def _name(document: HostDocument) -> str:
    return os.path.basename(document.shown).removesuffix(".md")


def _without_pointers(part: DocumentPart, gathering: ProposalCollector) -> DocumentPart:
    """A section without the lines that only lead to the other files: those are read themselves."""
    items: tuple[TextItem, ...] = tuple(item for item in part.items if not _POINTER.match(item.text))
    if part.items and not items:
        gathering.skipped += 1
    return DocumentPart(part.titles, items)
