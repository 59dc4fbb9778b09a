"""Make the history event of one of our own runs from the bundle it wrote."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from quire.layers.journal.bundle_diff import diff_text
from quire.layers.journal.bundles import known, labelled, objects_at, shown, texts_at
from quire.layers.journal.canonical import content_hash
from quire.layers.journal.layout import LOCAL_SOURCE, SIGNAL_PATHS, SIGNAL_TEXTS, TOOL, TOOL_RUN
from quire.layers.journal.text_match import unique
from quire.layers.journal.types import Bundle, Fields, JournalEvent, Signals

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
