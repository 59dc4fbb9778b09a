"""How a check ended: passed or failed, and the counts that its output gives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from quire.capture.signals.cues import pattern, patterns

OUTPUT_CHARS = 8_000
_SHOWN_CHARS, _SUMMED, _LAST = 80, 4, 2
"""So much of a line that counts is shown; where nobody knows what is counted, one of the last lines must be it."""
_NAMES = {
    "failed": ("fail",),
    "errors": ("error",),
    "issues": ("issue", "problem", "offense"),
    "passed": ("pass", "succeeded"),
    "tests": ("test", "example", "check", "scenario", "spec", "run"),
    "skipped": ("skipped", "ignored", "pending"),
}
"""What is counted, in the order in which it is shown, and how words for it begin."""
_FAILURE, _FAILED_COMPILATION, _TAP = (pattern(name, re.M) for name in ("failure", "failed_compilation", "tap"))
_KEYED, _KEYED_LINE = pattern("name_then_number", re.I), pattern("names_and_numbers", re.I)
_COUNTS, _TESTS_LINE = pattern("number_then_name", re.I), pattern("tests_line")
_COUNTING, _TOOK = pattern("counting", re.I), pattern("took", re.I)
_TOLD_PASSED, _TOLD_FAILED = pattern("told_passed", re.I), pattern("told_failed", re.I)
_FAILED, _PASSED, _NONE_FAILED = (pattern(f"says_{name}", re.I) for name in ("failed", "passed", "none_failed"))


class Outcome(Struct, frozen=True):
    """`passed` or `failed`, with counts such as `2 failed, 39 passed`."""

    passed: bool
    counts: str = ""

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        return f"{verdict} ({self.counts})" if self.counts else verdict


def outcome_of(output: str, *, failed: bool, run: int = 1) -> list[Outcome]:
    """How the checks of one line ended, by what their output says and what their exit said; one where they failed.

    Where several ran, each has the counts of its own where the output gives as many; else the last has them.
    """
    if len(output) > OUTPUT_CHARS:
        output = output[: OUTPUT_CHARS // 2] + "\n" + output[-OUTPUT_CHARS // 2 :]
    counts, shown = _counts(output)
    # `1 problem (0 errors, 1 warning)` is no failure.
    bad = counts.get("failed", 0) + counts.get("errors", counts.get("issues", 0))
    passed = not failed and not bad and (bool(counts) or not _FAILURE.search(output))
    if not passed or run == 1:
        return [Outcome(passed, shown)]
    lines = [_told_by(line) for line in output.split("\n") if _of_line(line)]
    return [Outcome(True, text) for text in (lines if len(lines) == run else [*[""] * (run - 1), shown])]


def _shown(counts: dict[str, int]) -> str:
    if "of" in counts:
        return f"{counts['failed']} of {counts['of']} failed" if counts["failed"] else f"{counts['of']} tests"
    shown = {name: counts[name] for name in _NAMES if counts.get(name)}
    if "passed" in shown:
        shown.pop("tests", None)
    one = {"errors": "error", "issues": "issue"}
    return ", ".join(f"{count} {one.get(name, name) if count == 1 else name}" for name, count in shown.items())


def _counts(output: str) -> tuple[dict[str, int], str]:
    """What the output counts, and how that is written down: as it is in the last line that counts something."""
    for tool, counted in patterns("counts").items():
        rows = [{name: int(value) for name, value in row.groupdict("0").items()} for row in counted.finditer(output)]
        if rows:
            # Cargo gives a result for each of its parts; of others the last one holds.
            found = {name: sum(row[name] for row in rows) for name in rows[0]} if tool == "cargo" else rows[-1]
            return found, _shown(found)
    counts = _named(reversed(_TAP.findall(output)))
    if "passed" in counts:
        return counts, _shown(counts)
    # The last lines that count something: `1 failed, 40 passed`, `Found 3 errors`, `0 issues`.
    lines, counts, told = output.rstrip().split("\n"), {}, list[str]()
    summed = [line for line in lines if _of_line(line)]
    for line in reversed([line for line in summed if _TESTS_LINE.search(line)][-1:] or summed[-_SUMMED:]):
        own = _of_line(line)
        # Lines that count one thing each are a summary together.
        if told and (len(own) > 1 or own.keys() <= counts.keys() or len(counts) > len(told)):
            break
        counts, told = {**own, **counts}, [_told_by(line), *told]
    if counts:
        return counts, ", ".join(filter(None, told))
    problems = len(_FAILED_COMPILATION.findall(output))
    if problems:
        return {"errors": problems}, _shown({"errors": problems})
    return {}, next(filter(None, map(_told_by, lines[: -_LAST - 1 : -1])), "")


def _of_line(line: str) -> dict[str, int]:
    keyed = _KEYED.findall(line) if _KEYED_LINE.search(line) else []
    return _named([*((name, value) for value, name in _COUNTS.findall(line)), *keyed])


def _told_by(line: str) -> str:
    """What a line counts, in its own words: without what it begins with, and without how long it took."""
    found = _COUNTING.search(line)
    shown = " ".join(line[found.start() : found.start() + 2 * _SHOWN_CHARS].split()) if found else ""
    told = _TOOK.sub("", shown)[:_SHOWN_CHARS]
    return told.rstrip(" .,;:=─-" if told.count("(") == told.count(")") else " .,;:=─-()")


def _named(found: Iterable[tuple[str, str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word, number in found:
        name = next(name for name, begins in _NAMES.items() if word.lower().startswith(begins))
        counts.setdefault(name, int(number))
    return counts


def told(text: str) -> Outcome | None:
    """How something ended, with the counts, as someone tells it in words: `all 12 tests pass`."""
    has_failed, none_failed = bool(_FAILED.search(text)), bool(_NONE_FAILED.search(text))
    if not has_failed and not none_failed and not _PASSED.search(text):
        return None
    passed = none_failed or not has_failed
    found = (_TOLD_PASSED if passed else _TOLD_FAILED).search(text)
    return Outcome(passed, "" if not found else f"{found[1]} {'passed' if passed else found[2]}")
