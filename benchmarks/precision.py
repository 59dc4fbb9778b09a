"""PrecisionMemBench as its authors run it: all 77 single questions, and two sessions of 12 turns.

A belief is a record: its name the title, its content and why it matters the text, its aliases and its scope tags. A
superseded belief is superseded, a resolved question closed, a user a project. A case is a search filtered by the tag of
its scope (one search for each, where it has two) and by kind: for beliefs, not for questions, as the authors' engine
and their vector baseline search. Their adapter for other memories lets questions in, as `questions let in` does. Only
results count, nothing that is connected or merely closest.

A case passes when the results are the beliefs named and no others, and nothing forbidden is among them. Precision is
the share of the results that is named, recall the share of the named that is found. The authors' mean of precision also
takes in, as 0, every case that names nothing and got something: `precision as published`.

What cannot apply: the authors' runner, not the memory, lists pinned facts and pinned open questions from the file of
beliefs, and shows a fixed portrait of the user. Pinned facts are therefore no results, but take places from them. The
lists are made likewise here, and judged; the portrait is left out. The runner also adds the participants of a relation
that was found, which results alone do not. What `topicRetrieval` says of earlier turns none of their runners reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

import msgspec

from benchmarks.corpus import searchable
from benchmarks.sets import DATA
from quire.index.search import Filter
from quire.model.records import Edge, Record
from quire.retrieval.answer import Hit
from quire.retrieval.query import Ask, ask

LIMIT = 20  # the authors' own, where a case sets none
_FOLDER = DATA / "precisionmembench"
_KINDS = {"open_question": "question", "decision": "decision", "entity": "feature", "relation": "gotcha"}
_BELIEFS = ("decision", "feature", "gotcha")
_EVERYWHERE = "user:universal"
_USER = "test-user"

__all__ = ["LIMIT", "Case", "Verdict", "cases", "judge", "run", "search", "turns"]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a memory, and what is expected of the results."""

    name: str
    category: str
    session: str
    """Of a turn: which it belongs to."""
    question: str
    records: list[Record]
    edges: list[Edge]
    filters: list[Filter]
    """One for each scope, since a filter's tags must all be there."""
    limit: int
    pinned: frozenset[str]
    """What is shown whatever is asked: it is no result, and takes a place from one."""
    named: frozenset[str]
    judged: bool
    """Whether nothing but what is named may come back."""
    forbidden: frozenset[str]
    holds: bool
    """Whether what is shown whatever is asked is as expected."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    case: Case
    passed: bool
    precision: float | None
    """None where nothing is named and nothing came back."""
    recall: float | None
    wrong: dict[str, list[str]]


def run() -> dict[str, Any]:
    if not _FOLDER.is_dir():
        return {"skipped": "shared/data/precisionmembench is not beside the repository"}
    asked, mixed = [*cases(), *turns()], [*cases(()), *turns(())]
    found = [search(case) for case in asked]
    clear = [[hit for hit in hits if getattr(hit, "tier", "answer") == "answer"] for hits in found]
    ways = {
        "default": _report(asked, found),
        "default, tier answer alone": _report(asked, clear),
        "default, questions let in": _report(mixed, [search(case) for case in mixed]),
    }
    if "strict" in Ask.__struct_fields__:
        ways["strict"] = _report(asked, [search(case, strict=True) for case in asked])
    return ways


def cases(kinds: tuple[str, ...] = _BELIEFS) -> Iterator[Case]:
    """The single questions."""
    beliefs = _read("beliefs.seed.json")
    return (_case(held, beliefs, kinds) for held in _read("retrieval.cases.json"))


def turns(kinds: tuple[str, ...] = _BELIEFS) -> Iterator[Case]:
    """The turns of the sessions; what one makes known is in the memory from the next one on, in later sessions too."""
    known = {belief["_id"]: belief for belief in _read("beliefs.seed.json")}
    for session in _read("session-retrieval.cases.json"):
        for turn in session["turns"]:
            name = f"{session['caseId']}, turn {turn['turnIndex']}"
            held = {**turn, "caseId": name, "category": "Sessions", "query": turn["userMessage"]}
            yield _case(held, list(known.values()), kinds, session["caseId"])
            if made := turn.get("createBeliefAtTurn"):
                known[made["_id"]] = made
            if more := turn.get("updateBeliefAtTurn"):
                belief = known[more["beliefId"]]
                known[more["beliefId"]] = {**belief, "aliases": [*belief["aliases"], *more["addAliases"]]}


def search(case: Case, **options: Any) -> list[Hit]:
    """The results. Without words or without places the authors' runner does not ask."""
    if not case.question.strip() or not case.limit:
        return []
    with searchable(case.records, case.edges) as index:
        asked = Ask(question=case.question, budget=0, limit=case.limit, rendered=False, **options)
        answers = [ask(index, msgspec.structs.replace(asked, allowed=allowed)) for allowed in case.filters]
    return [hit for answer in answers for hit in answer.hits]


def judge(case: Case, refs: Iterable[str]) -> Verdict:
    """What these are worth as results, the best first."""
    room = case.limit - len(case.pinned)
    results = {*[ref for ref in dict.fromkeys(refs) if ref not in case.pinned][:room]}
    right = results & case.named
    wrong = {
        "missing": case.named - results,
        "beside": results - case.named if case.judged else set(),
        "forbidden": results & case.forbidden,
    }
    return Verdict(
        case=case,
        passed=case.holds and not any(wrong.values()),
        precision=len(right) / max(1, len(results)) if results or case.named else None,
        recall=len(right) / len(case.named) if case.named else None,
        wrong={name: sorted(refs) for name, refs in wrong.items() if refs},
    )


def _case(held: dict[str, Any], beliefs: list[dict[str, Any]], kinds: tuple[str, ...], session: str = "") -> Case:
    user, expect = held.get("userId", _USER), held["expect"]
    limit = held.get("budget", {}).get("maxBeliefs", LIMIT)
    mine = [belief for belief in beliefs if belief["user_id"] == user]
    shown: dict[str, list[str]] = {"pinnedFacts": [], "openQuestions": []}
    for belief in mine:
        gone = belief["superseded_by"] or belief["resolved_at"]
        if belief["pinned"] and not gone and {*belief["scope"]} & {*held["scope"]}:
            shown["openQuestions" if belief["type"] == "open_question" else "pinnedFacts"].append(belief["_id"])
    shown["pinnedFacts"] = shown["pinnedFacts"][:limit]
    wanted = expect.get("relevantBeliefs", {})
    forbidden = {*wanted.get("mustExclude", ()), *expect.get("noiseCheck", {}).get("mustNotSurface", ())}
    holds = forbidden.isdisjoint(shown["pinnedFacts"])
    for part, refs in shown.items():
        rules = expect.get(part, {})
        holds &= {*rules.get("mustInclude", ())} <= {*refs} and {*rules.get("mustExclude", ())}.isdisjoint(refs)
    return Case(
        name=held["caseId"],
        category=held["category"],
        session=session,
        question=held["query"],
        records=[_record(belief) for belief in mine],
        edges=list(_edges(mine)),
        filters=[Filter(kinds=kinds, tags=(scope,)) for scope in held["scope"]],
        limit=limit,
        pinned=frozenset(shown["pinnedFacts"]),
        named=frozenset(wanted.get("shouldOnlyInclude", ())),
        judged="shouldOnlyInclude" in wanted,
        forbidden=frozenset(forbidden),
        holds=holds,
    )


def _record(belief: dict[str, Any]) -> Record:
    status, resolved = ("open", "closed") if belief["type"] == "open_question" else ("active", "stale")
    if belief["superseded_by"] or belief["resolved_at"]:
        status = "superseded" if belief["superseded_by"] else resolved
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
        relation = belief.get("relation_type", "related_to")
        ends = [(belief["_id"], relation, participant) for participant in belief.get("participants", ())]
        if successor := belief["superseded_by"]:
            ends.append((successor, "supersedes", belief["_id"]))
        for source, predicate, target in ends:
            ref = f"rel.{source}.{predicate}.{target}"
            yield Edge(ref=ref, source=source, predicate=predicate, target=target, status="active", path=ref)


def _report(asked: list[Case], found: list[list[Hit]]) -> dict[str, Any]:
    verdicts = [judge(case, [hit.record.ref for hit in hits]) for case, hits in zip(asked, found, strict=True)]
    single = [verdict for verdict in verdicts if not verdict.case.session]
    turned = [verdict for verdict in verdicts if verdict.case.session]
    sessions = {verdict.case.session for verdict in turned}
    failed = [verdict for verdict in verdicts if not verdict.passed]
    return {
        "single": _figures(single),
        "turns": _figures(turned),
        "sessions": {"cases": len(sessions), "passed": len(sessions - {verdict.case.session for verdict in failed})},
        "by category": {
            category: _counts([verdict for verdict in single if verdict.case.category == category])
            for category in sorted({verdict.case.category for verdict in single})
        },
        "failed": [{"case": verdict.case.name, **verdict.wrong} for verdict in failed],
    }


def _figures(verdicts: list[Verdict]) -> dict[str, Any]:
    naming = [verdict for verdict in verdicts if verdict.case.named]
    return {
        **_counts(verdicts),
        "naming beliefs": _counts(naming),
        "precision": _mean(verdict.precision for verdict in naming),
        "recall": _mean(verdict.recall for verdict in naming),
        "precision as published": _mean(verdict.precision for verdict in verdicts),
    }


def _counts(verdicts: list[Verdict]) -> dict[str, int]:
    return {"cases": len(verdicts), "passed": sum(verdict.passed for verdict in verdicts)}


def _mean(values: Iterable[float | None]) -> float:
    return round(fmean(value for value in values if value is not None), 3)


def _read(name: str) -> Any:
    return json.loads((_FOLDER / name).read_bytes())
