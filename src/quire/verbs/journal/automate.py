"""`memory journal automate`: how the automation stands, where none of its verbs is named."""

from __future__ import annotations

from quire.project import Project
from quire.verbs.journal.automate_status import AutomationState, automate_status, lines
from quire.verbs.verb import Arguments, Verb


def automate(project: Project, given: Arguments) -> AutomationState:
    """Keep the journal without being asked: sync, recall and retention, once or every so many minutes.

    Nothing has to run for that: run-once does everything in one call, and is safe to call from a hook, from cron, or
    twice at once. `config.json` says what is done and how often. Without a verb, shows how it stands.
    """
    return automate_status(project, given)


VERB = Verb(
    takes=Arguments,
    run=automate,
    lines=lines,
    alone=True,
    examples="""Examples:
  memory journal automate run-once                    one cycle now: sync, recall, retention
  memory journal automate run-once --quiet            the same from a hook or from cron
  memory journal automate start                       a cycle every 15 minutes, until tomorrow
  memory journal automate status
""",
)
