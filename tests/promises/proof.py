"""What a long run tried for each promise, added up: the results that are kept, and the table in the published page.

`make proof` runs it: `python tests/promises/proof.py TALLY COMMAND`, where TALLY is what the tests wrote.
"""

from __future__ import annotations

import json
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from marks import TESTS, Mark, read_marks

sys.path.insert(0, str(TESTS))

from promised import CASES, PROMISES

PAGE = TESTS.parent / "docs" / "concepts" / "promises.md"
RESULTS = TESTS.parent / "benchmarks" / "results" / "promises.json"
TRIED = ("states", "faults", "processes", "inputs")
COLUMNS = ("cases", "tests", *TRIED, "fixed", "left")
BEGIN, END = "<!-- what was tried: begin -->\n", "<!-- what was tried: end -->\n"

__all__ = ["COLUMNS", "PAGE", "RESULTS", "cases_of", "failures_fixed", "table"]


def cases_of(promise: str) -> int:
    """How many cases a promise is tried by; one may stand for two promises."""
    return sum(any(_is_of(clause, promise) for clause in case.clauses.split()) for case in CASES.values())


def failures_fixed(marks: list[Mark], promise: str) -> int:
    """How many failures tests of this promise were written for."""
    return len({mark.found for mark in marks if mark.found and _is_of(mark.clause, promise)})


def table(results: dict[str, Any]) -> str:
    """The table of the page, after a line that names the command that counted."""
    titles = ("Promise", "Cases", "Tests", "States explored", "Faults injected", "Processes", "Inputs tried")
    head = " | ".join((*titles, "Failures found and fixed", "Failures left"))
    counted = f"Counted in one run of `{results['command']}` on {results['system']}, Python {results['python']}.\n\n"
    lines = [counted, f"| {head} |\n", "|---|" + "---:|" * len(COLUMNS) + "\n"]
    for name, row in results["promises"].items():
        heading = f"{name}. {PROMISES[name]}"
        anchor = "".join(sign for sign in heading.lower().replace(" ", "-") if sign.isalnum() or sign in "-_")
        cells = [f"{row[key]:,}" if row[key] or key not in TRIED else "–" for key in COLUMNS]
        lines.append(f"| [{name}](#{anchor}) | {' | '.join(cells)} |\n")
    return "".join(lines)


def add_up(lines: list[dict[str, Any]], marks: list[Mark]) -> dict[str, dict[str, int]]:
    """The rows of the table. What a test proves twice counts once for each promise."""
    rows: dict[str, dict[str, int]] = {}
    for promise in PROMISES:
        tried: Counter[str] = Counter()
        tests = {line["test"]: line["outcome"] for line in lines if "test" in line and _proves(line, promise)}
        for line in lines:
            if "clause" in line and _is_of(line["clause"], promise):
                tried.update({key: line[key] for key in TRIED})
        left = sum(outcome == "failed" for outcome in tests.values())
        rows[promise] = {
            "cases": cases_of(promise),
            "tests": sum(outcome == "passed" for outcome in tests.values()),
            **{key: tried[key] for key in TRIED},
            "fixed": failures_fixed(marks, promise),
            "left": left,
        }
    return rows


def _proves(line: dict[str, Any], promise: str) -> bool:
    return any(_is_of(clause, promise) for clause in line["clauses"])


def _is_of(clause: str, promise: str) -> bool:
    return clause.startswith(f"{promise}.")


def main(tally: str, command: str) -> int:
    """Write the results and the table; 1 where a failure is left."""
    text = Path(tally).read_text(encoding="utf-8")
    rows = add_up([json.loads(line) for line in text.splitlines()], read_marks())
    results = {"command": command, "python": platform.python_version(), "system": platform.system(), "promises": rows}
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table(results)}\n{END}{after}", encoding="utf-8")
    left = sum(row["left"] for row in rows.values())
    print(f"{sum(row['tests'] for row in rows.values())} proofs, {left} failures left; the table is in {PAGE.name}.")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
