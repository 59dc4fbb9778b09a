"""How the journal comes to be and is brought up to date: `init`, `update`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from quire.layers.journal.layout import BACKUP, FOLDER, LOCAL_PROVIDER, SECTION_KEYS, STATE
from quire.model.errors import Conflict, InputError, InvalidStore, NotInitialized, QuireError, UnsupportedVersion
from quire.project import Project
from quire.verbs.journal.journal_state import (
    ask_model,
    change_journal,
    journal_locked,
    journal_ready,
    journal_time,
    model_warnings,
    plan_journal,
    plan_pages,
    prepare_journal,
    provider_name,
    read_journal,
    sift_rejected,
    sift_rejected_diff,
    write_due_pages,
)
from quire.verbs.journal.model_requests import bundle_request
from quire.verbs.journal.results import Refreshed

if TYPE_CHECKING:
    from quire.capture.repository.bundle import Validation
    from quire.capture.repository.scan import ProjectScan
    from quire.layers.journal.store import Journal, Writing
    from quire.layers.journal.types import Bundle, Provider, State

_VALIDATION_SECONDS = 600.0
_SUMMARY_LINES = 5
_KEPT_IN_PLACE = ("automation", "local", "recovery", BACKUP, ".lock")

Progress = Callable[[str], None]
"""Called with what is being done."""


# -- init -------------------------------------------------------------------------------


def journal_init(
    project: Project,
    *,
    provider: str | None = None,
    validate: bool = False,
    replace: bool = False,
    dry_run: bool = False,
    diffs: bool = False,
    progress: Progress | None = None,
) -> Refreshed:
    """Make the journal. One that is there is only replaced if that was said, and kept as a backup."""
    journal_ready(project)
    there = journal_entry_files(project)
    if there and not replace and not dry_run:
        raise _refuse_init(project)
    name = provider_name(provider)
    made = _made(project, name, None, validate and not dry_run, progress)
    result, bundle, validations, who = made
    result.planned = plan_journal(project, _first_state(project, bundle, who), diffs=diffs)
    if dry_run:
        return result
    with journal_locked(project, "init"):
        there = journal_entry_files(project)
        if there and not replace:
            raise _refuse_init(project)
        result.backup = _write_first(project, bundle, who, validations, there)
        result.warnings += write_due_pages(project)
    prepare_journal(project)
    result.applied, result.checkpoint, result.event = True, "chk-000001", "evt-000001"
    result.changed_sections = list(SECTION_KEYS)
    return result


def journal_entry_files(project: Project) -> list[str]:
    """What of a journal is there, but for what belongs to this machine."""
    try:
        names = os.listdir(os.path.join(project.root, FOLDER))
    except OSError:
        return []
    # Folders that hold nothing are what a dead writer left, or git.
    top = os.path.join(project.root, FOLDER)
    return sorted(name for name in names if name not in _KEPT_IN_PLACE and _holds_a_file(os.path.join(top, name)))


def _refuse_init(project: Project) -> QuireError:
    from quire.layers.journal.store import open_journal

    try:
        journal = open_journal(project.root)
    except UnsupportedVersion as error:
        return error
    except (InvalidStore, NotInitialized) as error:
        error.hint = (
            f"{error.hint or ''} `memory journal init --yes` makes it anew and keeps what is there as a backup."
        ).strip()
        return error
    number = len(journal.history.events)
    return Conflict(
        f"There is a journal here already; events: {number:,}, checkpoints: {len(journal.checkpoints):,}.",
        hint="`memory journal update` brings it up to date. `memory journal init --yes` starts over; what is there "
        "is kept as a backup.",
        details={"path": FOLDER, "events": number, "checkpoints": len(journal.checkpoints)},
    )


def _write_first(
    project: Project, bundle: Bundle, who: Provider, validations: Sequence[Validation], there: list[str]
) -> str | None:
    """The first state, in the place of whatever is there, which is copied aside; one transaction."""
    from quire.files.transaction import FileUpdate
    from quire.layers.journal.events import History
    from quire.layers.journal.layout import (
        ATTRIBUTES,
        ATTRIBUTES_TEXT,
        CONFIG,
        SOURCES,
        default_config,
    )
    from quire.layers.journal.settings import config_bytes, read_config
    from quire.layers.journal.sources import SourceRegistry
    from quire.layers.journal.state_changes import write_bundle
    from quire.layers.journal.store import Journal, commit

    place, changes = _set_aside(project, there)
    journal = Journal(
        root=project.root,
        state=_first_state(project, bundle, who),
        history=History(),
        registry=SourceRegistry(),
        config=read_config(),
        checkpoints=(),
    )
    writing = write_bundle(
        journal,
        bundle,
        command="init",
        now=journal_time(project),
        provider=who,
        validations=[(one.command, one.summary) for one in validations],
    )
    first = _as_changes(writing, journal)
    wanted = {
        **first,
        CONFIG: config_bytes(default_config()),
        SOURCES: b"[]\n",
        ATTRIBUTES: ATTRIBUTES_TEXT,
    }
    planned = {change.path: change for change in changes}
    for path, data in wanted.items():
        held = planned.get(path)
        planned[path] = FileUpdate(path=path, data=data, planned=held.planned if held else None)
    from quire.layers.journal.store import Writing

    commit(journal, Writing(changes=list(planned.values()), pages=True, entry=True), project.world)
    return place and f"{FOLDER}/{place}"


def _set_aside(project: Project, there: list[str]) -> tuple[str | None, list[Any]]:
    """Changes that copy everything to a backup and take it away; where the backup is, below the journal."""
    from quire.files.digests import sha256
    from quire.files.paths import read_bytes
    from quire.files.transaction import FileUpdate
    from quire.layers.journal.layout import EVENTS_BYTES
    from quire.model.times import stamp

    if not there:
        return None, []
    place = f"{BACKUP}/init-{stamp(project.world.now())}-{project.world.token()[:8]}"
    top = os.path.join(project.root, FOLDER)
    changes = []
    for name in there:
        path = os.path.join(top, name)
        inner = [path] if not os.path.isdir(path) or os.path.islink(path) else _files_below(path)
        for file in inner:
            relative = os.path.relpath(file, top)
            try:
                data = read_bytes(file, EVENTS_BYTES)
            except OSError as error:
                raise InvalidStore(
                    f"`{FOLDER}/{relative}` cannot be copied: {(error.strerror or str(error)).lower()}.",
                    hint="Move it away, and run the command again; nothing was changed.",
                ) from error
            changes.append(FileUpdate(path=f"{place}/{relative}", data=data, planned=None))
            changes.append(FileUpdate(path=relative, data=None, planned=sha256(data)))
    return place, changes


def _first_state(project: Project, bundle: Bundle, who: Provider) -> Any:
    from quire.layers.journal.documents import new_state
    from quire.layers.journal.types import Maintenance

    return new_state(bundle, provider=who, generated_at=journal_time(project), maintenance=Maintenance())


# -- update -----------------------------------------------------------------------------


def journal_update(
    project: Project,
    *,
    provider: str | None = None,
    validate: bool = False,
    dry_run: bool = False,
    diffs: bool = False,
    agreed: bool = False,
    progress: Progress | None = None,
) -> Refreshed:
    """Look at the project again and write what changed; what sessions told is kept, and missing pages come back.

    The entry block goes into a file that has none only where a person has `agreed`.
    """
    from msgspec.structs import replace

    from quire.layers.journal.bundle_diff import diff_bundles, diff_text, diff_value
    from quire.layers.journal.state_changes import write_bundle
    from quire.layers.journal.store import Writing

    journal = read_journal(project)
    name = provider_name(provider)
    result, bundle, validations, who = _made(project, name, journal.state, validate and not dry_run, progress)
    before = journal.state.bundle_hash

    def plan(fresh: Journal) -> tuple[Refreshed, Writing | None]:
        nonlocal bundle
        if fresh.state.bundle_hash != before and name == LOCAL_PROVIDER:
            # Somebody wrote while we looked: what they wrote is where we start from.
            bundle = _made(project, name, fresh.state, False, None, validations)[1]
        elif fresh.state.bundle_hash != before:
            raise _overtaken()
        wanted = bundle if agreed else _with_its_entry(project, bundle, fresh.state.bundle)
        diff = sift_rejected_diff(project, diff_bundles(fresh.state.bundle, wanted))
        result.changed_sections = list(diff.changed_sections)
        result.summary = diff_text(diff_value(diff))
        if diff.is_empty:
            result.changed = False
            result.planned = plan_pages(project, fresh.state, diffs, agreed)
            result.pages_anew = bool(result.planned) and not dry_run
            return result, Writing(pages=True, entry=agreed) if result.pages_anew else None
        writing = write_bundle(
            fresh,
            wanted,
            command="update",
            now=journal_time(project),
            provider=who,
            summary=result.summary,
            validations=[(one.command, one.summary) for one in validations],
        )
        if writing.state is not None:
            result.planned = plan_journal(project, writing.state, diffs=diffs, agreed=agreed)
        if dry_run:
            return result, None
        result.applied = True
        result.checkpoint = writing.checkpoint.id if writing.checkpoint else None
        result.event = writing.events[0].id
        return result, replace(writing, entry=agreed)

    return plan(journal)[0] if dry_run else change_journal(project, "update", plan)


def _with_its_entry(project: Project, bundle: Bundle, before: Bundle) -> Bundle:
    """The bundle with the entry file it had, as long as that has the block: to move it, a person has to agree."""
    from quire.layers.journal.bundles import shown
    from quire.layers.journal.pages import holds_entry

    place = ("project", "recommendedEntryFile")
    held = shown(before, *place)
    if not held or held == shown(bundle, *place) or not holds_entry(project.root, held):
        return bundle
    return {**bundle, "project": {**bundle["project"], "recommendedEntryFile": held}}


def _made(
    project: Project,
    provider: str,
    former: State | None,
    validate: bool,
    progress: Progress | None,
    known: Sequence[Validation] = (),
) -> tuple[Refreshed, Bundle, Sequence[Validation], Provider]:
    """A bundle of the project as it is now, and who made it."""
    from quire.capture.repository.bundle import build_bundle
    from quire.capture.repository.scan import scan_repository
    from quire.layers.journal.shapes import bundle_faults
    from quire.layers.journal.state_changes import local_provider
    from quire.layers.journal.types import Provider

    tell = progress or (lambda _: None)
    tell("Looking at the project")
    scan = scan_repository(project.root, project.git)
    previous = former.bundle if former else None
    teller = former.provider.name if former and former.provider.name != LOCAL_PROVIDER else ""
    validations = _run_validations(project, scan, tell) if validate else list(known)
    bundle = build_bundle(scan, project.git, previous=previous, teller=teller, validations=validations)
    result = _looked(project, scan, provider, "init" if previous is None else "update")
    result.validations = [
        {"label": one.label, "command": one.command, "status": one.status, "summary": one.summary}
        for one in validations
    ]
    who = local_provider()
    if provider != LOCAL_PROVIDER:
        tell(f"Asking {provider}")
        request = bundle_request(project.root, scan, bundle, previous, result.validations)
        answer = ask_model(project, "bundle", request, provider)
        bundle = answer.value
        result.cost_usd = answer.cost_usd
        result.warnings += model_warnings(answer)
        who = Provider(name=provider, binary=provider)
    bundle = sift_rejected(project, bundle, result.warnings)
    faults = bundle_faults(bundle)
    if faults:
        raise InputError(f"The proposal cannot be used: {' '.join(faults[:5])}", hint="Nothing was written.")
    return result, bundle, validations, who


def _looked(project: Project, scan: ProjectScan, provider: str, command: str) -> Refreshed:
    return Refreshed(
        command=command,
        project=scan.project_name,
        root=project.root,
        signals=list(scan.project_signals),
        package_manager=scan.package_manager,
        workspace_manager=scan.workspace_manager,
        provider=provider,
    )


def _run_validations(project: Project, scan: ProjectScan, tell: Progress) -> list[Validation]:
    """Run the commands that tell whether the project is well: no shell, a time limit, nothing on stdin."""
    from quire.capture.repository.bundle import Validation
    from quire.capture.repository.scripts import find_checks
    from quire.files.programs import run_program

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


def journal_validation_commands(project: Project) -> list[str]:
    """What `--validate` would run."""
    from quire.capture.repository.scan import scan_repository
    from quire.capture.repository.scripts import find_checks

    return [" ".join(check.command) for check in find_checks(scan_repository(project.root, project.git))]


def _overtaken() -> Conflict:
    return Conflict(
        "The journal was changed by somebody else while the proposal was made.",
        hint="Run the command again; nothing was written.",
    )


def _holds_a_file(path: str) -> bool:
    return not os.path.isdir(path) or os.path.islink(path) or any(names for _, _, names in os.walk(path))


def _files_below(path: str) -> list[str]:
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)


def _as_changes(writing: Writing, journal: Journal) -> dict[str, bytes]:
    """The files of a first writing, by their paths."""
    from quire.layers.journal.canonical import file_bytes
    from quire.layers.journal.documents import value_of
    from quire.layers.journal.events import appended_bytes
    from quire.layers.journal.layout import EVENTS
    from quire.layers.journal.store import checkpoint_path

    found = {EVENTS: appended_bytes(journal.history, writing.events)}
    if writing.state is not None and writing.checkpoint is not None:
        found[STATE] = file_bytes(value_of(writing.state))
        found[checkpoint_path(writing.checkpoint.id)] = file_bytes(value_of(writing.checkpoint))
    return found


def _last_lines(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return " | ".join(lines[-_SUMMARY_LINES:])


def _kept(text: str) -> str:
    """What a command printed, as it may stand in a file that others read."""
    from quire.capture.transcripts.redaction import redacted
    from quire.guard.hostile_text import make_safe
    from quire.model.text import cut

    return cut(make_safe(redacted(text)[0]), 500) or "nothing was printed"
