"""A record's verdict says what became of the code it is anchored to since the last confirmation."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from samples import RETRY

from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question

EDITED = RETRY.replace("2**attempt", "3**attempt")
ELSE = "".join(f"number_{n} = {n * n}\n" for n in range(40))


def short(commit: str) -> str:
    return commit[:9]


@pytest.fixture
def file(desk: Any) -> str:
    """A record on one committed file."""
    desk.write("src/retry.py", RETRY)
    desk.commit()
    return str(desk.save("src/retry.py"))


@pytest.fixture
def folder(desk: Any) -> str:
    """A record on a committed folder of three files."""
    for name in ("a", "b", "c"):
        desk.write(f"src/queue/{name}.py", f"# {name}\n{RETRY}")
    desk.commit()
    return str(desk.save("src/queue/", title="Queue folder"))


@pytest.fixture
def symbol(desk: Any) -> str:
    """A record on one function of a committed file."""
    desk.write("src/retry.py", RETRY)
    desk.commit()
    return str(desk.save("src/retry.py#send", title="Sending"))


# -- one file ---------------------------------------------------------------------------------


def test_what_nobody_touched_is_fresh(desk: Any) -> None:
    desk.write("src/retry.py")
    commit = desk.commit()
    ref = desk.save("src/retry.py")
    found = desk.look(ref)
    assert (found.verdict, found.because, found.since) == ("fresh", "", commit)
    desk.commit("the memory itself")
    assert desk.verdict(ref) == "fresh"


def test_a_record_without_anchors_is_unanchored(desk: Any) -> None:
    found = desk.look(desk.save())
    assert (found.verdict, found.anchors) == ("unanchored", ())
    assert found.because


def test_a_committed_edit_names_the_commit(desk: Any, file: str) -> None:
    commit = desk.commit(**{"src/retry.py": EDITED})
    desk.commit(**{"other.py": "x = 1\n"})
    found = desk.only(file)
    assert (found.verdict, found.files, found.files_count) == ("changed", ("src/retry.py",), 1)
    assert (found.commit, found.dirty) == (commit, ())
    assert found.because == f"`src/retry.py` changed in {short(commit)}"


def test_of_several_commits_the_newest_that_changed_it_is_named(desk: Any, file: str) -> None:
    desk.commit(**{"src/retry.py": EDITED})
    newest = desk.commit(**{"src/retry.py": EDITED + "\n"})
    desk.commit(**{"other.py": "x = 1\n"})
    assert desk.only(file).commit == newest


@pytest.mark.parametrize("staged", [False, True])
def test_an_edit_that_is_not_committed_is_called_so(desk: Any, file: str, staged: bool) -> None:
    desk.write("src/retry.py", EDITED)
    if staged:
        desk.git("add", "src/retry.py")
    found = desk.only(file)
    assert (found.verdict, found.files, found.dirty, found.commit) == (
        "changed",
        ("src/retry.py",),
        ("src/retry.py",),
        "",
    )
    assert found.because == "`src/retry.py` changed in the working tree, not committed"


def test_an_edit_in_a_commit_and_another_beside_it_are_both_told(desk: Any, file: str) -> None:
    commit = desk.commit(**{"src/retry.py": EDITED})
    desk.write("src/retry.py", EDITED + "# more\n")
    found = desk.only(file)
    assert (found.verdict, found.commit, found.dirty) == ("changed", commit, ("src/retry.py",))
    assert found.because == f"`src/retry.py` changed in {short(commit)} and in the working tree"


@pytest.mark.parametrize("how", ["dirty", "staged", "committed"])
def test_what_was_changed_back_is_fresh(desk: Any, file: str, how: str) -> None:
    for text in (EDITED, RETRY):
        desk.write("src/retry.py", text)
        if how == "staged":
            desk.git("add", "src/retry.py")
        if how == "committed":
            desk.commit()
        assert desk.verdict(file) == ("fresh" if text == RETRY else "changed")


def test_staged_one_way_and_lying_there_another_what_lies_there_counts(desk: Any, file: str) -> None:
    desk.write("src/retry.py", EDITED)
    desk.git("add", "src/retry.py")
    desk.write("src/retry.py", RETRY)
    assert desk.verdict(file) == "fresh"


def test_only_its_own_file_counts(desk: Any, file: str) -> None:
    desk.commit(**{"src/retry.pyi": "x: int\n", "src/retry/py": "x", "other.py": "x = 1\n"})
    desk.write("src/new.py")
    assert desk.verdict(file) == "fresh"


@pytest.mark.parametrize("how", ["chmod", "touch"])
def test_the_mode_and_the_time_of_a_file_do_not_count(desk: Any, file: str, folder: str, how: str) -> None:
    for name in ("src/retry.py", "src/queue/a.py"):
        path = desk.repo / name
        path.chmod(0o755) if how == "chmod" else os.utime(path, (1, 1))
    assert desk.verdict(file) == "fresh"
    assert desk.verdict(folder) == "fresh"
    desk.commit("the mode")
    assert desk.verdict(folder) == "fresh"


def test_a_deleted_file_is_orphaned_in_the_working_tree_and_in_a_commit(desk: Any, file: str) -> None:
    (desk.repo / "src/retry.py").unlink()
    found = desk.only(file)
    assert (found.verdict, found.to, found.commit) == ("orphaned", (), "")
    assert found.because == "`src/retry.py` matches no file"
    commit = desk.commit("gone")
    found = desk.only(file)
    assert (found.verdict, found.to, found.commit) == ("orphaned", (), commit)
    assert found.because == f"`src/retry.py` matches no file: gone in {short(commit)}"
    desk.write("src/retry.py", RETRY)
    assert desk.verdict(file) == "fresh"


def test_a_file_that_git_no_longer_tracks_but_that_lies_there_is_fresh(desk: Any, file: str) -> None:
    desk.git("rm", "--quiet", "--cached", "src/retry.py")
    assert desk.verdict(file) == "fresh"
    desk.commit(**{".gitignore": "retry.py\n"})
    assert desk.verdict(file) == "fresh"
    desk.write("src/retry.py", EDITED)
    assert desk.verdict(file) == "changed"


@pytest.mark.proof
def test_of_several_anchors_the_one_that_most_needs_a_look_decides(desk: Any) -> None:
    for name in ("fresh", "edited", "moved", "gone"):
        desk.write(f"{name}.py", f"# {name}\n{ELSE}" if name != "gone" else "x = 1\n")
    desk.commit()
    names = ["fresh.py", "edited.py", "moved.py", "gone.py"]
    refs = [desk.save(*names[:count], title=f"Number {count}") for count in range(1, 5)]
    desk.write("edited.py", "y = 1\n")
    desk.git("mv", "moved.py", "there.py")
    desk.git("rm", "--quiet", "gone.py")
    desk.commit()
    assert [desk.verdict(ref) for ref in refs] == ["fresh", "changed", "moved", "orphaned"]
    found = desk.look(refs[-1])
    assert [anchor.anchor for anchor in found.anchors] == names
    assert [anchor.verdict for anchor in found.anchors] == ["fresh", "changed", "moved", "orphaned"]
    assert found.because == found.anchors[-1].because


# -- saved from a dirty tree ------------------------------------------------------------------


def test_saved_from_a_dirty_file_what_was_seen_counts(desk: Any) -> None:
    desk.write("src/retry.py", RETRY)
    desk.commit()
    desk.write("src/retry.py", EDITED)
    ref = desk.save("src/retry.py")
    assert desk.verdict(ref) == "fresh"
    desk.commit("as is")
    assert desk.verdict(ref) == "fresh"
    commit = desk.commit(**{"src/retry.py": RETRY})
    found = desk.only(ref)
    assert (found.verdict, found.commit, found.dirty) == ("changed", commit, ())


def test_saved_from_a_dirty_file_that_was_then_discarded_is_changed(desk: Any) -> None:
    desk.write("src/retry.py", RETRY)
    desk.commit()
    desk.write("src/retry.py", EDITED)
    ref = desk.save("src/retry.py")
    desk.git("checkout", "--quiet", "--", "src/retry.py")
    found = desk.only(ref)
    assert (found.verdict, found.dirty, found.commit) == ("changed", (), "")
    assert found.files == ("src/retry.py",)
    assert found.because == "`src/retry.py` changed since this record was last confirmed"


@pytest.mark.parametrize("tracked", [True, False])
def test_saved_from_a_dirty_folder_only_what_really_changed_is_named(desk: Any, tracked: bool) -> None:
    for name in ("a", "b", "c"):
        desk.write(f"src/{name}.py", f"# {name}\n")
    if tracked:
        desk.commit()
    else:
        (desk.repo / "src").rename(desk.repo / "aside")
        desk.commit()
        (desk.repo / "aside").rename(desk.repo / "src")
    for name in ("a", "b"):
        desk.write(f"src/{name}.py", f"# {name}, seen\n")
    (desk.repo / "src/c.py").unlink()
    desk.write("src/d.py", "# d, seen\n")
    ref = desk.save("src/")
    assert desk.verdict(ref) == "fresh"
    desk.write("src/b.py", "# b, later\n")
    found = desk.only(ref)
    assert (found.verdict, found.files, found.dirty) == ("changed", ("src/b.py",), ("src/b.py",))
    desk.write("src/b.py", "# b, seen\n")
    desk.commit("as is")
    assert desk.verdict(ref) == "fresh"
    commit = desk.commit(**{"src/d.py": "# d, later\n"})
    found = desk.only(ref)
    assert (found.verdict, found.files, found.dirty, found.commit) == ("changed", ("src/d.py",), (), commit)


def test_saved_from_a_dirty_folder_that_was_then_discarded_is_changed(desk: Any, folder: str) -> None:
    desk.write("src/queue/a.py", "# seen\n")
    desk.write("src/queue/new.py", "# seen\n")
    desk.confirm(folder)
    desk.git("checkout", "--quiet", "--", "src")
    (desk.repo / "src/queue/new.py").unlink()
    found = desk.only(folder)
    assert (found.verdict, set(found.files)) == ("changed", {"src/queue/a.py", "src/queue/new.py"})


# -- files that move --------------------------------------------------------------------------


def test_a_committed_rename_is_followed(desk: Any, file: str) -> None:
    desk.git("mv", "src/retry.py", "src/again.py")
    commit = desk.commit()
    desk.commit(**{"other.py": "x = 1\n"})
    found = desk.only(file)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/again.py",), commit)
    assert found.because == f"`src/retry.py` moved to `src/again.py` in {short(commit)}"


def test_a_staged_rename_is_followed(desk: Any, file: str) -> None:
    desk.git("mv", "src/retry.py", "src/again.py")
    found = desk.only(file)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/again.py",), "")
    assert found.because == "`src/retry.py` moved to `src/again.py` in the working tree, not committed"


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_moved_without_git_is_followed(desk: Any, file: str, edited: bool) -> None:
    (desk.repo / "lib").mkdir()
    shutil.move(desk.repo / "src/retry.py", desk.repo / "lib/retry.py")
    if edited:
        desk.write("lib/retry.py", EDITED)
    found = desk.only(file)
    assert (found.verdict, found.to, found.commit) == ("moved", ("lib/retry.py",), "")
    assert found.because.endswith("not committed, and changed" if edited else "not committed")


@pytest.mark.parametrize("staged", [False, True])
def test_a_rename_with_an_edit_says_both(desk: Any, file: str, staged: bool) -> None:
    desk.git("mv", "src/retry.py", "src/again.py")
    desk.write("src/again.py", EDITED)
    commit = "" if staged else desk.commit()
    found = desk.only(file)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/again.py",), commit)
    assert found.because.endswith(", and changed")


def test_a_chain_of_renames_with_heavy_edits_between_is_followed(desk: Any) -> None:
    lines = [f"line_{n} = {n * n}\n" for n in range(30)]
    desk.write("one.py", "".join(lines))
    desk.commit()
    ref = desk.save("one.py")
    last = ""
    for step, (old, new) in enumerate((("one.py", "two.py"), ("two.py", "lib/three.py"), ("lib/three.py", "four.py"))):
        (desk.repo / "lib").mkdir(exist_ok=True)
        desk.git("mv", old, new)
        last = desk.commit(f"move {step}")
        lines[step * 10 : step * 10 + 10] = [f"other_{step}_{n} = 'quite another thing {n}'\n" for n in range(10)]
        desk.commit(f"rewrite {step}", **{new: "".join(lines)})
    found = desk.only(ref)
    assert (found.verdict, found.to, found.commit) == ("moved", ("four.py",), last)
    assert found.because.endswith(", and changed")


def test_a_file_moved_there_and_back_again_is_fresh(desk: Any, file: str) -> None:
    desk.git("mv", "src/retry.py", "src/again.py")
    desk.commit()
    desk.git("mv", "src/again.py", "src/retry.py")
    desk.commit()
    assert desk.verdict(file) == "fresh"


def test_a_file_renamed_in_a_commit_and_then_without_git_is_followed(desk: Any, file: str) -> None:
    desk.git("mv", "src/retry.py", "src/again.py")
    desk.commit()
    (desk.repo / "src/again.py").rename(desk.repo / "src/more.py")
    found = desk.only(file)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/more.py",), "")


@pytest.mark.parametrize("from_side", [False, True])
def test_a_rename_across_a_merge_is_followed_in_both_directions(desk: Any, from_side: bool) -> None:
    desk.write("src/retry.py", RETRY)
    desk.commit()
    desk.git("branch", "side")
    desk.commit(**{"other.py": "x = 1\n"})
    if not from_side:
        ref = desk.save("src/retry.py")
        desk.commit("saved on main")
    desk.git("checkout", "--quiet", "side")
    if from_side:
        ref = desk.save("src/retry.py")
        desk.commit("saved on the side")
        desk.git("checkout", "--quiet", "main")
    desk.git("mv", "src/retry.py", "src/again.py")
    renaming = desk.commit("the rename")
    desk.git("checkout", "--quiet", "main")
    desk.git("merge", "--quiet", "--no-edit", "side")
    found = desk.only(ref)
    assert (found.verdict, found.to) == ("moved", ("src/again.py",))
    assert found.commit == renaming


def test_a_rename_that_only_differs_in_case_is_followed(desk: Any) -> None:
    desk.write("src/Retry.py", RETRY)
    desk.commit()
    ref = desk.save("src/Retry.py")
    desk.git("mv", "src/Retry.py", "src/retry.py")
    assert desk.only(ref).to == ("src/retry.py",)
    commit = desk.commit()
    found = desk.only(ref)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/retry.py",), commit)


def test_on_an_older_branch_where_the_file_has_its_old_name_nothing_is_called_uncommitted(desk: Any) -> None:
    desk.write("src/old.py", RETRY)
    desk.commit()
    desk.git("checkout", "--quiet", "-b", "side")
    desk.git("mv", "src/old.py", "src/new.py")
    desk.commit()
    ref = desk.save("src/new.py")
    desk.git("checkout", "--quiet", "main")
    found = desk.only(ref)
    assert (found.verdict, found.to) == ("moved", ("src/old.py",))
    assert "not committed" not in found.because


def test_a_file_that_was_saved_before_its_first_commit_is_followed(desk: Any) -> None:
    desk.commit("empty")
    desk.write("src/retry.py", RETRY)
    ref = desk.save("src/retry.py")
    desk.commit("as is")
    assert desk.verdict(ref) == "fresh"
    desk.git("mv", "src/retry.py", "src/again.py")
    commit = desk.commit()
    found = desk.only(ref)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/again.py",), commit)


def test_a_file_that_was_saved_before_its_first_commit_and_committed_under_another_name_is_found(desk: Any) -> None:
    desk.commit("empty")
    desk.write("src/retry.py", RETRY)
    ref = desk.save("src/retry.py")
    (desk.repo / "src/retry.py").rename(desk.repo / "src/again.py")
    found = desk.only(ref)
    assert (found.verdict, found.to) == ("moved", ("src/again.py",))
    desk.commit()
    found = desk.only(ref)
    assert (found.verdict, found.to) == ("moved", ("src/again.py",))
    assert not found.because.endswith(", and changed")


# -- folders and globs ------------------------------------------------------------------------


def test_a_changed_file_in_a_folder_is_named(desk: Any, folder: str) -> None:
    commit = desk.commit(**{"src/queue/b.py": EDITED})
    desk.write("src/queue/c.py", EDITED)
    found = desk.only(folder)
    assert (found.verdict, found.files, found.files_count) == ("changed", ("src/queue/b.py", "src/queue/c.py"), 2)
    assert (found.dirty, found.commit) == (("src/queue/c.py",), commit)
    assert found.because == f"`src/queue/b.py` and 1 more changed in {short(commit)} and in the working tree"


def test_of_many_changed_files_some_are_named_and_all_are_counted(desk: Any) -> None:
    for number in range(20):
        desk.write(f"src/{number:02}.py", f"x = {number}\n")
    desk.commit()
    ref = desk.save("src")
    commit = desk.commit(**{f"src/{number:02}.py": "y = 1\n" for number in range(20)})
    found = desk.only(ref)
    assert (found.files_count, len(found.files)) == (20, 5)
    assert found.because == f"`src/00.py` and 19 more changed in {short(commit)}"


@pytest.mark.parametrize("how", ["untracked", "staged", "committed", "intent-to-add"])
def test_a_new_file_in_an_anchored_folder_is_a_change(desk: Any, folder: str, how: str) -> None:
    desk.write("src/queue/deep/new.py")
    if how == "staged":
        desk.git("add", "src")
    if how == "intent-to-add":
        desk.git("add", "--intent-to-add", "src")
    commit = desk.commit() if how == "committed" else ""
    found = desk.only(folder)
    assert (found.verdict, found.files, found.commit) == ("changed", ("src/queue/deep/new.py",), commit)
    assert found.dirty == (() if commit else ("src/queue/deep/new.py",))


@pytest.mark.parametrize("how", ["dirty", "committed"])
def test_a_deleted_file_in_an_anchored_folder_is_a_change(desk: Any, folder: str, how: str) -> None:
    (desk.repo / "src/queue/b.py").unlink()
    commit = desk.commit() if how == "committed" else ""
    found = desk.only(folder)
    assert (found.verdict, found.files, found.commit) == ("changed", ("src/queue/b.py",), commit)
    assert found.dirty == (() if commit else ("src/queue/b.py",))


def test_an_ignored_file_and_an_empty_folder_are_no_change(desk: Any, folder: str) -> None:
    desk.commit(**{".gitignore": "*.log\nbuild/\n"})
    desk.write("src/queue/x.log")
    desk.write("src/queue/build/x.py")
    (desk.repo / "src/queue/empty").mkdir()
    assert desk.verdict(folder) == "fresh"


def test_a_file_that_a_rule_begins_to_ignore_or_to_show_changes_its_folder(desk: Any, folder: str) -> None:
    desk.write("src/queue/x.log")
    assert desk.verdict(folder) == "changed"
    desk.write(".gitignore", "*.log\n")
    assert desk.verdict(folder) == "fresh"
    desk.write(".gitignore", "\n")
    assert desk.verdict(folder) == "changed"


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("anchor", ["src/queue/", "src/queue", "src/queue/**", "src/queue/*.py"])
@pytest.mark.parametrize("how", ["committed", "staged", "moved"])
def test_a_moved_folder_is_followed_and_proposed_in_the_same_form(desk: Any, anchor: str, how: str) -> None:
    for name in ("a", "b", "c"):
        desk.write(f"src/queue/{name}.py", f"# {name}\n{RETRY}")
    desk.commit()
    ref = desk.save(anchor)
    (desk.repo / "lib").mkdir()
    if how == "moved":
        shutil.move(desk.repo / "src/queue", desk.repo / "lib/queue")
    else:
        desk.git("mv", "src/queue", "lib/queue")
    commit = desk.commit() if how == "committed" else ""
    found = desk.only(ref)
    wanted = {"src/queue": ("lib/queue", "lib/queue/")}.get(anchor, (anchor.replace("src", "lib"),))
    assert (found.verdict, found.commit) == ("moved", commit)
    assert len(found.to) == 1
    assert found.to[0] in wanted
    desk.update(ref, anchors=list(found.to))
    assert desk.verdict(ref) == "fresh"


def test_a_folder_that_was_split_names_both_places(desk: Any) -> None:
    for name in ("a", "b", "c", "d"):
        desk.write(f"src/{name}.py", f"# {name}\n" + ELSE.replace("number", name))
    desk.commit()
    ref = desk.save("src/")
    for name, there in (("a", "one"), ("b", "one"), ("c", "one"), ("d", "two")):
        (desk.repo / there).mkdir(exist_ok=True)
        desk.git("mv", f"src/{name}.py", f"{there}/{name}.py")
    commit = desk.commit()
    found = desk.only(ref)
    assert (found.verdict, found.to, found.commit) == ("moved", ("one/", "two/"), commit)


def test_a_folder_that_lost_one_file_to_another_place_is_changed(desk: Any, folder: str) -> None:
    desk.git("mv", "src/queue/a.py", "src/a.py")
    commit = desk.commit()
    found = desk.only(folder)
    assert (found.verdict, found.files, found.commit) == ("changed", ("src/queue/a.py",), commit)


def test_a_deleted_folder_is_orphaned(desk: Any, folder: str) -> None:
    desk.git("rm", "--quiet", "-r", "src")
    assert desk.only(folder).because == "`src/queue/` matches no file"
    commit = desk.commit()
    found = desk.only(folder)
    assert (found.verdict, found.to, found.commit) == ("orphaned", (), commit)


def test_a_folder_of_which_most_was_deleted_and_little_moved_is_orphaned(desk: Any) -> None:
    for name in ("a", "b", "c"):
        desk.write(f"src/{name}.py", f"# {name}\n" + ELSE.replace("number", name))
    desk.commit()
    ref = desk.save("src/")
    (desk.repo / "lib").mkdir()
    desk.git("mv", "src/a.py", "lib/a.py")
    desk.git("rm", "--quiet", "-r", "src")
    commit = desk.commit()
    found = desk.only(ref)
    assert (found.verdict, found.commit) == ("orphaned", commit)
    assert "1 of its 3 files moved" in found.because


@pytest.mark.parametrize("anchor", ["src/queue/", "src/**/*.py"])
def test_a_folder_that_was_saved_before_its_first_commit_is_followed(desk: Any, anchor: str) -> None:
    desk.commit("empty")
    for name in ("a", "b"):
        desk.write(f"src/queue/{name}.py", f"# {name}\n{RETRY}")
    ref = desk.save(anchor)
    desk.commit("as is")
    assert desk.verdict(ref) == "fresh"
    desk.git("mv", "src", "lib")
    commit = desk.commit()
    found = desk.only(ref)
    assert (found.verdict, found.to, found.commit) == ("moved", (anchor.replace("src", "lib"),), commit)


def test_a_glob_counts_what_it_matches_and_nothing_else(desk: Any) -> None:
    desk.write("src/a.py", "x = 1\n")
    desk.write("src/deep/b.py", "x = 2\n")
    desk.write("src/notes.md", "x\n")
    desk.commit()
    ref = desk.save("src/**/*.py")
    desk.write("src/notes.md", "y\n")
    assert desk.verdict(ref) == "fresh"
    desk.write("src/deep/new.py")
    found = desk.only(ref)
    assert (found.verdict, found.files) == ("changed", ("src/deep/new.py",))


@pytest.mark.parametrize("anchor", ["**/*.json", "**/memory/*", "**/*.md"])
def test_a_glob_over_everything_does_not_see_the_memory_itself(desk: Any, anchor: str) -> None:
    for name in ("CLAUDE.md", "AGENTS.md"):
        (desk.repo / name).unlink(missing_ok=True)
    desk.write("docs/memory/a.md", "text\n")
    desk.write("docs/a.json", "{}\n")
    desk.commit()
    ref = desk.save(anchor)
    assert desk.verdict(ref) == "fresh"
    desk.update(ref, tags=["later"])
    desk.save(title="Another")
    desk.commit("memory")
    assert desk.verdict(ref) == "fresh"


def test_what_a_save_itself_writes_into_the_instruction_files_is_no_change(desk: Any) -> None:
    """The map in these files is rendered from the memory: no save may cast doubt on its own record."""
    desk.commit(**{"README.md": "# Desk\n"})
    assert (desk.repo / "AGENTS.md").exists()
    ref = desk.save("*.md", title="First", stage="shipped")
    assert desk.verdict(ref) == "fresh"
    desk.save(title="Second", stage="shipped")
    assert desk.verdict(ref) == "fresh"


# -- symbols ----------------------------------------------------------------------------------


def test_an_edit_of_the_symbol_is_a_change_and_one_beside_it_is_not(desk: Any, symbol: str) -> None:
    desk.commit(**{"src/retry.py": RETRY.replace("gave up", "stopped")})
    assert desk.verdict(symbol) == "fresh"
    commit = desk.commit(**{"src/retry.py": EDITED})
    desk.commit(**{"src/retry.py": EDITED.replace("gave up", "ended")})
    found = desk.only(symbol)
    assert (found.verdict, found.files, found.dirty, found.commit) == ("changed", ("src/retry.py",), (), commit)
    assert found.because == f"`src/retry.py#send` changed in {short(commit)}"


@pytest.mark.parametrize("staged", [False, True])
def test_an_uncommitted_edit_of_the_symbol_is_called_so(desk: Any, symbol: str, staged: bool) -> None:
    desk.write("src/retry.py", EDITED)
    if staged:
        desk.git("add", "src")
    found = desk.only(symbol)
    assert (found.verdict, found.dirty, found.commit) == ("changed", ("src/retry.py",), "")
    assert found.because == "`src/retry.py#send` changed in the working tree, not committed"


def test_formatting_and_comments_are_no_change(desk: Any, symbol: str) -> None:
    for old, new in (
        ("range(tries)", "range( tries )"),
        ("    for attempt", "    # Again and again.\n    for attempt"),
        ("def send(message, tries):", "def send(\n    message,\n    tries,\n):"),
        ("import time\n", "import time\nimport os\n\n\nclass First:\n    pass\n"),
        ("        time.sleep(2**attempt)\n", "        time.sleep(2 ** attempt)  # longer each time\n\n"),
    ):
        assert old in RETRY
        desk.write("src/retry.py", RETRY.replace(old, new))
        assert desk.verdict(symbol) == "fresh", new
    desk.commit()
    assert desk.verdict(symbol) == "fresh"


def test_a_renamed_function_is_followed(desk: Any, symbol: str) -> None:
    desk.write("src/retry.py", RETRY.replace("def send", "def transmit"))
    found = desk.only(symbol)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/retry.py#transmit",), "")
    commit = desk.commit()
    found = desk.only(symbol)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/retry.py#transmit",), commit)
    assert found.because == f"`src/retry.py#send` moved to `src/retry.py#transmit` in {short(commit)}"


@pytest.mark.parametrize("how", ["dirty", "staged", "committed"])
def test_a_function_moved_to_another_file_is_followed(desk: Any, symbol: str, how: str) -> None:
    start = RETRY.index("def send")
    end = RETRY.index("def give_up")
    desk.write("src/retry.py", RETRY[:start] + RETRY[end:])
    desk.write("src/sending.py", "import time\n\n\n" + RETRY[start:end])
    if how == "staged":
        desk.git("add", "src")
    commit = desk.commit() if how == "committed" else ""
    found = desk.only(symbol)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/sending.py#send",), commit)


@pytest.mark.parametrize("how", ["staged", "committed", "moved"])
def test_a_symbol_of_a_renamed_file_is_followed(desk: Any, symbol: str, how: str) -> None:
    if how == "moved":
        (desk.repo / "src/retry.py").rename(desk.repo / "src/again.py")
    else:
        desk.git("mv", "src/retry.py", "src/again.py")
    commit = desk.commit() if how == "committed" else ""
    found = desk.only(symbol)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/again.py#send",), commit)
    assert not found.because.endswith("changed")


def test_a_symbol_of_a_renamed_file_that_was_also_edited_says_both(desk: Any, symbol: str) -> None:
    desk.git("mv", "src/retry.py", "src/again.py")
    commit = desk.commit(**{"src/again.py": EDITED})
    found = desk.only(symbol)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/again.py#send",), commit)
    assert found.because.endswith(", and changed")


def test_a_deleted_symbol_is_orphaned(desk: Any, symbol: str) -> None:
    desk.write("src/retry.py", RETRY[RETRY.index("def give_up") :])
    found = desk.only(symbol)
    assert (found.verdict, found.to) == ("orphaned", ())
    assert found.because.startswith("`src/retry.py#send` is no longer in its file")
    commit = desk.commit()
    found = desk.only(symbol)
    assert (found.verdict, found.to, found.commit) == ("orphaned", (), commit)
    assert short(commit) in found.because


def test_a_symbol_of_a_deleted_file_is_orphaned(desk: Any, symbol: str) -> None:
    desk.git("rm", "--quiet", "src/retry.py")
    commit = desk.commit()
    found = desk.only(symbol)
    assert (found.verdict, found.to, found.commit) == ("orphaned", (), commit)
    assert found.because.startswith("`src/retry.py#send` matches no file")


def test_a_symbol_with_the_name_of_another_one_elsewhere_is_not_taken_for_it(desk: Any, symbol: str) -> None:
    desk.write("src/retry.py", RETRY[RETRY.index("def give_up") :])
    desk.write("src/mail.py", "def send(mail):\n    mail.open()\n    mail.post()\n    return mail\n")
    desk.commit()
    assert desk.only(symbol).verdict == "orphaned"


def test_a_syntax_error_leaves_a_symbol_unverifiable_and_names_the_line(desk: Any, symbol: str) -> None:
    desk.write("src/retry.py", RETRY.replace("def give_up(message):", "def give_up(message:"))
    found = desk.only(symbol)
    assert found.verdict == "unverifiable"
    assert found.because == "`src/retry.py` has a syntax error on line 13"
    desk.write("src/retry.py", RETRY)
    assert desk.verdict(symbol) == "fresh"


def test_overloads_are_one_symbol(desk: Any) -> None:
    head = "from typing import overload\n\n\n"
    first = "@overload\ndef find(key: int) -> int: ...\n@overload\ndef find(key: str) -> str: ...\n"
    last = "def find(key):\n    return key\n"
    desk.write("src/find.py", head + first + last)
    desk.commit()
    ref = desk.save("src/find.py#find")
    desk.write("src/find.py", head + "x = 1\n" + first + last)
    assert desk.verdict(ref) == "fresh"
    desk.write("src/find.py", head + first.replace("-> str", "-> bytes") + last)
    assert desk.only(ref).verdict == "changed"
    desk.write("src/find.py", head + last)
    assert desk.only(ref).verdict == "changed"


def test_a_method_is_followed_with_its_class(desk: Any) -> None:
    body = "class Queue:\n    def put(self, item):\n        self.items.append(item)\n        return len(self.items)\n"
    desk.write("src/queue.py", body)
    desk.commit()
    ref = desk.save("src/queue.py#Queue.put")
    desk.write("src/queue.py", body + "\n    def get(self):\n        return self.items.pop()\n")
    assert desk.verdict(ref) == "fresh"
    commit = desk.commit(**{"src/queue.py": body.replace("class Queue", "class Line")})
    found = desk.only(ref)
    assert (found.verdict, found.to, found.commit) == ("moved", ("src/queue.py#Line.put",), commit)


def test_a_symbol_saved_from_a_dirty_file_is_held_against_what_was_seen(desk: Any, symbol: str) -> None:
    desk.write("src/retry.py", EDITED)
    desk.confirm(symbol)
    assert desk.verdict(symbol) == "fresh"
    desk.commit("as is")
    assert desk.verdict(symbol) == "fresh"
    commit = desk.commit(**{"src/retry.py": RETRY})
    found = desk.only(symbol)
    assert (found.verdict, found.commit) == ("changed", commit)


def test_a_symbol_in_a_language_without_a_grammar_is_unverifiable(desk: Any) -> None:
    desk.write("src/retry.cob", "IDENTIFICATION DIVISION.\n")
    desk.commit()
    found = desk.only(desk.save("src/retry.cob#MAIN"))
    assert found.verdict == "unverifiable"
    assert ".cob" in found.because


# -- anchors that matched nothing -------------------------------------------------------------


@pytest.mark.parametrize("anchor", ["src/retry.py", "src/", "src/*.py", "src/retry.py#send"])
def test_what_matched_nothing_when_saved_and_does_now_is_changed(desk: Any, anchor: str) -> None:
    desk.commit()
    ref = desk.save(anchor)
    found = desk.only(ref)
    assert (found.verdict, found.to) == ("orphaned", ())
    desk.write("src/retry.py", RETRY)
    for _ in ("untracked", "committed"):
        found = desk.only(ref)
        assert found.verdict == "changed"
        assert found.because == f"`{anchor}` matched nothing when it was saved, and does now"
        desk.commit()
    desk.confirm(ref)
    assert desk.verdict(ref) == "fresh"


def test_a_symbol_that_its_file_did_not_hold_when_saved_and_does_now_is_changed(desk: Any) -> None:
    desk.write("src/retry.py", RETRY)
    desk.commit()
    ref = desk.save("src/retry.py#later")
    assert desk.only(ref).verdict == "orphaned"
    desk.write("src/retry.py", RETRY + "\n\ndef later():\n    return 1\n")
    found = desk.only(ref)
    assert (found.verdict, found.because) == (
        "changed",
        "`src/retry.py#later` matched nothing when it was saved, and does now",
    )


# -- many at once, and what is remembered -----------------------------------------------------


@pytest.mark.proof
def test_thirty_records_in_one_answer_agree_with_each_alone(desk: Any) -> None:
    for number in range(10):
        filler = "".join(f"part_{number}_{n} = {n * number}\n" for n in range(60))
        desk.write(f"src/part{number}/code.py", filler + RETRY.replace("2**", f"{number}**"))
    desk.commit()
    forms = ("src/part{}/code.py", "src/part{}/", "src/part{}/code.py#send")
    refs = [desk.save(form.format(n), title=f"Sends {n} {form[12:]}") for n in range(10) for form in forms]
    assert len(refs) == 30
    desk.commit("memory")
    desk.write("src/part1/code.py", EDITED)
    desk.git("mv", "src/part2", "src/elsewhere")
    desk.git("rm", "--quiet", "-r", "src/part3")
    desk.commit()
    desk.write("src/part4/code.py", EDITED)
    (desk.repo / "src/part5").rename(desk.repo / "src/beside")
    desk.write("src/part6/code.py", "def send(:\n")
    for _ in ("worked out", "remembered"):
        hits = answer_question(desk.project, "sends again", limit=50, budget=50_000).hits
        found = {hit.record.ref: hit.verdict for hit in hits}
        assert set(found) == set(refs)
        assert found == {ref: desk.inspected(ref) for ref in refs}
    words = {found[ref].verdict for ref in refs}
    assert words == {"fresh", "changed", "moved", "orphaned", "unverifiable"}


@pytest.mark.parametrize("anchor", ["src/retry.py", "src/", "src/*.py", "src/retry.py#send"])
def test_an_edit_of_the_same_size_right_after_a_question_is_noticed(desk: Any, anchor: str) -> None:
    path = desk.write("src/retry.py", RETRY)
    desk.commit()
    ref = desk.save(anchor)
    for base in range(3, 9):
        assert desk.asked(ref).verdict == ("fresh" if base == 3 else "changed")
        found = path.stat()
        path.write_text(RETRY.replace("2**", f"{base}**"), encoding="utf-8")
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        assert desk.asked(ref).verdict == "changed"
    path.write_text(RETRY, encoding="utf-8")
    assert desk.asked(ref).verdict == "fresh"


def test_without_the_index_every_verdict_is_the_same(desk: Any, file: str, folder: str, symbol: str) -> None:
    desk.write("src/queue/a.py", EDITED)
    refs = [file, folder, symbol]
    before = [desk.look(ref) for ref in refs]
    shutil.rmtree(desk.repo / ".memory/index")
    assert [desk.look(ref) for ref in refs] == before
    rebuild(desk.project, Rebuild())
    assert [desk.look(ref) for ref in refs] == before


def test_a_note_that_cannot_be_kept_or_read_changes_no_verdict(desk: Any, folder: str) -> None:
    shutil.rmtree(desk.repo / ".memory/index")
    desk.write(".memory/index", "no folder at all")
    assert desk.asked(folder).verdict == "fresh"
    desk.write("src/queue/a.py", EDITED)
    assert desk.asked(folder).verdict == "changed"


def test_a_file_that_moves_again_or_goes_away_after_a_question_is_noticed(desk: Any, file: str) -> None:
    (desk.repo / "lib").mkdir()
    desk.write("lib/keep.py", "x = 1\n")
    (desk.repo / "src/retry.py").rename(desk.repo / "lib/retry.py")
    assert desk.asked(file).anchors[0].to == ("lib/retry.py",)
    (desk.repo / "lib/retry.py").rename(desk.repo / "lib/again.py")
    assert desk.asked(file).anchors[0].to == ("lib/again.py",)
    (desk.repo / "lib/again.py").unlink()
    assert desk.asked(file).verdict == "orphaned"


def test_a_function_that_moves_again_or_goes_away_after_a_question_is_noticed(desk: Any, symbol: str) -> None:
    start = RETRY.index("def send")
    end = RETRY.index("def give_up")
    desk.write("src/retry.py", RETRY[:start] + RETRY[end:])
    desk.write("lib/sending.py", RETRY[start:end])
    assert desk.asked(symbol).anchors[0].to == ("lib/sending.py#send",)
    desk.write("lib/sending.py", "x = 1\n")
    assert desk.asked(symbol).verdict == "orphaned"


@pytest.mark.parametrize("anchor", ["src/", "src/**/*.py"])
def test_a_new_file_deep_below_what_was_empty_is_noticed_after_a_question(desk: Any, anchor: str) -> None:
    desk.write("src/a.py", "x = 1\n")
    desk.commit()
    (desk.repo / "src/one/two/three").mkdir(parents=True)
    ref = desk.save(anchor)
    assert desk.asked(ref).verdict == "fresh"
    desk.write("src/one/two/three/new.py", "x = 2\n")
    assert desk.inspected(ref).verdict == "changed"
    assert desk.asked(ref).verdict == "changed"


def test_committing_what_was_dirty_is_noticed_after_a_question(desk: Any, file: str) -> None:
    desk.write("src/retry.py", EDITED)
    assert desk.asked(file).anchors[0].dirty == ("src/retry.py",)
    commit = desk.commit()
    found = desk.asked(file).anchors[0]
    assert (found.dirty, found.commit) == ((), commit)


def test_a_confirmation_is_noticed_after_a_question(desk: Any, file: str) -> None:
    desk.write("src/retry.py", EDITED)
    assert desk.asked(file).verdict == "changed"
    desk.confirm(file)
    assert desk.asked(file).verdict == "fresh"


# -- other places -----------------------------------------------------------------------------


@pytest.mark.proof
def test_a_linked_worktree_has_verdicts_of_its_own(desk: Any, tmp_path: Path) -> None:
    desk.write("src/retry.py", RETRY)
    desk.commit()
    refs = [desk.save("src/retry.py", title="One"), desk.save("src/", title="Two")]
    desk.commit("memory")
    desk.git("worktree", "add", "--quiet", "-b", "side", tmp_path / "linked")
    linked = desk.elsewhere(tmp_path / "linked")
    linked.write("src/retry.py", EDITED)
    for ref in refs:
        assert (desk.verdict(ref), linked.verdict(ref)) == ("fresh", "changed")
    commit = linked.commit()
    for ref in refs:
        assert linked.only(ref).commit == commit


def test_a_copied_repository_has_the_same_verdicts(desk: Any, tmp_path: Path, file: str, folder: str) -> None:
    desk.write("src/queue/a.py", EDITED)
    shutil.copytree(desk.repo, tmp_path / "copy")
    copy = desk.elsewhere(tmp_path / "copy")
    for ref in (file, folder):
        assert copy.look(ref) == desk.look(ref)
    assert (copy.verdict(file), copy.only(folder).files) == ("fresh", ("src/queue/a.py",))


def test_a_fresh_clone_has_the_same_verdicts(desk: Any, tmp_path: Path, file: str, folder: str, symbol: str) -> None:
    desk.commit("memory", **{"src/queue/a.py": EDITED})
    desk.git("clone", "--quiet", desk.repo, tmp_path / "clone")
    clone = desk.elsewhere(tmp_path / "clone")
    for ref in (file, folder, symbol):
        assert clone.look(ref) == desk.look(ref)


def test_the_command_prints_the_verdict(memory: Any, desk: Any, file: str) -> None:
    commit = desk.commit(**{"src/retry.py": EDITED})
    alone = memory("inspect", file, "--json").data["object"]
    (hit,) = memory("query", "retry queue", "--json").data["results"]
    assert alone["verdict"] == hit["verdict"] == "changed"
    assert alone["checked"] == hit["checked"]
    assert alone["checked"]["because"] == f"`src/retry.py` changed in {short(commit)}"
    assert alone["checked"]["anchors"] == [
        {
            "anchor": "src/retry.py",
            "verdict": "changed",
            "because": f"`src/retry.py` changed in {short(commit)}",
            "files": ["src/retry.py"],
            "files_count": 1,
            "commit": commit,
        }
    ]
    assert f"changed: `src/retry.py` changed in {short(commit)}" in memory("query", "retry queue").out
    assert f"changed: `src/retry.py` changed in {short(commit)}" in memory("inspect", file).out


# -- records of the original program ----------------------------------------------------------


def test_a_record_without_seals_is_held_against_the_commit_that_wrote_it(desk: Any, file: str) -> None:
    desk.unsealed(file)
    found = desk.look(file)
    assert (found.verdict, found.because) == ("unverifiable", "it was saved without a fingerprint of the code")
    written = desk.commit("the record")
    desk.commit(**{"other.py": "x = 1\n"})
    found = desk.look(file)
    assert (found.verdict, found.since) == ("fresh", written)
    commit = desk.commit(**{"src/retry.py": EDITED})
    assert desk.only(file).commit == commit
    desk.git("mv", "src/retry.py", "src/again.py")
    desk.commit()
    found = desk.only(file)
    assert (found.verdict, found.to) == ("moved", ("src/again.py",))


@pytest.mark.parametrize("anchor", ["src/", "src/*.py", "src/retry.py#send"])
def test_a_record_without_seals_is_verified_with_anchors_of_every_form(desk: Any, anchor: str) -> None:
    desk.write("src/retry.py", RETRY)
    desk.commit()
    ref = desk.save(anchor)
    desk.unsealed(ref)
    desk.commit("the record")
    assert desk.verdict(ref) == "fresh"
    commit = desk.commit(**{"src/retry.py": EDITED})
    found = desk.only(ref)
    assert (found.verdict, found.commit, found.files) == ("changed", commit, ("src/retry.py",))


def test_a_record_without_seals_that_was_edited_since_its_commit_is_unverifiable(desk: Any, file: str) -> None:
    desk.unsealed(file)
    desk.commit("the record")
    assert desk.verdict(file) == "fresh"
    fields = desk.sidecar_path(file).read_text(encoding="utf-8")
    desk.sidecar_path(file).write_text(fields.replace('"Retry queue"', '"Retry line"'), encoding="utf-8")
    assert desk.inspected(file).verdict == "unverifiable"
    assert desk.asked(file).verdict == "unverifiable"


def test_many_records_without_seals_are_held_each_against_its_own_commit(desk: Any) -> None:
    desk.write("src/retry.py", RETRY)
    desk.commit()
    refs = [desk.save("src/retry.py", title=f"Number {number}") for number in range(20)]
    for ref in refs:
        desk.unsealed(ref)
    desk.commit("the records")
    desk.commit(**{"src/retry.py": EDITED})
    late = desk.save("src/retry.py", title="Number late")
    desk.unsealed(late)
    desk.commit("a late one")
    hits = answer_question(desk.project, "number", limit=50, budget=50_000).hits
    found = {hit.record.ref: hit.verdict.verdict for hit in hits}
    assert found == {**dict.fromkeys(refs, "changed"), late: "fresh"}


def test_an_anchor_added_to_the_sidecar_by_hand_is_unverifiable(desk: Any, file: str) -> None:
    desk.commit(**{"src/more.py": "x = 1\n"})
    text = desk.sidecar_path(file).read_text(encoding="utf-8")
    desk.sidecar_path(file).write_text(text.replace('"src/retry.py"\n', '"src/retry.py",\n"src/more.py"\n', 1), "utf-8")
    found = desk.look(file)
    assert [anchor.verdict for anchor in found.anchors] == ["fresh", "unverifiable"]
    assert "src/more.py" in found.because


def test_a_merge_conflict_leaves_the_file_changed(desk: Any, file: str) -> None:
    desk.commit("memory")
    desk.git("checkout", "--quiet", "-b", "side")
    desk.commit(**{"src/retry.py": RETRY.replace("2**", "5**")})
    desk.git("checkout", "--quiet", "main")
    desk.commit(**{"src/retry.py": RETRY.replace("2**", "7**")})
    folder = desk.save("src/", title="Folder")
    subprocess.run(["git", "merge", "side"], cwd=desk.repo, env=desk.git.env, capture_output=True, check=False)
    assert "<<<<<<<" in (desk.repo / "src/retry.py").read_text(encoding="utf-8")
    for ref in (file, folder):
        found = desk.only(ref)
        assert (found.verdict, found.files) == ("changed", ("src/retry.py",))
