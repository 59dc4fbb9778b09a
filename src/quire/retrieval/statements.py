"""Compare two statements: do they say nearly the same, or the opposite?

A statement is its telling words, those of them that it denies, and its numbers. Two statements are about one thing
where nearly all telling words are in both. They are opposites where one denies what the other says, or where each names
a number that the other does not name; else they say the same. `tests/retrieval/test_statements.py` measures it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from quire.model.text import words

_ALIKE = 0.75
"""The share of the telling words of both that both have."""
LEAST = 3
"""With fewer telling words there is too little to compare; with one less, only a denial counts."""
_MOST = 40
"""In a longer text a negation denies a part at most, and a number is one of many."""

_NOT = re.compile(r"n['’]t\b")
_GROUPED = re.compile(r"(?<=\d)[,_'](?=\d{3}\b)")
_UNIT = re.compile(r"(?<=\d)(?=[A-Za-z%])")
_NAME = re.compile(r".*[\w)][/_].*\w.*|.*\w\.[A-Za-z]\w.*|.*[a-z][A-Z].*|\d{4}-\d\d-\d\d|#\d+")
"""A path, a name from code, a day, the number of an issue: one word, however many joints it has."""
_ODD = re.compile(r"(?<!\S)(?![A-Za-z][a-z]*(?!\S))\S+")
"""Whatever is not simply a word in small letters: only that needs a look."""
_AROUND = ".,;:!?()[]{}<>\"'`*“”‘’"


# All as the tokenizer of the index leaves words: without accents, stemmed.
_DENIES = words(
    "not never no cannot without neither nor off hardli nicht nie niemal kein keinen keiner keinem ohn nunca jama sin "
    "tampoco pa jamai"
)
_EMPTY = words(
    "a about all also alwai an and ani ar as at be becaus been befor by can could did do doe each everi for from ha "
    "had have here i if in into is it its just longer mai more must of on onli or our should sinc so some such than "
    "that the their them then there thei thi to too wa we were when where which while who will with would you your "
    "auf das dem den der die ein einem einen fur im immer ist mit sind und von wird zu "
    "al con de del el en es la las los para por se siempr son un una y"
)
_ANTONYMS = {
    "avoid": "us",
    "close": "open",
    "deni": "allow",
    "disabl": "enabl",
    "drop": "keep",
    "exclud": "includ",
    "fail": "pass",
    "fals": "true",
    "forbid": "allow",
    "forbidden": "allow",
    "option": "requir",
    "privat": "public",
    "prohibit": "allow",
    "refus": "accept",
    "reject": "accept",
    "remov": "keep",
    "slow": "fast",
    "stop": "start",
}
_PREFIXES = ("un", "non", "dis", "in", "a")
_UNITS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TENS = ("twenti", "thirti", "forti", "fifti", "sixti", "seventi", "eighti", "nineti")
_NUMBERS = {word: str(number) for number, word in enumerate(_UNITS, 2)} | {
    word: f"{number}0" for number, word in enumerate(_TENS, 2)
}
_VALUED = words("abov below least limit max maximum min minimum most over port timeout under version")
"""A number right after any other telling word is part of a name: phase 2 does not contradict phase 1."""


class Statement(Struct, frozen=True):
    """The significant words, negations, numbers and names of a text."""

    words: frozenset[str]
    denied: frozenset[str]
    is_denial: bool
    """Whether it denies an odd number of times."""
    numbers: frozenset[str]
    names: frozenset[str]


def read_statement(text: str, stems: Callable[[str], list[str]]) -> Statement:
    """Parse a text into a statement; `stems` splits it into words as the index does."""
    names, plain = _named(text)
    found = stems(plain)
    if _TURNING.isdisjoint(found) and not any(map(str.isdigit, found)):
        return Statement(names.union(found) - _EMPTY, _NONE, False, _NONE, names)
    words: dict[str, None] = {}
    denied, numbers = set(), set()
    denials, waits, before = 0, False, ""
    for stem in found:
        role, meant = _role(stem)
        if role == _DENIAL:
            denials, waits = denials + 1, True
        elif role == _NUMBER:
            if before in words and before not in _VALUED:
                words[f"{before} {meant}"] = None
                continue
            numbers.add(meant)
        elif role != _EMPTY_WORD:
            words[meant] = None
            denials += role == _TURNED
            # A negation is about the next telling word.
            if waits != (role == _TURNED):
                denied.add(meant)
            waits = False
        before = stem
    if waits and words:
        denied.add(next(reversed(words)))
    return Statement(names.union(words), frozenset(denied), denials % 2 == 1, frozenset(numbers), names)


_TURNING = _DENIES.union(_ANTONYMS, _NUMBERS)
"""Without any of these and without numbers, a statement is its telling words alone."""
_NONE: frozenset[str] = frozenset()
_DENIAL, _NUMBER, _EMPTY_WORD, _TELLING, _TURNED = range(5)


@lru_cache(maxsize=1 << 15)
def _role(stem: str) -> tuple[int, str]:
    """What a word does in a statement, and what it stands for. A memory has few words, each many times."""
    number, positive = _NUMBERS.get(stem, stem), _ANTONYMS.get(stem, stem)
    if stem in _DENIES:
        return _DENIAL, stem
    if number.isdigit():
        return _NUMBER, number
    if positive in _EMPTY:
        return _EMPTY_WORD, stem
    return (_TELLING if positive == stem else _TURNED), positive


def _named(text: str) -> tuple[frozenset[str], str]:
    """The names in a text, and the text without them, with negations and numbers as words of their own."""
    names = set()

    def read(found: re.Match[str]) -> str:
        token = found.group()
        if token.isalpha() and token[1:].islower():
            return token
        if _NAME.fullmatch(bare := token.strip(_AROUND)):
            names.add(bare.casefold())
            return ""
        return _UNIT.sub(" ", _GROUPED.sub("", _NOT.sub(" not", token)))

    plain = _ODD.sub(read, text)
    return frozenset(names), plain


def likeness(one: Statement, other: Statement) -> tuple[float, bool]:
    """The share of words that two statements have in common, and whether they are opposites.

    0 where they are about different things, or about one thing in ways that words do not tell.
    """
    both = one.words & other.words
    most = max(len(one.words), len(other.words))
    fewest = min(len(one.words), len(other.words))
    if 2 * len(both) < most or (fewest < LEAST and not len(both) == most == LEAST - 1):
        return 0.0, False
    if one.names - other.names and other.names - one.names:
        return 0.0, False
    mine, yours = one.words - both, other.words - both
    turned = _turned(mine, yours) + _turned(yours, mine)
    share = (len(both) + turned) / (len(both) + len(mine) + len(yours) - turned)
    if share < _ALIKE:
        return 0.0, False
    is_denied = (one.is_denial != other.is_denial) != (turned % 2 == 1)
    differ = bool(one.numbers - other.numbers) and bool(other.numbers - one.numbers)
    if fewest < LEAST and not is_denied:
        return 0.0, False
    if not is_denied and not differ:
        return share, False
    is_about = not is_denied or turned > 0 or bool((one.denied ^ other.denied) & both)
    return (share, True) if is_about and most <= _MOST else (0.0, False)


def _turned(words: frozenset[str], others: frozenset[str]) -> int:
    """How many of the words turn one of the others around, as `unsafe` does with `safe`."""
    bare = {word.rstrip("e") for word in others}
    return sum(
        any(word.startswith(prefix) and word[len(prefix) :].rstrip("e") in bare for prefix in _PREFIXES)
        for word in words
    )
