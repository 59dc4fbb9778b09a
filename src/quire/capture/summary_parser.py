"""Finding a summary of ours again, also after another program put words, tags or quotation marks around it."""

from __future__ import annotations

import re

from quire.capture.quotable_text import safe_pin, safe_text
from quire.capture.summary_form import (
    CONTEXT,
    END,
    FULL_TEXT,
    GOAL,
    NONE,
    PINNED,
    PROGRESS,
    SECTIONS,
    TITLE,
    QuotedBlock,
    Summary,
)

VERSION = 1
ENTRY_MOST = 2_000
"""A line that someone else put into a summary is kept up to this length."""
BLOCK_MOST = 8_000

_SIGN = "<!-- quire:summary version="
_MARK = re.compile(r"(?P<before>[^\n]{0,2000}?)<!-- quire:summary version=(?P<version>\d{1,6}) -->\s*$")
_END = re.compile(r"\s*" + re.escape(END) + r"(?P<after>.*)$")
_QUOTING = " \t>|"
_STANDS_FOR = re.compile(r"\bstands for (\d{1,9}) messages? \((\d{1,9}) turns?\)")
_HEADING = re.compile(r"#{2,3} (?P<name>[A-Za-z &]{1,40}?)(?: \((?P<gone>\d{1,9}) older left out\))?\s*$")
_TITLED = re.compile(r"\*\*(?P<title>.{1,300})\*\*\s*$")
_FENCE = re.compile(r"(`{3,})\s*$")
# Tags alone on a line are what programs put around things; nobody says them.
_TAGS = re.compile(r"\s*(?:</?[A-Za-z][\w:.-]{0,40}(?:\s[^<>]{0,200})?>\s*)+$")
_NAMES = {PINNED, PROGRESS, FULL_TEXT, *SECTIONS}


def is_from_later_version(text: str) -> bool:
    """Whether a text holds a summary that only a later version of Quire can read."""
    if _SIGN not in text:
        return False
    found = (_MARK.match(line) for line in text.split("\n") if _SIGN in line)
    return any(mark is not None and int(mark["version"]) > VERSION for mark in found)


def read_summary(text: str) -> tuple[Summary | None, str]:
    """The summary in a text, None where it holds none of ours, and what the text says beside it.

    A mark that our title does not follow is someone's words about marks, and stays where it is. Several summaries in
    one text are read as one.
    """
    if _SIGN not in text:
        return None, text
    reader = _Reader(text.split("\n"))
    while reader.position < len(reader.lines):
        reader.step()
    if not reader.found:
        return None, text
    return reader.summary(), "\n".join(line for line in reader.rest if not _TAGS.match(line)).strip()


class _Reader:
    """Goes over the lines once, and keeps also what it does not understand."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.position = 0
        self.rest: list[str] = []
        self.found = False
        self.prefix = ""
        self.section = ""
        self.counts = (0, 0)
        self.blocks: dict[str, list[QuotedBlock]] = {PINNED: [], GOAL: []}
        self.entries: dict[str, list[str]] = {}
        self.left_out: dict[str, int] = {}

    def step(self) -> None:
        """One line outside of a summary, or a whole summary."""
        line = self.lines[self.position]
        self.position += 1
        mark = _MARK.match(line) if _SIGN in line else None
        title = self._title() if mark else None
        if mark is None or title is None or int(mark["version"]) != VERSION:
            self.rest.append(line)
            return
        self.found = True
        self.rest += [mark["before"]] if mark["before"].strip(_QUOTING) else []
        # The title says how the lines are quoted: the mark may be indented alone, or stand behind someone's words.
        self.prefix = title.removesuffix(TITLE)
        self._body()

    def _title(self) -> str | None:
        """The line of the title, if it is the next one that says anything."""
        following = (line.rstrip() for line in self.lines[self.position : self.position + 3])
        line = next((line for line in following if line.strip(_QUOTING)), "")
        return line if line.strip(_QUOTING) == TITLE else None

    def _next(self) -> str:
        line = self.lines[self.position]
        self.position += 1
        if self.prefix and line.startswith(self.prefix):
            return line[len(self.prefix) :]
        # A program that quotes by lines often leaves no blank after the sign on an empty one.
        return line.removeprefix(self.prefix.rstrip())

    def _body(self) -> None:
        self.section = ""
        while self.position < len(self.lines):
            line = self._next()
            ended = _END.match(line)
            if ended:
                self.rest.append(ended["after"])
                return
            titled = _TITLED.match(line) if self.section in self.blocks else None
            fence = _FENCE.match(self._peek()) if titled else None
            if titled and fence:
                self._next()
                self._block(titled["title"], fence[1])
            else:
                self._line(line)

    def _peek(self) -> str:
        if self.position == len(self.lines):
            return ""
        line = self._next()
        self.position -= 1
        return line

    def _block(self, title: str, fence: str) -> None:
        held: list[str] = []
        while self.position < len(self.lines):
            line = self._next()
            if line.rstrip() == fence:
                break
            held.append(line)
        text = "\n".join(held)
        text = safe_pin(text) if self.section == PINNED else safe_text(text, BLOCK_MOST)
        self.blocks[self.section].append(QuotedBlock(title, text))

    def _line(self, line: str) -> None:
        heading = _HEADING.match(line)
        stands = _STANDS_FOR.search(line) if not self.section else None
        bare = line.strip()
        if heading and heading["name"] in _NAMES:
            self.section = heading["name"]
            self.left_out[self.section] = self.left_out.get(self.section, 0) + int(heading["gone"] or 0)
        elif bare.startswith(_SIGN):
            # The one before lost its end on the way; this is the next.
            self.section = ""
        elif stands:
            self.counts = (self.counts[0] + int(stands[1]), self.counts[1] + int(stands[2]))
        elif bare and bare not in (TITLE, NONE):
            known = self.section in SECTIONS or self.section == FULL_TEXT
            entry = safe_text(bare.removeprefix("- "), ENTRY_MOST)
            self.entries.setdefault(self.section if known else CONTEXT, []).append(entry)

    def summary(self) -> Summary:
        full_texts = tuple(self.entries.pop(FULL_TEXT, ()))
        return Summary(
            messages=self.counts[0],
            turns=self.counts[1],
            pins=tuple(self.blocks[PINNED]),
            intents=tuple(self.blocks[GOAL]),
            entries={section: tuple(entries) for section, entries in self.entries.items()},
            left_out={section: count for section, count in self.left_out.items() if count},
            full_texts=full_texts,
        )
