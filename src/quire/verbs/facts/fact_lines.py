"""Lines that show facts to people and agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quire.model.records import origin_shown
from quire.verbs.facts.results import FactView
from quire.verbs.verb import Recalled


def fact_lines(views: Iterable[FactView], *, numbered: bool = False) -> Iterator[Recalled]:
    """One fact on each line, with its id, where it stands and how much it counts."""
    from quire.guard.effects import effects_of, words_of

    for place, view in enumerate(views, start=1):
        notes = [view.section]
        if view.tier:
            notes += ["match" if view.tier == "answer" else "possible", view.last_said or ""]
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
        content = view.content.replace("\n", "\n     ")
        yield recalled(view, f"[{view.id}] ({', '.join(notes)}) {content}", lead=f"{place}. " if numbered else "  ")


def recalled(view: FactView, text: str, lead: str = "", *, is_news: bool = True) -> Recalled:
    """A text of a fact, with what its marks say."""
    origin = origin_shown(view.source or "facts", reviewed=view.reviewed is not False)
    verdict = view.verdict.verdict if view.verdict else "unanchored"
    return Recalled(text=text, ref=view.ref, origin=origin, verdict=verdict, lead=lead, is_news=is_news)
