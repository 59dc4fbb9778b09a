"""Scan the project and make the bundle that init and update write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import msgspec

from quire.capture.repository.bundle import Validation, build_bundle
from quire.capture.repository.scan import ProjectScan, scan_repository
from quire.capture.repository.scripts import find_checks
from quire.capture.transcripts.redaction import redacted
from quire.files.programs import run_program
from quire.guard.hostile_text import make_safe
from quire.layers.journal.layout import FOLDER, LOCAL_PROVIDER, STATE
from quire.layers.journal.shapes import bundle_faults
from quire.layers.journal.state_changes import local_provider
from quire.layers.journal.types import Bundle, State
from quire.layers.journal.types import Provider as Maker
from quire.model.errors import InputError
from quire.model.text import cut, one_line
from quire.project import Project
from quire.verbs.journal.journal_lines import FileChange, cost_lines, file_diff_lines, listed, planned_lines, told
from quire.verbs.journal.journal_state import ask_model, journal_time, model_warnings, provider_name, sift_rejected
from quire.verbs.journal.model_requests import bundle_request
from quire.verbs.journal.options import Checks, DryRun, Provider, ShowDiff, Yes
from quire.verbs.verb import Arguments, Lines, Result

_VALIDATION_SECONDS = 600.0
_SUMMARY_LINES = 5


class LookAtProject(Arguments, frozen=True, kw_only=True):
    yes: Yes = False
    validate: Checks = False
    provider: Provider = None
    dry_run: DryRun = False
    show_diff: ShowDiff = False


class JournalRefreshed(Result, kw_only=True):
    """What `init` and `update` did, or would do."""

    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("shows_diff",)
    command: str
    applied: bool = False
    changed: bool = True
    """False where the memory already says all that."""
    project: str
    root: str
    signals: list[str]
    """Names of the files by which the project was recognised."""
    package_manager: str | None = None
    workspace_manager: str | None = None
    provider: str
    planned: list[FileChange] = []
    changed_sections: list[str] = []
    summary: str = ""
    """What changed, in one line."""
    validations: list[dict[str, Any]] = []
    pages_anew: bool = False
    """Whether pages were written for a memory that stays as it is."""
    checkpoint: str | None = None
    event: str | None = None
    backup: str | None = None
    """Where the earlier journal is kept, from the project's root."""
    cost_usd: float = 0.0
    shows_diff: bool = False


class NewBundle(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle of the project as it is now, who made it, and what is to be told of it."""

    bundle: Bundle
    maker: Maker
    validations: Sequence[Validation]
    result: JournalRefreshed


def look_at(
    project: Project, given: LookAtProject, former: State | None, known: Sequence[Validation] | None = None
) -> NewBundle:
    """Make a bundle of the project as it is now; what sessions told in the `former` state is kept.

    `known` is what the validation commands said a moment ago, if they are not to be run again.
    """
    provider = provider_name(given.provider)
    is_loud = known is None and (given.validate or provider != LOCAL_PROVIDER or project.by_person)
    tell = project.tell if is_loud else lambda _: None
    tell("Looking at the project")
    scan = scan_repository(project.root, project.git)
    previous = former.bundle if former else None
    teller = former.provider.name if former and former.provider.name != LOCAL_PROVIDER else ""
    runs = known is None and given.validate and not given.dry_run
    validations = _run_validations(project, scan, tell) if runs else known or ()
    bundle = build_bundle(scan, project.git, previous=previous, teller=teller, validations=validations)
    result = JournalRefreshed(
        command="init" if previous is None else "update",
        project=scan.project_name,
        root=project.root,
        signals=list(scan.project_signals),
        package_manager=scan.package_manager,
        workspace_manager=scan.workspace_manager,
        provider=provider,
        validations=[
            {"label": one.label, "command": one.command, "status": one.status, "summary": one.summary}
            for one in validations
        ],
        shows_diff=given.show_diff,
    )
    maker = local_provider()
    if provider != LOCAL_PROVIDER:
        tell(f"Asking {provider}")
        request = bundle_request(project.root, scan, bundle, previous, result.validations)
        answer = ask_model(project, request, provider)
        bundle = answer.value
        result.cost_usd = answer.cost_usd
        result.warnings += model_warnings(answer)
        maker = Maker(name=provider, binary=provider)
    bundle = sift_rejected(project, bundle, result.warnings)
    faults = bundle_faults(bundle)
    if faults:
        raise InputError(f"The proposal cannot be used: {' '.join(faults[:5])}", hint="Nothing was written.")
    return NewBundle(bundle=bundle, maker=maker, validations=validations, result=result)


def _run_validations(project: Project, scan: ProjectScan, tell: Callable[[str], None]) -> list[Validation]:
    """Run the commands that say whether the project is well: no shell, a time limit, nothing on stdin."""
    found = []
    for check in find_checks(scan):
        argv = list(check.command)
        line = " ".join(argv)
        tell(f"Running {line}")
        done = run_program(argv, cwd=project.root, env=dict(project.world.env), seconds=_VALIDATION_SECONDS)
        status = "unavailable" if done.missing else "passed" if done.code == 0 else "failed"
        said = done.missing or _last_lines(done.out) or _last_lines(done.err) or f"exit code {done.code}"
        if done.timed_out:
            said = f"Stopped after {_VALIDATION_SECONDS:.0f} seconds."
        found.append(
            Validation(label=check.label, command=line, status=status, summary=_kept(said), at=journal_time(project))
        )
    return found


def validation_commands(project: Project) -> list[str]:
    """What `--validate` would run."""
    return [" ".join(check.command) for check in find_checks(scan_repository(project.root, project.git))]


def _last_lines(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return " | ".join(lines[-_SUMMARY_LINES:])


def _kept(text: str) -> str:
    """What a command printed, as it may stand in a file that others read."""
    return cut(make_safe(redacted(text)[0]), 500) or "nothing was printed"


# -- what is reported ---------------------------------------------------------------------------------


def lines(done: JournalRefreshed) -> Lines:
    yield from look_lines(done)
    yield from plan_lines(done)
    yield ""
    yield from done_lines(done)


def look_lines(done: JournalRefreshed) -> Lines:
    """What project this is."""
    yield told(f"Project: {done.project}")
    yield told(f"Root: {done.root}")
    yield told(f"Signals: {listed(done.signals)}")
    yield told(f"Package manager: {done.package_manager or 'not detected'}")
    yield told(f"Workspace: {done.workspace_manager or 'not detected'}")
    yield told(f"Provider: {done.provider}")
    if not done.signals:
        yield "Note: no file here shows what project this is. Is this its root?"


def plan_lines(done: JournalRefreshed) -> Lines:
    """Which files are written, or would be."""
    if done.planned:
        yield ""
        yield from planned_lines(done.planned)
    if done.shows_diff or any(item.diff for item in done.planned):
        yield from file_diff_lines(done.planned)


def done_lines(done: JournalRefreshed) -> Lines:
    """What came of it."""
    if done.command == "update" and not done.changed:
        anew = "its pages were rewritten" if done.pages_anew else "nothing was written"
        yield f"The memory already says all of this; {anew}."
    elif not done.applied:
        yield "Dry run: nothing was written."
    else:
        said = "Journal made" if done.command == "init" else f"Journal updated ({done.summary})"
        yield told(f"{said}: checkpoint {done.checkpoint}, event {done.event}.")
        yield f"State: {FOLDER}/{STATE}"
    if done.backup:
        yield f"The earlier journal is kept in {done.backup}"
    if done.validations:
        yield "Validation commands:"
    for one in done.validations:
        said = "" if one["status"] == "passed" else f" ({cut(one_line(one['summary']), 200)})"
        yield told(f"- {one['command']}: {one['status']}{said}")
    yield from cost_lines(done.cost_usd, done.provider)
    if done.applied and done.command == "init":
        yield "Next: `memory journal add claude-local ~/.claude`, then `memory journal sync --all`."
