"""What is done to records over the wire: each action and its undo, each refusal, and who is told of it."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from web_serving import PageDoor, harbor, opened

from installed import Git, Memory
from quire.files.world import real_world
from quire.inbox.proposals import propose
from quire.project import Project
from quire.verbs.inbox.add import inbox_add

Tree = dict[str, bytes]
NODES = [
    {
        "kind": "feature",
        "title": "Retry queue",
        "body": "Sends again.",
        "stage": "building",
        "anchors": ["src/queue.py"],
    },
    {"kind": "decision", "title": "Retries run inline", "body": "Simple for now."},
    {"kind": "decision", "title": "Retries run in the worker", "body": "The request must not wait."},
    {"kind": "gotcha", "title": "Clock drift", "body": "The clock of the worker is late."},
]
PROPOSED = [
    propose(
        "graph",
        "gotcha",
        "A full pipe blocks its writer.",
        {"kind": "gotcha", "title": "Pipes block", "body": "A full pipe blocks its writer."},
        origin="session:x:1",
        by="user",
    ),
    propose(
        "facts",
        "fact",
        "Invoices are written by the billing worker.",
        {"section": "Decisions", "content": "Invoices are written by the billing worker."},
        origin="session:x:1",
        by="user",
    ),
]


class Wire:
    """One project behind a page."""

    def __init__(self, memory: Memory, door: PageDoor) -> None:
        self.memory = memory
        self.door = door
        self.name: str = door.get("/api/session")["project"]
        self.base = f"/api/projects/{quote(self.name, safe='')}"

    def get(self, path: str = "") -> Any:
        return self.door.get(f"{self.base}{path}")

    def version(self) -> str:
        found = self.door.ask(self.base).header("x-quire-version")
        assert found
        return found

    def record(self, ref: str) -> Any:
        return self.get(f"/record?ref={quote(ref)}")

    def act(self, **asked: str) -> Any:
        reply = self.door.post(f"{self.base}/actions", asked)
        assert reply.status == 200, reply.body
        return reply.data

    def undo(self, name: str) -> Any:
        return self.door.post(f"{self.base}/undo", {"undo": name})

    def refused(self, asked: Any) -> tuple[int, Any]:
        """A refusal that changes nothing."""
        before = self.kept()
        reply = self.door.post(f"{self.base}/actions", asked)
        assert self.kept() == before
        return reply.status, reply.error

    def kept(self) -> Tree:
        """Everything that is remembered, but the log, the index and what is kept aside."""
        found: Tree = {}
        for folder, folders, files in os.walk(self.memory.cwd / ".memory"):
            folders[:] = [name for name in folders if name not in ("index", "recovery", ".backup", "local")]
            for name in files:
                if name not in ("events.jsonl", ".lock", ".gitignore"):
                    path = Path(folder, name)
                    found[os.path.relpath(path, self.memory.cwd)] = path.read_bytes()
        return found

    def fact(self, text: str) -> str:
        items = self.get("/records?layer=facts&limit=500")["items"]
        return next(item["ref"] for item in items if text in item["title"] + item.get("excerpt", ""))


def filled(place: Path) -> Memory:
    memory = harbor(place)
    (memory.cwd / "src").mkdir()
    (memory.cwd / "src/queue.py").write_text("def send() -> None: ...\n")
    git = Git(memory.cwd, memory.env)
    git.commit("code")
    memory.save(*NODES)
    for section, text in (("Architecture", "The queue lives in Redis."), ("Specs", "Tickets expire after a year.")):
        assert memory("facts", "store", section, text).code == 0
    root = str(memory.cwd)
    inbox_add(Project.open(root, msgspec.structs.replace(real_world(root), env=dict(memory.env))), PROPOSED)
    git.commit("memory")
    return memory


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A page that may write. Every test leaves the project as it found it."""
    memory = filled(tmp_path_factory.mktemp("wire").resolve())
    with opened(memory, "--write") as door:
        yield Wire(memory, door)
        assert door.end() == (0, b"")


ACTIONS: dict[str, tuple[Callable[[Wire], dict[str, str]], str]] = {
    "confirm": (lambda _: {"action": "confirm", "ref": "feature.retry-queue"}, "Confirmed: Retry queue"),
    "stale": (
        lambda _: {"action": "stale", "ref": "gotcha.clock-drift", "reason": "fixed"},
        "Marked stale: Clock drift",
    ),
    "stale fact": (
        lambda wire: {"action": "stale", "ref": wire.fact("Redis"), "reason": "moved"},
        "Put away: The queue lives in Redis.",
    ),
    "supersede": (
        lambda _: {
            "action": "supersede",
            "ref": "decision.retries-run-inline",
            "by": "decision.retries-run-in-the-worker",
        },
        "Superseded: Retries run inline",
    ),
    "supersede by a new one": (
        lambda _: {"action": "supersede", "ref": "feature.retry-queue", "title": "Outbox", "body": "A table."},
        "Superseded: Retry queue",
    ),
    "supersede a fact": (
        lambda wire: {"action": "supersede", "ref": wire.fact("Redis"), "body": "The queue lives in Postgres."},
        "Superseded: The queue lives in Redis.",
    ),
    "edit the text": (
        lambda wire: {
            "action": "edit",
            "ref": "gotcha.clock-drift",
            "revision": wire.record("gotcha.clock-drift")["revision"],
            "body": "It is *early*, too.",
        },
        "Edited: Clock drift",
    ),
    "edit the stage": (
        lambda wire: {
            "action": "edit",
            "ref": "feature.retry-queue",
            "revision": wire.record("feature.retry-queue")["revision"],
            "stage": "shipped",
        },
        "Now shipped: Retry queue",
    ),
    "accept a node": (lambda _: {"action": "accept", "id": PROPOSED[0].id}, "Accepted: A full pipe blocks its writer."),
    "accept a fact": (
        lambda _: {"action": "accept", "id": PROPOSED[1].id},
        "Accepted: Invoices are written by the billing worker.",
    ),
    "reject": (
        lambda _: {"action": "reject", "id": PROPOSED[0].id, "reason": "known"},
        "Rejected: A full pipe blocks its writer.",
    ),
}


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_and_its_undo(wire: Wire, name: str) -> None:
    asked, message = ACTIONS[name]
    code = wire.memory.cwd / "src/queue.py"
    if name == "confirm":
        code.write_text("def send() -> int: ...\n")
    before, version, inbox = wire.kept(), wire.version(), wire.get("/inbox")["pending"]
    acts = wire.get("/actions")["actions"]
    done = wire.act(**asked(wire))
    assert (done["action"], done["message"], done["warnings"]) == (name.partition(" ")[0], message, [])
    assert done["undo"]
    assert wire.kept() != before
    changed = wire.version()
    assert changed != version
    assert wire.get("/inbox")["pending"] == inbox - (done["action"] in ("accept", "reject"))
    assert wire.get("/actions")["actions"] == [done, *acts]
    undone = wire.undo(done["undo"]).data
    assert (undone["action"], undone["message"]) == ("undo", f"Undone: {message}")
    assert wire.kept() == before, "byte for byte"
    assert wire.get("/inbox")["pending"] == inbox
    assert wire.version() != changed
    assert wire.get("/actions")["actions"] == [undone, *acts]
    assert wire.undo(done["undo"]).status == 404, "once"
    code.write_text("def send() -> None: ...\n")


def test_an_undo_is_undone(wire: Wire) -> None:
    before = wire.kept()
    done = wire.act(action="stale", ref="gotcha.clock-drift", reason="fixed")
    after = wire.kept()
    undone = wire.undo(done["undo"]).data
    again = wire.undo(undone["undo"]).data
    assert (again["action"], again["message"]) == ("redo", "Done again: Marked stale: Clock drift")
    assert wire.kept() == after
    assert wire.record("gotcha.clock-drift")["item"]["status"] == "stale"
    wire.undo(again["undo"])
    assert wire.kept() == before


def test_what_another_changed_meanwhile_is_kept(wire: Wire) -> None:
    """An undo is refused where it would take away what somebody else wrote."""
    before = wire.kept()
    done = wire.act(action="stale", ref="gotcha.clock-drift", reason="fixed")
    path = wire.memory.cwd / ".memory/memory/clock-drift.md"
    text = path.read_bytes()
    node = wire.memory.cwd / ".memory/memory/clock-drift.json"
    held = node.read_bytes()
    node.write_bytes(held.replace(b"fixed", b"repaired") if b"fixed" in held else held + b"\n")
    now = wire.kept()
    reply = wire.undo(done["undo"])
    assert (reply.status, wire.kept()) == (409, now)
    node.write_bytes(held)
    assert path.read_bytes() == text
    assert wire.undo(done["undo"]).status == 200
    assert wire.kept() == before


# -- refusals -------------------------------------------------------------------------------------


def test_an_older_revision_writes_nothing(wire: Wire) -> None:
    revision = wire.record("gotcha.clock-drift")["revision"]
    done = wire.act(action="edit", ref="gotcha.clock-drift", revision=revision, body="Newer.")
    asked = {"action": "edit", "ref": "gotcha.clock-drift", "revision": revision, "body": "Older."}
    status, error = wire.refused(asked)
    assert (status, error["code"]) == (409, "MemoryConflictDetected")
    assert wire.record("gotcha.clock-drift")["body"].strip() == "Newer."
    wire.undo(done["undo"])


REFUSED: dict[str, tuple[Any, int]] = {
    "no such node": ({"action": "confirm", "ref": "feature.no-such"}, 404),
    "no such fact": ({"action": "stale", "ref": "fact:0000000000000000", "reason": "x"}, 404),
    "no such proposal": ({"action": "accept", "id": "p-0000"}, 404),
    "no reason": ({"action": "stale", "ref": "gotcha.clock-drift"}, 400),
    "an empty reason": ({"action": "stale", "ref": "gotcha.clock-drift", "reason": " "}, 400),
    "nothing in its place": ({"action": "supersede", "ref": "gotcha.clock-drift"}, 400),
    "both in its place": ({"action": "supersede", "ref": "gotcha.clock-drift", "by": "x", "title": "y"}, 400),
    "itself in its place": (
        {"action": "supersede", "ref": "decision.retries-run-inline", "by": "decision.retries-run-inline"},
        400,
    ),
    "no such action": ({"action": "remove", "ref": "gotcha.clock-drift"}, 400),
    "no action": ({"ref": "gotcha.clock-drift"}, 400),
    "more than there is": ({"action": "confirm", "ref": "gotcha.clock-drift", "force": True}, 400),
    "no text": ({"action": "confirm", "ref": 7}, 400),
    "a list": ([], 400),
    "no JSON": (b"{", 400),
    "no such stage": ({"action": "edit", "ref": "feature.retry-queue", "revision": "?", "stage": "done"}, 409),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_changes_nothing(wire: Wire, name: str) -> None:
    asked, expected = REFUSED[name]
    status, error = wire.refused(asked)
    assert status == expected, error
    assert error["message"]
    assert error["hint"]


def test_a_stage_that_is_none_is_refused(wire: Wire) -> None:
    revision = wire.record("feature.retry-queue")["revision"]
    status, error = wire.refused(
        {"action": "edit", "ref": "feature.retry-queue", "revision": revision, "stage": "done"}
    )
    assert status == 400
    assert error["message"] == "The stage: must be one of building, dead, idea, paused, shipped."
    assert error["hint"] == "Nothing was written."


def test_all_that_is_wrong_is_said_in_words(wire: Wire) -> None:
    revision = wire.record("feature.retry-queue")["revision"]
    asked = {"action": "edit", "ref": "feature.retry-queue", "revision": revision, "stage": "done", "title": " "}
    status, error = wire.refused(asked)
    assert status == 400
    assert "nodes." not in error["message"]
    assert "The stage:" in error["message"]
    assert "The title:" in error["message"]


@pytest.mark.parametrize("body", [{}, {"undo": 3}, {"undo": ""}, {"undo": "no-such"}, []])
def test_nothing_to_undo(wire: Wire, body: Any) -> None:
    before = wire.kept()
    reply = wire.door.post(f"{wire.base}/undo", body)
    assert reply.status in (400, 404)
    assert wire.kept() == before


def test_nothing_that_changed_nothing_can_be_undone(wire: Wire) -> None:
    done = wire.act(action="confirm", ref="decision.retries-run-inline")
    assert done["undo"] == ""
    assert done["message"] == "Nothing changed, since it has no anchors: Retries run inline"


def test_a_page_that_only_shows_changes_nothing(wire: Wire) -> None:
    before = wire.kept()
    with opened(wire.memory) as door:
        reading = Wire(wire.memory, door)
        for name, (asked, _) in ACTIONS.items():
            reply = door.post(f"{reading.base}/actions", asked(reading))
            assert (name, reply.status) == (name, 403)
            assert reply.error["message"] == "This page is read-only."
        assert reading.undo("anything").status == 403
        assert reading.get("/actions") == {"actions": []}
    assert wire.kept() == before


# -- who is told ----------------------------------------------------------------------------------


class Listening:
    """Somebody who listens to the events of a project."""

    def __init__(self, wire: Wire) -> None:
        self.connection = wire.door.connect(20)
        lines = f"Host: {wire.door.name}\r\nAuthorization: Bearer {wire.door.token}\r\n"
        self.connection.sendall(f"GET /api/events?project={wire.name} HTTP/1.1\r\n{lines}\r\n".encode())
        self.file = self.connection.makefile("rb")
        assert self.file.readline().startswith(b"HTTP/1.1 200")
        self.project = wire.name

    def next(self, seconds: float = 20) -> str:
        self.connection.settimeout(seconds)
        while not (line := self.file.readline()).startswith(b"data: "):
            assert line, "the stream ended"
        told = json.loads(line.removeprefix(b"data: "))
        assert told["project"] == self.project
        return str(told["version"])

    def close(self) -> None:
        self.file.close()
        self.connection.close()


@pytest.fixture
def listening(wire: Wire) -> Iterator[Listening]:
    found = Listening(wire)
    yield found
    found.close()


def told(wire: Wire, listening: Listening, version: str, seconds: float = 60) -> str:
    """Wait to be told of another state, which is then the one of every answer."""
    while (found := listening.next()) == version:
        pass
    end = time.monotonic() + 60
    while wire.version() != found and time.monotonic() < end:
        found = listening.next() if listening_more(listening) else found
    assert wire.version() == found
    return found


def listening_more(listening: Listening) -> bool:
    """Whether something else is told within a moment."""
    import select

    return bool(select.select([listening.connection], [], [], 0.2)[0])


@pytest.mark.proof
def test_a_listener_is_told_of_everything_that_is_seen(wire: Wire, listening: Listening) -> None:
    git = Git(wire.memory.cwd, wire.memory.env)
    version = listening.next()
    assert version == wire.version()

    done = wire.act(action="stale", ref="gotcha.clock-drift", reason="fixed")
    version = told(wire, listening, version)
    wire.undo(done["undo"])
    version = told(wire, listening, version)

    body = wire.memory.cwd / ".memory/memory/clock-drift.md"
    before = body.read_bytes()
    body.write_bytes(before + b"\nBy hand.\n")
    version = told(wire, listening, version)
    assert "By hand." in wire.record("gotcha.clock-drift")["body"]
    body.write_bytes(before)
    version = told(wire, listening, version)

    assert wire.record("feature.retry-queue")["verdict"]["verdict"] == "fresh"
    code = wire.memory.cwd / "src/queue.py"
    code.write_text("def send(again: bool) -> None: ...\n")
    version = told(wire, listening, version)
    assert wire.record("feature.retry-queue")["verdict"]["verdict"] == "changed"
    code.write_text("def send() -> None: ...\n")
    version = told(wire, listening, version)
    assert wire.record("feature.retry-queue")["verdict"]["verdict"] == "fresh"

    (wire.memory.cwd / "elsewhere.txt").write_text("nothing that anybody speaks of\n")
    git.commit("another commit")
    told(wire, listening, version)


def test_the_same_state_has_the_same_name(wire: Wire) -> None:
    assert len({wire.version() for _ in range(3)}) == 1


def test_two_who_listen_are_told_the_same(wire: Wire, listening: Listening) -> None:
    other = Listening(wire)
    try:
        assert listening.next() == other.next()
        done = wire.act(action="stale", ref="gotcha.clock-drift", reason="fixed")
        assert listening.next() == other.next()
        wire.undo(done["undo"])
    finally:
        other.close()


@pytest.mark.proof
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not tell what a process does")
def test_nobody_looks_while_nobody_listens(wire: Wire) -> None:
    """The work of a process that is asked nothing: none, but for what the interpreter does by itself."""
    with opened(wire.memory) as door:
        quiet = Wire(wire.memory, door)
        heard = Listening(quiet)
        heard.next()
        busy = work_of(door, 2.5)
        heard.close()
        quiet.version()
        time.sleep(1.5)
        idle = work_of(door, 2.5)
    assert busy >= 1, "while somebody listens, it looks"
    assert idle == 0, "nobody listens, and nothing is looked at"


def work_of(door: PageDoor, seconds: float) -> int:
    """How often its workers were at it within so many seconds."""

    def switches() -> dict[str, int]:
        found = {}
        for task in Path(f"/proc/{door.process.pid}/task").iterdir():
            lines = (task / "status").read_text().splitlines()
            name = lines[0].partition("\t")[2]
            count = next(line for line in lines if line.startswith("voluntary"))
            found[f"{task.name} {name}"] = int(count.split()[1])
        return found

    before = switches()
    time.sleep(seconds)
    main = str(door.process.pid)
    return sum(count - before.get(name, 0) for name, count in switches().items() if not name.startswith(f"{main} "))


def test_a_project_that_is_none_has_no_events(wire: Wire) -> None:
    assert wire.door.ask("/api/events?project=no-such").status == 404


@pytest.mark.proof
def test_whoever_goes_away_is_forgotten(wire: Wire) -> None:
    def descriptors() -> int:
        return len(list(Path(f"/proc/{wire.door.process.pid}/fd").iterdir()))

    wire.version()
    before = descriptors()
    crowd = [Listening(wire) for _ in range(10)]
    for one in crowd:
        one.next()
        one.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        one.close()
    end = time.monotonic() + 20
    while descriptors() > before + 2 and time.monotonic() < end:
        time.sleep(0.05)
    assert descriptors() <= before + 2
