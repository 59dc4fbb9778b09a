"""Odd names, odd files, odd states, hostile settings: no wrong `fresh`, no crash, and nothing of a repository runs."""

import os
import shutil
import stat
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from promised import proves
from quire.files.git import Git
from quire.model.errors import GitRequired
from quire.verbs.admin.check import check_files
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.status import status

CODE = """def send(message):
    message.tries += 1
    message.log("sent")
    return message.deliver()
"""
EDITED = CODE.replace("+= 1", "+= 2")
MEGA = 1024 * 1024


@pytest.fixture
def code(desk: Any) -> Any:
    desk.write("src/a.py", CODE)
    desk.commit()
    return desk


def save_all(desk: Any, *anchors: str) -> list[str]:
    return [desk.save(anchor, title=f"Record {number}") for number, anchor in enumerate(anchors)]


def verdicts(desk: Any, refs: list[str]) -> list[str]:
    found: list[str] = desk.verdicts(refs)
    return found


# -- repositories that are none, or not whole -------------------------------------------------


def test_before_the_first_commit_everything_can_be_verified(desk: Any) -> None:
    desk.write("src/a.py", CODE)
    desk.write("src/b.py", "x = 1\n")
    refs = save_all(desk, "src/a.py", "src/", "src/*.py", "src/a.py#send")
    assert verdicts(desk, refs) == ["fresh"] * 4
    desk.git("add", "src")
    assert verdicts(desk, refs) == ["fresh"] * 4
    desk.write("src/a.py", EDITED)
    assert verdicts(desk, refs) == ["changed"] * 4
    assert desk.only(refs[0]).files == ("src/a.py",)
    assert desk.only(refs[0]).because == "`src/a.py` changed in the working tree, not committed"
    (desk.repo / "src/a.py").unlink()
    assert verdicts(desk, refs) == ["orphaned", "changed", "changed", "orphaned"]


def test_before_the_first_commit_a_moved_file_is_found_by_its_content(desk: Any) -> None:
    desk.write("src/a.py", CODE)
    ref = desk.save("src/a.py")
    (desk.repo / "src/a.py").rename(desk.repo / "src/b.py")
    found = desk.only(ref)
    assert (found.verdict, found.to) == ("moved", ("src/b.py",))
    desk.git("add", "src")
    assert desk.only(ref).to == ("src/b.py",)
    desk.commit("first")
    assert desk.only(ref).to == ("src/b.py",)


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("how", ["no repository", "no program", "broken", "not ours"])
def test_without_git_files_can_be_verified_and_folders_cannot(code: Any, how: str) -> None:
    refs = save_all(code, "src/a.py", "src/a.py#send", "src/", "src/*.py")
    desk = code
    if how == "no repository":
        shutil.rmtree(code.repo / ".git")
    elif how == "no program":
        desk = code.elsewhere(code.repo, PATH="/nowhere")
    elif how == "broken":
        (code.repo / ".git/HEAD").write_text("nonsense", encoding="utf-8")
    elif os.geteuid() == 0:
        os.chown(code.repo / ".git", 12345, 12345)
        os.chown(code.repo, 12345, 12345)
    else:
        pytest.skip("only root can give a repository to somebody else")
    assert verdicts(desk, refs) == ["fresh", "fresh", "unverifiable", "unverifiable"]
    assert desk.only(refs[2]).because
    desk.write("src/a.py", EDITED)
    assert verdicts(desk, refs) == ["changed", "changed", "unverifiable", "unverifiable"]
    (desk.repo / "src/a.py").unlink()
    assert set(verdicts(desk, refs)) <= {"orphaned", "unverifiable"}


def test_a_file_that_is_gone_is_orphaned_without_git_too(code: Any) -> None:
    ref = code.save("src/a.py")
    shutil.rmtree(code.repo / ".git")
    (code.repo / "src/a.py").unlink()
    assert code.verdict(ref) == "orphaned"


def test_without_git_a_save_seals_what_it_can(desk: Any) -> None:
    shutil.rmtree(desk.repo / ".git")
    desk.write("src/a.py", CODE)
    refs = save_all(desk, "src/a.py", "src/a.py#send", "src/")
    assert verdicts(desk, refs) == ["fresh", "fresh", "unverifiable"]
    assert "commit" not in desk.sidecar(refs[0])["source"]
    desk.git("init", "--quiet")
    desk.commit()
    # Nobody could see the folder's files then: that it is like the commit now says nothing.
    assert verdicts(desk, refs) == ["fresh", "fresh", "unverifiable"]


@proves("P4.3", "C10", over="graph")
def test_a_shallow_clone_verifies_sealed_records_and_says_what_it_cannot_know(code: Any, tmp_path: Path) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    since = code.git("rev-parse", "HEAD").strip()
    code.commit("memory")
    code.commit(**{"src/a.py": EDITED})
    code.commit("more")
    code.git("clone", "--quiet", "--depth", "1", f"file://{code.repo}", tmp_path / "shallow")
    clone = code.elsewhere(tmp_path / "shallow")
    assert verdicts(clone, refs) == ["changed"] * 3
    found = clone.look(refs[0])
    gone = f"the commit {since[:9]} is not in this clone"
    assert found.because == f"`src/a.py` changed since this record was last confirmed; {gone}"
    clone.write("src/a.py", CODE)
    assert verdicts(clone, refs) == ["fresh"] * 3


@proves("P4.3", "C10", over="graph")
def test_in_a_shallow_clone_a_record_without_seals_is_not_held_against_where_the_history_was_cut(
    code: Any, tmp_path: Path
) -> None:
    ref = code.save("src/a.py")
    code.unsealed(ref)
    code.commit("the record")
    code.commit(**{"src/a.py": EDITED})
    assert code.verdict(ref) == "changed"
    code.git("clone", "--quiet", "--depth", "1", f"file://{code.repo}", tmp_path / "shallow")
    assert code.elsewhere(tmp_path / "shallow").verdict(ref) == "unverifiable"


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("commit", ["0123456789abcdef0123456789abcdef01234567", "HEAD", "--help", "main", "abc"])
def test_a_commit_that_is_unknown_here_or_none_does_no_harm(code: Any, commit: str) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    for ref in refs:
        path = code.sidecar_path(ref)
        known = code.sidecar(ref)["source"]["commit"]
        path.write_text(path.read_text(encoding="utf-8").replace(known, commit), encoding="utf-8")
    assert verdicts(code, refs) == ["fresh"] * 3
    code.commit(**{"src/a.py": EDITED})
    assert verdicts(code, refs) == ["changed"] * 3
    code.git("mv", "src/a.py", "src/b.py")
    assert code.verdict(refs[0]) in ("moved", "orphaned")


def test_a_commit_that_was_rewritten_and_swept_away_leaves_the_seals(code: Any) -> None:
    ref = code.save("src/a.py")
    code.git("commit", "--quiet", "--amend", "--message", "other words")
    code.git("reflog", "expire", "--expire=now", "--all")
    code.git("gc", "--quiet", "--prune=now")
    assert code.verdict(ref) == "fresh"
    code.write("src/a.py", EDITED)
    assert code.only(ref).verdict == "changed"


# -- submodules -------------------------------------------------------------------------------


@pytest.fixture
def module(code: Any, tmp_path: Path) -> Any:
    """A repository with a submodule at `vendor/part`, which has `lib/x.py`."""
    other = tmp_path / "part"
    code.git("init", "--quiet", other)
    (other / "lib").mkdir()
    (other / "lib/x.py").write_text(CODE, encoding="utf-8")
    code.git("add", "--all", cwd=other)
    code.git("commit", "--quiet", "--message", "part", cwd=other)
    code.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "vendor/part")
    code.write("vendor/own.py", "x = 1\n")
    code.commit()
    return code


@pytest.mark.proof
def test_anchors_on_and_in_a_submodule_are_verified(module: Any) -> None:
    anchors = ("vendor/part", "vendor/part/", "vendor/part/lib/", "vendor/part/lib/x.py", "vendor/part/lib/x.py#send")
    refs = save_all(module, *anchors, "vendor/", "vendor/own.py")
    assert verdicts(module, refs) == ["fresh"] * 7
    module.write("vendor/part/lib/x.py", EDITED)
    assert verdicts(module, refs) == ["changed"] * 6 + ["fresh"]
    inner = module.repo / "vendor/part"
    module.git("add", "--all", cwd=inner)
    module.git("commit", "--quiet", "--message", "inside", cwd=inner)
    assert verdicts(module, refs) == ["changed"] * 6 + ["fresh"]
    module.git("checkout", "--quiet", "HEAD~1", cwd=inner)
    assert verdicts(module, refs) == ["fresh"] * 7
    module.write("vendor/part/new.py", "x = 1\n")
    assert verdicts(module, refs) == ["changed", "changed", "fresh", "fresh", "fresh", "changed", "fresh"]


def test_a_submodule_that_did_not_change_is_not_named_beside_what_did(module: Any) -> None:
    ref = module.save("vendor/")
    commit = module.commit(**{"vendor/own.py": "x = 2\n"})
    found = module.only(ref)
    assert (found.verdict, found.files, found.commit, found.dirty) == ("changed", ("vendor/own.py",), commit, ())


def test_a_submodule_that_is_not_checked_out_is_unverifiable(module: Any, tmp_path: Path) -> None:
    refs = save_all(module, "vendor/part/lib/x.py", "vendor/part", "vendor/own.py")
    module.commit("memory")
    module.git("clone", "--quiet", module.repo, tmp_path / "clone")
    clone = module.elsewhere(tmp_path / "clone")
    assert verdicts(clone, refs) == ["unverifiable", "unverifiable", "fresh"]
    for ref in refs[:2]:
        assert "vendor/part" in clone.only(ref).because


def test_a_removed_submodule_is_orphaned(module: Any) -> None:
    refs = save_all(module, "vendor/part/lib/x.py", "vendor/part")
    module.git("rm", "--quiet", "-r", "--force", "vendor/part")
    module.commit()
    assert verdicts(module, refs) == ["orphaned", "orphaned"]


def test_a_repository_that_lies_in_an_anchored_folder_stops_nothing(code: Any) -> None:
    ref = code.save("src/")
    code.git("init", "--quiet", code.repo / "src/nested")
    code.write("src/nested/x.py", CODE)
    assert code.verdict(ref) in ("changed", "unverifiable", "fresh")
    assert check_files(code.project).errors == []


# -- what is not checked out, or not to be looked at ------------------------------------------


def test_files_that_a_sparse_checkout_hides_are_verified_from_the_index(code: Any) -> None:
    code.commit(**{"hidden/x.py": CODE, "hidden/y.py": "x = 1\n"})
    refs = save_all(code, "hidden/x.py", "hidden/", "hidden/*.py", "hidden/x.py#send", "src/a.py")
    code.commit("memory")
    code.git("sparse-checkout", "set", "src", ".memory")
    assert not (code.repo / "hidden").exists()
    assert verdicts(code, refs) == ["fresh"] * 5
    code.git("checkout", "--quiet", "-b", "other")
    blob = code.git("hash-object", "-w", "--stdin", stdin=EDITED.encode()).strip()
    code.git("update-index", "--cacheinfo", f"100644,{blob},hidden/x.py")
    code.git("update-index", "--skip-worktree", "hidden/x.py")
    code.git("commit", "--quiet", "--message", "an edit of what is hidden")
    assert verdicts(code, refs) == ["changed"] * 4 + ["fresh"]


def test_a_record_saved_where_its_file_is_hidden_is_sealed_from_the_index(code: Any) -> None:
    code.commit(**{"hidden/x.py": CODE})
    code.git("sparse-checkout", "set", "src", ".memory")
    refs = save_all(code, "hidden/x.py", "hidden/", "hidden/x.py#send")
    assert verdicts(code, refs) == ["fresh"] * 3
    code.git("sparse-checkout", "disable")
    assert verdicts(code, refs) == ["fresh"] * 3


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_is_told_not_to_look_at_is_looked_at(code: Any, flag: str) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    code.git("update-index", flag, "src/a.py")
    assert verdicts(code, refs) == ["fresh"] * 3
    code.write("src/a.py", EDITED)
    assert verdicts(code, refs) == ["changed"] * 3
    for ref in refs:
        assert code.only(ref).dirty == ("src/a.py",)


def test_a_deleted_file_that_git_is_told_not_to_look_at_is_not_fresh(code: Any) -> None:
    refs = save_all(code, "src/a.py", "src/a.py#send")
    code.git("update-index", "--assume-unchanged", "src/a.py")
    (code.repo / "src/a.py").unlink()
    assert verdicts(code, refs) == ["orphaned", "orphaned"]


def test_an_unmerged_file_is_held_against_what_lies_there(code: Any) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    code.commit("memory")
    code.git("checkout", "--quiet", "-b", "side")
    code.commit(**{"src/a.py": CODE.replace("+= 1", "+= 3")})
    code.git("checkout", "--quiet", "main")
    code.commit(**{"src/a.py": EDITED})
    subprocess.run(["git", "merge", "side"], cwd=code.repo, env=code.git.env, capture_output=True, check=False)
    assert code.git("ls-files", "--unmerged", "src") != ""
    assert verdicts(code, refs) == ["changed", "changed", "unverifiable"]
    code.write("src/a.py", CODE)
    assert verdicts(code, refs) == ["fresh"] * 3


def test_a_conflict_in_which_one_side_deleted_the_file_is_told_by_what_lies_there(code: Any) -> None:
    refs = save_all(code, "src/a.py", "src/")
    code.commit("memory", **{"src/b.py": "x = 1\n"})
    code.confirm(*[ref for ref in refs if code.inspected(ref).verdict not in ("moved", "orphaned")])
    code.commit("memory")
    code.git("checkout", "--quiet", "-b", "side")
    code.git("rm", "--quiet", "src/a.py")
    code.commit()
    code.git("checkout", "--quiet", "main")
    code.commit(**{"src/a.py": EDITED})
    subprocess.run(["git", "merge", "side"], cwd=code.repo, env=code.git.env, capture_output=True, check=False)
    assert verdicts(code, refs) == ["changed", "changed"]
    (code.repo / "src/a.py").unlink()
    assert verdicts(code, refs) == ["orphaned", "changed"]


# -- names ------------------------------------------------------------------------------------

NAMES = ["with space.py", "tab\there.py", "größe-💾.py", "arrow -> here.py", 'quote".py', "-rf.py", "a@blob:0.py"]


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_an_odd_name_is_verified_by_its_name_and_in_its_folder(desk: Any, name: str) -> None:
    desk.write("src/b.py", "x = 1\n")
    desk.commit()
    desk.write(f"src/{name}", CODE)
    anchors = [f"src/{name}", "src/", f"src/{name}#send"]
    refs = save_all(desk, *anchors)
    assert verdicts(desk, refs) == ["fresh"] * 3
    desk.commit("as is")
    assert verdicts(desk, refs) == ["fresh"] * 3
    commit = desk.commit(**{f"src/{name}": EDITED})
    for ref in refs:
        found = desk.only(ref)
        assert (found.verdict, found.files, found.commit) == ("changed", (f"src/{name}",), commit)
    desk.git("mv", "--", f"src/{name}", f"src/x {name}")
    desk.commit()
    assert desk.only(refs[0]).to == (f"src/x {name}",)
    assert desk.only(refs[2]).to == (f"src/x {name}#send",)


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("name", [b"new\nline.py", b"non-utf8-\xff\xfe.py", b"back\\slash.py"])
@pytest.mark.parametrize("dirty", [False, True])
def test_a_file_whose_name_no_anchor_can_have_is_verified_in_its_folder(
    memory: Any, desk: Any, name: bytes, dirty: bool
) -> None:
    desk.write("src/b.py", "x = 1\n")
    desk.commit()
    desk.write(b"src/" + name, CODE)
    if not dirty:
        desk.commit()
    refs = save_all(desk, "src/", "src/*.py")
    assert verdicts(desk, refs) == ["fresh"] * 2
    desk.commit("as is")
    assert verdicts(desk, refs) == ["fresh"] * 2
    desk.write(b"src/" + name, EDITED)
    for ref in refs:
        found = desk.only(ref)
        assert (found.verdict, found.files) == ("changed", (os.fsdecode(b"src/" + name),))
    assert '"verdict":"changed"' in memory("query", "record", "--json").out
    assert memory("inspect", refs[0]).code == 0
    assert check_files(desk.project).errors == []


def test_a_number_sign_in_a_files_name_is_no_symbol(desk: Any) -> None:
    desk.write("src/a#send.py", CODE)
    desk.write("src/a.py", CODE)
    desk.commit()
    refs = save_all(desk, "src/a#send.py", "src/a#send.py#send")
    assert verdicts(desk, refs) == ["fresh"] * 2
    assert "@blob:" in desk.seals(refs[0])[0]
    assert "@symbol:" in desk.seals(refs[1])[0]
    desk.write("src/a.py", EDITED)
    assert verdicts(desk, refs) == ["fresh"] * 2
    desk.write("src/a#send.py", EDITED)
    assert verdicts(desk, refs) == ["changed"] * 2


@pytest.mark.proof
def test_a_folder_whose_name_looks_like_a_pattern_is_itself(desk: Any) -> None:
    desk.write("app/[slug]/page.py", CODE)
    desk.commit()
    refs = save_all(desk, "app/[slug]/page.py", "app/[slug]/", "app/[slug]/page.py#send")
    assert verdicts(desk, refs) == ["fresh"] * 3
    commit = desk.commit(**{"app/[slug]/page.py": EDITED})
    for ref in refs:
        found = desk.only(ref)
        assert (found.verdict, found.files, found.commit) == ("changed", ("app/[slug]/page.py",), commit)
    (desk.repo / "web").mkdir()
    desk.git("mv", "app/[slug]", "web/[slug]")
    desk.commit()
    assert desk.only(refs[0]).to == ("web/[slug]/page.py",)
    assert desk.only(refs[2]).to == ("web/[slug]/page.py#send",)


def test_a_file_whose_name_looks_like_a_pattern_is_not_another_file_that_the_pattern_matches(desk: Any) -> None:
    desk.write("app/[slug]/page.py", CODE)
    desk.write("app/s/page.py", "x = 1\n")
    desk.commit()
    ref = desk.save("app/[slug]/page.py")
    desk.commit(**{"app/s/page.py": "x = 2\n"})
    assert desk.verdict(ref) == "fresh"
    (desk.repo / "web").mkdir()
    desk.git("mv", "app/[slug]", "web/[slug]")
    desk.commit()
    found = desk.only(ref)
    assert (found.verdict, found.to) == ("moved", ("web/[slug]/page.py",))


# -- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize("anchor", ["link.py", "link.py#send"])
def test_a_link_to_a_file_of_the_project_is_not_fresh_when_that_changes(code: Any, anchor: str) -> None:
    (code.repo / "link.py").symlink_to("src/a.py")
    code.commit()
    ref = code.save(anchor)
    assert code.verdict(ref) == "fresh"
    code.commit(**{"src/a.py": EDITED})
    assert code.verdict(ref) == "changed"


def test_a_link_that_leads_to_another_file_is_changed(code: Any) -> None:
    code.write("src/b.py", EDITED)
    (code.repo / "link.py").symlink_to("src/a.py")
    code.commit()
    refs = save_all(code, "link.py", "link.py#send")
    (code.repo / "link.py").unlink()
    (code.repo / "link.py").symlink_to("src/b.py")
    assert verdicts(code, refs) == ["changed", "changed"]


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("anchor", ["link/", "link/a.py", "link"])
def test_a_link_to_a_folder_is_never_fresh_when_what_is_in_it_changed(code: Any, tracked: bool, anchor: str) -> None:
    (code.repo / "link").symlink_to("src")
    if tracked:
        code.commit()
    ref = code.save(anchor)
    code.commit(**{"src/a.py": EDITED})
    assert code.verdict(ref) in ("changed", "unverifiable")


@proves("P7.2", "D10", over="graph")
@pytest.mark.parametrize("anchor", ["out.py", "out.py#send", "outside/", "outside/x.py"])
def test_what_a_link_leads_to_outside_of_the_project_is_not_read(code: Any, tmp_path: Path, anchor: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.py").write_text(CODE, encoding="utf-8")
    (code.repo / "out.py").symlink_to(outside / "x.py")
    (code.repo / "outside").symlink_to(outside)
    code.commit()
    ref = code.save(anchor)
    before = code.look(ref)
    os.utime(outside / "x.py", (5, 5))
    (outside / "x.py").write_text(EDITED, encoding="utf-8")
    assert code.look(ref) == before
    seals = "".join(code.seals(ref))
    assert code.git("hash-object", outside / "x.py").strip() not in seals
    if anchor == "out.py#send":
        assert before.verdict == "unverifiable"


def test_links_that_lead_nowhere_or_in_circles_in_a_folder_are_what_they_are(code: Any) -> None:
    (code.repo / "src/nowhere").symlink_to("gone")
    (code.repo / "src/circle").symlink_to("circle")
    (code.repo / "src/up").symlink_to("..")
    ref = code.save("src/")
    assert code.verdict(ref) == "fresh"
    code.commit()
    assert code.verdict(ref) == "fresh"
    (code.repo / "src/nowhere").unlink()
    (code.repo / "src/nowhere").symlink_to("elsewhere")
    found = code.only(ref)
    assert (found.verdict, found.files) == ("changed", ("src/nowhere",))


def test_a_file_replaced_by_a_link_to_a_copy_of_it_is_told_alike_however_it_is_asked(code: Any) -> None:
    refs = save_all(code, "src/a.py", "src/")
    (code.repo / "src/a.py").rename(code.repo / "copy.py")
    (code.repo / "src/a.py").symlink_to("../copy.py")
    assert verdicts(code, refs) == ["changed", "changed"]


# -- files of odd kinds -----------------------------------------------------------------------


@pytest.fixture
def large(code: Any) -> Any:
    with open(code.repo / "src/large.bin", "wb") as file:
        file.truncate(100 * MEGA)
    code.git("-c", "core.compression=1", "add", "src/large.bin")
    code.commit()
    return code


@pytest.mark.proof
def test_a_very_large_file_is_not_read_while_it_is_clean_and_read_in_parts_when_it_is_not(large: Any) -> None:
    refs = save_all(large, "src/large.bin", "src/")
    assert verdicts(large, refs) == ["fresh"] * 2
    with open(large.repo / "src/large.bin", "r+b") as file:
        file.seek(70 * MEGA)
        file.write(b"x")
    tracemalloc.start()
    try:
        assert [large.inspected(ref).verdict for ref in refs] == ["changed"] * 2
        assert tracemalloc.get_traced_memory()[1] < 24 * MEGA
    finally:
        tracemalloc.stop()


def test_a_very_large_file_with_a_symbol_is_unverifiable(code: Any) -> None:
    code.write("src/big.py", CODE + "# filling\n" * 300_000)
    code.commit()
    found = code.only(code.save("src/big.py#send"))
    assert found.verdict == "unverifiable"
    assert "large" in found.because


def test_binary_and_empty_files_are_files(code: Any) -> None:
    code.write("src/empty.py", b"")
    code.write("src/image.png", bytes(range(256)) * 10 + b"\r\n\r\n")
    code.commit()
    refs = save_all(code, "src/empty.py", "src/image.png", "src/")
    assert verdicts(code, refs) == ["fresh"] * 3
    code.write("src/empty.py", b"\n")
    code.write("src/image.png", bytes(range(256)) * 10 + b"\n\r\n")
    assert verdicts(code, refs) == ["changed"] * 3


def test_a_symbol_in_what_is_no_text_is_unverifiable(code: Any) -> None:
    ref = code.save("src/a.py#send")
    for data in (b"def send():\0\n", b"\xff\xfe\x00d", b"# coding: nonsense\ndef send(): pass\n"):
        code.write("src/a.py", data)
        assert code.verdict(ref) == "unverifiable"
    code.write("src/a.py", b"")
    assert code.verdict(ref) == "orphaned"


def test_an_empty_file_that_moved_is_not_taken_for_every_other_empty_file(desk: Any) -> None:
    desk.write("src/__init__.py", b"")
    desk.commit()
    ref = desk.save("src/__init__.py")
    (desk.repo / "src/__init__.py").unlink()
    desk.write("docs/notes.py", b"")
    desk.commit()
    assert desk.verdict(ref) == "orphaned"


@pytest.mark.parametrize("where", ["beside", "instead"])
def test_a_pipe_is_never_waited_for(code: Any, where: str) -> None:
    refs = save_all(code, "src/", "src/a.py", "src/a.py#send")
    if where == "instead":
        (code.repo / "src/a.py").unlink()
        os.mkfifo(code.repo / "src/a.py")
        assert not {"fresh", "changed"} & set(verdicts(code, refs[1:]))
        assert code.verdict(refs[0]) != "fresh"
        code.save("src/", "src/a.py", "src/a.py#send", title="Pipe")
    else:
        os.mkfifo(code.repo / "src/pipe.py")
        assert verdicts(code, refs) == ["fresh"] * 3
        code.save("src/pipe.py", "src/pipe.py#send", "src/*.py", title="Pipe")


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_a_list_of_gits_own_that_is_a_pipe_is_never_waited_for(code: Any, name: str) -> None:
    ref = save_all(code, "src/a.py")[0]
    (code.repo / name).unlink(missing_ok=True)
    os.mkfifo(code.repo / name)
    with pytest.raises(GitRequired, match=f"`{name}` is a pipe or a device"):
        Git(str(code.repo), dict(os.environ)).untracked([])
    assert code.verdict(ref) in ("fresh", "unverifiable")


def test_a_huge_file_that_was_touched_is_not_read(code: Any) -> None:
    """A tebibyte with nothing in it: whoever read it would never come back."""
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    os.truncate(code.repo / "src/a.py", 1 << 40)
    assert verdicts(code, refs) == ["unverifiable"] * 3
    assert "`src/a.py` is too large to be read" in code.only(refs[0]).because


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_unverifiable(code: Any) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    code.write("src/a.py", EDITED)
    (code.repo / "src/a.py").chmod(0)
    assert verdicts(code, refs) == ["unverifiable"] * 3
    assert "`src/a.py` cannot be read" in code.only(refs[0]).because


def test_a_file_that_became_a_folder_is_changed(code: Any) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    (code.repo / "src/a.py").unlink()
    code.write("src/a.py/b.py", CODE)
    for _ in ("dirty", "committed"):
        assert verdicts(code, refs[:2]) == ["changed"] * 2
        assert code.verdict(refs[2]) in ("moved", "orphaned")
        code.commit()


def test_a_folder_that_became_a_file_is_changed(code: Any) -> None:
    code.commit(**{"src/part/x.py": CODE})
    refs = save_all(code, "src/part/", "src/part", "src/", "src/part/x.py")
    shutil.rmtree(code.repo / "src/part")
    code.write("src/part", "now a file\n")
    for _ in ("dirty", "committed"):
        assert verdicts(code, refs) == ["changed"] * 3 + ["orphaned"]
        code.commit()


# -- line ends and filters --------------------------------------------------------------------


@proves("P6.4", "C15", over="graph")
def test_line_ends_that_a_checkout_turns_are_no_change(code: Any, tmp_path: Path) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    code.commit("memory")
    code.git("clone", "--quiet", "-c", "core.autocrlf=true", code.repo, tmp_path / "clone")
    clone = code.elsewhere(tmp_path / "clone")
    assert b"\r\n" in (clone.repo / "src/a.py").read_bytes()
    assert verdicts(clone, refs) == ["fresh"] * 3
    os.utime(clone.repo / "src/a.py", (5, 5))
    assert verdicts(clone, refs) == ["fresh"] * 3
    clone.write("src/a.py", EDITED.replace("\n", "\r\n"))
    assert verdicts(clone, refs) == ["changed"] * 3


def test_a_new_file_with_turned_line_ends_stays_fresh_when_it_is_committed(code: Any) -> None:
    code.git("config", "core.autocrlf", "true")
    code.git("config", "core.safecrlf", "false")
    code.write("src/new.py", CODE.replace("\n", "\r\n"))
    refs = save_all(code, "src/new.py", "src/", "src/new.py#send")
    code.commit("as is")
    assert verdicts(code, refs) == ["fresh"] * 3


@pytest.mark.parametrize("attributes", ["*.py ident", "*.py working-tree-encoding=UTF-16"])
def test_what_git_itself_turns_at_checkout_is_not_called_changed_when_only_its_time_is(
    code: Any, tmp_path: Path, attributes: str
) -> None:
    code.write("src/id.py", '# $Id$\nname = "x"\n')
    code.commit()
    code.write(".gitattributes", attributes + "\n")
    if "UTF-16" in attributes:
        for name in ("src/id.py", "src/a.py"):
            code.write(name, (code.repo / name).read_text(encoding="utf-8").encode("utf-16"))
    code.commit()
    refs = save_all(code, "src/id.py", "src/")
    code.commit("memory")
    code.git("clone", "--quiet", code.repo, tmp_path / "clone")
    clone = code.elsewhere(tmp_path / "clone")
    assert verdicts(clone, refs) == ["fresh"] * 2
    os.utime(clone.repo / "src/id.py", (5, 5))
    assert not {"changed", "orphaned", "moved"} & set(verdicts(clone, refs))


def test_a_file_that_passes_through_a_filter_is_never_wrongly_fresh_and_the_filter_never_runs(
    code: Any, tmp_path: Path
) -> None:
    code.write(".gitattributes", "*.dat filter=lfs\n")
    code.git("config", "filter.lfs.clean", "sha256sum | sed 's/^/pointer /'")
    code.git("config", "filter.lfs.smudge", "cat")
    code.git("config", "filter.lfs.required", "true")
    os.utime(code.write("src/big.dat", b"what lies there\n" * 100), (3, 3))
    code.commit()
    assert code.git("show", "HEAD:src/big.dat").startswith("pointer ")
    sign = tmp_path / "sign"
    for name in ("clean", "smudge", "process"):
        code.git("config", f"filter.lfs.{name}", f"touch {sign}; cat")
    refs = save_all(code, "src/big.dat", "src/")
    assert verdicts(code, refs) == ["fresh"] * 2
    os.utime(code.repo / "src/big.dat", (5, 5))
    assert verdicts(code, refs) == ["unverifiable"] * 2
    assert "passes through a filter" in code.only(refs[0]).because
    code.write("src/big.dat", b"what lies Here\n" * 100)
    assert verdicts(code, refs) == ["unverifiable"] * 2
    code.write("src/a.py", EDITED)
    assert code.only(refs[1]).verdict == "changed"
    assert "src/a.py" in code.only(refs[1]).files
    code.save("src/*.dat", title="Pattern")
    assert not sign.exists()


def test_a_filtered_file_sealed_while_git_was_unsure_of_it_is_not_called_changed_later(code: Any) -> None:
    code.write(".gitattributes", "*.dat filter=lfs\n")
    code.git("config", "filter.lfs.clean", "tr a-z A-Z")
    code.write("src/big.dat", b"what lies there\n" * 100)
    code.commit()
    os.utime(code.repo / "src/big.dat", (5, 5))
    refs = save_all(code, "src/big.dat", "src/")
    code.git("status")
    assert not {"changed"} & set(verdicts(code, refs))


# -- hostile settings -------------------------------------------------------------------------


class Trap:
    """Every setting that names a program names one that leaves a sign; drivers have names that are hard to spell."""

    DRIVERS = ("evil", "a=b", "x y", "UPPER.Case", "ü", '"quoted"', "-c", "")

    def __init__(self, desk: Any) -> None:
        self.desk = desk
        self.folder = desk.repo.parent / "signs"
        self.folder.mkdir()
        self.program = desk.repo.parent / "evil.sh"
        self.program.write_text(f'#!/bin/sh\ntouch "{self.folder}/$1-$$"\ncat\n', encoding="utf-8")
        self.program.chmod(0o755)

    @property
    def signs(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def arm(self, drivers: tuple[str, ...] = DRIVERS) -> None:
        settings = {
            "core.fsmonitor": "fsmonitor",
            "core.pager": "pager",
            "core.editor": "editor",
            "core.sshCommand": "ssh",
            "core.alternateRefsCommand": "alternates",
            "credential.helper": "credential",
            "diff.external": "external",
            "gpg.program": "gpg",
            "gpg.ssh.program": "gpg-ssh",
            "gpg.x509.program": "gpg-x509",
            "interactive.diffFilter": "interactive",
            "pager.blame": "pager-blame",
            "pager.diff-tree": "pager-diff",
            "pager.rev-list": "pager-log",
            "trailer.x.command": "trailer",
            "uploadpack.packObjectsHook": "pack",
        }
        for driver in drivers:
            for part in ("clean", "smudge", "process"):
                settings[f"filter.{driver}.{part}"] = f"{part}-filter"
            settings[f"diff.{driver}.textconv"] = "textconv"
            settings[f"diff.{driver}.command"] = "command"
            settings[f"merge.{driver}.driver"] = "merge"
        values = {name: f"{self.program} {sign}" for name, sign in settings.items()}
        values |= {f"filter.{driver}.required": "true" for driver in drivers}
        values |= {"log.showSignature": "true", "blame.ignoreRevsFile": "/dev/stdin", "diff.renames": "copies"}
        values |= {"core.attributesFile": str(self.desk.repo.parent / "attributes"), "status.showUntrackedFiles": "no"}
        values |= {
            "diff.orderFile": "/nowhere",
            "diff.noprefix": "true",
            "color.ui": "always",
            "core.quotePath": "true",
        }
        values |= {"core.preloadIndex": "true", "diff.ignoreSubmodules": "all", "diff.relative": "true"}
        (self.desk.repo.parent / "attributes").write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
        for name, value in values.items():
            self.desk.git("config", name, value)


EVERY_FORM = ("src/a.py", "src/", "src/**/*.py", "src/a.py#send", "moved.py", "gone/", "src/new.py", "other#send")


@pytest.mark.proof(keep=1)
@proves("P7.1", "F1", "F2")
@pytest.mark.parametrize("drivers", [Trap.DRIVERS, ("evil",)], ids=["odd", "plain"])
def test_nothing_that_the_repository_names_is_run(memory: Any, code: Any, drivers: tuple[str, ...]) -> None:
    code.write("moved.py", "".join(f"x_{n} = {n}\n" for n in range(30)))
    code.write(".gitattributes", "*.py filter=evil diff=evil merge=evil\nsrc/new.py filter=a=b\n")
    code.commit()
    refs = save_all(code, *EVERY_FORM)
    unsealed = code.save("src/", title="Unsealed")
    code.unsealed(unsealed)
    code.commit("memory")
    trap = Trap(code)
    trap.arm(drivers)
    code.write("src/a.py", EDITED)
    code.write("src/new.py", CODE)
    (code.repo / "moved.py").rename(code.repo / "there.py")
    for ref in (*refs, unsealed):
        code.inspected(ref)
    answer_question(code.project, "record", limit=50)
    assert trap.signs == []
    code.confirm(*[ref for ref in refs if code.inspected(ref).verdict not in ("moved", "orphaned")])
    code.save(*EVERY_FORM, title="New")
    status(code.project)
    check_files(code.project)
    for line in (["query", "record"], ["inspect", refs[1]]):
        assert memory(*line, "--json").code == 0, line
    assert trap.signs == []


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("driver", ["evil", "a=b", "x y"])
def test_with_a_hostile_filter_verdicts_are_still_right(code: Any, driver: str) -> None:
    code.write("src/b.py", "x = 1\n")
    code.commit()
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    trap = Trap(code)
    trap.arm((driver,))
    (code.repo.parent / "attributes").unlink()
    os.utime(code.repo / "src/a.py", (5, 5))
    assert verdicts(code, refs) == ["fresh"] * 3
    code.write("src/a.py", EDITED)
    assert verdicts(code, refs) == ["changed"] * 3
    assert trap.signs == []


def test_with_a_filter_of_an_odd_name_what_is_gone_is_still_orphaned(code: Any) -> None:
    code.write("src/b.py", "x = 1\n")
    code.commit()
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    code.git("config", "filter.a=b.clean", "false")
    (code.repo / "src/a.py").unlink()
    assert verdicts(code, refs) == ["orphaned", "changed", "orphaned"]


def test_settings_that_make_git_look_less_closely_hide_no_edit(code: Any) -> None:
    os.utime(code.repo / "src/a.py", (3, 3))
    code.git("add", "src/a.py")
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    for name, value in (("core.trustctime", "false"), ("core.checkStat", "minimal"), ("core.ignoreStat", "true")):
        code.git("config", name, value)
    path = code.repo / "src/a.py"
    found = path.stat()
    time.sleep(1.1)  # git compares whole seconds
    with open(path, "r+b") as file:
        file.write(EDITED.encode())
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert verdicts(code, refs) == ["changed"] * 3


@proves("P7.1", "F2")
def test_verdicts_in_a_submodule_run_nothing_that_it_names(module: Any, tmp_path: Path) -> None:
    refs = save_all(module, "vendor/part", "vendor/part/lib/", "vendor/part/lib/x.py", "vendor/part/lib/x.py#send")
    sign = tmp_path / "sign"
    inner = module.repo / "vendor/part"
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.external"):
        module.git("config", name, f"touch {sign}; cat", cwd=inner)
    (inner / ".gitattributes").write_text("* filter=evil\n", encoding="utf-8")
    module.write("vendor/part/lib/x.py", EDITED)
    assert "fresh" not in [module.inspected(ref).verdict for ref in refs]
    answer_question(module.project, "record", limit=50)
    assert not sign.exists()


def test_the_trap_of_these_tests_works(code: Any) -> None:
    code.write(".gitattributes", "*.py filter=evil diff=evil\n")
    code.commit()
    trap = Trap(code)
    trap.arm(("evil",))
    code.write("src/a.py", EDITED)
    for command in ("status", "diff"):
        subprocess.run(["git", command], cwd=code.repo, env=code.git.env, capture_output=True, check=False)
    assert trap.signs


# -- stores that cannot be written to ---------------------------------------------------------


@pytest.mark.proof
@pytest.mark.skipif(sys.platform != "linux", reason="bind mounts are Linux")
def test_on_a_read_only_disk_verdicts_are_given_all_the_same(memory: Any, code: Any) -> None:
    refs = save_all(code, "src/a.py", "src/", "src/a.py#send")
    code.commit("memory")
    code.write("src/a.py", EDITED)
    shutil.rmtree(code.repo / ".memory/index")
    mount = f'mount --bind "{code.repo}" "{code.repo}" && mount -o remount,ro,bind "{code.repo}" && cd "{code.repo}"'
    probe = subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("mounts of one's own are not permitted here (unshare -m)")
    inside = type(memory)(code.repo, memory.env, ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"])
    found = inside("query", "record", "--json").data["results"]
    assert {hit["id"]: hit["verdict"] for hit in found} == dict.fromkeys(refs, "changed")
    assert [inside("inspect", ref, "--json").data["object"]["verdict"] for ref in refs] == ["changed"] * 3
    assert not (code.repo / ".memory/index").exists()


def test_a_folder_of_the_store_that_is_read_only_changes_no_verdict(code: Any) -> None:
    ref = code.save("src/")
    assert code.asked(ref).verdict == "fresh"
    index = code.repo / ".memory/index"
    for path in (*index.iterdir(), index):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
    try:
        code.write("src/a.py", EDITED)
        assert code.asked(ref).verdict == "changed"
    finally:
        for path in (index, *index.iterdir()):
            path.chmod(0o755)
