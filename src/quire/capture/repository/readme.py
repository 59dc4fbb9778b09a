"""Markdown and reStructuredText pages as prose: sections, paragraphs, and the first paragraph that says something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quire.capture.markdown import Section, sections_of
from quire.capture.repository.clean_text import plain, said

SUMMARY_CHARS = 400
_COMMENT = re.compile(r"<!--([^>]{1,500})-->")
_MARK = re.compile(r"\s*([\w.-]{1,80}(?::(?!(?:start|begin|end)\b)[\w.-]{1,80}){0,4})(?:[\s:]|$)", re.I)
_EDGE = re.compile(r"\b(start|begin|end)\b", re.I)
_HEAD = re.compile(r"\A(---|\+\+\+)[ \t]*\n.{0,32768}?\n\1[ \t]*(?:\n|\Z)", re.S)
_UNDERLINE = re.compile(r"([=\-~^\"'*+#`.:_])\1{2,}[ \t]*$")
_BULLET = re.compile(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])[ \t]+")
_DIRECTIVE = re.compile(r"\.\.[ \t]")
_LINKED = re.compile(r"!?\[[^\[\]\n]{0,500}\](?:\([^()\n]{0,1000}\)|\[[^\]\n]{0,100}\])|https?://\S{1,500}")
_LETTERS = re.compile(r"[^\W\d_]")
_ABOUT = re.compile(
    r"about|overview|introduction|description|summary|abstract|what|why|motivation|purpose|readme", re.I
)
_BOILERPLATE = re.compile(
    r"install|usage|getting started|quick ?start|licen|contribut|changelog|contents|badge|support|requirement|"
    r"acknowledg|author|credits|sponsor|status|build|test|develop|prerequisite",
    re.I,
)
_LETTERS_LEAST = 8
_LOOKED_AT = 4_000


class Paragraph(Struct, frozen=True):
    """Lines that belong together, and what they are: text, item, table or quote."""

    kind: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.lines)


def page_sections(text: str, *, is_rest: bool = False) -> list[Section]:
    """The sections of a page; without its head, what programs keep between two marks, code and comments."""
    text = _HEAD.sub("", text, count=1)
    text = _without_generated(text)
    lines = _rest_lines(text.split("\n")) if is_rest else text.split("\n")
    return sections_of("\n".join(_with_signs(lines)))


def _without_generated(text: str) -> str:
    """The text without the parts that a program keeps up to date: `<!-- name start -->` to `<!-- name end -->`."""
    marks: list[tuple[re.Match[str], str, bool]] = []
    for comment in _COMMENT.finditer(text):
        mark, edge = _MARK.match(comment[1]), _EDGE.search(comment[1])
        if mark and edge:
            marks.append((comment, mark[1].lower(), edge[1].lower() == "end"))
    last_ends = {name: comment.start() for comment, name, is_end in marks if is_end}
    kept: list[str] = []
    shown, inside = 0, ""
    for comment, name, is_end in marks:
        if not inside and not is_end and last_ends.get(name, -1) > comment.start():
            kept.append(text[shown : comment.start()])
            inside = name
        elif inside == name and is_end:
            shown, inside = comment.end(), ""
    return "".join(kept) + text[shown:]


def _with_signs(lines: list[str]) -> Iterator[str]:
    """Headings that are underlined, written with signs instead."""
    number = 0
    while number < len(lines):
        line = lines[number]
        under = lines[number + 1] if number + 1 < len(lines) else ""
        is_text = bool(line.strip()) and line[0] not in " \t#>|-*+`" and not _UNDERLINE.match(line)
        if is_text and under[:1] in ("=", "-") and _UNDERLINE.match(under):
            yield f"{'#' if under[0] == '=' else '##'} {line.strip()}"
            number += 1
        else:
            yield line
        number += 1


def _rest_lines(lines: list[str]) -> list[str]:
    """reStructuredText as far as it is prose: directives and what is indented below them are left out."""
    kept: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        if _DIRECTIVE.match(line):
            inside = True
        elif line[:1] not in ("", " ", "\t"):
            inside = False
        under = lines[number + 1] if number + 1 < len(lines) else ""
        is_over = bool(_UNDERLINE.match(line)) and not (kept and kept[-1].strip())
        if not inside and not is_over:
            if _UNDERLINE.match(line) and kept and kept[-1].strip():
                kept.append("=" * 3 if line[0] == "=" else "-" * 3)
            else:
                kept.append(line.replace("``", "`") if not _UNDERLINE.match(under) else line)
    return kept


def paragraphs(lines: Iterable[str]) -> Iterator[Paragraph]:
    held: list[str] = []
    kind = ""
    for line in (*lines, ""):
        bare = line.strip()
        here = _kind_of(line, kind)
        if held and (not bare or here != kind or _BULLET.match(line)):
            yield Paragraph(kind, tuple(held))
            held = []
        if bare:
            kind = here
            held.append(_BULLET.sub("", line, count=1).strip() if here == "item" else bare.lstrip("> "))
        else:
            kind = ""


def _kind_of(line: str, before: str) -> str:
    if _BULLET.match(line):
        return "item"
    bare = line.lstrip()
    if bare.startswith("|"):
        return "table"
    if bare.startswith(">"):
        return "quote"
    return before if before in ("item", "quote") else "text"


def title_of(sections: list[Section]) -> str:
    """The title of a page: its first heading, if that is one of the first level."""
    found = next((section for section in sections if section.level), None)
    return said(found.title) if found and found.level == 1 else ""


def first_paragraph(sections: list[Section], most: int = SUMMARY_CHARS, *, lead_only: bool = False) -> str:
    """What a page says it is about: the first paragraph that is no badge, no navigation and no instruction.

    First it is looked for where pages say so, then, unless only there, in what is said of anything but how to install
    and use it. Empty where there is none.
    """
    lead = [section for section in sections if section.level <= 1 or _ABOUT.match(section.title)]
    for some, kind in ((lead, "text"), (lead, "quote"), ([] if lead_only else _others(sections), "text")):
        for section in some:
            for paragraph in paragraphs(section.lines):
                if paragraph.kind == kind and _says_something(paragraph):
                    return said(paragraph.text, most)
    return ""


def _others(sections: list[Section]) -> Iterator[Section]:
    """The sections that are no boilerplate and do not lie below any."""
    under = 0
    for section in sections:
        if under and section.level > under:
            continue
        under = section.level if _BOILERPLATE.search(section.title) else 0
        if not under and section.level > 1:
            yield section


def _says_something(paragraph: Paragraph) -> bool:
    """Whether it is more than links, images, or a lead to a list."""
    words = plain(paragraph.text)
    letters = _LETTERS.findall(plain(_LINKED.sub("", paragraph.text[:_LOOKED_AT])))
    # A letter of most other scripts says more than one of ours.
    if len(letters) + sum(not char.isascii() for char in letters) < _LETTERS_LEAST:
        return False
    return not words.endswith((":", "："))
