"""The memory bank: what a project is, how it is built, what works, and what comes next, in files of fixed names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from quire.capture.hosts.documents import DocumentPart, HostDocument, read_document
from quire.capture.hosts.items import TextItem, lead_of, with_leads
from quire.capture.hosts.proposal_collector import ProposalCollector, plain, title_and_body
from quire.capture.hosts.sections import Manner, propose_facts, propose_items, worth_keeping
from quire.capture.hosts.source_files import names_below, project_sources
from quire.capture.hosts.topics import ARCHITECTURE, is_later, place_of
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.model.vocabulary import Stage

_FOLDERS = ("memory-bank", ".memory-bank", "memory_bank", "cline_docs")
_DEPTH = 3
_WORKING = ("activecontext", "progress")
# How far a feature is, by the heading that it is listed below.
_STAGES: tuple[tuple[Stage, re.Pattern[str]], ...] = (
    ("building", re.compile(r"\bin progress\b|\bongoing\b|\bunder way\b|\bbeing built\b|\bpartial", re.I)),
    ("idea", re.compile(r"\bleft\b|\bremaining\b|\bplanned\b|\bto build\b|\bto do\b|\bnot (?:yet )?|\bfuture\b", re.I)),
    ("paused", re.compile(r"\bpaused\b|\bon hold\b|\bdeferred\b|\bpostponed\b", re.I)),
    ("shipped", re.compile(r"\bworks\b|\bworking\b|\bcompleted?\b|\bdone\b|\bimplemented\b|\bfinished\b", re.I)),
)
# Headings that only gather what is listed below them.
_GROUPS = re.compile(
    r"(?:[\w-]+ )?(?:improvements?|additions?|enhancements?|features?|functionality|tasks?|items?)", re.I
)
_MARKED: dict[str, Stage] = {"done": "shipped", "going": "building"}


def find_cline_memory_bank(root: str, _home: str, _env: Mapping[str, str]) -> list[HostSource]:
    names = [name for folder in _FOLDERS for name in names_below(root, folder, (".md",), _DEPTH)]
    return project_sources("cline-memory-bank", root, names)


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    document = read_document(source.path, source.shown, places, source.scope)
    gathering = ProposalCollector(document, places.root, now)
    stem = os.path.basename(source.path).removesuffix(".md").lower().replace("_", "").replace("-", "")
    parts = document.parts
    if stem in _WORKING:
        parts = _propose_working(gathering, document)
    name = document.title or os.path.basename(source.shown).removesuffix(".md")
    propose_facts(gathering, parts, Manner(title=_subject(name), default=ARCHITECTURE))
    return gathering.read(source)


def _subject(title: str) -> str:
    """`Tech Context: Harbor` is about Harbor."""
    return title.partition(":")[2].strip() or title


def _propose_working(gathering: ProposalCollector, document: HostDocument) -> tuple[DocumentPart, ...]:
    """Features and next steps of the files that change with the work; what is left of them."""
    rest: list[DocumentPart] = []
    known: set[str] = set()
    for part in document.parts:
        stage = _stage(part.titles)
        if stage:
            items = worth_keeping(gathering, part)
            _propose_features(gathering, part, items, stage, known)
        elif part.titles and place_of(part.titles[-1]) == "fact" and any(place_of(t) == "next" for t in part.titles):
            propose_items(gathering, "next", part, worth_keeping(gathering, part))
        else:
            rest.append(part)
    return tuple(rest)


def _stage(titles: tuple[str, ...]) -> Stage | None:
    """The stage that the headings tell; none where they are about something else, such as what is to be decided."""
    for title in reversed(titles):
        if place_of(title) != "fact" and not is_later(title):
            return None
        for stage, words in _STAGES:
            if words.search(title):
                return stage
    return None


def _propose_features(
    gathering: ProposalCollector, part: DocumentPart, items: list[TextItem], stage: Stage, known: set[str]
) -> None:
    """Each point that has a name is a feature; points that are only details are those of their heading."""
    whole = [item for item in with_leads(tuple(items)) if item.form != "code"]
    is_named = bool(part.titles) and not any(words.search(part.titles[-1]) for _, words in _STAGES)
    has_own_heading = is_named and not _GROUPS.fullmatch(part.titles[-1])
    details = [item for item in whole if has_own_heading and not lead_of(item.text)[0]]
    if details:
        marks = {item.mark for item in details}
        mark = marks.pop() if len(marks) == 1 else ""
        body = "\n".join(item.shown for item in details)
        _feature(gathering, plain(part.titles[-1]), body, _MARKED.get(mark, stage), details, known)
    for item in whole:
        if item not in details:
            title, body = title_and_body(item.text)
            _feature(gathering, title, body, _MARKED.get(item.mark, stage), [item], known)


def _feature(
    gathering: ProposalCollector, title: str, body: str, stage: Stage, items: list[TextItem], known: set[str]
) -> None:
    # The same name with another stage would be the same node.
    if title.casefold() in known:
        title = f"{title} ({'what is left' if stage == 'idea' else stage})"
    known.add(title.casefold())
    gathering.node("feature", title, body, items, stage=stage)
