"""Plan what a command writes to the journal: new state, event, checkpoint."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from msgspec.structs import replace

from quire.layers.journal.bundle_diff import diff_text
from quire.layers.journal.bundles import known, labelled, objects_at, shown, texts_at
from quire.layers.journal.canonical import content_hash
from quire.layers.journal.cursors import advanced
from quire.layers.journal.documents import new_checkpoint, new_state
from quire.layers.journal.layout import (
    GENERATOR_VERSION,
    LOCAL_PROVIDER,
    LOCAL_SOURCE,
    SCHEMA_VERSION,
    SIGNAL_PATHS,
    SIGNAL_TEXTS,
    TOOL,
    TOOL_RUN,
)
from quire.layers.journal.numbered_ids import allocate_ids, next_checkpoint_id
from quire.layers.journal.store import Journal, Writing
from quire.layers.journal.text_match import unique
from quire.layers.journal.types import Bundle, Fields, JournalEvent, Maintenance, Provider, Signals

RECALL = "recall"
_NOT_SAID = "what changed was not recorded"


def tool_run_event(
    command: str,
    bundle: Bundle,
    *,
    event_id: str,
    created_at: str,
    diff: Fields | None = None,
    validations: Iterable[tuple[str, str]] = (),
) -> JournalEvent:
    """The event of `init`, `update` or `recall`. `diff` has the form of `diff_value`; `validations` are the commands
    that were run now, each with its summary."""
    hashed = {"commandName": command, "bundleHash": content_hash(bundle), "diffSummary": diff}
    return JournalEvent(
        id=event_id,
        kind=TOOL_RUN,
        source_id=LOCAL_SOURCE,
        external_item_id=None,
        created_at=created_at,
        content_hash=content_hash(hashed),
        summary=run_summary(command, bundle, diff),
        signals=bundle_signals(bundle, validations),
        source_ref=f"{TOOL}:{command}",
    )


def run_summary(command: str, bundle: Bundle, diff: Fields | None = None) -> str:
    name = shown(bundle, "project", "name")
    if command != RECALL:
        return f"{command} refreshed canonical memory for {name}."
    return f"Recalled project memory for {name}: {_NOT_SAID if diff is None else diff_text(diff)}"


def bundle_signals(bundle: Bundle, validations: Iterable[tuple[str, str]] = ()) -> Signals:
    """What of a bundle lasts, cut to what one event may repeat."""
    snapshot = ("currentFocus", "validationSnapshot")
    results = objects_at(bundle, *snapshot, "results")
    return Signals(
        decisions=_first(
            texts_at(bundle, "projectMap", "architectureNotes"),
            _pairs(objects_at(bundle, "projectMap", "modules"), "path", "responsibility"),
        ),
        gotchas=_first(_pairs(objects_at(bundle, "gotchas"), "title", "cause")),
        next_step_hints=_first(_pairs(objects_at(bundle, "nextSteps"), "title", "start")),
        key_paths=_first(
            texts_at(bundle, "project", "keyPaths"),
            (shown(item, "path") for item in objects_at(bundle, "projectMap", "entrypoints")),
            texts_at(bundle, "projectMap", "firstFilesToRead"),
            most=SIGNAL_PATHS,
        ),
        validation_observations=_first(
            [shown(bundle, *snapshot, "summary")],
            _pairs(results, "command", "summary"),
            (f"{line}: {summary}" for line, summary in validations),
        ),
    )


def _pairs(items: list[Fields], name: str, said: str) -> Iterable[str]:
    return (labelled(shown(item, name), known(item, said)) for item in items)


def _first(*parts: Iterable[str], most: int = SIGNAL_TEXTS) -> tuple[str, ...]:
    return tuple(unique(chain(*parts))[:most])


def local_provider() -> Provider:
    """Us."""
    return Provider(name=LOCAL_PROVIDER, binary=TOOL)


def taken_ids(journal: Journal) -> Iterable[str | None]:
    """Every id of an event that is or was given out, as far as anybody still knows."""
    yield from journal.history.ids()
    yield from journal.archived
    maintenance = journal.state.maintenance
    cursors = maintenance.recall_cursors
    for place in (maintenance, cursors.all, cursors.local, cursors.imports):
        yield place.last_recalled_event_id


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
