"""Follow relations one hop from the hits: dependencies, effects, open questions."""

from __future__ import annotations

import math

from quire.index.catalog import Index
from quire.index.search import Filter, Searcher
from quire.model.records import Record
from quire.model.times import EPOCH, instant
from quire.model.vocabulary import LIVE_STATUSES
from quire.retrieval.answer import ConnectedRecord, Hit
from quire.retrieval.relevance import CHANCE, spoken

_PREDICATES = {
    "affects": 0.6,
    "depends_on": 0.5,
    "contradicts": 0.5,
    "enables": 0.5,
    "motivated_by": 0.5,
    "supersedes": 0.3,
    "replaces": 0.3,
    "related_to": 0.3,
}
_CONFIDENCE = {"high": 1.0, "medium": 0.85, "low": 0.6, None: 0.9}
_FROM = 8
_LINES = 12


def connected_to(index: Index, hits: list[Hit], allowed: Filter) -> tuple[list[ConnectedRecord], list[ConnectedRecord]]:
    """Return the neighbours of answers along active relations, and separately the open questions among them."""
    known = {hit.record.ref for hit in hits}
    found: dict[str, ConnectedRecord] = {}
    for hit in [hit for hit in hits if hit.tier == "answer"][:_FROM]:
        for edge in index.edges_of(hit.record.ref):
            other = edge.target if edge.source == hit.record.ref else edge.source
            if edge.status != "active" or other in known:
                continue
            record = index.find(other)
            if record is None or record.status not in LIVE_STATUSES or record.stage == "dead":
                continue
            if not allowed.allows(record):
                continue
            strength = 0.5 * _PREDICATES.get(edge.predicate, 0.3) * _CONFIDENCE.get(edge.confidence, 0.9)
            sentence = f"{edge.source} {edge.predicate} {edge.target}"
            link = ConnectedRecord(record=record, sentence=sentence, score=hit.score * strength)
            if other not in found or link.score > found[other].score:
                found[other] = link
    links = sorted(found.values(), key=lambda link: (-link.score, link.record.ref))
    questions = [link for link in links if link.record.kind == "question"]
    others = [link for link in links if link.record.kind != "question"]
    return others[:_LINES], questions[:_LINES]


_NEAR = 0.5
"""Two records this near to each other are about one subject."""
_SHARE = 0.3
"""And the later one must fit the question, too: so well at least, beside the earlier."""
_HEAD_CHARS = 400
"""A record says at its beginning that it changes another one."""
_ENGLISH = (
    "amends, amended, amending, supersedes, superseded, superseding, replaces, replaced, replacing, reverses, "
    "reversed, reversing, reverts, reverted, reverting, overrules, overruled, overrides, overriding, revises, revised, "
    "revokes, revoked, withdraws, withdrew, withdrawn, obsoletes, no longer, not anymore, not any more, instead of, "
    "as of now, as of today, from now on, changed from, we stopped, we have stopped, i stopped, switched from, "
    "switched back, switched to, switched over, moved from, moved away from"
)
_GERMAN = "ersetzt, ersetzen, nicht mehr, stattdessen, ab jetzt, ab sofort, aufgehoben"
_SPANISH = "ya no, en lugar de, en vez de, a partir de ahora, reemplaza, sustituye"
# Looked for as they are: a pattern would have to be made anew for every command.
_CUES = tuple(f" {cue} " for cue in ", ".join((_ENGLISH, _GERMAN, _SPANISH)).split(", "))


def says_it_changes(record: Record) -> bool:
    """Whether a record says at its beginning that it amends, replaces or reverses something."""
    said = f" {spoken(f'{record.title} {record.text[:_HEAD_CHARS]}')} "
    return any(cue in said for cue in _CUES)


def put_amendments_first(index: Index, hits: list[Hit]) -> None:
    """Of two hits on one subject, put the later one first where it says that it changes the earlier, and mark that."""
    searcher = index.searcher()
    for later in [hit for hit in hits if says_it_changes(hit.record)]:
        older = [hit for hit in hits if _may_be_changed(hit, later)]
        near = {hit.record.ref: _nearness(searcher, later.record, hit.record) for hit in older}
        earlier = max(older, key=lambda hit: near[hit.record.ref], default=None)
        if earlier is None or near[earlier.record.ref] < _NEAR:
            continue
        earlier.amended_by = later.record.ref
        first, at = hits.index(earlier), hits.index(later)
        if first < at:
            later.tier = earlier.tier
            hits.insert(first, hits.pop(at))


def _may_be_changed(earlier: Hit, later: Hit) -> bool:
    """Whether one hit may change another: same kind, later, and about as relevant."""
    one, other = earlier.record, later.record
    return (
        (one.layer, one.kind) == (other.layer, other.kind)
        and later.score >= _SHARE * earlier.score
        and _is_before(one, other)
    )


def _nearness(searcher: Searcher, one: Record, other: Record) -> float:
    """Cosine of two records, corrected for the number of passages compared."""
    near, pairs = searcher.nearness_of(one.ref, other.ref)
    return near - CHANCE * math.log(max(1, pairs))


def _is_before(one: Record, other: Record) -> bool:
    when = [instant(record.updated_at) or instant(record.created_at) or EPOCH for record in (one, other)]
    return one.ref != other.ref and when[0] < when[1]
