"""Journals that the original program made, opened as they are: read without a trace, synced without a repetition."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from journal_here import Journal
from journal_recordings import NAMES, RECORDINGS, agree_to_all

from promised import proves
from quire.layers.journal.canonical import content_hash, decode_json, file_bytes

pytestmark = pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recordings of the original program are not here")

NOW = "2026-09-16T08:00:00Z"
STORES = sorted(path.parent.relative_to(RECORDINGS).as_posix() for path in RECORDINGS.rglob(".agent-memory"))
NOT_MADE = (
    "errors-offline/snapshots/033-automate-run-once",
    "extras/snapshots/001-automate-start",
    "extras/snapshots/003-automate-stop",
    "mcp/empty-root",
)
"""Only the automation had been there: there is no journal yet."""
MISSING = {"state:missing", "config:missing", "history:events-missing", "sources:missing", "checkpoints:missing"}
EMPTIED = {"checkpoints:schema:chk-000001", "checkpoints:latest"}
EDITED = {*EMPTIED, "projection:gotchas:marker", "projection:next-steps", "entry:drift"}
FAILING: dict[str, set[str]] = {
    **dict.fromkeys(NOT_MADE, MISSING),
    "broken-source/repo": {"sources:type:weird"},
    "broken-source/snapshots/012-sync-weird": {"sources:type:weird"},
    "broken-source/snapshots/014-automate-run-once": {"sources:type:weird"},
    "errors-offline/repo": EDITED,
    "errors-offline/snapshots/140-automate-run-once": EMPTIED,
    "errors-offline/snapshots/151-automate-stop": EDITED,
    "extras/snapshots/026-update": {"entry:file"},  # it was not kept with the rest
    "unicode/repo": {"sources:schema"},
    "unicode/snapshots/022-add-claude-local": {"sources:schema"},
    "unicode/snapshots/025-automate-run-once": {"sources:schema"},
}
"""What fails in which of them; in all others nothing does."""
LOOKS = (
    ("status", "--show-diff"),
    ("log", "--limit", "0"),
    ("log", "--events", "--archived", "--limit", "0"),
    ("query", "what changed recently?"),
    ("query", "how does the cache layer handle tenant keys?", "--archived"),
    ("query", "what should I do next?", "--output", "json"),
    ("recall", "--dry-run", "--show-diff"),
    ("recall", "--dry-run", "--source", "imports", "--section", "gotchas"),
    ("update", "--dry-run"),
    ("sources",),
    ("automate", "status"),
)
"""What only looks, and must work in every journal."""


def opened(store: Path, folder: Path, environment: Mapping[str, str]) -> Journal:
    """A copy of a store, every file a day old."""
    root = folder / "repo"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(store, root)
    _make_writable(root)
    return Journal(root, {**environment, "MEMORY_NOW": NOW})


def _make_writable(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def held(root: Path) -> dict[str, tuple[bytes | None, int, int]]:
    """Every file and folder with its bytes, its mode and when it was written."""
    found = {}
    for path in root.rglob("*"):
        stat = path.stat()
        data = path.read_bytes() if path.is_file() else None
        found[path.relative_to(root).as_posix()] = (data, stat.st_mode, stat.st_mtime_ns)
    return found


def stores_of(name: str) -> Iterator[str]:
    return (store for store in STORES if store.partition("/")[0] == name)


def test_there_are_stores_of_every_kind() -> None:
    assert len(STORES) > 90
    assert {store.partition("/")[0] for store in STORES} == set(NAMES)
    assert set(FAILING) <= set(STORES)


# -- reading -----------------------------------------------------------------------------------


@pytest.mark.proof(keep=1)
@proves("P5.5", over="journal")
@pytest.mark.parametrize("name", NAMES)
def test_every_store_is_read_as_it_is_and_left_as_it_is(name: str, tmp_path: Path, environment: dict[str, str]) -> None:
    for store in stores_of(name):
        here = opened(RECORDINGS / store, tmp_path, environment)
        before = held(tmp_path)
        check_faults(here, store)
        if store in NOT_MADE:
            check_refused(here, store)
        else:
            for look in LOOKS:
                said = here.journal(*look)
                assert said.code == 0, (store, look, said)
                assert said.out, (store, look)
            check_told(here, store)
            check_compared(here, store)
            check_sources(here, store)
        assert held(tmp_path) == before, store


def check_faults(here: Journal, store: str) -> None:
    run = here.journal("validate", "--json")
    failing = {item["code"] for item in run.data["findings"] if item["level"] == "fail"}
    assert failing == FAILING.get(store, set()), store
    assert run.code == (1 if failing else 0)


def check_refused(here: Journal, store: str) -> None:
    for look in (
        *LOOKS,
        ("diff", "chk-000001"),
        ("sync", "--all"),
        ("recall",),
        ("update",),
        ("restore", "chk-000001"),
    ):
        run = here.journal(*(word for word in look if word != "--output"), "--json")
        assert (run.code, run.error["code"]) == (3, "MemoryNotInitialized"), (store, look)
        assert "`memory journal init`" in run.error["hint"]


def check_told(here: Journal, store: str) -> None:
    """What is told is what the files say."""
    folder = here.root / ".agent-memory"
    status = here.journal("status", "--json").data
    events = here.events if (folder / "history/events.jsonl").exists() else []
    assert status["bundle_hash"] == here.state["bundleHash"]
    assert (status["events"], status["checkpoints"]) == (len(events), len(here.checkpoints)), store
    named = [source["id"] for source in json.loads((folder / "sources.json").read_bytes())]
    assert [source["id"] for source in status["sources"]] == [name for name in named if name]
    latest = here.state["maintenance"]["latestCheckpointId"]
    logged = {item["id"]: item["is_latest"] for item in here.journal("log", "--json", "--limit", "0").data["results"]}
    readable = [name for name in here.checkpoints if decode_json(_checkpoint(here, name).read_bytes())]
    assert sorted(logged) == readable, store
    assert all(is_latest is (name == latest) for name, is_latest in logged.items()), store
    shown = here.journal("log", "--events", "--json", "--limit", "0").data["results"]
    assert sorted(item["id"] for item in shown) == sorted(event["id"] for event in events), store
    cited = here.journal("query", "what changed recently?", "--json").data["citations"]
    known = {*here.checkpoints, *(event["id"] for event in events)}
    assert {item["sourceId"] for item in cited if item["sourceType"] != "bundle"} <= known, store


def _checkpoint(here: Journal, name: str) -> Path:
    return here.root / f".agent-memory/history/checkpoints/{name}.json"


def check_compared(here: Journal, store: str) -> None:
    """Each checkpoint against the memory: the latest says the same, where its hash does."""
    for name in here.checkpoints:
        checkpoint = decode_json(_checkpoint(here, name).read_bytes())
        run = here.journal("diff", name, "--json")
        if not checkpoint:
            assert (run.code, run.error["code"]) == (3, "MemoryAlreadyInitializedInvalid"), store
        else:
            assert run.data["same"] is (checkpoint["bundleHash"] == here.state["bundleHash"]), (store, name)
    run = here.journal("diff", "chk-999999", "--json")
    assert (run.code, run.error["code"]) == (1, "MemoryObjectNotFound"), store


def check_sources(here: Journal, store: str) -> None:
    """Nobody on this machine has agreed to have them read; what they lead to is not here anyway."""
    named = [source for source in json.loads((here.root / ".agent-memory/sources.json").read_bytes()) if source["id"]]
    run = here.journal("sync", "--all", "--dry-run", "--json")
    if not named:
        assert (run.code, run.error["message"]) == (1, "There are no sources."), store
        return
    assert (run.code, run.data["imported"], run.data["failed"]) == (0, 0, 0), store
    assert [(found["id"], found["is_unknown"]) for found in run.data["sources"]] == [
        (source["id"], True) for source in named
    ], store


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (("agent-memory",), "- bundleHash: {bundleHash}\n"),
        (("memory", "journal"), "Sessions and runs in the history: 12.\n"),
    ],
)
def test_the_installed_program_opens_a_store_by_both_its_names(
    program: tuple[str, ...], said: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    here = opened(RECORDINGS / "basic-node/repo", tmp_path, environment)
    before = held(tmp_path)
    done = here.program(*program, "status")
    assert (done.code, done.err) == (0, "")
    # By its own name the program says what the original says.
    assert (f"- bundleHash: {here.state['bundleHash']}\n" in done.out) == (program == ("agent-memory",))
    assert f"`{' '.join(program)} recall`" in done.out
    assert held(tmp_path) == before


# -- formats -----------------------------------------------------------------------------------


def test_hashes_and_canonical_files_are_reproduced_byte_for_byte() -> None:
    bundles = files = 0
    for path in RECORDINGS.rglob("*.json"):
        if ".agent-memory" not in path.parts or path.name == "config.json":
            continue
        data = path.read_bytes()
        try:
            value = decode_json(data)
        except ValueError:
            assert "broken" in path.parent.name, path
            continue
        if isinstance(value, dict) and "bundle" in value:
            assert content_hash(value["bundle"]) == value["bundleHash"], path
            bundles += 1
        if path.parent.name != "automation" and not _is_edited(path):
            assert file_bytes(value) == data, path
            files += 1
    assert bundles > 300
    assert files > 400


def _is_edited(path: Path) -> bool:
    """By hand, or as a damaged file that the recording was made with."""
    return path.name == "sources.json" and path.relative_to(RECORDINGS).parts[0] == "broken-source"


# -- sync --------------------------------------------------------------------------------------

NEW: dict[str, dict[str, list[str]]] = {
    "basic-node": {"my-claude": ["ignored"]},
    "broken-source": {"claude": ["03-torn-last-line", "12-long", "14-new"]},
}
"""The sessions that it did not import, or not to their end; all others are recognised."""
SYNCED = [
    store
    for store in STORES
    if not store.endswith("empty-root") and re.search(r"/repo(-before-expiry)?$", store) and store not in NOT_MADE
]


@pytest.fixture
def whole(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Journal]:
    """A copy of a project with the sessions that its sources lead to."""

    def copied(store: str, *, all_folders: bool = True, agreed: bool = True) -> Journal:
        name = store.partition("/")[0]
        base = tmp_path / name
        kept = [path for path in (RECORDINGS / name).iterdir() if path.is_dir() and not path.name.startswith("repo")]
        for path in kept:
            if path.name not in ("snapshots", "home"):
                shutil.copytree(path, base / path.name)
        shutil.copytree(RECORDINGS / store, base / "repo")
        _make_writable(base)
        sources = base / "repo/.agent-memory/sources.json"
        text = sources.read_text(encoding="utf-8").replace(f"/repos/{name}", str(base))
        values = json.loads(text)
        if all_folders:
            values = [{**value, "allFolders": True} for value in values]
        sources.write_bytes(file_bytes(values))
        for path in base.rglob("*.jsonl"):
            os.utime(path, (0, 0))
        here = Journal(base / "repo", {**environment, "MEMORY_NOW": NOW})
        if agreed:
            agree_to_all(here)
        return here

    return copied


def imported(here: Journal) -> list[tuple[str, str, str]]:
    return [
        (event["sourceId"], event["externalItemId"], event["contentHash"])
        for event in here.events
        if event["kind"] == "imported_session"
    ]


@proves("P5.5", over="journal")
@pytest.mark.parametrize("store", SYNCED)
def test_a_sync_recognises_what_the_original_imported(store: str, whole: Callable[..., Journal]) -> None:
    here = whole(store)
    known = imported(here) if (here.root / ".agent-memory/history/events.jsonl").exists() else []
    fresh = NEW.get(store.partition("/")[0], {})
    if not here.journal("sources", "--json").data["sources"]:
        assert here.journal("sync", "--all", "--json").error["message"] == "There are no sources."
        return
    dry = here.journal("sync", "--all", "--dry-run", "--json").data
    done = here.journal("sync", "--all", "--json").data
    for found in (dry, done):
        assert {item["id"]: item["imported"] for item in found["sources"] if item["imported"]} == {
            source: len(names) for source, names in fresh.items()
        }
    after = imported(here)
    assert after[: len(known)] == known
    assert {(source, name) for source, name, _ in after[len(known) :]} == {
        (source, name) for source, names in fresh.items() for name in names
    }
    assert len(set(after)) == len(after)
    again = here.journal("sync", "--all", "--json").data
    assert again["imported"] == 0
    assert again["skipped"] + again["failed"] == done["skipped"] + done["imported"] + done["failed"]
    assert imported(here) == after


def test_of_a_long_session_only_what_the_original_cut_off_is_imported(whole: Callable[..., Journal]) -> None:
    here = whole("broken-source/repo")
    assert here.journal("sync", "claude").code == 1
    (added,) = [event for event in here.events if event["externalItemId"] == "12-long"][1:]
    assert added["signals"]["decisions"] == ["Beyond the cut"]
    assert added["signals"]["gotchas"] == ["Appended later, after the first import"]


def test_a_sync_knows_the_sessions_that_were_archived(whole: Callable[..., Journal]) -> None:
    here = whole("retention/repo")
    assert {name for _, name, _ in imported(here)} == {"a", "b"}
    log = here.root / ".agent-memory/history/events.jsonl"
    kept = [line for line in log.read_bytes().splitlines(keepends=True) if b"imported_session" not in line]
    log.write_bytes(b"".join(kept))
    assert (here.root / ".agent-memory/archive/prune-20260501T080000000Z/events.jsonl").read_bytes().count(b'"a"') == 1
    assert here.journal("sync", "claude", "--json").data["imported"] == 0
    assert imported(here) == []


def test_sessions_that_ran_in_other_folders_are_imported_only_where_that_is_wanted(
    whole: Callable[..., Journal],
) -> None:
    here = whole("basic-node/snapshots/024-add-codex-local", all_folders=False)
    found = here.journal("sync", "--all", "--json").data
    assert {item["id"]: item["imported"] for item in found["sources"]} == {
        "my-claude": 1,
        "codex-local-codex-home": 0,
    }
    assert [name for _, name, _ in imported(here)] == ["tool-records"]  # which does not say where it ran


@proves("P7.1", "F3")
def test_sources_that_came_with_a_repository_are_read_once_somebody_names_them(whole: Callable[..., Journal]) -> None:
    here = whole("basic-node/snapshots/024-add-codex-local", agreed=False)
    before = held(here.root)
    found = here.journal("sync", "--all", "--json").data
    assert [(item["id"], item["is_unknown"]) for item in found["sources"]] == [
        ("my-claude", True),
        ("codex-local-codex-home", True),
    ]
    assert imported(here) == []
    assert held(here.root) == before
    assert here.journal("sync", "codex-local-codex-home", "--json").data["imported"] == 3
    assert [item["imported"] for item in here.journal("sync", "--all", "--json").data["sources"]] == [0, 0]
    assert {source for source, _, _ in imported(here)} == {"codex-local-codex-home"}


def test_a_model_is_asked_only_within_the_ceiling_which_is_zero(whole: Callable[..., Journal]) -> None:
    """Where the original asks a model in every command, one that is named is not even started."""
    here = whole("basic-node/repo")
    before: Any = held(here.root)
    for words in (("recall",), ("update",), ("query", "what should I do next?")):
        run = here.journal(*words, "--provider", "claude", "--json")
        assert run.code in (1, 3), words
        assert "ceiling" in run.error["message"], run.error
    assert held(here.root) == before
