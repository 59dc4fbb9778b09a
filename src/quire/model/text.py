"""Normalise, cut and quote text."""

from __future__ import annotations

import re

# What JavaScript's trim() removes; the stores we open were trimmed by it.
_BLANK = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_SENTENCE = r"(?s)^.*?[.!?](?=\s|$)|^.*?[。！？]"
_FRONT_MATTER = r"\A---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)"

_HINT = r"(?m)[#*_\[>]|^\s*[-+] "
_MARKS = r"(?m)^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+)+|\*\*|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)"
_LINKS = r"!?\[([^\[\]]*)\]\([^()\s]*\)"


def trim(text: str) -> str:
    return text.strip(_BLANK)


def plain_newlines(text: str) -> str:
    """CRLF and lone CR as LF, a leading byte order mark dropped."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def whole(text: str) -> str:
    """A text without halves of characters, which other programs may write and nothing but JSON can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def spelled(text: str) -> str:
    """A text whose halves of characters are written as their numbers, such as a file's name that is not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def one_line(text: str) -> str:
    """All white space collapsed to single spaces."""
    return " ".join(text.split())


def cut(text: str, chars: int) -> str:
    """At most `chars` characters, the last one an ellipsis when something was left out."""
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"


def without_marks(text: str) -> str:
    """A text without the marks of Markdown; names of code keep theirs."""
    return re.sub(_LINKS, r"\1", re.sub(_MARKS, "", text)) if re.search(_HINT, text) else text


def headline(text: str, chars: int) -> str:
    """The beginning of a text as a title: on one line, without marks, and cut behind a whole word."""
    plain = one_line(without_marks(text[: 4 * chars]))
    if len(plain) <= chars:
        return plain
    end = plain.rfind(" ", 0, chars)
    kept = plain[: end if end > chars // 2 else chars - 1].rstrip(" ,;:-–—›(")
    # Half a name in ticks is none.
    kept = kept[: kept.rfind("`")].rstrip(" ,;:-–—›(") if kept.count("`") % 2 and kept.rfind("`") > chars // 2 else kept
    return f"{kept}…"


def first_sentence(markdown: str) -> str:
    """The first sentence of a body, headings left out."""
    prose = one_line(" ".join(line for line in markdown.split("\n") if not line.startswith("#")))
    found = re.match(_SENTENCE, prose)
    return found.group(0) if found else prose


def has_front_matter(body: str) -> bool:
    """Whether a body opens with a YAML block, which belongs in the sidecar instead."""
    return body.startswith("---") and re.match(_FRONT_MATTER, body) is not None


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def words(text: str) -> frozenset[str]:
    """The words of a set that is large enough to be written as running text."""
    return frozenset(text.split())
