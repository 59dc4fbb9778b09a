"""The journal under trial: a writer stopped at every call of the seam, and many at work together. Run as a script.

`trials.py` says what it can be asked for. What is judged is read here with nothing but a JSON reader.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

import msgspec
from crash_space import LATER, NOW, Tree, differing, git, leftovers, open_project, read_space, write
from crash_space import empty as repository
from trials import Prepared, Worker, tell

from quire.index.search import Filter
from quire.model.errors import InvalidStore, NotInitialized, StorageFailed
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.agents.session_end import journal_run_once
from quire.verbs.journal.diff import JournalDiff, journal_diff
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.inspect import journal_inspect
from quire.verbs.journal.journal_state import change_journal
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.journal.query import JournalQuery, journal_query
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.restore import JournalRestore, journal_restore
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, JournalRemove, add, remove, sources
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.update import JournalUpdate, journal_update
from quire.verbs.journal.validate import JournalValidate, journal_validate
from quire.verbs.verb import Arguments

FAR = datetime(2026, 9, 1, 8, 0, tzinfo=UTC)
FARTHER = datetime(2027, 6, 1, 8, 0, tzinfo=UTC)
JOURNAL = "harbor/.agent-memory/"
EVENTS, STATE, SOURCES = f"{JOURNAL}history/events.jsonl", f"{JOURNAL}state.json", f"{JOURNAL}sources.json"
CHECKPOINTS, ARCHIVE = f"{JOURNAL}history/checkpoints/", f"{JOURNAL}archive/"
LOCAL, BACKUP = f"{JOURNAL}local/", f"{JOURNAL}backup/"
DUE, IMPORTS, RUNS = f"{LOCAL}pages-due.json", f"{LOCAL}imports.json", f"{LOCAL}runs.jsonl"
RUN_LOCK = f"{LOCAL}run.lock"
"""Stays, empty, where a cycle has run."""
ENTRY = "harbor/AGENTS.md"
PAGES = "harbor/docs/agent-memory/"
BLOCK = re.compile(rb"<!-- agent-memory:entry .*?<!-- agent-memory:entry end -->", re.S)
# Written on the way, and not worth refusing a command for: the next one sees to them.
BESIDE = ("harbor/.gitignore", f"{LOCAL}.gitignore", DUE)
TOPICS = ("queue", "mailer", "export", "login", "search", "invoice", "upload", "webhook", "report", "cache")


class Scenario(NamedTuple):
    """What is there before, what is done and when, and where its trial is milder than that of the others."""

    prepare: Callable[[str], None]
    act: Callable[[Project], object]
    now: datetime = LATER
    stepwise: bool = False
    """Many transactions: between two of them a part of the new events is there."""
    loose: tuple[str, ...] = ()
    """Files below here have names of their own in every run."""
    broken: bool = False
    """Before it is done, commands may be refused, and checks find faults."""
    expires: bool = False
    """What the archive held goes for good."""


# -- the little world in which it happens -------------------------------------------------------------------------


def sessions_of(space: str) -> str:
    """Beside the space: a copy of it finds the same files there, with the same stamps."""
    return os.path.join(os.path.dirname(space), "sessions")


def line(root: str, role: str, text: str, at: str) -> str:
    """A line as Claude Code writes it."""
    fields = {"type": role, "cwd": root, "sessionId": "s", "timestamp": at, "message": {"role": role, "content": text}}
    return json.dumps(fields) + "\n"


def talk(root: str, number: int, part: int = 0, day: str = "2026-03-01") -> str:
    """Two turns that nobody else says: a request, and what was decided."""
    topic = f"{TOPICS[number % len(TOPICS)]}{number}x{part}"
    asked = f"Please repair the {topic} in the worker."
    decided = f"Decision: use {topic} because the old way drops jobs. Next: add a test for {topic}."
    at = f"{day}T10:{number % 60:02}:{part % 60:02}.000Z"
    return line(root, "user", asked, at) + line(root, "assistant", decided, at)


def say(sessions: str, root: str, number: int, part: int = 0, day: str = "2026-03-01") -> None:
    """One more part of a session."""
    folder = os.path.join(sessions, "projects", root.replace("/", "-").replace("_", "-"))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"s{number:03}.jsonl"), "a", encoding="utf-8") as file:
        file.write(talk(root, number, part, day))


def bare(space: str) -> None:
    """A repository with one commit, sessions beside it, and no journal."""
    repository(space)
    git(space, "add", "--all")
    git(space, "commit", "--quiet", "--message", "first")
    root, sessions = os.path.join(space, "harbor"), sessions_of(space)
    for number in range(9):
        say(os.path.join(sessions, "claude"), root, number, day="2026-03-01" if number else "2026-01-05")
    for number in range(5):
        text = f"# Notes {number}\n\nDecision: keep note{number} because it is short. Next: read note{number} again.\n"
        write(sessions, f"notes/2026-02-0{number + 1}-note.md", text.encode())


def begun(space: str) -> None:
    """A journal with two sources that nobody has synced."""
    bare(space)
    project = open_project(space, NOW, "a")
    journal_init(project, JournalInit())
    add(project, JournalAdd(source_type="claude-local", path=os.path.join(sessions_of(space), "claude"), name="claude"))
    add(project, JournalAdd(source_type="markdown", path=os.path.join(sessions_of(space), "notes"), name="notes"))


def synced(space: str) -> None:
    begun(space)
    import_sessions(open_project(space, NOW, "a1"))


def grown(space: str) -> None:
    """Synced sessions that went on, one of them written anew, and new ones."""
    synced(space)
    root, claude = os.path.join(space, "harbor"), os.path.join(sessions_of(space), "claude")
    for number in (1, 4, 7, 20, 21):
        say(claude, root, number, part=1)
    write(
        sessions_of(space),
        "notes/2026-02-03-note.md",
        b"# All new\n\nDecision: keep nothing of it because it is wrong.\n",
    )


def recalled(space: str) -> None:
    synced(space)
    journal_recall(open_project(space, NOW, "a2"), JournalRecall())


def committed(space: str) -> None:
    """The project went on."""
    recalled(space)
    write(space, "harbor/lib/b.py", b'"""Sends mails."""\n')
    write(space, "harbor/TODO.md", b"# To do\n\n- [ ] Repair the mailer\n")
    git(space, "add", "--all", "lib", "TODO.md")
    git(space, "commit", "--quiet", "--message", "second")


def edited(space: str) -> None:
    """The memory was changed by another program that left no checkpoint."""
    recalled(space)
    path = os.path.join(space, STATE)
    with open(path, encoding="utf-8") as file:
        state = json.load(file)
    state["bundle"]["currentFocus"]["summary"] = "Somebody said something else."
    write(space, STATE, json.dumps(state, indent=2).encode() + b"\n")


def aged(space: str) -> None:
    """Twelve more checkpoints, so that the first ones are too many."""
    recalled(space)
    for number in range(12):
        at = NOW + timedelta(hours=number)
        journal_restore(open_project(space, at, "a3"), JournalRestore(name=("chk-000001", "chk-000002")[number % 2]))


def pruned(space: str) -> None:
    aged(space)
    prune(open_project(space, FAR, "a4"))


def merged(space: str) -> None:
    """As git leaves it after a union merge of two histories: marks, copies, half a line, ids that two events have."""
    recalled(space)
    path = os.path.join(space, EVENTS)
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    theirs = []
    for text in lines[3:6]:
        event = json.loads(text)
        event["externalItemId"], event["contentHash"] = f"their-{event['externalItemId']}", event["contentHash"][::-1]
        theirs.append(json.dumps(event).encode() + b"\n")
    theirs.append(lines[5][:70] + b"\n")
    write(space, EVENTS, b"".join([*lines[:6], b"<<<<<<< ours\n", *theirs, lines[2], b">>>>>>> theirs\n", *lines[6:]]))


def overheard(space: str) -> None:
    """A run of another program that nobody has recalled; it says nothing new."""
    recalled(space)
    with open(os.path.join(space, EVENTS), "rb") as file:
        lines = file.read().splitlines()
    event = {**json.loads(lines[0]), "id": "evt-000099", "createdAt": "2026-03-02T12:00:00.000Z"}
    write(space, EVENTS, b"".join(text + b"\n" for text in [*lines, json.dumps(event).encode()]))
    journal_validate(open_project(space, NOW, "a5"), JournalValidate(repair=True))


def damaged(space: str) -> None:
    recalled(space)
    write(space, STATE, b'{"schemaVersion": 2, "bundle": {"project": ')


def prune(project: Project) -> object:
    """A round of retention, as the automation makes it."""
    from quire.layers.journal.archive import find_candidates, plan_pruning, sweep_batches

    def plan(journal: Any) -> tuple[int, Any]:
        now = project.world.now()
        candidates = find_candidates(journal, now)
        return len(candidates.events), None if candidates.is_empty else plan_pruning(journal, candidates, now).writing

    done = change_journal(project, "archive", plan)
    sweep_batches(project.root)
    return done


def batch_of(project: Project) -> str:
    return sorted(os.listdir(os.path.join(project.root, ".agent-memory/archive")))[0]


def sync(project: Project) -> object:
    """A sync whose clock runs: every few sessions are a transaction of their own."""
    ticks = count()
    world = msgspec.structs.replace(project.world, now=lambda: LATER + timedelta(seconds=2 * next(ticks)))
    done = import_sessions(Project.open(project.root, world))
    if done.failed:
        raise StorageFailed(str([source.failures for source in done.sources]), hint="Told as failed.")
    return done


def cycle(project: Project) -> object:
    """Sync, recall and retention in one call."""
    done = journal_run_once(project, settled_seconds=0.0)
    if done.status == "failed" or done.run["errors"]:
        raise StorageFailed(str(done.run["errors"]), hint="Told as failed.")
    return done


SCENARIOS: dict[str, Scenario] = {
    "init": Scenario(bare, lambda project: journal_init(project, JournalInit())),
    "init anew": Scenario(
        recalled, lambda project: journal_init(project, JournalInit(yes=True)), loose=(BACKUP, LOCAL)
    ),
    "update": Scenario(committed, lambda project: journal_update(project, JournalUpdate())),
    "add": Scenario(
        begun,
        lambda project: add(
            project, JournalAdd(source_type="markdown", path=os.path.join(project.root, "src"), name="more")
        ),
    ),
    "remove": Scenario(synced, lambda project: remove(project, JournalRemove(name="claude"))),
    "sync": Scenario(begun, sync, stepwise=True),
    "sync grown": Scenario(grown, sync, stepwise=True),
    "recall": Scenario(synced, lambda project: journal_recall(project, JournalRecall())),
    "recall nothing": Scenario(overheard, lambda project: journal_recall(project, JournalRecall())),
    "recall one section": Scenario(
        synced, lambda project: journal_recall(project, JournalRecall(section="next-steps"))
    ),
    "restore": Scenario(recalled, lambda project: journal_restore(project, JournalRestore(name="chk-000001"))),
    "restore unsaved": Scenario(
        edited, lambda project: journal_restore(project, JournalRestore(name="chk-000001")), stepwise=True, broken=True
    ),
    "prune": Scenario(aged, prune, now=FAR),
    "return": Scenario(
        pruned, lambda project: journal_restore(project, JournalRestore(name=batch_of(project))), now=FAR
    ),
    "expire": Scenario(pruned, prune, now=FARTHER, expires=True),
    "cycle": Scenario(grown, cycle, now=FAR, stepwise=True, loose=(RUNS, f"{JOURNAL}automation/")),
    "repair": Scenario(merged, lambda project: journal_validate(project, JournalValidate(repair=True)), broken=True),
    "rebuild": Scenario(
        damaged,
        lambda project: journal_restore(project, JournalRestore(name="chk-000002")),
        broken=True,
        loose=(LOCAL,),
    ),
}


# -- looking ------------------------------------------------------------------------------------------------------

Event = dict[str, Any]
Key = tuple[str, ...]


class Held(NamedTuple):
    """What the files say, read without any of our own code."""

    events: tuple[Event, ...]
    archived: tuple[Event, ...]
    checkpoints: dict[str, bytes]
    archived_checkpoints: dict[str, bytes]
    state: dict[str, Any] | None

    @property
    def everything(self) -> tuple[Event, ...]:
        return (*self.archived, *self.events)

    @property
    def keys(self) -> Counter[Key]:
        return Counter(map(key_of, self.everything))


def key_of(event: Event) -> Key:
    """What makes an event the one it is, whatever its id."""
    names = ("kind", "sourceId", "externalItemId", "contentHash", "createdAt", "summary")
    return tuple(str(event[name]) for name in names)


def sessions_in(found: Held) -> Counter[Key]:
    return Counter(key_of(event) for event in found.everything if event["kind"] == "imported_session")


def events_in(data: bytes) -> list[Event]:
    found = []
    for text in data.splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(text))
    return found


def held(space: str) -> Held:
    tree = read_space(space)
    state = None
    with contextlib.suppress(ValueError):
        state = json.loads(tree.get(STATE, b""))
    archived = [
        data for name, data in sorted(tree.items()) if name.startswith(ARCHIVE) and name.endswith("/events.jsonl")
    ]
    checkpoints = {name.rpartition("/")[2]: data for name, data in tree.items() if name.startswith(CHECKPOINTS)}
    away = {
        name.rpartition("/")[2]: data
        for name, data in tree.items()
        if name.startswith(ARCHIVE) and "/checkpoints/" in name
    }
    return Held(
        tuple(events_in(tree.get(EVENTS, b""))),
        tuple(event for data in archived for event in events_in(data)),
        checkpoints,
        away,
        state,
    )


def look(space: str) -> Tree:
    """Every file that matters; an empty file of sources says as much as it did before the first one was added."""
    return {name: data for name, data in read_space(space).items() if not name.startswith("home/registry/")}


def told(tree: Tree, *, in_order: bool = True) -> Tree:
    """The same without when a source was synced, how many came in the last run alone, and how batches are called.

    Where the order does not count, neither do the ids of the events.
    """
    names = sorted({name.removeprefix(ARCHIVE).partition("/")[0] for name in tree if name.startswith(ARCHIVE)})
    found = {}
    for path, data in tree.items():
        batch, _, rest = path.removeprefix(ARCHIVE).partition("/")
        found[f"{ARCHIVE}{names.index(batch)}/{rest}" if path.startswith(ARCHIVE) else path] = data
    if SOURCES in found:
        sources = json.loads(found[SOURCES])
        for source in sources:
            for name in ("updatedAt", "lastSyncedAt", "lastImportedCount"):
                source.pop(name, None)
        found[SOURCES] = json.dumps(sources).encode()
    if not in_order:
        found[EVENTS] = "\n".join(sorted(map(str, map(key_of, events_in(found.get(EVENTS, b"")))))).encode()
        if IMPORTS in found:
            found[IMPORTS] = json.dumps(json.loads(found[IMPORTS]), sort_keys=True).encode()
    return found


def outside(entry: bytes) -> bytes:
    """What the user wrote."""
    return BLOCK.sub(b"", entry)


def faults_of(project: Project) -> list[str]:
    found = journal_validate(project, JournalValidate()).findings
    return [f"{one['code']} {one['path']}: {one['message']}" for one in found if one["level"] == "fail"]


def unindexed(project: Project, now: Held) -> list[str]:
    """How the index differs from the files."""
    allowed = Filter(layers=("journal",), kinds=("event", "checkpoint"))
    refs = Counter(record.ref for record in project.with_index(lambda index: index.page(allowed)))
    wanted = Counter(f"event:{event['id']}" for event in now.everything)
    names = {*now.checkpoints, *now.archived_checkpoints}
    wanted += Counter(f"checkpoint:{name.removesuffix('.json')}" for name in names)
    return sorted((refs - wanted).elements()) + sorted((wanted - refs).elements())


# -- the next command ---------------------------------------------------------------------------------------------

NEXT: dict[str, Callable[[Project], object]] = {
    "status": lambda project: journal_status(project, JournalStatus()),
    "log": lambda project: journal_log(project, JournalLog(events=True, archived=True)),
    "validate": lambda project: journal_validate(project, JournalValidate()),
    "sources": lambda project: sources(project, Arguments()),
    "recall preview": lambda project: journal_recall(project, JournalRecall(dry_run=True)),
    "update preview": lambda project: journal_update(project, JournalUpdate(dry_run=True)),
    "inspect": lambda project: journal_inspect(project, journal_log(project, JournalLog()).results[0].ref),
    "diff": lambda project: journal_diff(
        project, JournalDiff(before=journal_log(project, JournalLog()).results[-1].id)
    ),
    "check": lambda project: check_files(project),
}


# -- judging ------------------------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    name: str
    scenario: Scenario
    prepared: Prepared
    before: Tree
    after: Tree
    old: Held
    new: Held

    def open(self, phase: str) -> Project:
        return open_project(self.space, self.scenario.now, phase)

    @property
    def turns(self) -> int:
        return len(NEXT)

    @property
    def space(self) -> str:
        return self.prepared.space

    def act(self, phase: str = "b") -> object:
        return self.scenario.act(self.open(phase))

    def is_done(self, now: Tree) -> bool:
        """Whether everything stands there that an unharmed run leaves."""
        found = [name for name in self.differing(now) if name not in BESIDE]
        return not [name for name in found if self.is_own(name) or self.name == "cycle"]

    def differing(self, now: Tree) -> list[str]:
        """What is not as an unharmed run leaves it."""
        if self.name == "cycle":
            # Made of others that are compared byte for byte; what fails at first is recalled and archived later.
            return ["the sessions"] if sessions_in(held(self.space)) != sessions_in(self.new) else []
        in_order = not self.scenario.stepwise
        found = differing(told(now, in_order=in_order), told(self.after, in_order=in_order))
        return [name for name in found if not self.is_loose(name)]

    def is_loose(self, name: str) -> bool:
        return name.startswith(self.scenario.loose) if self.scenario.loose else False

    @staticmethod
    def is_own(name: str) -> bool:
        return name.startswith(JOURNAL)

    @staticmethod
    def is_made(name: str) -> bool:
        """Whether all of it, or a block in it, is ours."""
        return name.startswith((JOURNAL, PAGES)) or name == ENTRY

    def judge(self, number: int, *, cut: bool = False) -> Iterator[str]:
        """Everything that is wrong after an interrupted run: to the next command, and after the same once more."""
        called = list(NEXT)[number % len(NEXT)]
        refusals = [NotInitialized] if self.name == "init" else [InvalidStore] if self.scenario.broken else []
        try:
            with contextlib.suppress(*refusals):
                NEXT[called](self.open("c"))
            yield from (f"after {called}, {text}" for text in self.as_found())
            yield from self.again()
        except Exception as error:
            yield f"the next run failed ({called}): {error!r}"

    def lost(self) -> Iterator[str]:
        """What is not there for the first reader although it was acknowledged."""
        journal_status(self.open("c"), JournalStatus())
        if not self.is_done(look(self.space)):
            yield f"acknowledged and lost: {self.differing(look(self.space))}"

    def as_found(self) -> Iterator[str]:
        real, now = look(self.space), held(self.space)
        tree, before, after = told(real), told(self.before), told(self.after)
        for name in {**tree, **before, **after}:
            if self.is_loose(name) or name in BESIDE or (self.scenario.stepwise and self.is_made(name)):
                continue
            if tree.get(name) not in (before.get(name), after.get(name)):
                yield f"`{name}` is neither old nor new"
        if outside(tree[ENTRY]) not in (outside(self.before[ENTRY]), outside(self.after[ENTRY])):
            yield f"what the user wrote is not as it was: {outside(tree[ENTRY])!r}"
        if DUE in tree and now.state is not None and not (self.scenario.broken and not self.is_done(real)):
            yield "the pages are still due"
        yield from self.kept(now)
        yield from (f"left behind: {name}" for name in self.remains(after_a_write=False))
        if self.is_done(real) or (not self.scenario.broken and now.state is not None):
            yield from self.sound(now)

    def kept(self, now: Held) -> Iterator[str]:
        """Nothing lost and nothing doubled, of events and checkpoints."""
        if self.name == "init anew":
            yield from self.kept_aside()
            if now.keys not in (self.old.keys, self.new.keys):
                yield "neither the old events nor the new ones"
            return
        gone = Counter(map(key_of, self.old.archived)) if self.scenario.expires else Counter()
        least, most = self.old.keys - gone, self.old.keys | self.new.keys
        if self.name == "repair":
            least = Counter(set(least))
        if self.name == "cycle":
            most |= Counter(key_of(event) for event in now.everything if event["kind"] == "tool_run")
        if least - now.keys:
            yield f"events are lost: {sorted((least - now.keys).elements())[:3]}"
        if now.keys - most:
            yield f"events are there that nobody wrote, or twice: {sorted((now.keys - most).elements())[:3]}"
        here = {**now.archived_checkpoints, **now.checkpoints}
        for name, data in {**self.old.archived_checkpoints, **self.old.checkpoints}.items():
            if here.get(name) != data and not (self.scenario.expires and name in self.old.archived_checkpoints):
                yield f"the checkpoint {name} is lost, or another"
        twice = set(now.checkpoints) & set(now.archived_checkpoints)
        if twice:
            yield f"checkpoints are active and archived: {sorted(twice)}"

    def kept_aside(self) -> Iterator[str]:
        """What was there before is in its place or in a backup."""
        tree = look(self.space)
        aside = {data for name, data in tree.items() if name.startswith(BACKUP)}
        for name, data in self.before.items():
            if self.is_own(name) and not self.is_loose(name) and tree.get(name) != data and data not in aside:
                yield f"`{name}` as it was is nowhere"

    def sound(self, now: Held) -> Iterator[str]:
        """What holds whenever a command has run."""
        project = self.open("s")
        yield from (f"validate: {text}" for text in faults_of(project))
        assert now.state is not None
        maintenance = now.state["maintenance"]
        if maintenance["historyEventCount"] != len(now.events):
            yield f"the state counts {maintenance['historyEventCount']} events of {len(now.events)}"
        if f"{maintenance['latestCheckpointId']}.json" not in now.checkpoints:
            yield f"there is no checkpoint {maintenance['latestCheckpointId']}"
        ids = Counter(event["id"] for event in now.everything)
        if ids and max(ids.values()) > 1:
            yield f"ids that two events have: {[name for name, number in ids.items() if number > 1]}"
        sessions = Counter(
            (event["sourceId"], event["externalItemId"], event["contentHash"])
            for event in now.everything
            if event["kind"] == "imported_session"
        )
        if sessions and max(sessions.values()) > 1:
            yield f"imported twice: {[key for key, number in sessions.items() if number > 1]}"
        entry = look(self.space)[ENTRY]
        if b"bundleHash=" + now.state["bundleHash"].encode() not in entry:
            yield "the entry block is not of this state"
        yield from (f"the index and the files differ: {name}" for name in unindexed(project, now)[:3])

    def again(self) -> Iterator[str]:
        """The same once more, unless it is done; in the end a source is added, and no trace is left."""
        # A cycle that has nothing to do still tidies up after the last one.
        if not self.is_done(look(self.space)) or self.name == "cycle":
            self.act("d")
        for name in self.differing(look(self.space)):
            if name not in BESIDE:
                yield f"one more run left `{name}` different"
        yield from self.kept(held(self.space))
        yield from self.sound(held(self.space))
        add(
            self.open("e"),
            JournalAdd(source_type="markdown", path=os.path.join(self.space, "harbor/src"), name="at-last"),
        )
        for name in BESIDE:
            if look(self.space).get(name) != self.after.get(name):
                yield f"at last `{name}` is still different"
        yield from (f"left behind at last: {name}" for name in self.remains(after_a_write=True))

    def remains(self, *, after_a_write: bool) -> list[str]:
        found = [name for name in leftovers(self.space, after_a_write=after_a_write) if name != RUN_LOCK]
        path = os.path.join(self.space, JOURNAL, "recovery")
        if after_a_write and os.path.isdir(path):
            found += [f"recovery/{name}" for name in os.listdir(path)]
        return found

    def refusal(self, said: str, *, for_good: bool) -> Iterator[str]:
        """What is wrong with how an operation ended that the disk refused a call."""
        tree = look(self.space)
        if said == "done":
            # The pages may be due: the next command writes them.
            if not self.is_done(tree):
                yield f"acknowledged, and not there: {self.differing(tree)}"
            return
        if "KeyboardInterrupt" not in said:
            code, message, hint = said.split("|", 2)
            if code == "untyped" or not hint:
                yield f"not an error that a person can act on: {said}"
            if for_good or "could not be completed" in message or self.scenario.stepwise:
                return
            changed = [name for name in differing(tree, self.before) if self.is_own(name) and name not in BESIDE]
            if changed and not self.is_done(tree):
                yield f"refused, yet changed: {changed}"
        yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=True) if name != RUN_LOCK)


def begin(name: str, prepared: Prepared) -> Trial:
    """The scenario made ready by an unharmed run."""
    prepared.restore()
    before, old = look(prepared.space), held(prepared.space)
    trial = Trial(name, SCENARIOS[name], prepared, before, {}, old, old)
    trial.act()
    after = look(prepared.space)
    assert differing(before, after), "an unharmed run changes something"
    trial = trial._replace(after=after, new=held(prepared.space))
    unsound = [*trial.sound(trial.new), *trial.kept(trial.new)]
    assert not unsound, f"an unharmed run is not sound: {unsound}"
    return trial


# -- many at once -------------------------------------------------------------------------------------------------


def work_sync(root: str, _number: int, _turn: int) -> Iterator[dict[str, Any]]:
    done = import_sessions(Project.open(root))
    yield {
        "did": "sync",
        "imported": done.imported,
        "failed": done.failed,
        "events": [name for source in done.sources for name in source.events],
    }


def work_recall(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """By turns what was imported and what was done here: so each event is seen by one recall, and by no other."""
    source = ("imports", "local")[(number + turn) % 2]
    done = journal_recall(Project.open(root), JournalRecall(source=source))
    yield {"did": "recall", "source": source, "seen": done.raw_event_count, "event": done.event if done.applied else ""}


def work_update(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """The project goes on, and the memory is brought up to date."""
    with open(os.path.join(root, "TODO.md"), "a", encoding="utf-8") as file:
        file.write(f"- [ ] Step {number} of turn {turn}\n")
    done = journal_update(Project.open(root), JournalUpdate())
    yield {"did": "update", "event": done.event if done.applied else ""}


def work_add(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """A source comes and, every other time, goes."""
    project = Project.open(root)
    name = f"src-{number}-{turn}"
    add(project, JournalAdd(source_type="markdown", path=os.path.join(root, "src"), name=name))
    yield {"did": "add", "name": name}
    if turn % 2:
        remove(project, JournalRemove(name=name))
        yield {"did": "remove", "name": name}


def work_read(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """Whenever it is looked at, the journal is whole."""
    project = Project.open(root)
    status = journal_status(project, JournalStatus())
    events = journal_log(project, JournalLog(events=True, archived=True, limit=0)).results
    assert len(events) >= status.events, (len(events), status.events)
    assert len({event.id for event in events}) == len(events)
    assert status.latest_checkpoint_id is not None
    assert journal_inspect(project, f"checkpoint:{status.latest_checkpoint_id}").items
    noted: dict[str, Any] = {"did": "read", "events": status.events, "problems": len(status.warnings)}
    if turn % 3 == number % 3:
        noted["mode"] = journal_query(project, JournalQuery(question="what was decided about the queue?")).mode
    if turn % 3 == (number + 1) % 3:
        noted["failed"] = faults_of(project)
    yield noted


WORKERS: dict[str, Worker] = {
    "sync": work_sync,
    "recall": work_recall,
    "update": work_update,
    "add": work_add,
    "read": work_read,
}


if __name__ == "__main__":
    tell(begin, {name: scenario.prepare for name, scenario in SCENARIOS.items()}, WORKERS)
