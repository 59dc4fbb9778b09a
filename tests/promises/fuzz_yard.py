"""Where parsers of files are tried: one project of this process with something in every layer, on a disk in memory."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime

from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.profile.link import LinkEntries, link_entries
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry

__all__ = ["NOW", "as_text", "held", "home", "instead_of", "put", "root", "world"]

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
_SHARED = "/dev/shm"
_TALK = (
    b'{"type":"user","cwd":"ROOT","sessionId":"s","timestamp":"2026-03-01T10:00:00.000Z",'
    b'"message":{"role":"user","content":"Please repair the queue in the worker."}}\n'
    b'{"type":"assistant","cwd":"ROOT","sessionId":"s","timestamp":"2026-03-01T10:00:05.000Z",'
    b'"message":{"role":"assistant","content":"Decision: use Redis because it keeps jobs. Next: add a test."}}\n'
)


@functools.cache
def _yard() -> str:
    room = _SHARED if os.path.isdir(_SHARED) and os.access(_SHARED, os.W_OK) else None
    folder = os.path.realpath(tempfile.mkdtemp(prefix="quire-fuzz-", dir=room))
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    for name in ("harbor", "home", "sessions"):
        os.mkdir(os.path.join(folder, name))
    return folder


def home() -> str:
    return os.path.join(_yard(), "home")


def world(folder: str = "") -> World:
    """A pinned clock, counted tokens, no waiting."""
    numbers = iter(range(10**9))
    env = {"PATH": os.environ.get("PATH", ""), "HOME": home(), "MEMORY_HOME": f"{home()}/registry"}
    return World(
        cwd=folder or os.path.join(_yard(), "harbor"),
        env={**env, "MEMORY_LOCK_TIMEOUT": "0.1"},
        now=lambda: NOW,
        token=lambda: f"{next(numbers):08x}" * 2,
        sleep=lambda _seconds: None,
        pid=os.getpid(),
    )


@functools.cache
def root() -> str:
    """A project without git, with records in every layer."""
    top = os.path.join(_yard(), "harbor")
    for name, data in {"README.md": b"# Harbor\n\nInvoices.\n", "src/queue.py": b"def retry() -> None: ...\n"}.items():
        _write(os.path.join(top, name), data)
    project = Project.open(top, world())
    init_memory(project)
    feature = {"kind": "feature", "title": "Victim", "body": "# Victim\n\nTwo: gr\u00f6\u00dfe.", "stage": "shipped"}
    related = {"predicate": "depends_on", "to": "feature.witness"}
    witness = {"kind": "feature", "title": "Witness", "body": "I stay.", "anchors": ["src/queue.py#retry", "src/**"]}
    save_nodes(
        project, {"task": "fill", "nodes": [witness, {**feature, "tags": ["gr\u00f6\u00dfe"], "related": [related]}]}
    )
    told = [
        store(
            project,
            Store(
                **dict(
                    zip(
                        (
                            "section",
                            "content",
                        ),
                        pair,
                    )
                )
            ),
        ).fact.id
        for pair in (("Decisions", "Use Redis."), ("Specs", "Thirty seconds."))
    ]
    connect(project, Connect(source=told[0], target=told[1], relation="depends_on"))
    record_session(project, NoteSession(session_id="past", turns=2, tool_calls=3, title="the beginning", close=True))
    record_session(project, NoteSession(session_id="open", turns=1, title="another"))
    focus(project, Focus(fact_ids=told[:1]))
    take_note(project, TakeNote(words=["look at the uploads"]))
    list_facts(project, ListFacts())
    remember_entry(project, RememberEntry(category="user", key="timezone", value="Europe/Madrid", tags=["place"]))
    remember_entry(project, RememberEntry(category="tools", key="shell", value="fish 4", confidence=0.5))
    remember_entry(
        project, RememberEntry(category="learnings", key="flaky", value="The job needs two cores.", importance=9)
    )
    link_entries(project, LinkEntries(source="learnings.flaky", target="tools.shell", relation="depends-on"))
    recall_entries(project, RecallEntries(category="user", key="timezone"))
    forget_entry(project, ForgetEntry(category="tools", key="shell"))
    _write(os.path.join(_yard(), "sessions", "projects", "x", "s1.jsonl"), _TALK.replace(b"ROOT", top.encode()))
    journal_init(project, JournalInit())
    add(project, JournalAdd(source_type="claude-local", path=os.path.join(_yard(), "sessions"), name="claude"))
    import_sessions(project)
    journal_recall(project, JournalRecall())
    return top


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def put(relative: str, data: bytes) -> str:
    """A file of the project, or of the home folder where the path begins with `~/`."""
    top = home() if relative.startswith("~/") else root()
    path = os.path.join(top, relative.removeprefix("~/"))
    _write(path, data)
    return path


def held(*relatives: str) -> list[bytes]:
    """What files of the project hold now: seeds."""
    found = []
    for relative in relatives:
        with open(os.path.join(root(), relative), "rb") as file:
            found.append(file.read())
    return found


def instead_of(relative: str, look: Callable[[], object]) -> Callable[[bytes], object]:
    """A parser that is given its input as a file of the project; the file is put back, and must not have changed."""

    def run(data: bytes) -> object:
        path = os.path.join(home() if relative.startswith("~/") else root(), relative.removeprefix("~/"))
        before = None
        if os.path.exists(path):
            with open(path, "rb") as file:
                before = file.read()
        _write(path, data)
        try:
            found = look()
            with open(path, "rb") as file:
                assert file.read() == data, "reading changed the file"
            return found
        finally:
            if before is None:
                os.unlink(path)
            else:
                _write(path, before)

    return run


def as_text(use: Callable[[str], object]) -> Callable[[bytes], object]:
    """A parser of text, with half characters where the bytes are no text."""
    return lambda data: use(data.decode("utf-8", "surrogateescape"))
