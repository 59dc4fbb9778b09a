"""Settings of a journal: `config.json`, with defaults."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quire.layers.journal.canonical import declared_text
from quire.layers.journal.documents import damaged
from quire.layers.journal.layout import CONFIG, FOLDER, QUERY_MODES, default_config
from quire.layers.journal.shapes import CONFIG as SHAPE
from quire.layers.journal.types import Count, Fields
from quire.layers.journal.value_shapes import find_faults


class JournalSettings(Struct, frozen=True, kw_only=True):
    """All settings. `value` is the whole of them as they would be written, keys that we do not know included."""

    default_section: str
    default_source: str
    policy: str
    backlog_warn_threshold: Count
    shows_diff: bool
    default_output: str
    instructions: dict[str, str]
    """By mode of a query."""
    interval_minutes: Count
    provider: str
    syncs_before_recall: bool
    auto_recall: bool
    is_retaining: bool
    history_days: Count
    checkpoint_days: Count
    keep_recent: Count
    archive_days: Count
    value: Fields


def config_faults(value: Any) -> list[str]:
    return find_faults(SHAPE, value, "config")


def read_config(value: Any = None, where: str = f"{FOLDER}/{CONFIG}") -> JournalSettings:
    """The settings of a file, or the defaults where there is none. InvalidStore names everything that is wrong."""
    if value is not None:
        faults = config_faults(value)
        if faults:
            raise damaged(where, " ".join(faults), faults)
    whole = merged(default_config(), value or {})
    recall, query, automation, retention = (whole[part] for part in ("recall", "query", "automation", "retention"))
    return JournalSettings(
        default_section=recall["defaultSection"],
        default_source=recall["defaultSource"],
        policy=recall["policy"],
        backlog_warn_threshold=recall["backlogWarnThreshold"],
        shows_diff=recall["preview"]["showDiffByDefault"],
        default_output=query["defaultOutput"],
        instructions={mode: query["templates"][mode]["instructions"] for mode in QUERY_MODES},
        interval_minutes=automation["intervalMinutes"],
        provider=automation["provider"],
        syncs_before_recall=automation["importSyncBeforeRecall"],
        auto_recall=automation["autoRecall"],
        is_retaining=retention["enabled"],
        history_days=retention["history"]["maxAgeDays"],
        checkpoint_days=retention["checkpoints"]["maxAgeDays"],
        keep_recent=retention["checkpoints"]["keepRecent"],
        archive_days=retention["archive"]["expireAfterDays"],
        value=whole,
    )


def config_bytes(value: Fields) -> bytes:
    """The file: keys in the order of the defaults, then the others; not sorted."""
    return declared_text(value).encode("utf-8") + b"\n"


def merged(defaults: Fields, value: Fields) -> Fields:
    """Both, level by level; what the second one says holds. Neither is changed."""
    whole = dict(defaults)
    for name, item in value.items():
        before = whole.get(name)
        whole[name] = merged(before, item) if isinstance(before, dict) and isinstance(item, dict) else item
    return whole
