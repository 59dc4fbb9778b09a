"""Facts as the command line shows them: fields for JSON, lines for people."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.surfaces.cli.output import say, verdict_fields

__all__ = ["fact_fields", "say_facts"]


def fact_fields(view: Any) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(view)
    fields.pop("verdict", None)
    return {**fields, **verdict_fields(view.verdict)}


def say_facts(views: list[Any], *, numbered: bool = False) -> None:
    """One fact on each line, with its id, where it stands and how much it counts."""
    for place, view in enumerate(views, start=1):
        notes = [view.section]
        if view.scores:
            notes.append(f"{view.scores['fused']:.0%} match")
        if view.status == "active":
            notes.append(f"{view.confidence:.0%} confidence")
        else:
            notes.append(view.status + (f" {view.put_away_at[:10]}" if view.put_away_at else ""))
        if view.replaced_by:
            notes.append(f"replaced by {', '.join(view.replaced_by)}")
        if view.reason:
            notes.append(view.reason)
        lead = f"{place}. " if numbered else "  "
        content = view.content.replace("\n", "\n     ")
        say(f"{lead}[{view.id}] ({', '.join(notes)}) {content}")
