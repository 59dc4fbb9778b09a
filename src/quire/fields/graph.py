"""Fields of what the graph answers: questions, nodes, saves, sync, checks, and the upkeep of one memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.fields.envelope import all_fields, effect_fields, own_fields, verdict_fields

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected
    from quire.layers.graph.save import Saved
    from quire.layers.graph.store import StoredRelation
    from quire.model.verdicts import Verdict
    from quire.upkeep.changes import Changes
    from quire.upkeep.check import Checked
    from quire.upkeep.export_formats import ExportText
    from quire.upkeep.init import Initialized
    from quire.upkeep.rebuild import Rebuilt
    from quire.upkeep.reset import Reset
    from quire.upkeep.status import Status
    from quire.upkeep.sync import Synced

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


def status_fields(found: Status) -> dict[str, Any]:
    """The memory at a glance."""
    return all_fields(found)


# -- telling ----------------------------------------------------------------------------------


def saved_fields(saved: Saved) -> dict[str, Any]:
    """What a save changed, or would change."""
    return {**_saved_fields(saved), "repairs_applied": []}


def _saved_fields(saved: Saved) -> dict[str, Any]:
    return {name: value for name, value in own_fields(saved).items() if name != "planned"}


def confirmed_fields(saved: Saved, before: Mapping[str, Verdict]) -> dict[str, Any]:
    """What was confirmed, and the verdict that each node had before."""
    return {**saved_fields(saved), "before": {ref: verdict_fields(verdict) for ref, verdict in before.items()}}


# -- keeping it honest ------------------------------------------------------------------------


def synced_fields(found: Synced) -> dict[str, Any]:
    """Which nodes the code has left behind."""
    return all_fields(found)


def checked_fields(found: Checked) -> dict[str, Any]:
    """Errors and warnings: here they are the answer."""
    return all_fields(found)


def changes_fields(found: Changes) -> dict[str, Any]:
    """What differs from the last commit."""
    return all_fields(found)


def initialized_fields(done: Initialized) -> dict[str, Any]:
    """What was created, or would be."""
    told = [{"path": one.path, "status": one.status, "reason": one.reason} for one in done.guidance]
    targets = [{"path": one.path, "status": one.status} for one in done.guidance]
    fields = {**own_fields(msgspec.structs.replace(done, guidance=[])), "guidance": told}
    fields["agent_guidance"] = {"enabled": bool(targets), "targets": targets, "optional_skills": []}
    return fields


def first_brief_fields(text: str) -> dict[str, Any]:
    """The task of filling a new memory."""
    return {"brief": text}


def exported_fields(done: ExportText) -> dict[str, Any]:
    """How much was exported; the text itself where no file holds it."""
    return {**own_fields(done), "text": None if done.path else done.text, "path": done.path or None}


def rebuilt_fields(done: Rebuilt) -> dict[str, Any]:
    """What the new index holds; the last two are those of the original."""
    return {**all_fields(done), "index_rebuilt": True, "event_appended": False}


def reset_fields(done: Reset) -> dict[str, Any]:
    """What was removed, and where it is archived."""
    return all_fields(done)


def upgraded_fields(message: str) -> dict[str, Any]:
    """Whether the storage needs an upgrade: of this version, never."""
    return {"message": message, "upgraded": False}
