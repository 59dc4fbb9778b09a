"""Which command lines check the work: tests, linters, type checkers and builds; and how such a line is written down."""

from __future__ import annotations

import functools
import re

from quire.capture.signals.cues import pattern

COMMAND_CHARS = 120
_LINE_CHARS = 2_000

_BEFORE, _CHECKS, _COSMETIC = pattern("before"), pattern("check_line"), pattern("cosmetic")
_EVERYTHING = frozenset((".", "./", "./...", "..."))
_CD = re.compile(r"(?:cd|pushd) [^&;|]{1,200}(?:&&|;)\s*")
# Blanks are looked at once, from where they begin: a long run of them would else be gone over from each of its places.
_REDIRECTED = re.compile(r"(?<!\s)\s*(?:2>&1|[12&]?>\s*/dev/null)(?=\s|$|[|;&])")
_TRIMS = re.compile(r"\s*(?:tail|head|tee|cat|less|grep|rg|sed|awk|wc)\b")
_ECHO = re.compile(r"(?<!\s)\s*(?:;|&&)\s*echo\s[^;&|]*$")
_SET = re.compile(r"(?:set -\S+|export \S+|source \S+|\. \S+)\s*(?:&&|;|\n)\s*")
_JOINED = re.compile(r"(?<!\s)\s*(?:&&|;|\|\|)\s*")


def check_command(line: str) -> str:
    """The command of a line as it is written down, if it checks the work; else empty."""
    shown = _SET.sub("", line[:_LINE_CHARS].strip(), count=1)
    if "\n" in shown or "<<" in shown:
        shown = next((part for part in shown.split("\n") if _is_check(part)), "").strip() if "<<" not in shown else ""
    shown = _without_trimming(shown)
    parts = _JOINED.split(_CD.sub("", shown, count=1))
    if not any(map(_is_check, parts)) or not shown:
        return ""
    shown = " ".join(shown.split())
    return shown if len(shown) <= COMMAND_CHARS else next(part for part in parts if _is_check(part))[:COMMAND_CHARS]


def _without_trimming(line: str) -> str:
    """A line without what only shortens or hides its output."""
    piped = re.split(r"(?<!\|)\|(?!\|)", _REDIRECTED.sub("", line))
    while len(piped) > 1 and _TRIMS.match(piped[-1]):
        piped.pop()
    return _ECHO.sub("", "|".join(piped)).strip()


def _bare(part: str) -> str:
    """A command without what stands before its program."""
    return _BEFORE.sub("", part.strip(), count=1)


def _is_check(part: str) -> bool:
    return bool(_CHECKS.match(part.strip()) or _CHECKS.match(_bare(part)))


@functools.lru_cache(maxsize=512)
def checks_in(command: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The programs that a command runs, each with what it looks at; nothing means everything."""
    found = []
    for part in _JOINED.split(_CD.sub("", command, count=1)):
        words = _bare(part).split()
        if words and _is_check(part):
            told = (word for word in words[1:] if word not in _EVERYTHING and not _COSMETIC.fullmatch(word))
            found.append((words[0], frozenset(told)))
    return tuple(found)


def covers(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Whether a check that looks at `wide` looks at all that one with `narrow` looks at."""
    return all(any(one == other or other.startswith(f"{one}/") for other in narrow) for one in wide)
