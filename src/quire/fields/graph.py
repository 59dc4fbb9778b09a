"""Fields of what the graph answers: questions, nodes, saves, sync, checks, and the upkeep of one memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.fields.envelope import all_fields, effect_fields, verdict_fields

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected
    from quire.layers.graph.store import StoredRelation

# -- asking -----------------------------------------------------------------------------------


def inspected_fields(found: Inspected, connections: Sequence[Any]) -> dict[str, Any]:
    """A node in full, with the connections that facts have to it."""
    node = found.node.node
    fields: dict[str, Any] = {
        "ref": node.id,
        "stage": None,
        "superseded_by": None,
        "source": None,
        "origin": None,
        "anchors": [],
        "tags": [],
        "evidence": [],
        **all_fields(node),
        "body_path": f".memory/{found.node.path.removesuffix('.json')}.md",
        "json_path": f".memory/{found.node.path}",
        "body": found.node.body,
        "edited_by_hand": not found.node.hash_holds,
        **verdict_fields(found.verdict),
        **effect_fields(node.title, found.node.body),
    }
    return {
        "object": fields,
        "relations": {
            "outgoing": list(map(_relation_fields, found.outgoing)),
            "incoming": list(map(_relation_fields, found.incoming)),
        },
        "connections": msgspec.to_builtins(connections),
    }


def _relation_fields(stored: StoredRelation) -> dict[str, Any]:
    fields: dict[str, Any] = {"confidence": None, "evidence": [], "content_hash": None}
    fields.update(all_fields(stored.relation))
    fields["json_path"] = f".memory/{stored.path}"
    return fields
