"""Split a section into items: list points with everything below them, paragraphs, code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from quire.model.text import one_line

Form = Literal["point", "text", "code"]
Mark = Literal["", "open", "going", "done"]

_BULLET = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+(.*)$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)$")
_RULE = re.compile(r"[ \t]*(?:-[ \t]*){3,}$|[ \t]*(?:\*[ \t]*){3,}$|[ \t]*(?:_[ \t]*){3,}$|[ \t]*={3,}$")
# Lines that carry no words: pictures and badges, tags around text, lines of a table that only divide it.
_NO_WORDS = re.compile(
    r"[ \t]*(?:\[?!\[[^\n]*|</?[A-Za-z][^<>\n]*>|(?:\|[ \t]*)?:?---[-:| \t]*|={3,}[ \t][^=\n]{1,80}[ \t]={3,}[ \t]*)$"
)
_QUOTE = re.compile(r"^[ \t]*>[ \t]?")
_ALERT = re.compile(r"\[!(\w+)\][ \t]*$")
_BOX = re.compile(r"\[([ xX/~-])\][ \t]+")
_SIGNS: dict[str, Mark] = {
    **dict.fromkeys("✅☑✔🎉", "done"),
    **dict.fromkeys("🔄🚧⏳🏗🟡", "going"),
    **dict.fromkeys("⬜☐🔲📋🔜🔴❌⭕", "open"),
    **dict.fromkeys("🐛🔥🚀⭐💡📝🔧🎯", ""),
}
_LEADING = re.compile(f"(?:[{''.join(_SIGNS)}]\ufe0f?[ \t]*)+")
_STRUCK = re.compile(r"~~(.+?)~~[.:]?$")
_LEAD = re.compile(r"\*\*([^*\n]{2,120}?)[.:]?\*\*[ \t]*[:：.–—-]*[ \t]*")


class TextItem(Struct, frozen=True):
    """One item. Code below a point or a paragraph belongs to it; alone it is an item of its own."""

    form: Form
    line: int
    text: str
    last: int
    """The number of its last line."""
    mark: Mark = ""
    """Whether it is ticked off, as far as the document says."""
    is_step: bool = False
    """Whether it has a number."""

    @property
    def shown(self) -> str:
        """As it stands in a list, or by itself."""
        return "- " + self.text.replace("\n", "\n  ") if self.form == "point" else self.text


class _Open(Struct):
    """An item that is being read."""

    form: Form
    line: int
    indent: int
    lines: list[list[str]]
    """Of each line what it is put together from."""
    last: int
    is_step: bool = False
    after_blank: bool = False
    has_code: bool = False


def items_of(lines: list[str], first_line: int) -> list[TextItem]:
    """The items of a section's lines. Comments and headings are gone already."""
    return [item for item in map(_closed, _opened(lines, first_line)) if item]


def _opened(lines: list[str], first_line: int) -> Iterator[_Open]:
    now: _Open | None = None
    fence, is_quoted = "", False
    for number, raw in enumerate(lines, first_line):
        line = raw if fence and not is_quoted else _QUOTE.sub("", raw, count=1)
        if not fence or (is_quoted and line == raw):
            # Code in a quotation ends with it at the latest.
            fence, is_quoted = "", line != raw
        opening = _fence_of(line)
        if fence or opening:
            now = now or _Open("code", number, 0, [], number)
            now.has_code, now.last = True, number
            now.lines.append([line])
            is_end = opening.startswith(fence) and not line.strip(" \t`~")
            fence = opening if not fence else "" if is_end else fence
            continue
        if not line.strip() or _RULE.match(line) or _NO_WORDS.match(line):
            if now and not line.strip().startswith("|"):
                now.after_blank = True
            continue
        new = _begun(now, line, number)
        if new is None and now:
            now.last = number
            _go_on(now, line)
        elif new:
            if now:
                yield now
            now = new
    if now:
        yield now


def _fence_of(line: str) -> str:
    """The marks that begin or end code on a line; empty where there are none."""
    found = _FENCE.match(line)
    return found[1] if found and not (found[1][0] == "`" and "`" in found[2]) else ""


def _begun(now: _Open | None, line: str, number: int) -> _Open | None:
    """The item that a line begins; None where it belongs to the one before it."""
    indent = len(line) - len(line.lstrip(" \t"))
    bullet = _BULLET.match(line)
    if bullet:
        if now and now.form == "point" and indent >= now.indent + 2:
            return None
        return _Open("point", number, indent, [[bullet[2]]], number, is_step=line[indent].isdigit())
    if now is None or now.form == "code":
        return _Open("text", number, indent, [[line.strip()]], number)
    if now.form == "point":
        goes_on = indent > now.indent if now.after_blank or now.has_code else True
    else:
        goes_on = not now.after_blank and not now.has_code
    return None if goes_on else _Open("text", number, indent, [[line.strip()]], number)


def _go_on(now: _Open, line: str) -> None:
    bullet = _BULLET.match(line)
    is_row = line.lstrip().startswith("|")
    if bullet:
        depth = max(0, (len(bullet[1].expandtabs(4)) - now.indent) // 2 - 1)
        now.lines.append([f"{'  ' * min(depth, 4)}- {bullet[2]}"])
    elif now.after_blank or is_row or not now.lines or now.lines[-1][0].lstrip().startswith(("```", "~~~")):
        now.lines.append([line.strip()])
    else:
        now.lines[-1].append(line.strip())
    now.after_blank = False


def _closed(item: _Open) -> TextItem | None:
    lines = [" ".join(map(str.rstrip, line)) for line in item.lines]
    if item.has_code:
        lines = _dedented(lines)
    mark: Mark = ""
    first = lines[0].strip()
    alert = _ALERT.match(first.split(" ")[0]) if first.startswith("[!") else None
    if alert:
        first = f"{alert[1].capitalize()}: {first[alert.end() :].strip()}"
    if item.form != "code":
        first, mark = _marked(first)
        first = one_line(first)
    text = "\n".join([first, *lines[1:]]).strip()
    return TextItem(item.form, item.line, text, item.last, mark, item.is_step) if text else None


def _dedented(lines: list[str]) -> list[str]:
    """Code below a point is indented with it; that is no part of the code."""
    fence, kept, cut = "", [], 0
    for line in lines:
        found = _FENCE.match(line)
        if not fence and found:
            fence, cut = found[1], len(line) - len(line.lstrip(" \t"))
        elif fence and found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
            kept.append(line.lstrip(" \t"))
            continue
        kept.append(line[cut:] if (fence and not line[:cut].strip()) else line)
    return kept


def _marked(text: str) -> tuple[str, Mark]:
    """A text without its box or sign, and what those say."""
    mark: Mark = ""
    box = _BOX.match(text)
    if box:
        mark = "done" if box[1] in "xX" else "going" if box[1] in "/~-" else "open"
        text = text[box.end() :]
    signs = _LEADING.match(text)
    if signs:
        mark = mark or next(filter(None, (_SIGNS.get(sign, "") for sign in signs[0])), "")
        text = text[signs.end() :]
    if _STRUCK.match(text.strip()):
        return text.strip().replace("~~", ""), "done"
    return text, mark


def lead_of(text: str) -> tuple[str, str]:
    """The words in bold that a text begins with, and what follows them; no words where it begins otherwise."""
    found = _LEAD.match(text)
    return (one_line(found[1]).strip(" :."), text[found.end() :].strip()) if found else ("", text)


def with_leads(items: tuple[TextItem, ...]) -> list[TextItem]:
    """The items with each bold line and the points below it as one."""
    found: list[TextItem] = []
    for item in items:
        last = found[-1] if found else None
        if item.form == "point" and last and last.form == "text" and is_lead(last.text.split("\n")[0]):
            found[-1] = TextItem(last.form, last.line, f"{last.text}\n{item.shown}", item.last, last.mark)
        else:
            found.append(item)
    return found


def is_lead(line: str) -> bool:
    """Whether a line is only words in bold, which what follows belongs to."""
    lead, rest = lead_of(line)
    return bool(lead) and not rest
