"""`memory journal sync`, the tool `journal_sync`: import what is new in the sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from quire.layers.journal.layout import FOLDER
from quire.model.errors import InputError, UsageError
from quire.model.text import counted
from quire.project import Project
from quire.verbs.journal.journal_lines import cost_lines, told
from quire.verbs.journal.journal_state import read_journal
from quire.verbs.journal.options import DryRun, Name, Provider
from quire.verbs.journal.session_import import ImportedSessions, Progress, SyncedSource, import_sessions
from quire.verbs.journal.source_registry import source_is_agreed
from quire.verbs.verb import Arguments, Lines, Option, Tool, Verb, Word

_WARNINGS = 10
_STEP = 10
"""Of many sessions, every so many are reported."""


class JournalSync(Arguments, frozen=True, kw_only=True):
    name: Annotated[
        Annotated[Name, Meta(description="one source; otherwise all")] | None,
        Word(required=False),
    ] = None
    everything: Annotated[bool | None, Option(name="--all", help="Every source.")] = False
    """None where a tool calls: without a name that means all of them."""
    provider: Provider = None
    dry_run: DryRun = False


def sync(project: Project, given: JournalSync) -> ImportedSessions:
    """Import new sessions of a source, or with --all of every source.

    Unreadable sessions are reported and set the exit code to 1; all others are imported. From a session that grew only
    the new part is imported. Secrets are left out.
    """
    by_agent = given.everything is None
    if not by_agent and (given.name is None) is not given.everything:
        raise UsageError("Name one source, or use --all.", hint="`memory journal sources` lists them.")
    if by_agent and given.name is not None and not given.dry_run:
        _refuse_unknown(project, given.name)
    done = import_sessions(
        project, given.name, provider=given.provider, dry_run=given.dry_run, progress=_progress(project)
    )
    done.by_agent = by_agent
    return done


def _refuse_unknown(project: Project, name: str) -> None:
    """Whoever names a source agrees to have it read; of one that came with the repository, only a person can."""
    source = read_journal(project).registry.find(name)
    if source is not None and not source_is_agreed(project, source):
        raise InputError(
            f"The source `{name}` came with the repository and needs your consent on this machine.",
            hint=f"Ask the user to check its path in `{FOLDER}/sources.json`; `memory journal sync {name}` gives "
            "consent.",
            details={"field": "name"},
        )


def _progress(project: Project) -> Progress | None:
    tell = project.progress
    if tell is None:
        return None

    def count(source: str, looked: int, total: int, imported: int) -> None:
        if looked < _STEP or looked % _STEP == 0 or looked == total:
            tell(looked, total, f"{source}: {imported:,} imported")

    return count


def lines(done: ImportedSessions) -> Lines:
    yield from _lines(done, imported_text)


def recorded_lines(done: ImportedSessions) -> Lines:
    """The counts as `agent-memory` has printed them from the beginning."""
    yield from _lines(done, _recorded)


def _lines(done: ImportedSessions, say: Callable[[SyncedSource, bool], str]) -> Lines:
    for source in done.sources:
        yield told(say(source, done.dry_run))
        yield from _source_lines(source, done)
    yield from cost_lines(done.cost_usd, done.provider)
    if done.dry_run:
        yield "Dry run: nothing was written."
    elif done.imported:
        yield "Run `memory journal recall` to merge the imported sessions."


def _recorded(source: SyncedSource, _dry_run: bool) -> str:
    waiting = f" waiting={source.waiting}" if source.waiting else ""
    return f"- {source.id}: imported={source.imported} skipped={source.skipped} failed={source.failed}{waiting}"


def imported_text(source: SyncedSource, dry_run: bool = False) -> str:
    """What came of a source, in a sentence or two."""
    held = ((source.decisions, "decision"), (source.gotchas, "gotcha"), (source.next_steps, "next step"))
    what = ", ".join(counted(number, thing) for number, thing in held if number)
    verb = "Would import" if dry_run else "Imported"
    said = f"{verb} {counted(source.imported, 'session')} from `{source.id}`{f': {what}' if what else ''}."
    rest = ((source.skipped, "known already"), (source.waiting, "still running"), (source.failed, "failed"))
    more = ", ".join(f"{number:,} {state}" for number, state in rest if number)
    said = said if source.imported else f"Nothing new in `{source.id}`{f': {more}' if more else ''}."
    return f"{said} {more[0].upper()}{more[1:]}." if more and source.imported else said


def _source_lines(source: SyncedSource, done: ImportedSessions) -> Lines:
    if source.is_unknown:
        how = "It needs the user's consent." if done.by_agent else f"`memory journal sync {source.id}` reads it."
        yield f"  not read: it came with the repository. {how}"
    if source.elsewhere:
        yield (
            f"  sessions there that did not run in this project, or do not say where: {source.elsewhere:,}; "
            "`memory journal add … --all-folders` takes those, too."
        )
    for failure in source.failures:
        yield told(f"  failed {failure['sourceRef']}: {failure['message']}")
    if source.failed > len(source.failures):
        yield f"  failed, and not listed: {source.failed - len(source.failures)}"
    for text in source.warnings[:_WARNINGS]:
        yield told(f"  note {text}")
    if len(source.warnings) > _WARNINGS:
        yield f"  notes, and not listed: {len(source.warnings) - _WARNINGS}"


VERB = Verb(
    takes=JournalSync,
    run=sync,
    lines=lines,
    recorded_lines=recorded_lines,
    writes=True,
    counts="sessions",
    examples="""Examples:
  memory journal sync --all
  memory journal sync codex --dry-run
""",
    tool=Tool(
        title="Import sessions",
        says="Import new sessions from the registered sources, without a recall. For both use memory_maintain.",
        gives={"sources": "array", "imported": "integer", "skipped": "integer", "failed": "integer"},
        given={"everything": None},
    ),
)
