"""`memory journal integrate`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from quire.layers.journal.layout import OUTPUTS
from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, Command, Option, Session, as_called
from quire.surfaces.cli.journal_shown import DRY, is_asking, listed, reply, tell, warn_of
from quire.surfaces.cli.output import pretty, say

if TYPE_CHECKING:
    from quire.clients.wiring_journal.types import ComponentDone, JournalIntegrated, JournalIntegration

_EXAMPLES = """Examples:
  memory journal integrate --dry-run       what would be written, and where
  memory journal integrate claude          Claude Code: MCP entry, hooks and skill, in this project
  memory journal integrate codex --yes     Codex: AGENTS.md here, and its configuration in your home
  memory journal integrate --status        what is there
  memory journal integrate --repair        write anew what was changed
"""
_TITLES = {"claude": "Claude Code", "codex": "Codex"}


def run(
    session: Session,
    targets: tuple[str, ...],
    status: bool,
    repair: bool,
    dry_run: bool,
    yes: bool,
    output: str | None,
) -> int:
    """Wire Claude Code and Codex to the journal: MCP server, hooks, skill, a section in AGENTS.md.

    TARGET is claude, codex or all, which is the default. Files are changed in place; everything else in them stays, and
    one that cannot be read is told and left alone. The configuration of Codex in your home is changed only if you say
    so, on a terminal or with --yes. `memory integrate` wires these clients and others to the whole memory.
    """
    from quire.verbs.journal.integrate import journal_integrate, journal_integration

    if output is not None and not status:
        raise UsageError("--output is for --status.", hint="--json answers with one JSON object.")
    if repair and status:
        raise UsageError("--repair and --status exclude each other.", hint="Give one of them.")
    target = _target(targets)
    project = session.project()
    if status:
        _show(session, project, journal_integration(project, target), output)
        return 0
    may_write = yes or (
        is_asking(session, yes, dry_run) and _agreed(journal_integrate(project, target, repair=repair, dry_run=True))
    )
    done = journal_integrate(project, target, repair=repair, dry_run=dry_run, user=may_write)
    if session.as_json:
        from quire.fields.journal import journal_integrated_fields

        fields = journal_integrated_fields(done)
        fields["advice"] = as_called(done.advice, session.program)
        reply(session, project, fields, done.warnings)
    else:
        _report(session, done, yes)
    return 0 if done.is_clean else 1


def _target(targets: tuple[str, ...]) -> str:
    """The one that is meant; `all` before it adds nothing."""
    named = [target for target in targets if target != "all"]
    if len(named) > 1:
        raise UsageError("Only one client can be named.", hint="Without one, both are wired.")
    return named[0] if named else "all"


def _agreed(planned: JournalIntegrated) -> bool:
    """Whether the user wants files in the home to be changed; where none would be, nobody is asked."""
    paths = [item.path for item in planned.writes("user")]
    if not paths:
        return False
    from quire.guard.hostile_text import make_safe

    sys.stderr.write(make_safe(f"Change `{', '.join(paths)}`, too, for all your projects?") + " [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# -- how it is --------------------------------------------------------------------------------


def _show(session: Session, project: Any, found: JournalIntegration, output: str | None) -> None:
    from quire.fields.journal import journal_integration_fields

    fields = journal_integration_fields(found)
    fields["suggestedNextAction"] = as_called(fields["suggestedNextAction"], session.program)
    if session.as_json:
        reply(session, project, fields)
    elif output == "json":
        pretty(fields)
    else:
        _say_status(found, fields)


def _say_status(found: JournalIntegration, fields: dict[str, Any]) -> None:
    say("Integration Status:")
    say(f"- target: {found.target}")
    say(f"- overall healthy: {_yes(found.healthy)}")
    for client, title in _TITLES.items():
        say()
        say(f"{title}:")
        for part in found.parts:
            if part.client == client:
                say(f"- {part.label}: {part.status} ({part.path or 'no home folder'})")
    say()
    say("Summary:")
    say(f"- warnings: {' | '.join(found.warnings) or 'none'}")
    say(f"- missing items: {listed(found.missing)}")
    say(f"- suggested next action: {fields['suggestedNextAction']}")


# -- what was done ----------------------------------------------------------------------------


def _report(session: Session, done: JournalIntegrated, yes: bool) -> None:
    if done.repair and not done.files:
        say("Nothing to repair: what was written is as it was written.")
        tell(session, f"Suggested next action: {done.advice}")
        return
    say(f"Integrated target: {done.target}")
    say(f"Repair mode: {_yes(done.repair)}")
    say(f"Dry run: {_yes(done.dry_run)}")
    say(_heading(done))
    for scope in ("project", "user"):
        files = [item for item in done.files if item.scope == scope]
        if files:
            say(f"- {scope}:")
        for item in files:
            say(f"  [{scope}] {item.action} {item.path or 'no home folder'}: {_note(item)}")
    if done.dry_run:
        if done.config == "missing":
            say("Note: the journal has no settings; .agent-memory/config.json would be created.")
        if done.writes("user") and not yes:
            say("Note: files in your home are changed only with --yes, or if you say so on a terminal.")
    else:
        if done.config == "made":
            say("Additional setup: created .agent-memory/config.json.")
        say(f"Global changes were made: {_yes(bool(done.writes('user')))}")
        tell(session, "Suggested verification: memory journal integrate --status")
    warn_of(session, done.warnings)
    for item in done.files:
        if item.reason:
            _complain(item)


def _heading(done: JournalIntegrated) -> str:
    if done.dry_run:
        return "Planned repairs:" if done.repair else "Planned changes:"
    return "Repairs applied:" if done.repair else "Changes applied:"


def _note(item: ComponentDone) -> str:
    return f"{item.reason}." if item.reason else item.note


def _complain(item: ComponentDone) -> None:
    from quire.guard.hostile_text import make_safe

    sys.stderr.write(make_safe(f"error: {item.path or item.component}: {item.reason}.") + "\n")
    if item.hint:
        sys.stderr.write(make_safe(f"hint: {item.hint}") + "\n")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


INTEGRATE = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="targets", required=False, many=True),),
    options=(
        Option(name="--status", into="status", help="Show what is there, and change nothing."),
        Option(name="--repair", into="repair", help="Only write anew what was written once and is changed."),
        DRY,
        Option(name="--yes", into="yes", short="-y", help="Change the configuration in your home without asking."),
        Option(
            name="--output",
            into="output",
            metavar="FORM",
            choices=OUTPUTS,
            help="With --status: text, or the plain JSON that other programs know.",
        ),
    ),
)
