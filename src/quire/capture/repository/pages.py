"""The documentation pages of a project that are worth reading, and what they say about its files and folders."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from quire.capture.markdown import Section, open_items
from quire.capture.repository.clean_text import said
from quire.capture.repository.readme import page_sections
from quire.capture.repository.tree import HEAD_BYTES, Tree, below, folder_of, read_beginning
from quire.layers.journal.collation import collation_key

PAGES_MOST = 40
BYTES_MOST = 2 * 1024 * 1024
_DOCS = ("docs", "doc", "documentation", ".github")
_ENDINGS = ("md", "markdown", "mdx", "rst", "txt")
_README = re.compile(r"readme(?:\.(?:md|markdown|mdx|rst|txt))?")
_FIRST = ("agents.md", "claude.md", "architecture.md", "contributing.md", "development.md", "hacking.md")
_ARCHITECTURE = re.compile(r"(?:.*/)?(?:architecture|design|overview|internals|how-it-works)\.(?:md|rst|markdown|mdx)")
_TROUBLE = re.compile(
    r".*(?:troubleshoot|faq|gotcha|pitfall|known[-_ ]?issue|caveat|limitation|common[-_ ]?(?:error|problem))"
)
_APART = re.compile(
    r".*(?:change|history|licen|release|news|code_of_conduct|security|todo|roadmap|template|decisions?/|adrs?/|"
    r"requirements|agent-memory)"
)
_DEPTH = 3
# A path in code signs at the beginning of an item or a row, perhaps as a link, and what is said of it.
_DESCRIBED = re.compile(
    r"(?:\*\*)?\[?`(?P<path>[^`\s]{1,200})`(?:\]\([^()\s]{0,300}\))?(?:\*\*)?\s{0,4}(?:\||[-–—:]{1,2}\s)\s{0,4}(?P<said>.+)"
)
_SAID_LEAST = 8


class DocumentPage(Struct, frozen=True):
    path: str
    sections: list[Section]


def read_pages(tree: Tree) -> tuple[DocumentPage, ...]:
    """The pages, the most telling first: the README, instructions for agents and contributors, design, trouble,
    others."""
    pages: list[DocumentPage] = []
    left = BYTES_MOST
    for path in _chosen(tree):
        if len(pages) == PAGES_MOST or left <= 0:
            break
        text = read_beginning(tree, path, min(HEAD_BYTES, left))
        left -= len(text)
        if text.strip():
            pages.append(_page(path, text))
    return tuple(pages)


def read_page(tree: Tree, path: str) -> DocumentPage:
    return _page(path, read_beginning(tree, path))


def _page(path: str, text: str) -> DocumentPage:
    return DocumentPage(path, page_sections(text, is_rest=path.endswith(".rst")))


def find_readme(tree: Tree, folder: str = "") -> str:
    """The README of a folder, Markdown before others; empty where there is none."""
    here = [path for path in below(tree, folder) if folder_of(path) == folder] if folder else _at_top(tree)
    found = [path for path in here if _README.fullmatch(path.rpartition("/")[2].lower())]
    return min(found, key=lambda path: (_place(path), path), default="")


def _place(path: str) -> int:
    ending = path.lower().rpartition(".")[2]
    return _ENDINGS.index(ending) if ending in _ENDINGS else len(_ENDINGS)


def _at_top(tree: Tree) -> list[str]:
    return [path for path in tree.files if "/" not in path]


def _chosen(tree: Tree) -> Iterable[str]:
    top = {path.lower(): path for path in _at_top(tree)}
    chosen = dict.fromkeys(path for path in (find_readme(tree), *(top.get(name, "") for name in _FIRST)) if path)
    others = [path for path in top.values() if _is_page(path)]
    for folder in _DOCS:
        others += [path for path in below(tree, folder) if _is_page(path)]
    others.sort(key=lambda path: (_rank(path), path.count("/"), collation_key(path)))
    chosen.update(dict.fromkeys(others))
    return chosen


def _is_page(path: str) -> bool:
    lower = path.lower()
    return (
        lower.rpartition(".")[2] in ("md", "markdown", "mdx", "rst")
        and path.count("/") < _DEPTH
        and not _APART.match(lower)
    )


def _rank(path: str) -> int:
    lower = path.lower()
    return 0 if is_architecture(lower) else 1 if _TROUBLE.match(lower) else 2


def is_architecture(path: str) -> bool:
    return _ARCHITECTURE.fullmatch(path.lower()) is not None


def described_paths(tree: Tree, pages: Iterable[DocumentPage]) -> dict[str, str]:
    """What items and rows of tables say of files and folders that exist, by path; what is said first counts."""
    found: dict[str, str] = {}
    for page in pages:
        for section in page.sections:
            rows = [line.strip().strip("|").strip() for line in section.lines if line.lstrip().startswith("|")]
            for text in (*open_items(section.lines, nested=False), *rows):
                _note_described(tree, text, found)
    return found


def _note_described(tree: Tree, text: str, found: dict[str, str]) -> None:
    match = _DESCRIBED.match(text[:2_000])
    if match is None:
        return
    path = match["path"].removeprefix("./").rstrip("/")
    if path not in found and (path in tree.folders or path in tree.names):
        words = said(match["said"].split(" | ")[0].strip().rstrip("|"))
        if len(words) >= _SAID_LEAST:
            found[path] = words
