"""Fields of what the profile answers: entries, links, pages, the start of a session, tidying up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.fields.envelope import all_fields, own_fields, view_fields

if TYPE_CHECKING:
    from quire.layers.profile.links import Linked
    from quire.retrieval.profile_context import ProfileContext


def entry_fields(view: Any) -> dict[str, Any]:
    """One entry as it is told, and its verdict."""
    return view_fields(view)


# -- asking -----------------------------------------------------------------------------------


def profile_status_fields(found: Any) -> dict[str, Any]:
    """How many entries there are, where they are, the state of the document."""
    return own_fields(found)


def profile_where_fields(found: Any) -> dict[str, Any]:
    """Of the status, where the private entries are."""
    return {"private": found.private, "path": found.private_path, "entries": found.private_entries}


def profile_recall_fields(found: Any) -> dict[str, Any]:
    """One entry, or those of a category; `entries` has them as they are stored."""
    return {
        "category": found.category,
        "results": [entry_fields(view) for view in found.results],
        "entries": {view.key: view.entry for view in found.results},
        "put_away": found.put_away,
    }


def profile_search_fields(found: Any) -> dict[str, Any]:
    """The entries that bear on a question."""
    return {**own_fields(found), "results": [entry_fields(view) for view in found.results]}


def profile_connections_fields(found: Any) -> dict[str, Any]:
    """What an entry is linked to, and what is linked to it."""
    return {"entry": entry_fields(found.entry), **_links_fields(found)}


def profile_inspect_fields(found: Any, connections: Sequence[Any]) -> dict[str, Any]:
    """An entry in full, with its links and the connections that facts have to it."""
    return {
        "object": entry_fields(found.entry),
        "links": _links_fields(found),
        "connections": msgspec.to_builtins(connections),
    }


def _links_fields(found: Any) -> dict[str, Any]:
    return {"outgoing": msgspec.to_builtins(found.outgoing), "incoming": msgspec.to_builtins(found.incoming)}


def profile_page_fields(page: Any) -> dict[str, Any]:
    """A page to be shown as it is: of the user, of working together, or the index."""
    return {"profile": page.text, "entries": page.entries, "put_away": page.put_away}


def profile_context_fields(found: ProfileContext) -> dict[str, Any]:
    """What an agent should know at the start."""
    return all_fields(found)


# -- telling ----------------------------------------------------------------------------------


def profile_session_start_fields(found: Any) -> dict[str, Any]:
    """The session that begins, and what matters now."""
    return own_fields(found)


def profile_remember_fields(done: Any) -> dict[str, Any]:
    """An entry that was added or changed, or those that say the same."""
    return {**own_fields(done), "entry": entry_fields(done.entry) if done.entry else None}


def profile_forget_fields(done: Any) -> dict[str, Any]:
    """The entry that was removed, and where the document as it was is kept."""
    return {**all_fields(done), "removed": entry_fields(done.removed)}


def profile_forgotten_fields(found: Sequence[Any]) -> dict[str, Any]:
    """What was forgotten on this machine and can be restored."""
    return {"results": msgspec.to_builtins(found)}


def profile_restore_fields(done: Any) -> dict[str, Any]:
    """The entry that was brought back."""
    return {**all_fields(done), "entry": entry_fields(done.entry)}


def profile_link_fields(done: Linked, *, dry_run: bool = False) -> dict[str, Any]:
    """A link that was made, or was there."""
    return {"link_created": done.created, **all_fields(done), "dry_run": dry_run}


def profile_unlink_fields(done: Any) -> dict[str, Any]:
    """The links that were taken away."""
    return {"link_removed": True, **all_fields(done)}


# -- tending ----------------------------------------------------------------------------------


def profile_reflect_fields(found: Any) -> dict[str, Any]:
    """What is proposed, and what of it was done."""
    return all_fields(found)


def profile_export_fields(done: Any) -> dict[str, Any]:
    """Everything, to be read elsewhere."""
    return all_fields(done)


def profile_private_fields(done: Any) -> dict[str, Any]:
    """What moved to another document, or would."""
    return all_fields(done)
