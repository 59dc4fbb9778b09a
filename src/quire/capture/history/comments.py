"""Find remarks in the code that warn its reader: HACK, XXX, WORKAROUND, NOTE."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec import Struct

from quire.capture.history.changes import Now, is_beside
from quire.capture.history.cues import cues_in, strength
from quire.files.git import GREP, Git
from quire.files.git_history import line_origins
from quire.files.paths import read_inside
from quire.model.errors import GitRequired
from quire.model.text import one_line

_MARKS = "HACK|XXX|WORKAROUND|NOTE"
_STRONG = 0.3
"""How much the mark itself says; a mere note says nothing."""
_LINES_MOST, _WORDS_LEAST = 8, 6
_LINE_CHARS = 400
_FILE_BYTES = 1024 * 1024
_LEAD = r"(?:#+|//[/!]?|/\*+!?|\*|--|;+|<!--|%+|\"\"\"|\{-|\(\*)"
_REMARK = re.compile(
    rf"^(?P<code>.*?)(?P<lead>{_LEAD})[ \t]*(?:@|\[|\()?(?P<mark>{_MARKS})\b[)\]]?(?:\([^()\n]{{0,40}}\))?[ \t]*"
    r"(?P<colon>[:!–—-])?[ \t]*(?P<text>.*)$"
)
_END = re.compile(r"\s*(?:\*+/|-->|\"\"\"|-\}|\*\))\s*$")
_FOUND = re.compile(rb"([^\0\n]+)\0(\d+)[:\0](.*)")


class Remark(Struct, frozen=True, kw_only=True):
    """A remark, where it stands, and how sure it is that it is worth keeping."""

    path: str
    line: int
    text: str
    strength: float


def find_remarks(git: Git, now: Now) -> list[Remark]:
    """The remarks in the sources as they lie here, the strongest first."""
    answer = _marked_lines(git)
    found: dict[str, Remark] = {}
    texts: dict[str, list[str]] = {}
    for row in _FOUND.finditer(answer):
        path = os.fsdecode(row[1])
        if path not in now.files or is_beside(path) or len(row[3]) > _LINE_CHARS:
            continue
        head = _REMARK.match(row[3].decode("utf-8", "replace"))
        if head is None or (head["mark"] == "NOTE" and not head["colon"]):
            continue
        if path not in texts:
            texts[path] = _read(git.root, path)
        remark = _remark(path, int(row[2]), head, texts[path])
        if remark is not None:
            found.setdefault(remark.text.casefold(), remark)
    return sorted(found.values(), key=lambda one: (-one.strength, one.path, one.line))


def _marked_lines(git: Git) -> bytes:
    """The lines that hold a mark; of one file not more than a hundred, where git can count."""
    for bound in (("-m", "100"), ()):
        try:
            return git.run("grep", *GREP, *bound, "-w", "-E", "-e", f"({_MARKS})", allow=(0, 1))
        except GitRequired:
            continue
    return b""


def written_in(git: Git, remark: Remark) -> str:
    """The commit that wrote a remark; empty where git cannot tell."""
    try:
        origins = line_origins(git, remark.path, remark.line, remark.line)
    except GitRequired:
        return ""
    origin = origins.get(remark.line)
    return origin.commit if origin else ""


def _read(root: str, path: str) -> list[str]:
    try:
        return read_inside(root, path, _FILE_BYTES).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):
        return []


def _remark(path: str, number: int, head: re.Match[str], lines: list[str]) -> Remark | None:
    text = one_line(" ".join([_END.sub("", head["text"]), *_further(head, lines[number : number + _LINES_MOST])]))
    cues = cues_in(text)
    if len(text.split()) < _WORDS_LEAST or not cues:
        return None
    named = _STRONG if head["mark"] != "NOTE" else 0.0
    said = 1 - (1 - strength(cues)) * (1 - named)
    return Remark(path=path, line=number, text=text, strength=said)


def _further(head: re.Match[str], lines: list[str]) -> Iterator[str]:
    """The lines that go on with a comment: those behind its sign, or up to its end."""
    lead = head["lead"]
    if _END.search(head["text"]) or head["code"].strip():
        return
    for line in lines:
        bare = line.strip()
        closes = _END.search(bare)
        if lead.startswith(("/*", "*", '"""', "<!--", "{-", "(*")):
            said = _END.sub("", bare).lstrip("*").strip()
        elif bare.startswith(lead):
            said = bare.removeprefix(lead).strip()
        else:
            return
        if not said or _REMARK.match(line) or said.startswith(("@", "\\", ":param", "TODO", "FIXME")):
            return
        yield said
        if closes:
            return
