"""`memory journal`: the status of the journal, where none of its verbs is named."""

from __future__ import annotations

from quire.project import Project
from quire.verbs.journal.status import JournalOverview, JournalStatus, journal_status, lines
from quire.verbs.verb import Arguments, Verb


def overview(project: Project, _given: Arguments) -> JournalOverview:
    """What happened in the sessions of this project, and what is known by now.

    Kept in .agent-memory/, with pages to read in docs/agent-memory/. Works with and without the rest of the memory,
    and needs no model. Also installed as agent-memory. Without a verb, shows the status.
    """
    return journal_status(project, JournalStatus())


VERB = Verb(
    takes=Arguments,
    run=overview,
    lines=lines,
    alone=True,
    examples="""Examples:
  memory journal init                            look at the project and make the journal
  memory journal add claude-local ~/.claude      where an agent keeps its sessions
  memory journal sync --all                      import what is new in them
  memory journal recall                          work it into the memory
  memory journal query "what changed?"           ask
""",
)
