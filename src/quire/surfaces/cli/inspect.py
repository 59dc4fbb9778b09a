"""`memory inspect`"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from quire.model.text import counted
from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.output import answer, say

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected

_EXAMPLES = """Examples:
  memory inspect feature.retry-queue
  memory inspect decision.retries-run-in-worker --json
  memory inspect fact:57afd07611e9
  memory inspect profile:user.timezone
  memory inspect bundle:gotchas
"""


def run(session: Session, ref: str) -> None:
    """Show one record in full, with everything that is connected to it.

    REF is a node's id, kind.slug; or fact:ID, or the id of a fact alone; or episode:ID; or profile:category.key;
    or bundle:SECTION, event:ID, checkpoint:ID.
    """
    from quire.verbs.ask.inspect import inspect_any

    project = session.project()
    looked = inspect_any(project, ref)
    if session.as_json:
        from quire.fields.looking import looked_fields

        answer(project, looked_fields(looked))
        return
    from quire.fields.lines import connection_lines

    shows: dict[str, Callable[[Any], None]] = {
        "facts": _say_fact,
        "graph": _say_node,
        "journal": _say_journal,
        "profile": _say_entry,
    }
    shows[looked.layer](looked.found)
    for line in connection_lines(looked.connections):
        say(line)


def _say_node(found: Inspected) -> None:
    from quire.fields.lines import node_lines

    for line in node_lines(found):
        say(line)


def _say_entry(found: Any) -> None:
    from quire.verbs.profile.results import link_lines, whole_entry

    say(whole_entry(found.entry, links=False).text)
    if found.outgoing or found.incoming:
        say()
        say("Links:")
    for line in link_lines(found.outgoing, found.incoming):
        say(line.text)


def _say_journal(found: Any) -> None:
    if not found.items:
        say("Nothing recorded yet.")
    for item in found.items:
        state = f"  [{item.status}]" if item.status != "active" else ""
        say(f"{item.ref} — {item.title}{state}")
        if item.created_at:
            say(f"{item.kind}, {item.created_at}, {item.path}")
        say()
        say(item.text)
        say()


def _say_fact(found: Any) -> None:
    view = found.view
    if found.kind == "episode":
        say(f"{found.ref} — {view.title}  [{view.date}]")
        _say_listed("tags", view.tags)
        _say_listed("facts", view.facts)
        say()
        say(view.narrative)
        return
    say(f"{found.ref} — {view.section}  [{view.status}, {view.confidence:.0%} confidence]")
    if view.reason:
        say(f"reason: {view.reason}")
    _say_listed("replaced by", found.replaced_by)
    _say_listed("replaces", found.chain)
    _say_listed("also known as", found.names)
    _say_listed("tags", view.tags)
    where = f", {view.artifact.get('path', '')}" if view.artifact else ""
    say(f"source: {view.source}{where}")
    say(f"created {view.created_at}, told {counted(view.reinforcements, 'time')}")
    say()
    say(view.content)


def _say_listed(name: str, values: Sequence[str]) -> None:
    if values:
        say(f"{name}: {', '.join(values)}")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="ref"),),
    paths=(),
)
