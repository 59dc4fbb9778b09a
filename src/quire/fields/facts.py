"""Fields of what the facts answer: facts, episodes, connections, working memory, the flows around a session, notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.fields.envelope import all_fields, effect_fields, own_fields, verdict_fields, view_fields

if TYPE_CHECKING:
    from quire.layers.facts.notes import Note
    from quire.layers.facts.sessions import OpenSession
    from quire.layers.facts.types import Episode
    from quire.retrieval.facts_context import FactsContext


def fact_fields(view: Any) -> dict[str, Any]:
    """One fact as it is told, and its verdict."""
    return view_fields(view)


def _facts_fields(views: Sequence[Any]) -> list[dict[str, Any]]:
    return [fact_fields(view) for view in views]


def memory_facts_fields(stats: Any) -> dict[str, Any]:
    """How many there are, and the state of the file."""
    return own_fields(stats)


# -- telling ----------------------------------------------------------------------------------


def memory_store_fields(done: Any, *, dry_run: bool = False) -> dict[str, Any]:
    """A fact that was stored or confirmed, and what says nearly the same."""
    return {
        "action": done.action,
        "dry_run": dry_run,
        "fact": fact_fields(done.fact),
        "similar": msgspec.to_builtins(done.similar),
        "equal_archived": _facts_fields(done.equal_archived),
    }


def memory_supersede_fields(done: Any, *, dry_run: bool = False) -> dict[str, Any]:
    """A fact, and what replaces it."""
    return {
        "dry_run": dry_run,
        "old": fact_fields(done.old),
        "new": fact_fields(done.new),
        "equal_archived": _facts_fields(done.equal_archived),
    }


def memory_archive_fields(done: Any) -> dict[str, Any]:
    """What became of each id that was to be put away or brought back."""
    return {"outcomes": msgspec.to_builtins(done.outcomes), "changed": done.changed, "dry_run": done.dry_run}


def memory_refresh_fields(done: Any) -> dict[str, Any]:
    """How many facts count from today."""
    return own_fields(done)


def memory_connect_fields(action: str, edge: Any, *, dry_run: bool = False) -> dict[str, Any]:
    """A connection that was made or confirmed."""
    return {"action": action, "dry_run": dry_run, "edge": all_fields(edge)}


# -- asking -----------------------------------------------------------------------------------


def memory_recall_fields(found: Any) -> dict[str, Any]:
    """The facts that bear on a question, active or put away, and what is connected to them."""
    return {
        "query": found.query,
        "results": _facts_fields(found.results),
        "connected": msgspec.to_builtins(found.connected),
        "weak": found.weak,
        "faded": found.faded,
        "reason": found.reason,
        "other_minds": found.others,
    }


def memory_query_fields(page: Any) -> dict[str, Any]:
    """A page of the active facts."""
    return {**own_fields(page), "results": _facts_fields(page.results)}


def memory_episodes_fields(found: Any) -> dict[str, Any]:
    """What happened in earlier sessions."""
    results = [view_fields(item) for item in found.results]
    return {"query": found.query, "results": results, "total": found.total}


def memory_working_fields(done: Any) -> dict[str, Any]:
    """What is pinned, what was read of late, and what became of each id that was named."""
    return {**own_fields(done), "pins": _facts_fields(done.pins), "recent": _facts_fields(done.recent)}


def memory_context_fields(found: FactsContext) -> dict[str, Any]:
    """What an agent should have before its eyes in this turn."""
    return all_fields(found)


def _effects(view: Any) -> dict[str, Any]:
    return effect_fields(*(getattr(view, name, None) for name in ("content", "title", "narrative")))


def inspect_fact_fields(found: Any) -> dict[str, Any]:
    """A fact or an episode as it is stored, with everything that is connected to it."""
    fields = all_fields(found)
    fields["object"] = {"ref": found.ref, **found.stored, **verdict_fields(found.view.verdict), **_effects(found.view)}
    return {name: fields[name] for name in ("object", "connections", "chain", "replaced_by", "names")}


# -- around a session -------------------------------------------------------------------------


def memory_compact_fields(done: Any, checkpoint: str) -> dict[str, Any]:
    """The conversation that is left, and where the whole one is kept."""
    return {**own_fields(done), "checkpoint": checkpoint or None}


def memory_ingest_fields(done: Any) -> dict[str, Any]:
    """What was taken in from the design documents, and what waits to be accepted."""
    return {**own_fields(done), "pending": _facts_fields(done.pending)}


def memory_session_fields(found: OpenSession, episodes: Sequence[Episode], *, closed: bool) -> dict[str, Any]:
    """How far a session is, and the episodes that were recorded."""
    shown = [{"ref": f"episode:{item.id}", **all_fields(item)} for item in episodes]
    return {"session": all_fields(found), "closed": closed, "episodes": shown}


def memory_normalize_fields(done: Any) -> dict[str, Any]:
    """What the normal form changes in the file."""
    return all_fields(done)


def memory_import_fields(done: Any) -> dict[str, Any]:
    """What was taken in from another file."""
    return own_fields(done)


# -- notes ------------------------------------------------------------------------------------


def note_fields(text: str, pending: int) -> dict[str, Any]:
    """A note that was jotted down, and how many wait."""
    return {"noted": text.strip(), "pending": pending}


def notes_fields(found: Sequence[Note], pending: int) -> dict[str, Any]:
    """Notes that wait, or that were taken off the list or brought back, and how many wait."""
    return {"notes": msgspec.to_builtins(found), "pending": pending}


def notes_promote_fields(stored: Any) -> dict[str, Any]:
    """The fact that a note became."""
    return {"action": stored.action, "fact": fact_fields(stored.fact)}
