"""Journal: every statement of the description, tried on files, commands and the server."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from journal_here import Journal, journal_in, write_session
from mcp_here import Asked, over_stdio
from mcp_here import Here as Served
from seeds_table import Row, Table

from installed import make_environment

JOURNAL = Table("journal")
MEMORY = ".agent-memory"
PAGES = ("README", "project-map", "current-focus", "gotchas", "next-steps")
SIGNALS = ("decisions", "gotchas", "nextStepHints", "keyPaths", "validationObservations")
TENANT, RUNBOOK = "Cache keys must include the tenant", "Write a cache runbook"
TALK = (
    "Cache the order list.",
    "DECISION: Cache the order list for 30 seconds in src/cache.ts.\n"
    "GOTCHA: Cache keys must include the tenant: otherwise tenants see each other's orders.\n"
    "NEXT: Write a cache runbook.\n"
    "I ran `npm test`: 12 passed.",
)
LATER = ("Draw the map.", "DECISION: Draw the map of the harbor with SVG.\nNEXT: Draw the piers.")
SETTLED = 1_772_000_000
"""Long before the moment at which the clock stands: 2026-02-25."""
numbers = count()


# -- projects ---------------------------------------------------------------------------------


class Story(msgspec.Struct):
    """One project at four moments: made, with a source, with its session imported, with that recalled."""

    made: Journal
    registered: Journal
    synced: Journal
    recalled: Journal
    added: Any
    imported: Any
    recall: Any


def project(folder: Path, env: dict[str, str]) -> Journal:
    here = journal_in(folder, env)
    (here.root / "src").mkdir()
    (here.root / "src/cache.ts").write_text("export const seconds = 30;\n")
    return here


def settle(path: Path) -> None:
    os.utime(path, (SETTLED, SETTLED))


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_environment(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, env: dict[str, str]) -> Story:
    here = project(tmp_path_factory.mktemp("journal"), env)
    here.done("init")
    made = here.copy("made")
    write_session(here.agent / "transcripts/cache.jsonl", TALK)
    settle(here.agent / "transcripts/cache.jsonl")
    added = here.done("add", "claude-local", str(here.agent), "--name", "agent")
    registered = here.copy("registered")
    imported = here.done("sync", "--all")
    synced = here.copy("synced")
    recall = here.done("recall")
    return Story(made, registered, synced, here, added, imported, recall)


@pytest.fixture
def own(story: Story) -> Journal:
    """A copy of the project with everything in it, to change."""
    return story.recalled.copy(f"own{next(numbers)}")


@pytest.fixture
def waiting(story: Story) -> Journal:
    """A copy in which the session is imported and not recalled."""
    return story.synced.copy(f"waiting{next(numbers)}")


def read(here: Journal, path: str) -> Any:
    return json.loads((here.root / MEMORY / path).read_bytes())


def configure(here: Journal, **changes: Any) -> None:
    """Settings by their names with dots written as two low lines: `recall__policy`."""
    path = here.root / MEMORY / "config.json"
    config = json.loads(path.read_bytes())
    for name, value in changes.items():
        *parents, last = name.split("__")
        part = config
        for parent in parents:
            part = part[parent]
        assert last in part, name
        part[last] = value
    path.write_text(json.dumps(config, indent=2) + "\n")


def findings(here: Journal) -> dict[str, str]:
    return {item["code"]: item["level"] for item in here.journal("validate", "--json").data["findings"]}


def canonical(value: Any, indent: str = "") -> str:
    """The text that a hash is made of, by its description: keys in the order of a dictionary, two blanks a level."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        names = sorted(value, key=lambda name: (name.lower(), name.swapcase()))
        items = [f"{inner}{json.dumps(name)}: {canonical(value[name], inner)}" for name in names]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"{inner}{canonical(item, inner)}" for item in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()


# -- files ------------------------------------------------------------------------------------


def file_is_there(path: str, story: Story) -> None:
    data = (story.made.root / MEMORY / path).read_bytes()
    assert data.endswith(b"\n")
    for line in data.splitlines() if path.endswith(".jsonl") else [data]:
        json.loads(line)


for number, path in (
    (1, "state.json"),
    (2, "history/events.jsonl"),
    (3, "sources.json"),
    (4, "config.json"),
):
    JOURNAL.add(number, f"/.agent-memory/{path}", partial(file_is_there, path))


@JOURNAL.holds(5, "/.agent-memory/history/checkpoints/*.json")
def _(story: Story) -> None:
    assert story.made.checkpoints == ["chk-000001"]
    assert read(story.made, "history/checkpoints/chk-000001.json")["id"] == "chk-000001"
    assert story.recalled.checkpoints == ["chk-000001", "chk-000002"]


STATE: dict[str, Callable[[Any], bool]] = {
    "schemaVersion": lambda value: value == 2,
    "generatorVersion": lambda value: isinstance(value, str) and bool(value),
    "provider": lambda value: value["name"] == "local" and set(value) >= {"name", "binary", "model", "sessionId"},
    "generatedAt": lambda value: value == "2026-03-02T11:19:00.000Z",
    "bundleHash": lambda value: re.fullmatch("[0-9a-f]{64}", value) is not None,
    "bundle": lambda value: len(value) == 6,
    "maintenance": lambda value: value["historyEventCount"] == 3,
}
BUNDLE: dict[str, Callable[[Any], bool]] = {
    "project": lambda value: value["name"] == "orders" and value["summary"] == "Takes orders.",
    "projectMap": lambda value: value["entrypoints"] == [] and "package.json" in value["firstFilesToRead"],
    "currentFocus": lambda value: "Cache the order list" in value["summary"],
    "gotchas": lambda value: [item["title"] for item in value] == [TENANT],
    "nextSteps": lambda value: [item["title"] for item in value] == [RUNBOOK],
    "validationCommands": lambda value: [item["command"] for item in value] == [["npm", "test"]],
}
MAINTENANCE: dict[str, Callable[[Any], bool]] = {
    "lastRecalledAt": lambda value: value == "2026-03-02T11:19:00.000Z",
    "lastRecalledEventId": lambda value: value == "evt-000003",
    "latestCheckpointId": lambda value: value == "chk-000002",
    "historyEventCount": lambda value: value == 3,
    "importSourceCount": lambda value: value == 1,
    "recallCursors": lambda value: isinstance(value, dict),
}


def state_stores(place: tuple[str, ...], name: str, is_right: Callable[[Any], bool], story: Story) -> None:
    value = story.recalled.state
    for part in place:
        value = value[part]
    assert name in value
    assert is_right(value[name]), value[name]


for first, label, place, parts in (
    (6, "state.json stores ", (), STATE),
    (13, "bundle.", ("bundle",), BUNDLE),
    (19, "maintenance.", ("maintenance",), MAINTENANCE),
):
    for offset, (name, is_right) in enumerate(parts.items()):
        JOURNAL.add(first + offset, f"{label}{name}", partial(state_stores, place, name, is_right))


@JOURNAL.holds(25, "recallCursors (all, local, imports)")
def _(story: Story) -> None:
    cursors = story.recalled.state["maintenance"]["recallCursors"]
    assert set(cursors) == {"all", "local", "imports"}
    assert all(set(cursor) == {"lastRecalledAt", "lastRecalledEventId"} for cursor in cursors.values())


@JOURNAL.holds(26, "bundleHash is a sha256")
def _(story: Story) -> None:
    for here in (story.made, story.recalled):
        assert here.state["bundleHash"] == digest(here.state["bundle"])
    assert story.made.state["bundleHash"] != story.recalled.state["bundleHash"]


@JOURNAL.holds(27, "historyEventCount = lines")
def _(story: Story) -> None:
    for here in (story.made, story.synced, story.recalled):
        assert here.state["maintenance"]["historyEventCount"] == len(here.events)


# -- events -----------------------------------------------------------------------------------

OWN_RUN = {
    "id": "evt-000003",
    "sourceId": "agent-memory.local",
    "createdAt": "2026-03-02T11:19:00.000Z",
    "sourceRef": "agent-memory:recall",
}
SESSION = {
    "id": "evt-000002",
    "sourceId": "agent",
    "createdAt": "2026-03-01T10:00:00.000Z",
    "sourceRef": "…/cache.jsonl",
}
FIELDS = ("id", "sourceId", "createdAt", "contentHash", "summary", "signals", "sourceRef")


def event_is_there(kind: str, story: Story) -> None:
    kinds = [event["kind"] for event in story.recalled.events]
    assert kinds == ["tool_run", "imported_session", "tool_run"]
    assert kind in kinds


def event_carries(name: str, values: dict[str, str], story: Story) -> None:
    event = next(event for event in story.recalled.events if event["id"] == values["id"])
    if name in values:
        assert event[name] == values[name]
    elif name == "contentHash":
        assert re.fullmatch("[0-9a-f]{64}", event[name])
    elif name == "summary":
        assert "Cache" in event[name]
    else:
        assert set(event[name]) == set(SIGNALS)


def has_signal(name: str, story: Story) -> None:
    for event in story.recalled.events:
        assert all(isinstance(text, str) for text in event["signals"][name])


def is_extracted(name: str, text: str, story: Story) -> None:
    found = next(event for event in story.synced.events if event["kind"] == "imported_session")["signals"][name]
    assert found == [text]


for first, kind, values in ((28, "tool_run", OWN_RUN), (53, "imported_session", SESSION)):
    JOURNAL.add(first, f"kind {kind}", partial(event_is_there, kind))
    for offset, name in enumerate(FIELDS, start=1):
        JOURNAL.add(first + offset, f"event carries {name} ({kind})", partial(event_carries, name, values))
for offset, (name, text) in enumerate(
    zip(
        SIGNALS,
        (
            "Cache the order list for 30 seconds in src/cache.ts",
            "Cache keys must include the tenant: otherwise tenants see each other's orders",
            "NEXT: Write a cache runbook",
            "src/cache.ts",
            "npm test: passed (12 passed)",
        ),
        strict=True,
    )
):
    JOURNAL.add(36 + offset, f"signals.{name}", partial(has_signal, name))
    JOURNAL.add(61 + offset, f"signals.{name} extracted", partial(is_extracted, name, text))


# -- sources ----------------------------------------------------------------------------------


@JOURNAL.holds(41, "sources.json import source registry (add claude-local)")
def _(story: Story) -> None:
    assert read(story.made, "sources.json") == []
    (source,) = read(story.registered, "sources.json")
    assert (source["id"], source["type"], source["lastSyncStatus"]) == ("agent", "claude-local", "never")


@JOURNAL.holds(42, "sync imports")
def _(story: Story) -> None:
    assert (story.imported["imported"], story.imported["skipped"], story.imported["failed"]) == (1, 0, 0)
    assert len(story.synced.events) == len(story.registered.events) + 1


SOURCE: dict[str, Callable[[Any], bool]] = {
    "id": lambda value: value == "agent",
    "type": lambda value: value == "claude-local",
    "path": lambda value: value.endswith("/agent"),
    "createdAt": lambda value: value == "2026-03-02T11:19:00.000Z",
    "updatedAt": lambda value: value == "2026-03-02T11:19:00.000Z",
    "lastSyncedAt": lambda value: value == "2026-03-02T11:19:00.000Z",
    "lastSyncStatus": lambda value: value == "passed",
    "lastSyncError": lambda value: value is None,
    "lastImportedCount": lambda value: value == 1,
}


def source_records(name: str, is_right: Callable[[Any], bool], story: Story) -> None:
    (source,) = read(story.synced, "sources.json")
    assert name in source
    assert is_right(source[name]), source[name]


for offset, (name, is_right) in enumerate(SOURCE.items()):
    JOURNAL.add(43 + offset, f"source records {name}", partial(source_records, name, is_right))


@JOURNAL.holds(52, "lastImportedCount 1, lastSyncStatus passed")
def _(story: Story, own: Journal) -> None:
    (source,) = read(story.synced, "sources.json")
    assert (source["lastImportedCount"], source["lastSyncStatus"]) == (1, "passed")
    again = own.done("sync", "agent")
    assert (again["imported"], again["skipped"]) == (0, 1), "the same session is imported once"


# -- recall, checkpoints, status --------------------------------------------------------------


@JOURNAL.holds(66, "signals … used by … query (before recall)")
def _(story: Story) -> None:
    found = story.synced.done("query", "must cache keys include the tenant?")
    assert [item["sourceId"] for item in found["citations"]] == ["evt-000002"]
    assert TENANT in found["answer"]


@JOURNAL.holds(67, "signals … used by recall (consolidation)")
def _(story: Story) -> None:
    assert story.synced.state["bundle"]["gotchas"] == []
    (gotcha,) = story.recalled.state["bundle"]["gotchas"]
    assert (gotcha["title"], gotcha["cause"]) == (TENANT, "otherwise tenants see each other's orders")


@JOURNAL.holds(68, "recall → next steps from hints")
def _(story: Story) -> None:
    assert story.synced.titles["nextSteps"] == []
    assert story.recalled.titles["nextSteps"] == [RUNBOOK]


@JOURNAL.holds(69, "checkpoint stores a snapshot of the canonical bundle after a meaningful write")
def _(story: Story) -> None:
    checkpoint = read(story.recalled, "history/checkpoints/chk-000002.json")
    assert checkpoint["bundle"] == story.recalled.state["bundle"]
    assert (checkpoint["bundleHash"], checkpoint["eventId"]) == (story.recalled.state["bundleHash"], "evt-000003")
    assert story.synced.checkpoints == ["chk-000001"], "an import alone changes no memory"


@JOURNAL.holds(70, "maintenance.lastRecalledAt/EventId set")
def _(story: Story) -> None:
    before, after = (here.state["maintenance"] for here in (story.synced, story.recalled))
    assert (before["lastRecalledEventId"], after["lastRecalledEventId"]) == ("evt-000001", "evt-000003")
    assert after["lastRecalledAt"] == "2026-03-02T11:19:00.000Z"
    assert after["recallCursors"]["all"]["lastRecalledEventId"] == "evt-000003"


@JOURNAL.holds(71, "maintenance.latestCheckpointId")
def _(story: Story) -> None:
    named = [here.state["maintenance"]["latestCheckpointId"] for here in (story.synced, story.recalled)]
    assert named == ["chk-000001", "chk-000002"]


@JOURNAL.holds(72, "maintenance.importSourceCount")
def _(story: Story) -> None:
    counts = [here.state["maintenance"]["importSourceCount"] for here in (story.made, story.registered)]
    assert counts == [0, 1]


@JOURNAL.holds(73, "nothing to recall a second time")
def _(own: Journal) -> None:
    before = own.state
    found = own.done("recall")
    assert (found["applied"], found["raw_event_count"]) == (False, 0)
    assert own.state == before


@JOURNAL.holds(74, "checkpoint: a stable diff baseline for recall")
def _(waiting: Journal, story: Story) -> None:
    assert story.recall["baseline"]["id"] == "chk-000001"
    found = waiting.done("recall", "--dry-run")
    assert (found["baseline"]["id"], found["baseline"]["addedGotchas"]) == ("chk-000001", [TENANT])
    assert waiting.done("recall", "--dry-run", "--checkpoint", "chk-000001")["baseline"]["id"] == "chk-000001"


@JOURNAL.holds(75, "a baseline for status checkpoint drift summaries")
def _(story: Story) -> None:
    out = story.recalled.program("agent-memory", "status", "--checkpoint", "chk-000001").out
    assert "Checkpoint Drift:\n- checkpoint: chk-000001\n- changed sections: current-focus, gotchas, next-steps" in out
    assert f"- added gotchas: {TENANT}" in out


@JOURNAL.holds(76, "a retrievable memory layer for query (checkpoints cited)")
def _(story: Story) -> None:
    found = story.recalled.done("query", "what changed?")
    assert found["citations"][0]["sourceType"] == "checkpoint"
    assert found["citations"][0]["sourceId"] == "chk-000002"


@JOURNAL.holds(77, "a structural integrity target for validate")
def _(own: Journal) -> None:
    assert findings(own)["checkpoints:latest"] == "pass"
    (own.root / MEMORY / "history/checkpoints/chk-000002.json").unlink()
    assert findings(own)["checkpoints:latest"] == "fail"
    assert own.journal("validate").code == 1


@JOURNAL.holds(78, "validate finds a checkpoint whose bundle does not match its hash")
def _(own: Journal) -> None:
    path = own.root / MEMORY / "history/checkpoints/chk-000001.json"
    checkpoint = json.loads(path.read_bytes())
    checkpoint["bundle"]["project"]["summary"] = "Something else."
    path.write_text(json.dumps(checkpoint))
    assert findings(own)["checkpoints:bundle-hash:chk-000001"] == "fail"


@JOURNAL.holds(79, "status works")
def _(story: Story) -> None:
    run = story.synced.program("agent-memory", "status")
    assert run.code == 0
    assert "- schemaVersion: 2\n" in run.out
    assert "- total events: 2\n- unrecalled all: 1\n- unrecalled local: 0\n- unrecalled imports: 1\n" in run.out
    assert "- agent: status=passed lastSyncedAt=2026-03-02T11:19:00.000Z imported=1" in run.out


# -- settings ---------------------------------------------------------------------------------

DEFAULTS = {
    "recall.defaultSection": "all",
    "recall.defaultSource": "all",
    "recall.policy": "balanced",
    "recall.backlogWarnThreshold": 10,
    "recall.preview.showDiffByDefault": False,
    "query.defaultOutput": "text",
    "automation.intervalMinutes": 15,
    "automation.provider": "auto",
    "automation.importSyncBeforeRecall": True,
    "automation.autoRecall": True,
    "retention.enabled": True,
    "retention.history.maxAgeDays": 90,
    "retention.checkpoints.maxAgeDays": 30,
    "retention.checkpoints.keepRecent": 10,
    "retention.archive.expireAfterDays": 180,
}


def setting(story: Story, name: str) -> Any:
    value = read(story.made, "config.json")
    for part in name.split("."):
        value = value[part]
    return value


def has_default(name: str, default: Any, story: Story) -> None:
    assert setting(story, name) == default


def has_instructions(name: str, story: Story) -> None:
    assert len(setting(story, name).split()) > 5


for offset, (name, default) in enumerate(DEFAULTS.items()):
    JOURNAL.add(80 + offset, f"config {name}", partial(has_default, name, default))
for offset, mode in enumerate(("answer", "changes", "next", "traps")):
    name = f"query.templates.{mode}.instructions"
    JOURNAL.add(95 + offset, f"config {name}", partial(has_instructions, name))


@JOURNAL.holds(99, "query.defaultOutput=json takes effect")
def _(own: Journal) -> None:
    configure(own, query__defaultOutput="json")
    assert json.loads(own.journal("query", "which traps are there?").out)["mode"] == "traps"


@JOURNAL.holds(100, "CLI flags can still override these defaults for a single run (--output=text)")
def _(own: Journal) -> None:
    configure(own, query__defaultOutput="json")
    assert own.journal("query", "which traps are there?", "--output=text").out.startswith("Answer:\n")
    assert json.loads(own.journal("query", "which traps are there?").out)["mode"] == "traps"


@JOURNAL.holds(101, "recall.defaultSection takes effect")
def _(waiting: Journal) -> None:
    configure(waiting, recall__defaultSection="gotchas")
    found = waiting.done("recall")
    assert (found["section"], found["changed_sections"]) == ("gotchas", ["gotchas"])
    assert waiting.titles == {"gotchas": [TENANT], "nextSteps": []}


@JOURNAL.holds(102, "--section overrides")
def _(waiting: Journal) -> None:
    configure(waiting, recall__defaultSection="gotchas")
    assert waiting.done("recall", "--section=next-steps")["changed_sections"] == ["next-steps"]
    assert waiting.titles == {"gotchas": [], "nextSteps": [RUNBOOK]}


@JOURNAL.holds(103, "--section=all overrides the configured section")
def _(waiting: Journal) -> None:
    configure(waiting, recall__defaultSection="gotchas")
    assert waiting.done("recall", "--section=all")["section"] == "all"
    assert waiting.titles == {"gotchas": [TENANT], "nextSteps": [RUNBOOK]}


@JOURNAL.holds(104, "recall.defaultSource takes effect")
def _(waiting: Journal) -> None:
    configure(waiting, recall__defaultSource="local")
    found = waiting.done("recall", "--dry-run")
    assert (found["source"], found["raw_event_count"]) == ("local", 0)
    configure(waiting, recall__defaultSource="imports")
    assert waiting.done("recall", "--dry-run")["raw_event_count"] == 1


def policy_counts(policy: str, source: str, events: int, protected: list[str], waiting: Journal) -> None:
    found = waiting.done("recall", "--dry-run", f"--policy={policy}")
    assert (found["policy"], found["source"], found["raw_event_count"]) == (policy, source, events)
    assert found["protected"] == protected


for number, policy, source, events, protected in (
    (105, "balanced", "all", 1, []),
    (106, "imports-only", "imports", 1, []),
    (107, "local-only", "local", 0, []),
    (108, "project-map-protected", "all", 1, ["project-map"]),
):
    JOURNAL.add(number, f"recall.policy {policy}", partial(policy_counts, policy, source, events, protected))


@JOURNAL.holds(109, "recall.backlogWarnThreshold takes effect")
def _(waiting: Journal) -> None:
    assert findings(waiting)["recall:backlog"] == "pass"
    configure(waiting, recall__backlogWarnThreshold=0)
    assert findings(waiting)["recall:backlog"] == "warn"
    assert "more than 0" in waiting.journal("status").out


@JOURNAL.holds(110, "recall.preview.showDiffByDefault takes effect")
def _(waiting: Journal) -> None:
    assert "+++ docs/agent-memory/gotchas.md" not in waiting.journal("recall", "--dry-run").out
    configure(waiting, recall__preview__showDiffByDefault=True)
    assert "+++ docs/agent-memory/gotchas.md" in waiting.journal("recall", "--dry-run").out


@JOURNAL.holds(113, "config.json with a wrong value is refused, and said where")
def _(own: Journal) -> None:
    configure(own, recall__policy="sometimes")
    run = own.journal("recall")
    assert run.code != 0
    assert "config.recall.policy must be one of" in run.err
    assert findings(own)["config:schema"] == "fail"


# -- automation -------------------------------------------------------------------------------


def cycle(here: Journal, *, now: str = "", stdin: bytes | str = b"") -> Any:
    """One run of the automation; what it noted."""
    env = {"MEMORY_NOW": now} if now else None
    run = here("journal", "automate", "run-once", "--json", env=env, stdin=stdin)
    assert run.code == 0, run.out
    return run.data["run"]


def talked(here: Journal, name: str = "later", *, seconds_ago: int | None = None) -> Path:
    """Another session of the agent, of this copy of the project alone."""
    path = here.agent / f"transcripts/{name}.jsonl"
    write_session(path, LATER)
    if seconds_ago is None:
        settle(path)
    else:
        moment = 1_772_450_340 - seconds_ago  # the moment at which the clock stands
        os.utime(path, (moment, moment))
    here.done("remove", "agent")
    here.done("add", "claude-local", str(here.agent), "--name", "agent")
    return path


def imports(run: Any) -> int:
    return sum(item["importedCount"] for item in run["importSync"]["results"])


@JOURNAL.differs(
    111,
    "automate run-once syncs and recalls",
    why="A session that changed in the last ten minutes may still be going on, so a run leaves it, and says so; unless "
    "the hook of that session started the run.",
    instead="Let the hook start it, import at once with `agent-memory sync NAME`, or run it again later.",
)
def _(own: Journal) -> None:
    path = talked(own, seconds_ago=60)
    run = cycle(own)
    assert (imports(run), run["importSync"]["results"][0]["waitingCount"]) == (0, 1)
    payload = {"hook_event_name": "Stop", "session_id": "later", "transcript_path": str(path)}
    run = cycle(own, stdin=json.dumps(payload))
    assert (run["status"], imports(run), run["recall"]["applied"]) == ("recalled", 1, True)
    assert "Draw the piers" in own.titles["nextSteps"]


@pytest.fixture(scope="module")
def process(story: Story) -> Iterator[Journal]:
    """A project whose journal a process keeps, every seven minutes."""
    here = story.recalled.copy("process")
    here.env.pop("MEMORY_NOW")
    configure(here, automation__intervalMinutes=7)
    started = here.program("agent-memory", "automate", "start")
    assert started.code == 0, started
    yield here
    here.program("agent-memory", "automate", "stop")


@JOURNAL.holds(159, "automation.intervalMinutes reaches the process")
def _(process: Journal) -> None:
    assert read(process, "automation/daemon.json")["intervalMinutes"] == 7
    assert "- intervalMinutes: 7" in process.program("agent-memory", "automate", "status").out


@JOURNAL.holds(112, "automate stop")
def _(process: Journal) -> None:
    stopped = process.program("agent-memory", "automate", "stop")
    assert (stopped.code, "stopped" in stopped.out) == (0, True)
    assert "stopped" in process.program("agent-memory", "automate", "status").out
    assert not (process.root / MEMORY / "automation/daemon.json").exists()
    process.program("agent-memory", "automate", "start")


@JOURNAL.holds(155, "automation.importSyncBeforeRecall=false: no sync; true: sync (aged session)")
def _(own: Journal) -> None:
    talked(own)
    configure(own, automation__importSyncBeforeRecall=False)
    assert cycle(own)["importSync"] == {"attempted": False, "results": []}
    configure(own, automation__importSyncBeforeRecall=True)
    assert imports(cycle(own)) == 1


@JOURNAL.holds(156, "automate run-once syncs and recalls (aged session)")
def _(own: Journal) -> None:
    talked(own)
    run = cycle(own)
    assert (run["status"], imports(run), run["recall"]["applied"]) == ("recalled", 1, True)
    assert "Draw the piers" in own.titles["nextSteps"]
    assert read(own, "automation/latest-run.json")["status"] == "recalled"


@JOURNAL.holds(157, "automation.autoRecall false/true")
def _(own: Journal) -> None:
    talked(own)
    configure(own, automation__autoRecall=False)
    run = cycle(own)
    assert (run["status"], run["recall"]["attempted"]) == ("imported", False)
    assert "Draw the piers" not in own.titles["nextSteps"]
    configure(own, automation__autoRecall=True)
    assert cycle(own)["recall"]["applied"] is True
    assert "Draw the piers" in own.titles["nextSteps"]


@JOURNAL.holds(158, "recall.policy from config takes effect")
def _(waiting: Journal) -> None:
    configure(waiting, recall__policy="local-only")
    assert waiting.done("recall", "--dry-run")["raw_event_count"] == 0
    assert cycle(waiting)["recall"]["attempted"] is False
    configure(waiting, recall__policy="imports-only")
    assert waiting.done("recall")["source"] == "imports"
    assert waiting.titles["gotchas"] == [TENANT]


# -- retention --------------------------------------------------------------------------------

HUNDRED_DAYS, YEAR = "2026-06-10T12:00:00+00:00", "2027-03-02T12:00:00+00:00"


class Aged(msgspec.Struct):
    """A journal whose history has aged, before and after retention."""

    before: Journal
    after: Journal
    run: Any
    question: str = "must cache keys include the tenant?"


@pytest.fixture(scope="module")
def aged(story: Story) -> Aged:
    here = story.recalled.copy("aged")
    for number in range(4):
        (here.root / "README.md").write_text(f"# Orders\n\nTakes {number + 2} kinds of orders.\n")
        here.done("update", "--yes")
    configure(here, retention__checkpoints__keepRecent=2)
    before = here.copy("aged-before")
    return Aged(before, here, cycle(here, now=HUNDRED_DAYS))


def batch_of(here: Journal) -> Path:
    (batch,) = (here.root / MEMORY / "archive").glob("prune-*")
    return batch


@JOURNAL.holds(114, "Retention can later archive older recalled events out of the active log")
def _(aged: Aged) -> None:
    assert aged.run["prune"]["archivedEventCount"] == len(aged.before.events) - len(aged.after.events) > 0
    assert "evt-000002" not in {event["id"] for event in aged.after.events}
    assert aged.after.state["maintenance"]["historyEventCount"] == len(aged.after.events)


@JOURNAL.holds(115, "archive/prune-<timestamp>/manifest.json")
def _(aged: Aged) -> None:
    batch = batch_of(aged.after)
    assert re.fullmatch(r"prune-20260610T120000000Z", batch.name)
    manifest = json.loads((batch / "manifest.json").read_bytes())
    assert "evt-000002" in manifest["archivedEventIds"]
    assert (manifest["historyMaxAgeDays"], manifest["keepRecent"]) == (90, 2)


@JOURNAL.holds(116, "archive/prune-<timestamp>/events.jsonl")
def _(aged: Aged) -> None:
    batch = batch_of(aged.after)
    held = [json.loads(line)["id"] for line in (batch / "events.jsonl").read_bytes().splitlines()]
    assert held == json.loads((batch / "manifest.json").read_bytes())["archivedEventIds"]


@JOURNAL.holds(117, "archive/prune-<timestamp>/checkpoints/*.json")
def _(aged: Aged) -> None:
    batch = batch_of(aged.after)
    held = sorted(path.stem for path in (batch / "checkpoints").glob("*.json"))
    assert held == json.loads((batch / "manifest.json").read_bytes())["archivedCheckpointIds"]
    assert held == [name for name in aged.before.checkpoints if name not in aged.after.checkpoints]


@JOURNAL.holds(118, "validate after retention")
def _(aged: Aged) -> None:
    assert "fail" not in findings(aged.after).values()
    assert findings(aged.after)[f"archive:manifest:{batch_of(aged.after).name}"] == "pass"


@JOURNAL.holds(119, "can later expire from the archive on a longer window")
def _(aged: Aged) -> None:
    here = aged.after.copy("expired")
    run = cycle(here, now=YEAR)
    assert run["prune"]["expiredArchiveBatchCount"] == 1
    assert not (here.root / MEMORY / "archive" / batch_of(aged.after).name).exists()
    again = here.done("sync", "agent")
    assert (again["imported"], again["skipped"]) == (0, 1), "what expired is not imported again"


@JOURNAL.holds(120, "retention.enabled=false")
def _(aged: Aged) -> None:
    here = aged.before.copy("kept")
    configure(here, retention__enabled=False)
    run = cycle(here, now=HUNDRED_DAYS)
    assert run["prune"]["attempted"] is False
    assert not (here.root / MEMORY / "archive").exists()
    assert here.events == aged.before.events


@JOURNAL.holds(
    160,
    "Archive batches are written by automation-only pruning (sync, recall, update, status, validate write none)",
)
def _(aged: Aged) -> None:
    here = aged.before.copy("commands")
    later = {"MEMORY_NOW": HUNDRED_DAYS}
    for command in (("sync", "--all"), ("recall",), ("update",), ("status",), ("validate",)):
        assert here.journal(*command, env=later).code == 0
        assert not (here.root / MEMORY / "archive").exists(), command
    cycle(here, now=HUNDRED_DAYS)
    assert batch_of(here).is_dir()


@JOURNAL.holds(161, "always preserving the latest checkpoint and the configured recent tail (keepRecent 2)")
def _(aged: Aged) -> None:
    assert aged.after.checkpoints == aged.before.checkpoints[-2:]
    assert aged.after.state["maintenance"]["latestCheckpointId"] == aged.after.checkpoints[-1]
    none = aged.before.copy("none")
    configure(none, retention__checkpoints__keepRecent=0)
    cycle(none, now=HUNDRED_DAYS)
    assert none.checkpoints == aged.before.checkpoints[-1:]


@JOURNAL.holds(162, "is copied out of the active store (every archived event is in the batch, none lost)")
def _(aged: Aged) -> None:
    held = [json.loads(line) for line in (batch_of(aged.after) / "events.jsonl").read_bytes().splitlines()]
    assert sorted([*held, *aged.after.events], key=lambda event: event["id"]) == aged.before.events
    for name in aged.before.checkpoints:
        places = (aged.after.root / MEMORY / "history/checkpoints", batch_of(aged.after) / "checkpoints")
        (found,) = [place / f"{name}.json" for place in places if (place / f"{name}.json").exists()]
        assert json.loads(found.read_bytes()) == read(aged.before, f"history/checkpoints/{name}.json")


@JOURNAL.holds(163, "Archived events do not participate in active retrieval (cited before, not after)")
def _(aged: Aged) -> None:
    asked = ("query", aged.question, "--scope=history")
    assert "evt-000002" in [item["sourceId"] for item in aged.before.done(*asked)["citations"]]
    assert "evt-000002" not in [item["sourceId"] for item in aged.after.done(*asked)["citations"]]
    archived = aged.after.done(*asked, "--archived")
    assert "evt-000002" in [item["sourceId"] for item in archived["citations"]]


@JOURNAL.holds(164, "archived does not participate in status (total = active lines)")
def _(aged: Aged) -> None:
    assert f"- total events: {len(aged.after.events)}\n" in aged.after.program("agent-memory", "status").out


@JOURNAL.holds(165, "archived does not participate in recall")
def _(aged: Aged) -> None:
    here = aged.after.copy("again")
    found = here.done("recall")
    assert (found["raw_event_count"], found["applied"]) == (0, False)
    assert here.titles["gotchas"] == [TENANT], "what it brought into the memory stays"


# -- pages and the entry block ----------------------------------------------------------------


def page_has_marker(name: str, story: Story) -> None:
    first = (story.recalled.root / f"docs/agent-memory/{name}.md").read_text().splitlines()[0]
    state = story.recalled.state["bundleHash"]
    page = name.lower()
    assert first == f"<!-- agent-memory:projection file={page} version=3 bundleHash={state} -->"


for offset, name in enumerate(PAGES):
    text = f"docs/agent-memory/{name}.md starts with a versioned projection marker with bundleHash"
    JOURNAL.add(121 + offset, text, partial(page_has_marker, name))


@JOURNAL.holds(126, "<!-- agent-memory:entry version=3 bundleHash=<sha256> start --> … <!-- agent-memory:entry end -->")
def _(story: Story) -> None:
    text = (story.recalled.root / "README.md").read_text()
    start = f"<!-- agent-memory:entry version=3 bundleHash={story.recalled.state['bundleHash']} start -->"
    assert text.count(start) == text.count("<!-- agent-memory:entry end -->") == 1
    assert text.index(start) < text.index("## Project Memory") < text.index("<!-- agent-memory:entry end -->")
    assert "Takes orders." in text


@JOURNAL.holds(
    127, "lets validate confirm that contributors still have the correct top-level path (block removed → FAIL)"
)
def _(own: Journal) -> None:
    assert findings(own)["entry:file"] == "pass"
    (own.root / "README.md").write_text("# Orders\n\nTakes orders.\n")
    assert findings(own)["entry:marker"] == "fail"
    (own.root / "README.md").unlink()
    assert findings(own)["entry:file"] == "fail"


# -- what is older ----------------------------------------------------------------------------


@pytest.fixture
def old(own: Journal) -> Journal:
    """A journal whose state is of an earlier version."""
    path = own.root / MEMORY / "state.json"
    path.write_text(json.dumps({**own.state, "schemaVersion": 1}))
    return own


@JOURNAL.holds(128, "old state files are not read")
def _(old: Journal) -> None:
    for command in (("update",), ("recall",), ("status",), ("query", "which traps are there?"), ("sync", "--all")):
        run = old.journal(*command)
        assert run.code != 0, command
        assert TENANT not in run.out
    assert "has schema version `1`" in old.journal("status").err


@JOURNAL.holds(129, "error tells to re-run init")
def _(old: Journal) -> None:
    assert "init" in old.journal("status").err
    assert "agent-memory init" in old.program("agent-memory", "status").err


@JOURNAL.holds(130, "Re-run: agent-memory init to rebuild into the current model")
def _(old: Journal) -> None:
    assert old.journal("init", "--yes").code == 0
    assert old.state["schemaVersion"] == 2
    assert "fail" not in findings(old).values()


@JOURNAL.holds(131, "old projection markers are not preserved (validate FAILs a v2 marker)")
def _(own: Journal) -> None:
    age_page(own)
    assert findings(own)["projection:gotchas:drift"] == "fail"


@JOURNAL.holds(132, "update writes the projection files anew (stale v2 marker)")
def _(own: Journal) -> None:
    for command in (("update",), ("recall",)):
        age_page(own)
        assert own.journal(*command).code == 0
        assert findings(own)["projection:gotchas"] == "pass"
        (own.root / "docs/agent-memory/next-steps.md").unlink()
        assert own.journal(*command).code == 0
        assert findings(own)["projection:next-steps"] == "pass"


@JOURNAL.holds(133, "validate --repair writes them anew")
def _(own: Journal) -> None:
    age_page(own)
    assert own.journal("validate", "--repair").code == 0
    assert findings(own)["projection:gotchas"] == "pass"


def age_page(here: Journal) -> None:
    page = here.root / "docs/agent-memory/gotchas.md"
    page.write_text(page.read_text().replace("version=3", "version=2", 1))


# -- the server -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(story: Story) -> Iterator[tuple[Asked, Journal]]:
    """`agent-memory mcp` and a client of it, in a project of their own whose session waits."""
    here = story.synced.copy("served")
    assert here.done("sync", "agent")["imported"] == 0
    program = str(Path(sys.executable).parent / "agent-memory")
    with over_stdio(Served(here.root, here.env), "mcp", program=program) as asked:
        yield asked, here


TOOLS = (
    "memory_assess",
    "memory_maintain",
    "memory_compact_handoff",
    "memory_status",
    "memory_validate",
    "automation_status",
    "automation_ensure_running",
    "automation_run_once",
)


def tool_is_listed(name: str, served: tuple[Asked, Journal]) -> None:
    listed = {tool.name: tool for tool in served[0].do("list_tools").tools}
    assert name in listed
    assert listed[name].description
    assert listed[name].input_schema["additionalProperties"] is False


for offset, name in enumerate(TOOLS):
    JOURNAL.add(134 + offset, f"MCP {name}", partial(tool_is_listed, name))


@JOURNAL.holds(142, "MCP memory_query (journal)")
def _(served: tuple[Asked, Journal]) -> None:
    tool_is_listed("memory_query", served)
    found = served[0].data("memory_query", question="must cache keys include the tenant?", output="json")
    assert TENANT in found["answer"]


@JOURNAL.holds(143, "MCP memory_assess answers")
def _(served: tuple[Asked, Journal]) -> None:
    found = served[0].data("memory_assess")
    assert set(found) >= {"status", "summary", "suggestedNextAction", "details", "warnings", "errors"}
    assert set(found["details"]["backlog"]) == {"unrecalledAll", "unrecalledLocal", "unrecalledImports"}


@JOURNAL.holds(144, "MCP memory_maintain answers")
def _(served: tuple[Asked, Journal]) -> None:
    asked, here = served
    found = asked.data("memory_maintain")
    assert found["status"] == "ok"
    assert TENANT in here.titles["gotchas"]


@JOURNAL.holds(145, "MCP memory_compact_handoff answers")
def _(served: tuple[Asked, Journal]) -> None:
    details = served[0].data("memory_compact_handoff")["details"]
    assert set(details) >= {"currentFocusSummary", "topGotchas", "topNextSteps", "recommendedResumeActions"}


@JOURNAL.holds(146, "MCP memory_status answers")
def _(served: tuple[Asked, Journal]) -> None:
    asked, here = served
    assert asked.data("memory_status")["history"]["totalEvents"] == len(here.events)


@JOURNAL.holds(147, "MCP memory_validate answers")
def _(served: tuple[Asked, Journal]) -> None:
    found = served[0].data("memory_validate")
    assert (found["failCount"], found["findings"]) == (0, [])
    assert found["passCount"] > 10


@JOURNAL.holds(148, "MCP automation_status answers")
def _(served: tuple[Asked, Journal]) -> None:
    assert served[0].data("automation_status")["running"] is False


@JOURNAL.holds(149, "MCP automation_run_once answers")
def _(served: tuple[Asked, Journal]) -> None:
    assert served[0].data("automation_run_once")["status"] in ("recalled", "recalled_noop", "idle")


@JOURNAL.holds(150, "MCP journal_query answers")
def _(served: tuple[Asked, Journal]) -> None:
    found = served[0].data("journal_query", question="which traps are there?")
    assert (found["mode"], TENANT in found["answer"]) == ("traps", True)


# -- sessions from elsewhere, journals of others ----------------------------------------------


@JOURNAL.holds(151, "sources: lastSyncStatus failed, lastSyncError")
def _(own: Journal) -> None:
    (own.agent / "transcripts/torn.jsonl").write_text("no session at all\n")
    own.done("remove", "agent")
    own.done("add", "claude-local", str(own.agent), "--name", "agent")
    assert own.journal("sync", "agent").code == 1
    (source,) = read(own, "sources.json")
    assert source["lastSyncStatus"] == "failed"
    assert source["lastSyncError"]
    assert findings(own)["sources:sync:agent"] == "warn"


@JOURNAL.holds(152, "projectMap, project, currentFocus of a journal that the original made (update)")
def _(own: Journal) -> None:
    path = own.root / MEMORY / "state.json"
    state = own.state
    told = [{"name": "src", "path": "src", "responsibility": "Caches what is asked for often."}]
    state["provider"] = {"name": "codex", "binary": "codex", "model": None, "sessionId": None}
    state["bundle"]["project"]["summary"] = "Orders for marinas, by phone and by mail."
    state["bundle"]["projectMap"] |= {"modules": told, "architectureNotes": ["Requests pass through the cache."]}
    state["bundle"]["currentFocus"]["summary"] = "The cache is being made safe for tenants."
    path.write_text(json.dumps(state))
    assert own.journal("validate", "--repair").code == 0
    own.done("update", "--yes")
    after = own.state["bundle"]
    assert after["project"]["summary"] == "Orders for marinas, by phone and by mail."
    assert [item["responsibility"] for item in after["projectMap"]["modules"]] == [told[0]["responsibility"]]
    assert "Requests pass through the cache." in after["projectMap"]["architectureNotes"]
    assert after["currentFocus"]["summary"] == "The cache is being made safe for tenants."


@JOURNAL.holds(153, "codex-local source")
def _(own: Journal) -> None:
    codex = own.root.parent / "codex"
    path = codex / "sessions/2026/03/01/rollout-2026-03-01T09-00-00-abc.jsonl"
    path.parent.mkdir(parents=True)
    said = [("user", "input_text", LATER[0]), ("assistant", "output_text", LATER[1])]
    at = "2026-03-01T09:00:00.000Z"
    lines = [{"timestamp": at, "type": "session_meta", "payload": {"id": "abc", "cwd": str(own.root)}}]
    for role, kind, text in said:
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        lines.append({"timestamp": at, "type": "response_item", "payload": payload})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    own.done("add", "codex-local", str(codex), "--name", "codex")
    assert own.done("sync", "codex")["imported"] == 1
    event = own.events[-1]
    assert (event["sourceId"], event["externalItemId"]) == ("codex", "abc")
    assert event["signals"]["nextStepHints"] == ["NEXT: Draw the piers"]


@JOURNAL.holds(154, "claude-local: a session whose cwd is the project, in a folder with another name")
def _(own: Journal) -> None:
    home = own.root.parent / "home"
    write_session(home / "projects/somewhere-else/mine.jsonl", LATER, cwd=own.root)
    write_session(home / "projects/-some-other-place/theirs.jsonl", LATER, cwd=Path("/some/other/place"))
    own.done("add", "claude-local", str(home), "--name", "home")
    assert own.done("sync", "home")["imported"] == 1
    assert own.events[-1]["externalItemId"] == "mine"


@pytest.mark.parametrize("row", JOURNAL.rows, ids=str)
def test_statement(row: Row, request: pytest.FixtureRequest) -> None:
    row.check(request)


def test_every_statement_is_tried_once() -> None:
    JOURNAL.check_numbers()
