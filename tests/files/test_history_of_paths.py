"""The commits of some paths with what they did to them, and what files held then, read in bulk."""

import os
from pathlib import Path
from typing import Any

import pytest

from quire.files.git import Git
from quire.files.git_history import changes_in, describe_known, log_paths, read_blobs
from quire.model.errors import GitRequired


@pytest.fixture
def ours(repo: Path, environment: dict[str, str]) -> Git:
    return Git(str(repo), environment)


def write(repo: Path, name: str, text: str) -> None:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def told(ours: Git, *paths: str, **options: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    found = log_paths(ours, paths, **{"limit": 100, **options})
    return [(item.commit.subject, [(change.how, change.new) for change in item.changes]) for item in found]


def test_commits_are_told_newest_first_with_what_they_did(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a", "1")
    write(repo, "other", "1")
    git.commit("first")
    write(repo, "other", "2")
    git.commit("other")
    write(repo, "a", "2")
    write(repo, "b", "1")
    git.commit("größe")
    (repo / "a").unlink()
    last = git.commit("last")
    assert told(ours, "a", "b") == [
        ("last", [("D", "a")]),
        ("größe", [("M", "a"), ("A", "b")]),
        ("first", [("A", "a")]),
    ]
    assert told(ours, "a", limit=1) == [("last", [("D", "a")])]
    assert told(ours, "none", "*", "--all") == []
    found = log_paths(ours, ["a"], limit=1)[0]
    assert (found.commit.id, found.commit.author) == (last, "Tess Ter")
    assert found.commit.id.startswith(found.commit.short)
    assert len(found.commit.short) < len(last)


def test_of_a_merge_only_what_no_parent_has_is_told(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "mine", "1")
    write(repo, "theirs", "1")
    write(repo, "both", "1")
    first = git.commit("first")
    git("checkout", "--quiet", "-b", "side", first)
    write(repo, "theirs", "2")
    write(repo, "both", "theirs")
    git.commit("side")
    git("checkout", "--quiet", "main")
    write(repo, "mine", "2")
    write(repo, "both", "mine")
    git.commit("main")
    git("merge", "--quiet", "--no-commit", "--strategy=ours", "side")
    write(repo, "theirs", "2")
    write(repo, "both", "both of them")
    git.commit("joined")
    found = dict(told(ours, "mine", "theirs", "both"))
    assert found["joined"] == [("M", "both"), ("M", "both")]
    assert found["side"] == [("M", "both"), ("M", "theirs")]
    assert found["main"] == [("M", "both"), ("M", "mine")]


def test_one_commit_is_asked_about_some_paths(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a", "1")
    write(repo, "b", "1")
    first = git.commit("first")
    found = changes_in(ours, first[:10], ["a"])
    assert found is not None
    assert [(change.how, change.new) for change in found.changes] == [("A", "a")]
    nothing = changes_in(ours, first, ["c"])
    assert nothing is not None
    assert (nothing.commit.subject, nothing.changes) == ("first", ())
    assert changes_in(ours, "0" * 40, ["a"]) is None
    assert changes_in(ours, "--all", ["a"]) is None


def test_known_commits_are_described_and_others_left_out(ours: Git, git: Any) -> None:
    first = git.commit("first")
    found = describe_known(ours, [first[:8], first, "f" * 40, "--all", "", "main"])
    assert {name: commit.subject for name, commit in found.items()} == {first[:8]: "first", first: "first"}
    assert describe_known(ours, ["nothing"]) == {}


def test_blobs_are_read_in_bulk_within_their_limits(ours: Git, git: Any, repo: Path) -> None:
    texts = {"empty": b"", "odd": b"\0\xff\n\nabc 3\n", "long": b"x" * 5000, "last": b"without an end"}
    for name, data in texts.items():
        (repo / name).write_bytes(data)
    git.commit()
    ids = {name: git("rev-parse", f"HEAD:{name}").strip() for name in texts}
    asked = [*ids.values(), "0" * 40, "f" * 40, git("rev-parse", "HEAD^{tree}").strip(), "--all", ids["odd"]]
    assert read_blobs(ours, asked, each=10_000, together=10_000) == {ids[name]: texts[name] for name in texts}
    small = read_blobs(ours, asked, each=100, together=10_000)
    assert sorted(small.values()) == sorted(data for name, data in texts.items() if name != "long")
    assert read_blobs(ours, [ids["odd"], ids["last"]], each=100, together=15) == {ids["odd"]: texts["odd"]}
    assert read_blobs(ours, ["0" * 40], each=100, together=100) == {}


def test_before_the_first_commit_there_is_an_error_in_words(ours: Git) -> None:
    with pytest.raises(GitRequired, match="rev-list failed"):
        log_paths(ours, ["a"], limit=1)
    assert changes_in(ours, "f" * 40, ["a"]) is None


def test_no_program_that_the_repository_names_is_run(ours: Git, git: Any, repo: Path, tmp_path: Path) -> None:
    write(repo, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
    write(repo, "a", "word\n")
    first = git.commit()
    write(repo, "a", "word two\n")
    git.commit()
    signs = tmp_path / "signs"
    signs.mkdir()
    program = tmp_path / "evil.sh"
    program.write_text(f'#!/bin/sh\ntouch "{signs}/$1"\ncat\n', encoding="utf-8")
    program.chmod(0o755)
    for name in ("diff.external", "diff.evil.command", "diff.evil.textconv", "gpg.program", "core.pager"):
        git("config", name, f"{program} {name}")
    git("config", "log.showSignature", "true")
    assert len(told(ours, "a")) == 2
    found = changes_in(ours, first, ["a"])
    assert found is not None
    assert read_blobs(ours, [found.changes[0].new_id], each=99, together=99) == {found.changes[0].new_id: b"word\n"}
    assert describe_known(ours, [first])
    assert os.listdir(signs) == []
