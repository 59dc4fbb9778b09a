"""PrecisionMemBench as a checklist: what must come back, what must not, and nothing else beside it.

The set was written for a memory of a person, with facts that are always shown and a portrait of the user. How it is
read here: a belief is a record, its name the title, its aliases tags, its text the content and why it matters. A scope
is a tag that the question is filtered by; what is true of the user everywhere belongs to the profile layer, which is
not asked. Superseded beliefs are superseded, resolved questions closed. A user is a project.

A case is judged by the beliefs that come back as answers or as connected to one. `clean` means that none came back
beside those named, `found` that all named came back, `kept out` that nothing forbidden came back anywhere; a case
passes when all three hold. Open questions and always-shown facts that come back are no mistake. That a certain open
question must be shown, whatever is asked, is counted apart: here the product map does that, not the query.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from benchmarks.corpus import searchable
from benchmarks.sets import DATA
from quire.index import Filter, Index
from quire.model import Edge, Record
from quire.retrieval import Answer, Ask, ask

BUDGET, LIMIT = 2_000, 10
_FOLDER = DATA / "precisionmembench"
_KINDS = {"open_question": "question", "decision": "decision", "entity": "feature", "relation": "gotcha"}
_EVERYWHERE = "user:universal"
_USER = "test-user"
_NOT_APPLICABLE = {
    "budget-ceiling-evicts-relevant-beliefs": "always-shown facts take the places; there are none in this layer",
    "budget-one-pinned-wins-over-relevant": "always-shown facts take the places; there are none in this layer",
    "recency-tiebreak-reinforcement": "only orders always-shown facts",
}

__all__ = ["Case", "Verdict", "run"]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    category: str
    user: str
    scopes: list[str]
    question: str
    limit: int
    expect: dict[str, dict[str, Any]]

    def listed(self, part: str, rule: str) -> frozenset[str]:
        return frozenset(self.expect.get(part, {}).get(rule, ()))


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    case: Case
    returned: frozenset[str]
    missing: frozenset[str]
    extra: frozenset[str]
    forbidden: frozenset[str]
    questions_missing: frozenset[str]
    empty: bool
    """Nothing could come back: no question, no room, or no belief of this user in this scope."""

    @property
    def passed(self) -> bool:
        return not (self.missing or self.extra or self.forbidden)


def run() -> dict[str, Any]:
    if not _FOLDER.is_dir():
        return {"skipped": "shared/data/precisionmembench is not beside the repository"}
    beliefs: list[dict[str, Any]] = _read("beliefs.seed.json")
    single = [_verdict(case, beliefs) for case in _single_cases() if case.name not in _NOT_APPLICABLE]
    session = list(_session_verdicts(beliefs))
    return {
        "single turn": _summary(single),
        "sessions": _summary(session),
        "by category": {
            category: _counts([verdict for verdict in single if verdict.case.category == category])
            for category in sorted({verdict.case.category for verdict in single})
        },
        "cases that do not apply": _NOT_APPLICABLE,
        "parts that do not apply": {
            "personaPrelude": "no portrait of the user in this layer yet; the rest of those cases is judged",
            "pinnedFacts, mustInclude": "no always-shown facts in this layer yet",
            "topicRetrieval": "earlier turns of a conversation are not records of this layer",
        },
        "failed": [_failure(verdict) for verdict in [*single, *session] if not verdict.passed],
    }


def _single_cases() -> Iterator[Case]:
    for held in _read("retrieval.cases.json"):
        yield Case(
            name=held["caseId"],
            category=held["category"],
            user=held.get("userId", _USER),
            scopes=held["scope"],
            question=held["query"],
            limit=held.get("budget", {}).get("maxBeliefs", LIMIT),
            expect=held["expect"],
        )


def _session_verdicts(beliefs: list[dict[str, Any]]) -> Iterator[Verdict]:
    """Every turn is a case; what a turn makes known is in the memory from the next one on."""
    known = {belief["_id"]: belief for belief in beliefs}
    for held in _read("session-retrieval.cases.json"):
        for turn in held["turns"]:
            case = Case(
                name=f"{held['caseId']}, turn {turn['turnIndex']}",
                category="Sessions",
                user=_USER,
                scopes=turn["scope"],
                question=turn["userMessage"],
                limit=LIMIT,
                expect=turn["expect"],
            )
            yield _verdict(case, list(known.values()))
            if made := turn.get("createBeliefAtTurn"):
                known[made["_id"]] = made
            if more := turn.get("updateBeliefAtTurn"):
                belief = known[more["beliefId"]]
                known[more["beliefId"]] = {**belief, "aliases": [*belief["aliases"], *more["addAliases"]]}


def _verdict(case: Case, beliefs: list[dict[str, Any]]) -> Verdict:
    mine = [belief for belief in beliefs if belief["user_id"] == case.user]
    pinned = {belief["_id"] for belief in mine if belief["pinned"]}
    with searchable(map(_record, mine), _edges(mine)) as index:
        answers = [_asked(index, case, scope) for scope in case.scopes]
    askable = any(_EVERYWHERE not in belief["scope"] and {*belief["scope"]} & {*case.scopes} for belief in mine)
    everything = frozenset(record.ref for answer in answers for record in _records(answer))
    questions = {record.ref for answer in answers for record in _records(answer) if record.status == "open"}
    returned = everything - pinned - questions
    named = case.listed("relevantBeliefs", "shouldOnlyInclude")
    judged = "shouldOnlyInclude" in case.expect.get("relevantBeliefs", {})
    forbidden = (
        (case.listed("relevantBeliefs", "mustExclude") & everything)
        | (case.listed("openQuestions", "mustExclude") & everything)
        | (case.listed("noiseCheck", "mustNotSurface") & everything)
        | (case.listed("pinnedFacts", "mustExclude") & (everything - questions))
    )
    return Verdict(
        case=case,
        returned=returned,
        missing=named - everything,
        extra=returned - named if judged else frozenset(),
        forbidden=frozenset(forbidden),
        questions_missing=case.listed("openQuestions", "mustInclude") - questions,
        empty=not (case.question.strip() and case.limit and askable),
    )


def _asked(index: Index, case: Case, scope: str) -> Answer:
    """A filter's tags must all be there, so that a case of two scopes is asked twice."""
    allowed = Filter(layers=("graph",), tags=(scope,))
    return ask(index, Ask(question=case.question, budget=BUDGET, limit=case.limit, allowed=allowed))


def _records(answer: Answer) -> list[Record]:
    links = [*answer.connected, *answer.open_questions]
    return [hit.record for hit in answer.hits] + [link.record for link in links]


def _record(belief: dict[str, Any]) -> Record:
    question = belief["type"] == "open_question"
    status = "open" if question else "active"
    if belief["superseded_by"]:
        status = "superseded"
    elif belief["resolved_at"]:
        status = "closed" if question else "stale"
    return Record(
        ref=belief["_id"],
        layer="profile" if _EVERYWHERE in belief["scope"] else "graph",
        kind=_KINDS.get(belief["type"], "decision"),
        title=belief["canonical_name"],
        text=f"{belief['content']} {belief['why_it_matters']}",
        status=status,
        path=belief["_id"],
        tags=(*belief["aliases"], *belief["scope"]),
        updated_at=belief["updated_at"],
    )


def _edges(beliefs: Iterable[dict[str, Any]]) -> Iterator[Edge]:
    for belief in beliefs:
        if successor := belief["superseded_by"]:
            yield _edge(successor, "supersedes", belief["_id"])
        for participant in belief.get("participants", ()):
            yield _edge(belief["_id"], belief.get("relation_type", "related_to"), participant)


def _edge(source: str, predicate: str, target: str) -> Edge:
    ref = f"rel.{source}.{predicate}.{target}"
    return Edge(ref=ref, source=source, predicate=predicate, target=target, status="active", path=ref)


def _summary(verdicts: list[Verdict]) -> dict[str, Any]:
    named = sum(len(verdict.case.listed("relevantBeliefs", "shouldOnlyInclude")) for verdict in verdicts)
    wanted = [verdict for verdict in verdicts if verdict.case.listed("openQuestions", "mustInclude")]
    return {
        **_counts(verdicts),
        "passed because nothing can come back": sum(verdict.passed and verdict.empty for verdict in verdicts),
        "beliefs named": named,
        "of them found": named - sum(len(verdict.missing) for verdict in verdicts),
        "beliefs beside them": sum(len(verdict.extra) for verdict in verdicts),
        "open questions to be shown": len(wanted),
        "of them shown": sum(not verdict.questions_missing for verdict in wanted),
    }


def _counts(verdicts: list[Verdict]) -> dict[str, int]:
    return {
        "cases": len(verdicts),
        "passed": sum(verdict.passed for verdict in verdicts),
        "found": sum(not verdict.missing for verdict in verdicts),
        "clean": sum(not verdict.extra for verdict in verdicts),
        "kept out": sum(not verdict.forbidden for verdict in verdicts),
    }


def _failure(verdict: Verdict) -> dict[str, Any]:
    parts = {"missing": verdict.missing, "beside": verdict.extra, "forbidden": verdict.forbidden}
    return {
        "case": verdict.case.name,
        "category": verdict.case.category,
        **{name: sorted(refs) for name, refs in parts.items() if refs},
    }


def _read(name: str) -> Any:
    return json.loads((_FOLDER / name).read_bytes())
