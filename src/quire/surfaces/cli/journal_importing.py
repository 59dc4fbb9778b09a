"""`memory journal add`, `sources`, `remove`, `sync`"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.journal_making import PROVIDER
from quire.surfaces.cli.journal_shown import DRY, reply, say_cost, tell, warn_of
from quire.surfaces.cli.output import answer, say

_BAR_CHARS = 24
_WARNINGS = 10


def add(session: Session, source_type: str, path: str, name: str | None, all_folders: bool, dry_run: bool) -> None:
    """Register a place where an agent keeps its sessions.

    That is a folder, or one session's file. SOURCE_TYPE is claude-local, codex-local or another agent's; a wrong one is
    answered with the list. Of a folder with the sessions of many projects, those of this one count. Nothing is imported
    yet.
    """
    from quire.verbs.journal.sources import journal_add

    project = session.project()
    done = journal_add(project, source_type, path, name=name, all_folders=all_folders, dry_run=dry_run)
    if session.as_json:
        from quire.fields.journal import journal_source_fields

        reply(session, project, journal_source_fields(done))
        return
    said = "Would be added" if dry_run else "Added"
    say(f"{said}: source {done.source.id} ({done.source.type}) -> {done.source.path}")
    if not dry_run:
        tell(session, f"`memory journal sync {done.source.id}` imports its sessions.")


def sources(session: Session) -> None:
    """List the sources, and how the last sync of each went."""
    from quire.verbs.journal.sources import journal_sources

    project = session.project()
    found = journal_sources(project)
    if session.as_json:
        from quire.fields.journal import journal_sources_fields

        answer(project, journal_sources_fields(found))
        return
    for source in found:
        notes = [("all folders", source.all_folders), ("not on this machine", not source.exists)]
        said = ", ".join(text for text, is_so in notes if is_so)
        say(f"- {source.id} ({source.type}) -> {source.path}{f' ({said})' if said else ''}")
        say(f"  {_state(source)}")
        if source.last_sync_error:
            say(f"  {source.last_sync_error}")
    if not found:
        tell(session, "There are no sources. `memory journal add claude-local ~/.claude` registers one.")


def source_line(source: Any) -> str:
    return f"- {source.id}: {_state(source)}"


def _state(source: Any) -> str:
    at = source.last_synced_at or "never"
    return f"status={source.last_sync_status} lastSyncedAt={at} imported={source.last_imported_count:g}"


def remove(session: Session, name: str, dry_run: bool) -> None:
    """Forget a source. What was imported from it stays."""
    from quire.verbs.journal.sources import journal_remove

    project = session.project()
    done = journal_remove(project, name, dry_run=dry_run)
    if session.as_json:
        from quire.fields.journal import journal_source_fields

        reply(session, project, journal_source_fields(done))
        return
    said = "Would be removed" if dry_run else "Removed"
    say(f"{said}: source {done.source.id}. What was imported from it stays.")


# -- sync -------------------------------------------------------------------------------------


def sync(session: Session, name: str | None, everything: bool, provider: str | None, dry_run: bool) -> int:
    """Import what is new in a source, or with --all in every one.

    What cannot be read is told, keeps nothing else from being imported, and makes the exit code 1. Of a session that
    grew, only what was added is imported. Secrets are left out.
    """
    from quire.verbs.journal.session_import import journal_sync

    if (name is None) is not everything:
        raise UsageError("Name one source, or say --all.", hint="`memory journal sources` lists them.")
    project = session.project()
    shows = sys.stderr.isatty() and not session.as_json
    try:
        done = journal_sync(
            project,
            name,
            everything=everything,
            provider=provider,
            dry_run=dry_run,
            progress=_counter() if shows else None,
        )
    finally:
        if shows:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
    if session.as_json:
        from quire.fields.journal import journal_sync_fields

        reply(session, project, journal_sync_fields(done), done.warnings)
    else:
        _say_synced(session, done, provider)
    return 1 if done.failed else 0


def _say_synced(session: Session, done: Any, provider: str | None) -> None:
    for source in done.sources:
        waiting = f" waiting={source.waiting}" if source.waiting else ""
        say(f"- {source.id}: imported={source.imported} skipped={source.skipped} failed={source.failed}{waiting}")
        if source.is_unknown:
            tell(session, f"  not read: it came with the repository. `memory journal sync {source.id}` reads it.")
        if source.elsewhere:
            tell(
                session,
                f"  sessions there that did not run in this project, or do not say where: {source.elsewhere:,}; "
                "`memory journal add … --all-folders` takes those, too.",
            )
        for failure in source.failures:
            say(f"  failed {failure['sourceRef']}: {failure['message']}")
        if source.failed > len(source.failures):
            say(f"  failed, and not listed: {source.failed - len(source.failures)}")
        for text in source.warnings[:_WARNINGS]:
            say(f"  note {text}")
        if len(source.warnings) > _WARNINGS:
            say(f"  notes, and not listed: {len(source.warnings) - _WARNINGS}")
    say_cost(done.cost_usd, provider or "")
    if done.dry_run:
        say("Nothing was written: this is what would be imported.")
    elif done.imported:
        tell(session, "`memory journal recall` works what was imported into the memory.")
    warn_of(session, done.warnings)


def _counter() -> Callable[[str, int, int, int], None]:
    """A bar in one line: how many sessions were looked at, of how many, and how many of them imported."""

    def show(source: str, looked: int, total: int, imported: int) -> None:
        if looked < 50 or looked % 10 == 0 or looked == total:
            share = min(1.0, looked / total) if total else 1.0
            full = round(share * _BAR_CHARS)
            bar = "#" * full + "-" * (_BAR_CHARS - full)
            line = f"{source} [{bar}] {looked:,}/{total:,} sessions, {imported:,} imported"
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()

    return show


IMPORTING = {
    "add": Command(
        run=add,
        examples="""Examples:
  memory journal add claude-local ~/.claude
  memory journal add codex-local ~/.codex --name codex
""",
        arguments=(Argument(name="source_type"), Argument(name="path")),
        options=(
            Option(name="--name", into="name", metavar="ID", help="What the source is called here."),
            Option(
                name="--all-folders", into="all_folders", help="Take the sessions of all projects, not only of this."
            ),
            DRY,
        ),
        paths=("path",),
    ),
    "sources": Command(run=sources, examples="Example:\n  memory journal sources\n"),
    "remove": Command(
        run=remove,
        examples="Example:\n  memory journal remove codex\n",
        arguments=(Argument(name="name"),),
        options=(DRY,),
    ),
    "sync": Command(
        run=sync,
        examples="""Examples:
  memory journal sync --all
  memory journal sync codex --dry-run
""",
        arguments=(Argument(name="name", required=False),),
        options=(Option(name="--all", into="everything", help="Every source."), PROVIDER, DRY),
    ),
}
