"""The graph under trial: a writer stopped at every call. Run as a script; `trials.py` says what it can be asked for."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from crash_space import LATER, NOW, Tree, differing, empty, git, leftovers, open_project, read_space, write
from trials import Prepared, tell

from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.reset import reset_project
from quire.verbs.ask.status import status
from quire.verbs.graph.confirm import confirm_nodes
from quire.verbs.graph.save import save_nodes
from quire.verbs.graph.sync import Sync, sync

__all__ = ["SCENARIOS", "Trial", "begin", "differing", "filled", "read_space"]

MAP = "harbor/AGENTS.md"
BESIDE = ("ProductMap", "MemoryNotIgnored")
"""Findings about what is written on the way: the next command sees to it."""
FIRST: dict[str, Any] = {
    "task": "first indexing",
    "nodes": [
        {"kind": "feature", "title": "Worker", "body": "Runs what must not block.", "anchors": ["src/"]},
        {"kind": "feature", "title": "Retry queue", "body": "Sends again.\n\nWith pauses.", "stage": "building"},
        {"kind": "decision", "title": "Retries run inline", "body": "Simple for now."},
        {"kind": "gotcha", "title": "Clock drift", "body": "The worker's clock is late."},
        {"kind": "question", "title": "Who pays", "body": "Open."},
    ],
}
CREATE: dict[str, Any] = {
    "task": "grow",
    "nodes": [
        {
            "kind": "feature",
            "title": "Webhook intake",
            "body": "Receives webhooks.",
            "tags": ["billing"],
            "related": [{"predicate": "depends_on", "to": "feature.worker", "confidence": "high"}],
        },
        {"kind": "gotcha", "title": "Worker", "body": "Shares its slug with a feature."},
    ],
}
CHANGE: dict[str, Any] = {
    "task": "change everything at once",
    "nodes": [
        {"id": "feature.retry-queue", "body": "Sends again, from the worker.", "stage": "shipped"},
        {"kind": "decision", "title": "Retries run in the worker", "body": "The web process must answer."},
    ],
    "stale": [{"id": "gotcha.clock-drift", "reason": "fixed"}],
    "supersede": [
        {
            "id": "decision.retries-run-inline",
            "superseded_by": "decision.retries-run-in-the-worker",
            "reason": "moved",
        }
    ],
    "delete": [{"id": "question.who-pays", "reason": "answered"}],
}


SMALL: dict[str, Any] = {
    "task": "one changed, one gone",
    "nodes": [{"id": "feature.worker", "body": "Runs what must not block a request."}],
    "delete": [{"id": "question.who-pays", "reason": "answered"}],
}

REPLACE: dict[str, Any] = {"task": "moved", "nodes": CHANGE["nodes"][1:], "supersede": CHANGE["supersede"]}
DELETE: dict[str, Any] = {"task": "answered", "delete": CHANGE["delete"]}


class Scenario(NamedTuple):
    """What is there before, what is done, and what is done next (the same again, unless another step is named)."""

    prepare: Callable[[str], None]
    act: Callable[[Project], object]
    archives: bool = False
    """Whether an interrupted run may leave a part of the store in its place and the rest in an archive."""
    next: Callable[[Project], object] | None = None
    maps: bool = False
    """Whether the next run brings the product map up to date, too: where it has something to do, or looks at it."""


# -- what is there before -----------------------------------------------------------------------------------------


def filled(space: str) -> None:
    """A committed memory with five nodes, one of them edited by hand since."""
    empty(space)
    init_memory(open_project(space, NOW, "a"))
    save_nodes(open_project(space, NOW, "a1"), FIRST)
    git(space, "add", "--all")
    git(space, "commit", "--quiet", "--message", "memory")
    write(space, "harbor/.memory/memory/retry-queue.md", b"Edited by hand, not committed.")
    status(open_project(space, NOW, "a2"))


def plain(space: str) -> None:
    """A memory outside git."""
    empty(space)
    shutil.rmtree(os.path.join(space, "harbor/.git"))
    init_memory(open_project(space, NOW, "a"))
    save_nodes(open_project(space, NOW, "a1"), FIRST)


def broken_schema(space: str) -> None:
    filled(space)
    write(space, "harbor/.memory/schema/event.schema.json", b"{")


def changed(space: str) -> None:
    """A memory whose code changed since; a body that was edited by hand makes the map outdated, too."""
    filled(space)
    write(space, "harbor/src/a.py", b"2\n")
    git(space, "add", "src")
    git(space, "commit", "--quiet", "--message", "code")


def synced(space: str) -> None:
    """The same, with a marker of an earlier sync."""
    filled(space)
    sync(open_project(space, NOW, "a3"), Sync())
    write(space, "harbor/.memory/memory/worker.md", b"Edited by hand once more.")
    write(space, "harbor/src/a.py", b"2\n")
    git(space, "add", "src")
    git(space, "commit", "--quiet", "--message", "code")


SCENARIOS: dict[str, Scenario] = {
    "init": Scenario(empty, lambda project: init_memory(project)),
    "create": Scenario(filled, lambda project: save_nodes(project, CREATE)),
    "change": Scenario(filled, lambda project: save_nodes(project, CHANGE)),
    "small": Scenario(filled, lambda project: save_nodes(project, SMALL), maps=True),
    "supersede": Scenario(filled, lambda project: save_nodes(project, REPLACE)),
    "delete": Scenario(filled, lambda project: save_nodes(project, DELETE)),
    "repair": Scenario(broken_schema, lambda project: init_memory(project)),
    "reset": Scenario(plain, lambda project: reset_project(project), archives=True),
    "destroy": Scenario(plain, lambda project: reset_project(project, destroy=True)),
    "force": Scenario(plain, lambda project: init_memory(project, force=True), archives=True),
    "begin anew": Scenario(
        plain, lambda project: reset_project(project), archives=True, next=lambda project: init_memory(project)
    ),
    "first sync": Scenario(changed, lambda project: sync(project, Sync()), maps=True),
    "sync": Scenario(synced, lambda project: sync(project, Sync()), maps=True),
    "confirm": Scenario(
        changed,
        lambda project: confirm_nodes(project, ["feature.worker"], reason="read it after the change"),
        maps=True,
    ),
}


# -- looking ------------------------------------------------------------------------------------------------------


def archived(space: str) -> set[tuple[str, bytes]]:
    """The files in the archives, by name and bytes."""
    found: set[tuple[str, bytes]] = set()
    folder = os.path.join(space, "harbor/.memory/.backup")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".tar.gz"):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
                for member in tar.getmembers():
                    content = tar.extractfile(member)
                    if content is not None:
                        found.add((f"harbor/{member.name}", content.read()))
    return found


def store_of(tree: Tree) -> Tree:
    return {name: data for name, data in tree.items() if name.startswith("harbor/.memory/")}


def nodes_of(tree: Tree) -> set[str]:
    return {name for name in tree if name.startswith("harbor/.memory/memory/")}


def findings(space: str) -> list[str]:
    """What `check` says of the memory itself."""
    found = check_files(open_project(space, LATER, "f"))
    problems = [problem for problem in [*found.errors, *found.warnings] if not problem.code.startswith(BESIDE)]
    return [f"{problem.code} {problem.path}: {problem.message}" for problem in problems]


# -- judging ------------------------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    name: str
    scenario: Scenario
    prepared: Prepared
    before: Tree
    after: Tree
    known: list[str]

    @property
    def turns(self) -> int:
        return 1

    @property
    def space(self) -> str:
        return self.prepared.space

    def act(self) -> object:
        return self.scenario.act(open_project(self.space, LATER, "b"))

    def judge(self, _number: int, *, cut: bool = False) -> Iterator[str]:
        """Everything that is wrong after an interrupted run: first as a reader finds it, then after one more run."""
        with contextlib.suppress(QuireError):
            status(open_project(self.space, LATER, "c"))
        if not self.scenario.archives and self.name != "destroy":
            yield from self.all_or_nothing()
        elif self.scenario.archives:
            yield from self.nothing_lost()
        try:
            (self.scenario.next or self.scenario.act)(open_project(self.space, LATER, "d"))
        except Exception as error:
            yield f"the next run failed: {error!r}"
            return
        if self.scenario.next:
            yield from self.mixed()
            return
        maps = self.scenario.maps and not cut
        for name in differing(read_space(self.space), self.after):
            if name != MAP or maps:
                yield f"the next run left `{name}` different"
        for name in leftovers(self.space, after_a_write=True):
            if not name.startswith("harbor/.quire-") or maps:
                yield f"left behind: {name}"
        if self.scenario.archives:
            yield from self.nothing_lost()

    def all_or_nothing(self) -> Iterator[str]:
        yield from self.unsound()
        now = read_space(self.space)
        store = store_of(now)
        if store not in (store_of(self.before), store_of(self.after)):
            ours = "old" if len(differing(store, store_of(self.before))) < 3 else "new"
            names = differing(store, store_of(self.before if ours == "old" else self.after))
            yield f"half of the change is there; not as {ours}: {names}"
        for name in {**now, **self.before, **self.after}:
            if now.get(name) not in (self.before.get(name), self.after.get(name)):
                yield f"`{name}` is neither old nor new"
        yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=False))

    def mixed(self) -> Iterator[str]:
        """Whether a part of the old memory and a part of the new one lie side by side."""
        now = nodes_of(read_space(self.space))
        if now not in (nodes_of(self.before), nodes_of(self.after)):
            yield f"a part of the old memory is there: {sorted(now)}"

    def nothing_lost(self) -> Iterator[str]:
        now, kept = read_space(self.space), archived(self.space)
        for name, data in store_of(self.before).items():
            if now.get(name) != data and (name, data) not in kept:
                yield f"`{name}` is neither in its place nor in an archive"

    def unsound(self) -> Iterator[str]:
        """What `check` finds that it finds neither before nor after an unharmed run."""
        if "harbor/.memory/config.json" in read_space(self.space):
            yield from (f"check: {text}" for text in findings(self.space) if text not in self.known)

    def lost(self) -> Iterator[str]:
        """What is not there for the first reader although it was acknowledged."""
        status(open_project(self.space, LATER, "c"))
        if store_of(read_space(self.space)) != store_of(self.after):
            yield f"acknowledged and lost: {differing(store_of(read_space(self.space)), store_of(self.after))}"

    def refusal(self, said: str, *, for_good: bool) -> Iterator[str]:
        """What is wrong with how an operation ended that the disk refused a call."""
        if said == "done":
            now = store_of(read_space(self.space))
            if not (self.scenario.archives or self.name == "destroy") and now != store_of(self.after):
                yield f"acknowledged, and not there: {differing(now, store_of(self.after))}"
            return
        if "KeyboardInterrupt" in said:
            yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=True))
            return
        code, message, hint = said.split("|", 2)
        if code == "untyped" or not hint:
            yield f"not an error that a person can act on: {said}"
        stays = not (self.scenario.archives or self.name == "destroy" or "could not be completed" in message)
        if stays and not for_good:
            now = store_of(read_space(self.space))
            # A memory that came to be before its guidance could be written is there and whole.
            if now != store_of(self.after):
                yield from (f"refused, yet `{name}` changed" for name in differing(now, store_of(self.before)))
            yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=True))


def begin(name: str, prepared: Prepared) -> Trial:
    """The scenario made ready by an unharmed run."""
    scenario, space = SCENARIOS[name], prepared.space
    prepared.restore()
    before = read_space(space)
    known = findings(space) if store_of(before) else []
    # The unharmed run, too, begins with a copy that nobody has looked at.
    prepared.restore()
    scenario.act(open_project(space, LATER, "b"))
    if scenario.next:
        scenario.next(open_project(space, LATER, "d"))
    after = read_space(space)
    assert differing(before, after), "an unharmed run changes something"
    if store_of(after):
        codes = {problem.code for problem in check_files(open_project(space, LATER, "f")).warnings}
        assert "ProductMapStale" not in codes, "an unharmed run leaves the map as it should be"
        known += findings(space)
    return Trial(name, scenario, prepared, before, after, known)


if __name__ == "__main__":
    tell(begin, {name: scenario.prepare for name, scenario in SCENARIOS.items()})
