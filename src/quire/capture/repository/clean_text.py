"""Clean text of a project for the memory: plain words on one line, without secrets, cut after a sentence."""

from __future__ import annotations

import functools
import html
import re

from quire.capture.quotable_text import quote, safe_text
from quire.layers.journal import text_match
from quire.layers.journal.layout import NONE
from quire.model.text import cut, first_sentence, one_line, trim

SENTENCE_CHARS = 240
TITLE_CHARS = 100
_LOOKED_AT = 4_000
"""No more of a text than this is taken apart."""
_CODE = re.compile(r"``[^\n]{1,300}?``|`[^`\n]{1,300}`")
_ASIDE = "\0"
"""Marks the place of code while the text around it is changed; no text that is read holds it."""
_PUT_ASIDE = re.compile(rf"{_ASIDE}(\d+){_ASIDE}")
_IMAGE = re.compile(r"!\[[^\]\n]{0,300}\](?:\([^()\n]{0,1000}\)|\[[^\]\n]{0,100}\])")
_LINK = re.compile(r"\[([^\[\]\n]{0,500})\](?:\([^()\n]{0,1000}\)|\[[^\]\n]{0,100}\])")
_ADDRESS = re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,500})>")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>|<!--.{0,500}?-->")
_STARS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,500}?)(?<=[^\s*])\1(?![\w*])")
_LOW_LINES = re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])([^\n]{1,500}?)(?<=[^\s_])\1(?!\w)")
_REFERENCE = re.compile(r"(?<=\S)\[\^?[\w-]{1,20}\](?![(\[])")
_ROLE = re.compile(r":\w{1,20}:`([^`<\n]{1,200}?)\s?(?:<[^>`\n]{0,300}>)?`")


def plain(markdown: str) -> str:
    """Markdown as words on one line: links by their texts, no images, no tags, no emphasis; code stays as it is."""
    codes: list[str] = []

    def put_aside(code: re.Match[str]) -> str:
        codes.append(code.group())
        return f"{_ASIDE}{len(codes) - 1}{_ASIDE}"

    text = _ROLE.sub(r"`\1`", markdown[:_LOOKED_AT].replace(_ASIDE, ""))
    text = _without_marks(_CODE.sub(put_aside, text))
    return one_line(_PUT_ASIDE.sub(lambda place: codes[int(place[1])], text))


def _without_marks(text: str) -> str:
    text = _ADDRESS.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    text = _REFERENCE.sub("", _TAG.sub("", text))
    return html.unescape(_LOW_LINES.sub(r"\2", _STARS.sub(r"\2", text)))


def said(text: str, most: int = SENTENCE_CHARS) -> str:
    """A text as it may be kept; empty where nothing is left of it."""
    found = cut(quote(safe_text(plain(text), _LOOKED_AT), most), most)
    return found if trim(found) else ""


def sentence_of(text: str) -> str:
    """The first sentence of a text, as it may be kept."""
    return said(first_sentence(plain(text)))


def stated(text: str) -> str:
    """The text, or the word for none."""
    return text if trim(text) else NONE


@functools.lru_cache(maxsize=4096)
def normal(text: str) -> str:
    """The normal form that the journal compares texts by."""
    return text_match.normal_text(text)


def are_alike(first: str, second: str) -> bool:
    """Whether two texts are one said twice, by the journal's rule."""
    if normal(first) == normal(second):
        return bool(normal(first))
    return text_match.are_alike(_words(first), _words(second))


@functools.lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return text_match.words_of(normal(text))
