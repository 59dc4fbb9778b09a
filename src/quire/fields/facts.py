"""Fields of a fact in full."""

from __future__ import annotations

from typing import Any

from quire.fields.envelope import all_fields, effect_fields, verdict_fields


def _effects(view: Any) -> dict[str, Any]:
    return effect_fields(*(getattr(view, name, None) for name in ("content", "title", "narrative")))


def inspect_fact_fields(found: Any) -> dict[str, Any]:
    """A fact or an episode as it is stored, with everything that is connected to it."""
    fields = all_fields(found)
    fields["object"] = {"ref": found.ref, **found.stored, **verdict_fields(found.view.verdict), **_effects(found.view)}
    return {name: fields[name] for name in ("object", "connections", "chain", "replaced_by", "names")}
