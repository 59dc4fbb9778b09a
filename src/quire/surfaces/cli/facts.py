"""`memory facts`"""

from __future__ import annotations

import msgspec

from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.facts_asking import ASKING
from quire.surfaces.cli.facts_flows import FLOWS
from quire.surfaces.cli.facts_telling import TELLING
from quire.surfaces.cli.output import answer, counted, say, warn

_EXAMPLES = """Examples:
  memory facts                                        how many there are, and in which state the file is
  memory facts store Decisions "Retries run in the worker, because requests must not wait."
  memory facts recall "where do retries run?"
  memory facts context "add a retry to the mailer"
"""


def run(session: Session) -> None:
    """Facts: what was learned, one atom at a time, with a confidence that fades unless it is confirmed.

    Kept in .memory/facts.jsonl, one line each, merged by git without conflicts. Without a verb, shows the counts.
    """
    from quire.verbs.facts.overview import memory_facts

    project = session.project()
    stats = memory_facts(project)
    if session.as_json:
        from quire.fields.facts import memory_facts_fields

        answer(project, memory_facts_fields(stats), stats.warnings)
        return
    if not stats.lines:
        say('No facts are stored yet. `memory facts store Architecture "…"` keeps the first.')
        warn(stats.warnings)
        return
    statuses = ", ".join(f"{count} {status}" for status, count in stats.by_status.items())
    say(f"Facts: {stats.facts} ({statuses or 'none'})" + (f", {stats.faded} of them faded" if stats.faded else ""))
    for section, counts in stats.by_section.items():
        if counts:
            others = ", ".join(f"{count} {status}" for status, count in counts.items() if status != "active")
            say(f"  {section}: {counts.get('active', 0)}" + (f" (and {others})" if others else ""))
    say(f"Episodes: {stats.episodes}. Connections: {stats.edges}. Notes: {stats.notes}.")
    say(f"Working memory: {stats.pins} of {stats.slots} slots are pinned.")
    if len(stats.minds) > 1:
        say(f"Minds: {', '.join(f'{name} ({count})' for name, count in stats.minds.items())}; {stats.mind} is meant.")
    say(f"File: {stats.path}, {counted(stats.lines, 'line')}, {stats.state}.")
    for count, text in (
        (stats.bad_lines, "cannot be read (`memory check` names them)"),
        (stats.conflicts, "told differently by two lines of the same age (`memory check`)"),
        (stats.contradictions, "replaced by several live facts (`memory check`)"),
        (stats.parked, "connected to something that is not here"),
        (stats.markers, "marks of a merge conflict (`memory facts normalize`)"),
        (stats.duplicates, "said twice (`memory facts normalize`)"),
    ):
        if count:
            say(f"  {count} {text}")
    warn(stats.warnings)


_VERBS = {**TELLING, **ASKING, **FLOWS}

COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    subcommands={name: msgspec.structs.replace(verb, paths=("file",)) for name, verb in _VERBS.items()},
    alone=True,
)
