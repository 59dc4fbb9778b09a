"""The files of every layer: what counts as truth, what git says of it, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cases import each
from quire.files.world import World
from quire.layers.table import layer_of_file
from quire.project import Project
from quire.upkeep.views import file_states
from quire.upkeep.views.file_states import FileHealth, IndexFile, LayerFiles, file_health
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.profile.remember import RememberEntry, remember_entry


def health(project: Project) -> FileHealth:
    folder = project.index_folder()
    return project.with_index(lambda index: file_health(project.root, project.git, index, folder))


def layer(project: Project, name: str) -> LayerFiles:
    return {found.layer: found for found in health(project).layers}[name]


@each(
    ("path", "expected"),
    [
        (".memory/config.json", "graph"),
        (".memory/memory/a.json", "graph"),
        (".memory/memory/index/a.md", "graph"),
        (".memory/rejected/a.json", "graph"),
        (".memory/facts.jsonl", "facts"),
        (".ai-state/memory.json", "profile"),
        (".agent-memory/history/events.jsonl", "journal"),
        (".agent-memory/history/local/x", "journal"),
        (".memory/index/quire.sqlite", None),
        (".memory/local/receipts.jsonl", None),
        (".memory/recovery/a/b", None),
        (".memory/.backup/a", None),
        (".memory/.lock", None),
        (".ai-state/local/memory.json", None),
        (".ai-state/other.md", None),
        (".agent-memory/local/imports.json", None),
        (".agent-memory/automation/daemon.json", None),
        (".agent-memory/.lock", None),
        ("src/.memory/a.json", None),
        (".memory-old/a", None),
        ("README.md", None),
    ],
)
def test_what_is_truth_of_which_layer(path: str, expected: str | None) -> None:
    layer = layer_of_file(path)
    assert (layer and layer.name) == expected


def test_an_empty_memory_that_nothing_was_committed_of(project: Project, repo: Path) -> None:
    found = health(project)
    assert [(one.layer, one.folder) for one in found.layers] == [
        ("graph", ".memory"),
        ("facts", ".memory/facts.jsonl"),
        ("profile", ".ai-state"),
        ("journal", ".agent-memory"),
    ]
    graph = found.layers[0]
    there = [path for path in (repo / ".memory").rglob("*") if path.is_file() and ".memory/index" not in str(path)]
    there = [path for path in there if "/recovery/" not in str(path)]
    assert (graph.present, graph.records, graph.files) == (True, 1, len(there))
    assert graph.bytes == sum(path.stat().st_size for path in there)
    assert (graph.tracked, graph.changed, graph.problems) == (False, len(there), ())
    for other in found.layers[1:]:
        assert (other.present, other.records, other.files, other.bytes) == (False, 0, 0, 0)
        assert (other.tracked, other.changed, other.newest) == (False, 0, "")
    assert found.index.path == ".memory/index"
    assert found.index.bytes >= (repo / ".memory/index/quire.sqlite").stat().st_size > 0


def test_what_differs_from_the_last_commit_is_counted(project: Project, repo: Path, git: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"kind": "feature", "title": title, "body": "b"} for title in "ABCDE"]})
    git.commit()
    graph = layer(project, "graph")
    assert (graph.tracked, graph.changed) == (True, 0)
    nodes = repo / ".memory/memory"
    (nodes / "a.md").write_text("edited", encoding="utf-8")
    (nodes / "b.md").write_text("staged", encoding="utf-8")
    git("add", ".memory/memory/b.md")
    (nodes / "c.md").unlink()
    git("rm", "--quiet", "--cached", ".memory/memory/d.md")
    (nodes / "d.md").unlink()
    (nodes / "new.md").write_text("untracked", encoding="utf-8")
    assert layer(project, "graph").changed == 5
    # Only touched, and as it was.
    os.utime(nodes / "e.md", ns=(1, 1))
    assert layer(project, "graph").changed == 5


def test_staged_one_way_and_edited_back_still_differs(project: Project, repo: Path, git: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"kind": "feature", "title": "A", "body": "b"}]})
    git.commit()
    body = repo / ".memory/memory/a.md"
    before = body.read_bytes()
    body.write_bytes(b"other")
    git("add", "--all")
    body.write_bytes(before)
    assert layer(project, "graph").changed == 1


def test_each_layer_has_its_own_numbers(project: Project, repo: Path, git: Any) -> None:
    git.commit()
    store(project, Store(section="Architecture", content="Retries run in the worker."))
    remember_entry(project, RememberEntry(category="learnings", key="retry-limit", value="Five attempts are enough."))
    journal_init(project, JournalInit(provider="local"))
    facts, profile, journal = (layer(project, name) for name in ("facts", "profile", "journal"))
    assert (facts.present, facts.records, facts.files, facts.tracked, facts.changed) == (True, 1, 1, False, 1)
    assert facts.bytes == (repo / ".memory/facts.jsonl").stat().st_size
    assert (profile.present, profile.files, profile.changed) == (True, 1, 1)
    assert profile.bytes == (repo / ".ai-state/memory.json").stat().st_size
    assert profile.records >= 1
    assert journal.present
    assert journal.files == journal.changed >= 4
    git.commit()
    assert [(one.tracked, one.changed) for one in health(project).layers] == [(True, 0)] * 4


def test_what_git_ignores_is_neither_tracked_nor_changed(project: Project, repo: Path) -> None:
    (repo / ".gitignore").write_text(".memory/\n", encoding="utf-8")
    graph = layer(project, "graph")
    assert (graph.present, graph.tracked, graph.changed) == (True, False, 0)


def test_the_newest_file_says_when(project: Project, repo: Path) -> None:
    for path in (repo / ".memory").rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    os.utime(repo / ".memory/config.json", (1_772_450_340, 1_772_450_340))
    assert layer(project, "graph").newest == "2026-03-02T11:19:00+00:00"


def test_problems_stand_with_their_layer(project: Project, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".memory/memory/broken.json").write_text("{", encoding="utf-8")
    (repo / ".memory/facts.jsonl").write_text("{\n{\n{\n", encoding="utf-8")
    graph, facts = layer(project, "graph"), layer(project, "facts")
    assert [problem.path for problem in graph.problems] == [".memory/memory/broken.json"]
    assert {problem.path for problem in facts.problems} == {".memory/facts.jsonl"}
    assert len(facts.problems) == 3
    monkeypatch.setattr(file_states, "_PROBLEMS", 2)
    facts = layer(project, "facts")
    assert [problem.code for problem in facts.problems][2:] == ["MoreProblems"]
    assert facts.problems[2].message == "There are 1 more."


def test_links_are_not_followed(project: Project, repo: Path, tmp_path: Path) -> None:
    before = layer(project, "graph")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text("{}", encoding="utf-8")
    (repo / ".memory/memory/linked").symlink_to(outside)
    (repo / ".memory/memory/one.json").symlink_to(outside / "secret.json")
    (repo / ".agent-memory").symlink_to(outside)
    (repo / ".ai-state").symlink_to(outside)
    after = health(project)
    assert (after.layers[0].files, after.layers[0].bytes) == (before.files, before.bytes)
    assert [(one.present, one.files) for one in after.layers[1:]] == [(False, 0)] * 3


def test_without_git_it_is_not_said_whether_git_keeps_it(tmp_path: Path, world: World) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    project = Project.open(str(plain), msgspec.structs.replace(world, cwd=str(plain)))
    init_memory(project)
    found = health(project)
    assert [one.tracked for one in found.layers] == [None] * 4
    assert [one.changed for one in found.layers] == [0] * 4
    assert found.layers[0].files > 0


def test_a_repository_that_git_cannot_read(project: Project, repo: Path) -> None:
    (repo / ".git/HEAD").write_text("nonsense", encoding="utf-8")
    graph = layer(project, "graph")
    assert (graph.tracked, graph.changed) == (None, 0)


def test_an_index_that_has_no_folder(tmp_path: Path, world: World) -> None:
    plain = tmp_path / "profile"
    plain.mkdir()
    project = Project.open(str(plain), msgspec.structs.replace(world, cwd=str(plain)))
    remember_entry(project, RememberEntry(category="learnings", key="retry-limit", value="Five attempts are enough."))
    found = health(project)
    assert found.index == IndexFile("", 0)
    assert [(one.layer, one.present) for one in found.layers] == [
        ("graph", False),
        ("facts", False),
        ("profile", True),
        ("journal", False),
    ]
