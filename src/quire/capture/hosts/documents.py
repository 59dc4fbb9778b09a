"""Read a Markdown file of another agent: its head, and its sections as items with line numbers.

What we wrote ourselves is left out, and so are comments; numbers of lines stay those of the file.
"""

from __future__ import annotations

import os
import re

from msgspec import Struct

from quire.capture.front_matter import Value, read_front_matter
from quire.capture.hosts.items import TextItem, items_of
from quire.capture.hosts.types import FILE_BYTES, Scope
from quire.capture.markdown import fence_behind, sections_of
from quire.capture.transcripts.machine_text import without_own
from quire.capture.transcripts.places import shown_text
from quire.capture.transcripts.types import KnownPlaces
from quire.files.paths import below, is_within, read_bytes
from quire.model.records import Problem
from quire.model.text import plain_newlines

# Stands between a line and its number while our own sections are taken out.
_MARK = "\ue000"
_WHOLE_FENCE = re.compile(r"\s*```(?:markdown|md)[ \t]*\n(.*)\n```\s*\Z", re.S)
_GENERIC = re.compile(
    r"(?:(?:CLAUDE|AGENTS|GEMINI)(?:\.local)?\.md\b.*|(?:the |our |my |personal |global |user |additional )*"
    r"(?:repository|project|repo|agents?|ai|coding|development|(?:github )?copilot|claude(?: code)?|gemini(?: cli)?"
    r"|cursor|cline|codex|serena)?(?: ?\w+)? ?(?:guidelines?|instructions?|rules?|guide|context|memory|memories"
    r"|configuration|preferences|settings))",
    re.I,
)
_TITLE_MARKS = re.compile(r"[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}(?!\w)|^[^\w\"'(<@#$./-]+\s*(?=\w)|:\s*$")
_TRAILING = re.compile(r"[^\w)\]\"'?!.…%+#/*]+$")
_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2})*[.)]\s+(?=\S)")


class DocumentPart(Struct, frozen=True):
    """One section: the titles that lead to it, the outermost first and the document's left out, and what is in it."""

    titles: tuple[str, ...]
    items: tuple[TextItem, ...]


class HostDocument(Struct, frozen=True, kw_only=True):
    """What a file holds; with no parts where it could not be read, and a problem that says why."""

    path: str
    shown: str
    head: dict[str, Value] = {}
    head_text: str = ""
    """The head as it is written: other programs write there what is no YAML."""
    title: str = ""
    """What its one heading of the first level calls it; empty where that says no more than what kind of file it is."""
    text: str = ""
    """Everything, with line feeds alone, without what is ours."""
    parts: tuple[DocumentPart, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_document(path: str, shown: str, places: KnownPlaces, scope: Scope) -> HostDocument:
    """A file's sections. It is read whatever is wrong with it, as far as it can be."""
    try:
        raw = _text_of(path, places, scope)
    except OSError as error:
        return _unread(path, shown, (error.strerror or "it cannot be read").lower())
    except UnicodeDecodeError:
        return _unread(path, shown, "it is not UTF-8 text")
    except ValueError:
        return _unread(path, shown, "its path is not valid")
    # What is kept goes where others read it: home folders are left out.
    text = _without_own_lines(shown_text(_unwrapped(plain_newlines(raw)), places))
    front = read_front_matter(text, shown)
    head_lines = text.split("\n")[: front.body_line - 1]
    title, parts = _parts(front.body, front.body_line)
    return HostDocument(
        path=path,
        shown=shown,
        head=front.fields,
        head_text="\n".join(head_lines),
        title=title,
        text=text,
        parts=tuple(parts),
    )


def _unread(path: str, shown: str, why: str) -> HostDocument:
    problem = Problem(code="HostFileUnread", severity="warning", path=shown, message=f"It was not read: {why}.")
    return HostDocument(path=path, shown=shown, problems=(problem,))


def _text_of(path: str, places: KnownPlaces, scope: Scope) -> str:
    top = places.root
    if scope == "user":
        top = places.home if places.home and below(path, places.home) is not None else os.path.dirname(path)
    if not is_within(path, top):
        raise OSError(0, "it is a link to another place")
    if os.path.getsize(path) > FILE_BYTES:
        raise OSError(0, f"it is larger than {FILE_BYTES:,} bytes")
    return read_bytes(os.path.realpath(path), FILE_BYTES).decode("utf-8")


def _unwrapped(text: str) -> str:
    """A file that is one block of Markdown code as a whole, as some agents write them, is what stands in the block."""
    found = _WHOLE_FENCE.match(text)
    if found is None or "\n```" in found[1]:
        return text
    return "\n" * text.count("\n", 0, found.start(1)) + found[1]


def _without_own_lines(text: str) -> str:
    """The text with empty lines in place of what is ours, so that all others keep their numbers."""
    lines = text.split("\n")
    rest, is_changed = without_own("\n".join(f"{line}{_MARK}{number}" for number, line in enumerate(lines)))
    if not is_changed:
        return text
    kept = [""] * len(lines)
    for numbered in rest.split("\n"):
        line, _, number = numbered.rpartition(_MARK)
        if number.isdecimal() and int(number) < len(kept):
            kept[int(number)] = line
    return "\n".join(kept)


def _parts(body: str, first_line: int) -> tuple[str, list[DocumentPart]]:
    """The document's title and its sections."""
    lines = _without_comments(body.split("\n"))
    sections = sections_of("\n".join(lines), first_line)
    tops = [section for section in sections if section.level == 1]
    title = plain_title(tops[0].title) if len(tops) == 1 and tops[0] is sections[1] else ""
    parts: list[DocumentPart] = []
    above: list[tuple[int, str]] = []
    for number, section in enumerate(sections):
        # The first section has no heading: its lines begin where the text does.
        start = section.line - first_line + (section.level > 0)
        end = sections[number + 1].line - first_line if number + 1 < len(sections) else len(lines)
        if section.level and not (title and section.level == 1):
            above = [known for known in above if known[0] < section.level]
            above.append((section.level, plain_title(section.title)))
        titles = tuple(name for _, name in above if name)
        items = tuple(items_of(lines[start:end], first_line + start))
        if items:
            parts.append(DocumentPart(titles, items))
    return ("" if _GENERIC.fullmatch(title) else title), parts


def plain_title(text: str) -> str:
    """A heading without marks, signs and numbers."""
    text = _TITLE_MARKS.sub("", text).strip()
    return _TRAILING.sub("", _NUMBERED.sub("", text)).strip()


def _without_comments(lines: list[str]) -> list[str]:
    """The lines with comments taken out, those in code left as they are."""
    kept: list[str] = []
    fence, is_comment = "", False
    for line in lines:
        if is_comment:
            _, closed, after = line.partition("-->")
            is_comment = not closed
            line = after if closed else ""
        before, fence = fence, fence_behind(line, fence)
        if not before and not fence:
            line, is_comment = _uncommented(line)
        kept.append(line)
    return kept


def _uncommented(line: str) -> tuple[str, bool]:
    """A line without its comments, and whether the last of them goes on."""
    kept: list[str] = []
    at = 0
    while (start := line.find("<!--", at)) >= 0:
        kept.append(line[at:start])
        end = line.find("-->", start)
        if end < 0:
            return "".join(kept), True
        at = end + 3
    return "".join((*kept, line[at:])), False
