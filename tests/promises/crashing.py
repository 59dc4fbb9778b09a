"""Stop the writer at every call of the seam and judge what is left. Run as a script: scenario, way to fail, folder.

The folder is prepared once; for every call it is copied afresh, the operation runs in a forked process that dies (or
is refused) at that call, and the next process opens what it left. What is found wrong is printed as JSON.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from quire.files import World, disk
from quire.model import QuireError
from quire.project import Project

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
LATER = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
KILLED = 137
NEEDS_ROOM = ("create", "append", "make_folder")
MAP = "harbor/AGENTS.md"
STALE_MAP = "the next run left the product map"
Tree = dict[str, bytes]

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


class Scenario(NamedTuple):
    """What is there before, what is done, and whether an interrupted one may leave a part of the store."""

    prepare: Callable[[str], None]
    act: Callable[[Project], object]
    archives: bool = False


# -- the little world in which it happens -------------------------------------------------------------------------


def open_project(space: str, now: datetime = NOW) -> Project:
    home = os.path.join(space, "home")
    env = {"PATH": os.environ["PATH"], "HOME": home, "MEMORY_HOME": f"{home}/registry", "MEMORY_LOCK_TIMEOUT": "5"}
    root = os.path.join(space, "harbor")
    world = World(
        cwd=root, env=env, now=lambda: now, token=lambda: os.urandom(8).hex(), sleep=time.sleep, pid=os.getpid()
    )
    return Project.open(root, world)


def git(space: str, *arguments: str) -> None:
    home = os.path.join(space, "home")
    env = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=Tess", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    line = ["git", *identity, "-c", "init.defaultBranch=main", *arguments]
    subprocess.run(line, cwd=os.path.join(space, "harbor"), env=env, check=True, capture_output=True)


def empty(space: str) -> None:
    """A repository with files of the user's, before there is a memory."""
    for name in ("harbor/src", "home"):
        os.makedirs(os.path.join(space, name))
    for name, data in {"AGENTS.md": b"# Rules\r\n\r\nBe kind.\r\n", ".gitignore": b"*.log", "src/a.py": b"1\n"}.items():
        with open(os.path.join(space, "harbor", name), "wb") as file:
            file.write(data)
    git(space, "init", "--quiet", "--template=")


def filled(space: str) -> None:
    """A committed memory with five nodes, one of them edited by hand since."""
    empty(space)
    open_project(space).init()
    open_project(space).save(FIRST)
    git(space, "add", "--all")
    git(space, "commit", "--quiet", "--message", "memory")
    with open(os.path.join(space, "harbor/.memory/memory/retry-queue.md"), "w", encoding="utf-8") as file:
        file.write("Edited by hand, not committed.")
    open_project(space).status()


def broken_schema(space: str) -> None:
    filled(space)
    with open(os.path.join(space, "harbor/.memory/schema/event.schema.json"), "w", encoding="utf-8") as file:
        file.write("{")


SCENARIOS: dict[str, Scenario] = {
    "init": Scenario(empty, lambda project: project.init()),
    "create": Scenario(filled, lambda project: project.save(CREATE)),
    "change": Scenario(filled, lambda project: project.save(CHANGE)),
    "repair": Scenario(broken_schema, lambda project: project.init()),
    "reset": Scenario(filled, lambda project: project.reset(), archives=True),
    "destroy": Scenario(filled, lambda project: project.reset(destroy=True)),
    "force": Scenario(filled, lambda project: project.init(force=True), archives=True),
}


# -- looking ------------------------------------------------------------------------------------------------------


def read_space(space: str) -> Tree:
    """Every file that matters: not git's own, not the index, not what is kept aside, not the lock."""
    found: Tree = {}
    for folder, folders, files in os.walk(space):
        folders[:] = [name for name in folders if name not in (".git", "index", "recovery", ".backup")]
        for name in files:
            if not name.endswith((".lock", ".tmp")):
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.relpath(os.path.join(folder, name), space)] = file.read()
    return found


def leftovers(space: str, *, after_a_write: bool) -> list[str]:
    """What a dead writer should not leave once the next command has run."""
    found = []
    for folder, folders, files in os.walk(space):
        folders[:] = [name for name in folders if name != ".git"]
        found += [os.path.join(folder, name) for name in folders if name.startswith("transaction-")]
        if after_a_write:
            found += [os.path.join(folder, name) for name in files if name.endswith((".tmp", ".lock"))]
    return [os.path.relpath(path, space) for path in found]


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


# -- judging ------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    name: str
    scenario: Scenario
    template: str
    space: str
    before: Tree
    after: Tree
    warnings: list[str]

    def restore(self) -> None:
        shutil.rmtree(self.space, ignore_errors=True)
        shutil.copytree(self.template, self.space, symlinks=True)

    def act(self) -> object:
        return self.scenario.act(open_project(self.space, LATER))

    def judge(self) -> Iterator[str]:
        """Everything that is wrong after an interrupted run: first as a reader finds it, then after one more run."""
        if not self.scenario.archives and self.name != "destroy":
            yield from self.all_or_nothing()
        elif self.scenario.archives:
            yield from self.nothing_lost()
        try:
            self.act()
        except Exception as error:
            yield f"the next run failed: {error!r}"
            return
        now = read_space(self.space)
        for name in differing(now, self.after):
            yield f"{STALE_MAP if name == MAP else 'the next run left'} `{name}` different"
        yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=True))
        if self.scenario.archives:
            yield from self.nothing_lost()
        yield from self.unsound(expected=self.warnings)

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

    def nothing_lost(self) -> Iterator[str]:
        now, kept = read_space(self.space), archived(self.space)
        for name, data in store_of(self.before).items():
            if now.get(name) != data and (name, data) not in kept:
                yield f"`{name}` is neither in its place nor in an archive"

    def unsound(self, expected: list[str] | None = None) -> Iterator[str]:
        """Errors that `check` finds; after the last run also warnings that an unharmed run does not leave."""
        if not store_of(read_space(self.space)):
            return
        found = open_project(self.space, LATER).check()
        yield from (f"check: {problem.code} {problem.path}: {problem.message}" for problem in found.errors)
        for problem in found.warnings if expected is not None else ():
            if problem.code not in (*(expected or ()), "ProductMapStale"):
                yield f"check: {problem.code} {problem.path}: {problem.message}"


def differing(one: Tree, other: Tree) -> list[str]:
    return sorted(name for name in {**one, **other} if one.get(name) != other.get(name))


def prepare(name: str, folder: str) -> tuple[Case, list[tuple[str, str]]]:
    """The scenario made ready, and the calls that an unharmed run of it makes."""
    scenario = SCENARIOS[name]
    template, space = os.path.join(folder, "template"), os.path.join(folder, "space")
    # Prepared where it will run, because the registry and the archives speak of paths.
    os.makedirs(space)
    scenario.prepare(space)
    shutil.copytree(space, template, symlinks=True)
    before = read_space(space)
    calls: list[tuple[str, str]] = []
    disk.before = lambda operation, path: calls.append((operation, os.path.relpath(path, space)))
    scenario.act(open_project(space, LATER))
    disk.before = nothing
    after = read_space(space)
    found = open_project(space, LATER).check().warnings if store_of(after) else []
    warnings = [problem.code for problem in found]
    assert "ProductMapStale" not in warnings
    return Case(name, scenario, template, space, before, after, warnings), calls


def nothing(_operation: str, _path: str) -> None:
    """The world goes on."""


# -- failing ------------------------------------------------------------------------------------------------------


def die_at(number: int, *, torn: bool) -> Callable[[str, str], None]:
    """The process ends at this call; torn, half of what it had just written does not reach the disk."""
    count = 0
    sizes: dict[str, int] = {}

    def before(operation: str, path: str) -> None:
        nonlocal count
        if operation == "append":
            sizes[path] = os.path.getsize(path) if os.path.exists(path) else 0
        if count == number:
            if torn and operation == "fsync":
                begin = sizes.get(path, 0)
                os.truncate(path, begin + (os.path.getsize(path) - begin) // 2)
            os._exit(KILLED)
        count += 1

    return before


def refuse_at(number: int, code: int, *, for_good: bool) -> Callable[[str, str], None]:
    """The disk refuses this call; for good, also every later one that needs what is missing."""
    count = -1

    def before(operation: str, path: str) -> None:
        nonlocal count
        count += 1
        concerned = code != errno.ENOSPC or operation in NEEDS_ROOM
        if count == number or (for_good and count > number and concerned):
            raise OSError(code, os.strerror(code), path)

    return before


def killed(case: Case, number: int, *, torn: bool) -> bool:
    """Run the operation in a process of its own that dies at this call; whether it did."""
    child = os.fork()
    if child == 0:
        disk.before = die_at(number, torn=torn)
        try:
            case.act()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"call {number}: {error!r}\n".encode())
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED), f"the run itself failed: {code}"
    return code == KILLED


def refused(case: Case, number: int, code: int, *, for_good: bool) -> Iterator[str]:
    """Run the operation on a disk that refuses this call; what is wrong with how it ends."""
    disk.before = refuse_at(number, code, for_good=for_good)
    try:
        case.act()
    except QuireError as error:
        if not error.hint:
            yield f"no hint: {error.message}"
        completed_later = "could not be completed" in error.message
    except Exception as error:
        yield f"not a typed error: {error!r}"
        return
    else:
        return
    finally:
        disk.before = nothing
    if case.scenario.archives or case.name == "destroy":
        return
    if not completed_later and not for_good:
        now = store_of(read_space(case.space))
        yield from (f"refused, yet `{name}` changed" for name in differing(now, store_of(case.before)))
        yield from (f"left behind: {name}" for name in leftovers(case.space, after_a_write=True))


def explore(name: str, way: str, folder: str) -> dict[str, Any]:
    """Every point of one scenario, failed in one way."""
    case, calls = prepare(name, folder)
    violations: list[str] = []
    points = 0
    codes = (errno.ENOSPC, errno.EIO, errno.EROFS)
    for number in range(len(calls) + 1):
        operation, path = calls[number] if number < len(calls) else ("none", "")
        if way == "torn" and operation != "fsync":
            continue
        case.restore()
        found: list[str] = []
        if way in ("kill", "torn"):
            died = killed(case, number, torn=way == "torn")
            assert died == (number < len(calls)), "a run makes the same calls every time"
            points += died
        else:
            code = codes[number % 3] if way == "refuse" else errno.ENOSPC if way == "full" else errno.EROFS
            found += refused(case, number, code, for_good=way != "refuse")
            points += 1
        found += case.judge()
        violations += [f"call {number}, {operation} {path}: {text}" for text in found]
    stale = [text for text in violations if STALE_MAP in text]
    others = [text for text in violations if STALE_MAP not in text]
    return {"calls": len(calls), "points": points, "violations": others, "stale_maps": stale}


if __name__ == "__main__":
    print(json.dumps(explore(*sys.argv[1:4])))
