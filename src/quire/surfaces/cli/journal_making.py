"""`memory journal init`, `update`, `restore`"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from quire.layers.journal.layout import FOLDER, PREFERENCES, STATE
from quire.model.errors import NotInitialized
from quire.model.text import counted, cut, one_line
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.journal_shown import (
    DRY,
    SHOW_DIFF,
    YES,
    confirmed,
    is_asking,
    is_model,
    listed,
    reply,
    say_cost,
    say_diffs,
    say_planned,
    tell,
    teller,
    warn_of,
)
from quire.surfaces.cli.output import say

PROVIDER = Option(
    name="--provider",
    into="provider",
    metavar="NAME",
    choices=PREFERENCES,
    help="Who proposes: ours, which needs no model (by default), or a model that is asked by name.",
)
Make = Callable[..., Any]


def init(session: Session, yes: bool, validate: bool, provider: str | None, dry_run: bool, show_diff: bool) -> None:
    """Look at the project and make the journal.

    With it come its pages in docs/agent-memory/, an entry block in AGENTS.md, CLAUDE.md or README.md, and a first
    checkpoint. A journal that is there is only replaced with --yes, or after a question, and is kept as a backup.
    Needs no model. With --validate, the commands that tell whether the project is well are run.
    """
    from quire.verbs.journal.init import journal_init

    project = session.project()

    def make(**options: Any) -> Any:
        return journal_init(project, provider=provider, diffs=show_diff, **options)

    if not is_asking(session, yes, dry_run):
        tells = teller(session, validate or is_model(provider))
        _report(session, project, make(validate=validate, replace=yes, dry_run=dry_run, progress=tells), show_diff)
        return
    replaces = _is_there(project)
    question = "Start over? The journal that is here is kept as a backup." if replaces else "Make the journal?"
    _ask_first(session, project, make, validate, provider, question, {"replace": replaces})


def update(session: Session, yes: bool, validate: bool, provider: str | None, dry_run: bool, show_diff: bool) -> None:
    """Look at the project again and write what changed.

    What sessions and models told is kept. Where nothing changed, only missing pages are written. The entry block goes
    into a file that has none with --yes, or after a question. With --validate, the commands that tell whether the
    project is well are run.
    """
    from quire.verbs.journal.init import journal_update
    from quire.verbs.journal.journal_state import read_journal

    project = session.project()

    def make(**options: Any) -> Any:
        return journal_update(project, provider=provider, diffs=show_diff, **options)

    if not is_asking(session, yes, dry_run):
        tells = teller(session, validate or is_model(provider))
        _report(session, project, make(validate=validate, dry_run=dry_run, agreed=yes, progress=tells), show_diff)
        return
    read_journal(project)
    _ask_first(session, project, partial(make, agreed=True), validate, provider, "Update the journal?", {})


def _is_there(project: Any) -> bool:
    """Whether there is a journal; one that cannot be used is refused as it is where nobody is asked."""
    from quire.verbs.journal.journal_state import read_journal

    try:
        read_journal(project)
    except NotInitialized:
        return False
    return True


def _ask_first(
    session: Session,
    project: Any,
    make: Make,
    validate: bool,
    provider: str | None,
    question: str,
    options: dict[str, Any],
) -> None:
    """Show what would be run and written, ask, and do it. A model is not asked for a preview: that would cost twice."""
    from quire.verbs.journal.init import journal_validation_commands

    commands = journal_validation_commands(project) if validate else []
    if validate:
        say("Validation commands:")
        for line in commands:
            say(f"- {line}")
        say("- none were found" if not commands else "They are run in the project, without a shell.")
        say()
    if is_model(provider):
        question = f"{question} {provider} is asked, which may cost money, and what it proposes is written."
    else:
        seen = make(dry_run=True, progress=None)
        _say_looked(seen)
        if not seen.changed and not seen.planned and not commands:
            _say_done(session, seen)
            return
        _say_plan(seen)
    if confirmed(question):
        done = make(validate=validate, progress=teller(session, True), **options)
        _say_done(session, done)


def _report(session: Session, project: Any, done: Any, show_diff: bool) -> None:
    if session.as_json:
        from quire.fields.journal import journal_refresh_fields

        reply(session, project, journal_refresh_fields(done), done.warnings)
        return
    _say_looked(done)
    _say_plan(done, show_diff)
    say()
    _say_done(session, done)


def _say_looked(done: Any) -> None:
    say(f"Project: {done.project}")
    say(f"Root: {done.root}")
    say(f"Signals: {listed(done.signals)}")
    say(f"Package manager: {done.package_manager or 'not detected'}")
    say(f"Workspace: {done.workspace_manager or 'not detected'}")
    say(f"Provider: {done.provider}")
    if not done.signals:
        say("Note: nothing here tells what project this is; is this its root?")


def _say_plan(done: Any, show_diff: bool = False) -> None:
    say_planned(done.planned)
    if show_diff or any(item.diff for item in done.planned):
        say_diffs(done.planned)


def _say_done(session: Session, done: Any) -> None:
    if done.command == "update" and not done.changed:
        anew = "its pages were written anew" if done.pages_anew else "nothing was written"
        say(f"The memory says all that already; {anew}.")
    elif not done.applied:
        say("Nothing was written: this is what would be done.")
    else:
        said = "Journal made" if done.command == "init" else f"Journal updated ({done.summary})"
        say(f"{said}: checkpoint {done.checkpoint}, event {done.event}.")
        say(f"State: {FOLDER}/{STATE}")
    if done.backup:
        say(f"What was there before is kept in {done.backup}")
    if done.validations:
        say("Validation commands:")
    for one in done.validations:
        said = "" if one["status"] == "passed" else f" ({cut(one_line(one['summary']), 200)})"
        say(f"- {one['command']}: {one['status']}{said}")
    say_cost(done.cost_usd, done.provider)
    if done.applied and done.command == "init":
        tell(session, "Next: `memory journal add claude-local ~/.claude`, then `memory journal sync --all`.")
    warn_of(session, done.warnings)


# -- restore ----------------------------------------------------------------------------------


def restore(session: Session, name: str, yes: bool, dry_run: bool, show_diff: bool) -> None:
    """Bring back the memory of a checkpoint, or a batch of the archive.

    NAME is a checkpoint (chk-000002; `memory journal log` lists them) or a batch (prune-…). What holds now gets a
    checkpoint first, so a restore can be undone by another one. A state that is damaged or gone is made anew.
    """
    from quire.verbs.journal.restore import journal_restore

    project = session.project()
    if is_asking(session, yes, dry_run):
        seen = journal_restore(project, name, dry_run=True, diffs=show_diff)
        if not seen.changed:
            _say_restored(session, seen)
            return
        _say_restoring(seen, show_diff)
        if not confirmed(f"Restore {name}?"):
            return
        _say_restored(session, journal_restore(project, name))
        return
    done = journal_restore(project, name, dry_run=dry_run, diffs=show_diff)
    if session.as_json:
        from quire.fields.journal import journal_restore_fields

        reply(session, project, journal_restore_fields(done), done.warnings)
        return
    if done.changed:
        _say_restoring(done, show_diff)
        say()
    _say_restored(session, done)


def _say_restoring(done: Any, show_diff: bool) -> None:
    if done.changed_sections:
        say(f"Changed sections: {listed(done.changed_sections)}")
    if done.summary:
        say(f"Summary: {done.summary}")
    if done.events_returned or done.checkpoints_returned:
        events, checkpoints = counted(done.events_returned, "event"), counted(done.checkpoints_returned, "checkpoint")
        say(f"Returned from the archive: {events}, {checkpoints}")
    say_planned(done.planned)
    if show_diff:
        say_diffs(done.planned)


def _say_restored(session: Session, done: Any) -> None:
    if not done.changed:
        say(f"The memory is that of {done.restored} already; nothing was written.")
    elif not done.applied:
        say("Nothing was written: this is what would be done.")
    else:
        say(
            f"Restored {done.restored}"
            + (f": checkpoint {done.checkpoint}, event {done.event}." if done.event else ".")
        )
    if done.saved_as:
        tell(session, f"What held before: `memory journal restore {done.saved_as}` brings it back.")
    if done.kept_aside:
        say(f"The damaged state is kept in {done.kept_aside}")
    warn_of(session, done.warnings)


_VALIDATE = Option(
    name="--validate", into="validate", help="Run the commands that tell whether the project is well, and keep how."
)

MAKING = {
    "init": Command(
        run=init,
        examples="""Examples:
  memory journal init
  memory journal init --dry-run --show-diff      what would be written
  memory journal init --validate --yes           run the tests of the project too; replace what is there
""",
        options=(YES, _VALIDATE, PROVIDER, DRY, SHOW_DIFF),
    ),
    "update": Command(
        run=update,
        examples="Examples:\n  memory journal update\n  memory journal update --validate --yes\n",
        options=(YES, _VALIDATE, PROVIDER, DRY, SHOW_DIFF),
    ),
    "restore": Command(
        run=restore,
        examples="""Examples:
  memory journal restore chk-000002 --dry-run --show-diff
  memory journal restore chk-000002
""",
        arguments=(Argument(name="name"),),
        options=(YES, DRY, SHOW_DIFF),
    ),
}
