"""How a project is built, from the first sentences of its design pages and decision records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from quire.capture.markdown import Section
from quire.capture.repository.clean_text import SENTENCE_CHARS, plain, said, sentence_of
from quire.capture.repository.pages import DocumentPage, is_architecture, read_page
from quire.capture.repository.readme import paragraphs
from quire.capture.repository.tree import Tree, below

NOTES_MOST = 12
_PAGE_NOTES = 8
_RECORD_NOTES = 6
_RECORD_FOLDERS = (
    *("docs/decisions", "docs/adr", "docs/adrs", "doc/adr", "adr"),
    *("docs/architecture/decisions", "decisions"),
)
_RECORD = re.compile(r"\d{1,6}[-_. ].{1,200}\.md")
_NUMBERED = re.compile(r"^(?:ADR[- ]?)?\d{1,6}\s*[.:–—-]\s*", re.I)
_DESIGN = re.compile(r"architecture|design|how it works|internals|structure|project layout|overview of the code", re.I)
_NOT_DESIGN = re.compile(r"contents|see also|references|further reading|links", re.I)
_DECISION = re.compile(r"decision(?: outcome)?|we decided", re.I)
_STATUS = re.compile(r"status", re.I)
_GONE = re.compile(r"\b(superseded|rejected|deprecated|withdrawn)\b", re.I)
_CITED = re.compile(
    r" \((?:[^()\n]{1,200}\.(?:md|markdown|mdx|rst|txt)|(?:[^()\n]{1,200}/)?"
    r"(?:README|CHANGELOG|CHANGES|HISTORY|NEWS))\)$",
    re.I,
)
_LETTERS_LEAST = 12


def architecture_notes(tree: Tree, pages: Iterable[DocumentPage]) -> list[str]:
    """Notes of the form `Heading: first sentence (page)`; of decisions the latest."""
    listed = list(pages)
    notes = [note for page in listed for note in _page_notes(page)][:_PAGE_NOTES]
    return list(dict.fromkeys([*notes, *_records(tree)]))[:NOTES_MOST]


def is_cited(text: str) -> bool:
    """Whether a text ends with the page it was taken from: then it comes from the files and goes with them."""
    return _CITED.search(text) is not None


def _page_notes(page: DocumentPage) -> Iterator[str]:
    whole = is_architecture(page.path)
    inside = 0
    for section in page.sections:
        if section.level and (not inside or section.level <= inside):
            inside = section.level if _DESIGN.search(section.title) else 0
        if (whole or inside) and not _NOT_DESIGN.search(section.title):
            words = _first_words(section)
            if words:
                yield _note(section.title, words, page.path)


def _first_words(section: Section) -> str:
    """The first sentence below a heading that is no item of a list and no lead to one."""
    for paragraph in paragraphs(section.lines):
        if paragraph.kind == "text":
            words = sentence_of(paragraph.text)
            if len(words) >= _LETTERS_LEAST and not words.endswith(":"):
                return words
            return ""
    return ""


def _note(title: str, words: str, path: str) -> str:
    heading = said(title, 80)
    lead = f"{heading}: " if heading and plain(heading).lower() not in words.lower() else ""
    return f"{lead}{words} ({path})"


def _records(tree: Tree) -> list[str]:
    for folder in _RECORD_FOLDERS:
        paths = [path for path in below(tree, folder) if _RECORD.fullmatch(path[len(folder) + 1 :])]
        found: list[str] = []
        for path in sorted(paths, reverse=True):
            if len(found) == _RECORD_NOTES:
                break
            note = _record(read_page(tree, path))
            found += [note] if note else []
        if found:
            return found
    return []


def _record(page: DocumentPage) -> str:
    """The title of a record and its decision; empty for one that no longer holds or says nothing."""
    title = next((section.title for section in page.sections if section.level), "")
    status = " ".join(line for section in page.sections if _STATUS.fullmatch(section.title) for line in section.lines)
    lead = " ".join(line for section in page.sections[:2] for line in section.lines if _STATUS.search(line[:20]))
    if _GONE.search(status[:400]) or _GONE.search(lead[:400]):
        return ""
    decided = next((section for section in page.sections if _DECISION.match(section.title)), None)
    words = _first_words(decided) if decided else ""
    heading = said(_NUMBERED.sub("", title), 100)
    if not heading:
        return ""
    return f"{heading}: {words} ({page.path})" if words else said(f"{heading} ({page.path})", SENTENCE_CHARS)
