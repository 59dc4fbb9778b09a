"""Fields of a fact in full, and of notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.fields.envelope import all_fields, effect_fields, verdict_fields

if TYPE_CHECKING:
    from quire.layers.facts.notes import Note


def _effects(view: Any) -> dict[str, Any]:
    return effect_fields(*(getattr(view, name, None) for name in ("content", "title", "narrative")))


def inspect_fact_fields(found: Any) -> dict[str, Any]:
    """A fact or an episode as it is stored, with everything that is connected to it."""
    fields = all_fields(found)
    fields["object"] = {"ref": found.ref, **found.stored, **verdict_fields(found.view.verdict), **_effects(found.view)}
    return {name: fields[name] for name in ("object", "connections", "chain", "replaced_by", "names")}


def note_fields(text: str, pending: int) -> dict[str, Any]:
    """A note that was jotted down, and how many wait."""
    return {"noted": text.strip(), "pending": pending}


def notes_fields(found: Sequence[Note], pending: int) -> dict[str, Any]:
    """Notes that wait, or that were taken off the list or brought back, and how many wait."""
    return {"notes": msgspec.to_builtins(found), "pending": pending}


def notes_promote_fields(stored: Any) -> dict[str, Any]:
    """The fact that a note became."""
    from quire.verbs.plain import plain

    return {"action": stored.action, "fact": plain(stored.fact)}
