"""Files and records: what is read is written back byte for byte, with the keys that nobody knows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from journaling import bundle, needs_real, real_files, state

from quire.layers.journal import layout
from quire.layers.journal.canonical import content_hash, decode_json, file_bytes
from quire.layers.journal.documents import (
    new_checkpoint,
    parse_document,
    read_checkpoint,
    read_daemon,
    read_daemon_lock,
    read_manifest,
    read_run,
    read_state,
    value_of,
)
from quire.layers.journal.settings import config_bytes, read_config
from quire.layers.journal.sources import (
    SourceRegistry,
    Unread,
    read_sources,
    registry_value,
    source_id,
    with_source,
    without_source,
)
from quire.layers.journal.types import SessionSource
from quire.model.errors import InvalidStore, UnsupportedVersion

READERS: dict[str, Any] = {
    "state.json": read_state,
    "chk-*": read_checkpoint,
    "manifest.json": read_manifest,
    "latest-run.json": read_run,
    "daemon.json": read_daemon,
    "daemon.lock": read_daemon_lock,
}


@needs_real
def test_all_stored_hashes_are_reproduced() -> None:
    """Hundreds of states and checkpoints, in several scripts; those damaged on purpose are the only exceptions."""
    equal, different = 0, []
    for path in real_files("state.json", "chk-*"):
        value = decode_json(path.read_bytes())
        if "bundle" in value:
            if content_hash(value["bundle"]) == value["bundleHash"]:
                equal += 1
            else:
                different.append(path)
    assert equal >= 300
    assert different == []


@needs_real
@pytest.mark.parametrize("name", READERS)
def test_every_file_is_written_back_byte_for_byte(name: str) -> None:
    count = 0
    for path in real_files(name):
        data = path.read_bytes()
        try:
            record = READERS[name](parse_document(data, path.name), path.name)
        except InvalidStore:
            # Damaged by hand: half a manifest, and a checkpoint that is an empty object.
            assert len(data) < 40, path
            continue
        assert file_bytes(value_of(record)) == data, path
        count += 1
    assert count >= {"state.json": 90, "chk-*": 210, "manifest.json": 10, "latest-run.json": 20}.get(name, 1)


@needs_real
def test_settings_and_sources_are_written_back_byte_for_byte() -> None:
    settings = sources = 0
    for path in real_files("config.json"):
        data = path.read_bytes()
        config = read_config(decode_json(data), path.name)
        assert config_bytes(config.value) == data, path
        settings += 1
    for path in real_files("sources.json"):
        data = path.read_bytes()
        registry = read_sources(decode_json(data), path.name)
        assert file_bytes(registry_value(registry)) == data, path
        sources += 1
    assert settings >= 80
    assert sources >= 80


def test_a_state_keeps_what_nobody_knows_at_every_level() -> None:
    value = value_of(state(bundle(notes=["ours"])))
    value["later"] = {"a": 1}
    value["provider"]["region"] = "eu"
    value["maintenance"]["recallCursors"]["all"]["by"] = "me"
    value["maintenance"]["recallCursors"]["team"] = {"lastRecalledAt": None}
    value["bundle"]["gotchas"][0]["severity"] = "high"
    record = read_state(decode_json(file_bytes(value)))
    assert record.provider.extra == {"region": "eu"}
    assert record.maintenance.recall_cursors.all.extra == {"by": "me"}
    changed = msgspec.structs.replace(record, generated_at="2027-01-01T00:00:00.000Z")
    assert decode_json(file_bytes(value_of(changed))) == {**value, "generatedAt": "2027-01-01T00:00:00.000Z"}


def test_a_new_state_and_a_new_checkpoint_carry_the_hash_of_their_bundle() -> None:
    held = bundle()
    checkpoint = new_checkpoint(held, checkpoint_id="chk-000001", created_at="t", event_id=None, summary="s")
    assert state(held).bundle_hash == checkpoint.bundle_hash == content_hash(held)
    assert read_state(value_of(state(held))) == state(held)
    assert read_checkpoint(value_of(checkpoint)) == checkpoint


@pytest.mark.parametrize("version", [1, 3, "2"])
def test_another_version_is_refused_as_such(version: object) -> None:
    with pytest.raises(UnsupportedVersion) as caught:
        read_state({**value_of(state()), "schemaVersion": version})
    assert caught.value.details == {"path": ".agent-memory/state.json", "version": version, "supported": 2}


def test_a_damaged_state_names_all_that_is_wrong() -> None:
    value = value_of(state())
    del value["generatedAt"], value["maintenance"]["importSourceCount"]
    with pytest.raises(InvalidStore) as caught:
        read_state(value)
    problems = [
        "state.generatedAt must be a non-empty string.",
        "state.maintenance.importSourceCount must be a number.",
    ]
    assert caught.value.details == {"path": ".agent-memory/state.json", "problems": problems}
    assert caught.value.message == f"`.agent-memory/state.json` cannot be used: {' '.join(problems)}"
    with pytest.raises(InvalidStore, match="state must be an object"):
        read_state([])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b" \n", "`state.json` cannot be used: it is empty."),
        (b'{"a": ', "`state.json` cannot be used: it is not JSON: Expecting value, line 1, column 7."),
        (b"\xff\xfe", "`state.json` cannot be used: it is not JSON: not UTF-8 text (byte 0)."),
    ],
)
def test_half_a_file_says_where_it_ends(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidStore) as caught:
        parse_document(data, "state.json")
    assert caught.value.message == reason


# -- settings ------------------------------------------------------------------------------------


def test_without_a_file_the_defaults_hold() -> None:
    config = read_config()
    assert config.value == layout.default_config()
    assert (config.default_section, config.default_source, config.policy) == ("all", "all", "balanced")
    assert (config.backlog_warn_threshold, config.shows_diff, config.default_output) == (10, False, "text")
    assert (config.interval_minutes, config.provider, config.syncs_before_recall, config.auto_recall) == (
        15,
        "auto",
        True,
        True,
    )
    assert (config.is_retaining, config.history_days, config.checkpoint_days) == (True, 90, 30)
    assert (config.keep_recent, config.archive_days) == (10, 180)
    assert list(config.instructions) == ["answer", "changes", "next", "traps"]
    assert all(config.instructions.values())


def test_a_file_says_as_much_as_it_wants() -> None:
    recall = {
        "defaultSection": "gotchas",
        "defaultSource": "imports",
        "policy": "local-only",
        "backlogWarnThreshold": 0,
        "preview": {"showDiffByDefault": True, "colour": "red"},
    }
    value = {
        "later": [1],
        "recall": recall,
        "query": {"templates": {"next": {"instructions": "Briefly."}}},
        "retention": {"checkpoints": {"keepRecent": 0}},
    }
    config = read_config(value)
    assert (config.default_section, config.shows_diff, config.keep_recent) == ("gotchas", True, 0)
    assert (config.instructions["next"], config.checkpoint_days) == ("Briefly.", 30)
    assert config.instructions["answer"] == read_config().instructions["answer"]
    assert config.value["recall"] == recall
    assert list(config.value) == ["recall", "query", "automation", "retention", "later"]
    assert read_config(decode_json(config_bytes(config.value))) == config
    assert layout.default_config() == read_config().value


def test_wrong_settings_are_all_named() -> None:
    with pytest.raises(InvalidStore) as caught:
        read_config({"automation": None, "retention": {"enabled": "yes"}})
    assert caught.value.details["problems"] == [
        "config.recall must be an object.",
        "config.automation must be an object.",
        "config.retention.enabled must be a boolean.",
    ]


def test_a_batch_is_named_after_its_time() -> None:
    assert layout.batch_name("2026-05-01T08:30:00.000Z") == "prune-20260501T083000000Z"


# -- sources -------------------------------------------------------------------------------------


def _source(name: str, **fields: Any) -> dict[str, Any]:
    known = {"id": name, "type": "claude-local", "path": "/home/a", "createdAt": "t", "updatedAt": "t"}
    state = {"lastSyncedAt": None, "lastSyncStatus": "never", "lastSyncError": None, "lastImportedCount": 0}
    return {**known, **state, **fields}


def test_an_entry_that_is_no_source_keeps_its_place() -> None:
    value = [_source("a", colour="red"), {"id": ""}, "what", _source("b")]
    registry = read_sources(value)
    assert [source.id for source in registry.sources] == ["a", "b"]
    assert [entry.value for entry in registry.unread] == [{"id": ""}, "what"]
    assert registry.unread[1] == Unread("what", ("sources[2] must be an object.",))
    assert registry_value(registry) == value
    synced = msgspec.structs.replace(registry.sources[0], last_sync_status="passed", last_imported_count=3)
    after = with_source(registry, synced)
    expected = _source("a", colour="red", lastSyncStatus="passed", lastImportedCount=3)
    assert registry_value(after) == [expected, *value[1:]]
    assert registry_value(without_source(after, "a")) == value[1:]
    assert registry.find("b") == registry.sources[1]
    assert registry.find("c") is None


def test_a_new_source_goes_to_the_end() -> None:
    new = SessionSource(id="c", type="codex-local", path="/c", created_at="t", updated_at="t")
    assert with_source(SourceRegistry(), new).sources == [new]
    with pytest.raises(InvalidStore, match="must hold an array of sources"):
        read_sources({})


@pytest.mark.parametrize(
    ("kind", "path", "name", "expected"),
    [
        ("claude-local", "/home/a/.claude", "", "claude-local--claude"),
        ("codex-local", "/home/a/Codex Home/", "", "codex-local-codex-home"),
        ("codex-local", "/home/a", "  My Sessions!  ", "my-sessions"),
        ("codex-local", "/home/a", "Клод-main 1", "main-1"),
        ("codex-local", "/home/a", "日本語", "ribenyu"),
        ("codex-local", "/home/a", "!!!", "untitled-e84c538e"),
    ],
)
def test_a_source_always_has_an_id(kind: str, path: str, name: str, expected: str) -> None:
    assert source_id(kind, path, name) == expected
