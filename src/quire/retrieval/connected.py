"""Follow relations one hop from the hits: dependencies, effects, open questions."""

from __future__ import annotations

from quire.index.catalog import Index
from quire.index.search import Filter
from quire.model.records import Edge
from quire.model.vocabulary import LIVE_STATUSES
from quire.retrieval.answer import ConnectedRecord, Hit

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
            link = ConnectedRecord(record=record, sentence=_sentence(edge), score=hit.score * _strength(edge))
            if other not in found or link.score > found[other].score:
                found[other] = link
    links = sorted(found.values(), key=lambda link: (-link.score, link.record.ref))
    questions = [link for link in links if link.record.kind == "question"]
    others = [link for link in links if link.record.kind != "question"]
    return others[:_LINES], questions[:_LINES]


def _strength(edge: Edge) -> float:
    return 0.5 * _PREDICATES.get(edge.predicate, 0.3) * _CONFIDENCE.get(edge.confidence, 0.9)


def _sentence(edge: Edge) -> str:
    return f"{edge.source} {edge.predicate} {edge.target}"
