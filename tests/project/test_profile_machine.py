"""Everything that can be done to a profile, in any order, held against a model of it in plain dicts."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from changing import NODE, TABLES
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from quire.files.world import World
from quire.index.catalog import Index
from quire.layers.profile.source import ProfileOverview
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes
from quire.verbs.profile.connections import entry_connections
from quire.verbs.profile.link import LinkEntries, UnlinkEntries, link_entries, unlink_entries
from quire.verbs.profile.options import EntryName
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
from thorough import either

CATEGORIES = ("user", "assistant", "project", "relationships", "tools", "learnings")
PRIVATE = ("user", "relationships")
SHARED, HERE, HOME = "shared", "here", "home"
Doc = dict[str, Any]
Name = tuple[str, str]

# Values of which only those count as alike that are meant to: no two others have a word in common.
VALUES = (
    "Fish is the shell.",
    "FISH  is the\nshell.",
    "amber birch cedar dogwood elder",
    "amber birch cedar dogwood fir",
    "東京 で 働く",
    "Tabs",
    "Releases leave harbour on Thursdays whatever happens otherwise",
)
TAGS = ("alpha", "beta", "gamma")
RELATIONS = ("supersedes", "elaborates", "contradicts", "related-to", "depends-on")


class Refused(Exception):
    """The model says that this cannot be done."""


# -- the model ------------------------------------------------------------------------------


def empty() -> Doc:
    return {"schema_version": "1.2", "session_count": 0, "memories": {name: {} for name in CATEGORIES}}


def is_entry(fields: Any) -> bool:
    return isinstance(fields, dict) and isinstance(fields.get("value"), str)


def status_of(fields: Doc) -> str:
    status = fields.get("status")
    status = status if isinstance(status, str) and status else "active"
    return "superseded" if status == "active" and fields.get("invalid_at") else status


def tags_of(fields: Doc) -> list[str]:
    tags = fields.get("tags")
    return list(dict.fromkeys(tag for tag in tags if isinstance(tag, str) and tag)) if isinstance(tags, list) else []


def links_of(fields: Doc) -> list[tuple[str, str]]:
    links = fields.get("links")
    found = [
        (item["target"], item["relation"])
        for item in (links if isinstance(links, list) else [])
        if isinstance(item, dict) and isinstance(item.get("target"), str) and isinstance(item.get("relation"), str)
    ]
    return list(dict.fromkeys(link for link in found if all(link[0].partition(".")[::2]) and link[1]))


def count_of(fields: Doc) -> int:
    count = fields.get("access_count")
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def weight_of(category: str, fields: Doc) -> float:
    importance, confidence = fields.get("importance"), fields.get("confidence")
    importance = importance if isinstance(importance, int) and not isinstance(importance, bool) else 5
    sure = 1.0 if confidence is None or category == "user" else 1.0 - 0.1 * (1.0 - confidence)
    return (0.9 + 0.01 * min(max(importance, 1), 10)) * sure


def moment(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def migrated(doc: Doc) -> Doc:
    doc = copy.deepcopy(doc)
    if doc["schema_version"] == "1.0":
        doc.setdefault("session_count", 0)
        first = {"importance": 5, "source": {"type": "session", "detail": None}, "access_count": 0}
        added: Doc = {**first, "last_accessed": None, "status": "active", "links": []}
    else:
        added = {"links": []}
    for entries in doc["memories"].values():
        for fields in entries.values() if isinstance(entries, dict) else ():
            if isinstance(fields, dict):
                for name, default in added.items():
                    fields.setdefault(name, copy.deepcopy(default))
    doc["schema_version"] = "1.2"
    return doc


def new(value: str, now: str, **given: Any) -> Doc:
    return {
        "value": value,
        "created_at": now,
        "updated_at": now,
        "tags": [],
        "confidence": None,
        "importance": 5,
        "source": {"type": "session", "detail": None},
        "access_count": 0,
        "last_accessed": None,
        "status": "active",
        "links": [],
        **given,
    }


class Model:
    """Three documents, of which one may be private; what was read, and what was forgotten."""

    def __init__(self) -> None:
        self.docs: dict[str, Doc | None] = {SHARED: None, HERE: None, HOME: None}
        self.place = SHARED
        self.pending: Counter[str] = Counter()
        self.last: dict[str, str] = {}
        self.forgotten: list[Doc] = []

    # -- looking --

    def places(self) -> list[str]:
        """Where there are documents, the one that counts more first."""
        order = [self.place, SHARED] if self.place != SHARED else [SHARED]
        return [place for place in order if self.docs[place] is not None]

    def entries(self, place: str, category: str) -> Doc | None:
        doc = self.docs[place]
        found = doc["memories"].get(category) if doc else None
        return found if isinstance(found, dict) else None

    def held(self, place: str, name: Name) -> Any:
        return (self.entries(place, name[0]) or {}).get(name[1])

    def has(self, place: str, name: Name) -> bool:
        return name[1] in (self.entries(place, name[0]) or {})

    def find(self, name: Name) -> tuple[str, Doc] | None:
        for place in self.places():
            if is_entry(self.held(place, name)):
                return place, self.held(place, name)
        return None

    def need(self, name: Name) -> tuple[str, Doc]:
        found = self.find(name)
        if found is None:
            raise Refused
        return found

    def seen(self) -> dict[Name, tuple[str, Doc]]:
        """Every entry once, with the document that it counts from."""
        found: dict[Name, tuple[str, Doc]] = {}
        for place in reversed(self.places()):
            for name, fields in self.all(place):
                if is_entry(fields):
                    found[name] = (place, fields)
        return found

    def all(self, place: str) -> Iterator[tuple[Name, Any]]:
        doc = self.docs[place] or {"memories": {}}
        for category, entries in doc["memories"].items():
            for key, fields in entries.items() if isinstance(entries, dict) else ():
                yield (category, key), fields

    def shadowed(self) -> list[str]:
        if self.place == SHARED:
            return []
        hidden = {name for name, fields in self.all(SHARED) if is_entry(fields)}
        return [".".join(name) for name, fields in self.all(self.place) if is_entry(fields) and name in hidden]

    def unread(self) -> int:
        bad = 0
        for place in self.places():
            memories = (self.docs[place] or {})["memories"]
            bad += sum(not isinstance(entries, dict) for entries in memories.values())
            bad += sum(not is_entry(fields) for _, fields in self.all(place))
        return bad

    # -- changing --

    def put(self, name: Name, fields: Doc, place: str | None = None) -> None:
        """An entry where it is, or where its category is kept."""
        held = [where for where in self.places() if self.has(where, name)]
        home = self.place if name[0] in PRIVATE else SHARED
        where = place or (held[0] if held else home)
        if self.docs[where] is None:
            self.docs[where] = empty()
        doc = self.docs[where]
        assert doc is not None
        entries = doc["memories"].setdefault(name[0], {})
        if not isinstance(entries, dict):
            raise Refused
        entries[name[1]] = fields

    def change(self, name: Name, now: str | None = None, **fields: Any) -> None:
        place, before = self.need(name)
        after = {**before, **fields}
        if now:
            after["updated_at"] = now
        self.put(name, after, place)

    def fold(self) -> None:
        for text, number in self.pending.items():
            category, _, key = text.partition(".")
            found = self.find((category, key))
            if found is None:
                continue
            last: Any = self.last[text]
            before = moment(found[1].get("last_accessed"))
            if before is not None and before >= (moment(last) or before):
                last = found[1]["last_accessed"]
            self.change((category, key), access_count=count_of(found[1]) + number, last_accessed=last)
        self.pending.clear()
        self.last.clear()

    def leads(self, start: str, end: str) -> bool:
        """Whether one replaces another, directly or through others."""
        seen, waiting = {start}, [start]
        while waiting:
            category, _, key = waiting.pop().partition(".")
            found = self.find((category, key))
            for target, relation in links_of(found[1]) if found else ():
                if relation == "supersedes" and target == end:
                    return True
                if relation == "supersedes" and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    def link(self, source: Name, target: Name, relation: str, now: str) -> tuple[bool, bool]:
        """Whether it is new, and whether the target was put away."""
        _, fields = self.need(source)
        _, other = self.need(target)
        one, two = ".".join(source), ".".join(target)
        if one == two or (relation == "supersedes" and self.leads(two, one)):
            raise Refused
        created = (two, relation) not in links_of(fields)
        if created:
            held = fields.get("links")
            links = held if isinstance(held, list) else []
            self.change(source, links=[*links, {"target": two, "relation": relation}])
        archived = relation == "supersedes" and status_of(other) == "active"
        if archived:
            self.change(target, now, status="archived")
        return created, archived


# -- the machine ----------------------------------------------------------------------------

PICK = st.integers(0, 10_000)
CATEGORY = st.sampled_from(("user", "assistant", "relationships", "tools", "tools"))
KEY = st.sampled_from(("a", "b", "c", "d", "name"))
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(st.sampled_from(TAGS), max_size=3),
        "untag": st.lists(st.sampled_from(TAGS), max_size=2),
        "importance": st.integers(1, 10),
        "confidence": st.none() | st.sampled_from((0.0, 0.35, 0.9, 1.0)),
        "source_type": st.sampled_from(("session", "user-stated", "inferred", "codebase")),
        "detail": st.none() | st.sampled_from(("src/app.py", "größe")),
        "status": st.sampled_from(("active", "archived", "superseded")),
    },
)
ODD = st.sampled_from(
    (
        {"importance": "high"},
        {"importance": 99, "colour": "red"},
        {"access_count": None},
        {"access_count": 7, "last_accessed": "2999-01-01T00:00:00Z"},
        {"last_accessed": "soon"},
        {"status": "resting"},
        {"status": None, "novel": {"ü": [1, 2.5, None, 2**70]}},
        {"source": "an old note"},
        {"tags": ["Has Space", "alpha", "beta"]},
        {"links": None},
        {"links": [7, {"target": "tools.a"}, {"target": "tools.a", "relation": "novel"}]},
        {"created_at": "soon", "updated_at": 7},
        {"created_at": "2026-01-01T00:00:00.123456+00:00", "updated_at": "2026-01-01T00:00:00"},
        {"invalid_at": "2026-01-01T00:00:00Z"},
        {"summary": "Another word for it"},
        {"confidence": None},
    )
)
FORM = st.sampled_from(
    (
        {"indent": 2, "ensure_ascii": False},
        {"indent": None, "separators": (",", ":")},
        {"indent": 4, "ensure_ascii": True},
    )
)


LONG_AGO = "2026-01-05T08:00:00Z"


def filled(number: int, *links: tuple[str, str], **fields: Any) -> Doc:
    held = [{"target": target, "relation": relation} for target, relation in links]
    return new(VALUES[number], LONG_AGO, links=held) | fields


FILLED = {
    "schema_version": "1.2",
    "session_count": 3,
    "memories": {
        "user": {"a": filled(0, ("tools.a", "elaborates"), tags=["alpha", "beta"]), "b": filled(4, importance=2)},
        "tools": {
            "a": filled(2, ("tools.b", "supersedes"), tags=["alpha", "beta", "gamma"], confidence=0.5),
            "b": filled(3, status="archived"),
            "c": filled(6, ("user.a", "related-to"), importance=1),
        },
        "relationships": {"name": filled(5, ("user.a", "depends-on"), tags=["beta", "gamma"], confidence=0.9)},
    },
    "extra": "größe",
}
FILLED_TWIN = {
    "schema_version": "1.2",
    "memories": {
        "user": {
            "a": filled(6, ("tools.a", "contradicts"), tags=["alpha", "gamma"]),
            "d": filled(5, ("user.b", "novel")),
        }
    },
}


class Profiles(RuleBasedStateMachine):
    """After each step: the documents say what the model says, and the index what one made from nothing says."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(os, "fsync", lambda _descriptor: None)
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="quire-", dir=memory)
        self.root = os.path.join(self.folder, "harbor")
        os.mkdir(self.root)
        self.now = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
        self.count = 0
        self.model = Model()
        self.project = self.opened()
        self.is_asked = True

    def opened(self) -> Project:
        env = {"HOME": self.folder, "MEMORY_HOME": os.path.join(self.folder, "registry"), "PATH": ""}
        world = World(
            cwd=self.root,
            env=env,
            now=lambda: self.now,
            token=self.token,
            sleep=lambda _seconds: None,
            pid=os.getpid(),
        )
        return Project.open(self.root, world)

    def token(self) -> str:
        self.count += 1
        return f"{self.count:04x}" * 4

    def teardown(self) -> None:
        try:
            self.answers()
        finally:
            self.patch.undo()
            shutil.rmtree(self.folder)

    @initialize(graph=st.booleans(), filled=st.booleans(), twin=st.booleans())
    def begin(self, graph: bool, filled: bool, twin: bool) -> None:
        """With an index that is kept, or with one in memory; with entries in one document or both, or with none."""
        if graph:
            init_memory(self.project, guidance=False)
            save_nodes(self.project, {"task": "t", "nodes": [NODE]})
        if filled:
            self.by_hand(SHARED, copy.deepcopy(FILLED), {"indent": 2, "ensure_ascii": False})
        if filled and twin:
            self.by_hand(HERE, copy.deepcopy(FILLED_TWIN), {"indent": 2, "ensure_ascii": False})
            self.model.place = HERE

    # -- what everybody needs --

    @property
    def at(self) -> str:
        return self.now.isoformat().replace("+00:00", "Z")

    def path(self, place: str) -> Path:
        if place == HOME:
            return Path(self.folder, "registry", "profile", "memory.json")
        return Path(self.root, ".ai-state", "local" if place == HERE else "", "memory.json")

    def read(self, place: str) -> bytes | None:
        path = self.path(place)
        return path.read_bytes() if path.exists() else None

    def name(self, pick: int) -> Name:
        names = sorted(self.model.seen())
        return names[pick % len(names)] if names else ("tools", "none")

    def settle(self) -> None:
        """What every operation does first: older documents are brought up."""
        for place in self.model.places():
            doc = self.model.docs[place]
            assert doc is not None
            if doc["schema_version"] in ("1.0", "1.1"):
                version, data = doc["schema_version"], self.read(place)
                self.model.docs[place] = migrated(doc)
                profile_status(self.project, Arguments())
                kept = self.path(place).with_name(f"memory.pre-migration-{version}.json")
                assert kept.read_bytes() == data

    def do(self, work: Callable[[], Any], expect: Callable[[Model], Any]) -> tuple[Any, Any]:
        """Do it here and in the model; what each of them says. An error on both sides changes nothing."""
        self.settle()
        before = {place: self.read(place) for place in self.model.docs}
        after = copy.deepcopy(self.model)
        try:
            expected = expect(after)
        except Refused:
            with pytest.raises(QuireError):
                work()
            assert {place: self.read(place) for place in self.model.docs} == before
            return None, None
        found = work()
        if (
            after.docs == self.model.docs
            and after.forgotten == self.model.forgotten
            and after.place == self.model.place
        ):
            assert {place: self.read(place) for place in self.model.docs} == before
        self.model = after
        for place, data in before.items():
            now = self.read(place)
            if now != data and now is not None:
                assert now == (json.dumps(json.loads(now), indent=2, ensure_ascii=False) + "\n").encode()
        return found, expected

    # -- telling --

    @rule(
        category=CATEGORY,
        key=KEY,
        value=st.none() | st.sampled_from(VALUES),
        given=GIVEN,
        replaced=st.lists(PICK, max_size=2),
        force=st.booleans(),
        broad=st.booleans(),
    )
    def remember(
        self,
        category: str,
        key: str,
        value: str | None,
        given: Doc,
        replaced: list[int],
        force: bool,
        broad: bool,
    ) -> None:
        name = (category, key)
        supersedes = [self.name(pick) for pick in replaced]
        found, expected = self.do(
            lambda: remember_entry(
                self.project,
                RememberEntry(
                    category=category,
                    key=key,
                    value=value,
                    **given,
                    supersedes=[".".join(item) for item in supersedes],
                    force=force,
                    broad=broad,
                ),
            ),
            lambda model: remembered(model, name, value, given, supersedes, force, broad, self.at),
        )
        if expected is not None:
            action, linked, archived, alike = expected
            assert found.action == action
            assert [item.ref for item in found.candidates] == alike
            if action != "candidates":
                assert (found.linked, found.archived) == (linked, archived)
                self.compare(found.entry)

    @rule(pick=PICK)
    def forget(self, pick: int) -> None:
        name = self.name(pick)
        self.settle()
        kept = {place: self.read(place) for place in self.model.places()}
        found, expected = self.do(
            lambda: forget_entry(self.project, ForgetEntry(category=name[0], key=name[1])),
            lambda model: forgotten(model, name, self.at),
        )
        if expected is not None:
            assert found.removed.entry == expected["fields"]
            assert found.links_removed == sorted({source for source, _ in expected["incoming"]})
            for place, data in kept.items():
                if self.read(place) != data:
                    assert self.path(place).with_name("memory.backup.json").read_bytes() == data

    @rule(pick=PICK)
    def restore(self, pick: int) -> None:
        names = [(item["category"], item["key"]) for item in self.model.forgotten] or [("tools", "none")]
        name = names[pick % len(names)]
        found, expected = self.do(
            lambda: restore_entry(self.project, RestoreEntry(category=name[0], key=name[1])),
            lambda model: restored(model, name),
        )
        if expected is not None:
            assert found.links_restored == expected
            assert found.entry.entry == self.model.need(name)[1]

    @rule(start=PICK, end=PICK, relation=st.sampled_from(("supersedes", *RELATIONS)))
    def link(self, start: int, end: int, relation: str) -> None:
        source, target = self.name(start), self.name(end)

        def expect(model: Model) -> tuple[bool, bool]:
            done = model.link(source, target, relation, self.at)
            if any(done):
                model.fold()
            return done

        found, expected = self.do(
            lambda: link_entries(
                self.project, LinkEntries(source=".".join(source), target=".".join(target), relation=relation)
            ),
            expect,
        )
        if expected is not None:
            assert (found.created, found.archived) == expected

    @rule(start=PICK, pick=PICK, only=st.booleans())
    def unlink(self, start: int, pick: int, only: bool) -> None:
        with_links = [name for name in sorted(self.model.seen()) if links_of(self.model.seen()[name][1])]
        source = with_links[start % len(with_links)] if with_links else self.name(start)
        links = links_of(self.model.need(source)[1]) if self.model.find(source) else []
        target, relation = links[pick % len(links)] if links else ("tools.none", "related-to")

        def expect(model: Model) -> list[str]:
            _, fields = model.need(source)
            wanted = None if not only else relation
            if wanted is not None and wanted not in RELATIONS:
                raise Refused
            gone = [kind for name, kind in links_of(fields) if name == target and wanted in (None, kind)]
            if not gone:
                raise Refused
            kept = [
                item
                for item in fields["links"]
                if not (
                    isinstance(item, dict) and item.get("target") == target and wanted in (None, item.get("relation"))
                )
            ]
            model.change(source, links=kept)
            model.fold()
            return gone

        found, expected = self.do(
            lambda: unlink_entries(
                self.project, UnlinkEntries(source=".".join(source), target=target, relation=relation if only else None)
            ),
            expect,
        )
        if expected is not None:
            assert list(found.relations) == expected

    @rule()
    def start_a_session(self) -> None:
        def expect(model: Model) -> bool:
            model.fold()
            missing = model.find(("assistant", "name")) is None
            if missing and not any(model.has(place, ("assistant", "name")) for place in model.places()):
                model.put(("assistant", "name"), new("?", self.at, tags=["identity"], confidence=0.3))
            doc = model.docs[SHARED] = model.docs[SHARED] or empty()
            doc["session_count"] = doc.get("session_count", 0) + 1
            return missing

        found, missing = self.do(partial(start_session, self.project, Arguments()), expect)
        if missing is None:
            return
        assert found.name_missing == missing
        name = self.model.find(("assistant", "name"))
        if name is not None and name[1]["value"] == "?":
            assert found.name_assigned
            stored = json.loads(self.read(SHARED) or b"")["memories"]["assistant"]["name"]
            detail = stored["source"]["detail"]
            name[1].update(value=stored["value"], source={"type": "inferred", "detail": detail})
        assert found.session_count == (self.model.docs[SHARED] or {})["session_count"]
        assert found.total == sum(status_of(fields) == "active" for _, fields in self.model.seen().values())

    @rule(apply=st.sampled_from((("archive",), ("confidence",), ("archive", "confidence"))), pick=st.none() | PICK)
    def reflect(self, apply: tuple[str, ...], pick: int | None) -> None:
        only = [] if pick is None else [".".join(self.name(pick))]
        if only and self.model.find(split(only[0])) is None:
            with pytest.raises(QuireError):
                reflect_on_entries(self.project, ReflectOnEntries(only=only))
            return
        proposed = reflect_on_entries(self.project, ReflectOnEntries(only=only))
        changes = {
            **{(item.category, item.key): {"status": "archived"} for item in proposed.archival_candidates},
            **{
                (item.category, item.key): {"confidence": item.proposed_confidence}
                for item in proposed.confidence_updates
            },
        }
        wanted = {
            name: fields
            for name, fields in changes.items()
            if ("status" in fields and "archive" in apply) or ("confidence" in fields and "confidence" in apply)
        }
        for name in changes:
            assert status_of(self.model.need(name)[1]) == "active"

        def expect(model: Model) -> list[str]:
            if wanted:
                model.fold()
            for name, fields in wanted.items():
                model.change(name, self.at, **fields)
            return [".".join(name) for name in wanted]

        found, expected = self.do(
            lambda: reflect_on_entries(self.project, ReflectOnEntries(apply=apply, only=only)), expect
        )
        assert sorted(found.applied) == sorted(expected)

    # -- asking --

    @rule(category=CATEGORY, pick=st.none() | PICK)
    def recall(self, category: str, pick: int | None) -> None:
        name = None if pick is None else self.name(pick)
        named, key = name or (category, None)

        def expect(model: Model) -> list[str]:
            if name is not None:
                model.need(name)
                names = [".".join(name)]
            else:
                names = [
                    item for item in in_order(model, category) if status_of(model.seen()[split(item)][1]) == "active"
                ]
            for item in names:
                model.pending[item] += 1
                model.last[item] = max(self.at, model.last.get(item, ""))
            return names

        found, expected = self.do(
            lambda: recall_entries(self.project, RecallEntries(category=named, key=key)),
            expect,
        )
        if expected is not None:
            assert [item.id for item in found.results] == expected
            for item in found.results:
                self.compare(item)

    @rule(query=st.sampled_from(("fish shell", "amber birch", "tabs", "harbour releases", "東京")))
    def search(self, query: str) -> None:
        self.settle()
        found = search_entries(self.project, SearchEntries(query=query))
        seen = self.model.seen()
        for item in found.results:
            assert status_of(seen[split(item.id)][1]) == "active"
            if not found.weak:
                self.model.pending[item.id] += 1
                self.model.last[item.id] = max(self.at, self.model.last.get(item.id, ""))
        for item in found.results:
            self.compare(item)
        sought = {"fish shell": "fish is the shell.", "tabs": "tabs"}.get(query)
        if sought:
            same = {
                ".".join(name)
                for name, (_, fields) in seen.items()
                if " ".join(fields["value"].split()).casefold() == sought and status_of(fields) == "active"
            }
            assert same <= {item.id for item in found.results}

    # -- privacy --

    @rule(place=st.sampled_from((HERE, HOME, SHARED)), prefer=st.sampled_from(("", "target", "source")))
    def move(self, place: str, prefer: str) -> None:
        self.settle()
        looked = None
        with contextlib.suppress(QuireError):
            looked = keep_private(self.project, KeepPrivate(place=place))
        found, expected = self.do(
            lambda: keep_private(self.project, KeepPrivate(place=place, apply=True, prefer=prefer)),
            lambda model: moved(model, place, prefer, self.at),
        )
        if expected is not None:
            assert (found.moved, found.copied, found.differing) == expected
            assert looked is not None
            assert (looked.moved, looked.copied, looked.differing) == expected
            assert looked.linked == found.linked

    # -- others --

    @rule(hours=st.sampled_from((1, 30, 200)))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule()
    def somebody_deletes_the_index(self) -> None:
        shutil.rmtree(os.path.join(self.root, ".memory", "index"), ignore_errors=True)

    @rule()
    def another_process_goes_on(self) -> None:
        self.project = self.opened()

    def by_hand(self, place: str, doc: Doc, form: Doc) -> None:
        """Another program writes a document, in its own way."""
        path = self.path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((json.dumps(doc, **form) + "\n").encode())
        self.model.docs[place] = doc

    def some(self, pick: int) -> tuple[str, Doc]:
        """A document to be changed by another program."""
        self.settle()
        place = ([*self.model.places()] or [SHARED])[pick % max(len(self.model.places()), 1)]
        return place, copy.deepcopy(self.model.docs[place] or empty())

    @rule(
        pick=PICK,
        category=st.sampled_from((*CATEGORIES, "novel")),
        key=KEY | st.sampled_from(("Odd Key.x", "größe")),
        value=st.sampled_from(VALUES),
        odd=ODD,
        links=st.lists(st.tuples(PICK, st.sampled_from(RELATIONS)), max_size=2),
        form=FORM,
    )
    def another_program_adds(
        self, pick: int, category: str, key: str, value: str, odd: Doc, links: list[tuple[int, str]], form: Doc
    ) -> None:
        place, doc = self.some(pick)
        held = [{"target": ".".join(self.name(end)), "relation": relation} for end, relation in links]
        entries = doc["memories"].setdefault(category, {})
        if isinstance(entries, dict):
            entries[key] = new(value, self.at, links=held) | copy.deepcopy(odd)
            self.by_hand(place, doc, form)

    @rule(pick=PICK, which=PICK, odd=ODD, form=FORM)
    def another_program_changes(self, pick: int, which: int, odd: Doc, form: Doc) -> None:
        place, doc = self.some(pick)
        names = [
            (category, key)
            for category, entries in doc["memories"].items()
            if isinstance(entries, dict)
            for key, fields in entries.items()
            if isinstance(fields, dict)
        ]
        if names:
            category, key = names[which % len(names)]
            doc["memories"][category][key] |= copy.deepcopy(odd)
            self.by_hand(place, doc, form)

    @rule(pick=PICK, which=PICK, form=FORM)
    def another_program_removes(self, pick: int, which: int, form: Doc) -> None:
        place, doc = self.some(pick)
        names = [(c, key) for c, entries in doc["memories"].items() if isinstance(entries, dict) for key in entries]
        if names:
            category, key = names[which % len(names)]
            del doc["memories"][category][key]
            self.by_hand(place, doc, form)

    @rule(
        what=st.sampled_from(
            (
                {"memories": {"user": {"odd": "a text"}}},
                {"memories": {"tools": {"odd": None, "list": [1]}}},
                {"memories": {"novel": [1, 2]}},
                {"memories": {"learnings": None}},
                {"extra": {"größe": "🎉 \x07"}},
                {"session_count": 41},
            )
        ),
        form=FORM,
    )
    def another_program_does_as_it_likes(self, what: Doc, form: Doc) -> None:
        self.settle()
        doc = copy.deepcopy(self.model.docs[SHARED] or empty())
        for category, held in what.get("memories", {}).items():
            if isinstance(held, dict) and isinstance(doc["memories"].get(category), dict):
                doc["memories"][category] |= held
            elif not doc["memories"].get(category):
                doc["memories"][category] = held
        doc |= {name: value for name, value in what.items() if name != "memories"}
        self.by_hand(SHARED, doc, form)

    @rule(version=st.sampled_from(("1.0", "1.1")), form=FORM)
    def an_older_document_comes_back(self, version: str, form: Doc) -> None:
        self.settle()
        doc = copy.deepcopy(self.model.docs[SHARED])
        if doc is not None:
            doc["schema_version"] = version
            for entries in doc["memories"].values():
                for fields in entries.values() if isinstance(entries, dict) else ():
                    if isinstance(fields, dict) and fields.get("value") != VALUES[0]:
                        for name in ("links", "status") if version == "1.0" else ("links",):
                            fields.pop(name, None)
            self.by_hand(SHARED, doc, form)

    @rule(pick=PICK, form=FORM)
    def another_program_brings_back_what_was_forgotten(self, pick: int, form: Doc) -> None:
        """As a merge does; the links to it are gone all the same."""
        self.settle()
        gone = self.model.forgotten[pick % len(self.model.forgotten)] if self.model.forgotten else None
        doc = copy.deepcopy(self.model.docs[SHARED] or empty())
        if gone is not None and isinstance(doc["memories"].setdefault(gone["category"], {}), dict):
            doc["memories"][gone["category"]][gone["key"]] = copy.deepcopy(gone["fields"])
            self.by_hand(SHARED, doc, form)

    @rule(pick=PICK)
    def a_document_is_gone(self, pick: int) -> None:
        """As after a checkout of an earlier commit. A twin that is gone is no setting any more."""
        places = [place for place in self.model.places() if place != HERE]
        if places and pick % 5 == 0:
            place = places[pick % len(places)]
            self.path(place).unlink()
            self.model.docs[place] = None

    # -- after each step --

    @invariant()
    def the_documents_say_what_the_model_says(self) -> None:
        for place, doc in self.model.docs.items():
            data = self.read(place)
            assert json.dumps(json.loads(data) if data else None) == json.dumps(doc), place

    @invariant()
    def the_index_knows_what_the_documents_say(self) -> None:
        folder = os.path.join(self.root, ".memory", "index")
        if not os.path.isdir(os.path.dirname(folder)):
            return
        patched = self.knows()
        os.rename(folder, f"{folder}-kept")
        try:
            made = self.knows()
        finally:
            shutil.rmtree(folder)
            os.rename(f"{folder}-kept", folder)
        for name, expected in made.items():
            assert patched[name] == expected, name

    def knows(self) -> dict[str, list[Any]]:
        def work(index: Index) -> dict[str, list[Any]]:
            found = {name: list(index._connection.execute(query)) for name, query in TABLES.items()}
            # That nothing is there is known of a document that was there, and not of one that never was.
            found["summaries"] = [row for row in found["summaries"] if row[1] != ProfileOverview().summary().value]
            return {name: sorted(rows, key=repr) for name, rows in found.items()}

        return self.project.with_index(work)

    @invariant()
    def the_state_is_that_of_the_model(self) -> None:
        self.settle()
        found = profile_status(self.project, Arguments())
        seen = self.model.seen()
        active = Counter(name[0] for name, (_, fields) in seen.items() if status_of(fields) == "active")
        statuses = Counter(status_of(fields) for _, fields in seen.values())
        tags = Counter(tag for _, fields in seen.values() for tag in tags_of(fields))
        assert found.exists == bool(self.model.places())
        assert found.session_count == (self.model.docs[SHARED] or {}).get("session_count", 0)
        assert {name: number for name, number in found.categories.items() if number} == active
        assert {name: number for name, number in found.statuses.items() if number} == statuses
        assert (found.total, found.unread, found.shadowed) == (len(seen), self.model.unread(), self.model.shadowed())
        assert found.links == sum(len(links_of(fields)) for _, fields in seen.values())
        assert found.tags == tags
        assert found.private == self.model.place
        assert found.private_entries == sum(place != SHARED for place, _ in seen.values())
        assert found.pending_readings == self.model.pending.total()
        assert found.forgotten == len(self.model.forgotten)

    def answers(self) -> None:
        """Everything else that can be asked."""
        self.settle()
        seen = self.model.seen()
        for category in {*CATEGORIES, *(name[0] for name in seen)}:
            found = recall_entries(self.project, RecallEntries(category=category, everything=True), note=False)
            assert [item.id for item in found.results] == in_order(self.model, category)
            for item in found.results:
                self.compare(item)
        for name, (_, fields) in seen.items():
            told = entry_connections(self.project, EntryName(category=name[0], key=name[1]))
            assert [(item.target, item.relation) for item in told.outgoing] == links_of(fields)
            assert [item.entry_summary for item in told.outgoing] == [
                seen[split(target)][1]["value"] if split(target) in seen else "" for target, _ in links_of(fields)
            ]
            incoming = {
                (".".join(other), relation)
                for other, (_, held) in seen.items()
                for target, relation in links_of(held)
                if split(target) == name and other != name
            }
            assert {(item.source, item.relation) for item in told.incoming} == incoming
        listed = entry_index(self.project, ShowIndex(everything=True))
        assert listed.profile.count("\n- **") == listed.entries == len(seen)
        gone = [f"profile:{item['category']}.{item['key']}" for item in reversed(self.model.forgotten)]
        assert [item.ref for item in forgotten_entries(self.project)] == gone

    def compare(self, item: Any) -> None:
        """One entry as it is shown, with what was read since the last change."""
        place, fields = self.model.need(split(item.id))
        number = self.model.pending.get(item.id, 0)
        assert (item.value, item.status, list(item.tags)) == (fields["value"], status_of(fields), tags_of(fields))
        assert [(link["target"], link["relation"]) for link in item.links] == links_of(fields)
        assert item.private == (place != SHARED)
        assert item.access_count == count_of(fields) + number
        rest = {name: value for name, value in fields.items() if name not in ("access_count", "last_accessed")}
        assert {name: value for name, value in item.entry.items() if name in rest} == rest


# -- what each operation does to the model --------------------------------------------------


def split(name: str) -> Name:
    category, _, key = name.partition(".")
    return category, key


def in_order(model: Model, category: str) -> list[str]:
    """The names of a category's entries as they stand: the shared ones, then those that are private alone."""
    seen = model.seen()
    names = dict.fromkeys(name for place in reversed(model.places()) for name, _ in model.all(place))
    return [".".join(name) for name in names if name[0] == category and name in seen]


def alike(model: Model, category: str, value: str, broad: bool) -> list[str]:
    """Active entries that say the same, or nearly."""

    def words(text: str) -> set[str]:
        return set(text.casefold().replace(".", " ").split())

    same, near = [], []
    for name, (_, fields) in model.seen().items():
        if status_of(fields) != "active" or name[0] not in (CATEGORIES if broad else (category,)):
            continue
        one, two = words(value), words(fields["value"])
        share = len(one & two) / len(one | two)
        ref = f"profile:{'.'.join(name)}"
        if " ".join(value.split()).casefold() == " ".join(fields["value"].split()).casefold():
            same += [ref] if len(one) >= 3 else []
        elif len(one) >= 4 and share >= 0.6:
            near.append((-share, ref))
    return [*sorted(same), *(ref for _, ref in sorted(near)[:3])]


def sharing(model: Model, tags: set[str]) -> list[Name]:
    """Active entries with two of these tags or more, the best first."""
    found = []
    for name, (_, fields) in model.seen().items():
        both = tags & {tag.casefold() for tag in tags_of(fields)}
        if len(both) >= 2 and status_of(fields) == "active":
            updated = fields.get("updated_at")
            updated = updated if isinstance(updated, str) else fields.get("created_at")
            stamp = (moment(updated) or datetime(1970, 1, 1, tzinfo=UTC)).timestamp()
            found.append((-len(both), -weight_of(name[0], fields), -stamp, ".".join(name), name))
    return [item[-1] for item in sorted(found)]


def remembered(
    model: Model,
    name: Name,
    value: str | None,
    given: Doc,
    supersedes: list[Name],
    force: bool,
    broad: bool,
    now: str,
) -> tuple[str, list[str], list[str], list[str]]:
    """What it is called that was done, what was linked and archived, and what says the same already."""
    untouched = copy.deepcopy(model)
    found = model.find(name)
    if found is None and (value is None or any(model.has(place, name) for place in model.places())):
        raise Refused
    before = found[1] if found else None
    told: Doc = {} if value is None else {"value": value}
    tags, untag = given.get("tags", []), given.get("untag", [])
    if tags or untag:
        told["tags"] = sorted({*(tags_of(before) if before else ()), *tags} - set(untag))
    if name[0] == "user" and ("confidence" in given or (before and before.get("confidence") is not None)):
        told["confidence"] = None
    elif "confidence" in given:
        told["confidence"] = given["confidence"]
    if "importance" in given:
        told["importance"] = given["importance"]
    if "source_type" in given or "detail" in given:
        stored = before.get("source") if before else None
        detail = stored if isinstance(stored, str) else None
        source = dict(stored) if isinstance(stored, dict) else {"type": "session", "detail": detail}
        source |= {"type": given["source_type"]} if "source_type" in given else {}
        told["source"] = source | ({"detail": given["detail"]} if "detail" in given else {})
    if "status" in given:
        told["status"] = given["status"]
    if before is None:
        action = "ADD"
        model.put(name, new(told.pop("value"), now, **told))
    elif all(before.get(field) == content for field, content in told.items()):
        action = "NOOP"
    else:
        action = "UPDATE"
        model.change(name, now, **told)
    archived = []
    for other in supersedes:
        created, is_archived = model.link(name, other, "supersedes", now)
        archived += [".".join(other)] if is_archived else []
        action = "UPDATE" if action == "NOOP" and (created or is_archived) else action
    linked: list[str] = []
    if action == "ADD" or (tags and action == "UPDATE"):
        linked = auto_linked(model, untouched, name, {*tags, *(tags_of(before) if before else ())})
    if before is None and not force:
        replaced = {f"profile:{'.'.join(other)}" for other in supersedes}
        found_alike = [ref for ref in alike(untouched, name[0], value or "", broad) if ref not in replaced]
        if found_alike:
            model.__dict__.update(untouched.__dict__)
            return "candidates", [], [], found_alike
    if action != "NOOP":
        model.fold()
    return action, linked, archived, []


def auto_linked(model: Model, before: Model, name: Name, tags: set[str]) -> list[str]:
    place, fields = model.need(name)
    own = {tag.casefold() for tag in tags_of(fields)}
    known = {target for target, _ in links_of(fields)}
    linked: list[str] = []
    for other in sharing(before, {tag.casefold() for tag in tags}):
        text = ".".join(other)
        held = model.find(other)
        if len(linked) == 5 or text in known or other == name or held is None:
            continue
        if any(target == ".".join(name) for target, _ in links_of(held[1])):
            continue
        # The shared document does not name what is kept out of it by itself.
        is_kept_apart = held[0] != SHARED and place == SHARED
        if len(own & {tag.casefold() for tag in tags_of(held[1])}) >= 2 and not is_kept_apart:
            linked.append(text)
    if linked:
        links = fields.get("links")
        items = [{"target": text, "relation": "related-to"} for text in linked]
        model.put(name, {**fields, "links": [*(links if isinstance(links, list) else []), *items]}, place)
    return linked


def forgotten(model: Model, name: Name, now: str) -> Doc:
    model.need(name)
    model.fold()
    fields = model.need(name)[1]
    text = ".".join(name)
    incoming = []
    for where in model.places():
        for other, held in model.all(where):
            if other == name or not is_entry(held) or all(target != text for target, _ in links_of(held)):
                continue
            incoming += [(".".join(other), relation) for target, relation in links_of(held) if target == text]
            kept = [item for item in held["links"] if not (isinstance(item, dict) and item.get("target") == text)]
            held["links"] = kept
    for where in model.places():
        if model.has(where, name):
            entries = model.entries(where, name[0])
            assert entries is not None
            del entries[name[1]]
    gone = {"category": name[0], "key": name[1], "fields": fields, "incoming": incoming, "at": now}
    model.forgotten.append(gone)
    return gone


def restored(model: Model, name: Name) -> int:
    lines = [item for item in model.forgotten if (item["category"], item["key"]) == name]
    there = model.find(name)
    # What is there as it was forgotten may be the half of an earlier attempt.
    is_back = there is not None and bool(lines) and told(there[1]) == told(lines[-1]["fields"])
    if not lines or (not is_back and any(model.has(place, name) for place in model.places())):
        raise Refused
    gone = lines[-1]
    model.fold()
    if not is_back:
        model.put(name, copy.deepcopy(gone["fields"]))
    text, number = ".".join(name), 0
    for source, relation in gone["incoming"]:
        held = model.find(split(source))
        if held is not None and (text, relation) not in links_of(held[1]):
            links = held[1].get("links")
            item = {"target": text, "relation": relation}
            model.change(split(source), links=[*(links if isinstance(links, list) else []), item])
            number += 1
    model.forgotten = [item for item in model.forgotten if item is not gone]
    return number


def moved(model: Model, place: str, prefer: str, now: str) -> tuple[list[str], list[str], list[str]]:
    """What was moved, what was copied, and what was different."""
    lists: tuple[list[str], list[str], list[str]] = ([], [], [])
    is_new = model.docs[SHARED] is None
    shared = model.docs[SHARED] or empty()
    target = model.docs[place] or (shared if place == SHARED else empty())
    sources: list[tuple[Doc, bool, Any]] = []
    private = model.docs[model.place] if model.place != SHARED else None
    if private is not None and place != model.place:
        sources.append((private, model.place == HERE, list(private["memories"])))
    if place != SHARED:
        sources.append((shared, True, PRIVATE))
    changed = False
    for source, leaves, categories in sources:
        for category in categories:
            entries = source["memories"].get(category)
            for key, fields in list(entries.items()) if isinstance(entries, dict) else ():
                into = target["memories"].get(category, {})
                known = into.get(key) if isinstance(into, dict) else None
                if not isinstance(fields, dict) or (
                    isinstance(into, dict) and key in into and not isinstance(known, dict)
                ):
                    continue
                if not isinstance(into, dict):
                    raise Refused
                name = f"{category}.{key}"
                if known is not None and told(known) != told(fields):
                    lists[2].append(name)
                    keeps = fields if prefer == "source" else known
                    lost = known if keeps is fields else fields
                    gone = {"category": category, "key": key, "fields": lost, "incoming": [], "at": now}
                    model.forgotten.append(gone)
                    fields = keeps
                elif known is not None:
                    fields = read_more(known, fields)
                if known != fields:
                    target["memories"].setdefault(category, {})[key] = copy.deepcopy(fields)
                    changed = changed or place == SHARED
                lists[0 if leaves else 1].append(name)
                if leaves:
                    del source["memories"][category][key]
                    changed = changed or source is shared
    if lists[2] and not prefer:
        raise Refused
    if model.place == HERE and place != HERE and private is not None:
        known = ("schema_version", "session_count", "memories")
        if any(name not in known for name in private) or any(private["memories"].values()):
            raise Refused
    if place == model.place and not lists[0] and not lists[1]:
        return lists
    if not is_new or changed:
        model.docs[SHARED] = shared
    if place != SHARED:
        model.docs[place] = target
    if model.place == HERE and place != HERE:
        model.docs[HERE] = None
    model.place = place
    return lists


def told(fields: Doc) -> Doc:
    return {name: value for name, value in fields.items() if name not in ("access_count", "last_accessed")}


def read_more(known: Doc, fields: Doc) -> Doc:
    """Where two say the same: the larger count and the later time."""
    count = max(count_of(known), count_of(fields))
    last = known.get("last_accessed")
    one, other = moment(last), moment(fields.get("last_accessed"))
    if one is None or (other is not None and other > one):
        last = fields.get("last_accessed") or None
    if count == count_of(known) and last == (known.get("last_accessed") or None):
        return known
    return {**known, "access_count": count, "last_accessed": last}


TestProfiles = pytest.mark.proof(Profiles.TestCase)
TestProfiles.settings = settings(max_examples=either(20, 50), stateful_step_count=15)
