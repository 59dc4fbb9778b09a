"""Branches that disagree: both values are kept and shown, every command goes on, and a person settles it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commanding import Here

from installed import Git
from quire.files.world import real_world
from quire.project import Project
from quire.verbs.agents.session_brief import hook_start


@pytest.fixture
def here(repo: Path, git: Git, environment: dict[str, str]) -> Here:
    """A clone whose git merges by record, with a feature of three paragraphs and a decision."""
    found = Here(repo, environment)
    (repo / "src").mkdir()
    (repo / "src/pay.py").write_text("def pay(): return 1\n")
    assert found("init").code == 0
    save(found, {"kind": "feature", "title": "Pay", "body": "One.\n\nTwo.\n\nThree.", "anchors": ["src/pay.py"]})
    save(found, {"kind": "decision", "title": "Queue", "body": "In Postgres."})
    assert found("integrate", "git", "--yes").code == 0
    git("add", "-A")
    git("commit", "-qm", "base")
    git("branch", "-M", "main")
    git("update-ref", "refs/remotes/origin/main", "main")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    return found


def save(here: Here, *nodes: dict[str, object], **lists: object) -> None:
    said = here("save", "--stdin", stdin=json.dumps({"task": "a change", "nodes": list(nodes), **lists}))
    assert said.code == 0, said.err


def branch(here: Here, git: Git, name: str, *nodes: dict[str, object], **lists: object) -> None:
    git("checkout", "-qb", name, "main")
    save(here, *nodes, **lists)
    git("add", "-A")
    git("commit", "-qm", name)
    git("checkout", "-q", "main")


def disagree(here: Here, git: Git, first: dict[str, object], second: dict[str, object]) -> None:
    branch(here, git, "one", {"id": "feature.pay", **first})
    branch(here, git, "two", {"id": "feature.pay", **second})
    git("merge", "-q", "--no-edit", "one")
    git("merge", "-q", "--no-edit", "two")


def test_both_values_are_kept_and_shown_everywhere(here: Here, git: Git, repo: Path) -> None:
    disagree(here, git, {"stage": "paused", "tags": ["a"]}, {"stage": "building", "tags": ["b"]})
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert node["contested"] == ["stage: paused | building"]
    assert sorted(node["tags"]) == ["a", "b"]
    for words in (("inspect", "feature.pay"), ("query", "pay"), ("brief", "src/pay.py"), ("status",)):
        assert "stage: paused | building" in here(*words).out
    checked = here("check", "--json").data
    assert checked["valid"]
    assert [problem["code"] for problem in checked["warnings"]] == ["RecordContested", "ProductMapStale"]
    project = Project(str(repo), real_world())
    assert (
        "Branches disagree on feature.pay"
        in hook_start(project, client="claude", session="s", tokens=2000, chars=9000).text
    )
    save(here, {"id": "feature.pay", "stage": "paused"})
    assert here("check", "--json").data["warnings"] == []
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert (node["stage"], node["contested"]) == ("paused", [])
    assert "building" not in json.dumps(json.loads((repo / ".memory/memory/pay.json").read_text()))


def test_other_fields_and_paragraphs_are_no_disagreement(here: Here, git: Git, repo: Path) -> None:
    disagree(
        here,
        git,
        {"body": "One, changed.\n\nTwo.\n\nThree.", "stage": "shipped"},
        {"body": "One.\n\nTwo.\n\nThree, too.", "title": "Payments"},
    )
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert (node["title"], node["stage"], node["contested"]) == ("Payments", "shipped", [])
    assert node["body"].strip() == "One, changed.\n\nTwo.\n\nThree, too."
    assert not node["edited_by_hand"]
    assert here("fold").code == 0
    assert here("check", "--json").data["warnings"] == []


def test_a_paragraph_that_both_changed_stands_there_twice(here: Here, git: Git) -> None:
    disagree(here, git, {"body": "One.\n\nTwo is blue.\n\nThree."}, {"body": "One.\n\nTwo is red.\n\nThree."})
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert [said.partition(":")[0] for said in node["contested"]] == ["body"]
    assert "Two is blue." in node["body"]
    assert "Two is red." in node["body"]
    save(here, {"id": "feature.pay", "body": "One.\n\nTwo is red.\n\nThree."})
    assert here("inspect", "feature.pay", "--json").data["object"]["contested"] == []


def test_a_relation_to_a_node_that_another_branch_deleted_is_repaired(here: Here, git: Git) -> None:
    branch(here, git, "one", delete=[{"id": "decision.queue", "reason": "moot"}])
    branch(here, git, "two", {"id": "feature.pay", "related": [{"predicate": "depends_on", "to": "decision.queue"}]})
    git("merge", "-q", "--no-edit", "one")
    git("merge", "-q", "--no-edit", "two")
    assert [problem["code"] for problem in here("check", "--json").data["errors"]] == ["RelationEndpointMissing"]
    assert here("check", "--repair").code == 0
    assert here("inspect", "feature.pay", "--json").data["relations"]["outgoing"] == []


def test_stale_and_superseded_on_both_sides(here: Here, git: Git) -> None:
    branch(here, git, "one", stale=[{"id": "decision.queue", "reason": "old"}])
    by = {"kind": "decision", "title": "Redis", "body": "In Redis."}
    branch(
        here,
        git,
        "two",
        by,
        {"id": "feature.pay", "tags": ["x"]},
        supersede=[{"id": "decision.queue", "superseded_by": "decision.redis", "reason": "moved"}],
    )
    branch(
        here,
        git,
        "three",
        {"kind": "decision", "title": "Kafka", "body": "In Kafka."},
        supersede=[{"id": "decision.queue", "superseded_by": "decision.kafka", "reason": "moved"}],
    )
    for name in ("one", "two", "three"):
        git("merge", "-q", "--no-edit", name)
    node = here("inspect", "decision.queue", "--json").data["object"]
    assert node["status"] == "superseded"
    assert node["contested"] == ["superseded_by: decision.redis | decision.kafka"]
