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
_TRIMS = re.compile(r"\s*(?:tail|head|tee|cat|less|grep|rg|sed|awk|wc|sort|uniq|cut|tr)\b")
_SET = re.compile(r"(?:set -\S+|export \S+|source \S+|\. \S+)\s*(?:&&|;|\n)\s*")
_PIPE, _QUOTED = re.compile(r"(?<!\|)\|(?!\|)"), re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1.*?\n[ \t]*\2(?!\w)", re.S)
_JOINED = re.compile(r"(?<!\s)\s*(?:&&|;|\|\|)\s*")


def checks(line: str) -> list[str]:
    """The commands of a line that check the work, each as it is written down."""
    whole, found = _HEREDOC.sub("", line[:_LINE_CHARS]).replace("\\\n", " "), []
    for row in whole.strip().split("\n") if "<<" not in whole else ():
        row = _SET.sub("", row.strip())
        moved = _CD.match(row)
        folder = moved[0] if moved else ""
        parts = (_without_trimming(part) for part in _split(_JOINED, row[len(folder) :]))
        found += [" ".join(f"{folder}{part}".split())[:COMMAND_CHARS].rstrip() for part in parts if _is_check(part)]
    return found


def _split(by: re.Pattern[str], text: str) -> list[str]:
    """The parts of a text; what stands between quotes is not cut."""
    bare, start, parts = _QUOTED.sub(lambda found: "x" * len(found[0]), text), 0, []
    for found in by.finditer(bare):
        parts.append(text[start : found.start()])
        start = found.end()
    return [*parts, text[start:]]


def _without_trimming(line: str) -> str:
    """A command without what only shortens or hides its output."""
    piped = _split(_PIPE, _REDIRECTED.sub("", line))
    while len(piped) > 1 and _TRIMS.match(piped[-1]):
        piped.pop()
    return "|".join(piped).strip()


def _bare(part: str) -> str:
    """A command without what stands before its program."""
    return _BEFORE.sub("", part.strip(), count=1)


def _is_check(part: str) -> bool:
    return bool(_CHECKS.match(part.strip()) or _CHECKS.match(_bare(part)))


@functools.lru_cache(maxsize=512)
def checks_in(command: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The programs that a command runs, each with what it looks at; nothing means everything."""
    found = []
    for part in _split(_JOINED, _CD.sub("", command, count=1)):
        words = _bare(part).split()
        if words and _is_check(part):
            told = (word for word in words[1:] if word not in _EVERYTHING and not _COSMETIC.fullmatch(word))
            found.append((words[0], frozenset(told)))
    return tuple(found)


def covers(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Whether a check that looks at `wide` looks at all that one with `narrow` looks at."""
    return all(
        any(one == other or other.startswith(f"{one}/") or other.endswith(f":{one}") for other in narrow)
        for one in wide
    )
