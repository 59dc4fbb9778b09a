"""Track how far the history was recalled: pending events of a scope, new cursors.

There is a cursor for each scope. An event counts as recalled if the cursor of its own kind or that of all has passed
it, so what was recalled in one scope is not brought again in another; and the cursor of all follows the other two.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from quire.layers.journal.layout import ALL, TOOL_RUN
from quire.layers.journal.numbered_ids import ordinal_of
from quire.layers.journal.settings import JournalSettings
from quire.layers.journal.types import Cursor, Cursors, JournalEvent, Maintenance

_NARROWING = {"imports-only": "imports", "local-only": "local"}


class RecallScope(Struct, frozen=True, kw_only=True):
    """What a recall looks at, and what it may change."""

    source: str
    section: str
    policy: str
    protected: tuple[str, ...] = ()


def recall_scope(
    config: JournalSettings, *, source: str | None = None, section: str | None = None, policy: str | None = None
) -> RecallScope:
    """What was asked for counts before what the settings say, and a policy narrows wherever it comes from."""
    chosen = policy or config.policy
    narrowed = _NARROWING.get(chosen)
    wanted = source or (narrowed if policy or config.default_source == ALL else None) or config.default_source
    part = section or config.default_section
    protected = ("project-map",) if chosen == "project-map-protected" and part != "project-map" else ()
    return RecallScope(source=wanted, section=part, policy=chosen, protected=protected)


def unrecalled(events: Iterable[JournalEvent], maintenance: Maintenance, source: str = ALL) -> list[JournalEvent]:
    """The events of a scope that no recall has looked at."""
    local, imports = _reached(maintenance)
    return [
        event
        for event in events
        if source in (ALL, _scope(event)) and ordinal_of(event.id) > (local if _scope(event) == "local" else imports)
    ]


def advanced(
    maintenance: Maintenance,
    events: Iterable[JournalEvent],
    recalled: Iterable[JournalEvent],
    now: str,
    own: str | None = None,
) -> Maintenance:
    """The cursors after these events were recalled; `own` is the event that the recall itself leaves.

    `events` is the whole history, and the own event need not be in it.
    """
    listed = list(events)
    seen = {event.id for event in recalled}
    local, imports = _reached(maintenance)
    left = [event for event in unrecalled(listed, maintenance) if event.id not in seen]
    reached = {
        "local": _up_to(listed, left, "local", local),
        "imports": _up_to(listed, left, "imports", imports),
    }
    if own is not None and not any(_scope(event) == "local" for event in left):
        reached["local"] = max(reached["local"], ordinal_of(own))
    oldest = min((ordinal_of(event.id) for event in left), default=0)
    reached[ALL] = _before(listed, own, oldest) if oldest else max(reached.values())
    cursors = maintenance.recall_cursors
    before = {"all": _ordinal(cursors.all, maintenance), "local": local, "imports": imports}
    names = {ordinal_of(event.id): event.id for event in listed} | ({ordinal_of(own): own} if own else {})
    moved = {
        scope: replace(getattr(cursors, scope), last_recalled_at=now, last_recalled_event_id=names[number])
        for scope, number in reached.items()
        if number > before[scope] and number in names
    }
    cursors = replace(cursors, **moved)
    return replace(
        maintenance,
        recall_cursors=cursors,
        last_recalled_at=cursors.all.last_recalled_at or maintenance.last_recalled_at,
        last_recalled_event_id=cursors.all.last_recalled_event_id or maintenance.last_recalled_event_id,
    )


def cursors_before(maintenance: Maintenance, events: Iterable[JournalEvent], number: int) -> Maintenance:
    """The cursors before this number, which two events had: one of the two was perhaps never recalled."""
    before = [event.id for event in events if 0 < ordinal_of(event.id) < number]
    back = max(before, key=ordinal_of, default=None)

    def moved(cursor: Cursor) -> Cursor:
        is_behind = ordinal_of(cursor.last_recalled_event_id) >= number
        return replace(cursor, last_recalled_event_id=back) if is_behind else cursor

    cursors = maintenance.recall_cursors
    cursors = replace(cursors, **{name: moved(getattr(cursors, name)) for name in ("all", "local", "imports")})
    if ordinal_of(maintenance.last_recalled_event_id) >= number:
        maintenance = replace(maintenance, last_recalled_event_id=back)
    return replace(maintenance, recall_cursors=cursors)


def _scope(event: JournalEvent) -> str:
    return "local" if event.kind == TOOL_RUN else "imports"


def _ordinal(cursor: Cursor, maintenance: Maintenance) -> int:
    return max(ordinal_of(cursor.last_recalled_event_id), ordinal_of(maintenance.last_recalled_event_id))


def _reached(maintenance: Maintenance) -> tuple[int, int]:
    cursors: Cursors = maintenance.recall_cursors
    everything = _ordinal(cursors.all, maintenance)
    local, imports = (ordinal_of(cursor.last_recalled_event_id) for cursor in (cursors.local, cursors.imports))
    return max(everything, local), max(everything, imports)


def _up_to(events: list[JournalEvent], left: list[JournalEvent], scope: str, before: int) -> int:
    """The last event of a kind before the first that is left."""
    oldest = min((ordinal_of(event.id) for event in left if _scope(event) == scope), default=0)
    own = [ordinal_of(event.id) for event in events if _scope(event) == scope]
    return max((number for number in own if not oldest or number < oldest), default=before)


def _before(events: list[JournalEvent], own: str | None, oldest: int) -> int:
    numbers = [ordinal_of(event.id) for event in events] + ([ordinal_of(own)] if own else [])
    return max((number for number in numbers if number < oldest), default=0)
