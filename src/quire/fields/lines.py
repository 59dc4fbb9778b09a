"""What a result says to a reader, line by line: the same words on every surface that shows text.

The lines are as stored; whoever shows them makes them safe for the place where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from quire.model.seals import is_seal

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected
    from quire.layers.graph.store import StoredRelation
    from quire.model.verdicts import Verdict

STAGE_ORDER = ("building", "shipped", "idea", "paused", "dead")
_URGENT = ("orphaned", "moved", "changed", "unverifiable")
_PLACES = 3
_LISTED = 10
INGESTED = {
    "store": "stored",
    "reinforce": "confirmed",
    "supersede": "superseded",
    "archive": "put away",
    "pend": "waiting",
    "reject": "left out",
    "accept": "accepted",
    "drop": "dropped",
    "unchanged": "unchanged",
}
"""What became of a statement of a design document, in a word."""


def node_lines(found: Inspected) -> Iterator[str]:
    """One node in full."""
    node = found.node.node
    stage = f", {node.stage}" if node.stage else ""
    yield f"{node.id} — {node.title}  [{node.status}{stage}]"
    if node.superseded_by:
        yield f"superseded by: {node.superseded_by}"
    if node.anchors:
        yield f"anchors: {', '.join(node.anchors)}"
    if node.tags:
        yield f"tags: {', '.join(node.tags)}"
    given = [f"{item.kind} {item.id}" for item in node.evidence if not is_seal(item.kind, item.id)]
    if given:
        yield f"evidence: {', '.join(given)}"
    if found.verdict:
        yield from _verdict_lines(found.verdict)
    if node.source:
        task = f", {node.source.task}" if node.source.task else ""
        yield f"source: {node.source.kind}{task}"
    if node.origin:
        yield f"origin: {node.origin.kind} {node.origin.locator}"
    yield from _flag_lines(f"{node.title}\n{found.node.body}")
    yield f"created {node.created_at}, updated {node.updated_at}"
    if not found.node.hash_holds:
        yield "edited by hand since it was last saved"
    yield ""
    yield found.node.body
    yield from _relation_lines("Relations", found.outgoing, "{predicate} {target}")
    yield from _relation_lines("Named by", found.incoming, "{source} {predicate} this")


def _flag_lines(text: str) -> Iterator[str]:
    from quire.guard.effects import effects_of, words_of

    if effects := effects_of(text):
        yield f"flagged: {words_of(effects)}"


def connection_lines(connections: Sequence[Any]) -> Iterator[str]:
    """What is connected to a record by edges of the facts."""
    if connections:
        yield ""
        yield "Connections:"
    for edge in connections:
        yield f"  {edge.source} {edge.relation} {edge.target}" + (f" — {edge.title}" if edge.title else "")
        if edge.description:
            yield f"    {edge.description}"


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    since = f" (last look at {verdict.since[:9]})" if verdict.since else ""
    yield f"verdict: {verdict.verdict}{since}"
    for anchor in verdict.anchors or (verdict,):
        if anchor.because:
            yield f"  {anchor.verdict}: {anchor.because}"


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
