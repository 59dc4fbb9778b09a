"""The project's root is found from any folder of it, whatever kind of repository it is, or none."""

import os
from pathlib import Path
from typing import Any

import pytest

from promised import proves
from quire.files.discovery import find_root, is_repository_top
from quire.model.errors import InputError

MARKER = ".memory/config.json"


def root(start: Path) -> Path:
    return Path(find_root(str(start), MARKER))


def make_store(folder: Path) -> Path:
    (folder / ".memory").mkdir(parents=True)
    (folder / ".memory" / "config.json").write_text("{}", encoding="utf-8")
    return folder


@pytest.mark.parametrize("below", [".", "src", "src/deep/er", ".memory/memory", "with space/ünï"])
def test_from_anywhere_in_a_working_tree_the_root_is_its_top(repo: Path, below: str) -> None:
    (repo / below).mkdir(parents=True, exist_ok=True)
    assert root(repo / below) == repo


def test_the_top_of_the_working_tree_wins_over_a_store_in_a_subfolder(repo: Path) -> None:
    make_store(repo / "packages" / "one")
    assert root(repo / "packages" / "one") == repo


def test_a_repository_inside_another_is_its_own_project(repo: Path, git: Any) -> None:
    git("init", "--quiet", repo / "inner")
    (repo / "inner" / "src").mkdir()
    assert root(repo / "inner" / "src") == repo / "inner"


@proves("P1.5", "C11")
def test_a_linked_worktree_is_its_own_project(repo: Path, git: Any, tmp_path: Path) -> None:
    git.commit()
    git("worktree", "add", "--quiet", "-b", "side", tmp_path / "linked")
    (tmp_path / "linked" / "src").mkdir()
    assert (tmp_path / "linked" / ".git").is_file()
    assert root(tmp_path / "linked" / "src") == tmp_path / "linked"


@proves("P1.5", "C11")
def test_a_submodule_is_its_own_project(repo: Path, git: Any, tmp_path: Path) -> None:
    git("init", "--quiet", tmp_path / "part")
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=tmp_path / "part")
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", tmp_path / "part", "vendor/part")
    (repo / "vendor" / "part" / "src").mkdir()
    assert root(repo / "vendor" / "part" / "src") == repo / "vendor" / "part"
    assert root(repo / "vendor") == repo


@proves("P1.5", "C11")
def test_a_separate_git_folder_is_followed_no_further_than_its_file(git: Any, tmp_path: Path) -> None:
    git("init", "--quiet", "--separate-git-dir", tmp_path / "elsewhere.git", tmp_path / "tree")
    assert root(tmp_path / "tree") == tmp_path / "tree"


def test_an_empty_git_folder_is_no_repository(repo: Path) -> None:
    (repo / "inner" / ".git").mkdir(parents=True)
    assert not is_repository_top(str(repo / "inner"))
    assert root(repo / "inner") == repo


def test_outside_git_the_nearest_store_upwards_is_the_root(tmp_path: Path) -> None:
    make_store(tmp_path / "outer")
    make_store(tmp_path / "outer" / "inner")
    (tmp_path / "outer" / "inner" / "src").mkdir()
    (tmp_path / "outer" / "other").mkdir()
    assert root(tmp_path / "outer" / "inner" / "src") == tmp_path / "outer" / "inner"
    assert root(tmp_path / "outer" / "other") == tmp_path / "outer"


def test_without_git_and_without_a_store_the_root_is_where_we_stand(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert root(tmp_path / "plain") == tmp_path / "plain"


@proves("P1.5", "C8")
def test_a_bare_repository_has_no_working_tree_and_is_a_plain_folder(git: Any, tmp_path: Path) -> None:
    git("init", "--quiet", "--bare", tmp_path / "bare.git")
    assert root(tmp_path / "bare.git") == tmp_path / "bare.git"
    assert root(tmp_path / "bare.git" / "refs") == tmp_path / "bare.git" / "refs"


def test_a_link_to_a_folder_of_the_project_leads_to_the_project_itself(repo: Path, tmp_path: Path) -> None:
    (repo / "src").mkdir()
    (tmp_path / "shortcut").symlink_to(repo / "src")
    assert root(tmp_path / "shortcut") == repo


@pytest.mark.parametrize("name", ["nothing", "file"])
def test_a_start_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="not a folder"):
        root(tmp_path / name)


def test_commands_work_from_a_folder_whose_name_is_odd(memory: Any, repo: Path) -> None:
    memory.init()
    for name in ("with space", "new\nline", "arrow -> x", "-dash", os.fsdecode(b"\xff")):
        folder = repo / name
        folder.mkdir()
        assert memory("status", "--json", cwd=folder).data["project"]["id"] == "project.harbor"


@pytest.mark.parametrize("name", ["with space", "new\nline", "-dash", "ünï", "CON", "!?"])
def test_a_project_whose_own_folder_has_an_odd_name_can_be_used(memory: Any, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    assert memory("init", "--json", cwd=folder).code == 0
    intent = {"task": "t", "nodes": [{"kind": "feature", "title": "A", "body": "B."}]}
    assert memory("save", "--stdin", "--json", stdin=intent, cwd=folder).code == 0
    assert memory("inspect", "feature.a", cwd=folder).code == 0
    assert memory("check", "--json", cwd=folder).json["data"]["errors"] == []
    assert memory("status", "--all", cwd=folder).code == 0
    assert memory("reset", "--yes", cwd=folder).code == 0


def test_a_project_whose_path_is_not_text_is_refused_in_words(memory: Any, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    for line in (["init"], ["status"], ["save", "--stdin"], ["projects", "add"], ["reset", "--yes"]):
        run = memory(*line, "--json", cwd=folder)
        assert run.code == 1, line
        assert "not UTF-8" in run.error["message"]
        assert run.error["hint"]
    assert os.listdir(folder) == []
    run = memory("--project", os.fsdecode(b"no\xff"), "status", "--json")
    assert run.code == 1
    assert "not a folder" in run.error["message"]


@proves("P1.5", "C8")
def test_without_git_everything_but_diff_works(memory: Any, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    for env in ({}, {"PATH": "/nowhere"}):
        assert memory("init", cwd=folder, env=env).code == 0
        intent = {"task": "t", "nodes": [{"kind": "feature", "title": "A", "body": "B.", "anchors": ["*.py"]}]}
        assert memory("save", "--stdin", stdin=intent, cwd=folder, env=env).code == 0
        assert memory("status", cwd=folder, env=env).code == 0
        assert memory("check", cwd=folder, env=env).code == 0
        run = memory("diff", "--json", cwd=folder, env=env)
        assert run.code == 3
        assert run.error["code"] == "MemoryGitRequired"
        assert run.error["hint"]
