"""The benchmarks of facts: the figures that the committed results promise, and that the measuring itself is right."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import facts_recall, facts_speed
from quire.layers.facts.lines import encode_record
from quire.layers.facts.types import Episode, Fact

needs_facts = pytest.mark.skipif(
    isinstance(facts_recall.load(), str), reason="the real facts lie outside the repository"
)


@pytest.fixture(scope="module")
def recalled() -> dict[str, Any]:
    return facts_recall.run()


@pytest.fixture(scope="module")
def timed() -> dict[str, Any]:
    return facts_speed.measure([60, 120], rounds=2)


# -- recall -----------------------------------------------------------------------------------


@pytest.mark.proof
@needs_facts
def test_recall_finds_what_was_promised(recalled: dict[str, Any]) -> None:
    assert (recalled["facts"], recalled["questions"], recalled["questions without an answer"]) == (1797, 21, 1)
    ours = recalled["ways"][facts_recall.OURS]["all"]
    assert ours["MRR"] > facts_recall.TARGETS["MRR"]
    assert ours["hit@5"] > facts_recall.TARGETS["hit@5"]
    assert all(target["reached"] for target in recalled["targets"].values())


@pytest.mark.proof
@needs_facts
def test_recall_is_no_worse_than_either_baseline(recalled: dict[str, Any]) -> None:
    ways = {name: found["all"] for name, found in recalled["ways"].items()}
    for baseline in (facts_recall.PLAIN, facts_recall.STEMMED):
        assert ways[facts_recall.OURS]["MRR"] > ways[baseline]["MRR"]
        assert ways[facts_recall.OURS]["hit@5"] >= ways[baseline]["hit@5"]


@needs_facts
def test_what_has_no_answer_is_said_to_be_weak(recalled: dict[str, Any]) -> None:
    told = recalled["questions without an answer, what came back"][facts_recall.OURS]
    assert told["said to be weak"] == 1
    assert told["answerable said to be weak"] == 0


@needs_facts
def test_the_plain_baseline_is_the_one_that_was_recorded() -> None:
    loaded = facts_recall.load()
    assert not isinstance(loaded, str)
    baseline = facts_recall._baselines(loaded[0])[facts_recall.PLAIN]
    rows = json.loads((facts_recall.FACTS / "golden" / "recall-eval.json").read_bytes())["queries"]
    recorded = {row["query"]: [found["id"] for found in row["fts_or_top10"]] for row in rows}
    assert {query: baseline(query).ids for query in recorded} == recorded


def test_absent_facts_are_skipped_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_recall, "FACTS", tmp_path)
    assert "not beside the repository" in facts_recall.run()["skipped"]
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "recall-eval.json").write_text('{"corpus": "gone.jsonl (facts only)", "queries": []}')
    assert "not beside the repository" in facts_recall.run()["skipped"]


def test_figures_are_those_of_the_textbook() -> None:
    asked = [
        facts_recall.Asked("paraphrase", "first", ("a",)),
        facts_recall.Asked("paraphrase", "fourth", ("b", "c")),
        facts_recall.Asked("identifier", "tenth", ("d",)),
        facts_recall.Asked("identifier", "beyond", ("e",)),
        facts_recall.Asked("negative", "none", ()),
    ]
    found = [
        facts_recall.Found(["a", "x"]),
        facts_recall.Found(["x", "y", "z", "c", "b"]),
        facts_recall.Found([*"qrstuvwxy", "d"]),
        facts_recall.Found([*"qrstuvwxyz", "e"]),
        facts_recall.Found(["x"]),
    ]
    assert facts_recall.figures(asked, found) == {
        "all": {"questions": 4, "MRR": 0.3375, "hit@1": 0.25, "hit@5": 0.5, "hit@10": 0.75},
        "identifier": {"questions": 2, "MRR": 0.05, "hit@1": 0.0, "hit@5": 0.0, "hit@10": 0.5},
        "paraphrase": {"questions": 2, "MRR": 0.625, "hit@1": 0.5, "hit@5": 1.0, "hit@10": 1.0},
    }


def test_a_comparison_counts_questions_and_knows_how_little_they_say() -> None:
    asked = [facts_recall.Asked("paraphrase", str(number), ("a",)) for number in range(4)]
    ours = [
        facts_recall.Found(["a"]),
        facts_recall.Found(["a"]),
        facts_recall.Found(["x", "a"]),
        facts_recall.Found([]),
    ]
    theirs = [
        facts_recall.Found(["a"]),
        facts_recall.Found(["x", "a"]),
        facts_recall.Found(["a"]),
        facts_recall.Found([]),
    ]
    compared = facts_recall._compared(asked, ours, theirs)
    assert (compared["better"], compared["the same"], compared["worse"], compared["MRR more"]) == (1, 2, 1, 0.0)
    low, high = compared["90 % interval"]
    assert low < 0 < high


# -- speed ------------------------------------------------------------------------------------


@pytest.mark.proof
def test_everything_is_measured_at_every_size(timed: dict[str, Any]) -> None:
    for size in ("60 facts", "120 facts"):
        assert set(timed[size]["CPU, ms"]) == {
            "bare table",
            "rebuild",
            "first open after a foreign change",
            "open, nothing changed",
            "store",
            "recall",
            "raw FTS5 OR",
            "recall, one section",
            "context",
            "archive",
            "supersede",
        }
        assert all(spent > 0 for spent in timed[size]["wall, ms"].values())
    assert set(timed["60 facts"]["over the smallest store"].values()) == {1.0}


def test_a_store_appends_one_line_and_rewrites_nothing(timed: dict[str, Any]) -> None:
    assert timed["targets"]["every store appended one line"] is True
    for size in ("60 facts", "120 facts"):
        assert timed[size]["stores that did more than append"] == 0
        assert 200 < timed[size]["bytes"]["appended by a store"] < 800


def test_a_file_that_was_rewritten_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_bytes(b"one\ntwo\n")
    watched = facts_speed.Watched(file)
    assert not watched.has_one_line_more()
    with file.open("ab") as end:
        end.write(b"three\n")
    assert watched.has_one_line_more()
    assert watched.added() == 6
    with file.open("ab") as end:
        end.write(b"four\n")
    assert not watched.has_one_line_more()
    file.write_bytes(b"ONE\ntwo\nthree\n")
    assert not watched.has_one_line_more()
    (tmp_path / "new").write_bytes(b"one\ntwo\nthree\n")
    os.replace(tmp_path / "new", file)
    assert not watched.has_one_line_more()


def test_the_same_seed_makes_the_same_facts() -> None:
    made = list(facts_speed.make_lines(200, "a"))
    assert [encode_record(line) for line in made] == [encode_record(line) for line in facts_speed.make_lines(200, "a")]
    assert made != list(facts_speed.make_lines(200, "b"))
    facts = [line for line in made if isinstance(line, Fact)]
    assert len(facts) == len({fact.id for fact in facts}) == 200
    assert sum(isinstance(line, Episode) for line in made) == 7
    assert Counter(fact.status for fact in facts) == {"active": 180, "archived": 20}


def test_facts_are_as_long_and_as_uneven_as_prose() -> None:
    texts = [line.content.lower() for line in facts_speed.make_lines(500, "c") if isinstance(line, Fact)]
    assert {15, 40} <= {len(text.split()) for text in texts} <= set(range(15, 41))
    counts = [number for _, number in Counter(" ".join(texts).replace(".", "").split()).most_common()]
    assert len(counts) > 3_000
    assert counts[0] > 20 * counts[99]
