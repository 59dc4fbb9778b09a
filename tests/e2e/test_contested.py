"""Branches that disagree: both values are kept and shown, every command goes on, and a person settles it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from branches_here import clone, in_conflict, on_branch, save
from commanding import Here
from terminal_here import typed

from installed import Git, Memory
from quire.files.world import real_world
from quire.project import Project
from quire.upkeep.views.record import Disagreement
from quire.verbs.agents.session_brief import hook_start
from quire.verbs.page.record_views import ViewRecord, view_record


@pytest.fixture
def here(repo: Path, git: Git, environment: dict[str, str]) -> Here:
    """A clone whose git merges by record, with a feature of three paragraphs and a decision."""
    return clone(repo, git, environment, lambda here: here("integrate", "git", "--yes"))


def branch(here: Here, git: Git, name: str, *nodes: dict[str, object], **lists: object) -> None:
    on_branch(git, name, lambda: save(here, *nodes, **lists))


def disagree(here: Here, git: Git, first: dict[str, object], second: dict[str, object]) -> None:
    branch(here, git, "one", {"id": "feature.pay", **first})
    branch(here, git, "two", {"id": "feature.pay", **second})
    git("merge", "-q", "--no-edit", "one")
    git("merge", "-q", "--no-edit", "two")


def test_both_values_are_kept_and_shown_everywhere(here: Here, git: Git, repo: Path) -> None:
    disagree(
        here,
        git,
        {"stage": "paused", "tags": ["a"], "title": "Pay | now"},
        {"stage": "building", "tags": ["b"], "title": "Pay later"},
    )
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert node["contested"] == ["stage: paused | building", "title: Pay | now | Pay later"]
    assert sorted(node["tags"]) == ["a", "b"]
    for words in (("inspect", "feature.pay"), ("query", "pay"), ("brief", "src/pay.py"), ("status",)):
        assert "stage: paused | building" in here(*words).out
    checked = here("check", "--json").data
    assert checked["valid"]
    assert [problem["code"] for problem in checked["warnings"]] == [*["RecordContested"] * 2, "ProductMapStale"]
    project = Project(str(repo), real_world())
    assert view_record(project, ViewRecord("feature.pay")).contested == (
        Disagreement(field="stage", values=("paused", "building")),
        Disagreement(field="title", values=("Pay | now", "Pay later")),
    )
    assert (
        "Branches disagree on feature.pay"
        in hook_start(project, client="claude", session="s", tokens=2000, chars=9000).text
    )
    save(here, {"id": "feature.pay", "stage": "paused", "title": "Pay"})
    assert here("check", "--json").data["warnings"] == []
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert (node["stage"], node["contested"]) == ("paused", [])
    assert "building" not in json.dumps(json.loads((repo / ".memory/memory/pay.json").read_text()))


def test_what_was_settled_is_in_the_history(here: Here, git: Git, memory: Memory) -> None:
    """On the default branch in the log, on another one in a fragment."""
    disagree(here, git, {"stage": "paused", "body": "1.\n\nTwo.\n\nThree."}, {"stage": "building", "body": "!\n\nTwo."})
    assert memory("resolve", "feature.pay", "--ours", "--field", "stage").code == 0
    log = memory.cwd / ".memory/events.jsonl"
    event = json.loads(log.read_text().splitlines()[-1])
    assert (event["event"], event["id"], event["reason"]) == ("memory.updated", "feature.pay", "resolve")
    assert event["payload"]["fields"] == ["stage"]
    git("add", "-A")
    git("commit", "-qm", "settled")
    git("checkout", "-qb", "three")
    before, fragments = log.read_bytes(), set((memory.cwd / ".memory/events.d").iterdir())
    assert memory("resolve", "feature.pay", "--theirs").code == 0
    assert log.read_bytes() == before
    (fragment,) = set((memory.cwd / ".memory/events.d").iterdir()) - fragments
    assert json.loads(fragment.read_text())["payload"]["fields"] == ["body"]
    assert memory("check", "--json").data["errors"] == []
    assert memory("fold", "--here").code == 0
    assert [json.loads(line).get("reason") for line in log.read_text().splitlines()].count("resolve") == 2


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


@pytest.mark.proof
def test_branches_that_merged_each_other_before_disagree_on_nothing_old(here: Here, git: Git) -> None:
    """Git merges their common ancestors first, by the driver, too."""
    branch(here, git, "one", {"id": "feature.pay", "body": "One!\n\nTwo.\n\nThree.", "stage": "paused"})
    branch(here, git, "two", {"id": "feature.pay", "body": "One.\n\nTwo.\n\nThree!", "stage": "building"})
    git("branch", "old", "one")
    texts = {"one": "One, now.\n\nTwo.\n\nThree!", "two": "One!\n\nTwo.\n\nThree, now."}
    for name, other in (("one", "two"), ("two", "old")):
        git("checkout", "-q", name)
        git("merge", "-q", "--no-edit", other)
        save(here, {"id": "feature.pay", "body": texts[name], "stage": "building"})
        git("add", "-A")
        git("commit", "-qm", "again")
    git("checkout", "-q", "one")
    assert here("merge", "two", "--json").data["contested"] == []
    git("merge", "-q", "--no-edit", "two")
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert (node["body"].strip(), node["stage"]) == ("One, now.\n\nTwo.\n\nThree, now.", "building")
    assert node["contested"] == []


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


# -- memory resolve ----------------------------------------------------------------------------------------------


def node_of(here: Here) -> dict[str, Any]:
    found: dict[str, Any] = here("inspect", "feature.pay", "--json").data["object"]
    return found


def test_resolve_lists_and_settles_by_side(here: Here, git: Git) -> None:
    disagree(here, git, {"stage": "paused"}, {"stage": "building"})
    listed = here("resolve", "--json").data
    assert [(field["ref"], field["field"]) for field in listed["contested"]] == [("feature.pay", "stage")]
    assert "[1] ours: paused" in here("resolve").out
    for way, stage in (("--theirs", "building"), ("--ours", "paused")):
        planned = here("resolve", "feature.pay", way, "--dry-run", "--json").data
        assert [field["value"] for field in planned["settled"]] == [stage]
    assert here("resolve", "feature.pay", "--both").code == 1
    assert here("resolve", "feature.pay", "--theirs").code == 0
    node = node_of(here)
    assert (node["stage"], node["contested"]) == ("building", [])
    assert not git("status", "--porcelain", "--", "AGENTS.md").strip()
    # The value that was decided against does not come back with the same branch.
    git("commit", "-qam", "settled")
    git("checkout", "-qb", "again", "one")
    save(here, {"id": "feature.pay", "tags": ["later"]})
    git("add", "-A")
    git("commit", "-qm", "again")
    git("checkout", "-q", "main")
    with pytest.raises(AssertionError, match="now empty"):
        git("cherry-pick", "one")
    git("cherry-pick", "--skip")
    git("merge", "-q", "--no-edit", "again")
    node = node_of(here)
    assert (node["stage"], node["tags"], node["contested"]) == ("building", ["later"], [])


def test_resolve_settles_texts_and_deletions(here: Here, git: Git) -> None:
    disagree(here, git, {"body": "One.\n\nTwo is blue.\n\nThree."}, {"body": "One.\n\nTwo is red.\n\nThree."})
    both = here("resolve", "feature.pay", "--both", "--dry-run", "--json").data["settled"][0]["value"]
    assert both == "One.\n\nTwo is blue.\n\nTwo is red.\n\nThree."
    assert here("resolve", "feature.pay", "--ours").code == 0
    assert node_of(here)["body"] == "One.\n\nTwo is blue.\n\nThree."
    assert not node_of(here)["edited_by_hand"]
    git("commit", "-qam", "settled")
    branch(here, git, "gone", delete=[{"id": "decision.queue", "reason": "moot"}])
    save(here, {"id": "decision.queue", "title": "The queue"})
    git("commit", "-qam", "title")
    in_conflict(git, "gone")
    assert here("resolve", "--json").data["contested"][0]["field"] == "record"
    git("add", "-A")
    git("commit", "-qm", "both")
    assert here("query", "queue").out.count("branches disagree on record") == 1
    assert here("resolve", "decision.queue", "--theirs").code == 0
    assert here("inspect", "decision.queue").code == 1


def test_resolve_reads_conflict_marks(here: Here, git: Git, repo: Path) -> None:
    here("integrate", "git", "--remove", "--yes")
    (repo / ".git/info/attributes").write_text("* !merge\n")
    for style in ("merge", "diff3", "zdiff3"):
        git("config", "merge.conflictStyle", style)
        git("checkout", "-qf", "-B", "main", "refs/remotes/origin/main")
        git("branch", "-q", "-D", "one", "two") if style != "merge" else None
        branch(here, git, "one", {"id": "feature.pay", "stage": "paused", "body": "One is blue.\n\nTwo.\n\nThree."})
        branch(here, git, "two", {"id": "feature.pay", "stage": "shipped", "body": "One is red.\n\nTwo.\n\nThree!"})
        git("merge", "-q", "--no-edit", "one")
        in_conflict(git, "two")
        planned = here("resolve", "--dry-run", "--json").data
        assert planned["merged"] == [".memory/memory/pay.json", ".memory/memory/pay.md"]
        assert "<<<<<<<" in (repo / ".memory/memory/pay.json").read_text()
        git("add", "-A")
        git("commit", "-qm", "marks and all")
        assert here("resolve").code == 0
        node = node_of(here)
        assert sorted(said.partition(":")[0] for said in node["contested"]) == ["body", "stage"]
        assert "One is blue." in node["body"]
        assert "One is red." in node["body"]
        assert here("resolve", "--json").data["merged"] == []


def test_resolve_says_what_is_wrong(here: Here) -> None:
    assert here("resolve").out == "Branches disagree on nothing.\n"
    for words, code in (
        (["feature.none"], 1),
        (["feature.pay"], 1),
        (["feature.pay", "--ours", "--theirs"], 2),
        (["--edit"], 2),
    ):
        said = here("resolve", *words)
        assert said.code == code
        assert "hint:" in said.err


# -- memory merge ------------------------------------------------------------------------------------------------


def test_resolve_writes_no_value_that_a_save_would_refuse(here: Here, git: Git, repo: Path) -> None:
    disagree(here, git, {"stage": "paused", "title": "Now"}, {"stage": "building", "title": "Later"})
    assert here("inbox", "reject", "--value", "The moon pays.").code == 0
    before = (repo / ".memory/memory/pay.json").read_bytes()
    for field, value, code in (
        ("stage", "nonsense", "MemoryValidationFailed"),
        ("title", "  ", "MemoryValidationFailed"),
        ("title", "The moon pays.", "MemoryValueRejected"),
        ("title", "AKIA" + "IOSFODNN7EXAMPLQ", "MemorySecretDetected"),
    ):
        for more in ((), ("--dry-run",)):
            refused = here("resolve", "feature.pay", "--field", field, "--value", value, *more, "--json")
            assert refused.error["code"] == code, refused
            assert (repo / ".memory/memory/pay.json").read_bytes() == before
    assert here("resolve", "feature.pay", "--field", "stage", "--value", "shipped").code == 0


def test_merge_shows_and_applies_another_branch(here: Here, git: Git, repo: Path) -> None:
    branch(
        here,
        git,
        "one",
        {"id": "feature.pay", "stage": "paused"},
        {"kind": "gotcha", "title": "Twice", "body": "Hooks come twice."},
        delete=[{"id": "decision.queue", "reason": "moot"}],
    )
    save(here, {"id": "feature.pay", "stage": "building"})
    before = git("status", "--porcelain")
    seen = here("merge", "one", "--json").data
    assert (seen["added"], seen["contested"], seen["dropped"]) == (
        ["gotcha.twice"],
        ["feature.pay"],
        ["decision.queue"],
    )
    assert git("status", "--porcelain") == before
    assert here("merge", "one", "--apply").code == 0
    assert node_of(here)["contested"] == ["stage: paused | building"]
    assert here("inspect", "gotcha.twice").code == 0
    assert here("inspect", "decision.queue").code == 1
    assert "Nothing to merge" in here("merge", "one").out
    assert here("fold").code == 0
    assert here("check", "--json").data["errors"] == []


def test_merge_in_odd_repositories(here: Here, git: Git, repo: Path, tmp_path: Path) -> None:
    said = here("merge", "nowhere")
    assert (said.code, "is not a commit" in said.err) == (1, True)
    assert here("merge", "--apply").code == 2
    branch(here, git, "one", {"id": "feature.pay", "stage": "paused"})
    git("checkout", "-q", "--detach")
    assert here("merge", "one", "--json").data["changed"] == ["feature.pay"]
    git("checkout", "-q", "--orphan", "empty")
    assert here("merge", "one", "--json").warnings == ["NoMergeBase"]
    git("checkout", "-qf", "main")
    tree = tmp_path / "tree"
    git("worktree", "add", "-q", str(tree), "-b", "beside", "main")
    assert here("merge", "one", "--json", cwd=tree).data["changed"] == ["feature.pay"]
    shallow = tmp_path / "shallow"
    git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo}", str(shallow))
    assert here("merge", "origin/one", "--json", cwd=shallow).warnings == ["NoMergeBase"]
    (tmp_path / "plain").mkdir()
    assert here("merge", "one", cwd=tmp_path / "plain").code == 3


def test_facts_and_entries_of_the_profile_are_settled_alike(here: Here, git: Git) -> None:
    assert here("profile", "remember", "user", "editor", "vim").code == 0
    name = here.store("Architecture", "Retries run in the worker.")
    assert here("integrate", "git", "--yes").code == 0
    assert here("fold", "--here").code == 0
    git("add", "-A")
    git("commit", "-qm", "more")
    for side, editor in (("one", "emacs"), ("two", "helix")):
        git("checkout", "-qb", side, "main")
        assert here("profile", "remember", "user", "editor", editor).code == 0
        file = here.root / ".memory/facts.jsonl"
        line = json.loads(file.read_text())
        file.write_text(
            json.dumps({**line, "section": {"one": "Specs", "two": "Constraints"}[side], "version": 7}) + "\n"
        )
        git("add", "-A")
        git("commit", "-qm", side)
        git("checkout", "-q", "main")
    git("merge", "-q", "--no-edit", "one")
    git("merge", "-q", "--no-edit", "two")
    listed = here("resolve", "--json").data["contested"]
    assert [(field["ref"], field["field"]) for field in listed] == [
        (f"fact:{name}", "section"),
        ("profile:user.editor", "value"),
    ]
    assert "branches disagree on" in here("query", "retries worker").out
    assert here("resolve", "profile:user.editor", "--value", "nano").code == 0
    assert here("resolve", f"fact:{name}", "--theirs").code == 0
    assert "nano" in here("profile", "recall", "user", "editor").out
    assert here("inspect", f"fact:{name}", "--json").data["object"]["section"] == "Constraints"
    assert here("resolve", "--json").data["contested"] == []
    assert here("check", "--json").data["errors"] == []


def test_resolve_asks_on_a_terminal(here: Here, git: Git, repo: Path) -> None:
    disagree(here, git, {"stage": "paused", "title": "Payments"}, {"stage": "building", "title": "Paying"})
    code, seen = typed(repo, here.env, "memory", "resolve", answers=("2", ""))
    assert code == 0
    assert "feature.pay  stage" in seen
    assert "[1] ours: paused" in seen
    node = node_of(here)
    assert (node["stage"], [said.partition(":")[0] for said in node["contested"]]) == ("building", ["title"])
    code, _ = typed(repo, {**here.env, "EDITOR": "sed -i 1s/.*/Money/;2,$d"}, "memory", "resolve", "--edit")
    assert code == 0
    assert (node_of(here)["title"], node_of(here)["contested"]) == ("Money", [])
