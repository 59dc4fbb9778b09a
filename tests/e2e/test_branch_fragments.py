"""Two branches that write to the memory, merged as a forge does: without any attribute or driver."""

from __future__ import annotations

import json
import os
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from branches_here import clone, commit, in_conflict, on_branch, save
from commanding import Here

from installed import Git
from quire.files import disk
from quire.files.world import real_world
from quire.project import Project
from quire.verbs.team.fold import Fold, fold
from thorough import either


@pytest.fixture
def here(repo: Path, git: Git, environment: dict[str, str]) -> Here:
    """A clone on its default branch that a forge would merge, with a fact."""
    found = clone(repo, git, environment, lambda here: here.store("Architecture", "Retries run in the worker."))
    (repo / ".git/info/attributes").write_text("* !merge\n")
    return found


def changed(git: Git) -> set[str]:
    return set(git("diff", "--name-only", "main").split())


def merge_all(git: Git, *names: str) -> None:
    git("checkout", "-q", "main")
    for name in names:
        git("merge", "-q", "--no-ff", "-m", name, name)  # raises on a conflict


def tree_of(root: Path) -> dict[str, bytes]:
    kept = (path for path in (root / ".memory").rglob("*") if path.is_file())
    names = {str(path.relative_to(root)): path for path in kept}
    return {name: path.read_bytes() for name, path in names.items() if "/index/" not in name and "/local/" not in name}


def test_branches_that_write_different_things_do_not_conflict(here: Here, git: Git) -> None:
    on_branch(git, "one")
    save(
        here,
        {"id": "feature.pay", "stage": "shipped"},
        {"kind": "gotcha", "title": "Twice", "body": "Hooks come twice."},
    )
    here.store("Decisions", "Invoices live in Postgres.")
    assert here("confirm", "decision.queue", "--reason", "looked").code == 0
    assert here("sync").code == 0
    commit(git, "one")
    assert not changed(git) & {"AGENTS.md", "CLAUDE.md", ".memory/events.jsonl", ".memory/facts.jsonl"}
    on_branch(git, "two")
    save(
        here,
        {"id": "feature.pay", "tags": ["money"]},
        {"kind": "question", "title": "Who pays?", "body": "Nobody knows."},
    )
    here.store("Decisions", "The queue lives in Redis.")
    assert here("confirm", "decision.queue", "--reason", "looked, too").code == 0
    assert here("sync").code == 0
    commit(git, "two")
    merge_all(git, "one", "two")
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert (node["stage"], node["tags"]) == ("shipped", ["money"])
    assert set(here.listed().values()) >= {"Invoices live in Postgres.", "The queue lives in Redis."}
    folded = here("fold", "--json").data
    assert len(folded["fragments"]) == 6
    assert not list((here.root / ".memory").glob("*.d/*"))
    again = here("inspect", "feature.pay", "--json").data["object"]
    assert again == node
    assert "Who pays?" in (here.root / "AGENTS.md").read_text()
    reasons = [
        json.loads(line).get("reason") for line in (here.root / ".memory/events.jsonl").read_bytes().splitlines()
    ]
    assert {"looked", "looked, too"} <= set(reasons)
    assert here("fold", "--json").data == {"dry_run": False, "fragments": [], "files_changed": []}
    assert here("check", "--json").data["errors"] == []


def test_two_paragraphs_of_one_body_merge(here: Here, git: Git) -> None:
    for name, body in (("one", "One!\n\nTwo.\n\nThree."), ("two", "One.\n\nTwo.\n\nThree!")):
        on_branch(git, name)
        save(here, {"id": "feature.pay", "body": body})
        commit(git, name)
    merge_all(git, "one", "two")
    assert here("inspect", "feature.pay", "--json").data["object"]["body"] == "One!\n\nTwo.\n\nThree!"
    codes = [problem["code"] for problem in here("check", "--json").data["warnings"]]
    assert "ObjectContentHashMismatch" not in codes
    here("fold")
    codes = [problem["code"] for problem in here("check", "--json").data["warnings"]]
    assert "ObjectContentHashMismatch" not in codes


@pytest.mark.parametrize(
    ("one", "two"), [("tags", "title"), ("status", "tags"), ("stage", "status"), ("anchors", "title")]
)
def test_neighbouring_fields_do_not_conflict(here: Here, git: Git, one: str, two: str) -> None:
    values = {"tags": ["x"], "title": "Paying", "stage": "building", "anchors": ["src/"]}
    for name, field in (("one", one), ("two", two)):
        on_branch(git, name)
        if field == "status":
            stale = {"task": "gone", "stale": [{"id": "feature.pay", "reason": "replaced"}]}
            assert here("save", "--stdin", stdin=json.dumps(stale)).code == 0
        else:
            save(here, {"id": "feature.pay", field: values[field]})
        commit(git, name)
    merge_all(git, "one", "two")


def test_the_order_of_merges_makes_no_difference(here: Here, git: Git) -> None:
    for number, name in enumerate(("one", "two", "three")):
        on_branch(git, name)
        save(here, {"kind": "gotcha", "title": f"Trap {number}", "body": "It bites."})
        here.store("Decisions", f"Number {number} was decided.")
        commit(git, name)
    trees = []
    for order in (("one", "two", "three"), ("three", "one", "two")):
        git("checkout", "-qB", "main", "origin/main")
        merge_all(git, *order)
        assert here("fold").code == 0
        trees.append(tree_of(here.root))
        git("checkout", "-qf", ".")
        git("clean", "-qfd")
    assert trees[0] == trees[1]


def test_a_write_on_the_default_branch_folds(here: Here, git: Git) -> None:
    on_branch(git, "one")
    save(here, {"id": "feature.pay", "stage": "shipped"})
    first = here.store("Decisions", "Invoices live in Postgres.")
    commit(git, "one")
    merge_all(git, "one")
    here.store("Decisions", "The queue lives in Redis.")
    save(here, {"id": "decision.queue", "tags": ["x"]})
    assert not list((here.root / ".memory").glob("*.d/*"))
    assert first.encode() in here.file.read_bytes()
    sidecar = json.loads((here.root / ".memory/memory/pay.json").read_bytes())
    assert sidecar["updated_at"] == here("inspect", "feature.pay", "--json").data["object"]["updated_at"]


def test_what_a_fragment_changes_of_a_fact_is_changed(here: Here, git: Git) -> None:
    on_branch(git, "one")
    (name,) = here.listed()
    assert here.facts("archive", name, "--reason", "gone").code == 0
    assert here.listed() == {}
    commit(git, "one")
    merge_all(git, "one")
    assert here.listed() == {}
    before = here.file.read_bytes().count(b"\n")
    assert here("fold").code == 0
    assert here.listed() == {}
    assert here.file.read_bytes().count(b"\n") == before


def test_on_another_branch_nothing_is_folded(here: Here, git: Git) -> None:
    on_branch(git, "one")
    save(here, {"id": "feature.pay", "stage": "shipped"})
    said = here("fold", "--json")
    assert said.code == 1
    assert "`main`" in said.error["message"] + said.error["hint"]
    assert here("fold", "--dry-run", "--json").data["fragments"]
    assert here("fold", "--here").code == 0
    assert not list((here.root / ".memory/events.d").glob("*"))


def test_settings_turn_it_off(here: Here, git: Git) -> None:
    on_branch(git, "one")
    config = here.root / ".memory/config.json"
    fields = json.loads(config.read_bytes())
    fields["memory"] |= {"fragments": "never", "map": "always"}
    config.write_text(json.dumps(fields))
    save(here, {"kind": "decision", "title": "Twice", "body": "Hooks come twice."})
    here.store("Decisions", "Invoices live in Postgres.")
    assert not list((here.root / ".memory").glob("*.d/*"))
    assert "Twice" in (here.root / "AGENTS.md").read_text()


def test_a_fragment_with_a_damaged_line_stays(here: Here, git: Git) -> None:
    on_branch(git, "one")
    save(here, {"id": "feature.pay", "stage": "shipped"})
    (fragment,) = (here.root / ".memory/events.d").glob("*")
    fragment.write_bytes(fragment.read_bytes() + b"{broken\n")
    commit(git, "one")
    merge_all(git, "one")
    assert here("inspect", "feature.pay", "--json").data["object"]["stage"] == "shipped"
    said = here("fold", "--json")
    assert said.code == 0
    assert said.warnings == ["FragmentNotFolded"]
    assert fragment.exists()
    assert any("events.d" in problem["path"] for problem in here("check", "--json").data["errors"])


def test_what_was_squashed_and_folded_is_not_folded_twice(here: Here, git: Git) -> None:
    on_branch(git, "one")
    save(here, {"kind": "gotcha", "title": "Twice", "body": "Hooks come twice."})
    here.store("Decisions", "Invoices live in Postgres.")
    commit(git, "one")
    git("checkout", "-q", "main")
    git("merge", "-q", "--squash", "one")
    commit(git, "squashed")
    here("fold")
    commit(git, "folded")
    before = tree_of(here.root)
    git("checkout", "-q", "one")
    git("merge", "-q", "main")
    merge_all(git, "one")
    here("fold")
    assert tree_of(here.root) == before


def test_events_of_the_journal_are_folded(here: Here, git: Git, tmp_path: Path) -> None:
    log = here.root / ".agent-memory/history/events.jsonl"
    assert here("journal", "init", "--yes").code == 0
    commit(git, "journal")
    git("update-ref", "refs/remotes/origin/main", "main")
    before = log.read_bytes()
    on_branch(git, "one")
    notes = tmp_path / "notes.md"
    notes.write_text("# Session\n\nDecision: invoices live in Postgres, because two workers write at once.\n")
    assert here("journal", "add", "markdown", str(notes)).code == 0
    assert here("journal", "sync", "--all").code == 0
    assert log.read_bytes() == before
    assert len(list((log.parent / "events.d").glob("*.jsonl"))) == 1
    shown = here("journal", "log", "--events", "--json").data
    commit(git, "one")
    merge_all(git, "one")
    said = here("fold", "--json").data
    assert ".agent-memory/history/events.jsonl" in said["files_changed"]
    assert not list((log.parent / "events.d").glob("*.jsonl"))
    assert log.read_bytes().startswith(before)
    assert here("journal", "log", "--events", "--json").data == shown
    assert here("journal", "validate").code == 0


def test_two_branches_that_sync_the_journal_do_not_conflict(here: Here, git: Git) -> None:
    sources, state = (here.root / ".agent-memory" / name for name in ("sources.json", "state.json"))
    sessions = here.root / "sessions"
    sessions.mkdir()
    (sessions / "first.md").write_text("# Session\n\nDecision: logs are rotated daily, because the disk is small.\n")
    assert here("journal", "init", "--yes").code == 0
    assert here("journal", "add", "markdown", "sessions", "--name", "notes").code == 0
    commit(git, "journal")
    git("update-ref", "refs/remotes/origin/main", "main")
    before = sources.read_bytes(), state.read_bytes()
    for name in ("one", "two"):
        on_branch(git, name)
        (sessions / f"{name}.md").write_text(f"# Session\n\nDecision: {name} is cached, because {name} is slow.\n")
        assert here("journal", "sync", "--all").code == 0
        assert (sources.read_bytes(), state.read_bytes()) == before
        (source,) = here("journal", "sources", "--json").data["sources"]
        assert source["last_sync_status"] == "passed"
        said = here("journal", "validate")
        assert said.code == 0, said.out
        commit(git, name)
    merge_all(git, "one", "two")
    assert here("fold").code == 0
    assert here("journal", "validate").code == 0
    assert json.loads(state.read_bytes())["maintenance"]["historyEventCount"] == len(
        (here.root / ".agent-memory/history/events.jsonl").read_bytes().splitlines()
    )
    assert here("fold", "--json").data["files_changed"] == []


def test_entries_that_branches_add_to_the_profile_stand_in_fragments_until_they_are_folded(
    here: Here, git: Git
) -> None:
    """Also in a category that had none, changed and forgotten again, and where both branches name one key."""
    document = here.root / ".ai-state/memory.json"

    def tools() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(document.read_bytes())["memories"]["tools"]
        return found

    assert here("profile", "remember", "user", "city", "Oslo").code == 0
    commit(git, "profile")
    git("update-ref", "refs/remotes/origin/main", "main")
    before = document.read_bytes()
    for name, key in (("one", "editor"), ("two", "shell")):
        on_branch(git, name)
        assert here("profile", "recall", "tools").code == 0
        assert here("profile", "remember", "tools", key, "mine").code == 0
        assert here("profile", "remember", "tools", "pager", f"less of {name}").code == 0
        assert here("profile", "remember", "tools", f"gone-{name}", "secret plan").code == 0
        assert here("profile", "remember", "tools", key, "changed", "--tag", name).code == 0
        assert here("profile", "forget", "tools", f"gone-{name}").code == 0
        assert "changed" in here("profile", "recall", "tools").out
        assert here("check").code == 0
        commit(git, name)
    assert document.read_bytes() == before
    assert "secret plan" not in "".join(file.read_text() for file in (here.root / ".ai-state/memory.d").iterdir())
    merge_all(git, "one", "two")
    assert "less of two | less of one" in here("status").out
    assert here("resolve", "profile:tools.pager", "--value", "less").code == 0
    assert sorted(tools()) == ["editor", "pager", "shell"]
    assert {tools()[key]["value"] for key in ("editor", "shell")} == {"changed"}
    assert not list((here.root / ".ai-state/memory.d").iterdir())
    assert here("profile", "remember", "tools", "browser", "mine").code == 0
    assert list(tools())[-1] == "browser"
    assert here("fold", "--json").data["fragments"] == []
    assert here("check").code == 0


def test_an_entry_that_was_folded_is_not_taken_in_again(here: Here, git: Git) -> None:
    """A branch whose commits were squashed keeps its fragments; what main made of the entry since counts."""
    assert here("profile", "remember", "user", "city", "Oslo").code == 0
    commit(git, "profile")
    git("update-ref", "refs/remotes/origin/main", "main")
    on_branch(git, "one")
    assert here("profile", "remember", "tools", "editor", "vim").code == 0
    commit(git, "one")
    git("checkout", "-q", "main")
    git("merge", "--quiet", "--squash", "one")
    git.commit("squashed")
    assert here("fold").code == 0
    here.env["MEMORY_NOW"] = "2030-01-01T00:00:00Z"
    assert here("profile", "remember", "tools", "editor", "emacs").code == 0
    commit(git, "later")
    git("checkout", "-q", "one")
    git("merge", "--quiet", "--no-edit", "main")
    assert "emacs" in here("profile", "recall", "tools").out
    assert "Branches disagree" not in here("status").out


def test_sources_that_branches_add_stand_in_fragments_until_they_are_folded(here: Here, git: Git) -> None:
    registry = here.root / ".agent-memory/sources.json"
    assert here("journal", "init", "--yes").code == 0
    commit(git, "journal")
    git("update-ref", "refs/remotes/origin/main", "main")
    for name in ("one", "two"):
        (here.root / f"notes-{name}").mkdir()
        (here.root / f"notes-{name}/a.md").write_text(f"# Notes\n\nDecision: keep {name}, because it is short.\n")
        on_branch(git, name)
        for source in (name, f"gone-{name}"):
            assert here("journal", "add", "markdown", f"notes-{name}", "--name", source).code == 0
        assert here("journal", "sync", "--all").code == 0
        assert here("journal", "remove", f"gone-{name}").code == 0
        said = here("journal", "validate")
        assert said.code == 0, said.out
        commit(git, name)
    merge_all(git, "one", "two")
    assert json.loads(registry.read_bytes()) == []
    assert [one["id"] for one in here("journal", "sources", "--json").data["sources"]] == ["one", "two"]
    assert here("journal", "validate").code == 0
    assert here("fold").code == 0
    assert [one["id"] for one in json.loads(registry.read_bytes())] == ["one", "two"]
    assert here("journal", "validate").code == 0
    assert here("fold", "--json").data["files_changed"] == []


class Death(BaseException):
    """The process is gone."""


def test_a_fold_that_dies_at_any_moment_loses_nothing(here: Here, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    on_branch(git, "one")
    save(here, {"id": "feature.pay", "stage": "shipped"}, {"kind": "gotcha", "title": "Twice", "body": "It bites."})
    here.store("Decisions", "Invoices live in Postgres.")
    commit(git, "one")
    merge_all(git, "one")
    assert here("fold").code == 0
    expected = tree_of(here.root)

    def dies_at(moment: int) -> bool:
        calls = count()

        def die(_operation: str, _path: str) -> None:
            if next(calls) >= moment:
                raise Death

        git("checkout", "-qf", ".")
        git("clean", "-qfd")
        with monkeypatch.context() as patch:
            patch.setattr(disk, "before", die)
            try:
                fold(
                    Project.open(str(here.root), msgspec.structs.replace(real_world(str(here.root)), env=here.env)),
                    Fold(),
                )
            except Death:
                return True
        return False

    moment = 0
    while dies_at(moment):
        assert here("fold").code == 0
        assert tree_of(here.root) == expected, moment
        moment += either(5, 1)
    assert moment > 10


def test_a_write_while_a_node_is_in_conflict_keeps_what_its_branches_said_of_it(here: Here, git: Git) -> None:
    for name in ("one", "two"):
        on_branch(git, name)
        save(here, {"id": "feature.pay", "body": f"Paid by {name}.", "tags": [name]})
        commit(git, name)
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-edit", "one")
    in_conflict(git, "two")
    save(here, {"id": "decision.queue", "tags": ["durable"]})
    assert "memory resolve" in here("check").out
    refused = here("merge", "two", "--apply", "--json").error
    assert refused["message"] == "`.memory/memory/pay.json` has an unresolved merge; nothing was merged."
    assert here("resolve", "feature.pay", "--theirs").code == 0
    commit(git, "merged")
    assert here("fold").code == 0
    checked = here("check", "--json").data
    codes = {problem["code"] for problem in (*checked["errors"], *checked["warnings"])}
    assert codes == {"MergeAttributeMissing"}
    assert (here.root / ".memory/memory/pay.md").read_text() == "Paid by two."
    assert not list(here.root.glob(".memory/*.d/*"))


def test_status_knows_of_a_sync_on_another_branch(here: Here, git: Git) -> None:
    on_branch(git, "one")
    assert "Last sync: never" in here("status").out
    assert here("sync").code == 0
    assert not (here.root / ".memory/sync-state.json").exists()
    assert here("status", "--json").data["last_sync"]["last_sync_commit"] == git("rev-parse", "HEAD").strip()
    assert "Last sync: never" not in here("status").out
