"""Ask on a terminal before the journal is written, after a preview of init, update, recall or restore."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

from msgspec.structs import replace

from quire.model.errors import NotInitialized
from quire.project import Project
from quire.surfaces.cli.commands import JOURNAL_PROGRAM, Session
from quire.surfaces.cli.declared import say_lines, say_warnings
from quire.surfaces.cli.input import asked
from quire.surfaces.cli.output import say, tell
from quire.verbs.journal import new_bundle, recall, recall_lines, recorded_lines, restore
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.journal_state import is_model, read_journal
from quire.verbs.journal.update import JournalUpdate, journal_update
from quire.verbs.verb import Lines, Result, Verb

Done = TypeVar("Done", bound=Result)


def on_terminal(
    session: Session,
    _verb: Verb,
    given: recall.JournalRecall | restore.JournalRestore | JournalInit | JournalUpdate,
) -> int | None:
    """Show, ask, and write just what was shown; None where nobody wants to be asked."""
    if given.yes or given.dry_run:
        return None
    project = session.project()
    if isinstance(given, restore.JournalRestore):
        _say_done(session, _restore(session, project, given), restore.done_lines)
    elif isinstance(given, recall.JournalRecall):
        _say_done(session, _recall(session, project, given), recall_lines.done_lines)
    else:
        _say_done(session, _refresh(session, project, given), new_bundle.done_lines)
    return 0


def _say_done(session: Session, done: Done | None, lines: Callable[[Done], Lines]) -> None:
    if done is not None:
        say_lines(lines(done), session.program)
        say_warnings(done.warnings, session.program)


def _lines_for(session: Session) -> ModuleType:
    """Where the lines of the scope and the plan of a recall are, for this program."""
    return recorded_lines if session.program == JOURNAL_PROGRAM else recall_lines


def _recall(session: Session, project: Project, given: recall.JournalRecall) -> recall.JournalRecalled | None:
    wanted = replace(given, yes=True)
    if is_model(given.provider):
        # A model is not asked for a preview: it would propose something else.
        read_journal(project)
        if not _confirmed(f"Recall? This asks {given.provider}, which may cost money, and writes its proposal."):
            return None
        done = recall.journal_recall(project, wanted)
        say_lines(_lines_for(session).scope_lines(done), session.program)
        say_lines(_lines_for(session).plan_lines(done), session.program)
        return done
    seen = recall.journal_recall(project, replace(wanted, dry_run=True))
    say_lines(_lines_for(session).scope_lines(seen), session.program)
    if seen.noop_reason is None or seen.planned:
        say_lines(_lines_for(session).plan_lines(seen), session.program)
        if not _confirmed("Recall?" if seen.noop_reason is None else "Rewrite the pages?"):
            return None
    # Where nothing is new, only the note of how far the history was looked at moves.
    if not seen.raw_event_count and not seen.planned:
        return seen
    return recall.journal_recall(project, wanted, expects=seen.expects)


def _restore(session: Session, project: Project, given: restore.JournalRestore) -> restore.JournalRestored | None:
    seen = restore.journal_restore(project, replace(given, dry_run=True))
    if not seen.changed:
        return seen
    say_lines(restore.plan_lines(seen), session.program)
    return restore.journal_restore(project, given) if _confirmed(f"Restore {given.name}?") else None


def _refresh(
    session: Session, project: Project, given: JournalInit | JournalUpdate
) -> new_bundle.JournalRefreshed | None:
    def refresh(wanted: JournalInit | JournalUpdate) -> new_bundle.JournalRefreshed:
        return journal_init(project, wanted) if isinstance(wanted, JournalInit) else journal_update(project, wanted)

    question, replaces = "Update the journal?", True
    if isinstance(given, JournalInit):
        replaces = _is_there(project)
        question = "Start over? The existing journal is kept as a backup." if replaces else "Create the journal?"
    else:
        read_journal(project)
    commands = new_bundle.validation_commands(project) if given.validate else []
    if given.validate:
        say("Validation commands:")
        for line in commands:
            say(f"- {line}")
        say("- none were found" if not commands else "They run in the project, without a shell.")
        say()
    if is_model(given.provider):
        question = f"{question} This asks {given.provider}, which may cost money, and writes its proposal."
    else:
        seen = refresh(replace(given, dry_run=True, yes=True))
        say_lines(new_bundle.look_lines(seen), session.program)
        if not seen.changed and not seen.planned and not commands:
            return seen
        say_lines(new_bundle.plan_lines(seen), session.program)
    if not _confirmed(question):
        return None
    project.tell = tell
    return refresh(replace(given, yes=replaces))


def _is_there(project: Project) -> bool:
    """Whether there is a journal; one that cannot be used is refused as it is where nobody is asked."""
    try:
        read_journal(project)
    except NotInitialized:
        return False
    return True


def _confirmed(question: str) -> bool:
    """Yes, or just Enter. Says so where the answer is no, or nobody answered."""
    line = asked(f"{question} [Y/n]")
    if line and line.strip() in ("", "y", "yes"):
        return True
    if not line:
        sys.stderr.write("\n")
    say("Nothing was written.")
    return False
