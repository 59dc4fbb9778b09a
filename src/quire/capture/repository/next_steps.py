"""Next steps of a project, from its to-do lists and the unreleased part of its changelog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from quire.capture.markdown import Section, fields_of, open_items
from quire.capture.repository.bundle_merge import TICKED
from quire.capture.repository.clean_text import SENTENCE_CHARS, TITLE_CHARS, normal, said
from quire.capture.repository.pages import DocumentPage, read_page
from quire.capture.repository.tree import Tree

STEPS_MOST = 12
_LOOKED_AT = 500
UNRELEASED_MOST = 4
_LISTS = re.compile(r"(?:docs/)?(?:todo|to-do|roadmap|backlog|next[-_]steps|plan)(?:\.(?:md|markdown|txt))?", re.I)
_CHANGELOG = re.compile(r"(?:docs/)?(?:changelog|changes|history|news)(?:\.(?:md|markdown|rst|txt))?", re.I)
_UNRELEASED = re.compile(r"\W{0,3}(?:unreleased|upcoming|next(?: release)?|head|development)\b.{0,80}", re.I)
_OPEN = re.compile(r"(?:planned|to ?do|next(?: steps?)?|upcoming|remaining|open|still missing|not yet)\b.{0,40}", re.I)
_SECTION = re.compile(r"(?:todo|to do|roadmap|next steps?|planned|future work|what's next|open tasks?)\b.{0,40}", re.I)
_CLOSED = re.compile(r"(?:done|completed?|finished|shipped|released|archived?|past|rejected|won't|wontfix)\b", re.I)
_RISKY = re.compile(r"(?:known issues?|deprecat|security|breaking)", re.I)
_UNCHECKED = re.compile(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])[ \t]+\[ \]")
_PATH = re.compile(r"`([\w@.+-]+(?:/[\w@.+-]+)+/?|[\w@+-]+\.\w{1,6})`")
_FIELD = re.compile(r"(?=\*\*[^*:\s][^*:]{0,39}(?::\*\*|\*\*:))")
_FIELD_NAMES = {
    "why": ("why", "reason", "because"),
    "start": ("start", "where", "how"),
    "done": ("done", "done when", "acceptance"),
}


class NextStep(Struct, frozen=True, kw_only=True):
    """Something to do. Fields of which the list says nothing are empty, but for when it is done."""

    title: str
    why: str
    start: str
    done: str
    page: str


class Unreleased(Struct, frozen=True):
    """What the change log lists before the next release, and what of it is a risk."""

    done: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()


def find_steps(tree: Tree, pages: tuple[DocumentPage, ...]) -> list[NextStep]:
    """The open items of lists of things to do, in their order, each once."""
    found: dict[str, NextStep] = {}
    for step in islice(_all_steps(tree, pages), _LOOKED_AT):
        if found.setdefault(normal(step.title), step) is step and len(found) == STEPS_MOST:
            break
    return list(found.values())


def _all_steps(tree: Tree, pages: tuple[DocumentPage, ...]) -> Iterator[NextStep]:
    for path in _matching(tree, _LISTS):
        page = read_page(tree, path)
        boxes = any(_UNCHECKED.match(line) for section in page.sections for line in section.lines)
        for section in _open_sections(page):
            yield from _section_steps(tree, page, section, boxes_only=boxes)
    for page in pages:
        for section in page.sections:
            if _SECTION.fullmatch(section.title.strip()):
                boxes = any(_UNCHECKED.match(line) for line in section.lines)
                yield from _section_steps(tree, page, section, boxes_only=boxes)
    for path in _matching(tree, _CHANGELOG)[:1]:
        page = read_page(tree, path)
        for section in _unreleased_sections(page):
            is_open = _OPEN.match(section.title.strip()) is not None and not _UNRELEASED.match(section.title.strip())
            yield from _section_steps(tree, page, section, boxes_only=not is_open)


def _matching(tree: Tree, pattern: re.Pattern[str]) -> list[str]:
    names = [path for path in tree.files if path.count("/") < 2 and pattern.fullmatch(path)]
    return sorted(names, key=lambda path: (path.count("/"), path.lower()))


def _open_sections(page: DocumentPage) -> Iterator[Section]:
    """The sections of a list, but for those of what is done."""
    closed = 0
    for section in page.sections:
        if closed and section.level > closed:
            continue
        closed = section.level if _CLOSED.search(section.title) else 0
        if not closed:
            yield section


def _section_steps(tree: Tree, page: DocumentPage, section: Section, *, boxes_only: bool) -> Iterator[NextStep]:
    lines = section.lines
    if boxes_only:
        lines = [line for line in lines if not _is_plain_item(line)]
    for item in open_items(lines, nested=False):
        title = said(item, TITLE_CHARS)
        if title:
            yield _step(tree, page, section, title, item)


def _is_plain_item(line: str) -> bool:
    return re.match(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])[ \t]", line) is not None and not _UNCHECKED.match(line)


def _step(tree: Tree, page: DocumentPage, section: Section, title: str, item: str) -> NextStep:
    fields = fields_of([part.strip() for part in _FIELD.split(item)])
    given = {
        name: next((said(fields[word]) for word in words if fields.get(word)), "")
        for name, words in _FIELD_NAMES.items()
    }
    if any(given.values()):
        title = said(fields.get("", "") or item, TITLE_CHARS)
    named = [path for path in _PATH.findall(item[:2_000]) if path.rstrip("/") in tree.folders or path in tree.names]
    heading = said(section.title, 80)
    return NextStep(
        title=title.rstrip(".:"),
        why=given["why"]
        or (f"It is listed under “{heading}” in {page.path}." if heading else f"It is listed in {page.path}."),
        start=given["start"] or said(", ".join(f"`{path}`" for path in dict.fromkeys(named))),
        done=given["done"] or TICKED.format(page=page.path),
        page=page.path,
    )


def find_unreleased(tree: Tree) -> Unreleased:
    done: list[str] = []
    risks: list[str] = []
    for path in _matching(tree, _CHANGELOG)[:1]:
        for section in _unreleased_sections(read_page(tree, path)):
            heading = section.title.strip()
            if _OPEN.match(heading) and not _UNRELEASED.match(heading):
                continue
            lines = [line for line in section.lines if not _UNCHECKED.match(line)]
            words = [text for item in open_items(lines, nested=False) if (text := said(item, SENTENCE_CHARS))]
            if _RISKY.match(heading):
                risks += [f"{text} ({path})" for text in words]
            else:
                lead = "" if _UNRELEASED.match(heading) else f", {said(heading, 40)}"
                done += [f"Unreleased{lead}: {text}" for text in words]
    return Unreleased(tuple(done[:UNRELEASED_MOST]), tuple(risks[:UNRELEASED_MOST]))


def _unreleased_sections(page: DocumentPage) -> Iterator[Section]:
    """The first section that is called unreleased, and those below it."""
    level = 0
    for section in page.sections:
        if level and section.level <= level:
            return
        if level or (section.level and _UNRELEASED.fullmatch(section.title.strip())):
            level = level or section.level
            yield section
