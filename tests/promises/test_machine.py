"""Verbs of all layers in any order, with git, accidents and crashes between them, do what a simple model says.

A run that fails is cut down and told as a script of calls. `QUIRE_MACHINE_SEED` and `QUIRE_MACHINE_RUNS` choose others.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from machine_driving import Failure, drive, fail, hold_against_fresh, plan, shrink, story
from machine_git import merging
from machine_reading import READS
from machine_records import RULES
from machine_run import Deed, Run, Step
from machine_verbs import verb_module, verbs

from promised import proves, tally
from quire.layers.facts import source as fact_source
from quire.project import Project
from thorough import LONG, either

HERE = Path(__file__).parent
FIRST = int(os.environ.get("QUIRE_MACHINE_SEED", "0"))
RUNS = int(os.environ.get("QUIRE_MACHINE_RUNS", either("8", "150")))
STEPS = either(20, 60)
LEFT_OUT = {
    **dict.fromkeys(
        ("journal.automate_process", *(f"journal_automate_{what}" for what in ("daemon", "ensure_running", "start"))),
        "starts, is or ends a process of its own; its own tests do",
    ),
    **dict.fromkeys(
        ("journal_automate_run_once", "memory_assess", "memory_compact_handoff", "memory_maintain"),
        "is a sync and a recall, which are called here; its own tests do",
    ),
    "add": "is `save`, `facts store` or `profile remember`; its own tests do",
    "journal_init": "is a part of `init`",
    "answer_question": "is what `query` calls",
    "perform": "calls what the page can do, each of which is called here by its own name",
    "integrate_git": "is `integrate git`, which writes to the configuration of a clone; its own tests do",
    "read_history_now": "is `import git` as the first run on a terminal calls it",
    "lacks_git_setup": "is what the first run asks before it offers `integrate git`",
    "waiting": "is how many proposals `inbox` lists",
    "merge": "compares with another revision; random histories of branches merge",
    "resolve": "settles what branches disagree on; its own tests and histories of branches do",
    "propose_record": "is `inbox_add` by an agent; its own tests do",
    "make_memory": "is `init` without agents and imports, as the first run on a terminal calls it",
    "purge": "takes texts out of every file, also those that git has; its own tests do",
    "read_journal": "is how every verb of the journal begins",
    "reset": "removes what all other steps stand on; its own tests do",
    "roots_to_reset": "is what `reset` shows before it asks",
    "search_page": "is `query` with the parts of the scores; the page's own tests ask it",
    "succeeded": "puts the envelope around what a verb gave",
}


def named_here() -> set[str]:
    """Every text that stands in the modules of the machine."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("machine_*.py"))]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@proves("P3.4")
def test_no_verb_is_forgotten() -> None:
    known = set(verbs())
    assert known - named_here() - set(LEFT_OUT) == set()
    assert set(LEFT_OUT) - known == set()


@pytest.mark.proof(keep=1)
@proves("P3.4")
@proves("P2.1")
@proves("P4.2")
@proves("P6.4")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + RUNS))
def test_verbs_in_any_order_do_what_the_model_says(seed: int) -> None:
    steps = plan(seed, STEPS)
    try:
        run = drive(steps, guided=seed % 4 == 0)
    except Failure as failure:
        _, least = shrink(steps, failure, guided=seed % 4 == 0)
        pytest.fail(story(least), pytrace=False)
    tally("P3.4", states=run.steps, inputs=run.steps)
    tally("P2.1", faults=run.crashes + run.refusals, processes=run.crashes)
    tally("P4.2", states=run.compared)


# -- what git does ----------------------------------------------------------------------------

BEGUN: list[Step] = [("save_new", 1), ("store", 2), ("remember", 3), ("journal_source", 4), ("session_told", 5)]
THEIRS: list[Step] = [("save_change", 1), ("supersede", 2), ("remember", 6), ("save_new", 7), ("journal_sync", 8)]
OURS: list[Step] = [("save_new", 9), ("store", 10)]


def done(run: Run, steps: list[Step]) -> None:
    for name, seed in steps:
        deed = RULES[name][0](run, Random(seed))
        assert deed is not None, name
        run.perform(deed, Random(seed))


def calm(test: Callable[[Run], None]) -> None:
    """A run with something in every layer, and nothing in its way."""
    run = Run(faults=False)
    try:
        done(run, [*BEGUN, ("git_commit", 0)])
        test(run)
        hold_against_fresh(run)
        for name in ("status", "check", "memory_facts", "profile_recall", "journal_status", "pages"):
            READS[name](run, run.project(2), Random(0))
    finally:
        run.close()


@pytest.mark.proof
@proves("P6.4", "E7", over="graph facts profile journal")
@proves("P6.1")
@pytest.mark.parametrize("way", ["merge", "rebase", "squash", "cherry-pick"])
def test_branches_that_are_joined_in_any_way_are_the_union(way: str) -> None:
    calm(lambda run: run.perform(merging(run, way, THEIRS, OURS), Random(0)))


@pytest.mark.proof
@proves("P6.4", "E7", over="graph facts profile journal")
def test_a_revert_takes_back_what_a_commit_brought() -> None:
    calm(lambda run: done(run, [*THEIRS, ("git_commit", 0), ("git_revert", 1), *OURS, ("git_revert", 2)]))


@pytest.mark.proof
@proves("P6.4", "E10")
@pytest.mark.parametrize("what", ["git_stash", "git_reset", "git_switch", "git_clean"])
def test_answers_follow_the_files_whoever_moves_them(what: str) -> None:
    """Asked of projects that are held on to, and of one that keeps what it saw, as a server does."""
    calm(lambda run: done(run, [*THEIRS, (what, 1), *OURS, (what, 2), ("store", 11)]))


# -- the machine itself -----------------------------------------------------------------------


def told(steps: list[Step]) -> tuple[list[Step], str]:
    failure = fail(steps, faults=False)
    assert failure is not None, "nobody noticed"
    least, failure = shrink(steps, failure, faults=False, seconds=either(20.0, 120.0))
    return least, story(failure)


@pytest.mark.proof
@proves("P3.4")
def test_a_verb_that_does_nothing_is_told_in_a_short_script(monkeypatch: pytest.MonkeyPatch) -> None:
    where = verb_module("memory_archive")
    usual = where.archive

    def lazy(project: Project, given: Any) -> Any:
        return usual(project, msgspec.structs.replace(given, dry_run=True))

    monkeypatch.setattr(where, "archive", lazy)
    least, script = told([("note", 1), ("store", 2), ("remember", 3), ("archive", 4), ("note", 5)])
    assert [name for name, _ in least] == ["store", "archive"]
    assert "project.memory_archive(" in script
    assert "told Fact(section=" in script


@proves("P3.4")
def test_an_index_that_does_not_look_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = fact_source.stamp_now
    monkeypatch.setattr(fact_source, "stamp_now", lambda root: "the same" if usual(root) else "")
    least, _ = told([("note", 1), ("store", 2), ("remember", 3)])
    assert [name for name, _ in least] == ["store"]


@proves("P3.4")
def test_a_question_that_writes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    where = verb_module("memory_facts")
    usual = where.overview

    def busy(project: Project, given: Any) -> Any:
        (Path(project.root) / "AGENTS.md").write_text("I was here.\n")
        return usual(project, given)

    monkeypatch.setattr(where, "overview", busy)
    monkeypatch.setattr("machine_driving.READS", {name: READS[name] for name in ("memory_facts", "memory_query")})
    _, script = told([("note", 1)])
    assert "memory_facts changed ['AGENTS.md']" in script


@proves("P3.4")
def test_half_of_a_change_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A save that is two: killed in between, it leaves what is neither."""
    usual = verb_module("save").save

    def twice(project: Project, given: Any) -> Any:
        intent = given.intent
        for number in range(len(intent["nodes"])):
            part = {**intent, "nodes": intent["nodes"][number : number + 1]}
            done = usual(project, msgspec.structs.replace(given, intent=part))
        return done

    monkeypatch.setattr(verb_module("save"), "save", twice)
    run = Run()
    try:
        node = RULES["save_new"][0]
        seed = next(seed for seed in range(99) if len(node(run, Random(seed)).args[0]["nodes"]) == 3)  # type: ignore[union-attr]
        deed = node(run, Random(seed))
        assert isinstance(deed, Deed)
        seen = []
        for number in range(0, 60, 3):
            run.crash(deed, number, 0)
            try:
                run.model = run.which(run.model, deed.after or run.model)
            except AssertionError as error:
                seen.append(str(error))
                break
        assert seen
        assert "none of what it may be" in seen[0]
    finally:
        run.close()


@proves("P3.4")
@pytest.mark.skipif(not LONG, reason="takes as many runs as it takes until every verb was used")
def test_every_verb_is_used() -> None:
    unused = set(verbs()) - set(LEFT_OUT)
    for seed in range(100, 220):
        unused -= drive(plan(seed, STEPS), guided=seed % 2 == 0).called
        if not unused:
            break
    assert unused == set()
