"""A question from beginning to end: seed, fuse, keep what is relevant and current, expand, render."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from quire.index import Filter, Index
from quire.model import Record
from quire.retrieval.answer import Answer, Hit, Withheld
from quire.retrieval.currency import current_weight, replacement_of, retirement
from quire.retrieval.expand import connected_to
from quire.retrieval.fuse import Scored, seed
from quire.retrieval.render import render

_EVIDENCE_FLOOR, _NEARNESS_FLOOR = 0.45, 0.33
"""A question has an answer when its best record reaches one of these."""
_RECORD_EVIDENCE, _RECORD_NEARNESS = 0.2, 0.3
_RELATIVE_FLOOR = 0.2
_CLOSEST = 3

__all__ = ["Ask", "ask"]


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A question and how it is to be answered."""

    question: str
    budget: int
    limit: int
    allowed: Filter = Filter()
    governs: Callable[[Record], bool] | None = None
    """Only records that govern a certain file, as their anchors say."""
    about: str = ""
    """What to call the answer where there is no question."""
    everything: bool = False
    """Also what is stale, superseded or dead."""


def ask(index: Index, asked: Ask) -> Answer:
    """The answer, rendered within the budget."""
    answer = Answer(question=asked.question, heading=asked.question or asked.about, hits=[])
    if asked.question.strip():
        _search(index, asked, answer)
    elif asked.governs is not None:
        records = [record for record in index.records_anchored() if asked.governs(record)]
        ranked = [
            Hit(record=record, score=current_weight(record), why="governs the file", parts={}) for record in records
        ]
        _keep(index, asked, answer, sorted(ranked, key=lambda hit: -hit.score))
    answer.connected, answer.open_questions = connected_to(index, answer.hits)
    render(answer, asked.budget)
    return answer


def _search(index: Index, asked: Ask, answer: Answer) -> None:
    searcher = index.searcher()
    question = searcher.question(asked.question)
    scored = seed(searcher, question, asked.allowed)
    relevant = _relevant(scored)
    ranked = _named(index, asked.question) + _hits(index, asked, relevant)
    _keep(index, asked, answer, list({hit.record.ref: hit for hit in reversed(ranked)}.values())[::-1])
    if not answer.hits:
        answer.closest = _hits(index, asked, [item for item in scored if item not in relevant][:_CLOSEST])


def _hits(index: Index, asked: Ask, scored: list[Scored]) -> list[Hit]:
    records = index.by_ids([item.id for item in scored])
    return [
        Hit(record=record, score=item.score * record.weight, why=_why(item), parts=_parts(item, record))
        for item in scored
        if (record := records.get(item.id)) is not None and (asked.governs is None or asked.governs(record))
    ]


def _named(index: Index, question: str) -> list[Hit]:
    """The record whose ref or file the question is."""
    name = question.strip().strip("`")
    if " " in name:
        return []
    record = index.find(name) or index.find_path(name.removeprefix(".memory/"))
    return [Hit(record=record, score=2.0, why="named", parts={"named": 1.0})] if record else []


def _relevant(scored: list[Scored]) -> list[Scored]:
    """What clears the floor; nothing, where not even the best of it answers the question."""
    if not any(item.evidence >= _EVIDENCE_FLOOR or item.nearness >= _NEARNESS_FLOOR for item in scored):
        return []
    top = scored[0].score
    return [
        item
        for item in scored
        if item.score >= _RELATIVE_FLOOR * top
        and (item.evidence >= _RECORD_EVIDENCE or item.nearness >= _RECORD_NEARNESS)
    ]


def _keep(index: Index, asked: Ask, answer: Answer, ranked: list[Hit]) -> None:
    """The current ones up to the limit; for a retired one its replacement, and a word on why."""
    kept: dict[str, Hit] = {}
    for hit in ranked:
        successor = replacement_of(hit.record, lambda ref: _successor(index, ref)) if _superseded(hit.record) else None
        gone = retirement(hit.record, successor)
        if gone is None or asked.everything or hit.why == "named":
            if gone is not None:
                hit.score *= current_weight(hit.record)
                hit.why += f", {gone.reason}"
            kept.setdefault(hit.record.ref, hit)
            continue
        answer.withheld.append(gone)
        if successor is not None and retirement(successor, None) is None and successor.ref not in kept:
            why = f"replaced {hit.record.ref}, which matches"
            kept[successor.ref] = Hit(record=successor, score=hit.score * 0.9, why=why, parts=hit.parts)
    answer.hits = sorted(kept.values(), key=lambda hit: (-hit.score, hit.record.ref))[: asked.limit]
    answer.truncated = len(kept) > asked.limit
    answer.withheld = _once(answer.withheld)


def _superseded(record: Record) -> bool:
    return record.status == "superseded"


def _successor(index: Index, ref: str) -> Record | None:
    for edge in index.edges_of(ref):
        if edge.predicate == "supersedes" and edge.target == ref and edge.status == "active":
            return index.find(edge.source)
    return None


def _once(withheld: list[Withheld]) -> list[Withheld]:
    return list({item.ref: item for item in withheld}.values())


def _why(item: Scored) -> str:
    reasons = []
    if item.words > 0:
        reasons.append("words")
    if item.nearness >= _RECORD_NEARNESS:
        reasons.append("meaning")
    return " and ".join(reasons) or "meaning"


def _parts(item: Scored, record: Record) -> dict[str, float]:
    return {
        "words": round(item.words, 4),
        "meaning": round(item.meaning, 4),
        "evidence": round(item.evidence, 4),
        "nearness": round(item.nearness, 4),
        "relevance": round(item.score, 4),
        "weight": round(record.weight, 4),
    }
