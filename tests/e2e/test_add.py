"""add: one thing is recorded, whichever layer it belongs to, and nothing twice without a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from terminal_here import typed

KINDS = ("feature", "decision", "gotcha", "question", "fact", "preference")


@pytest.fixture
def shop(repo: Path, memory: Any, git: Any) -> Any:
    (repo / "src").mkdir()
    (repo / "src/pay.py").write_text("def charge():\n    return 1\n")
    git.commit("code")
    memory.init()
    return memory


def node(memory: Any, ref: str) -> dict[str, Any]:
    found: dict[str, Any] = memory("inspect", ref, "--json").data["object"]
    return found


def test_each_kind_goes_to_its_layer_and_the_ref_is_printed(shop: Any) -> None:
    said = {kind: shop("add", kind, f"Something about {kind}s that nobody said").out for kind in KINDS}
    refs = {kind: text.split("\n")[1].strip() for kind, text in said.items()}
    assert [text.split(":")[0] for text in said.values()] == [f"Added {kind}" for kind in KINDS]
    assert refs["gotcha"] == "gotcha.something-about-gotchas-that-nobody-said"
    assert refs["fact"].startswith("fact:")
    assert refs["preference"] == "profile:user.something_about_preferences_that_nobody_said"
    for ref in refs.values():
        assert shop("inspect", ref).code == 0, ref


def test_a_reason_anchors_tags_and_a_stage_are_kept(shop: Any) -> None:
    shop("add", "decision", "Invoices live in Postgres\nSince March.", "--why", "two workers write", "--tag", "billing")
    shop("add", "feature", "CSV export", "--stage", "shipped", "--anchor", "src/pay.py#charge")
    decision = node(shop, "decision.invoices-live-in-postgres")
    assert (decision["title"], decision["tags"]) == ("Invoices live in Postgres", ["billing"])
    assert decision["body"].strip() == "Since March.\n\nWhy: two workers write"
    feature = node(shop, "feature.csv-export")
    assert (feature["stage"], feature["anchors"], feature["verdict"]) == ("shipped", ["src/pay.py#charge"], "fresh")
    assert node(shop, shop("add", "feature", "PDF").out.split("\n")[1].strip())["stage"] == "building"


def test_a_record_without_a_body_is_answered_with_its_title_once(shop: Any) -> None:
    shop("add", "gotcha", "Webhooks can arrive twice.", "--anchor", "src/pay.py")
    for asked in (("query", "do webhooks arrive twice?"), ("brief", "src/pay.py")):
        answered = shop(*asked).out
        assert answered.count("Webhooks can arrive twice") == 1, answered


def test_a_fact_has_a_section_and_a_preference_a_key(shop: Any) -> None:
    shop("add", "fact", "The e2e job needs two cores", "--section", "constraints")
    shop("add", "preference", "uv, never pip", "--key", "tools.package_manager")
    assert "Constraints" in shop("facts", "list").out
    assert shop("profile", "recall", "tools", "package_manager").code == 0


def test_the_text_may_come_from_standard_input(shop: Any) -> None:
    assert "gotcha.late-clocks" in shop("add", "gotcha", "-", stdin="Late clocks\nThey drift.\n").out
    assert node(shop, "gotcha.late-clocks")["body"].strip() == "They drift."


def test_what_is_recorded_already_is_not_recorded_twice(shop: Any) -> None:
    first = shop("add", "gotcha", "Webhooks can arrive twice", "--anchor", "src/pay.py")
    again = shop("add", "gotcha", "Webhooks can arrive twice", "--anchor", "src/pay.py")
    assert first.out.split("\n")[1] == again.out.split("\n")[1]
    shop("add", "preference", "Answer in German, always", "--key", "user.language")
    same = shop("add", "preference", "Answer in German, always", "--key", "user.tongue")
    assert same.code == 1
    assert "user.language" in same.out
    assert shop("add", "preference", "Answer in German, always", "--key", "user.tongue", "--force").code == 0


def test_a_similar_record_is_named(shop: Any) -> None:
    shop("add", "decision", "Retries run in the worker", "--why", "The web process must answer within two seconds.")
    near = shop("add", "decision", "Retries run in a worker", "--why", "The web process must answer in two seconds.")
    assert "decision.retries-run-in-the-worker" in near.err


def test_dry_run_writes_nothing(shop: Any, git: Any) -> None:
    git.commit("memory")
    assert shop("add", "gotcha", "Nothing yet", "--dry-run").out.startswith("Would add gotcha: Nothing yet")
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("Webhooks can arrive twice",), "Say what kind of record it is: feature, decision, gotcha"),
        ((), "Say what kind of record it is: feature, decision, gotcha"),
        (("gotch", "Late clocks"), "Unknown kind `gotch`. Did you mean `gotcha`?"),
        (("gotcha",), "The text is missing."),
        (("gotcha", " "), "The text is missing."),
        (("gotcha", "x", "--stage", "shipped"), "--stage is for a feature, not for a gotcha."),
        (("gotcha", "x", "--section", "Specs"), "--section is for a fact, not for a gotcha."),
        (("fact", "x", "--anchor", "src/pay.py"), "A fact has no anchors."),
        (("preference", "x", "--key", "nowhere.at_all"), "nowhere"),
        (("gotcha", "x", "--anchor", "../out.py"), "../out.py"),
        (("fact", "x", "--section", "Nonsense"), "Nonsense"),
        (("gotcha", "x y", "and more"), "Too many arguments: `and more`."),
        (("gotcha", "bell\x07 here"), "The text holds U+0007 (control character) at character 5."),
        (("gotcha", "x", "--title", "bell\x07"), "--title holds U+0007"),
        (("gotcha", "x", "--tag", ""), "--tag must not be empty."),
        (("gotcha", "x", "--anchor"), "`memory add --help` shows how it is used."),
        (("gotcha", "x", "--anchor", "/etc/passwd"), "--anchor `/etc/passwd` is absolute"),
        (("gotcha", "-"), "The text is 300,000 characters long; the limit is 200,000."),
        (("gotcha",), "`memory add gotcha -` reads the text from standard input."),
        (("decision", "Tokens", "--why", "ghp_" + "a1B2c3D4e5F6" * 3), "`--why` looks like a GitHub token"),
    ],
)
def test_what_cannot_be_added_is_an_error_and_leaves_nothing(
    shop: Any, git: Any, line: tuple[str, ...], said: str
) -> None:
    git.commit("memory")
    run = shop("add", *line, stdin="x" * 300_000 if line[-1:] == ("-",) else "")
    assert run.code in (1, 2)
    assert said in run.err
    assert "nodes.0" not in run.err
    assert "hint: " in run.err
    assert git("status", "--porcelain") == ""


def test_json_has_ref_kind_and_layer(shop: Any) -> None:
    data = shop("add", "fact", "Clocks drift", "--json").data
    assert {name: data[name] for name in ("kind", "layer", "title", "action", "dry_run")} == {
        "kind": "fact",
        "layer": "facts",
        "title": "Clocks drift",
        "action": "added",
        "dry_run": False,
    }


def test_without_a_memory_it_says_how_to_make_one(repo: Path, memory: Any) -> None:
    run = memory("add", "gotcha", "x")
    assert (run.code, "memory init" in run.err) == (3, True)


def test_on_a_terminal_it_asks_for_the_kind_and_about_what_is_similar(
    shop: Any, repo: Path, environment: dict[str, str]
) -> None:
    code, seen = typed(repo, environment, "memory", "add", "Webhooks can arrive twice", answers=["9", "gotcha"])
    assert (code, seen.count("What kind of record is it?")) == (0, 2)
    assert "gotcha.webhooks-can-arrive-twice" in seen
    line = ("memory", "add", "gotcha", "Webhooks may arrive twice", "--why", "Webhooks can arrive twice")
    code, seen = typed(repo, environment, *line, answers=["n"])
    assert "gotcha.webhooks-can-arrive-twice" in seen
    assert (code, "Nothing was added." in seen) == (1, True)
    code, seen = typed(repo, environment, *line, answers=["y"])
    assert (code, seen.count("warning: ")) == (0, 1)


def test_on_a_terminal_the_editor_opens_for_the_text(shop: Any, repo: Path, environment: dict[str, str]) -> None:
    editor = repo.parent / "editor"
    editor.write_text('#!/bin/sh\nprintf "Late clocks\\nThey drift.\\n# a comment\\n" > "$1"\n')
    editor.chmod(0o755)
    code, seen = typed(repo, {**environment, "EDITOR": str(editor)}, "memory", "add", "gotcha")
    assert (code, "gotcha.late-clocks" in seen) == (0, True)
    found = json.loads((repo / ".memory/memory/late-clocks.json").read_text())
    assert found["title"] == "Late clocks"
    editor.write_text('#!/bin/sh\n: > "$1"\n')
    code, seen = typed(repo, {**environment, "EDITOR": str(editor)}, "memory", "add", "gotcha")
    assert (code, "The text is empty." in seen) == (1, True)
    code, seen = typed(repo, {**environment, "EDITOR": "/nowhere/editor"}, "memory", "add", "gotcha")
    assert (code, "Nothing was added." in seen, "Set EDITOR" in seen) == (1, True, True)
