"""Answers, possible ones, nothing: through the installed command, in every layer that can be asked."""

from pathlib import Path
from typing import Any

import pytest

from quire.model.tokens import count_tokens

SAFARI = {"kind": "gotcha", "title": "Safari websocket", "body": "Safari drops messages after sleep."}
NODES = [
    SAFARI,
    {"kind": "decision", "title": "Invoices are numbered without gaps", "body": "The tax office asks for it."},
    {"kind": "gotcha", "title": "Invoices are mailed at night", "body": "The provider limits us by day."},
    {"kind": "feature", "title": "Invoices as PDF", "body": "Rendered from HTML by the worker.", "stage": "shipped"},
    {"kind": "decision", "title": "Invoices live in Postgres", "body": "Two workers write invoices at once."},
]


@pytest.fixture
def one(memory: Any) -> Any:
    memory.init()
    memory.save(SAFARI)
    return memory


@pytest.fixture
def many(memory: Any) -> Any:
    memory.init()
    memory.save(*NODES)
    return memory


def tiers(run: Any) -> list[tuple[str, str]]:
    return [(item["ref"], item["tier"]) for item in run.data["results"]]


@pytest.mark.parametrize(
    "question",
    ["drops messages", "sleep", "safari", "websocket", "messages after sleep", "after sleep", "Safari drops"],
)
def test_the_words_of_the_only_record_are_never_denied(one: Any, question: str) -> None:
    assert tiers(one("query", question, "--json")) == [("gotcha.safari-websocket", "answer")]
    assert "Nothing" not in one("query", question).out


def test_what_is_possible_is_one_line_with_all_that_a_reader_needs(many: Any) -> None:
    run = many("query", "may a bill be cancelled after it was paid with a voucher?")
    lines = run.out.split("\n")
    assert lines[1] == "Nothing in the memory clearly answers this."
    assert lines[3] == "## Possible, not certain"
    shown = [line for line in lines if line.startswith("- ")]
    assert 1 <= len(shown) <= 3
    for line in shown:
        assert line.startswith(("- decision.invoices-", "- gotcha.invoices-", "- feature.invoices-"))
        assert line.endswith("unanchored, 2026-03-02]") or "20" in line.rpartition("[")[2]
    data = many("query", "may a bill be cancelled after it was paid with a voucher?", "--json").data
    assert {item["tier"] for item in data["results"]} == {"possible"}


def test_strict_gives_answers_alone(many: Any) -> None:
    question = "may a bill be cancelled after it was paid with a voucher?"
    run = many("query", question, "--strict", "--json")
    assert run.data["results"] == []
    assert "Nothing in the memory is near this." in many("query", question, "--strict").out
    assert tiers(many("query", "drops messages", "--strict", "--json")) == [("gotcha.safari-websocket", "answer")]


def test_explain_says_which_rule_left_a_record_out(many: Any) -> None:
    data = many("query", "drops messages", "--explain", "--json").data
    assert [item["ref"] for item in data["results"]] == ["gotcha.safari-websocket"]
    assert {item["ref"] for item in data["left_out"]} >= {"decision.invoices-live-in-postgres"}
    assert all(item["rule"].startswith("not near (") for item in data["left_out"])
    text = many("query", "drops messages", "--explain").out
    assert "left out  decision.invoices-live-in-postgres  not near (" in text
    strict = many(
        "query", "may a bill be cancelled after it was paid with a voucher?", "--strict", "--explain", "--json"
    ).data
    assert any(item["rule"].endswith("and only clear answers were requested") for item in strict["left_out"])
    assert "left_out" not in many("query", "drops messages", "--json").data


@pytest.mark.parametrize("budget", [100, 150, 300, 2000])
def test_possible_ones_keep_to_the_budget(many: Any, budget: int) -> None:
    out = many("query", "may a bill be cancelled after it was paid with a voucher?", "--budget", str(budget)).out
    assert count_tokens(out) <= budget


def test_facts_and_entries_follow_the_same_rule(memory: Any) -> None:
    memory.init()
    memory("facts", "store", "Constraints", "The aggregator allows sixty calls a minute.")
    memory("profile", "remember", "tools", "editor", "helix with the default keys")
    clear = memory("facts", "recall", "aggregator calls", "--json").data
    assert ([item["tier"] for item in clear["results"]], clear["weak"]) == (["answer"], False)
    assert (
        memory("facts", "recall", "how do we throttle other people's servers?", "--strict", "--json").data["results"]
        == []
    )
    found = memory("profile", "search", "helix", "--json").data
    assert ([item["tier"] for item in found["results"]], found["weak"]) == (["answer"], False)
    assert memory("profile", "search", "which diet does the user follow?", "--strict", "--json").data["results"] == []
    refs = [ref for ref, _ in tiers(memory("query", "sixty calls", "--json"))]
    assert refs[0].startswith("fact:")
    assert tiers(memory("query", "default keys", "--json"))[0] == ("profile:tools.editor", "answer")


def test_a_faded_fact_is_found_by_a_query_and_marked(memory: Any) -> None:
    memory.init()
    memory("facts", "store", "Constraints", "The aggregator allows sixty calls a minute.")
    later = {"MEMORY_NOW": "2028-01-01T00:00:00+00:00"}
    (item,) = memory("query", "how many calls does the aggregator allow?", "--json", env=later).data["results"]
    assert (item["faded"], item["tier"]) == (True, "answer")
    assert ", faded, " in memory("query", "how many calls does the aggregator allow?", env=later).out


@pytest.mark.parametrize(
    "question", ["x", "🎉", "the", '"', "NEAR(", "a OR b", "*", "-", "ἄλφα βῆτα", "検索の設定 configuration"]
)
def test_odd_questions_are_answered_with_nothing_and_no_error(many: Any, question: str) -> None:
    run = many("query", question, "--json")
    assert run.code == 0
    assert run.data["results"] == []


def test_a_million_letters_are_answered_from_their_beginning(many: Any, repo: Path) -> None:
    run = many("query", ("Postgres invoices " * 7_000)[:120_000], "--json")
    assert run.code == 0
    assert run.data["results"][0]["ref"] == "decision.invoices-live-in-postgres"
