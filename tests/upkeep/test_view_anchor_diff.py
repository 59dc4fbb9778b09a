"""What changed in the code of an anchor, and what a commit did to a record; nothing else can be read through it."""

import os
from pathlib import Path
from typing import Any

import pytest

from quire.files.world import World
from quire.model.errors import GitRequired, InputError, NotFound
from quire.project import Project
from quire.upkeep.views.text_diff import TextDiff, compare, line_counts
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.page.record_views import ViewDiff, ViewHistory, ViewRecord, view_diff, view_history, view_record

REF = "feature.retry-queue"
SECRET = "hunter-two"


@pytest.fixture
def views(project: Project, world: World) -> Project:
    return Project(project.root, world)


def write(repo: Path, name: str, text: str) -> None:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def save(project: Project, *anchors: str) -> None:
    node = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "anchors": list(anchors)}
    save_nodes(project, {"task": "t", "nodes": [{"id": REF, **node}]})


def lines(diff: TextDiff) -> list[str]:
    return [sign + text for file in diff.files for hunk in file.hunks for sign, text in hunk.lines]


# -- anchors ----------------------------------------------------------------------------------


def test_an_anchor_is_compared_with_the_commit_of_the_last_look(
    project: Project, views: Project, git: Any, repo: Path
) -> None:
    write(repo, "src/a.py", "one\ntwo\nthree\n")
    write(repo, "src/b.py", "same\n")
    write(repo, "lib/c.py", "c\n")
    commit = git.commit("code")
    save(project, "src/", "lib/c.py")
    assert view_diff(views, ViewDiff(REF, anchor="src/")) == TextDiff(title=f"src/: nothing changed since {commit[:9]}")
    write(repo, "src/a.py", "one\n2\nthree\n")
    write(repo, "lib/c.py", "changed\n")
    git.commit("more")
    write(repo, "src/new.py", "new\n")
    found = view_diff(views, ViewDiff(REF, anchor="src/"))
    assert found.title == f"src/ since {commit[:9]} (1 commit, not committed)"
    assert [file.path for file in found.files] == ["src/a.py", "src/new.py"]
    assert found.files[0].hunks[0].header == "@@ -1,3 +1,3 @@"
    assert lines(found) == [" one", "-two", "+2", " three", "+new"]
    assert not found.cut


def test_a_symbol_shows_its_file_and_a_deleted_file_its_lines(
    project: Project, views: Project, git: Any, repo: Path
) -> None:
    write(repo, "a.py", "def f():\n    return 1\n\n\ndef g():\n    return 1\n")
    write(repo, "gone.txt", "gone\n")
    git.commit("code")
    save(project, "a.py#f", "gone.txt")
    write(repo, "a.py", "def f():\n    return 2\n\n\ndef g():\n    return 1\n")
    (repo / "gone.txt").unlink()
    assert [line for line in lines(view_diff(views, ViewDiff(REF, anchor="a.py#f"))) if line[0] != " "] == [
        "-    return 1",
        "+    return 2",
    ]
    assert lines(view_diff(views, ViewDiff(REF, anchor="gone.txt"))) == ["-gone"]


def test_a_symbol_shows_its_own_definition_alone(project: Project, views: Project, git: Any, repo: Path) -> None:
    """What else changed in the file is not shown, and lines are counted as the file counts them."""
    write(repo, "a.py", "import os\n\n\ndef other():\n    return 1\n\n\ndef retry(n):\n    return n + 1\n")
    git.commit("code")
    save(project, "a.py#retry")
    write(repo, "a.py", "import sys\nimport os\n\n\ndef other():\n    return 2\n\n\ndef retry(n):\n    return n + 2\n")
    git.commit("more")
    found = view_diff(views, ViewDiff(REF, anchor="a.py#retry"))
    assert lines(found) == [" def retry(n):", "-    return n + 1", "+    return n + 2"]
    assert [hunk.header for file in found.files for hunk in file.hunks] == ["@@ -8,2 +9,2 @@"]


def test_renames_are_shown_and_binary_files_named(project: Project, views: Project, git: Any, repo: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    write(repo, "src/old.py", text)
    (repo / "src/image").write_bytes(b"\0\1")
    git.commit("code")
    save(project, "src/")
    git("mv", "src/old.py", "src/new.py")
    write(repo, "src/new.py", text.replace("line 3\n", "line three\n"))
    (repo / "src/image").write_bytes(b"\0\2")
    git.commit("moved")
    found = view_diff(views, ViewDiff(REF, anchor="src/"))
    assert [(file.path, file.old_path, file.binary) for file in found.files] == [
        ("src/image", "", True),
        ("src/new.py", "src/old.py", False),
    ]
    assert [line for line in lines(found) if line[0] != " "] == ["-line 3", "+line three"]


def test_many_files_and_long_ones_are_cut(project: Project, views: Project, git: Any, repo: Path) -> None:
    for number in range(12):
        write(repo, f"src/{number:02}.py", "x\n")
    git.commit("code")
    save(project, "src/")
    for number in range(12):
        write(repo, f"src/{number:02}.py", "".join(f"{at}\n" for at in range(900)) + "y" * 5000 + "\n")
    found = view_diff(views, ViewDiff(REF, anchor="src/"))
    assert (len(found.files), found.cut) == (10, True)
    for file in found.files:
        assert file.cut
        assert sum(len(hunk.lines) for hunk in file.hunks) == 400
    assert max(map(len, lines(found))) <= 2001


def test_a_commit_that_is_not_here_and_no_git_are_said(
    project: Project, views: Project, git: Any, repo: Path, tmp_path: Path, world: World
) -> None:
    write(repo, "a.py", "1\n")
    git.commit("code")
    save(project, "a.py")
    git("checkout", "--quiet", "--orphan", "new")
    git.commit("again")
    git("reflog", "expire", "--expire=now", "--all")
    git("branch", "-D", "main")
    git("gc", "--quiet", "--prune=now")
    found = view_diff(views, ViewDiff(REF, anchor="a.py"))
    assert "is not in this clone" in found.title
    assert found.files == ()
    bare = tmp_path / "bare"
    bare.mkdir()
    other = Project(str(bare), world)
    init_memory(other)
    save(other, "a.py")
    without = Project(str(bare), world)
    assert view_diff(without, ViewDiff(REF, anchor="a.py")) == TextDiff(
        title="a.py: there is no git here to tell what changed"
    )
    with pytest.raises(GitRequired):
        view_diff(without, ViewDiff(REF, commit="abcdef1"))


# -- nothing else can be read -----------------------------------------------------------------


@pytest.mark.parametrize(
    "anchor",
    [
        "other.txt",
        "../outside.txt",
        "/etc/passwd",
        "src/../other.txt",
        "src/a.py ",
        "src",
        ".env",
        "*",
        "--all",
        "HEAD",
    ],
)
def test_only_anchors_of_the_record_itself_are_taken(
    project: Project, views: Project, git: Any, repo: Path, anchor: str
) -> None:
    write(repo, "src/a.py", "a\n")
    write(repo, "other.txt", SECRET)
    git.commit("code")
    save(project, "src/a.py")
    with pytest.raises(InputError, match="is not an anchor of"):
        view_diff(views, ViewDiff(REF, anchor=anchor))


@pytest.mark.parametrize(
    "anchor", ["../", "../outside.txt", "/", "link/", "link/outside.txt", "link", ".env", ".git/config"]
)
def test_an_anchor_that_leads_out_shows_nothing_from_there(
    project: Project, views: Project, git: Any, repo: Path, tmp_path: Path, anchor: str
) -> None:
    (tmp_path / "outside.txt").write_text(SECRET, encoding="utf-8")
    write(repo, ".gitignore", ".env\n")
    write(repo, "src/a.py", "a\n")
    git.commit("code")
    save(project, "src/a.py")
    sidecar = next((repo / ".memory/memory").glob("*retry-queue.json"))
    sidecar.write_text(sidecar.read_text("utf-8").replace('"src/a.py"', f'"{anchor}"'), encoding="utf-8")
    write(repo, ".env", SECRET)
    (repo / "link").symlink_to(tmp_path)
    git("config", "secret.word", SECRET)
    found = view_diff(views, ViewDiff(REF, anchor=anchor))
    assert SECRET not in repr(found)


def test_a_link_is_its_own_text_and_what_it_leads_to_is_not_read(
    project: Project, views: Project, git: Any, repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text(SECRET, encoding="utf-8")
    write(repo, "src/a.py", "a\n")
    write(repo, "deep/b.py", "b\n")
    git.commit("code")
    save(project, "src/a.py", "deep/")
    (repo / "src/a.py").unlink()
    (repo / "src/a.py").symlink_to(tmp_path / "outside.txt")
    found = view_diff(views, ViewDiff(REF, anchor="src/a.py"))
    assert lines(found) == ["-a", f"+{tmp_path}/outside.txt"]
    (repo / "deep/b.py").unlink()
    (repo / "deep").rmdir()
    (tmp_path / "b.py").write_text(SECRET, encoding="utf-8")
    (repo / "deep").symlink_to(tmp_path)
    assert SECRET not in repr(view_diff(views, ViewDiff(REF, anchor="deep/")))


def test_a_file_that_went_where_no_anchor_leads_is_named_and_not_read(
    project: Project, views: Project, git: Any, repo: Path
) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    write(repo, "src/a.py", text)
    git.commit("code")
    save(project, "src/a.py")
    (repo / "elsewhere").mkdir()
    git("mv", "src/a.py", "elsewhere/a.py")
    write(repo, "elsewhere/a.py", text + SECRET)
    git.commit("moved")
    found = view_diff(views, ViewDiff(REF, anchor="src/a.py"))
    assert [(file.path, file.old_path, file.hunks, file.cut) for file in found.files] == [
        ("elsewhere/a.py", "src/a.py", (), True)
    ]


def test_no_program_of_the_repository_is_run(
    project: Project, views: Project, git: Any, repo: Path, tmp_path: Path
) -> None:
    write(repo, "src/a.py", "a\n")
    first = git.commit("code")
    save(project, "src/")
    git.commit("memory")
    write(repo, ".gitattributes", "* filter=evil diff=evil\n")
    signs = tmp_path / "signs"
    signs.mkdir()
    program = tmp_path / "evil.sh"
    program.write_text(f'#!/bin/sh\ntouch "{signs}/$1"\ncat\n', encoding="utf-8")
    program.chmod(0o755)
    for name in ("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge"):
        git("config", name, f"{program} {name}")
    write(repo, "src/a.py", "b\n")
    view_diff(views, ViewDiff(REF, anchor="src/"))
    view_diff(views, ViewDiff(REF, commit=first))
    view_history(views, ViewHistory(REF))
    view_record(views, ViewRecord(REF))
    assert os.listdir(signs) == []


# -- commits ----------------------------------------------------------------------------------


def test_a_commit_shows_the_records_own_files(project: Project, views: Project, git: Any, repo: Path) -> None:
    write(repo, "other.txt", SECRET)
    save(project)
    first = git.commit("The queue")
    save_nodes(project, {"task": "t", "nodes": [{"id": REF, "body": "Sends again.\nThrice."}]})
    write(repo, "other.txt", "changed")
    second = git.commit("Thrice")
    found = view_diff(views, ViewDiff(REF, commit=second[:8]))
    assert found.title == f"{second[:7]} Thrice"
    assert [file.path for file in found.files] == [".memory/memory/retry-queue.json", ".memory/memory/retry-queue.md"]
    assert ("+", "Thrice.") in found.files[1].hunks[0].lines
    assert SECRET not in repr(view_diff(views, ViewDiff(REF, commit=first)))
    third = git.commit("nothing")
    assert view_diff(views, ViewDiff(REF, commit=third)) == TextDiff(title=f"{third[:7]} nothing: nothing of `{REF}`")


def test_of_a_file_with_many_facts_only_the_fact_is_shown(project: Project, views: Project, git: Any) -> None:
    name = store(project, Store(section="Decisions", content="Invoices are written by the worker.")).fact.id
    store(project, Store(section="Decisions", content=f"The word is {SECRET}."))
    commit = git.commit("both")
    found = view_diff(views, ViewDiff(name, commit=commit))
    assert [file.path for file in found.files] == [".memory/facts.jsonl"]
    assert any("Invoices" in line for line in lines(found))
    assert SECRET not in repr(found)


@pytest.mark.parametrize("commit", ["HEAD", "main", "--all", "abc", "HEAD:other.txt", "zzzzzzz", "a" * 65, "../../x"])
def test_what_is_no_commits_id_is_refused(project: Project, views: Project, git: Any, commit: str) -> None:
    save(project)
    git.commit("The queue")
    with pytest.raises(InputError, match="is not a commit id"):
        view_diff(views, ViewDiff(REF, commit=commit))


def test_a_commit_that_is_not_here_is_not_found(project: Project, views: Project, git: Any) -> None:
    save(project)
    git.commit("The queue")
    with pytest.raises(NotFound, match="There is no commit"):
        view_diff(views, ViewDiff(REF, commit="0123456789"))
    for arguments in ({}, {"anchor": "a", "commit": "b"}):
        with pytest.raises(InputError, match="either an anchor or a commit"):
            view_diff(views, ViewDiff(REF, **arguments))


# -- comparing --------------------------------------------------------------------------------


def test_distant_changes_are_hunks_of_their_own() -> None:
    old = "".join(f"{number}\n" for number in range(100))
    new = old.replace("\n10\n", "\nten\n").replace("\n80\n", "\n")
    found = compare("f", old.encode(), new.encode())
    assert [hunk.header for hunk in found.hunks] == ["@@ -8,7 +8,7 @@", "@@ -78,7 +78,6 @@"]
    assert line_counts(old, new) == (1, 2)


def test_a_new_file_and_a_deleted_one_have_all_their_lines() -> None:
    assert compare("f", None, b"a\nb\n").hunks[0].header == "@@ -0,0 +1,2 @@"
    assert compare("f", b"a\n", None).hunks[0].header == "@@ -1 +0,0 @@"
    assert compare("f", None, b"").hunks == ()
    assert compare("f", b"a\n", b"a\r\n").hunks == ()
    assert compare("f", b"a\0", b"b").binary


def test_a_huge_file_is_compared_in_part() -> None:
    old = b"".join(b"%d\n" % number for number in range(50_000))
    found = compare("f", old, b"new\n" + old[::-1])
    assert found.cut
    assert sum(len(hunk.lines) for hunk in found.hunks) == 400
