"""Sessions that people keep as Markdown: exported chats of Cursor and others, and plain notes, one file each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from quire.capture.front_matter import read_front_matter
from quire.capture.markdown import fence_behind
from quire.capture.transcripts.file_walk import FoundFile, files_at, sessions_in
from quire.capture.transcripts.lenient_json import label, moment
from quire.capture.transcripts.lines import Tally, read_whole
from quire.capture.transcripts.parser import Parser
from quire.capture.transcripts.types import SessionFile, Skipped, Turn
from quire.model import limits
from quire.model.text import plain_newlines
from quire.model.untyped import as_text

CURSOR, MARKDOWN = "cursor-export", "markdown"
_SUFFIXES = (".md", ".markdown", ".mdx")
_USERS = "user|human|you|me"
_OTHERS = "cursor|assistant|agent|ai|claude|codex|gemini|copilot|chatgpt|model"
_BOLD = re.compile(rf"_?\*\*(?:(?P<user>{_USERS})|{_OTHERS})(?: \((?P<at>[^()]{{1,80}})\))?:?\*\*_?:?\s*", re.I)
_HEADED = re.compile(rf"#{{1,4}}\s+\W{{0,4}}(?:(?P<user>{_USERS})|{_OTHERS})(?: \((?P<at>[^()]{{1,80}})\))?:?\s*", re.I)
_TITLE = re.compile(r"#\s+(\S.*)$")
_SECTION = re.compile(r"#{1,2}\s+\S")
_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_DATES = ("date", "created", "created_at", "started", "timestamp")
_RULES = ("---", "***", "___")

# -- finding --------------------------------------------------------------------------------------


def sessions(source_type: str, path: str, skipped: list[Skipped]) -> Iterator[SessionFile]:
    """The Markdown files of a folder, or one of them."""
    files = files_at(path, _is_wanted, skipped, most=limits.FILE_BYTES)
    return sessions_in(files, partial(_session, source_type), skipped)


def _is_wanted(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def _session(source_type: str, found: FoundFile) -> SessionFile:
    text = plain_newlines(read_whole(found.path, limits.FILE_BYTES).decode("utf-8", "replace"))
    head = read_front_matter(text)
    stem = os.path.basename(found.path).rpartition(".")[0]
    told = next((moment(head.fields[name]) for name in _DATES if name in head.fields), "")
    day = _DAY.search(stem)
    title = label(head.fields.get("title")) or next((label(found[1]) for found in _titles(head.body)), "")
    return found.session(source_type, stem, told or (moment(day[1]) if day else ""), title)


def _titles(body: str) -> Iterator[re.Match[str]]:
    return (found for line, is_code in _lines(body) if not is_code and (found := _TITLE.match(line)))


# -- reading --------------------------------------------------------------------------------------


def records(session: SessionFile, tally: Tally) -> Iterator[dict[str, Any]]:
    """What each speaker says, where the file names them; else its sections, which are someone's notes."""
    text = read_whole(session.path, limits.FILE_BYTES).decode("utf-8", "replace")
    body = read_front_matter(text).body
    tally.lines += body.count("\n") + (not body.endswith("\n") and bool(body))
    spoken = list(_spoken(body, with_headings=session.source_type == MARKDOWN))
    yield from spoken if spoken else _noted(body)


def _lines(body: str) -> Iterator[tuple[str, bool]]:
    """The lines, and whether they are code: what an example shows is nobody's heading."""
    fence = ""
    for line in body.split("\n"):
        before, fence = fence, fence_behind(line, fence)
        yield line, bool(before or fence)


def _spoken(body: str, *, with_headings: bool) -> Iterator[dict[str, Any]]:
    speaker: re.Match[str] | None = None
    held: list[str] = []
    ruled: bool | None = None
    last = ""
    for line, is_code in _lines(body):
        found = None if is_code else (_BOLD.fullmatch(line) or (_HEADED.fullmatch(line) if with_headings else None))
        if found and ruled is None:
            # Where a rule stands before the first speaker, one stands before all: a name in bold alone is then talk.
            ruled = last in _RULES
        if found and (not ruled or last in _RULES):
            if speaker:
                yield _said(speaker, held)
            speaker, held = found, []
        elif speaker:
            held.append(line)
        last = line.strip() or last
    if speaker:
        yield _said(speaker, held)


def _said(speaker: re.Match[str], lines: list[str]) -> dict[str, Any]:
    while lines and (not lines[-1].strip() or lines[-1].strip() in _RULES):
        lines.pop()
    return {"role": "user" if speaker["user"] else "assistant", "text": "\n".join(lines), "at": speaker["at"]}


def _noted(body: str) -> Iterator[dict[str, Any]]:
    held: list[str] = []
    for line, is_code in _lines(body):
        if not is_code and _SECTION.match(line) and any(map(str.strip, held)):
            yield {"role": "user", "text": "\n".join(held)}
            held = []
        held.append(line)
    yield {"role": "user", "text": "\n".join(held)}


class ExportParser(Parser):
    def turns(self, record: dict[str, Any]) -> Iterator[Turn]:
        text = as_text(record.get("text"))
        if text.strip():
            yield Turn(role=as_text(record.get("role")), text=text, at=moment(record.get("at")))
