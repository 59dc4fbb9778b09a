"""Show one node in full: origin, evidence, fields, actions."""

from __future__ import annotations

from collections.abc import Iterator

from quire.files.paths import escaping_part
from quire.layers.graph.layout import FOLDER
from quire.layers.graph.stored import StoredNode
from quire.layers.record_details import (
    MOST_CHARS,
    MOST_LISTED,
    RecordDetails,
    RecordEvidence,
    node_revision,
    other_fields,
    told_fields,
)
from quire.model.contested import CONTESTED, SETTLED
from quire.model.ids import is_id
from quire.model.seals import is_seal
from quire.model.text import cut, one_line
from quire.model.vocabulary import LIVE_STATUSES


def node_details(stored: StoredNode) -> RecordDetails:
    node = stored.node
    source, origin = node.source or None, node.origin or None
    path = f"{FOLDER}/{stored.path}"
    return RecordDetails(
        path=path,
        body=stored.body,
        evidence=tuple(_evidence(stored)),
        provenance=told_fields(
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
            *told_fields(("stage", node.stage, "text"), ("text", f"{path.removesuffix('.json')}.md", "path")),
            *other_fields(stored.fields.items(), (*node.__struct_fields__, CONTESTED, SETTLED)),
        ),
        superseded_by=node.superseded_by or "",
        may=_may(stored),
        revision=node_revision(stored.data, stored.body_data),
    )


def _may(stored: StoredNode) -> tuple[str, ...]:
    """The project's own node cannot be retired; what is retired can still be corrected."""
    node = stored.node
    if node.type == "project" or node.status not in LIVE_STATUSES:
        return ("edit",)
    confirm = ("confirm",) if node.anchors and node.stage != "dead" else ()
    stage = ("stage",) if node.type == "feature" else ()
    return (*confirm, "stale", "supersede", "edit", *stage)


def _evidence(stored: StoredNode) -> Iterator[RecordEvidence]:
    """What was given; seals, which the program makes, repeat the anchors."""
    for item in [item for item in stored.node.evidence if not is_seal(item.kind, item.id)][:MOST_LISTED]:
        label = cut(one_line(item.id), MOST_CHARS)
        if item.kind == "memory" and is_id(item.id):
            yield RecordEvidence(kind=item.kind, label=label, ref=item.id)
        elif item.kind == "file" and escaping_part(item.id) is None:
            yield RecordEvidence(kind=item.kind, label=label, path=item.id)
        elif item.kind == "commit":
            yield RecordEvidence(kind=item.kind, label=label, commit=item.id)
        else:
            yield RecordEvidence(kind=item.kind, label=label)
