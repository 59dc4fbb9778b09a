"""What must hold for every merge of the journal's files: whichever side is ours, whichever branch comes first."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.layers.journal.canonical import content_hash, file_bytes, line_bytes
from quire.layers.journal.checks.order import disordered, repeated
from quire.layers.journal.documents import read_checkpoint, read_state
from quire.layers.journal.events import read_history
from quire.layers.journal.merge import held_checkpoints, merge_journal
from quire.layers.journal.sources import read_sources
from thorough import examples

TIMES = st.sampled_from([f"2026-02-{day:02}T10:00:00.000Z" for day in range(1, 6)])
TEXTS = st.sampled_from(["none", "The worker retries.", "Invoices live in Postgres.", "One queue."])
SNAPSHOT = {"status": "not-run", "validatedAt": None, "summary": "none", "results": [], "suggestedNextActions": []}
GOTCHAS = st.lists(
    st.builds(
        lambda title, cause: {"title": title, "symptom": "none", "cause": cause, "correctPath": "none"},
        st.sampled_from(["Twice", "Slow", "Gone"]),
        TEXTS,
    ),
    max_size=3,
    unique_by=lambda item: item["title"],
)
COMMANDS = st.lists(
    st.builds(lambda name: {"label": name, "command": ["make", name], "purpose": "none"}, st.sampled_from("abc")),
    max_size=2,
    unique_by=lambda item: item["label"],
)


def bundle(summary: str, state: list[str], gotchas: list[Any], commands: list[Any], at: str | None) -> dict[str, Any]:
    facts = dict.fromkeys(
        ("name", "summary", "primaryEcosystem", "packageManager", "workspaceManager", "recommendedEntryFile"), "x"
    )
    return {
        "project": {**facts, "keyPaths": []},
        "projectMap": {
            "modules": [],
            "entrypoints": [],
            "denseSourceAreas": [],
            "architectureNotes": [],
            "firstFilesToRead": [],
        },
        "currentFocus": {
            "summary": summary,
            "currentState": state,
            "knownRisks": [],
            "validationSnapshot": {**SNAPSHOT, "validatedAt": at},
        },
        "gotchas": gotchas,
        "nextSteps": [],
        "validationCommands": commands,
    }


BUNDLES = st.builds(bundle, TEXTS, st.lists(TEXTS, max_size=3, unique=True), GOTCHAS, COMMANDS, st.none() | TIMES)


def state(held: dict[str, Any], at: str, added: int, cursor: int | None, sources: int) -> dict[str, Any]:
    name = None if cursor is None else f"evt-{cursor:06}"
    reached = {"lastRecalledAt": at, "lastRecalledEventId": name}
    return {
        "schemaVersion": 2,
        "generatorVersion": "0.3.0",
        "provider": {"name": "local", "binary": "agent-memory", "model": None, "sessionId": None},
        "generatedAt": at,
        "bundleHash": content_hash(held),
        "bundle": held,
        "maintenance": {
            **reached,
            "latestCheckpointId": f"chk-{added + 1:06}",
            "historyEventCount": 3 + added,
            "importSourceCount": sources,
            "recallCursors": {"all": reached, "local": reached, "imports": reached},
        },
    }


STATES = st.builds(state, BUNDLES, TIMES, st.integers(0, 3), st.none() | st.integers(3, 5), st.integers(1, 2))
BEGUN = st.builds(state, BUNDLES, st.just("2026-01-01T00:00:00.000Z"), st.just(0), st.just(3), st.just(1))


def in_every_order(path: str, base: bytes | None, sides: Sequence[bytes]) -> bytes:
    """The sides put together, one after the other: always the same."""
    results = set()
    for order in itertools.islice(itertools.permutations(sides), 12):
        found = order[0]
        for side in order[1:]:
            merged = merge_journal(path, base, found, side)
            assert merged is not None
            assert not merged.contested
            found = merged.data or b""
        results.add(found)
    assert len(results) == 1
    (found,) = results
    again = merge_journal(path, base, found, found)
    assert again is not None
    assert again.data == found
    return bytes(found)


@settings(max_examples=examples(300))
@given(BEGUN, st.lists(STATES, min_size=2, max_size=3, unique_by=file_bytes))
def test_states_are_merged_alike_in_every_order(base: Any, sides: list[Any]) -> None:
    data = in_every_order("state.json", file_bytes(base), [file_bytes(side) for side in sides])
    found = read_state(json.loads(data))
    assert found.bundle_hash == content_hash(found.bundle)
    held = [side["maintenance"]["historyEventCount"] - 3 for side in sides]
    assert found.maintenance.history_event_count == 3 + sum(held)
    if sum(1 for added in held if added) > 1:
        assert found.maintenance.last_recalled_event_id == "evt-000003"
    titles = {item["title"] for item in found.bundle["gotchas"]}
    was = {item["title"] for item in base["bundle"]["gotchas"]}
    for side in sides:
        assert titles >= {item["title"] for item in side["bundle"]["gotchas"]} - was


def event(number: int, day: int, said: str) -> bytes:
    names = ("decisions", "gotchas", "nextStepHints", "keyPaths", "validationObservations")
    signals: dict[str, list[str]] = {name: [] for name in names}
    return line_bytes(
        {
            "id": f"evt-{number:06}",
            "kind": "imported_session",
            "sourceId": "s",
            "externalItemId": said,
            "createdAt": f"2026-02-{day:02}T10:00:00.000Z",
            "contentHash": said,
            "summary": said,
            "signals": signals,
            "sourceRef": "r",
        }
    )


ADDED = st.lists(st.tuples(st.integers(1, 5), st.sampled_from("abcdef")), max_size=3, unique_by=lambda item: item[1])


@settings(max_examples=examples(300))
@given(st.lists(ADDED, min_size=2, max_size=3))
def test_histories_are_merged_alike_and_numbers_are_given_anew(sides: list[Any]) -> None:
    base = [event(number, number, f"base {number}") for number in (1, 2, 3)]
    texts = [
        b"".join(line + b"\n" for line in (*base, *(event(number, *item) for number, item in enumerate(side, start=4))))
        for side in sides
    ]
    data = in_every_order("history/events.jsonl", b"".join(line + b"\n" for line in base), texts)
    events = read_history(data).events
    assert {(one.created_at[8:10], one.summary) for one in events[3:]} == {
        (f"{day:02}", said) for side in sides for day, said in side
    }
    assert not repeated(events)
    assert disordered(events) is None
    if sum(map(bool, sides)) == 1:
        assert data == max(texts, key=len)


def test_sources_checkpoints_and_settings() -> None:
    def source(name: str, synced: str, **fields: Any) -> dict[str, Any]:
        given = {"id": name, "type": "markdown", "path": name, "createdAt": "2026-01-01T00:00:00.000Z"}
        told = {"updatedAt": synced, "lastSyncedAt": synced, "lastSyncStatus": "passed", "lastSyncError": None}
        return {**given, **told, "lastImportedCount": 0, **fields}

    early, late = "2026-02-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z"
    base = [source("a", early), source("b", early)]
    ours = [source("a", late, lastImportedCount=2), source("b", early), source("d", early)]
    theirs = [source("a", "2026-02-01T12:00:00.000Z", lastImportedCount=5, path="other"), source("c", late)]
    sides = [file_bytes(side) for side in (ours, theirs)]
    found = read_sources(json.loads(in_every_order("sources.json", file_bytes(base), sides))).sources
    assert [one.id for one in found] == ["a", "c", "d"]
    assert (found[0].path, found[0].last_imported_count) == ("other", 2)

    held = bundle("none", [], [], [], None)
    checkpoints = [
        {"id": "chk-000002", "createdAt": at, "eventId": None, "bundleHash": content_hash(held), "summary": at,
         "bundle": copy.deepcopy(held)}
        for at in (late, early)
    ]  # fmt: skip
    data = in_every_order("history/checkpoints/chk-000002.json", None, [file_bytes(one) for one in checkpoints])
    value = json.loads(data)
    assert read_checkpoint(value).created_at == late
    assert [one["createdAt"] for one in held_checkpoints(value)] == [late, early]

    texts = [b'{"recall": {"policy": "balanced", "n": 1}}', b'{"recall": {"policy": "balanced"}, "x": 2}']
    settings_now = in_every_order("config.json", b'{"recall": {"policy": "local-only"}}', texts)
    assert json.loads(settings_now) == {"recall": {"policy": "balanced", "n": 1}, "x": 2}
