"""Tell whether changed lines concern a record, where its anchor holds much more than they are.

A change is about the words that it adds or removes, and those of the lines that enclose it. It concerns a record about
a definition that fits on a screen if the record has one of them, beside the definition's own name, or if the definition
has no word of the record at all. Of a file, a folder or a long class most lines are about something else: there the
words must be rare. Where only names and types changed, the record must name what is gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from quire.anchors.tree_change import ChangedPart
from quire.index.text_analysis import question_words
from quire.model.records import Record

_SCREEN = 60
_RARE = 0.01
_FEW = 3
_ENOUGH = 2
_STEM = 5
_SHORTEST = 3
_UPWARDS = 400
_LONGEST = 400
_WORDS = 100_000
_NAME = re.compile(r"[^\W\d]\w*")
_SPOKEN = re.compile(r"[^\W\d][\w-]*")
_MEMBER = re.compile(r"\.(\w+)")
_TOKEN = re.compile(r"\w+\(?|[^\w\s]")
_OF_TYPES = frozenset(".,:;[]()<>|?*&")
_FLOW = re.compile(
    "and|async|await|break|case|catch|continue|defer|del|delete|elif|else|except|false|finally|for|go|goto|if|in|is|loop"
    "|match|new|not|or|raise|return|select|switch|throw|true|try|unless|until|while|with|yield",
    re.IGNORECASE,
)


class _Difference(msgspec.Struct, frozen=True):
    """What changed in a part, as far as its words tell."""

    gone: set[str] | None
    """Names that are gone, where names and types are all that changed."""
    told: set[str]
    """The stems of what the change is about."""
    lines: list[str]


class Closeness:
    """Compares records with the parts that changed, each of which is looked at once."""

    def __init__(self) -> None:
        self._known: dict[ChangedPart, _Difference] = {}

    def concerns(self, record: Record, parts: Sequence[ChangedPart]) -> bool:
        """Whether what changed in an anchor has to do with the record."""
        found = [self._difference(part) for part in parts]
        more = [one for one in found if one.gone is None]
        if not parts:
            return True
        text = " ".join((record.title, record.text, *record.tags))
        if not more:
            return not {name for one in found for name in one.gone or ()}.isdisjoint(_SPOKEN.findall(text))
        lines = [line for one in found for line in one.lines]
        told = {stem for one in more for stem in one.told}
        spoken = _stems(text)
        if all(part.name for part in parts) and sum(max(len(part.old), len(part.new)) for part in parts) <= _SCREEN:
            spoken -= _stems(" ".join(part.name for part in parts))  # any record about it may use those
            return not spoken.isdisjoint(told) or not any(stem in line for stem in spoken for line in lines)
        most = max(_FEW, int(len(lines) * _RARE))
        rare = {stem for stem in spoken & told if sum(stem in line for line in lines) <= most}
        return len(rare) >= _ENOUGH or bool(rare & _stems(record.title))

    def _difference(self, part: ChangedPart) -> _Difference:
        if part not in self._known:
            gone = _only_names(part)
            told = _stems("\n".join(_told(part))) if gone is None else set()
            self._known[part] = _Difference(gone, told, [line.lower() for line in _decoded(part.new or part.old)])
        return self._known[part]


def _only_names(part: ChangedPart) -> set[str] | None:
    """The names that are gone, where something was renamed or has another type, and nothing else; None where more is.

    A call of another function is more, and so is another member, unless its name differs by upper and lower case alone.
    """
    old, new = _tokens(part.old), _tokens(part.new)
    gone, come = old - new, new - old
    names = {token for token in (*gone, *come) if token not in _OF_TYPES}
    same = Counter(map(str.lower, gone.elements())) == Counter(map(str.lower, come.elements()))
    plain = all(_NAME.fullmatch(name.rstrip("(") if same else name) and not _FLOW.fullmatch(name) for name in names)
    if not same and not set(_MEMBER.findall("\n".join(_decoded(part.new)))).isdisjoint(come):
        return None
    is_new = all((name in old) != (name in new) for name in names)
    return {name.rstrip("(") for name in names & gone.keys()} if names and plain and is_new else None


def _told(part: ChangedPart) -> Iterator[str]:
    """What a change of a part is about: words that one side has more often, and what other values belong to."""
    old, new = _tokens(part.old), _tokens(part.new)
    words = (old - new) | (new - old)
    yield from words
    for lines, at in _changed_places(part):
        line = _decoded([lines[at]])
        if not words or any(token.isdigit() and token in words for token in _TOKEN.findall(line[0])):
            yield from line
    yield from _lines_around(part)


def _tokens(lines: Sequence[bytes]) -> Counter[str]:
    return Counter(_TOKEN.findall("\n".join(_decoded(lines))))


def _lines_around(part: ChangedPart) -> Iterator[str]:
    """The lines that enclose changed ones, and those that have others around them now.

    The first of a definition encloses all of it, and says nothing.
    """
    least = min((_depth(line) for line in part.new or part.old if line.strip()), default=0) if part.name else -1
    kept = {line.strip() for line in part.old} & {line.strip() for line in part.new}
    for lines, at in _changed_places(part):
        around = [lines[above] for above in _enclosing(lines, at) if _depth(lines[above]) > least]
        yield from _decoded([lines[at], *around] if lines[at].strip() in kept else around)


def _changed_places(part: ChangedPart) -> Iterator[tuple[Sequence[bytes], int]]:
    """The lines that one side has and the other has not."""
    for lines, others in ((part.old, part.new), (part.new, part.old)):
        left = Counter(others)
        for at, line in enumerate(lines):
            if left[line] > 0:
                left[line] -= 1
            elif line.strip():
                yield lines, at


def _enclosing(lines: Sequence[bytes], at: int) -> Iterator[int]:
    """The lines above that stand further left, one for each step."""
    depth = _depth(lines[at])
    for above in range(at - 1, max(-1, at - _UPWARDS), -1):
        if not depth:
            return
        if lines[above].strip() and _depth(lines[above]) < depth:
            depth = _depth(lines[above])
            yield above


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _decoded(lines: Iterable[bytes]) -> list[str]:
    return [line[:_LONGEST].decode("utf-8", "replace") for line in lines]


def _stems(text: str) -> set[str]:
    words = (word for word in question_words(text, _WORDS) if len(word) >= _SHORTEST and not word.isdigit())
    return {word[:_STEM] for word in words if not _FLOW.fullmatch(word)}
