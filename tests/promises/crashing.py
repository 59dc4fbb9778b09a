"""Stop the writer at every call of the seam and judge what is left. Run as a script: scenario, way, folder, how many.

The folder is prepared once; for every call it is copied afresh, the operation runs in a forked process that dies (or
is refused) at that call, and the next process opens what it left. What is found wrong is printed as JSON.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from quire.files import World, disk, transaction, writing
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


SMALL: dict[str, Any] = {
    "task": "one changed, one gone",
    "nodes": [{"id": "feature.worker", "body": "Runs what must not block a request."}],
    "delete": [{"id": "question.who-pays", "reason": "answered"}],
}


class Scenario(NamedTuple):
    """What is there before, what is done, and what is done next (the same again, unless another step is named)."""

    prepare: Callable[[str], None]
    act: Callable[[Project], object]
    archives: bool = False
    """Whether an interrupted run may leave a part of the store in its place and the rest in an archive."""
    next: Callable[[Project], object] | None = None


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


def plain(space: str) -> None:
    """A memory outside git."""
    empty(space)
    shutil.rmtree(os.path.join(space, "harbor/.git"))
    open_project(space).init()
    open_project(space).save(FIRST)


def broken_schema(space: str) -> None:
    filled(space)
    with open(os.path.join(space, "harbor/.memory/schema/event.schema.json"), "w", encoding="utf-8") as file:
        file.write("{")


SCENARIOS: dict[str, Scenario] = {
    "init": Scenario(empty, lambda project: project.init()),
    "create": Scenario(filled, lambda project: project.save(CREATE)),
    "change": Scenario(filled, lambda project: project.save(CHANGE)),
    "small": Scenario(filled, lambda project: project.save(SMALL)),
    "repair": Scenario(broken_schema, lambda project: project.init()),
    "reset": Scenario(plain, lambda project: project.reset(), archives=True),
    "destroy": Scenario(plain, lambda project: project.reset(destroy=True)),
    "force": Scenario(plain, lambda project: project.init(force=True), archives=True),
    "begin anew": Scenario(plain, lambda project: project.reset(), archives=True, next=lambda project: project.init()),
}


WAYS = ("kill", "refuse", "interrupt", "torn", "full", "readonly")


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


def nodes_of(tree: Tree) -> set[str]:
    return {name for name in tree if name.startswith("harbor/.memory/memory/")}


# -- judging ------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    name: str
    scenario: Scenario
    template: str
    space: str
    before: Tree
    after: Tree
    known: list[str]

    def restore(self) -> None:
        shutil.rmtree(self.space, ignore_errors=True)
        shutil.copytree(self.template, self.space, symlinks=True)

    def act(self) -> object:
        return self.scenario.act(open_project(self.space, LATER))

    def judge(self) -> Iterator[str]:
        """Everything that is wrong after an interrupted run: first as a reader finds it, then after one more run."""
        with contextlib.suppress(QuireError):
            open_project(self.space, LATER).status()
        if not self.scenario.archives and self.name != "destroy":
            yield from self.all_or_nothing()
        elif self.scenario.archives:
            yield from self.nothing_lost()
        try:
            (self.scenario.next or self.scenario.act)(open_project(self.space, LATER))
        except Exception as error:
            yield f"the next run failed: {error!r}"
            return
        if self.scenario.next:
            yield from self.mixed()
            return
        for name in differing(read_space(self.space), self.after):
            yield f"{STALE_MAP if name == MAP else 'the next run left'} `{name}` different"
        for name in leftovers(self.space, after_a_write=True):
            yield f"{STALE_MAP + ' and' if name.startswith('harbor/.quire-') else 'left behind:'} {name}"
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
        if store_of(read_space(self.space)):
            yield from (f"check: {text}" for text in findings(self.space) if text not in self.known)


def findings(space: str) -> list[str]:
    """What `check` says, a map that is not yet up to date left out."""
    found = open_project(space, LATER).check()
    problems = [problem for problem in [*found.errors, *found.warnings] if not problem.code.startswith("ProductMap")]
    return [f"{problem.code} {problem.path}: {problem.message}" for problem in problems]


def differing(one: Tree, other: Tree) -> list[str]:
    return sorted(name for name in {**one, **other} if one.get(name) != other.get(name))


def prepare(name: str, folder: str) -> tuple[Case, list[tuple[str, str]]]:
    """The scenario made ready, and the calls that an unharmed run of it makes."""
    scenario = SCENARIOS[name]
    template, space = os.path.join(folder, "template"), os.path.join(folder, "space")
    # Prepared where it will run, because the registry and the archives speak of paths.
    os.makedirs(space)
    scenario.prepare(space)
    before = read_space(space)
    known = findings(space) if store_of(before) else []
    # The recorded run, too, begins with a copy: the index may tell one from the original.
    shutil.move(space, template)
    shutil.copytree(template, space, symlinks=True)
    calls: list[tuple[str, str]] = []
    disk.before = lambda operation, path: calls.append((operation, os.path.relpath(path, space)))
    scenario.act(open_project(space, LATER))
    disk.before = nothing
    if scenario.next:
        scenario.next(open_project(space, LATER))
    after = read_space(space)
    if store_of(after):
        codes = {problem.code for problem in open_project(space, LATER).check().warnings}
        assert "ProductMapStale" not in codes, "an unharmed run leaves the map as it should be"
        known += findings(space)
    return Case(name, scenario, template, space, before, after, known), calls


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


def interrupt_at(number: int) -> Callable[[str, str], None]:
    """Somebody presses Ctrl-C at this call."""
    count = -1

    def before(_operation: str, _path: str) -> None:
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGINT)

    return before


def few_descriptors(free: int) -> None:
    """Only so many files can be opened from here on."""
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + free, lowest + free))


def small_files(size: int) -> None:
    """No file grows beyond this size: a write that would is cut short and then refused."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run(case: Case, fault: Callable[[str, str], None], first: Callable[[], None] = lambda: None) -> str:
    """Run the operation in a process of its own with this fault: `died`, `done`, or the error as `code|text`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        disk.before = fault
        try:
            first()
            case.act()
            said = "done"
        except QuireError as error:
            said = f"{error.code}|{error.message}|{error.hint or ''}"
        except BaseException as error:
            said = f"untyped|{error!r}|"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "died" if code == KILLED else said


def refusal(case: Case, said: str, *, for_good: bool) -> Iterator[str]:
    """What is wrong with how an operation ended that the disk refused a call."""
    if said == "done":
        return
    if "KeyboardInterrupt" in said:
        yield from (f"left behind: {name}" for name in leftovers(case.space, after_a_write=True))
        return
    code, message, hint = said.split("|", 2)
    if code == "untyped" or not hint:
        yield f"not an error that a person can act on: {said}"
    stays = not (case.scenario.archives or case.name == "destroy" or "could not be completed" in message)
    if stays and not for_good:
        now = store_of(read_space(case.space))
        # A memory that came to be before its guidance could be written is there and whole.
        if now != store_of(case.after):
            yield from (f"refused, yet `{name}` changed" for name in differing(now, store_of(case.before)))
        yield from (f"left behind: {name}" for name in leftovers(case.space, after_a_write=True))


def mutate(mutant: str) -> None:
    """Break what the tests hold to be essential; they must notice."""
    if mutant == "in place":

        def rename(source: str, target: str) -> None:
            disk.before("rename", target)
            with open(source, "rb") as file:
                data = file.read()
            with open(target, "wb") as file:
                disk.before("write", target)
                file.write(data)
            os.unlink(source)

        disk.rename = rename
    elif mutant == "no recovery":
        writing.finish_interrupted = lambda _root, recovery, **_: shutil.rmtree(recovery) or []
    elif mutant == "events last":
        transaction._finish, transaction._append_all = (
            lambda root, folder, intent, finish=transaction._finish, append=transaction._append_all: (
                finish(root, folder, intent),
                append(root, intent),
            ),
            lambda _root, _intent: None,
        )


def is_concerned(way: str, operation: str) -> bool:
    return operation == "fsync" if way == "torn" else way != "full" or operation in NEEDS_ROOM


def explore_limits(name: str, folder: str) -> dict[str, Any]:
    """The same with too few descriptors and with files that may not grow."""
    case, _ = prepare(name, folder)
    violations: list[str] = []
    refusals = 0
    limits = [(few_descriptors, free) for free in range(12)]
    limits += [(small_files, size) for size in (0, 1, 60, 200, 500, 900, 2_000, 5_000, 20_000, 100_000)]
    for limit, value in limits:
        case.restore()
        said = run(case, nothing, first=lambda limit=limit, value=value: limit(value))
        refusals += said != "done"
        found = [*refusal(case, said, for_good=False), *case.judge()]
        violations += [f"{limit.__name__}({value}): {text}" for text in found if STALE_MAP not in text]
    return {"calls": len(limits), "points": refusals, "violations": violations}


def spread(numbers: Sequence[int], most: int, turn: int = 0) -> list[int]:
    """The first one, the last one, and so many in all at even distances; each turn meets others. 0 stands for all."""
    if not most or len(numbers) <= most:
        return list(numbers)
    step = (len(numbers) - 1) / (most - 1)
    between = {int(step * place + turn % 4 * step / 4) for place in range(1, most - 1)}
    return [numbers[place] for place in sorted({0, *between, len(numbers) - 1})]


def explore(name: str, way: str, folder: str, most: str = "0", mutant: str = "") -> dict[str, Any]:
    """Every point of one scenario, or some of them, failed in one way."""
    if way == "limits":
        return explore_limits(name, folder)
    mutate(mutant)
    case, calls = prepare(name, folder)
    violations: list[str] = []
    points = 0
    codes = (errno.ENOSPC, errno.EIO, errno.EROFS)
    concerned = [number for number, (operation, _) in enumerate(calls) if is_concerned(way, operation)]
    # The one after the last call is harmed by nothing.
    for number in [*spread(concerned, int(most), WAYS.index(way)), len(calls)]:
        operation, path = calls[number] if number < len(calls) else ("none", "")
        case.restore()
        found: list[str] = []
        if way in ("kill", "torn"):
            said = run(case, die_at(number, torn=way == "torn"))
            assert said == ("died" if number < len(calls) else "done"), f"call {number}: {said}"
        elif way == "interrupt":
            found += refusal(case, run(case, interrupt_at(number)), for_good=False)
        else:
            code = codes[number % 3] if way == "refuse" else errno.ENOSPC if way == "full" else errno.EROFS
            said = run(case, refuse_at(number, code, for_good=way != "refuse"))
            found += refusal(case, said, for_good=way != "refuse")
        points += number < len(calls)
        found += case.judge()
        violations += [f"call {number}, {operation} {path}: {text}" for text in found]
        if mutant and any(STALE_MAP not in text for text in violations):
            break
    stale = [text for text in violations if STALE_MAP in text]
    others = [text for text in violations if STALE_MAP not in text]
    return {"calls": len(calls), "points": points, "violations": others, "stale_maps": stale}


if __name__ == "__main__":
    print(json.dumps(explore(*sys.argv[1:])))
