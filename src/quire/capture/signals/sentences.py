"""What was said, sentence by sentence, each with the heading, the list item and the label that it stands under.

Code, quotations and tables are left out: nobody says them. Marks of Markdown are taken off: a signal is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from quire.capture.signals.cues import cues_of, pattern, patterns
from quire.capture.signals.words import stems
from quire.model.text import one_line

READ_CHARS = 40_000
"""So much of a text is read: of a longer one its beginning and its end."""
SENTENCE_CHARS = 1_200
"""A longer line without a full stop is no sentence."""
MOST = 400
"""So many sentences of one text are heard."""
_WRAPPED, _HEADING_CHARS, _LABEL_WORDS = 50, 90, 3
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM, _BOX, _REST = pattern("list_item", re.I), pattern("box", re.I), pattern("rest", re.I)
_DONE = ("X", "✓", "✔", "DONE", "COMPLETED")
_TAG = re.compile(r"</?[a-z][\w-]{0,40}(?: [^<>\n]{0,200})?>", re.I)
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)")
_MARKS = re.compile(r"\*\*|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|`+")
_PICTURES = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50-\u2b55\ufe0f\u200d]+")
_END = pattern("sentence_end")
_BREAK = re.compile(r"[\s。！？，、]")
_LABEL = re.compile(r"([^:：\n]{2,40}?)\s*(?::(?=\s|[^\x00-\x7f]|$)|：)\s*")


class Sentence(Struct, frozen=True, kw_only=True):
    """One sentence as plain text, with what is known of it."""

    text: str
    stems: frozenset[str]
    cues: frozenset[str]
    """The kinds of cue words in it."""
    opens: frozenset[str]
    """The kinds of cue words that it begins with."""
    marks: frozenset[str]
    """What can be seen of it: a question, code, a path, digits."""
    heading: frozenset[str] | None = None
    """The cues of the heading that it stands under; None where there is no heading."""
    label: frozenset[str] = frozenset()
    """What the label before it says, as `Next:`; the label is not part of the text."""
    paragraph: int = 0
    is_item: bool = False
    number: str = ""
    done: bool | None = None
    """Of an item with a box, or one that was struck out: whether it is done."""


class _Lines:
    """The state on the way through the lines."""

    def __init__(self) -> None:
        self.fence = self.held = self.number = ""
        self.heading: str | None = None
        self.announced: str | None = None
        self.is_item = self.after_blank = False
        self.done: bool | None = None
        self.paragraph = 0


def read_part(text: str) -> str:
    """A text, or its two ends where it is long."""
    if len(text) <= READ_CHARS:
        return text
    half = READ_CHARS // 2
    # A word that was cut is left out: it could be half of a secret, which nothing would recognise.
    begins, ends = text[:half][::-1], text[-half:]
    return f"{begins[_word_end(begins) :][::-1]}\n\n{ends[_word_end(ends) :]}"


def _word_end(text: str) -> int:
    found = _BREAK.search(text)
    return found.start() if found else len(text)


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a text, in their order."""
    state, found = _Lines(), list[Sentence]()
    for line in read_part(text).split("\n"):
        found += _line(state, line)
        if len(found) > MOST:
            return found[:MOST]
    return [*found, *_flush(state)]


def _line(state: _Lines, line: str) -> Iterator[Sentence]:
    fence = _FENCE.match(line)
    if fence or state.fence:
        yield from _flush(state)
        if fence and (not state.fence or fence[1].startswith(state.fence)):
            state.fence = "" if state.fence else fence[1]
        return
    bare = _TAG.sub("", line).strip()
    if not bare or bare.startswith((">", "|")) or set(bare) <= set("-*_= "):
        yield from _flush(state)
        state.after_blank = True
    elif bare.startswith("#"):
        yield from _flush(state)
        state.heading, state.announced = plain(bare.lstrip("#")), None
    else:
        yield from _said(state, bare)
        state.after_blank = False


def _said(state: _Lines, bare: str) -> Iterator[Sentence]:
    bare = _MARKS.sub("", bare)
    item = _ITEM.match(bare)
    box = _BOX.match(bare, item.end() if item else 0)
    if not item and not box:
        if len(state.held) < _WRAPPED or state.held[-1] in ".:!?。：！？" or label_in(plain(bare))[0]:
            yield from _flush(state)
            state.announced = None if state.after_blank else state.announced
        state.held = f"{state.held} {bare}" if state.held else bare
        return
    yield from _flush(state)
    state.is_item, state.number = True, ((item["number"] or item["named"] or "") if item else "").upper()
    if box:
        state.done = bool(box["tick"]) or (box["mark"] or "").upper() in _DONE
    held = bare[(box or item).end() :]  # type: ignore[union-attr]
    if held.startswith("~~"):
        state.done, held = True, held.replace("~~", "")
    state.held = held


def _flush(state: _Lines) -> Iterator[Sentence]:
    held = plain(state.held)
    if held:
        heading = state.announced if state.is_item and state.announced else state.heading
        for text in split(held):
            yield from _sentence(text, state, heading)
        if held.endswith((":", "：")) and not state.is_item and len(held) <= _HEADING_CHARS:
            state.announced = held
        state.paragraph += 1
    state.held, state.number, state.is_item, state.done = "", "", False, None


def _sentence(text: str, state: _Lines, heading: str | None) -> Iterator[Sentence]:
    label, rest = label_in(text)
    text = rest or text
    if len(text) > SENTENCE_CHARS or not any(char.isalnum() for char in text):
        return
    cues, opens = cues_of(text)
    yield Sentence(
        text=text,
        stems=stems(text),
        cues=cues,
        opens=opens - {"refuse"} if _REST.match(text) else opens,
        marks=frozenset(mark for mark, seen in patterns("marks").items() if seen.search(text)),
        heading=None if heading is None else cues_of(heading)[0],
        label=label if rest else frozenset(),
        paragraph=state.paragraph,
        is_item=state.is_item,
        number=state.number,
        done=state.done,
    )


def label_in(text: str) -> tuple[frozenset[str], str]:
    """What the first words of a text announce, and the rest of it: `Next: add metrics`."""
    found = _LABEL.match(text)
    if not found or len(found[1].split()) > _LABEL_WORDS:
        return frozenset(), ""
    cues = frozenset(cue for cue in cues_of(found[1])[1] if cue.startswith("says_"))
    return cues, text[found.end() :] if cues else ""


def split(text: str) -> Iterator[str]:
    """The sentences of one line."""
    start = 0
    for found in _END.finditer(text):
        if found["end"]:
            yield text[start : found.end()].strip()
            start = found.end()
    yield text[start:].strip()


def plain(text: str) -> str:
    """A text without marks of Markdown and without pictures, on one line."""
    return one_line(_PICTURES.sub(" ", _MARKS.sub("", _LINK.sub(r"\1", text))))
