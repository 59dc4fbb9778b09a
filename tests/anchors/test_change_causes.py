"""Which commits changed a definition: those that really did, found with little work."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from counting_work import calls_of_git, counted_parses

from quire.anchors.resolve_anchor import resolve_anchor
from quire.anchors.verify import Verifier
from quire.anchors.working_tree import read_working_tree
from quire.upkeep.verdicts import Verdicts, file_of
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.status import status as status_of

FILE = "src/retry.py"


def source(send: str = "return 1", other: int = 0, note: str = "") -> str:
    return f"{note}LIMIT = 5\n\n\ndef send(job: int):\n    {send}\n\n\ndef other(job):\n    return {other}\n"


def shorts(*commits: str) -> list[str]:
    return [commit[:9] for commit in commits]


@pytest.fixture
def saved(desk: Any) -> tuple[Any, str]:
    init_memory(desk.project)
    desk.write(FILE, source())
    desk.commit("before")
    return desk, desk.save(f"{FILE}#send")


def test_formatting_and_other_definitions_are_no_cause(saved: tuple[Any, str]) -> None:
    desk, ref = saved
    desk.write(FILE, source("return 2"))
    real = desk.commit("the change")
    desk.write(FILE, source("return (2)  # two", note="# A note.\n"))
    desk.commit("a formatter")
    desk.write(FILE, source("return (2)  # two", other=7, note="# A note.\n"))
    desk.commit("something else")
    found = desk.only(ref)
    assert (found.commit, found.commits, found.because) == (real, (), f"`{FILE}#send` changed in {real[:9]}")


def test_all_commits_that_changed_it_are_counted_and_three_are_named(saved: tuple[Any, str]) -> None:
    desk, ref = saved
    commits = []
    for number in range(2, 7):
        desk.write(FILE, source(f"return {number}", other=number))
        commits.append(desk.commit(f"change {number}"))
        desk.write(FILE, source(f"return {number}", other=-number))
        desk.commit("something else")
    found = desk.only(ref)
    newest = commits[::-1]
    one, two, three = shorts(*newest[:3])
    assert found.because == f"`{FILE}#send` changed in {one}, {two}, {three} and 2 more"
    assert (found.commit, found.commits, found.commits_count) == (newest[0], tuple(newest[:3]), 5)
    assert found.first_commit == commits[0]


def test_an_annotation_is_code(saved: tuple[Any, str]) -> None:
    desk, ref = saved
    desk.write(FILE, source().replace("job: int", "job: str"))
    commit = desk.commit("another type")
    desk.write(FILE, source(other=3).replace("job: int", "job: str"))
    desk.commit("something else")
    assert desk.only(ref).commit == commit


def test_a_branch_that_did_not_touch_it_is_no_cause(saved: tuple[Any, str]) -> None:
    """Its commits lack the change of the other branch, which is not to change it back."""
    desk, ref = saved
    desk.commit("memory")
    desk.git("switch", "--quiet", "--create", "side")
    desk.write(FILE, source(note="# A note.\n"))
    desk.commit("only a comment")
    desk.git("switch", "--quiet", "-")
    desk.write(FILE, source("return 2"))
    real = desk.commit("the change")
    desk.git("merge", "--quiet", "--no-edit", "side")
    assert desk.only(ref).because == f"`{FILE}#send` changed in {real[:9]}"


def test_what_brought_what_was_seen_is_no_cause(saved: tuple[Any, str]) -> None:
    desk, _ = saved
    desk.write(FILE, source("return 2"))
    ref = desk.save(f"{FILE}#send", title="Seen before it was committed")
    desk.commit("as it was seen")
    desk.write(FILE, source("return 3"))
    real = desk.commit("the change")
    assert desk.only(ref).because == f"`{FILE}#send` changed in {real[:9]}"


def test_records_of_different_commits_have_their_own_causes(saved: tuple[Any, str]) -> None:
    desk, first = saved
    desk.write(FILE, source("return 2"))
    one = desk.commit("one")
    second = desk.save(f"{FILE}#send", title="Later")
    desk.write(FILE, source("return 3"))
    two = desk.commit("two")
    desk.write(FILE, source("return 4"))
    three = desk.commit("three")
    verdicts = {row.id: row.because for row in status_of(desk.project).attention}
    assert verdicts[first].endswith("changed in {}, {} and {}".format(*shorts(three, two, one)))
    assert verdicts[second].endswith("changed in {} and {}".format(*shorts(three, two)))


def test_without_time_for_it_a_change_is_told_without_its_commit(saved: tuple[Any, str]) -> None:
    desk, ref = saved
    for number in (2, 3):
        desk.write(FILE, source(f"return {number}"))
        desk.commit(f"change {number}")
    project = desk.project

    def work(index: Any) -> None:
        record = index.find(ref)
        late = Verdicts(project.root, project.git, index, until=0.0)([record])[ref]
        assert (late.verdict, late.because) == ("unverifiable", "there was no time to check its code")
        tree = read_working_tree(project.root, project.git)
        resolve_anchor(tree, f"{FILE}#send")
        verifier = Verifier(project.root, project.git, file_of, tree, keep=index, until=0.0)
        found = verifier.verify([record])[ref]
        assert (found.verdict, found.because) == ("changed", f"`{FILE}#send` changed")
        assert verifier.unfinished == {ref}

    project.with_index(work)
    # What was left open was not kept.
    assert desk.only(ref).commits_count == 2


@pytest.mark.proof
def test_decorators_blocks_and_methods_are_followed_through_versions(desk: Any) -> None:
    """However a definition is written, the commits that changed it are those that parsing everything would find."""
    text = (
        "class Line:\n    @first(\n        1,\n    )\n    # Why.\n    @second\n"
        "    def push(\n        self,\n    ) -> None:\n"
        '        """Text\nat the margin."""\n        return 0\n\n    push_again = push\n\n\ndef last(a): return 0\n'
    )
    init_memory(desk.project)
    desk.write("src/line.py", text)
    desk.commit("before")
    refs = {name: desk.save(f"src/line.py#{name}", title=name) for name in ("Line.push", "Line", "last")}
    made = {}
    for old, new in (
        ("first(\n        1", "first(\n        2"),
        ("# Why.", "# Because."),
        ("self,\n    )", "self, more=1\n    )"),
        ("return 0\n\n    push_again", "return 1\n\n    push_again"),
        ("push_again = push", "again = push"),
        ("last(a): return 0", "last(a): return 1"),
    ):
        assert old in text
        text = text.replace(old, new)
        desk.write("src/line.py", text)
        made[new] = desk.commit(new)
    one, _, two, three, four, five = made.values()
    commits = {name: desk.only(ref) for name, ref in refs.items()}
    assert commits["Line.push"].commits == (three, two, one)
    assert (commits["Line"].commits, commits["Line"].commits_count) == ((four, three, two), 4)
    assert commits["last"].commit == five


@pytest.fixture
def busy(saved: tuple[Any, str], tmp_path: Path, environment: dict[str, str]) -> Any:
    """Two symbols of a file, thirty commits on: ten change the one, ten the other, ten neither."""
    desk, _ = saved
    desk.save(f"{FILE}#other", title="Other")
    desk.commit("memory")
    for number in range(30):
        one, other = (number + 3) // 3, (number + 2) // 3
        desk.write(FILE, source(f"return {one + 1}", other, note=f"# {number}\n"))
        desk.commit(f"work {number}")
    return desk


def _status(desk: Any, environment: dict[str, str], folder: Path, stop_at: int = 0) -> tuple[int, int, int]:
    """How the installed command ended, how often it parsed, and how often it started git."""
    env, parses = counted_parses(environment, folder, stop_at)
    env["PATH"], calls = calls_of_git(folder, env)
    program = shutil.which("memory", path=str(Path(sys.executable).parent))
    assert program
    done = subprocess.run([program, "status"], cwd=desk.repo, env=env, capture_output=True, check=False)
    return done.returncode, len(parses.read_bytes()), len(calls.read_text().splitlines())


@pytest.mark.proof
def test_each_version_is_parsed_once_for_all_and_kept(busy: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    shutil.rmtree(busy.repo / ".memory/index", ignore_errors=True)
    folders = [tmp_path / name for name in ("cold", "warm", "edited")]
    for folder in folders:
        folder.mkdir()
    code, parses, calls = _status(busy, environment, folders[0])
    # Of thirty-one versions with two symbols each: once for each of the twenty changes, once more where the line above
    # a symbol changed with it, and three times to begin with.
    assert (code, parses <= 33, calls < 30) == (0, True, True), (code, parses, calls)
    warm = _status(busy, environment, folders[1])
    assert warm[:2] == (0, 0)
    assert warm[2] < calls
    busy.write("README.md", "Something else.\n")
    assert _status(busy, environment, folders[2])[:2] == (0, 0)


@pytest.mark.proof
def test_a_run_that_is_killed_leaves_what_it_found(busy: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    shutil.rmtree(busy.repo / ".memory/index", ignore_errors=True)
    folders = [tmp_path / name for name in ("whole", "killed", "again")]
    for folder in folders:
        folder.mkdir()
    whole = _status(busy, environment, folders[0])[1]
    shutil.rmtree(busy.repo / ".memory/index")
    assert _status(busy, environment, folders[1], stop_at=21)[:2] == (-signal.SIGKILL, 21)
    code, parses, _ = _status(busy, environment, folders[2])
    assert code == 0
    assert parses <= whole - 12


def test_a_store_that_cannot_be_written_to_gets_the_same_answer(
    busy: Any, tmp_path: Path, environment: dict[str, str]
) -> None:
    before = {row.id: row.because for row in status_of(busy.project).attention}
    shutil.rmtree(busy.repo / ".memory/index", ignore_errors=True)
    (busy.repo / ".memory/index").write_text("no folder")
    assert {row.id: row.because for row in status_of(busy.project).attention} == before
    assert msgspec.structs.asdict(status_of(busy.project))["verdicts"]["changed"] == 2


@pytest.mark.proof
def test_commits_of_many_records_are_asked_for_at_once(desk: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    """Every record was saved at another commit: what changed since is not asked for one by one."""
    init_memory(desk.project)
    counts = []
    for times in (3, 12):
        for number in range(times):
            desk.write(f"src/a{number}.py", f"a = {number}\n")
            desk.write(f"src/b{number}.py", f"def b():\n    return {number}\n")
            desk.commit(f"file {number}")
            desk.save(f"src/a{number}.py", f"src/b{number}.py#b", title=f"Record {times} {number}")
        for number in range(times):
            desk.write(f"src/a{number}.py", f"a = {times * 100 + number}\n")
            desk.write(f"src/b{number}.py", f"def b():\n    return {times * 100 + number}\n")
            desk.commit("change")
        folder = tmp_path / str(times)
        folder.mkdir()
        path, calls = calls_of_git(folder, environment)
        status = status_of(desk.elsewhere(desk.repo, PATH=path).project)
        assert status.verdicts["changed"] == times + (3 if times == 12 else 0)
        counts.append(len(calls.read_text().splitlines()))
    assert counts[1] <= counts[0] + 4, counts
