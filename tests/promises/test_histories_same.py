"""Several at one record of the facts and of the profile, the same thing said twice, and two worktrees at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from promised import proves, tally
from quire.model.errors import InputError, NotFound
from quire.project import Project
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.store import Store, store
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from thorough import either

# Each process works on one record as soon as all of them are there, and tells what came of each try.
AT_ONE = """
import json, os, sys, time
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.profile.restore import ForgetEntry, forget_entry
from quire.verbs.profile.remember import RememberEntry, remember_entry
what, root, number, times = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
project = Project.open(root)
print("ready", flush=True)
sys.stdin.readline()
for turn in range(times):
    word = f"w{number:02}n{turn:04}"
    try:
        if what == "facts":
            (head,) = list_facts(project, ListFacts()).results
            done = supersede(project, Supersede(fact_id=head.id, content=f"{word} holds now."))
            print(json.dumps(["ok", done.old.content, done.new.content]))
        elif what == "tags":
            done = remember_entry(project, RememberEntry(category="tools", key="one", tags=[word]))
            print(json.dumps(["ok", done.action, word]))
        else:
            forget_entry(project, ForgetEntry(category="tools", key=f"key_{turn}"))
            print(json.dumps(["ok", "", f"key_{turn}"]))
    except QuireError as error:
        print(json.dumps([error.code, "", error.message]))
"""


def at_one(what: str, project: Project, env: dict[str, str], processes: int, times: int) -> list[list[str]]:
    """What each of them was told."""
    surroundings = {**env, "MEMORY_LOCK_TIMEOUT": "100"}
    line = [sys.executable, "-c", AT_ONE, what, project.root]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    crowd = [
        subprocess.Popen([*line, str(number), str(times)], env=surroundings, text=True, **pipes)  # type: ignore[call-overload]
        for number in range(processes)
    ]
    for process in crowd:
        assert process.stdout.readline() == "ready\n"
    for process in crowd:
        process.stdin.write("\n")
        process.stdin.flush()
    said = []
    for process in crowd:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        said += [json.loads(one) for one in out.splitlines()]
    assert len(said) == processes * times
    tally("P3.2", processes=processes, inputs=len(said))
    return said


@pytest.mark.proof
@proves("P3.2", "B2", over="facts")
def test_facts_that_supersede_each_other_are_a_chain(project: Project, environment: dict[str, str]) -> None:
    store(project, Store(section="Specs", content="The first one holds."))
    said = at_one("facts", project, environment, either(5, 16), either(4, 20))
    done = [item for item in said if item[0] == "ok"]
    follows = {old: new for _, old, new in done}
    assert len(follows) == len(done), "two replaced the same"
    here = "The first one holds."
    for _ in done:
        here = follows[here]
    assert [view.content for view in list_facts(project, ListFacts()).results] == [here]
    lost = Counter(code for code, _, _ in said if code != "ok")
    assert set(lost) <= {InputError.code}
    assert lost.total() == len(said) - len(done)


@proves("P3.2", "B2", over="profile")
def test_changes_of_one_entry_are_all_in_it(project: Project, environment: dict[str, str]) -> None:
    remember_entry(project, RememberEntry(category="tools", key="one", value="Lighthouses are tall."))
    said = at_one("tags", project, environment, either(4, 16), either(3, 3))
    assert Counter(code for code, _, _ in said) == {"ok": len(said)}
    (entry,) = recall_entries(project, RecallEntries(category="tools", key="one"), note=False).results
    assert sorted(entry.tags) == sorted(word for _, _, word in said)


@proves("P3.2", "B2", over="profile")
def test_an_entry_is_forgotten_by_one_and_the_others_are_told(project: Project, environment: dict[str, str]) -> None:
    keys = [f"key_{number}" for number in range(either(3, 10))]
    for number, key in enumerate(keys):
        remember_entry(
            project, RememberEntry(category="tools", key=key, value=f"Thing {number} is of its own kind.", force=True)
        )
    said = at_one("forget", project, environment, either(4, 16), len(keys))
    assert sorted(key for code, _, key in said if code == "ok") == sorted(keys)
    assert {code for code, _, _ in said} == {"ok", NotFound.code}


@proves("P3.1", "B9", over="facts")
def test_the_same_fact_of_two_agents_is_kept_once_and_a_like_one_is_told_of(project: Project) -> None:
    text = "The queue drops jobs when the worker restarts in the night."
    first = store(project, Store(section="Specs", content=text, session="a"))
    again = store(project, Store(section="Specs", content=text, session="b"))
    assert (first.action, again.action, again.fact.id) == ("stored", "reinforced", first.fact.id)
    like = store(
        project,
        Store(section="Specs", content="The queue drops jobs when the worker restarts in the nights.", session="b"),
    )
    assert like.fact.id != first.fact.id
    assert [warning.code for warning in like.warnings] == ["SaysNearlyTheSame"]
    assert len(list_facts(project, ListFacts()).results) == 2


@pytest.mark.proof
@proves("P3.1", "B5", over="graph facts")
@proves("P6.1", "B5", over="graph facts")
def test_two_worktrees_that_save_at_once_are_merged_without_a_conflict(
    memory: Any, git: Any, repo: Path, tmp_path: Path
) -> None:
    memory.init()
    memory("facts", "store", "Specs", "Both of them know this.")
    git.commit()
    other = tmp_path / "linked"
    git("worktree", "add", "--quiet", "-b", "side", other)
    running = []
    for folder in (repo, other):
        for number in range(2):
            running.append(memory.start("facts", "store", "Specs", f"{folder.name} found thing {number}.", cwd=folder))
            saving = memory.start("save", "--stdin", cwd=folder)
            node = {"kind": "gotcha", "title": f"Of {folder.name} {number}", "body": "B."}
            saving.stdin.write(json.dumps({"task": "t", "nodes": [node]}).encode())
            saving.stdin.close()
            saving.stdin = None
            running.append(saving)
    for process in running:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    for folder in (repo, other):
        assert memory("check", "--json", cwd=folder).data["errors"] == []
        git("add", "--all", cwd=folder)
        git("commit", "--quiet", "-m", "saves", cwd=folder)
    git("merge", "--quiet", "--no-edit", "side")
    project = memory("check", "--json").data
    assert project["errors"] == []
    facts = [json.loads(line) for line in (repo / ".memory/facts.jsonl").read_bytes().splitlines()]
    assert len(facts) == len({line["id"] for line in facts}) == 1 + 4
    assert len(list((repo / ".memory/memory").glob("of-*.json"))) == 4
    tally("P3.1", processes=8, inputs=8)
