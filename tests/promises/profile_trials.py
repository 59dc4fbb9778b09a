"""The profile under trial: a writer stopped at every call of the seam, and many at work together. Run as a script.

`trials.py` says what it can be asked for.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from crash_space import LATER, NOW, Tree, differing, leftovers, open_project, read_space, write
from crash_space import empty as repository
from trials import Prepared, Worker, apart, holding, rows_of, tell

from quire.model.errors import NotInitialized, QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.profile.context import ShowProfileContext, profile_context
from quire.verbs.profile.link import LinkEntries, link_entries
from quire.verbs.profile.pages import ShowIndex, entry_index
from quire.verbs.profile.private import KeepPrivate, keep_private
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.reflect import ReflectOnEntries, reflect_on_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, RestoreEntry, forget_entry, forgotten_entries, restore_entry
from quire.verbs.profile.search import SearchEntries, search_entries
from quire.verbs.profile.session_start import start_session
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments

LONG_AGO = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
STATE = "harbor/.ai-state/"
LOCAL = f"{STATE}local/"
HOME = "home/registry/profile/"
DOCUMENT, TWIN, AT_HOME = f"{STATE}memory.json", f"{LOCAL}memory.json", f"{HOME}memory.json"
SETTING, FORGOTTEN = f"{LOCAL}private.json", f"{LOCAL}forgotten.jsonl"
READ = (f"{LOCAL}access.jsonl", f"{LOCAL}access-folding.jsonl")
DOCUMENTS = (DOCUMENT, TWIN, AT_HOME, SETTING, FORGOTTEN)
# Written on the way, and not worth refusing an entry for: the next change sees to them.
BESIDE = ("harbor/.gitignore", f"{LOCAL}.gitignore", *READ)
OLD: dict[str, Any] = {
    "schema_version": "1.0",
    "memories": {
        "user": {
            "timezone": {
                "value": "Europe/Madrid",
                "created_at": "2026-01-05T09:00:00Z",
                "updated_at": "2026-01-05T09:00:00Z",
                "tags": ["place"],
                "confidence": None,
                "von_hand": {"größe": [1, 2.5, None]},
            }
        },
        "assistant": {
            "name": {
                "value": "Ada",
                "created_at": "2026-01-05T09:00:00Z",
                "updated_at": "2026-01-05T09:00:00Z",
                "tags": [],
                "confidence": 0.4,
            }
        },
    },
    "kept": "what nobody knows",
}


class Scenario(NamedTuple):
    """What is there before, what is done, and where its trial is milder than that of the others."""

    prepare: Callable[[str], None]
    act: Callable[[Project], object]
    kept: Mapping[str, str] = MappingProxyType({})
    """Documents, and the files that hold their old bytes before they change."""
    apart: bool = False
    """Two disks: between the two transactions each entry may be old or new, and readings may be uncounted."""


# -- the little world in which it happens -------------------------------------------------------------------------


def pretty(value: Any) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


def filled(space: str) -> None:
    """A memory with entries in every category, links between them, one that could be put away; no git."""
    for name in ("harbor", "home"):
        os.makedirs(os.path.join(space, name))
    project = open_project(space, LONG_AGO, "a")
    init_memory(project, guidance=False)
    told: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("user", "timezone", "Europe/Madrid", {"tags": ["place"]}),
        ("user", "editor", "Helix, in a dark theme.", {}),
        ("assistant", "name", "Ada", {"confidence": 0.5}),
        ("project", "stack", "Postgres, Redis and a worker.", {"tags": ["tooling"]}),
        ("relationships", "style", "Direct; no praise.", {"confidence": 0.8}),
        ("tools", "shell", "fish 4 with starship.", {"tags": ["tooling"]}),
        ("tools", "old_shell", "zsh with a long configuration.", {"importance": 2}),
        ("learnings", "flaky_ci", "The e2e job needs two cores.", {"confidence": 0.6}),
    )
    for category, key, value, more in told:
        remember_entry(project, RememberEntry(category=category, key=key, value=value, **more))
    link_entries(project, LinkEntries(source="learnings.flaky_ci", target="tools.shell", relation="depends-on"))
    link_entries(project, LinkEntries(source="project.stack", target="user.timezone", relation="related-to"))
    link_entries(project, LinkEntries(source="user.editor", target="user.timezone", relation="related-to"))
    # What other programs keep in it survives everything.
    path = os.path.join(space, DOCUMENT)
    with open(path, "rb") as file:
        fields = json.load(file)
    fields["memories"]["user"]["timezone"]["von_hand"] = {"größe": [1, 2.5, None]}
    fields["memories"]["visitors"] = {"first": {"value": "somebody"}}
    write(space, DOCUMENT, pretty(fields))
    entry_index(project, ShowIndex())


def read_before(space: str) -> None:
    """Entries were read since the last change."""
    filled(space)
    project = open_project(space, NOW, "a")
    for _ in range(2):
        recall_entries(project, RecallEntries(category="user", key="timezone"))
    recall_entries(project, RecallEntries(category="tools", key="shell"))
    search_entries(project, SearchEntries(query="which shell?", limit=1))


def forgotten(space: str) -> None:
    read_before(space)
    forget_entry(open_project(space, NOW, "a"), ForgetEntry(category="tools", key="shell"))


def kept_here(space: str) -> None:
    filled(space)
    keep_private(open_project(space, NOW, "a"), KeepPrivate(place="here", apply=True))
    recall_entries(open_project(space, NOW, "a"), RecallEntries(category="user", key="timezone"))


def kept_at_home(space: str) -> None:
    filled(space)
    keep_private(open_project(space, NOW, "a"), KeepPrivate(place="home", apply=True))
    recall_entries(open_project(space, NOW, "a"), RecallEntries(category="user", key="timezone"))


def forgotten_at_home(space: str) -> None:
    kept_at_home(space)
    forget_entry(open_project(space, NOW, "a"), ForgetEntry(category="user", key="timezone"))


def older(version: str) -> Callable[[str], None]:
    """A document as an earlier program left it, in a repository without a memory."""

    def prepare(space: str) -> None:
        repository(space)
        fields = {**OLD, "schema_version": version}
        if version == "1.1":
            fields["session_count"] = 7
        write(space, DOCUMENT, json.dumps(fields, ensure_ascii=False).encode())

    return prepare


def backups(*versions: str) -> dict[str, str]:
    return {DOCUMENT: f"{STATE}memory.pre-migration-{versions[0]}.json"}


SCENARIOS: dict[str, Scenario] = {
    "first remember": Scenario(
        repository,
        lambda project: remember_entry(project, RememberEntry(category="user", key="timezone", value="Europe/Madrid")),
    ),
    "update": Scenario(
        read_before,
        lambda project: remember_entry(
            project,
            RememberEntry(category="user", key="timezone", value="Europe/Lisbon", tags=["tooling"], importance=8),
        ),
    ),
    "forget": Scenario(
        read_before,
        lambda project: forget_entry(project, ForgetEntry(category="tools", key="shell")),
        kept={DOCUMENT: f"{STATE}memory.backup.json"},
    ),
    "restore": Scenario(forgotten, lambda project: restore_entry(project, RestoreEntry(category="tools", key="shell"))),
    "supersede": Scenario(
        read_before,
        lambda project: link_entries(
            project, LinkEntries(source="tools.shell", target="tools.old_shell", relation="supersedes")
        ),
    ),
    "session-start": Scenario(read_before, lambda project: start_session(project, Arguments())),
    "migrate 1.0": Scenario(older("1.0"), lambda project: entry_index(project, ShowIndex()), kept=backups("1.0")),
    "migrate 1.1": Scenario(older("1.1"), lambda project: profile_status(project, Arguments()), kept=backups("1.1")),
    "migrate and remember": Scenario(
        older("1.0"),
        lambda project: remember_entry(
            project, RememberEntry(category="tools", key="shell", value="fish 4 with starship.")
        ),
        kept=backups("1.0"),
    ),
    "reflect": Scenario(
        read_before, lambda project: reflect_on_entries(project, ReflectOnEntries(apply=["archive", "confidence"]))
    ),
    "private here": Scenario(read_before, lambda project: keep_private(project, KeepPrivate(place="here", apply=True))),
    "private home": Scenario(
        read_before, lambda project: keep_private(project, KeepPrivate(place="home", apply=True)), apart=True
    ),
    "shared from here": Scenario(
        kept_here,
        lambda project: keep_private(project, KeepPrivate(place="shared", apply=True)),
        kept={TWIN: f"{LOCAL}memory.backup.json"},
    ),
    "shared from home": Scenario(
        kept_at_home, lambda project: keep_private(project, KeepPrivate(place="shared", apply=True))
    ),
    "home from here": Scenario(
        kept_here,
        lambda project: keep_private(project, KeepPrivate(place="home", apply=True)),
        kept={TWIN: f"{LOCAL}memory.backup.json"},
        apart=True,
    ),
    "here from home": Scenario(
        kept_at_home, lambda project: keep_private(project, KeepPrivate(place="here", apply=True))
    ),
    "update at home": Scenario(
        kept_at_home,
        lambda project: remember_entry(project, RememberEntry(category="user", key="timezone", value="Europe/Lisbon")),
        apart=True,
    ),
    "forget at home": Scenario(
        kept_at_home,
        lambda project: forget_entry(project, ForgetEntry(category="user", key="timezone")),
        kept={AT_HOME: f"{HOME}memory.backup.json", DOCUMENT: f"{STATE}memory.backup.json"},
        apart=True,
    ),
    "restore at home": Scenario(
        forgotten_at_home,
        lambda project: restore_entry(project, RestoreEntry(category="user", key="timezone")),
        apart=True,
    ),
    "session-start at home": Scenario(kept_at_home, lambda project: start_session(project, Arguments()), apart=True),
    "init": Scenario(repository, lambda project: init_memory(project, guidance=False, layers=("profile",))),
}


# -- looking ------------------------------------------------------------------------------------------------------


class State(NamedTuple):
    """What the files say, read without any of our own code."""

    entries: dict[str, dict[str, Any]]
    """By name, their counts with the readings that are not folded in yet."""
    forgotten: tuple[str, ...]
    sessions: int
    place: str


def look(space: str) -> Tree:
    """Every file that matters: not when something was read, and nothing that another layer keeps."""
    found = read_space(space)
    return {
        name: data
        for name, data in found.items()
        if name not in READ and not name.startswith("harbor/.memory/") and name != "home/registry/projects.json"
    }


def state_of(space: str) -> State:
    tree = {name: data for name, data in read_space(space).items() if data}
    place = json.loads(tree[SETTING])["place"] if SETTING in tree else "here" if TWIN in tree else "shared"
    private = {"home": AT_HOME, "here": TWIN}.get(place, "")
    counts: dict[str, list[str]] = {}
    for name in READ:
        for line in tree.get(name, b"").splitlines():
            with contextlib.suppress(ValueError):
                for entry in json.loads(line)["names"]:
                    counts.setdefault(entry, []).append(json.loads(line)["at"])
    entries: dict[str, dict[str, Any]] = {}
    sessions = 0
    for name in (DOCUMENT, private):
        document = json.loads(tree[name]) if name in tree else {"memories": {}}
        sessions = document.get("session_count", 0) if name == DOCUMENT else sessions
        for category, held in document["memories"].items():
            for key, fields in held.items():
                full = f"{category}.{key}"
                read = counts.get(full, [])
                if read:
                    fields["access_count"] = fields.get("access_count", 0) + len(read)
                    fields["last_accessed"] = max([fields.get("last_accessed") or "", *read])
                entries[full] = fields
    gone = [json.loads(line) for line in tree.get(FORGOTTEN, b"").splitlines()]
    return State(entries, tuple(f"{item['category']}.{item['key']}" for item in gone), sessions, place)


def index_of(root: str) -> dict[str, list[str]]:
    """What the index holds of the profile, without the numbers of its rows."""
    columns = "ref, kind, title, text, status, section, weight, created_at, updated_at, tags, origin, raw"
    queries = {
        "records": f"SELECT {columns} FROM records WHERE layer = 'profile'",
        "names": "SELECT name, ref FROM names JOIN records ON records.id = record WHERE layer = 'profile'",
        "edges": "SELECT ref, source, predicate, target FROM edges WHERE layer = 'profile'",
        "counts": "SELECT * FROM tallies WHERE layer = 'profile' AND number != 0",
        "problems": "SELECT * FROM problems WHERE layer = 'profile'",
        "overview": "SELECT * FROM summaries WHERE layer = 'profile'",
        "loose ends": "SELECT name FROM names WHERE record NOT IN (SELECT id FROM records)",
        "vectors": "SELECT ref FROM vectors JOIN records ON records.id = record WHERE layer = 'profile'",
    }
    return rows_of(root, queries)


def index_differs(project: Project) -> list[str]:
    """How the index as it is differs from one that is made from nothing; nothing where none is kept."""
    if not os.path.exists(os.path.join(project.root, ".memory", "config.json")):
        return []
    entry_index(project, ShowIndex())
    found = index_of(project.root)
    rebuild(project, Rebuild())
    fresh = index_of(project.root)
    if not fresh["records"]:
        fresh["overview"] = found["overview"]  # of nothing there may be an overview, or none
    return apart(found, fresh)


def remains(space: str, *, after_a_write: bool = True) -> list[str]:
    """What a dead writer should not leave; the lock that other programs take stays."""
    found = [name for name in leftovers(space, after_a_write=after_a_write) if not name.endswith("memory.lock")]
    for folder in (f"{STATE}recovery", f"{HOME}recovery"):
        path = os.path.join(space, folder)
        kept = os.listdir(path) if after_a_write and os.path.isdir(path) else []
        found += [f"{folder}/{name}" for name in kept if not name.startswith("transaction-")]
    return found


# -- the next command ---------------------------------------------------------------------------------------------


def same(state: State) -> State:
    return state


def without_addition(state: State) -> State:
    entries = {name: fields for name, fields in state.entries.items() if name != "learnings.after_it"}
    return state._replace(entries=entries)


def one_session_less(state: State) -> State:
    """A session that began also named the assistant where nobody had."""
    named = state.entries.get("assistant.name", {}).get("source", {}).get("detail") or ""
    entries = {
        name: fields
        for name, fields in state.entries.items()
        if name != "assistant.name" or not named.startswith("given by session-start")
    }
    return state._replace(entries=entries, sessions=state.sessions - 1)


NEXT: dict[str, tuple[Callable[[Project], object], Callable[[State], State]]] = {
    "recall": (lambda project: recall_entries(project, RecallEntries(category="user"), note=False), same),
    "remember": (
        lambda project: remember_entry(
            project, RememberEntry(category="learnings", key="after_it", value="Somebody came after all that.")
        ),
        without_addition,
    ),
    "status": (lambda project: profile_status(project, Arguments()), same),
    "search": (lambda project: search_entries(project, SearchEntries(query="which shell?"), note=False), same),
    "session-start": (lambda project: start_session(project, Arguments()), one_session_less),
    "check": (lambda project: check_files(project), same),
    "dry run": (
        lambda project: remember_entry(
            project, RememberEntry(category="learnings", key="after_it", value="Somebody came after.", dry_run=True)
        ),
        same,
    ),
    "query": (lambda project: answer_question(project, "which shell?", layers=("profile",)), same),
    "context": (lambda project: profile_context(project, ShowProfileContext()), same),
}
READERS = ("recall", "status", "search", "context")


# -- judging ------------------------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    name: str
    scenario: Scenario
    prepared: Prepared
    before: Tree
    after: Tree
    old: State
    new: State

    @property
    def turns(self) -> int:
        return len(NEXT)

    @property
    def space(self) -> str:
        return self.prepared.space

    def act(self, phase: str = "b") -> object:
        return self.scenario.act(open_project(self.space, LATER, phase))

    @property
    def migrates(self) -> bool:
        return self.name.startswith("migrate")

    def judge(self, number: int, *, cut: bool = False) -> Iterator[str]:
        """Everything that is wrong after an interrupted run: as it lies there, to the next command, after one more."""
        yield from self.unkept(staged=cut)
        called = list(NEXT)[number % len(NEXT)]
        call, undone = NEXT[called]
        try:
            # Before there is anything to ask, asking is refused.
            with contextlib.suppress(*([NotInitialized] if self.name in ("first remember", "init") else [])):
                call(open_project(self.space, LATER, "c"))
            yield from (f"after {called}, {text}" for text in self.as_found(called, undone))
            yield from self.again(undone)
        except Exception as error:
            yield f"the next run failed ({called}): {error!r}"

    def unkept(self, *, staged: bool) -> Iterator[str]:
        """A document that changed before what it held was kept; `staged` for names that the disk gives in any order."""
        now = read_space(self.space)
        waiting = list(self.waiting()) if staged else []
        for document, backup in self.scenario.kept.items():
            held = [now.get(backup), *waiting]
            if now.get(document) != self.before[document] and self.before[document] not in held:
                yield f"`{document}` changed, and `{backup}` does not hold what it was"

    def waiting(self) -> Iterator[bytes]:
        """What the next command will put in its place."""
        for place in (f"{STATE}recovery", f"{HOME}recovery"):
            for folder, _, files in os.walk(os.path.join(self.space, place)):
                for name in files:
                    with open(os.path.join(folder, name), "rb") as file:
                        yield file.read()

    def as_found(self, called: str, undone: Callable[[State], State]) -> Iterator[str]:
        now = undone(state_of(self.space))
        yield from self.compared(now, [self.old, self.new, *([self.migrated(now)] if self.migrates else [])])
        if called in READERS and not self.migrates:
            tree = look(self.space)
            # Where readings could not be taken in, they still wait to be counted.
            waiting = (DOCUMENT,) if now == self.new and any(map(read_space(self.space).get, READ)) else ()
            for name in {**tree, **self.before, **self.after}:
                if (
                    name not in waiting
                    and tree.get(name) not in (self.before.get(name), self.after.get(name))
                    and name not in BESIDE
                ):
                    yield f"`{name}` is neither old nor new"
        yield from (f"left behind: {name}" for name in remains(self.space, after_a_write=False) if not self.waits(name))
        project = open_project(self.space, LATER, "c")
        if self.before.get(DOCUMENT) or os.path.exists(os.path.join(self.space, DOCUMENT)):
            errors = [found for found in check_files(project).errors if found.path.startswith((".ai-state", "~"))]
            yield from (f"check: {found.code} {found.path} {found.message}" for found in errors)
        yield from (f"the index is not as one made anew, {text}" for text in index_differs(project))

    def waits(self, name: str) -> bool:
        """A home that this project does not use yet is looked after by whoever uses it."""
        return self.scenario.apart and name.startswith(HOME) and self.old.place != "home"

    def migrated(self, now: State) -> State:
        """What the old document says in our version; what is done beside that is not there yet."""
        entries = {name: self.new.entries[name] for name in self.old.entries}
        return self.new._replace(entries=entries, forgotten=now.forgotten)

    def compared(self, now: State, allowed: list[State]) -> Iterator[str]:
        if now in allowed:
            return
        if not self.scenario.apart:
            wrong = [
                name for name in {**now.entries, **self.new.entries} if now.entries.get(name) not in self.versions(name)
            ]
            yield f"neither as before nor as after: {wrong}, {now.forgotten}, {now.sessions}, {now.place}"
            return
        for name in {**now.entries, **self.old.entries, **self.new.entries}:
            versions = [fields for fields in self.versions(name) if fields is not None]
            found = now.entries.get(name)
            if found is None:
                may_go = name not in self.new.entries and name in now.forgotten
                if not may_go and not (name not in self.old.entries and name in now.forgotten):
                    yield f"`{name}` is nowhere"
            elif not any(told(found) == told(fields) for fields in versions):
                yield f"`{name}` is neither old nor new: {found}"
            elif found.get("access_count", 0) > max(fields.get("access_count", 0) for fields in versions):
                yield f"`{name}` was counted twice"
        if now.sessions not in (self.old.sessions, self.new.sessions):
            yield f"{now.sessions} sessions"

    def versions(self, name: str) -> list[dict[str, Any] | None]:
        return [state.entries.get(name) for state in (self.old, self.new)]

    def again(self, undone: Callable[[State], State]) -> Iterator[str]:
        """The same once more, unless it is done; in the end somebody adds an entry, and no trace is left."""
        if not self.is_done(undone(state_of(self.space))) or self.name == "init":
            self.act("d")
        now = undone(state_of(self.space))
        if not self.is_done(now):
            wrong = [name for name in {**now.entries, **self.new.entries} if self.differs(now, name)]
            yield f"one more run left it different: {wrong}, {now[1:]} for {self.new[1:]}"
        for document, backup in self.scenario.kept.items():
            if self.migrates and read_space(self.space).get(backup) != self.before[document]:
                yield f"`{backup}` does not hold what was there"
        project = open_project(self.space, LATER, "e")
        if self.name.startswith("forget"):
            yield from self.brought_back(project, undone)
        remember_entry(
            project, RememberEntry(category="learnings", key="at_last", value="In the end all is well here.")
        )
        yield from (f"left behind: {name}" for name in remains(self.space))
        yield from (f"the index is not as one made anew, {text}" for text in index_differs(project))

    def brought_back(self, project: Project, undone: Callable[[State], State]) -> Iterator[str]:
        """What was forgotten, however often somebody had to say it, can be restored with all its links."""
        (name,) = set(self.old.entries) - set(self.new.entries)
        restore_entry(project, RestoreEntry(category=name))
        now = undone(state_of(self.space))
        for entry, fields in self.old.entries.items():
            if told(now.entries.get(entry, {})) != told(fields):
                yield f"restored, `{entry}` is not as it was: {now.entries.get(entry)}"

    def overtaken(self) -> Iterator[str]:
        """Somebody else writes the document before our next command: theirs holds, and nothing is left out for it."""
        path = os.path.join(self.space, DOCUMENT)
        if not os.path.exists(path):
            return
        with open(path, "rb") as file:
            fields = json.load(file)
        moment = "2026-03-02T12:00:00Z"
        fields["memories"].setdefault("learnings", {})["theirs"] = {
            "value": "Theirs is here.",
            "created_at": moment,
            "updated_at": moment,
        }
        write(self.space, DOCUMENT, pretty(fields))
        try:
            entry_index(open_project(self.space, LATER, "c"), ShowIndex())
        except Exception as error:
            yield f"the next run failed: {error!r}"
            return
        now = state_of(self.space)
        if "learnings.theirs" not in now.entries:
            yield "what somebody else wrote is gone"
        for name in {**self.old.entries, **self.new.entries}:
            found, versions = now.entries.get(name), [fields for fields in self.versions(name) if fields is not None]
            if found is None and name not in now.forgotten and (name in self.old.entries or name in self.old.forgotten):
                yield f"`{name}` is nowhere"
            elif found is not None and found.get("access_count", 0) < min(
                fields.get("access_count", 0) for fields in versions
            ):
                yield f"readings of `{name}` are lost"

    def is_done(self, now: State) -> bool:
        """On two disks what was read may be uncounted, and what was forgotten twice stands there twice."""
        if not self.scenario.apart:
            return now == self.new
        entries = {name: told(fields) for name, fields in now.entries.items()}
        return (
            entries == {name: told(fields) for name, fields in self.new.entries.items()}
            and set(now.forgotten) == set(self.new.forgotten)
            and (now.sessions, now.place) == (self.new.sessions, self.new.place)
            and all(
                fields.get("access_count", 0) <= self.new.entries[name].get("access_count", 0)
                for name, fields in now.entries.items()
            )
        )

    def differs(self, now: State, name: str) -> bool:
        return now.entries.get(name) != self.new.entries.get(name)

    def lost(self) -> Iterator[str]:
        """What is not there for the first reader although it was acknowledged."""
        settle(self.space)
        if state_of(self.space) != self.new:
            yield "acknowledged and lost"

    def refusal(self, said: str, *, for_good: bool) -> Iterator[str]:
        """What is wrong with how an operation ended that the disk refused a call."""
        settle(self.space)
        now = state_of(self.space)
        if said == "done":
            # Reading goes on where an older document cannot be brought up to our version.
            if now != self.new and self.name not in ("migrate 1.0", "migrate 1.1"):
                yield f"acknowledged, and not there: {[name for name in self.new.entries if self.differs(now, name)]}"
            return
        if "KeyboardInterrupt" not in said:
            code, message, hint = said.split("|", 2)
            if code == "untyped" or not hint:
                yield f"not an error that a person can act on: {said}"
            if for_good or "could not be completed" in message:
                return
            if now != self.old and not self.scenario.apart and not self.migrates:
                yield "refused, yet the profile changed"
        yield from (f"left behind: {name}" for name in remains(self.space))


def settle(space: str) -> None:
    """As a reader leaves it who comes next: a change that was recorded is completed."""
    with contextlib.suppress(QuireError):
        forgotten_entries(open_project(space, LATER, "c"))


def told(fields: dict[str, Any]) -> dict[str, Any]:
    """An entry without what every reading of it changes."""
    return {name: value for name, value in fields.items() if name not in ("access_count", "last_accessed")}


class Overtaken(Trial):
    """The same where somebody else comes after the death, and not we."""

    def judge(self, _number: int, *, cut: bool = False) -> Iterator[str]:
        return self.overtaken()


def begin(name: str, prepared: Prepared) -> Trial:
    """The scenario made ready by an unharmed run; ` / overtaken` where somebody else comes next."""
    name, _, overtaken = name.partition(" / ")
    prepared.restore()
    before, old = look(prepared.space), state_of(prepared.space)
    trial = Trial(name, SCENARIOS[name], prepared, before, {}, old, old)
    trial.act()
    after = look(prepared.space)
    assert differing(before, after), "an unharmed run changes something"
    trial = trial._replace(after=after, new=state_of(prepared.space))
    return Overtaken(*trial) if overtaken else trial


# -- many at once -------------------------------------------------------------------------------------------------


TOPICS = ("queue", "mailer", "export", "login", "search", "invoice", "upload", "webhook", "report", "cache")
THINGS = ("timeout", "retry", "limit", "owner", "alarm")


def topic(turn: int) -> str:
    """A sentence that shares too few words with any other one to be taken for it."""
    one, two = TOPICS[turn % len(TOPICS)], THINGS[turn // len(TOPICS) % len(THINGS)]
    return f"{one}{turn} {two}{turn} {one[::-1]}{turn} {two[::-1]}{turn} {turn:05d}."


def add(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """Nothing but new entries, each with a key and a value of its own."""
    name, text = f"by_{number}_{turn}", topic(100 * number + turn)
    yield {
        "did": remember_entry(Project.open(root), RememberEntry(category="learnings", key=name, value=text)).action,
        "name": name,
        "text": text,
    }


def repeat(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """What all the others say, too, under a key of one's own."""
    name, text = f"by_{number}_{turn}", topic(turn)
    yield {
        "did": remember_entry(Project.open(root), RememberEntry(category="learnings", key=name, value=text)).action,
        "name": name,
        "text": text,
    }


def recall(root: str, _number: int, turn: int) -> Iterator[dict[str, Any]]:
    """Read the same entries; the document is whole whenever it is looked at."""
    project = Project.open(root)
    for key in ("one", "two"):
        (found,) = recall_entries(project, RecallEntries(category="tools", key=key)).results
        assert found.value.startswith("The first"), found
        yield {"did": "recall", "name": f"tools.{key}"}
    if turn % 3 == 0:
        found = search_entries(project, SearchEntries(query="lighthouses", category="tools"))
        for view in found.results if not found.weak else ():
            yield {"did": "recall", "name": view.id}
    if turn % 7 == 0:
        yield {"did": "session", "count": start_session(project, Arguments()).session_count}
    assert check_files(project).errors == []


def other_program(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """As another program writes the same document: it waits for the kernel's lock, and never removes the file."""
    folder = os.path.join(root, ".ai-state")
    with open(os.path.join(folder, "memory.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(os.path.join(folder, "memory.json"), encoding="utf-8") as file:
            document = json.load(file)
        name = f"by_other_{number}_{turn}"
        moment = "2026-03-02T11:19:00.123456Z"
        document["memories"]["learnings"][name] = {
            "value": topic(1_000 * (number + 1) + turn),
            "created_at": moment,
            "updated_at": moment,
            "tags": [],
            "confidence": None,
        }
        count = document["memories"]["tools"]["one"]["access_count"] + 1
        document["memories"]["tools"]["one"]["access_count"] = count
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False, encoding="utf-8") as file:
            json.dump(document, file, indent=2, ensure_ascii=False)
            file.write("\n")
        os.replace(file.name, os.path.join(folder, "memory.json"))
        fcntl.flock(lock, fcntl.LOCK_UN)
    time.sleep(0.005)
    yield {"did": "other", "name": name}


def move(root: str, _number: int, turn: int) -> Iterator[dict[str, Any]]:
    """The private entries go to and fro."""
    project = Project.open(root)
    place = ("here", "home", "shared")[turn % 3]
    keep_private(project, KeepPrivate(place=place, apply=True))
    yield {"did": "moved", "place": place}


def remember_user(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    name, text = f"by_{number}_{turn}", topic(100 * number + turn)
    yield {
        "did": remember_entry(Project.open(root), RememberEntry(category="user", key=name, value=text)).action,
        "name": name,
        "text": text,
    }


def repeat_user(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    name, text = f"by_{number}_{turn}", topic(turn)
    yield {
        "did": remember_entry(Project.open(root), RememberEntry(category="user", key=name, value=text)).action,
        "name": name,
        "text": text,
    }


def hold(root: str, _number: int, _turn: int) -> Iterator[dict[str, Any]]:
    """Stop in the middle of a change."""
    holding()
    yield {
        "did": remember_entry(
            Project.open(root), RememberEntry(category="learnings", key="holder", value="The holder went on.")
        ).action
    }


def keep_here(root: str, _number: int, _turn: int) -> Iterator[dict[str, Any]]:
    """The same in the middle of a move."""
    holding()
    keep_private(Project.open(root), KeepPrivate(place="here", apply=True))
    yield {"did": "moved"}


WORKERS: dict[str, Worker] = {
    "add": add,
    "repeat": repeat,
    "recall": recall,
    "other": other_program,
    "move": move,
    "user": remember_user,
    "repeat user": repeat_user,
    "hold": hold,
    "keep here": keep_here,
}


if __name__ == "__main__":
    tell(begin, {name: scenario.prepare for name, scenario in SCENARIOS.items()}, WORKERS)
