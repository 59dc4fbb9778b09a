"""Codex's own notes: a handbook of task groups, each for the folder it names, and a summary about the user.

Only the groups of this project are read. Those notes are kept for all projects in one place; what is of others stays
there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from quire.capture.hosts.documents import DocumentPart, read_document
from quire.capture.hosts.items import TextItem
from quire.capture.hosts.proposal_collector import ProposalCollector, plain, slug
from quire.capture.hosts.sections import worth_keeping
from quire.capture.hosts.source_files import home_sources
from quire.capture.hosts.topics import ISSUES, PATTERNS
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.places import belongs
from quire.capture.transcripts.types import KnownPlaces
from quire.layers.profile.layout import LEARNINGS, USER

_HANDBOOK, _SUMMARY = _FILES = ("MEMORY.md", "memory_summary.md")
_GROUP = re.compile(r"Task Group\b[: ]*", re.I)
_CWD = re.compile(r"\bcwd[ \t]*=[ \t]*`?([^\s;,`]+)")
_TASKS = re.compile(r"[ \t]*(?:\[Task \d{1,3}\])+")
_OWN = re.compile(r"Task \d{1,3}\b", re.I)


def find_codex_memories(_root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:
    folder = env.get("CODEX_HOME") or (os.path.join(home, ".codex") if home else "")
    if not folder:
        return []
    return home_sources("codex-memories", [os.path.join(folder, "memories", name) for name in _FILES], home)


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    document = read_document(source.path, source.shown, places, source.scope)
    gathering = ProposalCollector(document, places.root, now)
    if os.path.basename(source.path) == _SUMMARY:
        for part in document.parts:
            _propose_of_user(gathering, part)
    else:
        parts = [_as_group(part, document.title) for part in document.parts]
        for title, group in _groups(parts):
            _propose_group(gathering, title, group, places)
    return gathering.read(source)


# -- the handbook ---------------------------------------------------------------------------------


def _as_group(part: DocumentPart, title: str) -> DocumentPart:
    """A handbook with a single group has its heading for a title."""
    return DocumentPart((title, *part.titles), part.items) if _GROUP.match(title) else part


def _groups(parts: list[DocumentPart]) -> list[tuple[str, list[DocumentPart]]]:
    groups: dict[str, list[DocumentPart]] = {}
    for part in parts:
        if part.titles and _GROUP.match(part.titles[0]):
            groups.setdefault(part.titles[0], []).append(part)
    return list(groups.items())


def _propose_group(gathering: ProposalCollector, title: str, parts: list[DocumentPart], places: KnownPlaces) -> None:
    """The knowledge of one group, if it is this project's."""
    intro = " ".join(item.text for part in parts if len(part.titles) == 1 for item in part.items)
    folders = _CWD.findall(intro)
    if not any(_is_here(folder, places) for folder in folders):
        gathering.skipped += len(parts)
        return
    name = plain(_GROUP.sub("", title, count=1))
    for part in parts:
        heading = part.titles[1] if len(part.titles) > 1 else ""
        is_index = not heading or _OWN.match(heading)
        items = worth_keeping(gathering, _plain_part(part), is_passed_over=bool(is_index))
        for item in items:
            if "preference" in heading.lower():
                gathering.entry(USER, _key(item), item.text, [item], ("codex",))
            elif "failure" in heading.lower():
                gathering.fact(ISSUES, f"{name}: {item.text}", [item], ("codex",))
            else:
                gathering.fact(PATTERNS, f"{name}: {item.text}", [item], ("codex",))


def _is_here(folder: str, places: KnownPlaces) -> bool:
    # The project's own folder was shortened to a point when the document was read, folders in it to their own part.
    if folder == "." or (not folder.startswith(("/", "~")) and os.path.isdir(os.path.join(places.root, folder))):
        return True
    return belongs(os.path.join(places.home, folder[2:]) if folder.startswith("~/") else folder, places.root)


def _plain_part(part: DocumentPart) -> DocumentPart:
    """A section without the marks that lead back to the tasks."""
    items = tuple(
        TextItem(item.form, item.line, _TASKS.sub("", item.text), item.last, item.mark) for item in part.items
    )
    return DocumentPart(part.titles, items)


def _key(item: TextItem) -> str:
    return slug(" ".join(plain(item.text).split()[:6])) or f"preference_{item.line}"


# -- the summary ----------------------------------------------------------------------------------


def _propose_of_user(gathering: ProposalCollector, part: DocumentPart) -> None:
    """What the summary says of the user. What it lists of the handbook, for all projects, is left out."""
    heading = part.titles[0].lower() if part.titles else ""
    is_wanted = heading.startswith("user ") or "tips" in heading
    items = worth_keeping(gathering, _plain_part(part), is_passed_over=not is_wanted)
    if items and heading == "user profile":
        gathering.entry(USER, "profile", "\n".join(item.shown for item in items), items, ("codex",))
        return
    for item in items:
        gathering.entry(LEARNINGS if "tips" in heading else USER, _key(item), item.text, [item], ("codex",))
