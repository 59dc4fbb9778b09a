"""How a check ended: passed or failed, and the counts that its output gives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from quire.capture.signals.cues import pattern, patterns

OUTPUT_CHARS = 8_000
_NAMES = {
    "failed": ("fail",),
    "errors": ("error",),
    "issues": ("issue", "problem", "offense"),
    "passed": ("pass",),
    "tests": ("test", "example", "check", "scenario", "spec", "run"),
    "skipped": ("skipped", "ignored", "pending"),
}
"""What is counted, in the order in which it is shown, and how words for it begin."""
_FAILURE, _FAILED_COMPILATION, _TAP = (pattern(name, re.M) for name in ("failure", "failed_compilation", "tap"))
_KEYED, _KEYED_LINE = pattern("name_then_number"), pattern("names_and_numbers")
_COUNTS, _TESTS_LINE = pattern("number_then_name", re.I), pattern("tests_line")
_TOLD_PASSED, _TOLD_FAILED = pattern("told_passed", re.I), pattern("told_failed", re.I)
_FAILED, _PASSED, _NONE_FAILED = (pattern(f"says_{name}", re.I) for name in ("failed", "passed", "none_failed"))


class Outcome(Struct, frozen=True):
    """`passed` or `failed`, with counts such as `2 failed, 39 passed`."""

    passed: bool
    counts: str = ""

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        return f"{verdict} ({self.counts})" if self.counts else verdict


def outcome_of(output: str, *, failed: bool) -> Outcome:
    """What the output of a check says, and what its exit said."""
    if len(output) > OUTPUT_CHARS:
        output = output[: OUTPUT_CHARS // 2] + "\n" + output[-OUTPUT_CHARS // 2 :]
    counts = _counts(output)
    bad = counts.get("failed", 0) + counts.get("errors", 0) + counts.get("issues", 0)
    passed = not failed and not bad and (bool(counts) or not _FAILURE.search(output))
    return Outcome(passed, _shown(counts))


def _shown(counts: dict[str, int]) -> str:
    if "of" in counts:
        return f"{counts['failed']} of {counts['of']} failed" if counts["failed"] else f"{counts['of']} tests"
    shown = {name: counts[name] for name in _NAMES if counts.get(name)}
    if "passed" in shown:
        shown.pop("tests", None)
    one = {"errors": "error", "issues": "issue"}
    return ", ".join(f"{count} {one.get(name, name) if count == 1 else name}" for name, count in shown.items())


def _counts(output: str) -> dict[str, int]:
    for tool, counted in patterns("counts").items():
        rows = [{name: int(value) for name, value in row.groupdict("0").items()} for row in counted.finditer(output)]
        if rows:
            # Cargo gives a result for each of its parts; of others the last one holds.
            return {name: sum(row[name] for row in rows) for name in rows[0]} if tool == "cargo" else rows[-1]
    counts = _named(reversed(_TAP.findall(output)))
    if "passed" in counts:
        return counts
    lines = output.split("\n")
    keyed = _named(next((_KEYED.findall(line) for line in reversed(lines) if _KEYED_LINE.search(line)), []))
    if len(keyed) > 1:
        return keyed
    # The last line that counts something: `1 failed, 40 passed`, `Found 3 errors`, `0 issues`.
    summed = [line for line in lines if _COUNTS.search(line)]
    if summed:
        line = ([line for line in summed if _TESTS_LINE.search(line)] or summed)[-1]
        return _named((name, value) for value, name in _COUNTS.findall(line))
    problems = len(_FAILED_COMPILATION.findall(output))
    return {"errors": problems} if problems else {}


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
