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
    from quire.upkeep.status import Status

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


def status_lines(found: Status, folder: str, rest: str) -> Iterator[str]:
    """The state of a memory; `rest` says how to see more of what needs a look."""
    yield f"{found.project['name']} — {folder}"
    yield f"Features: {stage_counts(found)}"
    for stage in STAGE_ORDER:
        if found.features_by_stage[stage].count:
            yield f"  {stage}: {', '.join(found.features_by_stage[stage].titles)}"
    others = [f"{kind}s {count}" for kind, count in found.nodes_by_kind.items() if kind in ("decision", "gotcha")]
    yield " · ".join([*others, f"relations {found.relations}"]).capitalize()
    yield from _layers(found)
    if found.inbox.pending:
        kinds = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in found.inbox.by_kind.items())
        places = list(found.inbox.by_origin)
        more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        yield f"Pending in the inbox (`memory inbox`): {kinds}; from {', '.join(places[:_PLACES])}{more}"
    yield from _listed("Open questions", [f"{item.id} — {item.title}" for item in found.open_questions])
    counts = [f"{number} {verdict}" for verdict, number in found.verdicts.items() if number]
    if counts:
        yield f"Against the code: {', '.join(counts)}"
    urgent = sorted(found.attention, key=lambda row: _URGENT.index(row.verdict))
    for row in urgent[:_LISTED]:
        yield f"  {row.verdict}: {row.id} — {row.because}"
    if len(urgent) > _LISTED:
        yield f"  and {len(urgent) - _LISTED} more: {rest}"
    if found.unreviewed:
        shown = ", ".join(found.unreviewed[:_PLACES])
        more = f" and {len(found.unreviewed) - _PLACES} more" if len(found.unreviewed) > _PLACES else ""
        yield f"Not reviewed: {shown}{more}"
        yield "  Hooks send one line of each until you commit it, or write or confirm it at a terminal."
    yield from _listed(
        "Files that cannot be read (`memory check`)", list(dict.fromkeys(item["path"] for item in found.unreadable))
    )
    yield f"Last activity: {moment(found.last_activity)}"
    yield f"Last sync: {moment((found.last_sync or {}).get('last_sync_at'))}"


def _layers(found: Status) -> Iterator[str]:
    """What the other layers hold, where they are."""
    if found.facts:
        facts = found.facts
        away = f", {facts.pending} pending" if facts.pending else ""
        away += f", {facts.other} put away" if facts.other else ""
        yield f"Facts: {facts.active} active{away} · episodes {facts.episodes} · connections {facts.connections}"
    if found.profile:
        away = f", {found.profile.other} put away" if found.profile.other else ""
        yield f"Profile: {found.profile.active} active{away} · links {found.profile.links}"
    if found.journal:
        journal = found.journal
        away = f", {journal.archived} archived" if journal.archived else ""
        counts = f"events {journal.events} · checkpoints {journal.checkpoints}"
        yield f"Journal: {journal.sessions} sessions · {counts}{away}"


def stage_counts(status: Status) -> str:
    return " · ".join(f"{stage} {status.features_by_stage[stage].count}" for stage in STAGE_ORDER)


def moment(text: str | None) -> str:
    """To the minute, with its offset: a team may live in several time zones."""
    if not text:
        return "never"
    offset = text[19:].lstrip(".0123456789").replace("Z", "+00:00")
    return f"{text[:10]} {text[11:16]} {offset}".strip()


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


def _listed(title: str, entries: Sequence[str]) -> Iterator[str]:
    if entries:
        yield f"{title}:"
    for entry in entries:
        yield f"  {entry}"
