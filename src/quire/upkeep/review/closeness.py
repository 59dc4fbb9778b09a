"""Tell whether changed lines concern a record, where its anchor holds much more than they are.

A definition that fits on a screen is what its record is about. Of a file, a folder or a long class most lines are not:
there, a change concerns the record if its lines, or those that enclose them, share a word with it that is rare there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from quire.anchors.tree_change import ChangedPart
from quire.index.text_analysis import question_words
from quire.model.records import Record

_SCREEN = 60
_RARE = 0.02
_FEW = 3
_STEM = 5
_SHORTEST = 3
_UPWARDS = 400
_LONGEST = 400
_WORDS = 100_000


def concerns(record: Record, parts: Sequence[ChangedPart]) -> bool:
    """Whether what changed in an anchor has to do with the record."""
    size = sum(max(len(part.old), len(part.new)) for part in parts)
    if not parts or (size <= _SCREEN and all(part.is_symbol for part in parts)):
        return True
    said = _stems(" ".join((record.title, record.text, *record.tags)))
    told = "\n".join(line for part in parts for line in _changed_lines(part))
    shared = said & _stems(told)
    if not shared:
        return False
    lines = [line.lower() for part in parts for line in _decoded(part.new or part.old)]
    most = max(_FEW, int(len(lines) * _RARE))
    return any(sum(stem in line for line in lines) <= most for stem in shared)


def _changed_lines(part: ChangedPart) -> Iterator[str]:
    """The lines that one side has and the other has not, with those that enclose them."""
    for lines, others in ((part.old, part.new), (part.new, part.old)):
        left = Counter(others)
        found = set[int]()
        for at, line in enumerate(lines):
            if left[line] > 0:
                left[line] -= 1
            elif line.strip():
                found.update((at, *_enclosing(lines, at)))
        yield from _decoded(lines[at] for at in sorted(found))


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
    return {word[:_STEM] for word in question_words(text, _WORDS) if len(word) >= _SHORTEST and not word.isdigit()}
