"""`memory inspect`"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from quire.model import Verdict, is_seal
from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.output import answer, counted, say

if TYPE_CHECKING:
    from quire.layers.graph import Inspected, StoredRelation

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
    project = session.project()
    looked = project.inspect_any(ref)
    if session.as_json:
        from quire.fields import looked_fields

        answer(project, looked_fields(looked))
        return
    shows: dict[str, Callable[[Any], None]] = {
        "facts": _say_fact,
        "graph": _say_node,
        "journal": _say_journal,
        "profile": _say_entry,
    }
    shows[looked.layer](looked.found)
    _say_connections(looked.connections)


def _say_node(found: Inspected) -> None:
    node = found.node.node
    stage = f", {node.stage}" if node.stage else ""
    say(f"{node.id} — {node.title}  [{node.status}{stage}]")
    if node.superseded_by:
        say(f"superseded by: {node.superseded_by}")
    if node.anchors:
        say(f"anchors: {', '.join(node.anchors)}")
    if node.tags:
        say(f"tags: {', '.join(node.tags)}")
    given = [f"{item.kind} {item.id}" for item in node.evidence if not is_seal(item.kind, item.id)]
    if given:
        say(f"evidence: {', '.join(given)}")
    if found.verdict:
        _say_verdict(found.verdict)
    if node.source:
        task = f", {node.source.task}" if node.source.task else ""
        say(f"source: {node.source.kind}{task}")
    if node.origin:
        say(f"origin: {node.origin.kind} {node.origin.locator}")
    say(f"created {node.created_at}, updated {node.updated_at}")
    if not found.node.hash_holds:
        say("edited by hand since it was last saved")
    say()
    say(found.node.body)
    _say_relations("Relations", found.outgoing, "{predicate} {target}")
    _say_relations("Named by", found.incoming, "{source} {predicate} this")


def _say_entry(found: Any) -> None:
    from quire.surfaces.cli.profile_asking import say_links
    from quire.surfaces.cli.profile_shown import say_entry

    say_entry(found.entry, links=False)
    if found.outgoing or found.incoming:
        say()
        say("Links:")
    say_links(found)


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


def _say_connections(connections: list[Any]) -> None:
    if connections:
        say()
        say("Connections:")
    for edge in connections:
        say(f"  {edge.source} {edge.relation} {edge.target}" + (f" — {edge.title}" if edge.title else ""))
        if edge.description:
            say(f"    {edge.description}")


def _say_listed(name: str, values: Sequence[str]) -> None:
    if values:
        say(f"{name}: {', '.join(values)}")


def _say_verdict(verdict: Verdict) -> None:
    since = f" (last look at {verdict.since[:9]})" if verdict.since else ""
    say(f"verdict: {verdict.verdict}{since}")
    for anchor in verdict.anchors or (verdict,):
        if anchor.because:
            say(f"  {anchor.verdict}: {anchor.because}")


def _say_relations(title: str, relations: list[StoredRelation], form: str) -> None:
    if relations:
        say()
        say(f"{title}:")
    for stored in relations:
        relation = stored.relation
        notes = [relation.confidence or "", "" if relation.status == "active" else relation.status]
        text = form.format(predicate=relation.predicate, source=relation.source, target=relation.target)
        shown = ", ".join(note for note in notes if note)
        say(f"  {text}{f' ({shown})' if shown else ''}")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="ref"),),
    paths=(),
)
