"""`memory journal recall`, `log`, `diff`"""

from __future__ import annotations

from functools import partial
from typing import Any

from quire.layers.journal.layout import POLICIES, SCOPES, SECTIONS
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.journal_making import PROVIDER
from quire.surfaces.cli.journal_shown import (
    DRY,
    SHOW_DIFF,
    YES,
    confirmed,
    diff_lines,
    is_asking,
    is_model,
    listed,
    reply,
    say_cost,
    say_diffs,
    warn_of,
)
from quire.surfaces.cli.output import say


def recall(
    session: Session,
    yes: bool,
    source: str | None,
    section: str | None,
    policy: str | None,
    checkpoint: str | None,
    show_diff: bool,
    provider: str | None,
    dry_run: bool,
) -> None:
    """Work what happened into the memory.

    That is every event that no recall has looked at, grouped and without repetitions. On a terminal the result is
    shown first and written after a question. The entry block goes into a file that has none with --yes, or after that
    question. What is not said with an option comes from .agent-memory/config.json.
    """
    from quire.verbs.journal.recall import journal_recall

    project = session.project()

    def make(**options: Any) -> Any:
        return journal_recall(
            project,
            source=source,
            section=section,
            policy=policy,
            checkpoint=checkpoint,
            provider=provider,
            diffs=True if show_diff else None,
            **options,
        )

    if is_asking(session, yes, dry_run):
        _ask_first(session, project, partial(make, agreed=True), provider)
        return
    done = make(dry_run=dry_run, agreed=yes)
    if session.as_json:
        from quire.fields.journal import journal_recall_fields

        reply(session, project, journal_recall_fields(done), done.warnings)
        return
    _say_scope(done)
    _say_plan(done)
    _say_done(session, done)


def _ask_first(session: Session, project: Any, make: Any, provider: str | None) -> None:
    """Show, ask, write just what was shown. A model is not asked for a preview: it would propose something else."""
    from quire.verbs.journal.journal_state import read_journal

    if is_model(provider):
        read_journal(project)
        if confirmed(f"Recall? {provider} is asked, which may cost money, and what it proposes is written."):
            done = make()
            _say_scope(done)
            _say_plan(done)
            _say_done(session, done)
        return
    seen = make(dry_run=True)
    _say_scope(seen)
    if seen.noop_reason is None or seen.planned:
        _say_plan(seen)
        if not confirmed("Recall?" if seen.noop_reason is None else "Write the pages anew?"):
            return
    # Where nothing is new, only the note of how far the history was looked at moves.
    _say_done(session, make(expects=seen.expects) if seen.raw_event_count or seen.planned else seen)


def _say_scope(done: Any) -> None:
    say(f"Recall source scope: {done.source}")
    say(f"Recall section: {done.section}")
    say(f"Recall policy: {done.policy}")
    say(f"Unrecalled events considered: {done.raw_event_count}")
    if done.backlog:
        say()
        say("Unrecalled History Summary:")
        for line in done.backlog:
            say(line)
    say()


def _say_plan(done: Any) -> None:
    if done.planned:
        say("Planned changes:")
        for item in done.planned:
            say(f"- {item.kind} {item.path}: {item.note}")
        say()
    if done.noop_reason is not None:
        return
    say("Memory Summary:")
    for line in diff_lines(done.diff):
        say(line)
    for key, label in (("currentFocusChanged", "Current focus changed"), ("validationChanged", "Validation changed")):
        say(f"- {label}: {'yes' if done.diff.get(key) else 'no'}")
    say(f"- Protected sections: {listed(done.protected)}")
    for key, label in (("gotchas", "Gotchas"), ("nextSteps", "Next steps")):
        if key in done.memory:
            say(f"- {label}: {done.memory[key]['before']} -> {done.memory[key]['after']}")
    if done.baseline is not None:
        say()
        say("Checkpoint Summary:")
        say(f"- Baseline: {done.baseline['id']}")
        for line in [f"- {done.baseline['error']}"] if "error" in done.baseline else diff_lines(done.baseline):
            say(line)
    if any(item.diff for item in done.planned):
        say_diffs(done.planned)
    else:
        say()
        say("--show-diff shows the files line by line.")
    say()


def _say_done(session: Session, done: Any) -> None:
    if done.noop_reason is not None:
        anew = " Its pages were written anew." if done.pages_anew else ""
        say(f"Nothing to recall. {done.noop_reason}{anew}")
    elif not done.applied:
        say("Nothing was written: this is what would be done.")
    else:
        say(f"Recalled: checkpoint {done.checkpoint}, event {done.event}.")
    say_cost(done.cost_usd, done.provider)
    warn_of(session, done.warnings)


RECALLING = {
    "recall": Command(
        run=recall,
        examples="""Examples:
  memory journal recall
  memory journal recall --dry-run --show-diff
  memory journal recall --source imports --section gotchas --yes
""",
        options=(
            YES,
            Option(
                name="--source",
                into="source",
                metavar="SCOPE",
                choices=SCOPES,
                help="Which events: those of sessions (imports), of commands (local), or all.",
            ),
            Option(
                name="--section", into="section", metavar="NAME", choices=SECTIONS, help="Change only this section."
            ),
            Option(
                name="--policy",
                into="policy",
                metavar="NAME",
                choices=POLICIES,
                help="What counts, or which section is left alone.",
            ),
            Option(
                name="--checkpoint",
                into="checkpoint",
                metavar="ID",
                help="Compare the result with this checkpoint instead of the latest.",
            ),
            SHOW_DIFF,
            PROVIDER,
            DRY,
        ),
    ),
}
