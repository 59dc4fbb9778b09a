"""Show one node of the graph in full: JSON and lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.guard.effects import effects_of, words_of
from quire.layers.graph.source import node_record
from quire.layers.graph.stored import StoredRelation
from quire.model.refs import graph_id
from quire.model.seals import is_seal
from quire.model.text import one_line
from quire.model.verdicts import AnchorVerdict, Verdict
from quire.verbs.verb import Recalled

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected
    from quire.project import Project


def inspect_node(project: Project, ref: str) -> Inspected:
    """A node, its relations and its verdict."""
    from quire.layers.graph import inspect as graph
    from quire.upkeep.verdicts import Verdicts

    project.ready()
    found = graph.inspect_node(project.graph, graph_id(ref))
    record = node_record(found.node)
    found.verdict = Verdicts(project.root, project.git)([record])[record.ref]
    if found.verdict.verdict == "changed":
        from quire.upkeep.explain_change import explain_changes

        found.changes = explain_changes(project.root, project.git, found.verdict)
    return found


def node_fields(found: Inspected) -> dict[str, Any]:
    """The node as it is stored, what is missing as null, and its relations."""
    from quire.verbs.plain import effect_fields, verdict_fields

    node = found.node.node
    fields: dict[str, Any] = {
        "ref": node.id,
        **dict.fromkeys(("stage", "superseded_by", "source", "origin")),
        "anchors": [],
        "tags": [],
        "evidence": [],
        **msgspec.to_builtins(node),
        "body_path": f".memory/{found.node.path.removesuffix('.json')}.md",
        "json_path": f".memory/{found.node.path}",
        "body": found.node.body,
        "contested": list(node_record(found.node).contested),
        "edited_by_hand": not found.node.hash_holds,
        **verdict_fields(found.verdict),
        **({"explained": [one.line() for one in found.changes]} if found.changes else {}),
        **effect_fields(node.title, found.node.body),
    }
    relations = {
        "outgoing": list(map(_relation_fields, found.outgoing)),
        "incoming": list(map(_relation_fields, found.incoming)),
    }
    return {"object": fields, "relations": relations}


def _relation_fields(stored: StoredRelation) -> dict[str, Any]:
    usual: dict[str, Any] = {"confidence": None, "evidence": [], "content_hash": None}
    return {**usual, **msgspec.to_builtins(stored.relation), "json_path": f".memory/{stored.path}"}


def whole_node(found: Inspected) -> Recalled:
    """The node as it is read, with what its marks say."""
    node = found.node.node
    return Recalled(
        text="\n".join(_lines(found)),
        ref=node.id,
        origin=node.source.kind if node.source else "graph",
        verdict=found.verdict.verdict if found.verdict else "",
    )


def _lines(found: Inspected) -> Iterator[str]:
    node = found.node.node
    stage = f", {node.stage}" if node.stage else ""
    yield f"{node.id} — {node.title}  [{node.status}{stage}]"
    if node.superseded_by:
        yield f"superseded by: {node.superseded_by}"
    for disagreement in node_record(found.node).contested:
        yield f"branches disagree on {disagreement}"
    if node.anchors:
        yield f"anchors: {', '.join(node.anchors)}"
    if node.tags:
        yield f"tags: {', '.join(node.tags)}"
    given = [f"{item.kind} {item.id}" for item in node.evidence if not is_seal(item.kind, item.id)]
    if given:
        yield f"evidence: {', '.join(given)}"
    if found.verdict:
        yield from _verdict_lines(found.verdict, {one.anchor: one.line() for one in found.changes if one.says_more})
    if node.source:
        task = f", {node.source.task}" if node.source.task else ""
        yield f"source: {node.source.kind}{task}"
    if node.origin:
        yield f"origin: {node.origin.kind} {node.origin.locator}"
    if effects := effects_of(f"{node.title}\n{found.node.body}"):
        yield f"flagged: {words_of(effects)}"
    yield f"created {node.created_at}, updated {node.updated_at}"
    if not found.node.hash_holds:
        yield "edited by hand since the last save"
    yield ""
    yield found.node.body
    yield from _relation_lines("Relations", found.outgoing, "{predicate} {target}")
    yield from _relation_lines("Named by", found.incoming, "{source} {predicate} this")


def _verdict_lines(verdict: Verdict, changes: Mapping[str, str]) -> Iterator[str]:
    since = f" (last confirmed at {verdict.since[:9]})" if verdict.since else ""
    yield f"verdict: {verdict.verdict}{since}"
    for anchor in verdict.anchors or (verdict,):
        if anchor.because:
            yield f"  {anchor.verdict}: {anchor.because}"
        if isinstance(anchor, AnchorVerdict) and anchor.anchor in changes:
            yield f"    {one_line(changes[anchor.anchor])}"


def _relation_lines(title: str, relations: Sequence[StoredRelation], form: str) -> Iterator[str]:
    if relations:
        yield ""
        yield f"{title}:"
    for stored in relations:
        relation = stored.relation
        notes = [relation.confidence or "", "" if relation.status == "active" else relation.status]
        text = form.format(predicate=relation.predicate, source=relation.source, target=relation.target)
        shown = ", ".join(note for note in notes if note)
        yield f"  {text}{f' ({shown})' if shown else ''}"
