"""The parsed form of a glob anchor."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

Ranges: TypeAlias = tuple[tuple[str, str], ...]

# The classes with names, such as `[:alpha:]`: ASCII only, as in picomatch.
POSIX: dict[str, Ranges] = {
    "alnum": (("A", "Z"), ("a", "z"), ("0", "9")),
    "alpha": (("A", "Z"), ("a", "z")),
    "ascii": (("\x00", "\x7f"),),
    "blank": ((" ", " "), ("\t", "\t")),
    "cntrl": (("\x00", "\x1f"), ("\x7f", "\x7f")),
    "digit": (("0", "9"),),
    "graph": (("!", "~"),),
    "lower": (("a", "z"),),
    "print": ((" ", "~"),),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "space": ((" ", " "), ("\t", "\r")),
    "upper": (("A", "Z"),),
    "word": (("A", "Z"), ("a", "z"), ("0", "9"), ("_", "_")),
    "xdigit": (("A", "F"), ("a", "f"), ("0", "9")),
}


class GlobFault(Exception):
    """Why a pattern cannot be used; the text continues a sentence that begins with the pattern."""


class GlobMark(Enum):
    """What stands for itself: one character, any within a segment, any at all; the end of the path, and not its end."""

    ONE = "?"
    STAR = "*"
    DEEP = "**"
    END = "$"
    SOME = "(?=.)"


class Char(NamedTuple):
    """One character as it is."""

    value: str


class Chars(NamedTuple):
    """One character of a class."""

    negated: bool
    ranges: Ranges

    def holds(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) != self.negated


class Either(NamedTuple):
    """One of several sequences."""

    branches: tuple[Seq, ...]


class Repeat(NamedTuple):
    """The body at least so many times, and at most once or without end."""

    body: Either
    least: int
    endless: bool


class Unless(NamedTuple):
    """Anything (within a segment, or across when deep), where the body and the tail do not follow."""

    body: Either
    tail: Seq
    deep: bool


Node: TypeAlias = GlobMark | Char | Chars | Either | Repeat | Unless
Seq: TypeAlias = tuple[Node, ...]


class Pattern(NamedTuple):
    """A whole anchor: what it matches, or, negated, what it leaves out."""

    seq: Seq
    negated: bool


def members(items: str | list[str | Ranges]) -> Ranges:
    """The members of a class, written one after the other: `a-z_` is the letters and the underscore."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(items):
        first = items[at]
        if not isinstance(first, str):
            found += first
            at += 1
            continue
        last = items[at + 2] if at + 2 < len(items) and items[at + 1] == "-" else first
        if not isinstance(last, str) or last < first:
            raise GlobFault("has a range that runs backwards")
        at += 3 if at + 2 < len(items) and items[at + 1] == "-" else 1
        found.append((first, last))
    return tuple(found)
