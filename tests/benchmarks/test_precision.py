"""How PrecisionMemBench is judged, on a small set of the same format; its figures, where the set itself is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import precision
from quire.index.search import Filter
from quire.retrieval.answer import Hit

PRESENT = pytest.mark.skipif(not precision._FOLDER.is_dir(), reason="the set is not beside the repository")


def belief(ref: str, content: str, **parts: Any) -> dict[str, Any]:
    held = {
        "_id": ref,
        "type": "preference",
        "user_id": "test-user",
        "scope": ["domain:garden"],
        "pinned": False,
        "superseded_by": None,
        "resolved_at": None,
        "aliases": [],
        "canonical_name": ref.replace("-", " "),
        "content": content,
        "why_it_matters": "",
        "updated_at": "2026-01-02T00:00:00Z",
    }
    return {**held, **parts}


BELIEFS = [
    belief("compost-heap", "Kitchen scraps go on the compost heap."),
    belief("old-sprayer", "Roses are sprayed with copper.", superseded_by="rose-care"),
    belief("rose-care", "Roses are pruned in March and never sprayed."),
    belief("pond-pump", "The pond pump runs at night.", pinned=True),
    belief("gate-question", "Should the gate get a lock?", type="open_question", pinned=True),
    belief("gate-answered", "Should the gate get a hinge?", type="open_question", resolved_at="2026-01-02T00:00:00Z"),
    belief("neighbour-roses", "Roses are fed with ash.", user_id="neighbour"),
    belief("rose-poem", "Roses stand for silence in the poem.", scope=["domain:writing"]),
]


def asked(name: str, query: str, named: list[str], **parts: Any) -> dict[str, Any]:
    expect = {"relevantBeliefs": {"shouldOnlyInclude": named}, **parts.pop("expect", {})}
    return {"caseId": name, "category": "Garden", "scope": ["domain:garden"], "query": query, "expect": expect, **parts}


def turn(number: int, message: str, named: list[str], **parts: Any) -> dict[str, Any]:
    expect = {"relevantBeliefs": {"shouldOnlyInclude": named}}
    return {"turnIndex": number, "scope": ["domain:garden"], "userMessage": message, "expect": expect, **parts}


@pytest.fixture
def small_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shed = belief("shed-roof", "The shed roof gets new tar each autumn.")
    heap = {"beliefId": "compost-heap", "addAliases": ["bokashi"]}
    always = {"pinnedFacts": {"mustInclude": ["pond-pump"]}, "openQuestions": {"mustInclude": ["gate-question"]}}
    files = {
        "beliefs.seed.json": BELIEFS,
        "retrieval.cases.json": [
            asked("superseded", "how are roses sprayed?", ["rose-care"], expect=always),
            asked("scopes", "roses", ["rose-care", "rose-poem"], scope=["domain:garden", "domain:writing"]),
            asked("pinned", "when does the pond pump run?", []),
            asked("no room", "how are roses pruned?", [], budget={"maxBeliefs": 1}),
            asked("question", "should the gate get a lock?", []),
            asked("nobody", "how are roses pruned?", [], userId="newcomer"),
            asked("not shown", "", [], expect={"pinnedFacts": {"mustInclude": ["compost-heap"]}}),
            asked("wrong", "where do kitchen scraps go?", ["rose-care"]),
        ],
        "session-retrieval.cases.json": [
            {"caseId": "first", "turns": [turn(0, "who tars the shed roof?", [], createBeliefAtTurn=shed)]},
            {
                "caseId": "second",
                "turns": [
                    turn(0, "who tars the shed roof?", ["shed-roof"], updateBeliefAtTurn=heap),
                    turn(1, "bokashi", ["compost-heap"]),
                ],
            },
        ],
    }
    for name, held in files.items():
        (tmp_path / name).write_text(json.dumps(held))
    monkeypatch.setattr(precision, "_FOLDER", tmp_path)


@pytest.mark.usefixtures("small_set")
def test_a_case_passes_when_the_results_are_the_beliefs_named_and_no_others() -> None:
    report = precision.run()["default"]
    assert [held for held in report["failed"] if ", turn" not in held["case"]] == [
        {"case": "not shown"},
        {"case": "wrong", "missing": ["rose-care"], "beside": ["compost-heap"]},
    ]
    assert report["single"]["passed"] == 6
    assert report["single"]["naming beliefs"] == {"cases": 3, "passed": 2}
    assert (report["single"]["precision"], report["single"]["recall"]) == (0.667, 0.667)


@pytest.mark.usefixtures("small_set")
def test_what_a_turn_makes_known_is_known_from_the_next_one_on() -> None:
    first, second, third = precision.turns()
    assert "shed-roof" not in {record.ref for record in first.records}
    assert "shed-roof" in {record.ref for record in second.records}
    assert all("bokashi" not in record.tags for record in second.records)
    assert any("bokashi" in record.tags for record in third.records)


@pytest.mark.usefixtures("small_set")
def test_a_session_passes_when_all_of_its_turns_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def shed_alone(case: precision.Case, **_: Any) -> list[Hit]:
        wanted = [record for record in case.records if record.ref in case.named & {"shed-roof"}]
        return [Hit(record=record, score=1.0, why="words", parts={}) for record in wanted]

    monkeypatch.setattr(precision, "search", shed_alone)
    report = precision.run()["default"]
    assert (report["turns"]["cases"], report["turns"]["passed"]) == (3, 2)
    assert report["sessions"] == {"cases": 2, "passed": 1}


@pytest.mark.usefixtures("small_set")
def test_questions_are_results_only_where_they_are_asked_for() -> None:
    failed = {held["case"]: held for held in precision.run()["default, questions let in"]["failed"]}
    assert "gate-question" in failed["question"]["beside"]


def test_results_are_judged_as_the_authors_do() -> None:
    case = precision.Case(
        name="",
        category="",
        session="",
        question="?",
        records=[],
        edges=[],
        filters=[Filter()],
        limit=4,
        pinned=frozenset({"pinned"}),
        named=frozenset({"a", "b"}),
        judged=True,
        forbidden=frozenset({"x"}),
        holds=True,
    )
    both = precision.judge(case, ["a", "pinned", "b", "b"])
    assert both.passed
    assert (both.precision, both.recall) == (1.0, 1.0)
    more = precision.judge(case, ["x", "y", "a", "b"])
    assert more.wrong == {"missing": ["b"], "beside": ["x", "y"], "forbidden": ["x"]}
    assert (more.precision, more.recall) == (pytest.approx(1 / 3), 0.5)
    nothing = precision.judge(case, [])
    assert (nothing.passed, nothing.precision, nothing.recall) == (False, 0.0, 0.0)


@pytest.mark.proof
@PRESENT
def test_all_cases_are_asked_and_what_is_found_is_current_and_in_scope() -> None:
    single, turned = list(precision.cases()), list(precision.turns())
    assert (len(single), len(turned), len({case.session for case in turned})) == (77, 12, 2)
    assert all(case.holds for case in [*single, *turned])
    verdicts = []
    for case in single:
        hits = precision.search(case)
        scopes = {tag for allowed in case.filters for tag in allowed.tags}
        assert all(hit.record.status == "active" and scopes & {*hit.record.tags} for hit in hits), case.name
        verdicts.append(precision.judge(case, [hit.record.ref for hit in hits]))
    assert sum(verdict.passed for verdict in verdicts) >= 44
    recalls = [verdict.recall for verdict in verdicts if verdict.recall is not None]
    assert sum(recalls) / len(recalls) >= 0.95
