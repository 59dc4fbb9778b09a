"""`memory journal init`: scan the project and create the journal."""

from __future__ import annotations

import os

from quire.files.digests import sha256
from quire.files.paths import names_in, read_bytes
from quire.files.transaction import FileUpdate
from quire.layers.journal.canonical import file_bytes
from quire.layers.journal.documents import new_state, value_of
from quire.layers.journal.events import History, appended_bytes
from quire.layers.journal.layout import (
    ATTRIBUTES,
    ATTRIBUTES_TEXT,
    BACKUP,
    CONFIG,
    EVENTS,
    EVENTS_BYTES,
    FOLDER,
    SECTION_KEYS,
    SOURCES,
    STATE,
    default_config,
)
from quire.layers.journal.settings import config_bytes, read_config
from quire.layers.journal.sources import SourceRegistry
from quire.layers.journal.state_changes import write_bundle
from quire.layers.journal.store import Journal, Writing, checkpoint_path, commit, open_journal
from quire.layers.journal.types import Maintenance, State
from quire.model.errors import Conflict, InvalidStore, NotInitialized, QuireError, UnsupportedVersion
from quire.model.times import stamp
from quire.project import Project
from quire.verbs.journal.journal_state import (
    journal_locked,
    journal_time,
    plan_journal,
    prepare_journal,
    write_due_pages,
)
from quire.verbs.journal.new_bundle import JournalRefreshed, LookAtProject, NewBundle, lines, look_at
from quire.verbs.verb import Verb

_KEPT_IN_PLACE = ("automation", "local", "recovery", BACKUP, ".lock")


class JournalInit(LookAtProject, frozen=True, kw_only=True):
    pass


def journal_init(project: Project, given: JournalInit) -> JournalRefreshed:
    """Create the journal from the project's files.

    Also writes its pages in docs/agent-memory/ and a section in AGENTS.md, CLAUDE.md or README.md. An existing journal
    is replaced only with --yes or after a question, and is kept as a backup. Needs no model. --validate also runs the
    project's validation commands.
    """
    project.recover()
    if journal_entry_files(project) and not given.yes and not given.dry_run:
        raise _refuse_init(project)
    look = look_at(project, given, None)
    result = look.result
    result.planned = plan_journal(project, _first_state(project, look), diffs=given.show_diff)
    if given.dry_run:
        return result
    with journal_locked(project, "init"):
        there = journal_entry_files(project)
        if there and not given.yes:
            raise _refuse_init(project)
        result.backup = _write_first(project, look, there)
        result.warnings += write_due_pages(project)
    prepare_journal(project)
    result.applied, result.checkpoint, result.event = True, "chk-000001", "evt-000001"
    result.changed_sections = list(SECTION_KEYS)
    return result


def journal_entry_files(project: Project) -> list[str]:
    """What of a journal is there, but for what belongs to this machine."""
    # Folders that hold nothing are what a dead writer left, or git.
    top = os.path.join(project.root, FOLDER)
    return [name for name in names_in(top) if name not in _KEPT_IN_PLACE and _holds_a_file(os.path.join(top, name))]


def _refuse_init(project: Project) -> QuireError:
    try:
        journal = open_journal(project.root)
    except UnsupportedVersion as error:
        return error
    except (InvalidStore, NotInitialized) as error:
        error.hint = (
            f"{error.hint or ''} `memory journal init --yes` creates it anew and keeps a backup of the old one."
        ).strip()
        return error
    number = len(journal.history.events)
    return Conflict(
        f"The journal already exists, with {number:,} sessions and runs.",
        hint="`memory journal update` brings it up to date. `memory journal init --yes` starts over and keeps a "
        "backup.",
        details={"path": FOLDER, "events": number, "checkpoints": len(journal.checkpoints)},
    )


def _write_first(project: Project, look: NewBundle, there: list[str]) -> str | None:
    """The first state, in the place of whatever is there, which is copied aside; one transaction."""
    place, changes = _set_aside(project, there)
    journal = Journal(
        root=project.root,
        state=_first_state(project, look),
        history=History(),
        registry=SourceRegistry(),
        config=read_config(),
        checkpoints=(),
    )
    writing = write_bundle(
        journal,
        look.bundle,
        command="init",
        now=journal_time(project),
        provider=look.maker,
        validations=[(one.command, one.summary) for one in look.validations],
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
    commit(journal, Writing(changes=list(planned.values()), pages=True, entry=True), project.world)
    return place and f"{FOLDER}/{place}"


def _set_aside(project: Project, there: list[str]) -> tuple[str | None, list[FileUpdate]]:
    """Changes that copy everything to a backup and take it away; where the backup is, below the journal."""
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
                    hint="Move it away, then run the command again. Nothing was changed.",
                ) from error
            changes.append(FileUpdate(path=f"{place}/{relative}", data=data, planned=None))
            changes.append(FileUpdate(path=relative, data=None, planned=sha256(data)))
    return place, changes


def _first_state(project: Project, look: NewBundle) -> State:
    return new_state(look.bundle, provider=look.maker, generated_at=journal_time(project), maintenance=Maintenance())


def _holds_a_file(path: str) -> bool:
    return not os.path.isdir(path) or os.path.islink(path) or any(names for _, _, names in os.walk(path))


def _files_below(path: str) -> list[str]:
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)


def _as_changes(writing: Writing, journal: Journal) -> dict[str, bytes]:
    """The files of a first writing, by their paths."""
    found = {EVENTS: appended_bytes(journal.history, writing.events)}
    if writing.state is not None and writing.checkpoint is not None:
        found[STATE] = file_bytes(value_of(writing.state))
        found[checkpoint_path(writing.checkpoint.id)] = file_bytes(value_of(writing.checkpoint))
    return found


VERB = Verb(
    takes=JournalInit,
    run=journal_init,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory journal init
  memory journal init --dry-run --show-diff      what would be written
  memory journal init --validate --yes           also run the project's tests; replace the existing journal
""",
)
