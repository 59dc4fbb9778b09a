"""A memory of four layers, and the ways in which it breaks: what a repair fixes, and what a person decides."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.update import JournalUpdate, journal_update
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry

__all__ = ["PERSONS", "REPAIRED", "Break", "State", "built", "leftover", "opened", "state_of"]

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
GONE = 99_999_999
"""The number of a process that no machine has."""
NODES: dict[str, Any] = {
    "task": "first indexing",
    "nodes": [
        {
            "kind": "feature",
            "title": "Retry queue",
            "body": "Sends again.\n\nWith pauses.",
            "stage": "building",
            "anchors": ["src/"],
            "tags": ["billing", "queue"],
            "related": [{"predicate": "depends_on", "to": "feature.worker"}],
        },
        {"kind": "feature", "title": "Worker", "body": "Runs what must not block.", "stage": "shipped"},
        {"kind": "gotcha", "title": "Clock drift", "body": "The worker's clock is late."},
    ],
}
QUEUE, WORKER = ".memory/memory/retry-queue.json", ".memory/memory/worker.json"
EVENTS, FACTS = ".memory/events.jsonl", ".memory/facts.jsonl"
LOG, STATE = ".agent-memory/history/events.jsonl", ".agent-memory/state.json"
RELATION = ".memory/relations/feature-retry-queue-depends-on-feature-worker.json"
State = dict[str, tuple[int, bytes]]


class Break(NamedTuple):
    """What is done to the files, and how a check calls it."""

    do: Callable[[Path], None]
    code: str
    path: str = ""
    over: str = "graph"


def opened(root: Path, *, tick: int = 0) -> Project:
    """The project in this process. Names of temporary files differ from one opening to the next."""
    home = root.parent / "home"
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "MEMORY_HOME": str(home / "registry")}
    numbers = iter(range(10**6))
    world = World(
        cwd=str(root),
        env=env,
        now=lambda: NOW,
        token=lambda: f"{tick:04x}{next(numbers):012x}",
        sleep=time.sleep,
        pid=os.getpid(),
    )
    return Project.open(str(root), world)


def built(root: Path) -> None:
    """A repository with something of every layer; nothing is wrong with it."""
    (root / "src").mkdir(parents=True)
    (root / "src/queue.py").write_text("def send():\n    return 1\n")
    (root / "README.md").write_text("# Harbor\n\nKeeps boats apart.\n")
    (root.parent / "home").mkdir(exist_ok=True)
    subprocess.run(
        ["git", "init", "--quiet", str(root)], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    )
    project = opened(root)
    init_memory(project)
    save_nodes(project, NODES)
    store(project, Store(section="Decisions", content="Retries run in the worker."))
    store(project, Store(section="Constraints", content="An answer takes two seconds at most."))
    remember_entry(project, RememberEntry(category="tools", key="shell", value="fish"))
    remember_entry(project, RememberEntry(category="tools", key="editor", value="vim"))
    forget_entry(project, ForgetEntry(category="tools", key="editor"))
    journal_init(project, JournalInit())
    journal_update(project, JournalUpdate())
    check_files(project)


def state_of(root: Path) -> State:
    """Every file with its mode and bytes, but the index, git's own, and the copies of repairs."""
    found: State = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "index", "repairs")]
        for name in files:
            path = Path(folder, name)
            shown = path.relative_to(root).as_posix()
            if shown.endswith(("local/.gitignore", ".lock")):
                continue
            data = b"-> " + os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[shown] = (stat.S_IMODE(path.lstat().st_mode), data)
    return found


def leftover(root: Path, folder: str, number: int = 1, *, pid: int = GONE, age: float = 7200.0) -> None:
    """Temporary files of a writer, so old in seconds."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    for item in range(number):
        path = root / folder / f".quire-{pid}-{item:08x}.tmp"
        path.write_bytes(b"half of %d" % item)
        then = NOW.timestamp() - age
        os.utime(path, (then, then))


# -- how things break --------------------------------------------------------------------------


def _edit(path: str, before: str, after: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        text = (root / path).read_text()
        assert before in text, (path, before)
        (root / path).write_text(text.replace(before, after, 1))

    return do


def _fields(path: str, **changed: Any) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        fields = json.loads((root / path).read_text())
        (root / path).write_text(json.dumps({**fields, **changed}, indent=2, ensure_ascii=False) + "\n")

    return do


def _put(path: str, data: bytes | None) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            (root / path).unlink()
        else:
            (root / path).write_bytes(data)

    return do


def _add(path: str, data: bytes) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        (root / path).write_bytes((root / path).read_bytes() + data)

    return do


def _conflict(path: str, *, other: bytes = b"", base: bytes = b"") -> Callable[[Path], None]:
    """The last line on one side of a merge, another one like it on the other."""

    def do(root: Path) -> None:
        *rest, last = (root / path).read_bytes().splitlines(keepends=True)
        theirs = other or last.replace(b"2026-", b"2027-", 1)
        sides = b"<<<<<<< HEAD\n" + last + base + b"=======\n" + theirs + b">>>>>>> topic\n"
        (root / path).write_bytes(b"".join(rest) + sides)

    return do


def _copy(path: str, to: str, *replaced: tuple[str, str], body: bool = True) -> Callable[[Path], None]:
    """A file under another name, with its body; perhaps with something changed in it."""

    def do(root: Path) -> None:
        text = (root / path).read_text()
        for before, after in replaced:
            assert before in text, before
            text = text.replace(before, after)
        (root / to).write_text(text)
        if body:
            shutil.copyfile((root / path).with_suffix(".md"), (root / to).with_suffix(".md"))

    return do


def _all(*steps: Callable[[Path], None]) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        for step in steps:
            step(root)

    return do


def _doubled(path: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        (root / path).write_bytes((root / path).read_bytes() * 2)

    return do


def _renumbered(root: Path) -> None:
    first, *rest = (root / LOG).read_bytes().splitlines(keepends=True)
    (root / LOG).write_bytes(b"".join((first.replace(b"evt-000001", b"evt-000009", 1), first, *rest)))


def _seen_by_git(root: Path) -> None:
    """Nothing is ignored any more, and something of this machine is there."""
    (root / ".gitignore").write_text("*.log\n")
    for folder in (".memory", ".ai-state", ".agent-memory"):
        (root / folder / "local" / ".gitignore").unlink(missing_ok=True)
    (root / ".memory/.backup").mkdir(exist_ok=True)
    (root / ".memory/.backup/memory.tar.gz").write_bytes(b"kept")


def _link(path: str, to: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        (root / path).unlink()
        (root / path).symlink_to(to)

    return do


SCHEMA = ".memory/schema/event.schema.json"
INBOX = ".memory/local/inbox.jsonl"
FORGOTTEN = ".ai-state/local/forgotten.jsonl"

REPAIRED: dict[str, Break] = {
    "a schema is missing": Break(_put(SCHEMA, None), "SchemaFileMissing", SCHEMA),
    "a schema is no object": Break(_put(SCHEMA, b"[]\n"), "SchemaInvalidJson", SCHEMA),
    "a schema is cut off": Break(_put(SCHEMA, b'{"a": '), "JsonInvalid", SCHEMA),
    "a schema is no text": Break(_put(SCHEMA, b'{"a": "\xff"}'), "FileNotUtf8", SCHEMA),
    "the log is missing": Break(_put(EVENTS, None), "CanonicalFileMissing", EVENTS),
    "blank lines in the log": Break(_add(EVENTS, b"\n\r\n"), "EventJsonlBlankLine", EVENTS),
    "the log is cut off": Break(_add(EVENTS, b'{"event": "memory.cre'), "EventJsonlInvalid", EVENTS),
    "both sides in the log": Break(_conflict(EVENTS), "MemoryConflictDetected", EVENTS),
    "another body path": Break(_fields(QUEUE, body_path="memory/other.md"), "ObjectBodyPathMismatch", QUEUE),
    "a body path that climbs": Break(_fields(QUEUE, body_path="../out.md"), "ObjectBodyPathEscapesMemory", QUEUE),
    "a tag twice": Break(_fields(QUEUE, tags=["billing", "queue", "billing"]), "SchemaUniqueItems", QUEUE),
    "an anchor twice": Break(_fields(QUEUE, anchors=["src/", "src/"]), "SchemaUniqueItems", QUEUE),
    "a node copied": Break(
        _copy(WORKER, ".memory/memory/worker (copy).json", ("memory/worker.md", "memory/worker (copy).md")),
        "ObjectIdDuplicate",
        WORKER,
    ),
    "a relation copied": Break(
        _copy(RELATION, ".memory/relations/zz-copy.json", body=False),
        "RelationIdDuplicate",
        ".memory/relations/zz-copy.json",
    ),
    "a relation copied under a name that comes first": Break(
        _copy(RELATION, ".memory/relations/a-copy.json", body=False), "RelationIdDuplicate", RELATION
    ),
    "a relation under another id": Break(
        _all(
            _copy(RELATION, ".memory/relations/zz-copy.json", ('"id": "rel.', '"id": "rel.zz-'), body=False),
            lambda root: _rehash(root / ".memory/relations/zz-copy.json"),
        ),
        "RelationEquivalentDuplicate",
        ".memory/relations/zz-copy.json",
    ),
    "a relation edited": Break(_fields(RELATION, confidence="high"), "RelationContentHashMismatch", RELATION),
    "leftovers among nodes": Break(lambda root: leftover(root, ".memory/memory", 3), "LeftoverFiles", ".memory/memory"),
    "a leftover at the top": Break(lambda root: leftover(root, ".memory"), "LeftoverFiles", ".memory"),
    "a line of the inbox": Break(_put(INBOX, b"{half\n"), "LocalStateDamaged", INBOX, "inbox"),
    "the pins": Break(
        _put(".memory/local/working.json", b"{half"), "LocalStateDamaged", ".memory/local/working.json", "facts"
    ),
    "marks among facts": Break(_conflict(FACTS), "ConflictMarker", FACTS, "facts"),
    "a digest of a fact": Break(
        _edit(FACTS, "Retries run in the worker.", "Retries run in the web process."), "HashMismatch", FACTS, "facts"
    ),
    "facts twice": Break(_doubled(FACTS), "LineTwice", FACTS, "facts"),
    "no attribute": Break(_put(".memory/.gitattributes", b""), "MergeAttributeMissing", FACTS, "facts"),
    "a forgotten line": Break(_add(FORGOTTEN, b"{half\n"), "LocalStateDamaged", FORGOTTEN, "profile"),
    "leftovers of the profile": Break(
        lambda root: leftover(root, ".ai-state", 2), "LeftoverFiles", ".ai-state", "profile"
    ),
    "git sees what is local": Break(_seen_by_git, "MemoryNotIgnored", ".memory/.backup/memory.tar.gz"),
    "leftovers of the journal": Break(
        lambda root: leftover(root, ".agent-memory/history", 2), "LeftoverFiles", ".agent-memory/history", "journal"
    ),
    "the bundle edited": Break(
        _edit(STATE, "Keeps boats apart", "Keeps ships apart"), "JournalFault", STATE, "journal"
    ),
    "no settings": Break(
        _put(".agent-memory/config.json", None), "JournalFault", ".agent-memory/config.json", "journal"
    ),
    "no sources": Break(
        _put(".agent-memory/sources.json", None), "JournalFault", ".agent-memory/sources.json", "journal"
    ),
    "marks among events": Break(_conflict(LOG), "JournalFault", LOG, "journal"),
    "events out of order": Break(_renumbered, "JournalFault", LOG, "journal"),
    "events twice": Break(_doubled(LOG), "JournalFault", LOG, "journal"),
    "a page is missing": Break(
        _put("docs/agent-memory/gotchas.md", None), "JournalFault", "docs/agent-memory/gotchas.md", "journal"
    ),
    "a page was edited": Break(
        _add("docs/agent-memory/gotchas.md", b"mine\n"), "JournalFault", "docs/agent-memory/gotchas.md", "journal"
    ),
    "an old map": Break(_edit("AGENTS.md", "Retry queue", "Old queue"), "ProductMapStale", "AGENTS.md"),
}


def _rehash(path: Path) -> None:
    from quire.layers.graph.codec import relation_hash

    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, "content_hash": relation_hash(fields)}, indent=2) + "\n")


_SIDES = b'{"a": 1}\n<<<<<<< HEAD\n{"b": 2}\n=======\n{"b": 3}\n>>>>>>> topic\n'
KEY = "AKIA" + "IOSFODNN7" + "QUIRE42"

PERSONS: dict[str, Break] = {
    "marks in a sidecar": Break(_put(QUEUE, _SIDES), "MemoryConflictDetected", QUEUE),
    "marks in a body": Break(
        _put(".memory/memory/worker.md", b"# Worker\n" + _SIDES), "MemoryConflictDetected", ".memory/memory/worker.md"
    ),
    "two nodes with one id": Break(
        _copy(WORKER, ".memory/memory/zz.json", ('"Worker"', '"Works"'), ("memory/worker.md", "memory/zz.md")),
        "ObjectIdDuplicate",
        ".memory/memory/zz.json",
    ),
    "no JSON": Break(_put(QUEUE, b'{"id": "feature'), "JsonInvalid", QUEUE),
    "no text": Break(_put(QUEUE, b'{"id": "\xff"}'), "FileNotUtf8", QUEUE),
    "a body is missing": Break(_put(".memory/memory/worker.md", None), "ObjectBodyMissing", ".memory/memory/worker.md"),
    "a relation leads nowhere": Break(
        _all(_put(WORKER, None), _put(".memory/memory/worker.md", None)), "RelationEndpointMissing", RELATION
    ),
    "a secret": Break(
        _put(".memory/memory/worker.md", f"# Worker\n\nkey {KEY}\n".encode()),
        "MemorySecretDetected",
        ".memory/memory/worker.md",
    ),
    "a body edited by hand": Break(
        _add(".memory/memory/worker.md", b"\n\nMine.\n"), "ObjectContentHashMismatch", ".memory/memory/worker.md"
    ),
    "an anchor that leads nowhere": Break(_fields(QUEUE, anchors=["gone/"]), "AnchorOrphaned", QUEUE),
    "a schema is a link": Break(_link(SCHEMA, "config.schema.json"), "CanonicalFileUnsafe", SCHEMA),
    "a bad line in the middle of the log": Break(
        _all(_add(EVENTS, b"{half\n"), lambda root: _doubled(EVENTS)(root)), "EventJsonlInvalid", EVENTS
    ),
    "both sides of the log, one cut off": Break(
        _conflict(EVENTS, other=b'{"event": "mem\n'), "MemoryConflictDetected", EVENTS
    ),
    "the log with what both began with": Break(
        _conflict(EVENTS, base=b"||||||| base\n"), "MemoryConflictDetected", EVENTS
    ),
    "a fact that cannot be read": Break(_add(FACTS, b"{half"), "JsonInvalid", FACTS, "facts"),
    "marks around a fact that cannot be read": Break(
        _conflict(FACTS, other=b"{half\n"), "ConflictMarker", FACTS, "facts"
    ),
    "marks with what both began with": Break(
        _conflict(FACTS, base=b"||||||| base\n"), "ConflictMarker", FACTS, "facts"
    ),
    "a rejection": Break(
        _put(f".memory/rejected/{'0' * 32}.json", b"{half"),
        "RejectionUnreadable",
        f".memory/rejected/{'0' * 32}.json",
        "inbox",
    ),
    "an entry of the profile": Break(
        _edit(".ai-state/memory.json", '"value": "fish"', '"value": 7'),
        "ProfileEntryInvalid",
        ".ai-state/memory.json",
        "profile",
    ),
    "a profile that cannot be read": Break(
        _put(".ai-state/memory.json", b"{half"),
        "MemoryAlreadyInitializedInvalid",
        ".ai-state/memory.json",
        "profile",
    ),
    "where private entries are": Break(
        _put(".ai-state/local/private.json", b"{half"), "LocalStateDamaged", ".ai-state/local/private.json", "profile"
    ),
    "a newer file of this machine": Break(
        _put(".memory/local/working.json", b'{"version": 9}'), "LocalStateNewer", ".memory/local/working.json", "facts"
    ),
    "a change that could not be completed": Break(
        _put(".ai-state/recovery/unapplied-1/memory.json", b"{}"),
        "ProfileUnapplied",
        ".ai-state/recovery/unapplied-1",
        "profile",
    ),
    "a state that cannot be read": Break(_put(STATE, b"{half"), "JournalFault", STATE, "journal"),
    "a checkpoint that cannot be read": Break(
        _put(".agent-memory/history/checkpoints/chk-000001.json", b"{half"),
        "JournalFault",
        ".agent-memory/history/checkpoints/chk-000001.json",
        "journal",
    ),
    "a half of another program": Break(
        _put(".agent-memory/state.json.tmp-12", b"{half"), "JournalFault", ".agent-memory/state.json.tmp-12", "journal"
    ),
}
