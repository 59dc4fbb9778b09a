"""`memory inspect`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.profile.layout import CATEGORIES
from quire.model import JOURNAL_KINDS, KINDS, Verdict, is_seal
from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.output import answer, counted, say, verdict_fields

if TYPE_CHECKING:
    from quire.layers.graph import Inspected, StoredRelation

_PROFILE_WORDS = tuple(name for name in CATEGORIES if name not in KINDS)
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
    if not any(mark in ref for mark in ".:"):
        ref = f"fact:{ref}"  # as every list of facts prints it
    if ref.strip().partition(":")[0] in ("fact", "episode"):
        _show_fact(session, project, ref)
        return
    if ref.strip().partition(".")[0] in _PROFILE_WORDS:
        ref = f"profile:{ref.strip()}"  # as every list of entries prints it
    if ref.strip().partition(":")[0] in JOURNAL_KINDS:
        _show_journal(session, project, ref)
        return
    if ref.strip().startswith("profile:"):
        _show_entry(session, project, ref)
        return
    found = project.inspect(ref)
    connections = project.connections(found.node.node.id)
    if session.as_json:
        answer(project, {**_fields(found), "connections": msgspec.to_builtins(connections)})
    else:
        _say_node(found)
        _say_connections(connections)


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


def _show_entry(session: Session, project: Any, ref: str) -> None:
    from quire.surfaces.cli.profile_asking import say_links
    from quire.surfaces.cli.profile_shown import entry_fields, say_entry

    found = project.profile_inspect(ref)
    connections = project.connections(found.entry.ref)
    if session.as_json:
        links = {"outgoing": msgspec.to_builtins(found.outgoing), "incoming": msgspec.to_builtins(found.incoming)}
        fields = {"object": entry_fields(found.entry), "links": links}
        answer(project, {**fields, "connections": msgspec.to_builtins(connections)})
        return
    say_entry(found.entry, links=False)
    if found.outgoing or found.incoming:
        say()
        say("Links:")
    say_links(found)
    _say_connections(connections)


def _show_journal(session: Session, project: Any, ref: str) -> None:
    found = project.journal_inspect(ref)
    if session.as_json:
        answer(project, msgspec.to_builtins(found))
        return
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
    _say_connections(found.connections)


def _show_fact(session: Session, project: Any, ref: str) -> None:
    found = project.inspect_fact(ref)
    if session.as_json:
        fields = msgspec.to_builtins(found)
        fields["object"] = {"ref": found.ref, **found.stored, **verdict_fields(found.view.verdict)}
        answer(project, {name: fields[name] for name in ("object", "connections", "chain", "replaced_by", "names")})
        return
    view = found.view
    if found.kind == "episode":
        say(f"{found.ref} — {view.title}  [{view.date}]")
        _say_listed("tags", view.tags)
        _say_listed("facts", view.facts)
        say()
        say(view.narrative)
    else:
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
    _say_connections(found.connections)


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


def _fields(found: Inspected) -> dict[str, Any]:
    node = found.node.node
    fields: dict[str, Any] = {
        "ref": node.id,
        "stage": None,
        "superseded_by": None,
        "source": None,
        "origin": None,
        "anchors": [],
        "tags": [],
        "evidence": [],
        **msgspec.to_builtins(node),
        "body_path": f".memory/{found.node.path.removesuffix('.json')}.md",
        "json_path": f".memory/{found.node.path}",
        "body": found.node.body,
        "edited_by_hand": not found.node.hash_holds,
        **verdict_fields(found.verdict),
    }
    return {
        "object": fields,
        "relations": {
            "outgoing": list(map(_relation_fields, found.outgoing)),
            "incoming": list(map(_relation_fields, found.incoming)),
        },
    }


def _relation_fields(stored: StoredRelation) -> dict[str, Any]:
    fields: dict[str, Any] = {"confidence": None, "evidence": [], "content_hash": None}
    fields.update(msgspec.to_builtins(stored.relation))
    fields["json_path"] = f".memory/{stored.path}"
    return fields


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="ref"),),
    paths=(),
)
