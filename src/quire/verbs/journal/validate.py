"""`memory journal validate`, the tool `memory_validate`: check the journal's files."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from quire.layers.journal.store import commit
from quire.model.records import Problem
from quire.project import Project
from quire.verbs.journal.journal_lines import for_people, short
from quire.verbs.journal.journal_state import journal_locked, read_journal, write_due_pages
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Style, Tool, Verb

_LEVELS = {"pass": "pass", "warning": "warn", "error": "fail"}
"""How the journal calls the severities of what it found."""
_STYLES: dict[str, Style] = {"warn": "yellow", "fail": "red"}
_STATE_MISSING = "state:missing"
_LISTED = 100


class JournalValidate(Arguments, frozen=True, kw_only=True):
    repair: Annotated[
        bool, Option(also=("--mend",), help="Repair what can be repaired without losing anything.", tool=False)
    ] = False
    needs_state: bool = False
    """Whether it is an error that there is no journal."""


class JournalValidated(Result, kw_only=True):
    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("repair",)
    findings: list[dict[str, Any]]
    passed: int
    warned: int
    failed: int
    repaired: list[str] = []
    repair: bool = False

    def exit_code(self) -> int:
        return 1 if self.failed else 0

    def of_level(self, level: str) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if finding["level"] == level]

    def fault_fields(self, most: int) -> list[dict[str, Any]]:
        """The worst findings in the form that other programs know."""
        return [_fault_fields(finding) for finding in (*self.of_level("fail"), *self.of_level("warn"))[:most]]

    def tool_fields(self) -> dict[str, Any]:
        more = self.failed + self.warned - _LISTED
        return {
            "failCount": self.failed,
            "warnCount": self.warned,
            "passCount": self.passed,
            "findings": self.fault_fields(_LISTED),
            **({"more": more} if more > 0 else {}),
        }


def _fault_fields(finding: dict[str, Any]) -> dict[str, Any]:
    place = {name: finding[name] for name in ("path", "line", "hint") if finding[name]}
    return {"status": finding["level"], "code": finding["code"], "message": short(finding["message"]), **place}


def journal_validate(project: Project, given: JournalValidate) -> JournalValidated:
    """Check the journal's files for faults.

    The exit code is 1 if something fails, 0 with warnings only. --repair corrects counts, hashes, duplicate ids, merge
    conflict marks and edited pages, and loses nothing.
    """
    from quire.layers.journal.checks.journal import check_journal

    project.recover()
    repaired = _repair(project) if given.repair else []
    found = project.in_one_state(lambda: check_journal(project.root, project.world.now(), home=project.world.home))
    if given.needs_state and any(problem.code == _STATE_MISSING for problem in found):
        read_journal(project)  # which says what is missing, and what to do
    findings = [_finding(problem) for problem in found]
    levels = [finding["level"] for finding in findings]
    return JournalValidated(
        findings=findings,
        passed=levels.count("pass"),
        warned=levels.count("warn"),
        failed=levels.count("fail"),
        repaired=repaired,
        repair=given.repair,
    )


def _finding(problem: Problem) -> dict[str, Any]:
    names = ("code", "message", "path", "line", "hint")
    return {"level": _LEVELS[problem.severity], **{name: getattr(problem, name) for name in names}}


def _repair(project: Project) -> list[str]:
    from quire.layers.journal.repair import plan_journal_repair

    with journal_locked(project, "repair the journal"):
        repairing = plan_journal_repair(project.root, project.world.now())
        if repairing.journal is not None and repairing.said:
            commit(repairing.journal, repairing.writing, project.world)
            write_due_pages(project)
    return repairing.said


def lines(found: JournalValidated) -> Lines:
    for text in found.repaired:
        yield f"REPAIRED {text}"
    if found.repair:
        yield from [] if found.repaired else ["Nothing to repair."]
        yield ""
    for finding in found.findings:
        level = finding["level"]
        text = f"{level.upper()} {finding['code']}: {finding['message']}"
        if level == "pass":
            yield for_people(text)
            continue
        yield Recalled(text=text, origin="journal", style=_STYLES[level])
        if finding["hint"]:
            yield f"     {finding['hint']}"
    yield ""
    yield f"Summary: {found.passed} passed, {found.warned} warnings, {found.failed} failed."


VERB = Verb(
    takes=JournalValidate,
    run=journal_validate,
    lines=lines,
    examples="Examples:\n  memory journal validate\n  memory journal validate --repair\n",
    tool=Tool(
        title="Faults of the journal",
        says="Faults in the journal's files, each with what to do. Use it when memory_assess reports a failure. "
        "Repairs nothing. For other layers use check_memory.",
        gives={"failCount": "integer", "warnCount": "integer", "passCount": "integer", "findings": "array"},
        given={"needs_state": True},
    ),
)
