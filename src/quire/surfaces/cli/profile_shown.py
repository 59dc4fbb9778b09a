"""Entries of the profile as the command line names them and shows them to people."""

from __future__ import annotations

from typing import Any

from quire.guard.effects import effects_of, words_of
from quire.model.text import counted, cut
from quire.surfaces.cli.output import say

_SHOWN_CHARS = 300


def named(category: str, key: str | None) -> tuple[str, str | None]:
    """An entry as lists show it, `tools.editor` or `profile:tools.editor`, as well as in two words."""
    first, dot, rest = category.removeprefix("profile:").partition(".")
    return (first, rest) if key is None and dot and rest else (category, key)


def say_entries(views: list[Any], *, numbered: bool = False, match: bool = False) -> None:
    """One entry on each line, with its name, how much it counts and its tags; how well it matches, if it does."""
    for place, view in enumerate(views, start=1):
        notes = []
        if match:
            notes += ["match" if view.tier == "answer" else "possible", view.updated_at[:10]]
            notes += ["not reviewed"] if view.reviewed is False else []
        if view.status != "active":
            notes.append(view.status)
        if view.importance != 5:
            notes.append(f"importance {view.importance}")
        if view.confidence is not None:
            notes.append(f"{view.confidence:.0%} sure")
        if effects := effects_of(view.value):
            notes.append(f"flagged: {words_of(effects)}")
        lead = f"{place}. " if numbered else "  "
        said = f" ({', '.join(notes)})" if notes else ""
        tags = f"  [{', '.join(view.tags)}]" if view.tags else ""
        # Of a list, enough to tell them apart; `recall` of one shows it whole.
        value = (
            cut(view.value, _SHOWN_CHARS).replace("\n", "\n     ") if numbered else view.value.replace("\n", "\n     ")
        )
        say(f"{lead}{view.id}{said}: {value}{tags}")


def say_entry(view: Any, *, links: bool = True) -> None:
    """One entry in full."""
    say(f"{view.ref}  [{view.status}, importance {view.importance}]")
    if view.confidence is not None:
        say(f"confidence: {view.confidence}")
    if view.tags:
        say(f"tags: {', '.join(view.tags)}")
    detail = f", {view.source['detail']}" if view.source["detail"] else ""
    say(f"source: {view.source['type']}{detail}")
    last = f", last {view.last_accessed}" if view.last_accessed else ""
    times = [f"{word} {at}" for word, at in (("created", view.created_at), ("updated", view.updated_at)) if at]
    say(", ".join([*times, f"read {counted(view.access_count, 'time')}{last}"]))
    if view.links and links:
        shown = [f"{link['relation']} {link['target']}" for link in view.links]
        say(f"links: {', '.join(shown)}")
    if effects := effects_of(view.value):
        say(f"flagged: {words_of(effects)}")
    if view.private:
        say("private: it is not in the shared document")
    say()
    say(view.value)
