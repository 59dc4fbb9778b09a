"""Show one fact or episode in full: origin, evidence, fields, actions."""

from __future__ import annotations

from quire.layers.facts.layout import FOLDER
from quire.layers.facts.records import episode_of_record, held_of
from quire.layers.record_details import (
    MOST_LISTED,
    RecordDetails,
    RecordEvidence,
    line_revision,
    other_fields,
    told_fields,
)
from quire.model.records import Record
from quire.model.text import cut, one_line


def fact_details(record: Record, weight: float) -> RecordDetails:
    """A fact, or an episode."""
    return _episode(record) if record.kind == "episode" else _fact(record, weight)


def _fact(record: Record, weight: float) -> RecordDetails:
    held = held_of(record)
    fact = held.fact
    return RecordDetails(
        path=f"{FOLDER}/{record.path}",
        body=fact.content,
        evidence=tuple(RecordEvidence(kind="source", label=cut(one_line(name), 200)) for name in fact.evidence),
        provenance=told_fields(
            ("created", fact.created_at, "time"),
            ("source", fact.source, "text"),
            ("session", fact.created_session, "text"),
            ("last confirmed", fact.last_reinforced, "time"),
            ("times stored", fact.reinforcement_count, "number"),
            ("updated", fact.updated_at, "time"),
            ("superseded", fact.superseded_at, "time"),
            ("archived", fact.archived_at, "time"),
            ("reason", fact.reason, "text"),
            ("replaces", fact.supersedes and f"fact:{fact.supersedes}", "ref"),
            ("same as", fact.same_as and f"fact:{fact.same_as}", "ref"),
            ("change", fact.jj_change_id, "code"),
        ),
        fields=(
            *told_fields(
                ("section", fact.section, "text"),
                ("confidence now", round(weight, 4), "number"),
                ("confidence at first", fact.confidence, "number"),
                ("half life in days", record.half_life or None, "number"),
                ("fades as", fact.decay_profile, "text"),
                ("mind", fact.mind, "text"),
                ("persona", fact.persona_id, "text"),
                ("layer", fact.layer, "text"),
                ("version", fact.version, "number"),
                ("last read", fact.last_accessed, "time"),
                ("also called", [twin.id for twin in held.twins], "text"),
            ),
            *other_fields(fact.extra.items()),
        ),
        may=("stale", "supersede") if fact.is_active else (),
        revision=line_revision(record.raw),
    )


def _episode(record: Record) -> RecordDetails:
    episode = episode_of_record(record)
    return RecordDetails(
        path=f"{FOLDER}/{record.path}",
        body=episode.narrative,
        evidence=tuple(
            RecordEvidence(kind="fact", label=f"fact:{name}", ref=f"fact:{name}")
            for name in episode.fact_ids[:MOST_LISTED]
        ),
        provenance=told_fields(
            ("date", episode.date, "text"),
            ("created", episode.created_at, "time"),
            ("updated", episode.updated_at, "time"),
            ("session", episode.session_id, "text"),
            ("change", episode.jj_change_id, "code"),
        ),
        fields=(
            *told_fields(
                ("files changed", episode.files_changed, "text"),
                ("nodes", episode.affected_nodes, "text"),
                ("changes", episode.affected_changes, "text"),
                ("tool calls", episode.tool_calls_count, "number"),
                ("mind", episode.mind, "text"),
                ("version", episode.version, "number"),
            ),
            *other_fields(episode.extra.items()),
        ),
        revision=line_revision(record.raw),
    )
