"""confirm through the installed command: somebody looked, and nodes are still true of the code as it is now."""

import json
from pathlib import Path
from typing import Any

import pytest
from terminal_here import typed

CODE = """def send(message):
    if message.deliver():
        return 1
    return 0


def give_up(message):
    message.failed = True
    return None
"""
NODES: list[dict[str, Any]] = [
    {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "anchors": ["src/"], "tags": ["billing"]},
    {"kind": "decision", "title": "Back off", "body": "Pauses double.", "anchors": ["src/queue.py#send"]},
    {"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift."},
    {"kind": "question", "title": "How often", "body": "Unclear.", "anchors": ["src/queue.py"]},
]


@pytest.fixture
def shop(repo: Path, memory: Any, git: Any) -> Any:
    (repo / "src").mkdir()
    (repo / "src/queue.py").write_text(CODE)
    git.commit("code")
    memory.init()
    memory.save(*NODES)
    git.commit("memory")
    return memory


@pytest.fixture
def changed(shop: Any, repo: Path, git: Any) -> Any:
    """The code of three nodes is another one now."""
    (repo / "src/queue.py").write_text(CODE.replace("return 0", "return -1"))
    git.commit("rework")
    return shop


def verdict(memory: Any, ref: str) -> str:
    found: str = memory("inspect", ref, "--json").data["object"]["verdict"]
    return found


def sidecar(repo: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo / f".memory/memory/{name}.json").read_text())
    return found


def events(repo: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (repo / ".memory/events.jsonl").read_text().splitlines()]


def test_one_node_becomes_fresh_and_the_others_stay(changed: Any, repo: Path, git: Any) -> None:
    head = git("rev-parse", "HEAD").strip()
    run = changed("confirm", "feature.retry-queue")
    assert run.code == 0
    assert run.out == f"Confirmed: feature.retry-queue (was changed: `src/queue.py` changed in {head[:9]})\n"
    assert run.err == ""
    assert verdict(changed, "feature.retry-queue") == "fresh"
    assert verdict(changed, "decision.back-off") == "changed"
    assert sidecar(repo, "retry-queue")["source"]["commit"] == head


def test_nothing_but_the_seals_changes(changed: Any, repo: Path, tree: Any) -> None:
    before, files = sidecar(repo, "retry-queue"), tree(repo)
    later = {"MEMORY_NOW": "2026-04-01T08:00:00+00:00"}
    assert changed("confirm", "feature.retry-queue", env=later).code == 0
    after = sidecar(repo, "retry-queue")
    different = {name for name in {**before, **after} if before.get(name) != after.get(name)}
    assert different <= {"evidence", "source", "updated_at", "content_hash"}
    assert {"evidence", "source", "updated_at"} <= different
    now = tree(repo)
    assert {name for name in {**files, **now} if files.get(name) != now.get(name)} - {"AGENTS.md"} == {
        ".memory/memory/retry-queue.json",
        ".memory/events.jsonl",
    }


def test_several_at_once_and_a_name_given_twice_counts_once(changed: Any) -> None:
    refs = ["feature.retry-queue", "decision.back-off", "question.how-often", "feature.retry-queue"]
    data = changed("confirm", *refs, "--json").data
    assert data["memory_confirmed"] == ["feature.retry-queue", "decision.back-off", "question.how-often"]
    assert all(verdict(changed, ref) == "fresh" for ref in refs)


def test_an_unknown_id_stops_all_of_it_and_is_named(changed: Any, repo: Path, tree: Any) -> None:
    before = tree(repo)
    run = changed("confirm", "feature.retry-queue", "feature.retry-que", "gotcha.nothing", "--json")
    assert run.code == 1
    assert run.error["code"] == "MemoryObjectNotFound"
    said = json.dumps(run.error)
    assert "feature.retry-que" in said
    assert "gotcha.nothing" in said
    assert tree(repo) == before
    alone = changed("confirm", "feature.retry-que")
    assert alone.code == 1
    assert alone.out == ""
    assert "feature.retry-queue" in alone.err, "the hint names what was meant"


@pytest.mark.parametrize("ref", ["fact:abc", "profile:x", "journal:2026-03-02"])
def test_a_ref_of_another_layer_is_refused(changed: Any, repo: Path, tree: Any, ref: str) -> None:
    before = tree(repo)
    run = changed("confirm", "feature.retry-queue", ref, "--json")
    assert run.code == 1
    assert ref in run.error["message"]
    assert tree(repo) == before


@pytest.mark.parametrize("ref", ["nonsense", "", "feature.", "../feature.retry-queue", "feature.Retry Queue"])
def test_what_is_no_ref_is_refused(changed: Any, ref: str) -> None:
    run = changed("confirm", ref, "--json")
    assert run.code == 1
    assert run.error["hint"]


def test_without_a_ref_the_command_line_is_wrong(changed: Any) -> None:
    assert changed("confirm").code == 2
    assert changed("confirm", "--actor", "nobody", "feature.retry-queue").code == 2


def test_a_retired_node_is_refused_with_a_way_out(changed: Any, repo: Path, tree: Any) -> None:
    changed.save(
        {"kind": "decision", "title": "Newer", "body": "So.", "anchors": ["src/"]},
        stale=[{"id": "feature.retry-queue", "reason": "gone"}],
        supersede=[{"id": "decision.back-off", "superseded_by": "decision.newer", "reason": "moved"}],
    )
    before = tree(repo)
    for ref, status in (("feature.retry-queue", "stale"), ("decision.back-off", "superseded")):
        run = changed("confirm", ref, "--json")
        assert run.code == 1
        (issue,) = run.error["details"]["issues"]
        assert issue["code"] == "StatusNotAllowed"
        assert status in issue["message"]
        assert issue["hint"]
    assert tree(repo) == before


def test_a_closed_question_may_be_confirmed(changed: Any) -> None:
    changed.save({"id": "question.how-often", "status": "closed"})
    assert changed("confirm", "question.how-often").code == 0
    assert verdict(changed, "question.how-often") == "fresh"


def test_a_node_without_anchors_has_nothing_to_confirm(changed: Any, repo: Path, tree: Any) -> None:
    before = tree(repo)
    run = changed("confirm", "gotcha.late-clocks", "--json")
    assert run.code == 0
    assert [warning["code"] for warning in run.json["warnings"]] == ["NothingToConfirm"]
    assert run.data["memory_confirmed"] == []
    assert run.data["before"]["gotcha.late-clocks"]["verdict"] == "unanchored"
    assert tree(repo) == before
    text = changed("confirm", "gotcha.late-clocks")
    assert "no anchors" in text.err
    assert "Confirmed" not in text.out
    both = changed("confirm", "gotcha.late-clocks", "feature.retry-queue", "--json")
    assert both.data["memory_confirmed"] == ["feature.retry-queue"]


@pytest.mark.parametrize("how", ["moved", "orphaned"])
def test_what_is_not_where_the_anchor_says_is_refused_with_a_hint(
    shop: Any, repo: Path, git: Any, tree: Any, how: str
) -> None:
    if how == "moved":
        git("mv", "src/queue.py", "src/line.py")
    else:
        git("rm", "-q", "src/queue.py")
    git.commit()
    for ref in ("question.how-often", "decision.back-off"):
        assert verdict(shop, ref) == how
        before = tree(repo)
        run = shop("confirm", ref, "--json")
        assert run.code == 1
        (issue,) = run.error["details"]["issues"]
        assert issue["code"] == "AnchorUnmatched"
        assert ref in issue["message"]
        assert "src/queue.py" in issue["message"]
        assert "memory sync" in issue["hint"]
        assert tree(repo) == before
        assert "memory sync" in shop("confirm", ref).err


def test_one_that_moved_stops_the_others_too(shop: Any, repo: Path, git: Any, tree: Any) -> None:
    git("mv", "src/queue.py", "src/line.py")
    git.commit()
    before = tree(repo)
    run = shop("confirm", "feature.retry-queue", "question.how-often", "decision.back-off", "--json")
    assert run.code == 1
    said = json.dumps(run.error)
    assert "question.how-often" in said
    assert "decision.back-off" in said, "everything that is wrong is said at once"
    assert tree(repo) == before


def test_a_symbol_that_is_gone_from_its_file_cannot_be_confirmed(shop: Any, repo: Path) -> None:
    (repo / "src/queue.py").write_text(CODE.partition("def give_up")[2].join(["def give_up", ""]))
    run = shop("confirm", "decision.back-off", "--json")
    assert run.code == 1
    assert "src/queue.py#send" in run.error["details"]["issues"][0]["message"]


def test_the_reason_is_in_the_event(changed: Any, repo: Path) -> None:
    run = changed("confirm", "feature.retry-queue", "--reason", "  read queue.py  ", "--actor", "user")
    assert run.code == 0
    event = events(repo)[-1]
    assert event["id"] == "feature.retry-queue"
    assert event["actor"] == "user"
    assert event["reason"] == "read queue.py"
    changed("confirm", "decision.back-off", "--reason", "")
    assert "reason" not in events(repo)[-1]


def test_a_reason_with_a_secret_or_too_long_is_refused(changed: Any, repo: Path, tree: Any) -> None:
    before = tree(repo)
    for reason in ("ghp_" + "a1B2c3D4e5F6" * 3, "x" * 2001, "a\x1b[31mb"):
        assert changed("confirm", "feature.retry-queue", "--reason", reason).code == 1
    assert tree(repo) == before


def test_a_dry_run_writes_nothing(changed: Any, repo: Path, tree: Any) -> None:
    before = tree(repo)
    run = changed("confirm", "feature.retry-queue", "--dry-run")
    assert run.code == 0
    assert run.out.startswith("Would confirm: feature.retry-queue (was changed: ")
    data = changed("confirm", "feature.retry-queue", "--dry-run", "--json").data
    assert data["dry_run"] is True
    assert data["memory_confirmed"] == ["feature.retry-queue"]
    assert tree(repo) == before
    assert verdict(changed, "feature.retry-queue") == "changed"


def test_the_json_is_that_of_a_save_with_what_was_before(changed: Any, git: Any) -> None:
    head = git("rev-parse", "HEAD").strip()
    run = changed("confirm", "feature.retry-queue", "--json")
    saved = changed("save", "--stdin", "--json", "--dry-run", stdin={"task": "t", "nodes": NODES[:1]}).data
    assert set(run.data) == {*saved, "before"}
    assert "warnings" not in run.data
    assert run.data["memory_updated"] == run.data["memory_confirmed"] == ["feature.retry-queue"]
    assert run.data["events_appended"] == 1
    before = run.data["before"]["feature.retry-queue"]
    assert set(before) == {"verdict", "checked"}
    assert before["verdict"] == "changed"
    assert before["checked"]["anchors"][0]["commit"] == head


def test_a_second_confirm_changes_nothing(changed: Any, repo: Path, tree: Any) -> None:
    changed("confirm", "feature.retry-queue")
    before = tree(repo)
    run = changed("confirm", "feature.retry-queue", env={"MEMORY_NOW": "2026-04-01T08:00:00+00:00"})
    assert (run.code, run.out) == (0, "Unchanged: feature.retry-queue\n")
    assert changed("confirm", "feature.retry-queue", "--json").data["events_appended"] == 0
    assert tree(repo) == before


def test_a_fresh_node_may_be_confirmed_at_a_later_commit(shop: Any, repo: Path, git: Any) -> None:
    (repo / "README.md").write_text("# Hello\n")
    head = git.commit()
    run = shop("confirm", "feature.retry-queue")
    assert run.out == "Confirmed: feature.retry-queue (was fresh)\n"
    assert sidecar(repo, "retry-queue")["source"]["commit"] == head


def test_on_a_dirty_tree_it_binds_to_what_is_there(shop: Any, repo: Path, git: Any) -> None:
    (repo / "src/queue.py").write_text(CODE + "x = 1\n")
    (repo / "src/new.py").write_text("y = 1\n")
    run = shop("confirm", "feature.retry-queue", "question.how-often")
    assert run.code == 0
    assert "not committed" in run.out
    assert verdict(shop, "feature.retry-queue") == "fresh"
    git.commit("as seen")
    assert verdict(shop, "feature.retry-queue") == "fresh", "the commit holds what was seen"
    assert verdict(shop, "question.how-often") == "fresh"
    (repo / "src/queue.py").write_text(CODE)
    assert verdict(shop, "question.how-often") == "changed", "that changed since this record was last confirmed"


def test_a_confirm_beside_other_changes_in_one_save(changed: Any, repo: Path) -> None:
    data = changed.save(
        {"id": "feature.retry-queue", "tags": ["queue"]},
        {"id": "question.how-often", "body": "Still unclear."},
        {"kind": "gotcha", "title": "New trap", "body": "B."},
        confirm=[{"id": "feature.retry-queue", "reason": "read it"}, {"id": "decision.back-off"}],
    )
    assert data["memory_confirmed"] == ["feature.retry-queue", "decision.back-off"]
    assert set(data["memory_updated"]) == {"feature.retry-queue", "decision.back-off", "question.how-often"}
    for ref in ("feature.retry-queue", "decision.back-off", "question.how-often"):
        assert verdict(changed, ref) == "fresh"
    assert sidecar(repo, "retry-queue")["tags"] == ["queue"]


def test_a_new_tag_alone_renews_nothing(changed: Any) -> None:
    changed.save({"id": "feature.retry-queue", "tags": ["queue"]})
    assert verdict(changed, "feature.retry-queue") == "changed"


@pytest.mark.parametrize("part", ["stale", "delete"])
def test_confirmed_and_retired_in_one_save_is_a_contradiction(changed: Any, repo: Path, tree: Any, part: str) -> None:
    before = tree(repo)
    intent = {
        "task": "t",
        "confirm": [{"id": "feature.retry-queue"}],
        part: [{"id": "feature.retry-queue", "reason": "gone"}],
    }
    run = changed("save", "--stdin", "--json", stdin=intent)
    assert run.code == 1
    assert "Contradiction" in {issue["code"] for issue in run.error["details"]["issues"]}
    assert tree(repo) == before


def test_a_node_with_new_anchors_may_be_confirmed_in_the_same_save(shop: Any, git: Any) -> None:
    git("mv", "src/queue.py", "src/line.py")
    git.commit()
    shop.save({"id": "question.how-often", "anchors": ["src/line.py"]}, confirm=[{"id": "question.how-often"}])
    assert verdict(shop, "question.how-often") == "fresh"


def test_a_hand_added_anchor_is_sealed_by_a_confirm(shop: Any, repo: Path) -> None:
    path = repo / ".memory/memory/how-often.json"
    fields = json.loads(path.read_text())
    fields["anchors"].append("src/queue.py#give_up")
    path.write_text(json.dumps(fields, indent=2))
    assert verdict(shop, "question.how-often") == "unverifiable"
    assert shop("confirm", "question.how-often").code == 0
    assert verdict(shop, "question.how-often") == "fresh"


def test_the_project_and_a_dead_feature_may_be_confirmed(shop: Any, repo: Path) -> None:
    shop.save({"id": "feature.retry-queue", "stage": "dead"}, {"id": "project.harbor", "anchors": ["src/"]})
    (repo / "src/queue.py").write_text("x = 1\n")
    data = shop("confirm", "feature.retry-queue", "project.harbor", "--json").data
    assert data["memory_confirmed"] == ["feature.retry-queue", "project.harbor"]


def test_outside_git_a_file_can_be_confirmed(memory: Any, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text(CODE)
    memory.init(cwd=folder)
    intent = {"task": "t", "nodes": [{"kind": "gotcha", "title": "Plain", "body": "B.", "anchors": ["a.py"]}]}
    assert memory("save", "--stdin", stdin=intent, cwd=folder).code == 0
    (folder / "a.py").write_text(CODE + "x = 1\n")
    run = memory("confirm", "gotcha.plain", cwd=folder)
    assert run.code == 0
    assert "was changed" in run.out
    found = memory("inspect", "gotcha.plain", "--json", cwd=folder).data["object"]
    assert found["verdict"] == "fresh"


def test_from_a_subfolder_it_is_the_same(changed: Any, repo: Path) -> None:
    assert changed("confirm", "feature.retry-queue", cwd=repo / "src").code == 0
    assert verdict(changed, "feature.retry-queue") == "fresh"


# -- by commit ------------------------------------------------------------------------------


def test_what_a_commit_alone_made_out_of_date_is_confirmed_at_once(changed: Any, repo: Path, git: Any) -> None:
    first = git("rev-parse", "HEAD").strip()
    shown = changed("confirm", "--commit", first[:9], "--dry-run")
    assert [line.split(" ")[2] for line in shown.out.splitlines() if line.startswith("Would confirm")] == [
        "decision.back-off",
        "feature.retry-queue",
        "question.how-often",
    ]
    assert "-    return 0" in shown.out
    assert "+    return -1" in shown.out
    (repo / "src/queue.py").write_text(CODE.replace("return 0", "return -1") + "\n\nMOST = 3\n")
    git.commit("more")
    done = changed("confirm", "--commit", first, "--reason", "only the sign")
    # The files of the others were changed by the second commit, too.
    assert [line for line in done.out.splitlines() if line.startswith("Confirmed")] == [
        done.out.splitlines()[0],
    ]
    assert done.out.startswith("Confirmed: decision.back-off ")
    assert (verdict(changed, "decision.back-off"), verdict(changed, "feature.retry-queue")) == ("fresh", "changed")


def test_a_record_that_is_its_title_alone_is_shown_once(changed: Any, repo: Path, git: Any) -> None:
    changed("add", "gotcha", "The queue may be empty", "--anchor", "src/queue.py")
    (repo / "src/queue.py").write_text(CODE + "\nMOST = 4\n")
    assert changed("confirm", "gotcha.the-queue-may-be-empty", "--dry-run").out.count("The queue may be empty\n") == 1


def test_a_commit_that_made_nothing_out_of_date_or_is_not_here_is_said(changed: Any, git: Any) -> None:
    before = git("rev-parse", "HEAD~1").strip()
    none = changed("confirm", "--commit", before)
    assert (none.code, f"The commit `{before}` alone made no record" in none.err) == (1, True)
    gone = changed("confirm", "--commit", "123456789")
    assert (gone.code, "There is no commit `123456789` in this clone." in gone.err) == (1, True)
    nothing = changed("confirm")
    assert (nothing.code, "Name the records, or a commit" in nothing.err) == (2, True)


def test_on_a_terminal_each_record_is_shown_beside_the_change_and_asked_about(
    changed: Any, repo: Path, environment: dict[str, str]
) -> None:
    line = ("memory", "confirm", "decision.back-off", "feature.retry-queue")
    code, seen = typed(repo, environment, *line, answers=["y", "n"])
    assert code == 0
    assert "Pauses double." in seen
    assert "-    return 0" in seen
    assert (verdict(changed, "decision.back-off"), verdict(changed, "feature.retry-queue")) == ("fresh", "changed")
    code, seen = typed(repo, environment, *line[:2], "feature.retry-queue", answers=["n"])
    assert (code, "Nothing was confirmed." in seen) == (1, True)
    assert typed(repo, environment, *line[:2], "feature.retry-queue", "--yes")[0] == 0


def test_a_slug_alone_is_enough_and_a_wrong_one_names_what_is_near(changed: Any) -> None:
    assert changed("confirm", "back-off").out.startswith("Confirmed: decision.back-off")
    for wrong in ("back-of", "decision.back-of"):
        run = changed("confirm", wrong)
        assert (run.code, "decision.back-off" in run.err, "confirm.0" in run.err) == (1, True, False)
    assert "`decision.zzz` is not in the memory." in changed("confirm", "decision.zzz").err
    both = changed("confirm", "decision.zzz", "gotcha.zzz").err
    assert "error: 2 problems." in both
    assert "  - `gotcha.zzz` is not in the memory" in both
    assert both.endswith("hint: Nothing was written.\n")
    assert "is not a feature" in changed("confirm", "fact:zzz").err
