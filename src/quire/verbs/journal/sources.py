"""`memory journal sources`: list the sources of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.verbs.journal.journal_lines import source_state_text
from quire.verbs.journal.journal_state import read_journal, source_state
from quire.verbs.journal.results import SourceState
from quire.verbs.verb import Arguments, Lines, Result, Verb

if TYPE_CHECKING:
    from quire.project import Project


class JournalSources(Result, kw_only=True):
    sources: list[SourceState]


def sources(project: Project, given: Arguments) -> JournalSources:
    """List the sources, and how the last sync of each went."""
    return JournalSources(sources=[source_state(project, source) for source in read_journal(project).registry.sources])


def lines(found: JournalSources) -> Lines:
    for source in found.sources:
        notes = [("all folders", source.all_folders), ("not on this machine", not source.exists)]
        said = ", ".join(text for text, is_so in notes if is_so)
        yield f"- {source.id} ({source.type}) -> {source.path}{f' ({said})' if said else ''}"
        yield f"  {source_state_text(source)}"
        if source.last_sync_error:
            yield f"  {source.last_sync_error}"
    if not found.sources:
        yield "There are no sources. `memory journal add claude-local ~/.claude` registers one."


VERB = Verb(takes=Arguments, run=sources, lines=lines, examples="Example:\n  memory journal sources\n")
