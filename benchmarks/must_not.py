"""Records that must not come back, checked on real stores: three products, three projects, written by `Project.save`.

In every round another part of the notes is retired, so that each note is asked for once in each state that it can have.
A note is asked for in its own words, which would find it at once if it were current.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.notes import PRODUCTS, Note, note_set
from quire.files.world import World, real_world
from quire.project import Project
from quire.retrieval.answer import Answer
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.answers import answer_question
from quire.verbs.graph.save import save_nodes

STATES = ("current", "stale", "superseded", "dead")
_ANCHOR = "src/shared/"

__all__ = ["Check", "failures", "run"]


class Check(msgspec.Struct):
    """One promise: how often it was put to the test and how often it held."""

    tried: int = 0
    held: int = 0
    broken: list[str] = []

    def add(self, held: bool, what: str) -> None:
        self.tried += 1
        self.held += held
        if not held:
            self.broken.append(what)


def run() -> dict[str, Any]:
    return {name: msgspec.to_builtins(check) for name, check in _all_checks().items()}


def failures(rounds: int = len(STATES)) -> list[str]:
    """What was broken, in words; empty when every promise held."""
    checks = _all_checks(rounds)
    return [f"{name}: {what}" for name, check in checks.items() for what in check.broken] + [
        f"{name}: never tried" for name, check in checks.items() if not check.tried
    ]


def _all_checks(rounds: int = len(STATES)) -> dict[str, Check]:
    checks: dict[str, Check] = {}
    for turn in range(rounds):
        with _projects(turn) as projects:
            for product, project in projects.items():
                _try(project, product, turn, checks)
    return checks


def _try(project: Project, product: str, turn: int, checks: dict[str, Check]) -> None:
    states = _states(product, turn)
    notes = note_set().of(product)
    retired = {ref for ref, state in states.items() if state != "current"}
    retired |= {_successor(note, 1) for note in notes if states[note.id] == "superseded"}

    def check(name: str, held: bool, note: Note) -> None:
        checks.setdefault(name, Check()).add(held, f"{note.id} in {product}, round {turn}")

    for note in note_set().notes:
        answer = answer_question(project, note.near)
        returned = _returned(answer)
        check("another project's record is never returned", not returned & _others(product), note)
        check("a retired record is never returned, not even as connected", not returned & retired, note)
        if note.product != product:
            continue
        state = states[note.id]
        if state == "current":
            check("a current record is found", note.id in {hit.record.ref for hit in answer.hits}, note)
            continue
        reasons = {item.ref: item.reason for item in answer.withheld}
        check(f"a {state} record is withheld, and the answer says so", note.id in reasons, note)
        if state == "superseded":
            last = _successor(note, 2)
            check("its replacement comes instead, the last of a chain", last in returned, note)
            check("the reason names the replacement", last in reasons.get(note.id, ""), note)
        everything = _returned(answer_question(project, note.near, everything=True))
        check("everything includes it when asked for", note.id in everything, note)
    for kind in ("decision", "gotcha"):
        for note in notes:
            hits = answer_question(project, note.near, kinds=(kind,)).hits
            check("a filter by kind lets no other kind through", all(hit.record.kind == kind for hit in hits), note)
    governing = answer_question(project, "", path=f"{_ANCHOR}main.py", limit=100)
    for note in notes:
        if note.id in retired:
            held = note.id not in _returned(governing)
            check("a retired record does not govern a file", held, note)


@contextlib.contextmanager
def _projects(turn: int) -> Iterator[dict[str, Project]]:
    """The three products in sibling folders, each with its notes, a part of them retired."""
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        world = real_world()
        env = {**os.environ, "MEMORY_HOME": str(Path(folder) / "home"), "HOME": folder}
        projects = {}
        for product in PRODUCTS:
            root = Path(folder) / product
            root.mkdir()
            projects[product] = project = Project.open(str(root), _world(world, str(root), env))
            init_memory(project, guidance=False)
            save_nodes(project, _intent(product, turn))
        yield projects


def _world(world: World, cwd: str, env: dict[str, str]) -> World:
    return msgspec.structs.replace(world, cwd=cwd, env=env)


def _intent(product: str, turn: int) -> dict[str, Any]:
    """All notes, each tied to its neighbours by relations; retired ones also have live neighbours."""
    notes = note_set().of(product)
    states = _states(product, turn)
    nodes = []
    supersede = []
    for number, note in enumerate(notes):
        node = _node(note, states[note.id] == "dead")
        node["related"] = [{"predicate": "affects", "to": notes[(number + 1) % len(notes)].id}]
        nodes.append(node)
        if states[note.id] == "superseded":
            first, last = _successor(note, 1), _successor(note, 2)
            nodes += [_replacement(first, note, "once"), _replacement(last, note, "twice")]
            supersede += [_superseding(note.id, first), _superseding(first, last)]
    stale = [{"id": note.id, "reason": "no longer true"} for note in notes if states[note.id] == "stale"]
    return {"task": "benchmark", "nodes": nodes, "supersede": supersede, "stale": stale}


def _states(product: str, turn: int) -> dict[str, str]:
    """Only features can be dead; what is dead already stays so."""
    states = {}
    for number, note in enumerate(note_set().of(product)):
        state = STATES[(number + turn) % len(STATES)]
        if note.stage == "dead":
            state = "dead"
        elif state == "dead" and note.kind != "feature":
            state = "current"
        states[note.id] = state
    return states


def _node(note: Note, dead: bool) -> dict[str, Any]:
    node: dict[str, Any] = {
        "id": note.id,
        "kind": note.kind,
        "title": note.title,
        "body": note.body,
        "tags": list(note.tags),
        "anchors": [*note.anchors, _ANCHOR],
    }
    if note.stage or dead:
        node["stage"] = "dead" if dead else note.stage
    return node


def _replacement(ref: str, note: Note, how_often: str) -> dict[str, Any]:
    body = f"What holds instead, changed {how_often} since it was first written down."
    return {"id": ref, "kind": note.kind, "title": f"{note.title}, revised {how_often}", "body": body}


def _superseding(old: str, new: str) -> dict[str, str]:
    return {"id": old, "superseded_by": new, "reason": "revised"}


def _successor(note: Note, step: int) -> str:
    return f"{note.id}-revised-{step}"


def _others(product: str) -> set[str]:
    return {note.id for note in note_set().notes if note.product != product}


def _returned(answer: Answer) -> set[str]:
    links = [*answer.connected, *answer.open_questions]
    return {hit.record.ref for hit in answer.hits} | {link.record.ref for link in links}
