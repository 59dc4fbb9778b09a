"""Retention: only what was recalled and is old enough is chosen, and never the latest checkpoint."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from journaling import bundle, event

from quire.layers.journal.archive import aged_checkpoints, aged_events, is_expired, new_manifest
from quire.layers.journal.documents import new_checkpoint, read_manifest, value_of
from quire.layers.journal.settings import JournalSettings, merged, read_config
from quire.layers.journal.types import ArchiveManifest, Checkpoint, Maintenance

NOW = datetime(2026, 6, 1, tzinfo=UTC)
RECALLED = Maintenance(last_recalled_event_id="evt-000003", latest_checkpoint_id="chk-000004")


def _config(**retention: Any) -> JournalSettings:
    return read_config(merged(read_config().value, {"retention": retention}))


def _checkpoints(*days: str) -> list[Checkpoint]:
    return [
        new_checkpoint(bundle(), checkpoint_id=f"chk-{n:06d}", created_at=day, event_id=None, summary="s")
        for n, day in enumerate(days, start=1)
    ]


def test_events_leave_when_they_are_recalled_and_old() -> None:
    events = [
        event(1),
        event(2, created_at="2026-03-03T00:00:00.000Z"),
        event(3, created_at="2026-03-03T00:00:00.001Z"),
        event(4),
        event(1, id="odd"),
        event(1, created_at="some day"),
        event(3, created_at="1767225600000"),
    ]
    assert aged_events(events, RECALLED, _config(), NOW) == [events[0], events[1], events[6]]
    assert aged_events(events, Maintenance(), _config(), NOW) == []
    assert aged_events(events, RECALLED, _config(enabled=False), NOW) == []
    assert aged_events(events, RECALLED, _config(history={"maxAgeDays": 1e300}), NOW) == []


@pytest.mark.parametrize(
    ("keep", "chosen"),
    [
        (0, ["chk-000001", "chk-000002", "chk-000003"]),
        (1, ["chk-000001", "chk-000002", "chk-000003"]),
        (3, ["chk-000001"]),
        (9, []),
    ],
)
def test_checkpoints_leave_but_for_the_last_ones_and_the_latest(keep: int, chosen: list[str]) -> None:
    held = _checkpoints(
        "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z", "2026-01-04T00:00:00.000Z"
    )
    config = _config(checkpoints={"keepRecent": keep})
    found = aged_checkpoints(held[::-1], RECALLED, config, NOW)
    assert [one.id for one in found] == chosen
    young = _checkpoints("2026-05-30T00:00:00.000Z", "some day")
    assert aged_checkpoints(young, RECALLED, _config(checkpoints={"keepRecent": 0}), NOW) == []


def test_checkpoints_past_a_million_are_the_last_ones() -> None:
    old = "2026-01-01T00:00:00.000Z"
    made = [
        new_checkpoint(bundle(), checkpoint_id=name, created_at=old, event_id=None, summary="s")
        for name in ("chk-1000000", "chk-999999")
    ]
    assert aged_checkpoints(made, Maintenance(), _config(checkpoints={"keepRecent": 1}), NOW) == [made[1]]


def test_a_manifest_says_what_went_and_when_it_may_go() -> None:
    manifest = new_manifest([event(1)], _checkpoints("t"), _config(), "2025-12-03T00:00:00.000Z")
    assert manifest == ArchiveManifest(
        created_at="2025-12-03T00:00:00.000Z",
        archived_event_ids=("evt-000001",),
        archived_checkpoint_ids=("chk-000001",),
        history_max_age_days=90,
        checkpoint_max_age_days=30,
        keep_recent=10,
        expire_after_days=180,
    )
    assert read_manifest(value_of(manifest), "manifest.json") == manifest
    assert is_expired(manifest, _config(), NOW)
    assert not is_expired(manifest, _config(archive={"expireAfterDays": 181}), NOW)
