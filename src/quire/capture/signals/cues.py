"""Regular expressions by their names in `patterns.toml`, and which kinds of cue words of `cues.json` a text has.

Of cue words, one that ends with `*` stands for all words that begin so; `|` stands for a blank. Chinese and Japanese
words are looked for as signs.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from typing import Any, cast

import msgspec

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SIGNS = re.compile("[\u3040-\u30ff\u3400-\u9fff\U0001f000-\U0001faff]")
_LONGEST_PHRASE = 3
_Kinds = dict[str, set[str]]
DATA = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def _lexicon() -> tuple[_Kinds, _Kinds, _Kinds]:
    """Whole words and phrases, beginnings of words, and signs, each with its kinds."""
    whole, begins, signs = _Kinds(), _Kinds(), _Kinds()
    with open(os.path.join(DATA, "cues.json"), "rb") as file:
        table = msgspec.json.decode(file.read(), type=dict[str, str])
    for kind, words in table.items():
        for word in words.split():
            plain = word.replace("|", " ").rstrip("*")
            part = signs if _SIGNS.search(word) else begins if word.endswith("*") else whole
            part.setdefault(plain, set()).add(kind)
    return whole, begins, signs


def cues_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The kinds of cue words anywhere in a text, and those that it begins with."""
    whole, begins, signs = _lexicon()
    text = text.lower().replace("’", "'")
    tokens = _TOKEN.findall(text)
    anywhere, first = set[str](), set[str]()
    for at in range(len(tokens)):
        found: set[str] = set()
        for count in range(1, _LONGEST_PHRASE + 1):
            found |= whole.get(" ".join(tokens[at : at + count]), set())
        for end in range(2, min(len(tokens[at]), 12) + 1):
            found |= begins.get(tokens[at][:end], set())
        anywhere |= found
        if not at:
            first = found
    if not text.isascii():
        start = text.lstrip(" \"'(¿¡-–「『")
        for sign, kinds in signs.items():
            if sign in text:
                anywhere |= kinds
                first = first | kinds if start.startswith(sign) else first
    return frozenset(anywhere), frozenset(first)


@functools.cache
def table() -> dict[str, Any]:
    with open(os.path.join(DATA, "patterns.toml"), "rb") as file:
        return tomllib.load(file)


@functools.cache
def words(name: str) -> frozenset[str]:
    return frozenset(table()[name].split())


@functools.cache
def patterns(section: str) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(_source(name, table()[section]), re.M) for name in table()[section]}


def _source(name: str, part: dict[str, Any]) -> str:
    return re.sub(r"<<(\w+)>>", lambda found: _source(found[1], part), "".join(part[name]))


class _Pattern:
    """A regular expression that is read and compiled where it is first used."""

    def __init__(self, name: str, flags: re.RegexFlag) -> None:
        self._name, self._flags = name, flags

    def __getattr__(self, method: str) -> Any:
        found = self.__dict__[method] = getattr(re.compile(_source(self._name, table()), self._flags), method)
        return found


def pattern(name: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _Pattern(name, flags))
