"""Facts as the command line shows them to people."""

from __future__ import annotations

from typing import Any

from quire.guard.effects import effects_of, words_of
from quire.surfaces.cli.output import say


def say_facts(views: list[Any], *, numbered: bool = False) -> None:
    """One fact on each line, with its id, where it stands and how much it counts."""
    for place, view in enumerate(views, start=1):
        notes = [view.section]
        if view.tier:
            notes += ["match" if view.tier == "answer" else "possible", view.last_said]
            notes += ["not reviewed"] if view.reviewed is False else []
        if view.status == "active":
            notes.append(f"{view.confidence:.0%} confidence")
        else:
            notes.append(view.status + (f" {view.put_away_at[:10]}" if view.put_away_at else ""))
        if view.replaced_by:
            notes.append(f"replaced by {', '.join(view.replaced_by)}")
        if view.reason:
            notes.append(view.reason)
        if effects := effects_of(view.content):
            notes.append(f"flagged: {words_of(effects)}")
        lead = f"{place}. " if numbered else "  "
        content = view.content.replace("\n", "\n     ")
        say(f"{lead}[{view.id}] ({', '.join(notes)}) {content}")
