"""Answer a question: measure relevance, sort into tiers, keep current records, follow one hop, render."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from quire.index.catalog import Index
from quire.index.search import Filter
from quire.layers.graph.layout import NO_DESCRIPTION
from quire.model.records import Record
from quire.model.times import EPOCH, instant
from quire.model.verdicts import Verdict
from quire.retrieval.answer import Answer, Hit, LeftOut
from quire.retrieval.connected import connected_to, put_amendments_first
from quire.retrieval.current_records import REPLACEABLE, current_weight, replacement_of, retirement, trust
from quire.retrieval.relevance import NEAR, Scored, measure, sort_for_a_prompt, sort_into_tiers

if TYPE_CHECKING:
    from quire.anchors.reach import Reach
    from quire.guard.boundary import Boundary

_POSSIBLE = 3
_REPLACING = ("supersedes", "replaces")
_SPARE = 3
"""How many more records are verified than are wanted, so that doubt can cost one its place."""
_RETIRED = 20
"""How many possible ones are looked at for those that are in force."""
_FAINT = 0.5
"""What a record that nobody confirmed for long counts at least, once it is shown: age matters, but does not decide."""
_EXPLAINED = 10
"""Of what was left out, so many are explained."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A question and how it is to be answered."""

    question: str
    budget: int
    limit: int
    allowed: Filter = Filter()
    governs: Reach | None = None
    """Only records that govern certain files."""
    about: str = ""
    """What to call the answer where there is no question."""
    everything: bool = False
    """Also what is stale, superseded or dead."""
    verify: Callable[[Sequence[Record]], dict[str, Verdict]] | None = None
    """Says of records whether they are still true of the code."""
    reviews: Callable[[Sequence[Record]], set[str]] | None = None
    """Says which records a person has looked at."""
    effects: Callable[[Sequence[Record]], dict[str, tuple[str, ...]]] | None = None
    """Says of records what harm could come of doing as they say."""
    sharpness: float = 1.0
    """Which root of its weight a record counts by: the higher, the less a weight can turn the order."""
    literal: bool = False
    """A few words are meant as they stand: what holds them all comes first."""
    rendered: bool = True
    """Whether the answer is wanted as a text; else only what was found is."""
    linked: bool = False
    """Whether the answer names what is connected to it; one that is rendered always does."""
    strict: bool = False
    """Answers alone, and nothing that is merely possible."""
    prompt: bool = False
    """It is what a user said to an agent, and nobody asked the memory: only what clearly concerns it counts."""
    rank_all: bool = False
    """Everything that was measured, in its order: for a caller that has rules of its own for what answers."""
    explain: bool = False
    """Whether the answer says of what was left out which rule did that."""
    weigh: Callable[[Record], float] = attrgetter("weight")
    """Says what a record counts today."""
    fence: Boundary | None = None
    """The marks to put around everything recalled, where a model reads the text."""


def ask(index: Index, asked: Ask) -> Answer:
    """Answer a question from the index, rendered within the budget if asked for."""
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
    if asked.reviews is not None and answer.hits:
        reviewed = asked.reviews([hit.record for hit in answer.hits])
        for hit in answer.hits:
            hit.reviewed = hit.record.ref in reviewed
    if asked.effects is not None and answer.hits:
        effects = asked.effects([hit.record for hit in answer.hits])
        for hit in answer.hits:
            hit.effects = effects.get(hit.record.ref, ())
    if asked.rendered or asked.linked:
        answer.connected, answer.open_questions = connected_to(index, answer.hits, asked.allowed)
    if asked.rendered:
        from quire.retrieval.render import render

        render(answer, asked.budget, asked.fence)
    return answer


def _search(index: Index, asked: Ask, answer: Answer) -> None:
    question = index.searcher().question(asked.question)
    allowed = asked.allowed
    if asked.governs is not None:
        # Before the search, not after it: what governs the file need not be among the best matches of the whole store.
        refs = tuple(record.ref for record, _ in _governing(index, asked.governs))
        allowed = msgspec.structs.replace(allowed, refs=refs)
    found = measure(index, question, allowed, literal=asked.literal)
    if asked.prompt:
        sort_for_a_prompt(found, question)
    else:
        sort_into_tiers(found, question)
    named = [hit for hit in _named(index, asked.question) if allowed.allows(hit.record)]
    ranked = named + _hits(index, asked, _worth_a_look(asked, found))
    repeats = _keep(index, asked, answer, list({hit.record.ref: hit for hit in reversed(ranked)}.values())[::-1])
    if asked.explain:
        _explain(index, asked, answer, found, repeats)


def _worth_a_look(asked: Ask, found: list[Scored]) -> list[Scored]:
    """All answers, then the first possible ones, those that hold every word of the question before others."""
    if asked.rank_all:
        return [item for item in found if item.words > 0 or item.nearness >= NEAR]
    answers = [item for item in found if item.tier == "answer"]
    if asked.strict or asked.prompt:
        return answers
    possible = [item for item in found if item.tier == "possible"]
    return [*answers, *sorted(possible, key=lambda item: not item.holds_all)[:_RETIRED]]


def _explain(index: Index, asked: Ask, answer: Answer, found: list[Scored], repeats: set[str]) -> None:
    """Record for the best records not shown which rule left them out."""
    shown = {hit.record.ref for hit in answer.hits} | {item.ref for item in answer.withheld}
    records = index.by_ids([item.id for item in found])
    for item in found:
        record = records.get(item.id)
        if record is None or record.ref in shown or len(answer.left_out) == _EXPLAINED:
            continue
        rule = item.left_out
        if record.ref in repeats:
            rule = "another record of the journal says it"
        elif item.tier == "answer":
            rule = f"more than the {asked.limit} results that were asked for"
        elif item.tier == "possible":
            rule += (
                ", and only clear answers were requested"
                if asked.strict
                else f", and {_POSSIBLE} nearer ones are shown"
            )
        parts = _parts(item, item.relevance, asked.weigh(record))
        answer.left_out.append(LeftOut(ref=record.ref, title=record.title, rule=rule, parts=parts))


def _governing(index: Index, governs: Reach) -> list[tuple[Record, float]]:
    """Records and how closely they govern the file, the newest first."""
    return [(record, close) for record in index.records_anchored() if (close := governs(record))]


def _hits(index: Index, asked: Ask, found: list[Scored]) -> list[Hit]:
    records = index.by_ids([item.id for item in found])
    hits = []
    for item in found:
        record = records.get(item.id)
        if record is not None and (item.tier == "answer" or item.holds_all or NO_DESCRIPTION not in record.text):
            weight = current_weight(record, asked.weigh(record))
            hits.append(
                Hit(
                    record=record,
                    score=_score(asked, item.relevance, weight),
                    why=_why(item),
                    parts=_parts(item, item.relevance, weight),
                    tier="answer" if item.tier == "answer" else "possible",
                    holds_all=item.holds_all,
                )
            )
    return hits


def _score(asked: Ask, relevance: float, weight: float) -> float:
    score: float = max(0.0, relevance) * weight ** (1 / asked.sharpness)
    return score


def _named(index: Index, question: str) -> list[Hit]:
    """A hit for the record whose ref or path is the whole question."""
    name = question.strip().strip("`")
    if " " in name:
        return []
    record = index.find(name) or index.find_path(name.removeprefix(".memory/"))
    return [Hit(record=record, score=2.0, why="named", parts={"named": 1.0})] if record else []


def _keep(index: Index, asked: Ask, answer: Answer, ranked: list[Hit]) -> set[str]:
    """Fill in current hits up to the limit and withheld records; return the refs dropped as repeats."""
    kept, faded = _in_force(index, asked, answer, ranked)
    answer.faded = len(faded)
    if _best(faded) > _best(kept.values()):
        kept.update((hit.record.ref, hit) for hit in _revived(asked, faded))
    elif not any(hit.holds_all for hit in kept.values()):
        kept.update((hit.record.ref, hit) for hit in _revived(asked, [hit for hit in faded if hit.holds_all]))
    once = _said_once(index, asked, sorted(kept.values(), key=_order))
    answers = [hit for hit in once if hit.tier == "answer"]
    possible = [hit for hit in once if hit.tier == "possible"]
    answer.beyond = max(0, len(answers) - asked.limit)
    answer.truncated = answer.beyond > 0
    answer.hits = _limited(asked, _trusted(asked, answers), possible)
    if not asked.literal:
        put_amendments_first(index, answer.hits)
    for hit in answer.hits:
        if hit.record.kind == "event":
            hit.session = next(iter(index.names_of(hit.record.ref)), "")
    shown = {hit.record.ref for hit in answer.hits}
    withheld = {item.ref: item for item in answer.withheld}
    answer.withheld = [item for ref, item in withheld.items() if ref not in shown]
    return set(kept) - {hit.record.ref for hit in once}


def _said_once(index: Index, asked: Ask, hits: list[Hit]) -> list[Hit]:
    if asked.rank_all or asked.everything or not any(hit.record.layer == "journal" for hit in hits):
        return hits
    from quire.retrieval.journal.repeats import without_repeats

    answers = [hit for hit in hits if hit.tier == "answer"]
    return without_repeats(index, asked.question, [*answers, *(hit for hit in hits if hit.tier != "answer")])


def _in_force(index: Index, asked: Ask, answer: Answer, ranked: list[Hit]) -> tuple[dict[str, Hit], list[Hit]]:
    """Return current hits, with replacements for retired ones; and separately the faded hits."""
    kept: dict[str, Hit] = {}
    faded: list[Hit] = []
    for hit in ranked:
        is_replaceable = hit.record.status in REPLACEABLE
        successor = replacement_of(hit.record, lambda ref: _successor(index, ref)) if is_replaceable else None
        gone = retirement(hit.record, successor, asked.weigh(hit.record))
        if gone is None or asked.everything or hit.why == "named":
            if gone is not None:
                hit.why += f", {gone.reason}"
            kept.setdefault(hit.record.ref, hit)
            continue
        if hit.tier == "answer" or hit.holds_all:
            answer.withheld.append(gone)
        if gone.is_faded:
            faded.append(hit)
        if successor is None or successor.ref in kept or not asked.allowed.allows(successor):
            continue
        if retirement(successor, None, asked.weigh(successor)) is None:
            why = f"replaced {hit.record.ref}, which matches"
            score = hit.parts.get("relevance", hit.score) * 0.9
            kept[successor.ref] = Hit(record=successor, score=score, why=why, parts=hit.parts, tier=hit.tier)
    return kept, faded


def _best(hits: Iterable[Hit]) -> float:
    """The highest relevance, without weights."""
    return max((hit.parts.get("relevance", hit.score) for hit in hits), default=0.0)


def _revived(asked: Ask, faded: list[Hit]) -> list[Hit]:
    """Mark faded hits as such and score them again with a minimum weight."""
    for hit in faded:
        hit.why += ", faded"
        hit.faded = True
        hit.score = _score(asked, hit.parts["relevance"], max(hit.parts["weight"], _FAINT))
    return faded


def _limited(asked: Ask, answers: list[Hit], possible: list[Hit]) -> list[Hit]:
    """Answers, then a few possible ones; one that holds every word of the question is not left out for others."""
    shown = answers[: asked.limit]
    if asked.limit > 1 and not asked.prompt and not any(hit.holds_all for hit in shown):
        holder = next((hit for hit in (*answers, *possible) if hit.holds_all), None)
        if holder is not None:
            shown = shown[: asked.limit - 1]
            possible = [holder, *(hit for hit in possible if hit is not holder)]
    most = min(asked.limit if asked.rank_all else _POSSIBLE, asked.limit - len(shown))
    return [*shown, *_verified(asked, possible[:most])]


def _verified(asked: Ask, hits: list[Hit]) -> list[Hit]:
    if asked.verify is not None and hits:
        verdicts = asked.verify([hit.record for hit in hits])
        for hit in hits:
            hit.verdict = verdicts[hit.record.ref]
    return hits


def _trusted(asked: Ask, hits: list[Hit]) -> list[Hit]:
    """Verify the best hits and sort them by score times trust."""
    judged = _verified(asked, hits[: asked.limit + _SPARE])
    for hit in judged:
        if hit.verdict is not None:
            hit.score *= trust(hit.verdict)
            hit.parts = {**hit.parts, "trust": trust(hit.verdict)}
    return sorted(judged, key=_order) + hits[len(judged) :]


def _order(hit: Hit) -> tuple[float, float, str]:
    """The best first; of equals the newer, and then by name, whatever order they came in."""
    updated = instant(hit.record.updated_at) or EPOCH
    return -hit.score, -updated.timestamp(), hit.record.ref


def _successor(index: Index, ref: str) -> Record | None:
    for edge in index.edges_of(ref):
        if edge.predicate in _REPLACING and edge.target == ref and edge.status == "active":
            found = index.find(edge.source)
            if found is not None:
                return found
    return None


def _why(item: Scored) -> str:
    if item.named:
        return "names it" if item.named == "name" else f"names its {item.named}"
    reasons = ["words"] if item.coverage or item.words > 0 else []
    if item.nearness >= NEAR or not reasons:
        reasons.append("meaning")
    return " and ".join(reasons)


def _parts(item: Scored, relevance: float, weight: float) -> dict[str, float]:
    return {
        "nearness": round(item.nearness, 4),
        "evidence": round(item.evidence, 4),
        "coverage": round(item.coverage, 4),
        "kinship": round(item.kinship, 4),
        "clearness": round(item.clearness, 4),
        "relevance": round(relevance, 4),
        "weight": round(weight, 4),
    }
