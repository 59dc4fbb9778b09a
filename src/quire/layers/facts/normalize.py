"""Rewrite the file of facts in normal form, merge another file into it, report its state."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.guard.admission import stored_secrets
from quire.layers.facts.checks import told_texts
from quire.layers.facts.layout import FILE, FOLDER
from quire.layers.facts.lines import encode_record, read_lines
from quire.layers.facts.resolve import Resolved, canonical, resolve_reading
from quire.layers.facts.types import Mind, Stored, name_of
from quire.layers.facts.winners import settle
from quire.model.records import Problem
from quire.model.text import cut

_DIFF_LINES = 200
_DIFF_CHARS = 200
_COMPARED_LINES = 20_000
"""Comparing more takes longer than reading them would."""


class Normal(msgspec.Struct, frozen=True, kw_only=True):
    """The normal form of a file, and what is different about it."""

    data: bytes
    lines_before: int
    lines_after: int
    resolved: Resolved
    diff: str
    """How the change begins."""


class TakenIn(msgspec.Struct, frozen=True, kw_only=True):
    """A file with the lines of another one that it did not have."""

    data: bytes
    lines: int
    added: int
    refused: int
    set_aside: int
    problems: list[Problem]


class FileState(msgspec.Struct, frozen=True, kw_only=True):
    """How a file of facts is, beyond what it says."""

    lines: int
    bad_lines: int
    duplicates: int
    """Lines that say nothing that others do not say."""
    conflicts: int
    """Things of which two lines of the same version say different things."""
    contradictions: int
    parked: int
    markers: int
    """Marks of a merge conflict."""
    active: int

    @property
    def word(self) -> str:
        if not self.lines:
            return "empty"
        if self.bad_lines or self.conflicts or self.contradictions:
            return "needs a look"
        return "to normalize" if self.duplicates or self.markers else "in order"


def normal_file(data: bytes) -> Normal:
    resolved = resolve_reading(read_lines(data, f"{FOLDER}/{FILE}"))
    normal = canonical(resolved)
    return Normal(
        data=normal,
        lines_before=_lines(data),
        lines_after=_lines(normal),
        resolved=resolved,
        diff=_diff(data, normal),
    )


def take_in(ours: bytes, theirs: bytes, source: str) -> TakenIn:
    """Every record of theirs that tells us something, but none with a credential. Doing it again adds nothing."""
    known: dict[tuple[type[Stored], str], list[Stored]] = {}
    for record in resolve_reading(read_lines(ours)).records:
        known.setdefault(_key(record), []).append(record)
    reading = read_lines(theirs, source)
    # As they wrote them, not as they hold together: a merge with git would bring the same.
    told: list[Stored] = [*reading.minds, *reading.facts, *reading.connections, *reading.episodes]
    new, refused = list[bytes](), list[Problem]()
    for record in told:
        line = encode_record(record)
        secrets = _certain_secrets(line, source)
        refused += secrets
        lines = known.setdefault(_key(record), [])
        if not secrets and _tells_more(lines, record):
            new.append(line)
            lines.append(record)
    gap = b"" if not ours or ours.endswith(b"\n") else b"\n"
    return TakenIn(
        data=ours + gap + b"".join(line + b"\n" for line in new) if new else ours,
        lines=len(told),
        added=len(new),
        refused=len(refused),
        set_aside=len(reading.aside),
        problems=[*(problem for problem in reading.problems if problem.severity == "error"), *refused],
    )


def _key(record: Stored) -> tuple[type[Stored], str]:
    return type(record), name_of(record)


def _tells_more(known: list[Any], record: Any) -> bool:
    """Whether anything about a thing is different with this line than without it."""
    if not known:
        return True
    before, after = (_settled(lines) for lines in (known, [*known, record]))
    return before != after


def _settled(records: list[Any]) -> list[bytes]:
    winners, conflicts = settle(records)
    lines = [*winners.values(), *(loser for conflict in conflicts.values() for loser in conflict.losers)]
    return sorted(map(encode_record, lines))


def _certain_secrets(line: bytes, source: str) -> list[Problem]:
    """What keeps a line out: a credential that would reach the repository with it."""
    if not stored_secrets(source, line.decode()):
        return []
    texts = told_texts(read_lines(line))
    found = [problem for text in texts for problem in stored_secrets(source, text) if problem.severity == "error"]
    return [msgspec.structs.replace(found[0], line=None)] if found else []


def file_state(data: bytes) -> FileState:
    reading = read_lines(data)
    resolved = resolve_reading(reading)
    return FileState(
        lines=_lines(data),
        bad_lines=len(reading.aside),
        duplicates=len(reading.records) - len(resolved.records),
        conflicts=sum(conflict.is_tie for conflict in resolved.conflicts),
        contradictions=len(resolved.contradictions),
        parked=len(resolved.parked),
        markers=sum(problem.code == "ConflictMarker" for problem in reading.problems),
        active=sum(fact.is_active for fact in resolved.facts.values()),
    )


def changed_ids(before: bytes, after: bytes) -> list[str]:
    """The ids of what two versions of the file tell differently; an order of lines says nothing."""
    found: set[str] = set()
    old, new = ({line.strip() for line in data.split(b"\n") if line.strip()} for data in (before, after))
    for line in old ^ new:
        found |= {record.id for record in read_lines(line).records if not isinstance(record, Mind)}
    return sorted(found)


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))


def _diff(before: bytes, after: bytes) -> str:
    from difflib import unified_diff

    if before == after or _lines(before) + _lines(after) > _COMPARED_LINES:
        return ""
    old, new = (data.decode("utf-8", "replace").removesuffix("\n").split("\n") for data in (before, after))
    found = list(unified_diff(old, new, FILE, FILE, lineterm="", n=0))
    return "\n".join(cut(line, _DIFF_CHARS) for line in found[:_DIFF_LINES])
