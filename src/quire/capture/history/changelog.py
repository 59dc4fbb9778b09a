"""Find what the project's own list of changes calls breaking or deprecated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from quire.capture.history.changes import Now
from quire.capture.history.cues import cues_in, is_fix, strength
from quire.files.git import GREP, Git
from quire.files.paths import read_inside
from quire.model.errors import GitRequired
from quire.model.text import one_line, plain_newlines

_FILES = re.compile(
    r"(?i)(?:(?:docs?|documentation)/)?(?:changelog|changes|history|news|release[-_ ]?notes|releases|upgrading"
    r"|breaking[-_ ]?changes)(?:\.(?:md|rst|txt|markdown))?"
)
_FILE_BYTES = 2 * 1024 * 1024
_ENTRIES_MOST = 200
_WORDS_LEAST = 6
_STRONG = 0.5
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_UNDERLINE = re.compile(r"[=~^\"'`*+-]{3,}[ \t]*$")
_RELEASE = re.compile(r"(?i)\bv?(\d+\.\d+(?:\.\d+)?(?:[-.]?(?:a|b|rc|alpha|beta)[\d.]*)?)\b|(unreleased)")
_MARKED = re.compile(
    r"(?i)\W*(?:\[?breaking\b|breaking[ -]changes?\b|incompatible|backwards?[ -]incompatib\w+|deprecat\w+)"
)
_REMOVED = re.compile(r"(?i)^(?:remov(?:e|es|ing)|drop(?:s|ped)?|deletes?|stop(?:s|ped)?)\b|\b(?:removed|deleted)\b")
"""What is no longer there needs no warning."""
_SAID = re.compile(
    r"(?i)\bbreaking\b|backwards?[ -]incompatib|\bdeprecat(?:e[sd]?|ion|ing)\b|\bno longer supported\b"
    r"|\bobsolet|\bveraltet"
)

_ITEM = re.compile(r"(\s*)(?:[-*+•]|\d{1,2}[.)])\s+(.*)$")
_CODE = re.compile(r"``?([^`\n]{2,60}?)``?")
_ISSUE = re.compile(
    r"\s*(?:[(\[]*\[?#\d+\]?\([^()\n]*\)[)\]]*|\((?:,? ?(?:and )?(?:[A-Za-z]{1,12} )?#\d+){1,20}\)|\(?#\d+\)?"
    r"|\(?:(?:issue|pr|pull|ghpull):`[^`\n]*`\)?)[,;.]*"
)
_LINK = re.compile(r"\[([^\]\n]*)\]\([^()\n]*\)")
_NAME = re.compile(r"[A-Za-z_][\w-]{2,}")


class ChangelogEntry(Struct, frozen=True):
    """One entry, where it stands, the release that it belongs to, and how sure it is that it is worth keeping."""

    where: str
    release: str
    text: str
    strength: float


def find_entries(git: Git, now: Now) -> list[ChangelogEntry]:
    """The entries of which every name is still in the code and none was removed since, the newest first."""
    found = [entry for path in sorted(now.files) if _FILES.fullmatch(path) for entry in _entries(git.root, path)]
    removed = {name for entry in found if _REMOVED.search(entry.text) for name in names_of(entry.text)}
    standing = [
        entry for entry in found if not _REMOVED.search(entry.text) and removed.isdisjoint(names_of(entry.text))
    ][:_ENTRIES_MOST]
    held = _names_in_code(git, {name for entry in standing for name in names_of(entry.text)})
    return [entry for entry in standing if names_of(entry.text) <= held]


def names_of(text: str) -> set[str]:
    """The names of code in a text, each as one word."""
    return {max(words, key=len) for code in _CODE.findall(text) if (words := _NAME.findall(code))}


def _entries(root: str, path: str) -> Iterator[ChangelogEntry]:
    try:
        lines = plain_newlines(read_inside(root, path, _FILE_BYTES).decode("utf-8", "replace")).split("\n")
    except (OSError, ValueError):
        return
    release, under = "", False
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        title = heading[1].strip(" \t#") if heading else line.strip() if _is_underlined(lines, number) else ""
        if title:
            named = _RELEASE.search(title)
            release = (named[1] or "") if named else release
            under = bool(_MARKED.match(title))
            continue
        item = _ITEM.match(line)
        if item is None:
            continue
        whole = " ".join([item[2], *_further(lines[number + 1 : number + 8], len(item[1]))])
        text = one_line(_LINK.sub(r"\1", _ISSUE.sub("", whole)))
        tells = under or _SAID.search(text) or _REMOVED.search(text)
        if tells and not is_fix(text) and len(text.split()) >= _WORDS_LEAST:
            said = 1 - (1 - strength(cues_in(text))) * (1 - _STRONG)
            yield ChangelogEntry(f"{path}:{number + 1}", release, text, said)


def _is_underlined(lines: list[str], number: int) -> bool:
    after = lines[number + 1] if number + 1 < len(lines) else ""
    return bool(lines[number].strip()) and bool(_UNDERLINE.match(after)) and len(after.strip()) >= 3


def _further(lines: list[str], indent: int) -> Iterator[str]:
    for line in lines:
        if not line.strip() or _ITEM.match(line) or len(line) - len(line.lstrip()) <= indent:
            return
        yield line.strip()


def _names_in_code(git: Git, names: set[str]) -> set[str]:
    """Which of these names stand in a source."""
    if not names:
        return set()
    wanted = [word for name in sorted(names) for word in ("-e", name)]
    try:
        answer = git.run("grep", *GREP, "-o", "-w", "-F", *wanted, allow=(0, 1))
    except GitRequired:
        return names
    rows = (row.rpartition(b"\0")[2].rpartition(b":")[2] for row in answer.split(b"\n") if not _is_document(row))
    return {row.decode("utf-8", "replace") for row in rows}


def _is_document(row: bytes) -> bool:
    return row.partition(b"\0")[0].lower().endswith((b".md", b".rst", b".txt", b".markdown"))
