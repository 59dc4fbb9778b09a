"""Repair the file of facts without losing anything: conflict markers, digests, doubled lines.

Every other line keeps its place and its bytes.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from quire.files.jsonc_edit import set_member
from quire.files.paths import read_bytes, read_inside
from quire.files.transaction import FileUpdate, update_of
from quire.layers.facts.layout import FILE, FILE_BYTES, FOLDER, PATH
from quire.layers.facts.lines import doubled_lines, is_mark, read_lines
from quire.layers.facts.store import ATTRIBUTES, with_attribute
from quire.model.records import Problem, RepairStep

_BEGIN, _BASE, _MIDDLE, _END = b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"


def plan_fact_repair(
    root: str, problems: Iterable[Problem], untouched: Collection[str] = ()
) -> tuple[list[RepairStep], list[FileUpdate]]:
    """Which of these problems can be repaired, and the changes that do it, below the memory's folder."""
    wanted = [problem for problem in problems if problem.path == PATH]
    fixes: list[RepairStep] = []
    changes: list[FileUpdate] = []
    if any(problem.code == "MergeAttributeMissing" for problem in wanted):
        changes += _attribute(root, fixes)
    if FILE in untouched or not any(problem.code in _LINES for problem in wanted):
        return fixes, changes
    try:
        data = read_inside(root, PATH, FILE_BYTES)
    except OSError:
        return fixes, changes
    lines = data.split(b"\n")
    gone, fresh = set[int](), dict[int, bytes]()
    marks = set(_whole_conflicts(lines))
    for problem in wanted:
        said = _repaired(problem, lines, marks, gone, fresh)
        if said:
            fixes.append(RepairStep(code=problem.code, path=PATH, line=problem.line, field=problem.field, message=said))
    after = b"\n".join(fresh.get(number, line) for number, line in enumerate(lines, start=1) if number not in gone)
    if after != data:
        changes.append(update_of(FILE, data, after))
    return fixes, changes


_LINES = ("ConflictMarker", "HashMismatch", "LineTwice")


def _repaired(problem: Problem, lines: list[bytes], marks: set[int], gone: set[int], fresh: dict[int, bytes]) -> str:
    number = problem.line or 0
    if problem.code == "ConflictMarker" and number in marks:
        gone.add(number)
        return "The mark is removed; the lines of both sides stay."
    if problem.code == "LineTwice":
        gone.update(doubled_lines(lines))
        return "Of duplicate lines the first one stays."
    if problem.code == "HashMismatch" and 0 < number <= len(lines):
        line = lines[number - 1]
        facts = read_lines(line).facts
        if len(facts) != 1:
            return ""
        try:
            text = set_member(line.decode("utf-8"), ["content_hash"], facts[0].content_hash)
        except ValueError:
            return ""
        fresh[number] = text.encode("utf-8")
        return "The digest is recomputed from the content."
    return ""


def _whole_conflicts(lines: list[bytes]) -> Iterator[int]:
    """The numbers of the marks around records alone; with the lines that both sides began with, a person decides."""
    marks: list[int] = []
    expected = [_BEGIN, _MIDDLE, _END]
    is_whole = True
    for number, line in enumerate(lines, start=1):
        if is_mark(line):
            kind = line.lstrip(b"\xef\xbb\xbf")[:7]
            if kind == _BEGIN:
                marks, is_whole = [], True
            is_whole = is_whole and len(marks) < len(expected) and kind == expected[len(marks)]
            marks.append(number)
            if kind == _END:
                if is_whole and len(marks) == len(expected):
                    yield from marks
                marks, is_whole = [], True
        elif marks and read_lines(line).aside:
            is_whole = False


def _attribute(root: str, fixes: list[RepairStep]) -> list[FileUpdate]:
    try:
        data = read_bytes(os.path.join(root, FOLDER, ATTRIBUTES))
    except FileNotFoundError:
        data = None
    except OSError:
        return []
    after = with_attribute(data or b"")
    if after == data:
        return []  # what git goes by stands elsewhere
    said = f"{FOLDER}/{ATTRIBUTES} has git merge the file line by line."
    fixes.append(RepairStep(code="MergeAttributeMissing", path=PATH, message=said))
    return [update_of(ATTRIBUTES, data, after)]


def rehash_facts(before: bytes, after: bytes) -> bytes:
    """The file of facts, line by line."""
    if before.count(b"\n") != after.count(b"\n"):
        return after
    pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=True)
    return b"\n".join(now if was == now else _rehashed(was, now) for was, now in pairs)


def _rehashed(before: bytes, after: bytes) -> bytes:
    was, now = read_lines(before), read_lines(after)
    if len(was.facts) != 1 or len(now.facts) != 1 or was.problems:
        return after
    try:
        return set_member(after.decode("utf-8"), ["content_hash"], now.facts[0].content_hash).encode("utf-8")
    except ValueError:
        return after
