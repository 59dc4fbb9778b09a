"""The merge driver as git runs it: set up by the command, fallen back from, killed, missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from installed import Git, Memory, begins_python

LOG = ".memory/events.jsonl"
SIDECAR = ".memory/memory/notes.json"


@pytest.fixture
def team(memory: Memory, repo: Path, git: Git) -> Memory:
    """A memory that is committed, in a clone that is set up."""
    memory.init()
    run = memory("integrate", "git")
    assert run.code == 0, run.err
    (repo / "list.txt").write_text("one\n")
    (repo / ".gitattributes").write_text("list.txt merge=union\n")
    git.commit("begin")
    return memory


def branches(repo: Path, git: Git, path: str, base: str, ours: str, theirs: str) -> subprocess.CompletedProcess[str]:
    """A file changed on two branches, and the merge of them."""
    target = repo / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(base)
    git.commit("base")
    git("checkout", "--quiet", "-b", "theirs")
    target.write_text(theirs)
    git.commit("theirs")
    git("checkout", "--quiet", "main")
    target.write_text(ours)
    git.commit("ours")
    return merge(repo, git, "merge", "theirs", "-m", "merged")


def merge(repo: Path, git: Git, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = ["git", *arguments]
    return subprocess.run(line, cwd=repo, env=git.env, capture_output=True, text=True, check=False)


def test_what_is_no_layers_is_merged_as_git_does_it(team: Memory, repo: Path, git: Git) -> None:
    done = branches(repo, git, "list.txt", "one\n", "one\ntwo\n", "one\nthree\n")
    assert (done.returncode, (repo / "list.txt").read_text()) == (0, "one\ntwo\nthree\n")
    assert "quire" not in done.stderr


def test_what_no_layer_can_read_is_left_as_git_leaves_it(team: Memory, repo: Path, git: Git) -> None:
    done = branches(repo, git, SIDECAR, '{"a":\n1\n', '{"a":\n2\n', '{"a":\n3\n')
    assert done.returncode == 1
    marked = '{"a":\n<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n'
    assert (repo / SIDECAR).read_text() == marked
    assert git("ls-files", "--unmerged").count(SIDECAR) == 3


def driver_that(repo: Path, git: Git, does: str) -> None:
    """Another program in the place of ours."""
    program = repo.parent / "odd program's" / "quire"
    program.parent.mkdir()
    program.write_text(begins_python() + does)
    program.chmod(0o755)
    line = git("config", "merge.quire.driver").strip()
    before = line.partition("; d ")[2].partition(";")[0]
    quoted = "'" + str(program).replace("'", "'\"'\"'") + "'"
    git("config", "merge.quire.driver", line.replace(f"; d {before};", f"; d {quoted};"))


@pytest.mark.parametrize(
    "does",
    [
        "import os; os.kill(os.getpid(), 9)",
        "import sys; open(sys.argv[3], 'a').close(); sys.exit(1)",
        "raise ImportError('half removed')",
        "import sys; sys.exit(200)",
    ],
    ids=["killed", "failed", "broken", "odd"],
)
def test_a_driver_that_fails_leaves_gits_own_conflict(team: Memory, repo: Path, git: Git, does: str) -> None:
    driver_that(repo, git, does)
    done = branches(repo, git, SIDECAR, "{}\n", '{"a": 1}\n', '{"a": 2}\n')
    assert done.returncode == 1
    assert (repo / SIDECAR).read_text() == '<<<<<<< ours\n{"a": 1}\n=======\n{"a": 2}\n>>>>>>> theirs\n'


KILLED = """
import os, signal, sys
from quire.files import disk
from quire.surfaces.cli import main
left = {}
def before(operation, path):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
disk.before = before
sys.exit(main())
"""


@pytest.mark.parametrize("path", [SIDECAR, "AGENTS.md"])
def test_a_driver_that_dies_at_any_of_its_writes_leaves_the_merge_or_gits_own_conflict(
    team: Memory, repo: Path, git: Git, path: str
) -> None:
    if path == SIDECAR:
        made = {"kind": "gotcha", "title": "Notes", "body": "As it was."}
        team("save", "--stdin", stdin={"task": "note", "nodes": [made]})
        base = (repo / path).read_text()
        versions = base, base.replace('"tags": []', '"tags": ["mine"]'), base.replace('"tags": []', '"tags": ["yours"]')
    else:
        rules = "\n".join(f"Rule {number}." for number in range(3))
        base, ours, theirs = (section(name) + rules for name in ("old", "mine", "yours"))
        versions = base, ours.replace("Rule 1", "Mine"), theirs.replace("Rule 1", "Yours")
    driver_that(repo, git, KILLED.format(99))
    branches(repo, git, path, *versions)
    whole = (repo / path).read_text()
    died = 0
    while "Killed" in (done := again(repo, git, died)).stderr:
        died += 1
        text = (repo / path).read_text()
        assert text == whole if done.returncode == 0 else "<<<<<<< ours\n" in text
        assert git("ls-files", "--unmerged").count(path) == (3 if done.returncode else 0)
        assert "mine" in text.lower()
        assert "yours" in text.lower()
    assert (died > 2, (repo / path).read_text()) == (True, whole)


def again(repo: Path, git: Git, writes: int) -> subprocess.CompletedProcess[str]:
    """The merge once more, with a driver that dies after so many writes."""
    git("reset", "--quiet", "--hard", "ORIG_HEAD")
    shutil.rmtree(repo.parent / "odd program's")
    driver_that(repo, git, KILLED.format(writes))
    return merge(repo, git, "merge", "theirs", "-m", "merged")


def test_without_the_program_git_merges_as_before(team: Memory, repo: Path, git: Git) -> None:
    for name in ("quire", "union"):
        line = git("config", f"merge.{name}.driver").strip()
        gone = line.replace(os.path.dirname(sys.executable), "/nowhere").replace("d quire", "d no-quire")
        git("config", f"merge.{name}.driver", gone)
    done = branches(repo, git, LOG, '{"n":0}\n', '{"n":0}\n{"n":1}\n', '{"n":0}\n{"n":2}\n')
    assert (done.returncode, done.stderr) == (0, "")
    assert (repo / LOG).read_text() == '{"n":0}\n{"n":1}\n{"n":2}\n'


def test_the_settings_go_into_the_clone_and_out_of_it(team: Memory, repo: Path, git: Git) -> None:
    tree = repo.parent / "linked tree"
    git("worktree", "add", "--quiet", "-b", "side", str(tree))
    assert "present     driver" in team("integrate", "git", "--status", cwd=tree).out
    run = team("integrate", "git", "--remove", cwd=tree)
    assert run.out.count("removed     driver") == 2
    assert "kept        rules     .memory/.gitattributes" in run.out
    assert "merge" not in (repo / ".git/config").read_text()
    assert "does not know" in team("doctor").out
    assert "unchanged   rules" in team("integrate", "git", cwd=tree).out
    assert "Git merges the memory by record." in team("doctor").out


def test_another_programs_driver_stays(memory: Memory, repo: Path, git: Git) -> None:
    memory.init()
    git("config", "merge.union.driver", "mine %A")
    run = memory("integrate", "git", "--json")
    parts = {part["path"]: part["status"] for part in run.data["parts"]}
    assert parts[".git/config (merge.union)"] == "kept"
    assert git("config", "merge.union.driver") == "mine %A\n"
    memory("integrate", "git", "--remove")
    assert git("config", "merge.union.driver") == "mine %A\n"


def test_a_session_in_a_clone_without_the_driver_says_so(team: Memory, repo: Path, git: Git) -> None:
    payload = {"session_id": "s1", "cwd": str(repo), "hook_event_name": "SessionStart", "source": "startup"}

    def told(name: str) -> str:
        return team("hook", "claude", "session-start", stdin={**payload, "session_id": name}).out

    assert "memory integrate git" not in told("s1")
    team("integrate", "git", "--remove")
    assert "memory integrate git" in told("s2")
    git("config", "--global", "merge.quire.driver", "quire merge-driver %O %A %B %L %P")
    assert "memory integrate git" not in told("s3")


@pytest.mark.parametrize("words", [["a"], ["a", "b", "c", "many"]])
def test_a_driver_called_by_hand_is_told_what_it_takes(memory: Memory, words: list[Any]) -> None:
    assert memory("merge-driver", *words).code == 2


def test_outside_of_a_repository_the_command_says_so(memory: Memory, repo: Path) -> None:
    memory.init()
    (repo / ".git").rename(repo / "git-away")
    run = memory("integrate", "git")
    assert (run.code, "not in a git repository" in run.err) == (3, True)


def section(text: str) -> str:
    return f"<!-- memory:map:start -->\n{text}\n<!-- memory:map:end -->\n"


def test_a_map_of_both_sides_is_no_conflict_and_what_people_wrote_is_merged(team: Memory, repo: Path, git: Git) -> None:
    rules = "\n".join(f"Rule {number}." for number in range(9))
    base, ours, theirs = (section(name) + rules for name in ("old", "mine", "yours"))
    done = branches(repo, git, "AGENTS.md", base, ours.replace("Rule 1", "My rule"), theirs.replace("Rule 8", "Yours"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (repo / "AGENTS.md").read_text() == section("yours") + rules.replace("Rule 1", "My rule").replace(
        "Rule 8", "Yours"
    )


def test_a_rule_that_both_wrote_is_still_gits_conflict(team: Memory, repo: Path, git: Git) -> None:
    done = branches(
        repo, git, "CLAUDE.md", section("old") + "Rule.", section("mine") + "Mine.", section("yours") + "Yours."
    )
    assert done.returncode == 1
    assert (repo / "CLAUDE.md").read_text().startswith(section("yours") + "<<<<<<< ours\n")


def test_servers_of_both_and_pages_are_merged(team: Memory, repo: Path, git: Git) -> None:
    def servers(**more: str) -> str:
        return json.dumps({"mcpServers": {"a": {"command": "a"}, **{name: {"command": more[name]} for name in more}}})

    done = branches(repo, git, ".mcp.json", servers(), servers(b="b"), servers(c="c"))
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads((repo / ".mcp.json").read_text())["mcpServers"]) == ["a", "b", "c"]
    git("branch", "-D", "theirs")
    done = branches(repo, git, "docs/agent-memory/README.md", "old\n", "mine\n", "yours\n")
    assert (done.returncode, (repo / "docs/agent-memory/README.md").read_text()) == (0, "yours\n")


@pytest.mark.parametrize("held", ["", "*.png binary\n", "*.png binary"])
def test_attributes_of_the_clone_are_as_before_once_it_is_taken_back(
    memory: Memory, repo: Path, git: Git, held: str
) -> None:
    memory.init()
    attributes = repo / ".git/info/attributes"
    attributes.parent.mkdir(exist_ok=True)
    if held:
        attributes.write_text(held)
    memory("integrate", "git", "--dry-run")
    assert (attributes.read_text() if held else attributes.exists()) == (held or False)
    memory("integrate", "git")
    assert git("check-attr", "merge", "AGENTS.md") == "AGENTS.md: merge: quire\n"
    once = attributes.read_text()
    assert "unchanged   paths" in memory("integrate", "git").out
    assert attributes.read_text() == once
    memory("integrate", "git", "--remove")
    assert (attributes.read_text() if held else attributes.exists()) == (held or False)
