"""How strongly a text says why: kinds of cue words from `cues.json`, taken together."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any

import msgspec

from quire.files.paths import read_bytes

_SIGNS = re.compile(r"^[^\w(]+")


def cues_in(text: str) -> frozenset[str]:
    """The kinds of cue words in a text: reason, instead, trap, rule."""
    return frozenset(name for name, (pattern, _) in _kinds().items() if pattern.search(text))


def strength(cues: frozenset[str], *, explained: bool = False) -> float:
    """How sure it is that a text is worth keeping, from 0 to 1: each kind of cue words is one more piece of evidence.

    So is an explanation of several sentences.
    """
    doubt = 1 - float(_data()["explained"]) if explained else 1.0
    for name in cues:
        doubt *= 1 - _kinds()[name][1]
    return 1 - doubt


def weight_of_type(name: str) -> float | None:
    """How much the type before a subject (`docs:`) lets expect; None for a word that is no such type."""
    found = _data()["types"].get(name.lower())
    return None if found is None else float(found)


def is_fix(title: str) -> bool:
    return _compiled("fix").match(title) is not None


def is_added(title: str) -> bool:
    """Whether a subject tells of something new, which speaks for itself."""
    return _compiled("added").match(title) is not None


def is_ordinary(title: str) -> bool:
    """Whether a subject tells of a release, an update or the like."""
    return _compiled("ordinary").match(title) is not None


def is_bot(name: str, email: str) -> bool:
    pattern = _compiled("bots")
    return bool(pattern.search(name) or pattern.search(email.partition("@")[0]))


def is_agent(name: str, email: str) -> bool:
    """Whether an author is a program that writes for people: its messages count, itself knows no folder."""
    pattern = _compiled("agents")
    return bool(pattern.search(name) or pattern.search(email))


def is_noise(line: str) -> bool:
    """Whether a line of a message is a trailer, a link to an issue or the like."""
    return _compiled("noise").match(_SIGNS.sub("", line)) is not None


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues.json")
    return msgspec.json.decode(read_bytes(path), type=dict[str, Any])


@lru_cache(maxsize=1)
def _kinds() -> dict[str, tuple[re.Pattern[str], float]]:
    return {name: (_words(kind["words"]), float(kind["weight"])) for name, kind in _data()["cues"].items()}


@lru_cache(maxsize=8)
def _compiled(name: str) -> re.Pattern[str]:
    held = _data()[name]
    return _words(held) if isinstance(held, list) else re.compile(held, re.I)


def _words(words: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.I)
