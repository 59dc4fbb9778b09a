"""Merge the text of a node by paragraphs.

A paragraph that both sides changed stands in the text in all its versions, between marks that a reader of Markdown does
not see. Paragraphs that both added at one place are kept; two blank lines stand between those of different branches, so
that a third branch finds them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

_BEGIN = "<!-- memory:contested -->"
_OR = "<!-- memory:or -->"
_REMOVED = "<!-- memory:removed -->"
_END = "<!-- memory:end -->"
_BLOCKS = re.compile(rf"^{_BEGIN}\n(.*?)\n{_END}$", re.M | re.S)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")

Versions = frozenset[str]
"""What a paragraph says, by all branches; an empty text where it was removed."""
Run = tuple[Versions, ...]
"""Paragraphs that a branch added one after the other."""
_NOTHING: Versions = frozenset({""})
_ALIKE = 0.4
"""From which share of common words on a paragraph counts as a changed one."""


class TextBlock(msgspec.Struct, frozen=True):
    """A paragraph, or one of several versions of it."""

    versions: Versions
    apart: bool = False
    """Whether two blank lines stand before it."""


class _Change(msgspec.Struct):
    """What one side did to the blocks of the base."""

    kept: list[Versions]
    added: list[set[Run]]
    """The runs of blocks before each block of the base, and after the last."""


def merge_bodies(base: str | None, ours: str, theirs: str) -> str:
    """The one text. The same for all orders of branches, as far as their paragraphs can be distinguished."""
    if ours == theirs or base == theirs:
        return ours
    if base == ours:
        return theirs
    if base is None:
        return _block_text(sorted(_whole(ours) | _whole(theirs))) + "\n"
    before = blocks_of(base)
    was = [block.versions for block in before]
    mine, yours = (_change(was, blocks_of(side)) for side in (ours, theirs))
    found: list[TextBlock] = []
    pending: set[Run] = set()
    runs = _placed(mine.added, yours.added)
    alone = True
    for number in range(len(was) + 1):
        pending |= runs.get(number, set())
        versions = _merged(was[number], mine.kept[number], yours.kept[number]) if number < len(was) else frozenset()
        if versions == _NOTHING:
            alone = False
            continue
        found += _added(pending, apart=not alone)
        if versions:
            found.append(TextBlock(versions, before[number].apart))
        alone = number < len(was) and versions == was[number]
        pending = set()
    end = "\n" if ours.endswith("\n") and theirs.endswith("\n") else ""
    return _written(found) + end


def contested_blocks(text: str) -> list[tuple[str, ...]]:
    """The versions of each contested paragraph, in a fixed order; empty where a branch removed it."""
    return [tuple(sorted(block.versions)) for block in blocks_of(text) if len(block.versions) > 1]


def readings(text: str) -> tuple[str, ...]:
    """The texts that a contested one may be: with the first versions, the second ones and so on."""
    most = max(map(len, contested_blocks(text)), default=0)

    def reading(number: int) -> str:
        # Of a paragraph with fewer versions, the last ones stand with the last ones of others.
        return _settled(text, lambda versions: sorted(versions)[max(number - (most - len(versions)), 0)])

    return tuple(map(reading, range(most)))


def chosen(text: str, side: str) -> str:
    """A contested text with the versions of each paragraph that another text has; the last ones where it has none."""
    theirs = {version for block in blocks_of(side) for version in block.versions} | {side.strip("\n")}

    def choice(versions: Versions) -> str:
        known = sorted(version for version in versions if version in theirs)
        return (known or [""] if "" in versions else known or sorted(versions))[-1]

    return _settled(text, choice)


def both(text: str) -> str:
    """A contested text with all versions of each paragraph, one after the other."""
    return _settled(text, lambda versions: "\n\n".join(sorted(filter(None, versions))))


def _settled(text: str, choice: Callable[[Versions], str]) -> str:
    found = []
    for block in blocks_of(text):
        version = choice(block.versions) if len(block.versions) > 1 else next(iter(block.versions))
        if version:
            found.append(TextBlock(frozenset({version}), block.apart))
    return _written(found) + ("\n" if text.endswith("\n") else "")


def blocks_of(text: str) -> list[TextBlock]:
    """The paragraphs of a text; fenced code is one, and so is what is contested."""
    found: list[TextBlock] = []
    at = 0
    for match in _BLOCKS.finditer(text):
        found += _paragraphs(text[at : match.start()])
        found.append(TextBlock(frozenset(_versions(match.group(1)))))
        at = match.end() + 1
    return [*found, *_paragraphs(text[at:])]


def _versions(inner: str) -> Iterator[str]:
    for part in re.split(rf"^{_OR}$", inner, flags=re.M):
        yield "" if part.strip() == _REMOVED else part.strip("\n")


def _paragraphs(text: str) -> Iterator[TextBlock]:
    lines: list[str] = []
    fence, blanks = "", 0
    for line in [*text.split("\n"), ""]:
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        if line.strip() or fence:
            lines.append(line)
            continue
        if lines:
            yield TextBlock(frozenset({"\n".join(lines)}), apart=blanks > 1)
            lines, blanks = [], 0
        blanks += 1
    if lines:
        yield TextBlock(frozenset({"\n".join(lines)}), apart=blanks > 1)


def _whole(text: str) -> Versions:
    """The versions of a text without a base: as a whole, or as it was contested before."""
    blocks = blocks_of(text)
    if len(blocks) == 1:
        return blocks[0].versions
    return frozenset(readings(text) or {text.strip("\n")})


def _change(base: Sequence[Versions], blocks: Sequence[TextBlock]) -> _Change:
    from difflib import SequenceMatcher

    change = _Change(kept=list(base), added=[set() for _ in range(len(base) + 1)])
    versions = [block.versions for block in blocks]
    for how, start, end, first, last in SequenceMatcher(None, list(base), versions, autojunk=False).get_opcodes():
        if how == "equal":
            continue
        fits = _fitting(base[start:end], blocks[first:last])
        change.kept[start:end] = [_NOTHING] * (end - start)
        run: list[Versions] = []
        for number, block in enumerate(blocks[first:last]):
            # Where something beside it was removed, what was added comes after that.
            place = min((start + old for new, old in fits.items() if new >= number), default=end)
            if number in fits or block.apart:
                _close(change, place, run)
            if number in fits:
                change.kept[place] = block.versions
            else:
                run.append(block.versions)
        _close(change, end, run)
    return change


def _close(change: _Change, place: int, run: list[Versions]) -> None:
    if run:
        change.added[place].add(tuple(run))
        run.clear()


def _fitting(old: Sequence[Versions], new: Sequence[TextBlock]) -> dict[int, int]:
    """Which new block is which old one, changed: those that are alike, and between them what is left, by turn."""
    rated = [
        (_likeness(block.versions, versions), -number, -place)
        for number, block in enumerate(new)
        for place, versions in enumerate(old)
    ]
    found: dict[int, int] = {}
    for likeness, number, place in sorted(rated, reverse=True):
        if likeness > _ALIKE and _keeps_order(found, -number, -place):
            found[-number] = -place
    for number, block in enumerate(new):
        if number in found or block.apart or (number and number - 1 not in found):
            continue
        place = found[number - 1] + 1 if number else 0
        if place < len(old) and _keeps_order(found, number, place):
            found[number] = place
    return found


def _keeps_order(found: dict[int, int], number: int, place: int) -> bool:
    return all((one < number) == (other < place) and one != number and other != place for one, other in found.items())


def _likeness(one: Versions, other: Versions) -> float:
    """The share of words that two paragraphs have in common."""
    pairs = [(set(a.split()), set(b.split())) for a in one for b in other]
    return max(2 * len(a & b) / max(len(a) + len(b), 1) for a, b in pairs)


def _merged(base: Versions, ours: Versions, theirs: Versions) -> Versions:
    kept = frozenset(item for item in ours | theirs if (item in ours and item in theirs) or item not in base)
    return kept or ours | theirs


def _placed(ours: Sequence[set[Run]], theirs: Sequence[set[Run]]) -> dict[int, set[Run]]:
    """The runs that either side added, each at one place: the last one where the sides see it at two."""
    last = {run: place for place in range(len(ours)) for run in ours[place] | theirs[place]}
    found: dict[int, set[Run]] = {}
    for run, place in last.items():
        found.setdefault(place, set()).add(run)
    return found


def _added(runs: set[Run], *, apart: bool) -> Iterator[TextBlock]:
    """Runs of paragraphs in a fixed order, each by itself; `apart` where they could be taken for what was there."""
    for number, run in enumerate(sorted(runs, key=lambda run: [sorted(versions) for versions in run])):
        for place, versions in enumerate(run):
            yield TextBlock(versions, apart=place == 0 and (number > 0 or apart))


def _written(blocks: Sequence[TextBlock]) -> str:
    parts = []
    for number, block in enumerate(blocks):
        parts.append("\n\n" if block.apart else "\n" if number else "")
        parts.append("\n" if number else "")
        parts.append(_block_text(sorted(block.versions)))
    return "".join(parts)


def _block_text(versions: Sequence[str]) -> str:
    if len(versions) == 1:
        return versions[0]
    inner = f"\n{_OR}\n".join(version or _REMOVED for version in versions)
    return f"{_BEGIN}\n{inner}\n{_END}"
