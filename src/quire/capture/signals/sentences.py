"""What was said, piece by piece: paragraphs and list items with the heading they stand under, split into sentences.

Code, quotations and tables are left out: nobody says them. Marks of Markdown are taken off: a signal is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, structs

from quire.capture.signals.labels import DECISION, GOTCHA, NEXT, OTHER, PLAN, kind_of_label, label_in
from quire.model.text import one_line

READ_CHARS = 40_000
"""So much of a text is read: of a longer one its beginning and its end."""
SENTENCE_CHARS = 1_200
"""A longer line without a full stop is no sentence."""
BLOCK_SENTENCES = 40
_WRAPPED = 50
_LABEL_CHARS = 120

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_HEADING = re.compile(r"#{1,6}\s+(\S.{0,200}?)\s*#*$")
_ITEM = re.compile(r"(?:[-*+•◦‣]|(?P<number>\d{1,2})[.)]|(?P<letter>[A-Da-d])[.)])\s+(?=\S)")
_BOX = re.compile(r"\[(?P<mark>[ xX✓✔-]|TODO|DONE|IN PROGRESS|PENDING|COMPLETED)\]\s*", re.I)
_TICK = re.compile(r"[✅✔☑]\ufe0f?\s*")
_TAG = re.compile(r"</?[a-z][\w-]{0,40}(?: [^<>\n]{0,200})?>", re.I)
_TAG_LINE = re.compile(r"<([a-z][a-z_-]{1,40})>", re.I)
_BOLD_LINE = re.compile(r"(?:\*\*|__)(?P<text>[^*\n]{2,60}?):?(?:\*\*|__)\s*[:：]?")
_BOLD_LEAD = re.compile(
    r"(?:\*\*|__)(?P<lead>[^*\n]{2,80}?)(?P<end>[.:：]?)(?:\*\*|__)\s*(?P<colon>[:：]|[-–—](?=\s))?\s*"
)
_COLON_END = re.compile(r"(?:^|(?<=[.!?。！？]\s)|(?<=[.)]\s)|(?<=[-*•] ))(?P<text>[^.!?:：\n]{2,60}?)\s*[:：]$")
_OPTION = re.compile(r"(?:(?:option|variante?|opción|opção|方案|案)\s*)?([A-D]|\d)(?:[.):]\s*(.*))?", re.I)
_STRUCK = re.compile(r"~~(.{1,400}?)~~")
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)")
_MARKS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|`+")
_PICTURES = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50-\u2b55\ufe0f\u200d]+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|nr|fig|sec|st|mr|mrs|dr|z\.\s?b|d\.\s?h|bzw|ca|usw|evtl|ggf|p\.\s?ej|ej"
    r"|p\.\s?ex|resp|incl|inkl|a\.k\.a)|^\d{1,2})\.$",
    re.I,
)
_BREAK = re.compile(r"[\s。！？，、]")
_CODE = re.compile(r"`[^`\n]{1,200}`")
_INITIAL = re.compile(r"[\s(]?[A-Za-z]\. [A-Za-z]\.")
# `Still destroying... [40m elapsed]` goes on.
_TRAILS_OFF = re.compile(r"\.\.\.\s+[^A-Z\s]")
_END = re.compile(r"(?<=\w )[:;]-?\)(?=\s+\S)|[.!?…][\"'”’)\]*_]{0,4}(?=\s)|[。！？](?![」』）])")

_ANNOUNCED = (DECISION, GOTCHA, NEXT)


class Sentence(Struct, frozen=True):
    """One sentence: as plain text, and as it was written."""

    text: str
    written: str


class Block(Struct, frozen=True, kw_only=True):
    """A paragraph or a list item. `kind` is what its heading or label announces, empty where they announce nothing."""

    sentences: tuple[Sentence, ...]
    kind: str = ""
    labelled: bool = False
    """Whether the label stands in the block itself: it speaks for this block alone."""
    title: str = ""
    """What it begins with in bold, where that is no label."""
    is_item: bool = False
    number: str = ""
    """The number or the letter of a list item, or of an option."""
    checked: bool | None = None
    """Of an item with a box, or one that was struck out: whether it is done."""


class _Lines:
    """The state on the way through the lines."""

    def __init__(self) -> None:
        self.heading = ""
        self.list_kind = ""
        self.fence = ""
        self.held: list[str] = []
        self.after_blank = False
        self.had_items = False


def read_part(text: str, most: int = READ_CHARS) -> str:
    """A text, or its two ends where it is long."""
    if len(text) <= most:
        return text
    half = most // 2
    # A word that was cut is left out: it could be half of a secret, which nothing would recognise.
    begins, ends = text[:half][::-1], text[-half:]
    return f"{begins[_word_end(begins) :][::-1]}\n\n{ends[_word_end(ends) :]}"


def _word_end(text: str) -> int:
    found = _BREAK.search(text)
    return found.start() if found else len(text)


def blocks_of(text: str) -> Iterator[Block]:
    """The pieces of a text, in their order."""
    state = _Lines()
    for line in read_part(text).split("\n"):
        yield from _line(state, line)
    yield from _flush(state)


def _line(state: _Lines, line: str) -> Iterator[Block]:
    bare = _TAG.sub("", line).strip()
    fence = _FENCE.match(line)
    if state.fence:
        if fence and fence[1].startswith(state.fence) and not fence[2].strip():
            state.fence = ""
        return
    if fence:
        yield from _flush(state)
        state.fence = fence[1]
        return
    tag = _TAG_LINE.fullmatch(line.strip())
    if tag:
        yield from _flush(state)
        _begin(state, kind_of_label(tag[1].replace("_", " ")) or OTHER)
        return
    if not bare:
        yield from _flush(state)
        state.after_blank = True
        return
    heading = _HEADING.match(bare)
    if heading or bare.startswith((">", "|")) or set(bare) <= set("-*_= "):
        yield from _flush(state)
        if heading:
            _begin(state, kind_of_label(plain(heading[1])) or OTHER)
        return
    if (
        _ITEM.match(bare)
        or label_in(plain(bare[:_LABEL_CHARS]))[0]
        or _leads(bare)
        or (state.held and not _goes_on(state.held[-1]))
    ):
        yield from _flush(state)
    if not _ITEM.match(bare) and state.after_blank and state.had_items:
        # A paragraph after a list: what stands before the list spoke for the list alone.
        _begin(state, "")
    state.after_blank = False
    state.held.append(bare)


def _leads(line: str) -> bool:
    lead = _BOLD_LEAD.match(line)
    return bool(lead and (lead["end"] or lead["colon"]))


def _goes_on(before: str) -> bool:
    """Whether a line was broken to fit a width, so that the next one goes on with its sentence."""
    return len(before) >= _WRAPPED and before[-1] not in ".:!?。：！？"


def _begin(state: _Lines, kind: str) -> None:
    state.heading, state.list_kind, state.had_items = kind, "", False


def _flush(state: _Lines) -> Iterator[Block]:
    if not state.held:
        return
    text, state.held = " ".join(state.held), []
    item = _ITEM.match(text)
    announced = _COLON_END.search(_MARKS.sub("", text)) or _BOLD_LINE.fullmatch(text)
    if announced and item and announced.start() <= item.end():
        # A numbered line that ends with a colon is a heading of the list below it.
        _begin(state, kind_of_label(announced["text"]) or OTHER)
        return
    if announced and not item:
        state.list_kind = kind_of_label(plain(announced["text"])) or (OTHER if _BOLD_LINE.fullmatch(text) else "")
        state.had_items = False
        text = _without_end(text, announced["text"]) if state.list_kind else text
    if text:
        block = _block(text, state, is_announcing=bool(announced))
        state.had_items = state.had_items or bool(item)
        yield from _parted(block)


def _parted(block: Block) -> Iterator[Block]:
    """A block, and apart from it what a later sentence in it announces: `It works. Next: add metrics.`"""
    for index, sentence in enumerate(block.sentences[1:], start=1):
        kind, rest = label_in(sentence.text)
        if kind in _ANNOUNCED:
            first = Sentence(rest, label_in(sentence.written)[1])
            if block.sentences[:index]:
                yield structs.replace(block, sentences=block.sentences[:index])
            yield from _parted(Block(sentences=(first, *block.sentences[index + 1 :]), kind=kind, labelled=True))
            return
    if block.sentences:
        yield block


def _without_end(text: str, end: str) -> str:
    """A text without the words that announce the list below it."""
    at = text.rfind(end.split()[0])
    return text[:at].strip().strip("*_ ") if at > 0 else ""


def _block(text: str, state: _Lines, *, is_announcing: bool) -> Block:
    item = _ITEM.match(text)
    number = (item["number"] or item["letter"] or "").upper() if item else ""
    text = text[item.end() :] if item else text
    checked: bool | None = None
    box = _BOX.match(text)
    if box:
        checked = box["mark"].upper() in ("X", "✓", "✔", "DONE", "COMPLETED")
        text = text[box.end() :]
    tick = _TICK.match(text)
    if tick:
        text = text[tick.end() :]
    kind = state.heading if is_announcing else state.list_kind or state.heading
    struck = _STRUCK.match(text)
    if struck and (box or kind in (NEXT, PLAN)):
        checked, text = True, struck[1]
    text = _STRUCK.sub(" ", text)
    title, own = "", ""
    lead = _BOLD_LEAD.match(text)
    if lead and (lead["end"] or lead["colon"]):
        own, title = kind_of_label(plain(lead["lead"])), plain(lead["lead"])
        text = text[lead.end() :]
        title = "" if own else title
    if not own:
        own, text = label_in(text)
    option = _OPTION.fullmatch(title)
    if option:
        number, title = option[1].upper(), option[2] or ""
    return Block(
        sentences=tuple(_sentences(text)),
        kind=own or ("" if kind == OTHER else kind),
        labelled=bool(own),
        title=title,
        is_item=bool(item) or bool(option),
        number=number,
        checked=checked,
    )


def _sentences(text: str) -> Iterator[Sentence]:
    start = count = 0
    text = one_line(text)
    # What stands in backticks is a name, whatever marks are in it.
    for end in _END.finditer(_CODE.sub(lambda found: "x" * len(found[0]), text)):
        if text[end.start()] == "…" and not text[end.start() - 1 : end.start()].isalnum():
            continue
        if text[: end.start() + 1].endswith("/...") or _TRAILS_OFF.match(text, max(0, end.start() - 2)):
            continue
        if _INITIAL.match(text, max(0, end.start() - 2)):
            continue
        if text[end.start()] == "." and _ABBREVIATION.search(text[max(start, end.start() - 12) : end.start() + 1]):
            continue
        yield from _sentence(text[start : end.end()])
        start, count = end.end(), count + 1
        if count == BLOCK_SENTENCES:
            return
    yield from _sentence(text[start:])


def _sentence(written: str) -> Iterator[Sentence]:
    text = plain(written)
    if 1 < len(text) <= SENTENCE_CHARS and any(char.isalnum() for char in text):
        yield Sentence(text, written.strip())


def plain(text: str) -> str:
    """A text without marks of Markdown and without pictures, on one line."""
    return one_line(_PICTURES.sub(" ", _MARKS.sub("", _LINK.sub(r"\1", text))))
