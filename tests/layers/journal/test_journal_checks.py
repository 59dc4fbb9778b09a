"""The checks of a journal: a sound one passes, every kind of damage is told by its code, and none raises."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from journaling import bundle, event

from promised import proves
from quire.files.world import World
from quire.layers.journal import layout
from quire.layers.journal.canonical import file_bytes
from quire.layers.journal.checks.journal import (
    check_journal,
)
from quire.layers.journal.documents import new_checkpoint, new_state, value_of
from quire.layers.journal.events import History, encode_event
from quire.layers.journal.pages import write_due_pages
from quire.layers.journal.settings import config_bytes, read_config
from quire.layers.journal.sources import SourceRegistry, registry_value
from quire.layers.journal.state_changes import local_provider, write_bundle
from quire.layers.journal.store import Journal, commit, open_journal
from quire.layers.journal.types import ArchiveManifest, Checkpoint, Maintenance, SessionSource
from quire.model.records import Problem

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
AT = "2026-03-02T11:19:00.000Z"
TYPES = ("claude-local", "codex-local")
SECRET = "AKIA" + "Z7Q4KX2MPL3WV9TN"


class Store:
    """A project with a journal that is as it should be: three events, one checkpoint, one source, all pages."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / layout.FOLDER
        self.tokens = 0
        self.world = World(
            cwd=str(root),
            env={},
            now=lambda: NOW,
            token=self._token,
            sleep=lambda _seconds: None,
            pid=os.getpid(),
        )

    def _token(self) -> str:
        self.tokens += 1
        return f"{self.tokens:016x}"

    @classmethod
    def made(cls, root: Path) -> Store:
        store = cls(root)
        for name in ("src/harbor.py", "src/billing/x.py", "README.md", "docs/money.md"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("# Text\n")
        held = bundle()
        held["currentFocus"]["validationSnapshot"]["validatedAt"] = "2026-03-01T00:00:00.000Z"
        first = new_state(held, provider=local_provider(), generated_at=AT, maintenance=Maintenance())
        journal = Journal(
            root=str(root),
            state=first,
            history=History(),
            registry=SourceRegistry(),
            config=read_config(),
            checkpoints=(),
        )
        store.folder.mkdir()
        source = SessionSource(id="sessions", type="claude-local", path=str(root), created_at=AT, updated_at=AT)
        store.put(layout.CONFIG, config_bytes(read_config().value))
        store.put(layout.SOURCES, file_bytes(registry_value(SourceRegistry((source,)))))
        writing = write_bundle(journal, held, command="init", now=AT)
        commit(journal, msgspec.structs.replace(writing, entry=True), store.world)
        store.add(encode_event(event(2)) + b"\n" + encode_event(event(3)) + b"\n")
        store.count(events=3, sources=1)
        write_due_pages(str(root), store.world)
        return store

    def put(self, name: str, data: bytes | str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)

    def add(self, data: bytes | str) -> None:
        self.put(layout.EVENTS, self.read(layout.EVENTS) + (data.encode() if isinstance(data, str) else data))

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def value(self, name: str) -> Any:
        return json.loads(self.read(name))

    def change(self, name: str, *path: Any, to: Any) -> None:
        """One value in a JSON file."""
        value = held = self.value(name)
        for part in path[:-1]:
            held = held[part]
        held[path[-1]] = to
        self.put(name, file_bytes(value))

    def count(self, *, events: int, sources: int) -> None:
        self.change(layout.STATE, "maintenance", "historyEventCount", to=events)
        self.change(layout.STATE, "maintenance", "importSourceCount", to=sources)

    def remove(self, name: str) -> None:
        path = self.folder / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def checkpoint(self, number: int, **sections: Any) -> Checkpoint:
        made = new_checkpoint(
            bundle(**sections), checkpoint_id=f"chk-{number:06d}", created_at=AT, event_id=None, summary="Later."
        )
        self.put(f"{layout.CHECKPOINTS}/{made.id}.json", file_bytes(value_of(made)))
        return made

    def batch(self, name: str, *events: int, listed: tuple[int, ...] = (), created: str = AT) -> None:
        manifest = ArchiveManifest(
            created_at=created,
            archived_event_ids=tuple(f"evt-{number:06d}" for number in (*events, *listed)),
            archived_checkpoint_ids=(),
            history_max_age_days=90,
            checkpoint_max_age_days=30,
            keep_recent=10,
            expire_after_days=180,
        )
        self.put(f"archive/{name}/manifest.json", file_bytes(value_of(manifest)))
        self.put(f"archive/{name}/events.jsonl", b"".join(encode_event(event(n)) + b"\n" for n in events))
        (self.folder / "archive" / name / "checkpoints").mkdir()

    def validate(self, **options: Any) -> list[Problem]:
        chosen = {"is_alive": lambda _pid: False, "types": TYPES, **options}
        return check_journal(str(self.root), NOW, **chosen)

    def told(self, **options: Any) -> list[tuple[str, str]]:
        """Whatever did not pass."""
        return [(one.severity, one.code) for one in self.validate(**options) if one.severity != "pass"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "harbor"
    root.mkdir()
    return Store.made(root)


def test_a_sound_journal_passes_everywhere(store: Store) -> None:
    found = store.validate()
    assert [one.code for one in found] == [
        "state:schema",
        "state:bundle-hash",
        "config:schema",
        "history:events",
        "history:event-count",
        "recall:backlog",
        "sources:schema",
        "sources:count",
        "sources:type:sessions",
        "sources:path:sessions",
        "sources:sync:sessions",
        "checkpoints:all",
        "checkpoints:latest",
        "query:coverage",
        "projection:readme",
        "projection:project-map",
        "projection:current-focus",
        "projection:gotchas",
        "projection:next-steps",
        "entry:file",
        "bundle:paths",
        "validation:freshness",
    ]
    assert {one.severity for one in found} == {"pass"}
    assert len(found) == 22


def test_nothing_is_written(store: Store, tree: Callable[..., dict[str, bytes]]) -> None:
    store.add(b"{torn")
    before = tree(store.root, generated=True)
    store.validate()
    assert tree(store.root, generated=True) == before


def test_no_journal_is_one_failure(tmp_path: Path) -> None:
    found = check_journal(str(tmp_path), NOW)
    assert [(one.severity, one.code) for one in found] == [("error", "state:missing")]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_something_else_in_the_place_of_the_folder(store: Store, kind: str) -> None:
    store.folder.rename(store.root / "elsewhere")
    if kind == "file":
        store.folder.write_text("x")
    else:
        store.folder.symlink_to(store.root / "elsewhere")
    assert store.told() == [("error", "journal:folder")]


# -- every kind of damage -------------------------------------------------------------------------------------------


def _line(number: int, **fields: Any) -> bytes:
    return encode_event(event(number, **fields)) + b"\n"


def _page(store: Store, name: str) -> Path:
    return store.root / layout.PROJECTIONS / name


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _entry_in(store: Store, path: str) -> None:
    """A bundle that wants its entry block elsewhere, with hash, checkpoint and pages to fit."""
    store.change(layout.STATE, "bundle", "project", "recommendedEntryFile", to=path)
    _settled(store)


def _settled(store: Store) -> None:
    from quire.layers.journal.canonical import content_hash
    from quire.layers.journal.pages import write_pages

    value = store.value(layout.STATE)
    value["bundleHash"] = content_hash(value["bundle"])
    store.put(layout.STATE, file_bytes(value))
    name = f"{layout.CHECKPOINTS}/chk-000001.json"
    held = store.value(name)
    held["bundle"], held["bundleHash"] = value["bundle"], value["bundleHash"]
    store.put(name, file_bytes(held))
    write_pages(str(store.root), open_journal(str(store.root)).state, store.world)


def _in_snapshot(store: Store, **fields: Any) -> None:
    for key, item in fields.items():
        store.change(layout.STATE, "bundle", "currentFocus", "validationSnapshot", key, to=item)
    _settled(store)


def _source(store: Store, **fields: Any) -> None:
    for key, item in fields.items():
        store.change(layout.SOURCES, 0, key, to=item)


def _linked(store: Store, name: str) -> None:
    path = store.folder / name
    path.rename(store.root / "moved")
    path.symlink_to(store.root / "moved")


def _folder_at(store: Store, name: str) -> None:
    store.remove(name)
    (store.folder / name).mkdir()


def _pipe_at(store: Store, name: str) -> None:
    store.remove(name)
    os.mkfifo(store.folder / name)


def _sparse(store: Store, name: str, size: int = 2 * 1024**3) -> None:
    with open(store.folder / name, "wb") as file:
        file.truncate(size)


def _retention(store: Store, enabled: bool) -> None:
    store.change(layout.CONFIG, "retention", "enabled", to=enabled)


def _gap(store: Store) -> None:
    store.put(layout.EVENTS, store.read(layout.EVENTS).replace(b"evt-000003", b"evt-000005"))


def daemon_bytes(pid: int) -> bytes:
    value = {"pid": pid, "startedAt": AT, "lastHeartbeatAt": AT, "intervalMinutes": 15, "provider": "auto"}
    return file_bytes(value)


def run_bytes(status: str) -> bytes:
    from quire.layers.journal.types import Run

    return file_bytes(value_of(Run(started_at=AT, finished_at=AT, status=status, provider="auto", errors=("Why.",))))


STATE, CONFIG, SOURCES, EVENTS = layout.STATE, layout.CONFIG, layout.SOURCES, layout.EVENTS
CHK = f"{layout.CHECKPOINTS}/chk-000001.json"
NO_LATEST = [("error", "checkpoints:latest")]

DAMAGE: dict[str, tuple[Callable[[Store], Any], list[tuple[str, str]]]] = {
    "state missing": (lambda s: s.remove(STATE), [("error", "state:missing")]),
    "state empty": (lambda s: s.put(STATE, b""), [("error", "state:json")]),
    "state cut off": (lambda s: s.put(STATE, s.read(STATE)[:500]), [("error", "state:json")]),
    "state binary": (lambda s: s.put(STATE, b"\xff\xfe\x00\x01"), [("error", "state:json")]),
    "state null": (lambda s: s.put(STATE, b"null"), [("error", "state:schema")]),
    "state of version 3": (lambda s: s.change(STATE, "schemaVersion", to=3), [("error", "state:schema")]),
    "state without bundle": (lambda s: s.change(STATE, "bundle", to=[]), [("error", "state:schema")]),
    "state a folder": (lambda s: _folder_at(s, STATE), [("error", "state:read")]),
    "state a link": (lambda s: _linked(s, STATE), [("error", "state:read")]),
    "state a pipe": (lambda s: _pipe_at(s, STATE), [("error", "state:read")]),
    "state of 2 GB": (lambda s: _sparse(s, STATE), [("error", "state:read")]),
    "state deep": (lambda s: s.put(STATE, b"[" * 100_000), [("error", "state:json")]),
    "bundle edited": (
        lambda s: s.change(STATE, "bundle", "project", "summary", to="Other."),
        [("error", "state:bundle-hash"), ("warning", "projection:project-map:edited")],
    ),
    "hash edited": (
        lambda s: s.change(STATE, "bundleHash", to="0" * 64),
        [
            ("error", "state:bundle-hash"),
            ("warning", "checkpoints:bundle-drift"),
            *(("error", f"projection:{name}:drift") for name in layout.PROJECTION_FILES),
            ("error", "entry:drift"),
        ],
    ),
    "config missing": (lambda s: s.remove(CONFIG), [("error", "config:missing")]),
    "config garbage": (lambda s: s.put(CONFIG, b"{"), [("error", "config:json")]),
    "config null": (lambda s: s.put(CONFIG, b"null"), [("error", "config:schema")]),
    "config of a wrong kind": (lambda s: s.change(CONFIG, "recall", "policy", to="x"), [("error", "config:schema")]),
    "config a folder": (lambda s: _folder_at(s, CONFIG), [("error", "config:read")]),
    "log missing": (lambda s: s.remove(EVENTS), [("error", "history:events-missing")]),
    "log a folder": (lambda s: _folder_at(s, EVENTS), [("error", "history:events-read")]),
    "log a pipe": (lambda s: _pipe_at(s, EVENTS), [("error", "history:events-read")]),
    "log of 2 GB": (lambda s: _sparse(s, EVENTS), [("error", "history:events-read")]),
    "line of garbage": (lambda s: s.add(b"\xff\xfe\n"), [("error", "history:events-read")]),
    "line null": (lambda s: s.add(b"null\n"), [("error", "history:event:line-4")]),
    "line of another shape": (lambda s: s.add(b'{"id": "evt-000009"}\n'), [("error", "history:event:evt-000009")]),
    "line too long": (lambda s: s.add(b'"' + b"x" * 2**20 + b'"\n'), [("error", "history:events-read")]),
    "25 lines of garbage": (lambda s: s.add(b"{\n" * 25), [("error", "history:events-read")] * 21),
    "line torn": (lambda s: s.add(_line(4)[:40]), [("warning", "history:torn")]),
    "conflict": (
        lambda s: s.add(b"<<<<<<< ours\n=======\n>>>>>>> theirs\n"),
        [("error", "history:conflict")],
    ),
    "id twice": (
        lambda s: (s.add(_line(3, summary="Another.")), s.count(events=4, sources=1)),
        [("error", "history:duplicate")],
    ),
    "ids not rising": (
        lambda s: (s.add(_line(9) + _line(5)), s.count(events=5, sources=1)),
        [("error", "history:ordering")],
    ),
    "id without a number": (
        lambda s: (s.add(_line(4, id="odd")), s.count(events=4, sources=1)),
        [("error", "history:ordering")],
    ),
    "gap with retention": (_gap, []),
    "gap without retention": (
        lambda s: (_gap(s), _retention(s, False)),
        [("error", "history:continuity")],
    ),
    "gap that the archive explains": (
        lambda s: (_gap(s), _retention(s, False), s.batch("prune-1", 3, 4)),
        [],
    ),
    "events not counted": (lambda s: s.add(_line(4)), [("error", "history:event-count")]),
    "events counted without end": (
        lambda s: s.put(STATE, s.read(STATE).replace(b'EventCount": 3', b'EventCount": 1e999')),
        [("error", "history:event-count")],
    ),
    "backlog": (
        lambda s: (s.add(b"".join(_line(n) for n in range(4, 14))), s.count(events=13, sources=1)),
        [("warning", "recall:backlog")],
    ),
    "secret": (
        lambda s: (s.add(_line(4, gotchas=[f"The key is {SECRET}."])), s.count(events=4, sources=1)),
        [("warning", "history:secret:evt-000004")],
    ),
    "25 secrets": (
        lambda s: (
            s.add(b"".join(_line(n, summary=f"{SECRET} used") for n in range(4, 29))),
            s.count(events=28, sources=1),
            s.change(CONFIG, "recall", "backlogWarnThreshold", to=100),
        ),
        [*(("warning", f"history:secret:evt-{n:06d}") for n in range(4, 24)), ("warning", "history:secret")],
    ),
    "sources missing": (lambda s: s.remove(SOURCES), [("error", "sources:missing")]),
    "sources an object": (lambda s: s.put(SOURCES, b"{}"), [("error", "sources:schema")]),
    "sources garbage": (lambda s: s.put(SOURCES, b"junk"), [("error", "sources:read")]),
    "sources a pipe": (lambda s: _pipe_at(s, SOURCES), [("error", "sources:read")]),
    "source of no shape": (lambda s: s.put(SOURCES, b"[null]"), [("error", "sources:schema")]),
    "source of an unknown kind": (lambda s: _source(s, type="x"), [("error", "sources:type:sessions")]),
    "source gone": (lambda s: _source(s, path="/nowhere\0at all"), [("warning", "sources:path:sessions")]),
    "source failed": (
        lambda s: _source(s, lastSyncStatus="failed", lastSyncError="Why."),
        [("warning", "sources:sync:sessions")],
    ),
    "source twice": (
        lambda s: (s.put(SOURCES, file_bytes(s.value(SOURCES) * 2)), s.count(events=3, sources=2)),
        [("warning", "sources:duplicate")],
    ),
    "sources not counted": (lambda s: s.count(events=3, sources=7), [("error", "sources:count")]),
    "checkpoints missing": (
        lambda s: s.remove(layout.CHECKPOINTS),
        [("error", "checkpoints:missing"), *NO_LATEST],
    ),
    "checkpoints linked": (
        lambda s: _linked(s, layout.CHECKPOINTS),
        [("error", "checkpoints:missing"), *NO_LATEST],
    ),
    "checkpoints empty": (lambda s: s.remove(CHK), [("error", "checkpoints:empty"), *NO_LATEST]),
    "checkpoint garbage": (lambda s: s.put(CHK, b"{"), [("error", "checkpoints:read:chk-000001"), *NO_LATEST]),
    "checkpoint a folder": (lambda s: _folder_at(s, CHK), [("error", "checkpoints:read:chk-000001"), *NO_LATEST]),
    "checkpoint null": (lambda s: s.put(CHK, b"null"), [("error", "checkpoints:schema:chk-000001"), *NO_LATEST]),
    "checkpoint edited": (
        lambda s: s.change(CHK, "bundle", "project", "name", to="other"),
        [("error", "checkpoints:bundle-hash:chk-000001")],
    ),
    "checkpoint of another name": (
        lambda s: s.change(CHK, "id", to="chk-000009"),
        [("warning", "checkpoints:name:chk-000001")],
    ),
    "checkpoint of another bundle": (
        lambda s: s.checkpoint(1, gotchas=[]),
        [("warning", "checkpoints:bundle-drift")],
    ),
    "checkpoint newer": (lambda s: s.checkpoint(2, gotchas=[]), [("warning", "checkpoints:newer")]),
    "no latest": (
        lambda s: s.change(STATE, "maintenance", "latestCheckpointId", to=None),
        NO_LATEST,
    ),
    "page missing": (lambda s: _page(s, "gotchas.md").unlink(), [("error", "projection:gotchas")]),
    "page without mark": (
        lambda s: _page(s, "gotchas.md").write_text("# Gotchas\n"),
        [("error", "projection:gotchas:marker")],
    ),
    "page of another version": (
        lambda s: _edit(_page(s, "gotchas.md"), "version=3", "version=2"),
        [("error", "projection:gotchas:drift")],
    ),
    "page of another id": (
        lambda s: _edit(_page(s, "gotchas.md"), "file=gotchas", "file=readme"),
        [("error", "projection:gotchas:drift")],
    ),
    "page edited": (
        lambda s: _edit(_page(s, "gotchas.md"), "Floats.", "Ints."),
        [("warning", "projection:gotchas:edited")],
    ),
    "page of bytes": (
        lambda s: _page(s, "gotchas.md").write_bytes(b"\xff" * 9),
        [("error", "projection:gotchas:marker")],
    ),
    "page a folder": (
        lambda s: (_page(s, "gotchas.md").unlink(), _page(s, "gotchas.md").mkdir()),
        [("error", "projection:gotchas:read")],
    ),
    "page with other line ends": (
        lambda s: _page(s, "gotchas.md").write_bytes(_page(s, "gotchas.md").read_bytes().replace(b"\n", b"\r\n")),
        [],
    ),
    "entry file missing": (
        lambda s: (s.root / "AGENTS.md").unlink(),
        [("error", "entry:file"), ("warning", "bundle:paths")],
    ),
    "entry block gone": (lambda s: (s.root / "AGENTS.md").write_text("# Mine\n"), [("error", "entry:marker")]),
    "entry block old": (
        lambda s: _edit(s.root / "AGENTS.md", "entry version=3", "entry version=2"),
        [("error", "entry:drift")],
    ),
    "entry block edited": (
        lambda s: _edit(s.root / "AGENTS.md", "## Project Memory", "## Ours"),
        [("warning", "entry:edited")],
    ),
    "entry block left behind": (
        lambda s: shutil.copy(s.root / "AGENTS.md", s.root / "CLAUDE.md"),
        [("warning", "entry:leftover")],
    ),
    "entry outside": (
        lambda s: _entry_in(s, "../outside.md"),
        [("error", "entry:escape"), ("warning", "bundle:outside")],
    ),
    "entry outside by a link": (
        lambda s: ((s.root / "out").symlink_to("/"), _entry_in(s, "out/etc.md")),
        [("error", "entry:escape"), ("warning", "bundle:paths")],
    ),
    "entry no document": (lambda s: _entry_in(s, "src/harbor.py"), [("warning", "entry:unfit")]),
    "paths gone": (lambda s: shutil.rmtree(s.root / "src"), [("warning", "bundle:paths")]),
    "never validated": (lambda s: _in_snapshot(s, status="not-run"), []),
    "validated at no time": (lambda s: _in_snapshot(s, validatedAt="then"), [("warning", "validation:timestamp")]),
    "validated long ago": (
        lambda s: _in_snapshot(s, validatedAt="2026-01-01T00:00:00.000Z"),
        [("warning", "validation:freshness")],
    ),
    "validated before all time": (
        lambda s: _in_snapshot(s, validatedAt="0001-01-01T00:00:00+14:00"),
        [("warning", "validation:freshness")],
    ),
    "daemon dead": (lambda s: s.put(layout.DAEMON, daemon_bytes(99)), [("warning", "automation:daemon:stale")]),
    "daemon garbage": (lambda s: s.put(layout.DAEMON, b"junk"), [("warning", "automation:daemon:read")]),
    "lock dead": (
        lambda s: s.put(layout.DAEMON_LOCK, file_bytes({"pid": 99, "createdAt": AT})),
        [("warning", "automation:lock:stale")],
    ),
    "lock null": (lambda s: s.put(layout.DAEMON_LOCK, b"null"), [("warning", "automation:lock:read")]),
    "run failed": (
        lambda s: s.put(layout.LATEST_RUN, run_bytes("failed")),
        [("warning", "automation:latest-run:failed")],
    ),
    "run garbage": (lambda s: s.put(layout.LATEST_RUN, b"[]"), [("warning", "automation:latest-run:read")]),
    "archive a file": (lambda s: s.put("archive", b""), [("warning", "archive:read")]),
    "archive a link": (lambda s: (s.folder / "archive").symlink_to(s.root), [("warning", "archive:read")]),
    "batch empty": (
        lambda s: (s.folder / "archive" / "prune-1").mkdir(parents=True),
        [
            ("warning", "archive:manifest:prune-1"),
            ("warning", "archive:events:prune-1"),
            ("warning", "archive:checkpoints:prune-1"),
        ],
    ),
    "batch a file": (
        lambda s: s.put("archive/prune-1", b""),
        [
            ("warning", "archive:manifest:prune-1"),
            ("warning", "archive:events:prune-1"),
            ("warning", "archive:checkpoints:prune-1"),
        ],
    ),
    "batch with a bad line": (
        lambda s: (s.batch("prune-1", 90), s.put("archive/prune-1/events.jsonl", _line(90) + b"null\n")),
        [("warning", "archive:events:prune-1")],
    ),
    "batch without what it lists": (
        lambda s: s.batch("prune-1", 90, listed=(91,)),
        [("warning", "archive:contents:prune-1")],
    ),
    "batch of what is active": (lambda s: s.batch("prune-1", 2), [("warning", "archive:doubled:prune-1")]),
    "batch expired": (
        lambda s: s.batch("prune-1", 90, created="2025-01-01T00:00:00.000Z"),
        [("warning", "archive:expiry:prune-1")],
    ),
    "batch expired, but nothing goes": (
        lambda s: (s.batch("prune-1", created="2025-01-01T00:00:00.000Z"), _retention(s, False)),
        [],
    ),
    "pages due": (lambda s: s.put("local/pages-due.json", b'{"version": 1}'), [("warning", "pages:due")]),
    "imports garbage": (lambda s: s.put("local/imports.json", b"{"), [("warning", "local:imports")]),
    "writer died": (
        lambda s: s.put("recovery/transaction-1/0.new", b"x"),
        [("warning", "recovery:interrupted")],
    ),
    "change not applied": (
        lambda s: s.put("recovery/unapplied-1/state.json", b"x"),
        [("warning", "recovery:unapplied:unapplied-1")],
    ),
    "stray file": (lambda s: s.put("recovery/notes.txt", b"x"), [("warning", "recovery:stray")]),
    "recovery a file": (
        lambda s: (shutil.rmtree(s.folder / "recovery", ignore_errors=True), s.put("recovery", b"x")),
        [("warning", "recovery:read")],
    ),
    "half a write": (
        lambda s: s.put("history/events.jsonl.bak.tmp-7-8", b"x"),
        [("warning", "files:leftover:events.jsonl.bak.tmp-7-8")],
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_told_by_its_code_and_nothing_else_is(store: Store, name: str) -> None:
    damage, expected = DAMAGE[name]
    damage(store)
    assert store.told() == expected


def test_without_a_state_everything_else_is_still_looked_at(store: Store) -> None:
    store.remove(STATE)
    store.add(b"null\n")
    store.put(CONFIG, b"{")
    store.put(CHK, b"{")
    store.put(layout.DAEMON, b"{")
    assert store.told() == [
        ("error", "state:missing"),
        ("error", "config:json"),
        ("error", "history:event:line-4"),
        ("error", "checkpoints:read:chk-000001"),
        ("warning", "automation:daemon:read"),
    ]


def test_a_finding_says_where(store: Store) -> None:
    store.add(b"null\n")
    found = next(one for one in store.validate() if one.severity == "error")
    assert (found.path, found.line) == (".agent-memory/history/events.jsonl", 4)
    assert found.message == "Line 4: event must be an object."
    assert found.hint == "It is kept, and all other lines are used. Correct or remove it by hand."


def test_what_is_listed_is_named_and_the_rest_counted(store: Store) -> None:
    store.add(b"".join(_line(n % 25 + 4, summary=f"s{n}") for n in range(50)))
    found = next(one for one in store.validate() if one.code == "history:duplicate")
    assert "25 ids are those of more than one event: `evt-000004`, " in found.message
    assert found.message.endswith("`evt-000023` and 5 more.")


@proves("P9.1", "E11", over="journal")
def test_a_secret_is_never_repeated(store: Store) -> None:
    store.add(_line(4, summary=f"Used {SECRET} for it."))
    found = store.validate()
    assert any(one.code == "history:secret:evt-000004" for one in found)
    assert not any(SECRET in one.message + one.code for one in found)


def test_what_foreign_files_say_cannot_deceive_a_terminal(store: Store) -> None:
    _source(store, id="a\x1b[2Jb\nPASS all", type="\u202ex", path="/\ud800")
    found = [one for one in store.validate() if one.code.startswith("sources:") and one.severity != "pass"]
    assert [one.code for one in found] == [
        "sources:type:a\\u{1B}[2Jb PASS all",
        "sources:path:a\\u{1B}[2Jb PASS all",
    ]
    assert all(one.message.isprintable() for one in found)


def test_a_living_process_passes(store: Store) -> None:
    store.put(layout.DAEMON, daemon_bytes(4242))
    store.put(layout.DAEMON_LOCK, file_bytes({"pid": 4242, "createdAt": AT}))
    store.put(layout.LATEST_RUN, run_bytes("idle"))
    asked: list[int] = []
    found = store.validate(is_alive=lambda pid: asked.append(pid) is None)
    codes = [one.code for one in found if one.code.startswith("automation:")]
    assert codes == ["automation:daemon", "automation:latest-run", "automation:lock"]
    assert {one.severity for one in found} == {"pass"}
    assert asked == [4242, 4242]


@pytest.mark.parametrize("pid", [0, -1, 2**40, 1.5])
def test_a_number_that_is_no_process_is_not_asked_for(store: Store, pid: float) -> None:
    store.put(layout.DAEMON, daemon_bytes(pid))  # type: ignore[arg-type]
    assert store.told(is_alive=lambda _pid: pytest.fail("asked")) == [("warning", "automation:daemon:stale")]


def test_whether_a_process_runs_is_asked_of_the_machine(store: Store) -> None:
    store.put(layout.DAEMON, daemon_bytes(os.getpid()))
    assert store.told(is_alive=None) == []
    store.put(layout.DAEMON, daemon_bytes(2**31 - 1))
    assert store.told(is_alive=None) == [("warning", "automation:daemon:stale")]


def test_kinds_of_sources_are_judged_only_by_who_knows_them(store: Store) -> None:
    _source(store, type="cursor-export")
    assert store.told(types=None) == []
    assert store.told() == [("error", "sources:type:sessions")]


def test_a_name_that_no_file_system_takes_is_told(store: Store) -> None:
    for name in ("\ud800.md", "a\0b.md", "x" * 300 + ".md"):
        store.change(STATE, "bundle", "project", "recommendedEntryFile", to=name)
        told = store.told()
        assert ("error", "entry:escape") in told or ("error", "entry:read") in told


def test_little_evidence_is_a_warning(store: Store) -> None:
    store.put(EVENTS, b"")
    store.count(events=0, sources=1)
    for section in ("gotchas", "nextSteps"):
        store.change(STATE, "bundle", section, to=[])
    _settled(store)
    assert store.told() == [("warning", "query:coverage")]
