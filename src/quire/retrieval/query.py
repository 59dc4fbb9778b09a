"""A question from beginning to end: seed, fuse, keep what is relevant and current, expand, render."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from quire.index import Filter, Index, index_text
from quire.model import EPOCH, Record, Verdict, instant
from quire.retrieval.answer import Answer, Hit, Withheld
from quire.retrieval.currency import REPLACEABLE, current_weight, replacement_of, retirement, trust
from quire.retrieval.expand import connected_to
from quire.retrieval.fuse import Scored, code_names, keywords, seed
from quire.retrieval.render import render

if TYPE_CHECKING:
    from quire.guard import Fence

_EVIDENCE_FLOOR, _NEARNESS_FLOOR = 0.45, 0.33
"""A question has an answer when its best record reaches one of these."""
_RECORD_EVIDENCE, _RECORD_NEARNESS = 0.2, 0.3
_RELATIVE_FLOOR = 0.2
_LENIENT_NEARNESS = 0.25
_CLOSEST = 3
_REPLACING = ("supersedes", "replaces")
_TAG_LOOK = 10
_NAME_MISSED = 0.8
_FORM_MISSED = 0.8
_FORM_LOOK = 20
_SPARE = 3
"""How many more records are verified than are wanted, so that doubt can cost one its place."""

__all__ = ["Ask", "ask"]


def _plain_weight(record: Record) -> float:
    return record.weight


class Governs(Protocol):
    """How closely a record governs some files, 0 for not at all; and which of them."""

    def __call__(self, record: Record) -> float: ...

    def files(self, record: Record) -> tuple[str, ...]: ...


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A question and how it is to be answered."""

    question: str
    budget: int
    limit: int
    allowed: Filter = Filter()
    governs: Governs | None = None
    """Only records that govern certain files."""
    about: str = ""
    """What to call the answer where there is no question."""
    everything: bool = False
    """Also what is stale, superseded or dead."""
    verify: Callable[[Sequence[Record]], dict[str, Verdict]] | None = None
    """Says of records whether they are still true of the code."""
    sharpness: float = 1.0
    """To which power relevance is taken before it is weighed: the higher, the less a weight can turn the order."""
    literal: bool = False
    """A few words are meant as they stand: what holds them all comes first."""
    rendered: bool = True
    """Whether the answer is wanted as a text; else only what was found is."""
    lenient: bool = False
    """Rank what there is, also where nothing clearly answers; the answer then says that it is weak."""
    weigh: Callable[[Record], float] = _plain_weight
    """Says what a record counts today."""
    fence: Fence | None = None
    """The marks to put around everything recalled, where a model reads the text."""


def ask(index: Index, asked: Ask) -> Answer:
    """The answer, rendered within the budget."""
    # A command line may hold bytes that are no text, which the index could not take.
    asked = msgspec.structs.replace(asked, question=asked.question.encode("utf-8", "replace").decode())
    answer = Answer(question=asked.question, heading=asked.question.strip() or asked.about, hits=[])
    if asked.question.strip():
        _search(index, asked, answer)
    elif asked.governs is not None:
        ranked = [
            Hit(
                record=record,
                score=close * current_weight(record, asked.weigh(record)),
                why="governs the file",
                parts={"closeness": close},
                files=asked.governs.files(record),
            )
            for record, close in _governing(index, asked.governs)
            if asked.allowed.allows(record)
        ]
        _keep(index, asked, answer, ranked)
    if asked.rendered:
        answer.connected, answer.open_questions = connected_to(index, answer.hits, asked.allowed)
        render(answer, asked.budget, asked.fence)
    return answer


def _search(index: Index, asked: Ask, answer: Answer) -> None:
    searcher = index.searcher()
    question = searcher.question(asked.question)
    allowed = asked.allowed
    if asked.governs is not None:
        # Before the search, not after it: what governs the file need not be among the best matches of the whole store.
        refs = tuple(record.ref for record, _ in _governing(index, asked.governs))
        allowed = msgspec.structs.replace(allowed, refs=refs)
    scored = seed(searcher, question, allowed, literal=asked.literal)
    relevant = _relevant(scored) or _tagged(index, question.words, scored)
    clear = {item.id for item in relevant}
    if asked.lenient:
        relevant = [item for item in scored if item.words > 0 or item.nearness >= _LENIENT_NEARNESS]
    named = [hit for hit in _named(index, asked.question) if allowed.allows(hit.record)]
    ranked = named + _hits(index, asked, relevant)
    _keep(index, asked, answer, list({hit.record.ref: hit for hit in reversed(ranked)}.values())[::-1])
    if asked.lenient:
        named_clearly = {record.ref for record in index.by_ids(list(clear)).values()}
        answer.weak = not any(
            hit.record.ref in named_clearly or hit.why == "named" for hit in (*answer.hits, *answer.faded)
        )
    if not answer.hits:
        others = _hits(index, asked, [item for item in scored if item not in relevant])
        answer.closest = [hit for hit in others if _retirement(asked, hit.record, None) is None][:_CLOSEST]


def _governing(index: Index, governs: Governs) -> list[tuple[Record, float]]:
    """Records and how closely they govern the file, the newest first."""
    return [(record, close) for record in index.records_anchored() if (close := governs(record))]


def _hits(index: Index, asked: Ask, scored: list[Scored]) -> list[Hit]:
    records = index.by_ids([item.id for item in scored])
    first = {item.id: records[item.id] for item in scored[:_FORM_LOOK] if item.id in records}
    lacking, bent = _lacking(asked.question, records), _bent(asked.question, first)
    found = []
    for item in scored:
        record = records.get(item.id)
        if record is not None:
            weight = current_weight(record, asked.weigh(record))
            missed = (_NAME_MISSED if item.id in lacking else 1.0) * (_FORM_MISSED if item.id in bent else 1.0)
            relevance = (item.score * missed) ** asked.sharpness
            parts = _parts(item, relevance, weight)
            found.append(Hit(record=record, score=relevance * weight, why=_why(item), parts=parts))
    return found


def _lacking(question: str, records: dict[int, Record]) -> set[int]:
    """Where somebody names a thing as the code does, the records that do not hold the very name, if others do."""
    names = [name.lower() for name in code_names(question)]
    if not names:
        return set()
    missing = set()
    for number, record in records.items():
        text = f"{record.title}\n{record.text}\n{record.ref}\n{' '.join(record.anchors)}".lower()
        if any(name not in text for name in names):
            missing.add(number)
    return missing if len(missing) < len(records) else set()


def _bent(question: str, records: dict[int, Record]) -> set[int]:
    """Of keywords, the records that do not hold each in the very form that was asked for, if others do."""
    forms = [re.compile(rf"\b{re.escape(word)}\b", re.I) for word in keywords(question)]
    if not forms:
        return set()
    found = set()
    for number, record in records.items():
        text = index_text(f"{record.title}\n{record.text}\n{record.ref}\n{' '.join(record.tags)}")
        if not all(form.search(text) for form in forms):
            found.add(number)
    return found if len(found) < len(records) else set()


def _retirement(asked: Ask, record: Record, successor: Record | None) -> Withheld | None:
    return retirement(record, successor, asked.weigh(record))


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


def _tagged(index: Index, words: list[str], scored: list[Scored]) -> list[Scored]:
    """Below the floor, a record may still have a word of the question as its tag: somebody meant it to be found so."""
    records = index.by_ids([item.id for item in scored[:_TAG_LOOK]])
    return [
        item
        for item in scored[:_TAG_LOOK]
        if item.words > 0 and (record := records.get(item.id)) and {tag.lower() for tag in record.tags} & set(words)
    ]


def _keep(index: Index, asked: Ask, answer: Answer, ranked: list[Hit]) -> None:
    """The current ones up to the limit; for a retired one its replacement, and a word on why."""
    kept: dict[str, Hit] = {}
    for hit in ranked:
        successor = replacement_of(hit.record, lambda ref: _successor(index, ref)) if _replaceable(hit.record) else None
        gone = _retirement(asked, hit.record, successor)
        if gone is None or asked.everything or hit.why == "named":
            if gone is not None:
                hit.why += f", {gone.reason}"
            kept.setdefault(hit.record.ref, hit)
            continue
        answer.withheld.append(gone)
        if gone.is_faded:
            answer.faded.append(hit)
        if successor is None or successor.ref in kept or not asked.allowed.allows(successor):
            continue
        if _retirement(asked, successor, None) is None:
            why = f"replaced {hit.record.ref}, which matches"
            score = hit.parts.get("relevance", hit.score) * 0.9
            kept[successor.ref] = Hit(record=successor, score=score, why=why, parts=hit.parts)
    answer.hits = _trusted(asked, sorted(kept.values(), key=_order))[: asked.limit]
    answer.beyond = max(0, len(kept) - asked.limit)
    answer.truncated = answer.beyond > 0
    answer.withheld = _once(answer.withheld)


def _trusted(asked: Ask, hits: list[Hit]) -> list[Hit]:
    """The best hits with their verdicts, in the order that these leave them."""
    if asked.verify is None:
        return hits
    judged = hits[: asked.limit + _SPARE]
    verdicts = asked.verify([hit.record for hit in judged])
    for hit in judged:
        hit.verdict = verdicts[hit.record.ref]
        hit.score *= trust(hit.verdict)
        hit.parts = {**hit.parts, "trust": trust(hit.verdict)}
    return sorted(judged, key=_order) + hits[len(judged) :]


def _order(hit: Hit) -> tuple[float, float, str]:
    """The best first; of equals the newer, and then by name, whatever order they came in."""
    updated = instant(hit.record.updated_at) or EPOCH
    return -hit.score, -updated.timestamp(), hit.record.ref


def _replaceable(record: Record) -> bool:
    return record.status in REPLACEABLE


def _successor(index: Index, ref: str) -> Record | None:
    for edge in index.edges_of(ref):
        if edge.predicate in _REPLACING and edge.target == ref and edge.status == "active":
            found = index.find(edge.source)
            if found is not None:
                return found
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


def _parts(item: Scored, relevance: float, weight: float) -> dict[str, float]:
    return {
        "words": round(item.words, 4),
        "meaning": round(item.meaning, 4),
        "evidence": round(item.evidence, 4),
        "nearness": round(item.nearness, 4),
        "relevance": round(relevance, 4),
        "weight": round(weight, 4),
    }
