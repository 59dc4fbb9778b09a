"""The files of a project: which are listed, which never are, and how their beginnings are read."""

from __future__ import annotations

import os
import socket
import tracemalloc
from pathlib import Path

import pytest
from repository_making import put

from quire.capture.repository import tree as trees
from quire.capture.repository.modules import count_sources, dense_areas
from quire.capture.repository.tree import (
    below,
    is_file,
    list_tree,
    look_at_top,
    make_tree,
    named,
    read_beginning,
)
from quire.files.git import Git

FILES = {"README.md": "# Harbor\n", "src/a.py": "a = 1\n", "src/deep/b.py": "b = 1\n"}


def listed(root: Path, environment: dict[str, str]) -> list[str]:
    return list(list_tree(str(root), Git(str(root), environment)).files)


def test_a_folder_without_git_is_walked(tmp_path: Path, environment: dict[str, str]) -> None:
    root = put(tmp_path / "plain", {**FILES, "node_modules/x/i.js": "", "src/target/o.rs": "", ".venv/p.py": ""})
    assert listed(root, environment) == ["README.md", "src/a.py", "src/deep/b.py"]


def test_what_git_ignores_does_not_count(repo: Path, environment: dict[str, str], git) -> None:
    put(repo, {**FILES, ".gitignore": "secret/\n*.log\n", "secret/key.py": "", "src/x.log": ""})
    git.commit()
    put(repo, {"src/new.py": "", "later.log": ""})
    assert listed(repo, environment) == [".gitignore", "README.md", "src/a.py", "src/deep/b.py", "src/new.py"]


def test_a_tracked_file_that_is_gone_is_not_listed(repo: Path, environment: dict[str, str], git) -> None:
    put(repo, FILES)
    git.commit()
    (repo / "src" / "a.py").unlink()
    assert listed(repo, environment) == ["README.md", "src/deep/b.py"]


def test_tracked_build_results_and_foreign_code_do_not_count(repo: Path, environment: dict[str, str], git) -> None:
    put(repo, {**FILES, "dist/a.js": "", "vendor/x/y.go": "", "src/build/z.py": "", "lib/coverage/c.js": ""})
    git.commit()
    assert listed(repo, environment) == ["README.md", "src/a.py", "src/deep/b.py"]


def test_what_the_memories_wrote_does_not_count(repo: Path, environment: dict[str, str]) -> None:
    put(
        repo, {**FILES, ".agent-memory/state.json": "{}", "docs/agent-memory/gotchas.md": "", ".memory/config.json": ""}
    )
    put(repo, {"docs/agent-memory.md": "", "docs/.memory/x.md": ""})
    names = ["README.md", "docs/.memory/x.md", "docs/agent-memory.md", "src/a.py", "src/deep/b.py"]
    assert listed(repo, environment) == names


@pytest.mark.parametrize("tracked", [True, False])
def test_links_and_submodules_are_no_files(
    repo: Path, tmp_path: Path, environment: dict[str, str], git, tracked: bool
) -> None:
    put(repo, FILES)
    put(tmp_path / "outside", {"stolen.py": "secret = 1\n"})
    (repo / "linked").symlink_to(tmp_path / "outside")
    (repo / "stolen.py").symlink_to(tmp_path / "outside" / "stolen.py")
    if tracked:
        git.commit()
    found = list_tree(str(repo), Git(str(repo), environment))
    assert read_beginning(found, "linked/stolen.py") == ""
    assert read_beginning(found, "stolen.py") == ""
    assert not is_file(found, "stolen.py")
    if tracked:
        assert list(found.files) == ["README.md", "src/a.py", "src/deep/b.py"]


def test_a_file_that_became_a_link_is_not_read(repo: Path, tmp_path: Path, environment: dict[str, str], git) -> None:
    put(repo, FILES)
    git.commit()
    found = list_tree(str(repo), Git(str(repo), environment))
    assert read_beginning(found, "src/a.py") == "a = 1\n"
    (repo / "src").rename(tmp_path / "moved")
    (repo / "src").symlink_to(tmp_path / "moved")
    assert read_beginning(found, "src/a.py") == ""
    assert not is_file(found, "src/a.py")
    assert is_file(found, "README.md")


def test_pipes_and_sockets_are_not_opened(tmp_path: Path, environment: dict[str, str]) -> None:
    root = put(tmp_path / "p", FILES)
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(root)
        try:
            server.bind("s.md")
        finally:
            os.chdir(here)
        assert listed(root, environment) == ["README.md", "src/a.py", "src/deep/b.py"]
        assert look_at_top(str(root)).files == ("README.md",)
        assert read_beginning(make_tree(str(root), ["pipe.md", "s.md"]), "pipe.md") == ""


def test_a_path_that_is_not_listed_is_not_read(tmp_path: Path) -> None:
    root = put(tmp_path / "p", FILES)
    put(tmp_path, {"secret.txt": "s"})
    found = make_tree(str(root), ["README.md"])
    assert read_beginning(found, "../secret.txt") == ""
    assert read_beginning(found, "src/a.py") == ""
    assert not is_file(found, "src/a.py")


def test_only_the_beginning_of_a_large_file_is_read(tmp_path: Path) -> None:
    put(tmp_path, {"big.md": "line\n" * 100_000, "long.md": "x" * 1000})
    found = make_tree(str(tmp_path), ["big.md", "long.md"])
    assert read_beginning(found, "big.md", 12) == "line\nline\n"
    assert read_beginning(found, "long.md", 100) == "x" * 100


def test_other_encodings_are_read_as_well_as_can_be(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"bad.md": b"caf\xe9\r\nend", "wide.md": "größe".encode("utf-16"), "bin.md": b"a\0b", "bom.md": "\ufeffa"},
    )
    found = make_tree(str(tmp_path), ["bad.md", "wide.md", "bin.md", "bom.md"])
    assert [read_beginning(found, name) for name in ("bad.md", "wide.md", "bin.md", "bom.md")] == [
        "caf\ufffd\nend",
        "größe",
        "",
        "a",
    ]


def test_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    names = ["ok.py", "a\nb.py", "bad\udcff.py", "bidi\u202e.py", "\u3000/x.py", "größe.py", " /y.py"]
    assert make_tree(str(tmp_path), names).files == ("größe.py", "ok.py")


def test_a_very_deep_path_is_no_trouble(tmp_path: Path, environment: dict[str, str]) -> None:
    deep = "/".join("d" * 1500)
    assert list(make_tree(str(tmp_path), [f"{deep}/x.py"]).files) == [f"{deep}/x.py"]
    folder = tmp_path / "walk"
    path = folder
    for _ in range(60):
        path = path / "d"
    put(path, {"x.py": ""})
    put(folder, {"top.py": ""})
    assert listed(folder, environment) == ["top.py"]


def test_there_are_never_more_files_than_may_be_kept(tmp_path: Path, environment, monkeypatch) -> None:
    monkeypatch.setattr(trees, "FILES_MOST", 5)
    put(tmp_path / "p", {f"f{n}.py": "" for n in range(9)})
    assert len(listed(tmp_path / "p", environment)) == 5
    cut = make_tree(str(tmp_path), [f"f{n}.py" for n in reversed(range(9))])
    assert cut.files == ("f0.py", "f1.py", "f2.py", "f3.py", "f4.py")


def test_files_are_found_by_folder_and_by_name(tmp_path: Path) -> None:
    found = make_tree(str(tmp_path), ["a/x.py", "a-b/x.py", "a/b/y.py", "x.py", "a0/x.py"])
    assert below(found, "a") == ("a/b/y.py", "a/x.py")
    assert below(found, "") == found.files
    assert below(found, "missing") == ()
    assert named(found, ["x.py", "z.py"]) == {"x.py": ["a-b/x.py", "a/x.py", "a0/x.py", "x.py"], "z.py": []}
    assert found.folders == {"a", "a-b", "a/b", "a0"}


def test_a_broken_repository_is_walked(repo: Path, environment: dict[str, str]) -> None:
    put(repo, FILES)
    (repo / ".git" / "HEAD").write_text("nonsense")
    (repo / ".git" / "index").write_text("nonsense")
    assert listed(repo, environment) == ["README.md", "src/a.py", "src/deep/b.py"]


def test_a_root_that_cannot_be_read_is_empty(tmp_path: Path, environment: dict[str, str]) -> None:
    assert listed(tmp_path / "missing", environment) == []
    assert look_at_top(str(tmp_path / "missing")) == trees.Top()


@pytest.mark.proof
def test_a_hundred_thousand_files_take_little_memory(tmp_path: Path) -> None:
    paths = [f"src/part{n % 50}/sub{n % 20}/file{n}.py" for n in range(100_000)]
    tracemalloc.start()
    found = make_tree(str(tmp_path), paths)
    counts = count_sources(found)
    areas = dense_areas(counts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(found.files), counts[""], areas[0].count) == (100_000, 100_000, 2_000)
    assert peak < 64 * 1024 * 1024
