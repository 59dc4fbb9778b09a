"""The past is asked without running a program that a repository names, and odd names come back as they are."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from quire.files.commit_ranges import touched_since
from quire.files.git import Git
from quire.files.git_history import (
    GitFileChange,
    LineOrigin,
    attributes,
    changes_between,
    changes_staged,
    commits_between,
    describe_commits,
    filtered_paths,
    full_commit,
    is_ancestor,
    is_shallow,
    last_commit,
    line_origins,
)
from quire.model.errors import GitRequired

ODD_NAMES = [
    b"with space.md",
    b"new\nline.md",
    b"tab\there.md",
    b"non-utf8-\xff\xfe.md",
    b"arrow -> here.md",
    b'quote".md',
    b":colon.md",
    "größe-💾.md".encode(),
]
LINES = "".join(f"line {n} of a file\n" for n in range(20))


@pytest.fixture
def ours(repo: Path, environment: dict[str, str]) -> Git:
    return Git(str(repo), environment)


def write(repo: Path, name: bytes | str, text: str = LINES) -> str:
    path = os.path.join(os.fsencode(repo), os.fsencode(name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode())
    return os.fsdecode(name)


def what(changes: list[GitFileChange]) -> list[tuple[str, str, str]]:
    return sorted((change.how, change.old, change.new) for change in changes)


# -- commits ----------------------------------------------------------------------------------


def test_a_commit_is_known_by_its_whole_name_and_by_a_part_of_it(ours: Git, git: Any) -> None:
    commit = git.commit()
    for name in (commit, commit[:6], commit[:12], commit.upper()):
        assert full_commit(ours, name) == commit


@pytest.mark.parametrize(
    "name", ["", "HEAD", "main", "abc", "0" * 40, "f" * 64, "--all", "deadbeef1", "HEAD~1", "a" * 65]
)
def test_what_is_no_commit_here_is_none(ours: Git, git: Any, name: str) -> None:
    assert full_commit(ours, name) is None
    git.commit()
    assert full_commit(ours, name) is None


def test_a_blob_a_tree_and_a_branch_are_no_commits(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a.md")
    commit = git.commit()
    for kind in ("a.md", ""):
        assert full_commit(ours, git("rev-parse", f"HEAD:{kind}").strip()) is None
    git("branch", "decade")
    git("branch", commit[:10])
    git.commit("more")
    assert full_commit(ours, "decade") is None
    assert full_commit(ours, commit) == commit


def test_ancestors_are_told_from_others(ours: Git, git: Any) -> None:
    first = git.commit("first")
    second = git.commit("second")
    git("checkout", "--quiet", "-b", "side", first)
    other = git.commit("other")
    assert is_ancestor(ours, first)
    assert is_ancestor(ours, first, second)
    assert is_ancestor(ours, other, other)
    assert not is_ancestor(ours, second)
    assert not is_ancestor(ours, "0" * 40)


def test_without_a_repository_there_is_no_answer(tmp_path: Path, environment: dict[str, str]) -> None:
    none = Git(str(tmp_path), environment)
    for question in (full_commit, is_ancestor):
        with pytest.raises(GitRequired):
            question(none, "0" * 40)
    with pytest.raises(GitRequired):
        changes_staged(none)
    assert filtered_paths(none, ["a"]) == []


def test_commits_are_listed_newest_first_between_two_ends_and_for_some_paths(ours: Git, git: Any, repo: Path) -> None:
    commits = []
    for number in range(4):
        write(repo, "even.md" if number % 2 == 0 else "odd.md", str(number))
        commits.append(git.commit(str(number)))
    assert commits_between(ours, None) == commits[::-1]
    assert commits_between(ours, commits[1]) == [commits[3], commits[2]]
    assert commits_between(ours, None, limit=2) == [commits[3], commits[2]]
    assert commits_between(ours, None, paths=["even.md"]) == [commits[2], commits[0]]
    assert last_commit(ours, ["even.md"], None) == commits[2]
    assert last_commit(ours, ["even.md"], commits[2]) is None
    assert last_commit(ours, ["even.md", "odd.md"], commits[2]) == commits[3]
    assert last_commit(ours, ["*.md"], None) is None
    assert last_commit(ours, ["--all"], None) is None


def test_a_shallow_clone_says_so_and_ends_where_it_was_cut(
    ours: Git, git: Any, repo: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    write(repo, "a.md")
    first = git.commit("first")
    last = git.commit("second")
    git("clone", "--quiet", "--depth", "1", f"file://{repo}", tmp_path / "shallow")
    shallow = Git(str(tmp_path / "shallow"), environment)
    assert (is_shallow(ours), is_shallow(shallow)) == (False, True)
    assert full_commit(shallow, first) is None
    assert not is_ancestor(shallow, first)
    assert commits_between(shallow, None) == [last]
    with pytest.raises(GitRequired):
        changes_between(shallow, first)
    assert touched_since(shallow, None, 10) == {"a.md": last}


def test_commits_are_described_as_people_know_them(ours: Git, git: Any) -> None:
    first = git.commit("a subject\n\nand a body")
    second = git.commit("größe -> 💾 \t tab")
    found = describe_commits(ours, [second, first, second])
    assert list(found) == [second, first]
    assert (found[first].subject, found[first].author, found[first].id) == ("a subject", "Tess Ter", first)
    assert found[second].subject == "größe -> 💾 \t tab"
    assert first.startswith(found[first].short)
    assert found[first].date[:2] == "20"
    assert describe_commits(ours, []) == {}


def test_a_commit_in_another_encoding_or_with_an_empty_subject_is_described(ours: Git, git: Any) -> None:
    git("config", "i18n.commitEncoding", "ISO-8859-1")
    git("config", "log.showSignature", "true")
    git("-c", b"user.name=J\xf6rg", "commit", "--quiet", "--allow-empty", "--message", b"gr\xf6\xdfe")
    latin = git("rev-parse", "HEAD").strip()
    git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")
    empty = git("rev-parse", "HEAD").strip()
    found = describe_commits(ours, [latin, empty])
    assert (found[latin].subject, found[latin].author) == ("größe", "Jörg")
    assert found[empty].subject == ""


# -- what changed -----------------------------------------------------------------------------


def test_changes_between_commits_are_told_by_their_kind(ours: Git, git: Any, repo: Path) -> None:
    for name in ("kept", "edited", "gone", "moved", "moved-edited", "typed"):
        write(repo, name, f"{name}\n" + LINES.replace("line", name))
    first = git.commit()
    write(repo, "edited", "other\n")
    (repo / "gone").unlink()
    (repo / "deep").mkdir()
    (repo / "moved").rename(repo / "deep/moved")
    (repo / "moved-edited").rename(repo / "deep/edited")
    write(repo, "deep/edited", LINES.replace("line", "moved-edited") + "and more\n")
    (repo / "typed").unlink()
    (repo / "typed").symlink_to("kept")
    write(repo, "new", "quite new\n")
    expected = [
        ("A", "new", "new"),
        ("D", "gone", "gone"),
        ("M", "edited", "edited"),
        ("R", "moved", "deep/moved"),
        ("R", "moved-edited", "deep/edited"),
        ("T", "typed", "typed"),
    ]
    git("add", "--all")
    assert what(changes_staged(ours)) == expected
    second = git.commit()
    assert changes_staged(ours) == []
    found = changes_between(ours, first)
    assert what(found) == expected
    assert what(changes_between(ours, first, second)) == expected
    assert what(changes_between(ours, second, first))[0] == ("A", "gone", "gone")
    ids = {change.new: (change.old_id, change.new_id) for change in found}
    assert ids["edited"] == (git("rev-parse", f"{first}:edited").strip(), git("rev-parse", "HEAD:edited").strip())
    assert ids["new"][0] == "0" * 40


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_come_back_as_they_are(ours: Git, git: Any, repo: Path, name: bytes) -> None:
    old = write(repo, name)
    first = git.commit()
    new = os.fsdecode(b"deep/" + name)
    (repo / "deep").mkdir()
    os.rename(os.path.join(os.fsencode(repo), name), os.path.join(os.fsencode(repo), b"deep", name))
    git("add", "--all")
    assert what(changes_staged(ours)) == [("R", old, new)]
    second = git.commit()
    assert what(changes_between(ours, first)) == [("R", old, new)]
    assert touched_since(ours, None, 10) == {old: second, new: second}
    assert last_commit(ours, [old], first) == second
    assert commits_between(ours, None, paths=[old]) == [second, first]
    write(repo, ".gitattributes", "*.md filter=x\n")
    assert attributes(ours, [new], ["filter"]) == {new: {"filter": "x"}}
    assert line_origins(ours, new, 1, 2) == {1: LineOrigin(first, old, 1), 2: LineOrigin(first, old, 2)}


def test_what_commits_touched_is_told_with_the_newest_of_each(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a.md", "1")
    write(repo, "b.md", "1")
    first = git.commit()
    write(repo, "a.md", "2")
    second = git.commit()
    git("checkout", "--quiet", "-b", "side", first)
    write(repo, "c.md", "1")
    side = git.commit()
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--no-edit", "side")
    (repo / "b.md").unlink()
    last = git.commit()
    assert touched_since(ours, None, 100) == {"a.md": second, "b.md": last, "c.md": side}
    assert touched_since(ours, second, 100) == {"b.md": last, "c.md": side}
    assert touched_since(ours, None, 1) == {"b.md": last}
    assert touched_since(ours, last, 100) == {}


def test_settings_do_not_change_what_is_found(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "src/a.md")
    first = git.commit()
    git("mv", "src/a.md", "src/b.md")
    second = git.commit()
    expected = changes_between(ours, first), touched_since(ours, None, 9), line_origins(ours, "src/b.md", 1, 3)
    assert what(expected[0]) == [("R", "src/a.md", "src/b.md")]
    settings = {
        "diff.renames": "false",
        "diff.renameLimit": "1",
        "diff.noprefix": "true",
        "diff.relative": "true",
        "diff.orderFile": "/nowhere",
        "color.ui": "always",
        "color.diff": "always",
        "log.showSignature": "true",
        "log.date": "relative",
        "log.follow": "true",
        "core.quotePath": "true",
        "core.abbrev": "5",
        "blame.showEmail": "true",
        "blame.coloring": "highlightRecent",
        "blame.markUnblamableLines": "true",
        "diff.algorithm": "patience",
        "format.pretty": "oneline",
    }
    for name, value in settings.items():
        git("config", name, value)
    write(repo, "ignored", second + "\n")
    git("config", "blame.ignoreRevsFile", "ignored")
    assert (
        changes_between(ours, first),
        touched_since(ours, None, 9),
        line_origins(ours, "src/b.md", 1, 3),
    ) == expected


# -- lines ------------------------------------------------------------------------------------


def test_the_lines_of_a_file_are_traced_through_edits_and_renames(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a.md")
    first = git.commit()
    git("mv", "a.md", "b.md")
    git.commit()
    write(repo, "b.md", LINES.replace("line 3 of", "line three of"))
    third = git.commit()
    found = line_origins(ours, "b.md", 3, 5)
    assert found == {3: LineOrigin(first, "a.md", 3), 4: LineOrigin(third, "b.md", 4), 5: LineOrigin(first, "a.md", 5)}
    write(repo, "b.md", "not committed\n")
    assert line_origins(ours, "b.md", 3, 5) == found


def test_white_space_alone_makes_nobody_the_author_of_a_line(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a.md")
    first = git.commit()
    write(repo, "a.md", LINES.replace("line", "    line"))
    git.commit()
    assert {origin.commit for origin in line_origins(ours, "a.md", 1, 20).values()} == {first}


def test_lines_that_look_like_an_answer_of_git_are_no_answer(ours: Git, git: Any, repo: Path) -> None:
    commit = git.commit()
    write(repo, "a.md", f"filename evil\n{commit} 1 1 1\nauthor x\n\r\n{commit} 9 9\n")
    written = git.commit()
    assert line_origins(ours, "a.md", 1, 5) == {n: LineOrigin(written, "a.md", n) for n in range(1, 6)}


@pytest.mark.parametrize(("path", "first", "last"), [("gone.md", 1, 1), ("a.md", 100, 120), ("-rf", 1, 1)])
def test_lines_that_are_not_there_are_an_error_in_words(
    ours: Git, git: Any, repo: Path, path: str, first: int, last: int
) -> None:
    write(repo, "a.md")
    git.commit()
    with pytest.raises(GitRequired, match="blame failed"):
        line_origins(ours, path, first, last)


# -- attributes -------------------------------------------------------------------------------


def test_attributes_that_are_set_are_told_and_others_are_left_out(ours: Git, repo: Path) -> None:
    write(repo, ".gitattributes", "*.bin filter=lfs -text\n*.md text=auto\n*.x !filter\n*.y -filter\n*.z filter\n")
    paths = ["a.bin", "a.md", "a.x", "a.y", "a.z", "deep/b.bin", "none"]
    assert attributes(ours, paths, ["filter", "text"]) == {
        "a.bin": {"filter": "lfs"},
        "a.md": {"text": "auto"},
        "a.z": {"filter": "set"},
        "deep/b.bin": {"filter": "lfs"},
    }
    assert filtered_paths(ours, paths) == ["a.bin", "a.z", "deep/b.bin"]
    assert attributes(ours, [], ["filter"]) == {}


# -- programs that a repository names ---------------------------------------------------------


def test_no_question_about_the_past_runs_a_program_that_the_repository_names(
    ours: Git, git: Any, repo: Path, tmp_path: Path
) -> None:
    write(repo, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
    write(repo, "a.md")
    first = git.commit()
    git("mv", "a.md", "b.md")
    git.commit()
    signs = tmp_path / "signs"
    signs.mkdir()
    program = tmp_path / "evil.sh"
    program.write_text(f'#!/bin/sh\ntouch "{signs}/$1"\ncat\n', encoding="utf-8")
    program.chmod(0o755)
    names = ["core.fsmonitor", "core.pager", "diff.external", "diff.evil.command", "diff.evil.textconv", "gpg.program"]
    names += ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "gpg.ssh.program", "core.sshCommand"]
    names += ["pager.blame", "pager.rev-list", "pager.diff-tree", "alias.blame", "alias.rev-list", "alias.check-attr"]
    for name in names:
        git("config", name, f"{program} {name}" if not name.startswith("alias") else f"!{program} {name}")
    for name, value in {
        "log.showSignature": "true",
        "filter.evil.required": "true",
        "diff.evil.cachetextconv": "1",
    }.items():
        git("config", name, value)
    write(repo, "b.md", "edited\n")
    git("config", "diff.algorithm", "histogram")
    head = ours.head()
    assert head
    changes_between(ours, first)
    changes_staged(ours)
    commits_between(ours, None, paths=["b.md"])
    touched_since(ours, None, 10)
    describe_commits(ours, [first, head])
    line_origins(ours, "b.md", 1, 20)
    attributes(ours, ["b.md"], ["filter"])
    last_commit(ours, ["b.md"], None)
    is_ancestor(ours, first)
    is_shallow(ours)
    assert os.listdir(signs) == []


def test_in_a_partial_clone_renames_of_equal_contents_are_found_and_nothing_is_fetched(
    git: Any, repo: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    write(repo, "a.md")
    write(repo, "c.md", LINES.upper())
    first = git.commit()
    git("mv", "a.md", "b.md")
    git("mv", "c.md", "d.md")
    write(repo, "d.md", LINES.upper() + "more\n")
    git.commit()
    git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git("clone", "--quiet", "--filter=blob:none", "--no-checkout", f"file://{repo}", clone)
    found = changes_between(Git(str(clone), environment), first)
    assert ("R", "a.md", "b.md") in what(found)
    shutil.rmtree(repo)
    assert changes_between(Git(str(clone), environment), first) == found


def test_a_repository_with_longer_digests_is_read_alike(tmp_path: Path, environment: dict[str, str], git: Any) -> None:
    folder = tmp_path / "long"
    git("init", "--quiet", "--object-format=sha256", folder)
    other = type(git)(folder, environment)
    ours = Git(str(folder), environment)
    write(folder, "a.md")
    first = other.commit()
    other("mv", "a.md", "b.md")
    second = other.commit()
    assert len(first) == 64
    assert full_commit(ours, first[:10]) == first
    assert what(changes_between(ours, first)) == [("R", "a.md", "b.md")]
    assert touched_since(ours, first, 5) == {"a.md": second, "b.md": second}
    assert line_origins(ours, "b.md", 1, 1) == {1: LineOrigin(first, "a.md", 1)}


def test_a_question_that_fails_leaves_no_process_behind(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three are asked at once; where the first fails, the others must be waited for as well."""
    folder = tmp_path / "broken"
    (folder / ".git").mkdir(parents=True)
    ours = Git(str(folder), environment)
    started: list[subprocess.Popen[bytes]] = []
    begin = ours.start

    def start(*words: str, **more: Any) -> subprocess.Popen[bytes]:
        started.append(begin(*words, **more))
        return started[-1]

    monkeypatch.setattr(ours, "start", start)
    with pytest.raises(GitRequired):
        ours.snapshot()
    left = [process for process in started if process.returncode is None]
    for process in left:
        process.communicate()
    assert started
    assert left == []
