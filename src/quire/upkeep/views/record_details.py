"""Details of a record that only its layer knows: origin, evidence, possible actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from quire.files.paths import escaping_part
from quire.layers.graph.layout import FOLDER
from quire.layers.table import path_from_root
from quire.model.ids import is_id
from quire.model.records import Record
from quire.model.seals import is_seal, parse_seal
from quire.model.text import cut, one_line
from quire.model.vocabulary import LIVE_STATUSES
from quire.upkeep.views.items import line_revision, node_revision

if TYPE_CHECKING:
    from quire.layers.graph.store import StoredNode

As = Literal["text", "time", "ref", "path", "commit", "code", "number"]
_VALUE_CHARS = 2_000
_LISTED = 100
_ENTRY_KEYS = frozenset(
    [
        "value",
        "created_at",
        "updated_at",
        "tags",
        "confidence",
        "importance",
        "source",
        "access_count",
        "last_accessed",
        "status",
        "links",
    ]
)


class Field(msgspec.Struct, frozen=True):
    """One thing that is known of a record, and how to show it."""

    name: str
    value: str
    shown: As = msgspec.field(default="text", name="as")


class RecordEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a record rests on, and where that leads."""

    kind: str
    label: str
    ref: str = ""
    path: str = ""
    commit: str = ""


class RecordDetails(msgspec.Struct, frozen=True, kw_only=True):
    """A record as its layer keeps it."""

    path: str
    body: str
    evidence: tuple[RecordEvidence, ...] = ()
    provenance: tuple[Field, ...] = ()
    fields: tuple[Field, ...] = ()
    superseded_by: str = ""
    may: tuple[str, ...] = ()
    revision: str = ""


def _told(*given: tuple[str, Any, As]) -> tuple[Field, ...]:
    """The fields that say something."""
    return tuple(
        Field(name, cut(_text(value), _VALUE_CHARS), shown)
        for name, value, shown in given
        if value not in (None, "", (), [], {}) and value is not msgspec.UNSET
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return ", ".join(value[:_LISTED]) + ("…" if len(value) > _LISTED else "")
    if isinstance(value, dict | list | tuple):
        return msgspec.json.encode(value).decode()
    return str(value)


def _others(fields: Iterable[tuple[str, Any]], known: Iterable[str] = ()) -> tuple[Field, ...]:
    """Keys that no field of ours tells of, as they are stored."""
    left = [(cut(one_line(name), 80), value) for name, value in fields if name not in known][:_LISTED]
    return _told(*((name, value, "code" if isinstance(value, dict | list) else "text") for name, value in left))


# -- the graph --------------------------------------------------------------------------------


def kept_node(stored: StoredNode, *, is_current: bool) -> RecordDetails:
    node = stored.node
    source, origin = node.source or None, node.origin or None
    path = f"{FOLDER}/{stored.path}"
    return RecordDetails(
        path=path,
        body=stored.body,
        evidence=tuple(_evidence(stored)),
        provenance=_told(
            ("created", node.created_at, "time"),
            ("updated", node.updated_at, "time"),
            ("recorded by", source and source.kind, "text"),
            ("task", source and source.task, "text"),
            ("seen at", source and source.commit, "commit"),
            ("origin", origin and f"{origin.kind} {origin.locator}", "text"),
            ("captured", origin and origin.captured_at, "time"),
            ("digest", origin and origin.digest, "code"),
            ("media type", origin and origin.media_type, "text"),
            ("edited by hand", not stored.hash_holds or None, "text"),
        ),
        fields=(
            *_told(("stage", node.stage, "text"), ("text", f"{path.removesuffix('.json')}.md", "path")),
            *_others(stored.fields.items(), node.__struct_fields__),
        ),
        superseded_by=node.superseded_by or "",
        may=_may(stored, is_current=is_current),
        revision=node_revision(stored.data, stored.body_data),
    )


def _may(stored: StoredNode, *, is_current: bool) -> tuple[str, ...]:
    """The project's own node cannot be retired; what is retired can still be corrected."""
    node = stored.node
    if node.type == "project" or node.status not in LIVE_STATUSES:
        return ("edit",)
    confirm = ("confirm",) if node.anchors and is_current else ()
    stage = ("stage",) if node.type == "feature" else ()
    return (*confirm, "stale", "supersede", "edit", *stage)


def _evidence(stored: StoredNode) -> Iterator[RecordEvidence]:
    """What was given, and one line for all seals, which are made by the program."""
    evidence = stored.node.evidence
    for item in [item for item in evidence if not is_seal(item.kind, item.id)][:_LISTED]:
        label = cut(one_line(item.id), _VALUE_CHARS)
        if item.kind == "memory" and is_id(item.id):
            yield RecordEvidence(kind=item.kind, label=label, ref=item.id)
        elif item.kind == "file" and escaping_part(item.id) is None:
            yield RecordEvidence(kind=item.kind, label=label, path=item.id)
        elif item.kind == "commit":
            yield RecordEvidence(kind=item.kind, label=label, commit=item.id)
        else:
            yield RecordEvidence(kind=item.kind, label=label)
    seals = [seal for item in evidence if item.kind == "file" and (seal := parse_seal(item.id)) is not None]
    if seals:
        names = list(dict.fromkeys(one_line(seal.anchor) for seal in seals))
        shown = ", ".join(names[:3]) + ("…" if len(names) > 3 else "")
        yield RecordEvidence(kind="seal", label=f"{len(seals)} seal{'s' if len(seals) > 1 else ''} of {shown}")


# -- the other layers -------------------------------------------------------------------------


def kept_fact(record: Record, *, weight: float) -> RecordDetails:
    """A fact, or an episode."""
    return _episode(record) if record.kind == "episode" else _fact(record, weight)


def _fact(record: Record, weight: float) -> RecordDetails:
    from quire.layers.facts.records import held_of

    held = held_of(record)
    fact = held.fact
    return RecordDetails(
        path=path_from_root("facts", record.path),
        body=fact.content,
        evidence=tuple(RecordEvidence(kind="source", label=cut(one_line(name), 200)) for name in fact.evidence),
        provenance=_told(
            ("created", fact.created_at, "time"),
            ("source", fact.source, "text"),
            ("session", fact.created_session, "text"),
            ("last confirmed", fact.last_reinforced, "time"),
            ("confirmed", fact.reinforcement_count, "number"),
            ("updated", fact.updated_at, "time"),
            ("superseded", fact.superseded_at, "time"),
            ("archived", fact.archived_at, "time"),
            ("reason", fact.reason, "text"),
            ("replaces", fact.supersedes and f"fact:{fact.supersedes}", "ref"),
            ("same as", fact.same_as and f"fact:{fact.same_as}", "ref"),
            ("change", fact.jj_change_id, "code"),
        ),
        fields=(
            *_told(
                ("section", fact.section, "text"),
                ("counts today", round(weight, 4), "number"),
                ("confidence", fact.confidence, "number"),
                ("half life in days", record.half_life or None, "number"),
                ("wears as", fact.decay_profile, "text"),
                ("mind", fact.mind, "text"),
                ("persona", fact.persona_id, "text"),
                ("layer", fact.layer, "text"),
                ("version", fact.version, "number"),
                ("last read", fact.last_accessed, "time"),
                ("also called", [twin.id for twin in held.twins], "text"),
            ),
            *_others(fact.extra.items()),
        ),
        may=("stale", "supersede") if fact.is_active else (),
        revision=line_revision(record.raw),
    )


def _episode(record: Record) -> RecordDetails:
    from quire.layers.facts.records import episode_of_record

    episode = episode_of_record(record)
    return RecordDetails(
        path=path_from_root("facts", record.path),
        body=episode.narrative,
        evidence=tuple(
            RecordEvidence(kind="fact", label=f"fact:{name}", ref=f"fact:{name}") for name in episode.fact_ids[:_LISTED]
        ),
        provenance=_told(
            ("date", episode.date, "text"),
            ("created", episode.created_at, "time"),
            ("updated", episode.updated_at, "time"),
            ("session", episode.session_id, "text"),
            ("change", episode.jj_change_id, "code"),
        ),
        fields=(
            *_told(
                ("files changed", episode.files_changed, "text"),
                ("nodes", episode.affected_nodes, "text"),
                ("changes", episode.affected_changes, "text"),
                ("tool calls", episode.tool_calls_count, "number"),
                ("mind", episode.mind, "text"),
                ("version", episode.version, "number"),
            ),
            *_others(episode.extra.items()),
        ),
        revision=line_revision(record.raw),
    )


def kept_profile(record: Record, *, private_path: str) -> RecordDetails:
    """An entry. One that is not shared lies elsewhere."""
    from quire.layers.profile.records import entry_of

    entry = entry_of(record)
    return RecordDetails(
        path=private_path if entry.is_private else path_from_root("profile", record.path),
        body=entry.value,
        provenance=_told(
            ("created", entry.created_at, "time"),
            ("updated", entry.updated_at, "time"),
            ("source", entry.source_type, "text"),
            ("detail", entry.source_detail, "text"),
        ),
        fields=(
            *_told(
                ("category", entry.category, "text"),
                ("key", entry.key, "text"),
                ("importance", entry.importance, "number"),
                ("confidence", entry.confidence, "number"),
                ("read", entry.access_count, "number"),
                ("last read", entry.last_accessed, "time"),
                ("private", entry.is_private, "text"),
            ),
            *_others(entry.fields.items(), _ENTRY_KEYS),
        ),
        revision=line_revision(record.raw),
    )


def kept_journal(record: Record) -> RecordDetails:
    """A part of the bundle, an event or a checkpoint."""
    try:
        held = msgspec.json.decode(record.raw) if record.raw else {}
    except msgspec.MsgspecError:
        held = {}
    about: list[tuple[str, Any, As]] = [("section", record.section, "text")]
    if record.kind == "event":
        names = (("kind", "kind"), ("source", "sourceId"), ("session", "externalItemId"), ("from", "sourceRef"))
        about = [(name, held.get(key), "text") for name, key in names]
        about.append(("content", held.get("contentHash"), "code"))
    elif record.kind == "checkpoint":
        event = held.get("eventId")
        about = [("event", f"event:{event}" if event else "", "ref"), ("bundle", held.get("bundleHash"), "code")]
    return RecordDetails(
        path=path_from_root("journal", record.path),
        body=record.text,
        provenance=_told(("created", record.created_at, "time"), ("written by", record.origin, "text")),
        fields=_told(*about),
        revision=line_revision(record.raw or record.text.encode("utf-8", "replace")),
    )
