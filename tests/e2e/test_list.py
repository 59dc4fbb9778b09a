"""list: what is recorded in all layers, the newest first, chosen by what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from terminal_here import typed


@pytest.fixture
def shop(repo: Path, memory: Any, git: Any) -> Any:
    (repo / "src").mkdir()
    (repo / "src/pay.py").write_text("def charge():\n    return 1\n")
    git.commit("code")
    memory.init()
    days = iter(range(1, 30))

    def add(*line: str) -> None:
        assert memory("add", *line, env={"MEMORY_NOW": f"2026-03-{next(days):02}T12:00:00Z"}).code == 0

    add("feature", "CSV export", "--stage", "shipped", "--tag", "billing")
    add("gotcha", "Webhooks can arrive twice", "--anchor", "src/pay.py", "--tag", "billing")
    add("fact", "The e2e job needs two cores", "--tag", "ci")
    add("preference", "Answer in German")
    add("question", "Do we need retries?")
    return memory


def refs(memory: Any, *line: str) -> list[str]:
    return [item["ref"].partition(":")[0].partition(".")[0] for item in memory("list", *line, "--json").data["results"]]


def test_all_layers_newest_first(shop: Any) -> None:
    assert [ref for ref in refs(shop) if ref != "project"] == ["question", "profile", "fact", "gotcha", "feature"]


def test_earlier_states_of_the_journal_are_listed_where_they_are_asked_for(shop: Any) -> None:
    assert shop("journal", "init").code == 0
    assert "checkpoint" not in refs(shop)
    assert refs(shop, "--kind", "checkpoint") == ["checkpoint"]


def test_in_a_pipe_each_record_is_a_line_with_tabs(shop: Any) -> None:
    lines = shop("list", "--kind", "gotcha").out.splitlines()
    assert [line.split("\t") for line in lines] == [
        ["2026-03-02", "gotcha", "gotcha.webhooks-can-arrive-twice", "", "", "Webhooks can arrive twice"]
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (("--kind", "gotcha,fact"), ["fact", "gotcha"]),
        (("--kind", "gotchas"), ["gotcha"]),
        (("--kind", "preference"), ["profile"]),
        (("--layer", "facts,profile"), ["profile", "fact"]),
        (("--stage", "shipped"), ["feature"]),
        (("--tag", "billing"), ["gotcha", "feature"]),
        (("--tag", "billing,ci"), []),
        (("--status", "open"), ["question"]),
        (("--verdict", "fresh"), ["gotcha"]),
        (("--since", "2026-03-03", "--layer", "facts,profile"), ["profile", "fact"]),
        (("--limit", "1", "--tag", "billing"), ["gotcha"]),
    ],
)
def test_filters(shop: Any, line: tuple[str, ...], found: list[str]) -> None:
    assert refs(shop, *line) == found


def test_what_is_out_of_date_is_found_by_its_verdict(shop: Any, repo: Path) -> None:
    (repo / "src/pay.py").write_text("def charge():\n    return 2\n")
    assert refs(shop, "--verdict", "changed,moved,orphaned") == ["gotcha"]
    assert "\tchanged\t" in shop("list", "--kind", "gotcha").out


def test_retired_records_are_listed_when_asked_for(shop: Any) -> None:
    shop("save", "--stdin", stdin={"task": "t", "stale": [{"id": "gotcha.webhooks-can-arrive-twice", "reason": "x"}]})
    assert refs(shop, "--kind", "gotcha") == []
    assert refs(shop, "--kind", "gotcha", "--status", "stale") == ["gotcha"]
    assert refs(shop, "--kind", "gotcha", "--status", "all") == ["gotcha"]
    assert "\tstale\t" in shop("list", "--kind", "gotcha", "--status", "all").out


def test_more_than_the_limit_is_said(shop: Any) -> None:
    run = shop("list", "--limit", "2")
    assert len(run.out.splitlines()) == 3
    assert "more records: `--limit" in run.out
    assert shop("list", "--limit", "2", "--json").data["total"] == 6


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("--kind", "nonsense"), "Unknown kind `nonsense`."),
        (("--layer", "nonsense"), "Unknown layer `nonsense`."),
        (("--stage", "nonsense"), "Unknown stage `nonsense`."),
        (("--verdict", "nonsense"), "Unknown verdict `nonsense`."),
        (("--since", "yesterday"), "`yesterday` is not a date."),
        (("--limit", "0"), "limit"),
        (("--limit", "many"), "limit"),
        (("extra",), "extra"),
    ],
)
def test_what_is_not_understood_is_an_error(shop: Any, line: tuple[str, ...], said: str) -> None:
    run = shop("list", *line)
    assert run.code in (1, 2)
    assert said in run.err


def test_nothing_is_said_plainly(repo: Path, memory: Any) -> None:
    assert memory("list").code == 3
    memory.init()
    assert memory("list", "--kind", "gotcha").out == (
        "No record matches. `memory list` without filters shows all of them.\n"
    )


def test_on_a_terminal_there_are_columns_that_fit(shop: Any, repo: Path, environment: dict[str, str]) -> None:
    code, seen = typed(repo, environment, "memory", "list", "--tag", "billing", columns=90)
    lines = seen.splitlines()
    assert code == 0
    assert [line.index("gotcha.") if "gotcha." in line else line.index("feature.") for line in lines] == [21, 21]
    assert all(len(line) <= 90 for line in lines)


def test_a_query_with_filters_and_no_question_lists(shop: Any) -> None:
    assert shop("query", "--kind", "gotcha").out == shop("list", "--kind", "gotcha").out
    assert shop("query").code == 2
