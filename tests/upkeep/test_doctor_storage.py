"""A project's storage under the doctor: layers, .gitignore, unfinished changes, lock, index."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from quire.files.world import World
from quire.project import Project
from quire.upkeep.doctor import (
    look_at_git,
    look_at_index,
    look_at_layers,
    look_at_lock,
    look_at_transactions,
    unfinished_folders,
)
from quire.upkeep.findings import Finding
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.inspect import product_map_page

NOBODY = 2**22 + 1
"""No process has this number: the kernel's own limit is below it."""


def states(findings: list[Finding]) -> dict[str, str]:
    return {finding.name: finding.state for finding in findings}


def test_no_layer_is_no_memory(repo: Path) -> None:
    assert look_at_layers(Project.open(str(repo))) == []


def test_layers_with_their_versions(project: Project, repo: Path) -> None:
    init_memory(project, layers=("facts", "profile", "journal"))
    assert [(item.name, item.state, item.message) for item in look_at_layers(project)] == [
        ("graph", "ok", ".memory, storage version 5"),
        ("facts", "ok", ".memory/facts.jsonl"),
        ("profile", "ok", ".ai-state/memory.json, version 1.2"),
        ("journal", "ok", ".agent-memory/state.json, version 2"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        (".memory/config.json", "{ broken", "graph"),
        (".memory/config.json", '{"version": 99}', "graph"),
        (".ai-state/memory.json", "[]", "profile"),
        (".ai-state/memory.json", '{"schema_version": "9.9"}', "profile"),
        (".agent-memory/state.json", "", "journal"),
        (".agent-memory/state.json", '{"schemaVersion": 77}', "journal"),
    ],
)
def test_a_layer_that_cannot_be_used_is_an_error(project: Project, repo: Path, path: str, text: str, name: str) -> None:
    init_memory(project, layers=("profile", "journal"))
    (repo / path).write_text(text)
    found = states(look_at_layers(project))
    assert [layer for layer, state in found.items() if state == "error"] == [name]
    assert (repo / path).read_text() == text


def test_gitignore_lines_of_every_layer(project: Project, repo: Path) -> None:
    init_memory(project, layers=("profile", "journal"))
    ignore = repo / ".gitignore"
    assert states(look_at_git(project)) == {"git": "ok", "merges": "note", "gitignore": "ok"}
    whole = ignore.read_text()
    for line in (".memory/index/", ".ai-state/memory.lock", ".agent-memory/local/"):
        ignore.write_text(whole.replace(line, ""))
        found = look_at_git(project)[2]
        assert (found.state, found.fixable) == ("warning", True), line
        assert ignore.read_text() == whole.replace(line, "")


def test_without_git_there_is_nothing_to_ignore(tmp_path: Path, world: World) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    project = Project.open(str(folder), world)
    init_memory(project)
    assert states(look_at_git(project)) == {"git": "note"}


def test_an_unfinished_change_is_named_by_its_folder(project: Project, repo: Path) -> None:
    assert [item.state for item in look_at_transactions(str(repo))] == ["ok"]
    (repo / ".memory/recovery/transaction-abc").mkdir(parents=True)
    (repo / ".ai-state/recovery/transaction-def").mkdir(parents=True)
    (repo / ".memory/recovery/unapplied-xyz").write_text("kept")
    found = look_at_transactions(str(repo))
    assert unfinished_folders(str(repo)) == [".memory", ".ai-state"]
    assert [(item.name, item.state, item.fixable) for item in found] == [
        ("transactions", "warning", True),
        ("kept", "warning", False),
    ]
    assert ".memory/recovery/unapplied-xyz" in found[1].message
    assert (repo / ".memory/recovery/transaction-abc").is_dir()


def lock(repo: Path, pid: int, *, kernel: bool) -> Path:
    path = repo / ".memory/.lock"
    held = {"pid": pid, "operation": "save", "created_at": "2026-03-02T11:00:00+00:00", "kernel": kernel}
    path.write_text(json.dumps(held))
    return path


@pytest.mark.parametrize(
    ("alive", "kernel", "state"),
    [
        (False, True, "warning"),
        (False, False, "warning"),
        (True, True, "warning"),  # a number that was given anew: nobody holds the kernel's lock
        (True, False, "note"),  # a living program that knows no kernel locks
    ],
)
def test_a_lock_that_was_left(project: Project, repo: Path, alive: bool, kernel: bool, state: str) -> None:
    pid = os.getpid() if alive else NOBODY
    path = lock(repo, pid, kernel=kernel)
    (found,) = look_at_lock(str(repo))
    assert (found.state, found.fixable) == (state, state == "warning")
    assert f"process {pid}, `save`" in found.message
    assert path.exists()


def test_a_lock_that_is_held_is_left_alone(project: Project, repo: Path) -> None:
    path = lock(repo, NOBODY, kernel=True)
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (found,) = look_at_lock(str(repo))
    assert (found.state, found.fixable) == ("note", False)


def test_the_index(project: Project, repo: Path) -> None:
    folder = repo / ".memory/index"
    product_map_page(project)
    assert look_at_index(str(folder)).message == "usable"
    file = folder / "quire.sqlite"
    for data in (b"not a database at all, " * 100, file.read_bytes()[:4096] + b"\0" * 4096):
        for extra in folder.glob("quire.sqlite-*"):
            extra.unlink()
        file.write_bytes(data)
        found = look_at_index(str(folder))
        assert (found.state, found.fixable) == ("warning", True)
        assert file.read_bytes() == data
    file.unlink()
    assert look_at_index(str(folder)).state == look_at_index(None).state == "ok"
    assert not file.exists()
