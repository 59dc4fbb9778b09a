"""How a check ended: passed or failed, and the counts that its output gives."""

from __future__ import annotations

import re

from msgspec import Struct

OUTPUT_CHARS = 8_000

_COUNTS = re.compile(
    r"(?<![\w.-])(\d{1,7}) (failed|failures?|failing|errors?|passed|passing|pass|skipped|ignored|pending|problems?"
    r"|issues?|offenses?|tests?|examples?|checks?|scenarios?|specs?|runs?)\b",
    re.I,
)
_KEYED = re.compile(
    r"\b(Tests run|Tests|Failures|Errors|Skipped|Failed|Passed|failures|errors|skipped|pass|fail"
    r"|tests)[:=]?\s*(\d{1,7})\b"
)
_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.M)
_CTEST = re.compile(r"\d+% tests passed, (\d+) tests? failed out of (\d+)")
_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
_FLUTTER = re.compile(r"\+(\d+)(?: ~\d+)?(?: -(\d+))?: (?:All tests passed|Some tests failed)")
_PHPUNIT = re.compile(r"^OK \((\d+) tests?,", re.M)
_DBT = re.compile(r"\bPASS=(\d+) WARN=(\d+) ERROR=(\d+) SKIP=(\d+)")
_TSC = re.compile(r"\berror TS\d+:")
_FAILURE = re.compile(
    r"^(?:FAIL\b|FAILED\b(?!\s*:\s*0\b)|FAILURES!|\s*BUILD FAILED|\[ERROR\]|ERROR: |error(?:\[\w+\])?: |npm ERR!"
    r"|make: \*\*\*"
    r"|gmake: \*\*\*|--- FAIL|Error: |E   )|BUILD FAILURE|Process exited with code [1-9]|exit(?:ed with)? (?:code"
    r"|status):? [1-9]|: command not found|Traceback \(most recent call last\)",
    re.M,
)


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
    parts = []
    if "of" in counts:
        parts.append(
            f"{counts['failed']} of {counts['of']} failed" if counts.get("failed") else f"{counts['of']} tests"
        )
    else:
        if counts.get("failed"):
            parts.append(f"{counts['failed']} failed")
        if counts.get("errors"):
            parts.append(f"{counts['errors']} {'error' if counts['errors'] == 1 else 'errors'}")
        if counts.get("issues"):
            parts.append(f"{counts['issues']} {'issue' if counts['issues'] == 1 else 'issues'}")
        if counts.get("passed"):
            parts.append(f"{counts['passed']} passed")
        elif counts.get("tests"):
            parts.append(f"{counts['tests']} tests")
    if counts.get("skipped"):
        parts.append(f"{counts['skipped']} skipped")
    return ", ".join(parts)


def _counts(output: str) -> dict[str, int]:
    for read in (_cargo, _ctest, _ran, _dbt, _flutter, _php, _tap, _keyed, _summed):
        found = read(output)
        if found:
            return found
    problems = len(_TSC.findall(output))
    return {"errors": problems} if problems else {}


def _cargo(output: str) -> dict[str, int]:
    rows = _CARGO.findall(output)
    if not rows:
        return {}
    passed, failed, ignored = (sum(int(row[index]) for row in rows) for index in range(3))
    return {"passed": passed, "failed": failed, "skipped": ignored}


def _ctest(output: str) -> dict[str, int]:
    found = _CTEST.search(output)
    return {"failed": int(found[1]), "of": int(found[2])} if found else {}


def _ran(output: str) -> dict[str, int]:
    """unittest and Django: `Ran 118 tests`, then `OK (skipped=2)` or `FAILED (failures=1, errors=2)`."""
    found = _RAN.findall(output)
    if not found:
        return {}
    rest = output[output.rfind("Ran ") :]
    keyed = {key.lower(): int(value) for key, value in re.findall(r"\b(failures|errors|skipped)=(\d+)", rest)}
    return {
        "tests": int(found[-1]),
        "failed": keyed.get("failures", 0),
        "errors": keyed.get("errors", 0),
        "skipped": keyed.get("skipped", 0),
    }


def _dbt(output: str) -> dict[str, int]:
    found = _DBT.findall(output)
    if not found:
        return {}
    passed, _, errors, skipped = map(int, found[-1])
    return {"passed": passed, "errors": errors, "skipped": skipped}


def _flutter(output: str) -> dict[str, int]:
    found = list(_FLUTTER.finditer(output))
    return {"passed": int(found[-1][1]), "failed": int(found[-1][2] or 0)} if found else {}


def _php(output: str) -> dict[str, int]:
    found = _PHPUNIT.search(output)
    return {"tests": int(found[1])} if found else {}


def _tap(output: str) -> dict[str, int]:
    rows = dict(re.findall(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)", output, re.M))
    names = {"pass": "passed", "fail": "failed", "skipped": "skipped"}
    return {names[key]: int(value) for key, value in rows.items()} if "pass" in rows else {}


def _keyed(output: str) -> dict[str, int]:
    """Maven, PHPUnit, dotnet: `Tests run: 204, Failures: 0, Errors: 3, Skipped: 1`."""
    lines = [line for line in output.split("\n") if re.search(r"\b(?:Tests run|Tests|Failed|Total)[:=]\s*\d+,", line)]
    if not lines:
        return {}
    keyed = {key.lower(): int(value) for key, value in _KEYED.findall(lines[-1])}
    if len(keyed) < 2:
        return {}
    counts = {
        "tests": keyed.get("tests run", keyed.get("tests", 0)),
        "failed": keyed.get("failures", keyed.get("failed", 0)),
        "errors": keyed.get("errors", 0),
        "skipped": keyed.get("skipped", 0),
    }
    return counts | ({"passed": keyed["passed"]} if "passed" in keyed else {})


def _summed(output: str) -> dict[str, int]:
    """The last line that counts something: `1 failed, 40 passed`, `Found 3 errors`, `0 issues`."""
    lines = [line for line in output.split("\n") if _COUNTS.search(line)]
    tests = [line for line in lines if re.search(r"^\s*Tests:?\s", line)]
    for line in reversed(tests or lines):
        counts = _read_counts(line)
        if counts:
            return counts
    return {}


def _read_counts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for number, what in _COUNTS.findall(text.lower()):
        counts.setdefault(_name(what), int(number))
    return counts


def _name(what: str) -> str:
    if what.startswith("fail"):
        return "failed"
    if what.startswith("error"):
        return "errors"
    if what.startswith(("pass",)):
        return "passed"
    if what in ("skipped", "ignored", "pending"):
        return "skipped"
    return "tests" if what.startswith(("test", "example", "check", "scenario", "spec", "run")) else "issues"


def spoken_counts(text: str, *, passed: bool) -> str:
    """The counts that somebody tells in words: `all 12 tests pass`."""
    found = re.search(
        r"(?<![\w.])(\d{1,6}) (?:unit |integration |of \d+ )?(?:tests?|examples?|specs?|checks?|passing|passed"
        r"|pruebas|测试)",
        text,
        re.I,
    )
    if found and passed:
        return f"{found[1]} passed"
    issues = re.search(
        r"(?<![\w.])(\d{1,6}) (issues?|errors?|failures?|failed|failing|problems?|warnings?)\b", text, re.I
    )
    return f"{issues[1]} {issues[2]}" if issues and not passed else ""
