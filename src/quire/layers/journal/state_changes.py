"""Plan what a command writes to the journal: new state, event, checkpoint."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from quire.layers.journal.bundle_diff import diff_text
from quire.layers.journal.bundles import shown
from quire.layers.journal.cursors import advanced
from quire.layers.journal.documents import new_checkpoint, new_state
from quire.layers.journal.layout import GENERATOR_VERSION, LOCAL_PROVIDER, SCHEMA_VERSION, TOOL
from quire.layers.journal.numbered_ids import allocate_ids, next_checkpoint_id
from quire.layers.journal.store import Journal, Writing
from quire.layers.journal.tool_runs import tool_run_event
from quire.layers.journal.types import Bundle, Fields, JournalEvent, Maintenance, Provider


def local_provider() -> Provider:
    """Us."""
    return Provider(name=LOCAL_PROVIDER, binary=TOOL)


def taken_ids(journal: Journal) -> Iterable[str | None]:
    """Every id of an event that is or was given out, as far as anybody still knows."""
    yield from journal.history.ids()
    yield from journal.archived
    maintenance = journal.state.maintenance
    yield maintenance.last_recalled_event_id
    for cursor in (
        maintenance.recall_cursors.all,
        maintenance.recall_cursors.local,
        maintenance.recall_cursors.imports,
    ):
        yield cursor.last_recalled_event_id


def counted_maintenance(journal: Journal, added: int = 0) -> Maintenance:
    """The maintenance with counts that are true."""
    return replace(
        journal.state.maintenance,
        history_event_count=len(journal.history.events) + added,
        import_source_count=len(journal.registry.entries),
    )


def write_bundle(
    journal: Journal,
    bundle: Bundle,
    *,
    command: str,
    now: str,
    provider: Provider | None = None,
    diff: Fields | None = None,
    summary: str = "",
    validations: Iterable[tuple[str, str]] = (),
    recalled: Iterable[JournalEvent] = (),
) -> Writing:
    """A new bundle with its event and its checkpoint; the cursors pass what was recalled and our own event."""
    event = tool_run_event(
        command,
        bundle,
        event_id=allocate_ids(taken_ids(journal))[0],
        created_at=now,
        diff=diff,
        validations=validations,
    )
    latest = journal.state.maintenance.latest_checkpoint_id
    checkpoint = new_checkpoint(
        bundle,
        checkpoint_id=next_checkpoint_id((*journal.checkpoints, *journal.archived, latest)),
        created_at=now,
        event_id=event.id,
        summary=summary or (diff_text(diff) if diff is not None else shown(bundle, "currentFocus", "summary")),
    )
    maintenance = advanced(counted_maintenance(journal, 1), journal.history.events, recalled, now, own=event.id)
    state = new_state(
        bundle,
        provider=provider or journal.state.provider,
        generated_at=now,
        maintenance=replace(maintenance, latest_checkpoint_id=checkpoint.id),
        extra=journal.state.extra,
    )
    state = replace(state, schema_version=SCHEMA_VERSION, generator_version=GENERATOR_VERSION)
    return Writing(state=state, events=(event,), checkpoint=checkpoint, pages=True)
