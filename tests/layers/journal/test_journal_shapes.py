"""Shapes: every fault is named by its path, and keys that nobody knows are nobody's fault."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from journaling import bundle, needs_real, state, vectors

from quire.layers.journal.documents import value_of
from quire.layers.journal.settings import config_faults
from quire.layers.journal.shapes import (
    CHECKPOINT,
    EVENT,
    bundle_faults,
    output_schemas,
    query_faults,
    session_faults,
)
from quire.layers.journal.types import SessionSource, State
from quire.layers.journal.value_shapes import find_faults, shape_of

FAULTS = {
    "bundle": bundle_faults,
    "config": config_faults,
    "source": partial(find_faults, shape_of(SessionSource), path="source"),
    "query": query_faults,
}


@needs_real
@pytest.mark.parametrize("kind", FAULTS)
def test_the_recorded_faults_are_found_in_their_order(kind: str) -> None:
    recorded = vectors("schema-errors")[kind]
    assert len(recorded) >= 2
    for one in recorded:
        # There are more providers now.
        errors = [text.replace("auto, codex, claude.", "auto, codex, claude, openai, local.") for text in one["errors"]]
        assert FAULTS[kind](one["value"]) == errors


@needs_real
def test_the_schemas_for_writers_are_the_recorded_ones() -> None:
    assert output_schemas() == vectors("schema-errors")["outputSchemas"]


def test_a_whole_bundle_has_no_fault_and_may_hold_more() -> None:
    assert bundle_faults(bundle()) == []
    held = bundle(later={"x": 1})
    held["gotchas"][0]["severity"] = 3
    assert bundle_faults(held) == []


def _with(path: str, value: Any) -> dict[str, Any]:
    held = bundle()
    *names, last = path.split(".")
    target: Any = held
    for name in names:
        target = target[int(name)] if name.isdigit() else target[name]
    target[last] = value
    return held


@pytest.mark.parametrize(
    ("path", "value", "faults"),
    [
        ("project", [], ["bundle.project must be an object."]),
        ("project.name", " \ufeff\u00a0", ["bundle.project.name must be a non-empty string."]),
        ("project.keyPaths", ["a", 1], ["bundle.project.keyPaths must be an array of strings."]),
        ("project.keyPaths", [""], []),
        ("gotchas", [None], ["bundle.gotchas[0] must be an object."]),
        ("gotchas", {}, ["bundle.gotchas must be an array."]),
        (
            "currentFocus.validationSnapshot.status",
            "green",
            ["bundle.currentFocus.validationSnapshot.status must be one of: not-run, passed, failed, mixed."],
        ),
        (
            "currentFocus.validationSnapshot.validatedAt",
            "",
            ["bundle.currentFocus.validationSnapshot.validatedAt must be a non-empty string."],
        ),
        (
            "currentFocus.validationSnapshot.results.0.status",
            ["passed"],
            ["bundle.currentFocus.validationSnapshot.results[0].status must be one of: passed, failed, unavailable."],
        ),
        (
            "validationCommands.0.command",
            [],
            ["bundle.validationCommands[0].command must contain at least one shell token."],
        ),
    ],
)
def test_each_fault_says_where_and_what(path: str, value: Any, faults: list[str]) -> None:
    assert bundle_faults(_with(path, value)) == faults


def test_a_state_names_the_faults_of_all_its_parts() -> None:
    value = value_of(state())
    assert find_faults(shape_of(State), value, "state") == []
    value["schemaVersion"] = True
    value["provider"]["name"] = "someone"
    value["bundle"]["nextSteps"] = None
    value["maintenance"]["historyEventCount"] = False
    value["maintenance"]["recallCursors"]["local"]["lastRecalledAt"] = 3
    del value["maintenance"]["recallCursors"]["imports"]
    assert find_faults(shape_of(State), value, "state") == [
        "state.schemaVersion must equal 2.",
        "state.provider.name must be one of: codex, claude, openai, local.",
        "state.bundle.nextSteps must be an array.",
        "state.maintenance.historyEventCount must be a number.",
        "state.maintenance.recallCursors.local.lastRecalledAt must be a non-empty string.",
        "state.maintenance.recallCursors.imports must be an object.",
    ]


def test_nothing_at_all_has_every_fault() -> None:
    assert find_faults(CHECKPOINT, {}, "checkpoint") == [
        "checkpoint.id must be a non-empty string.",
        "checkpoint.createdAt must be a non-empty string.",
        "checkpoint.eventId must be a non-empty string.",
        "checkpoint.bundleHash must be a non-empty string.",
        "checkpoint.summary must be a non-empty string.",
        "checkpoint.bundle must be an object.",
    ]
    assert find_faults(EVENT, {"id": "evt-000009", "signals": {"decisions": []}}, "event") == [
        "event.kind must be one of: tool_run, imported_session.",
        "event.sourceId must be a non-empty string.",
        "event.externalItemId must be a non-empty string.",
        "event.createdAt must be a non-empty string.",
        "event.contentHash must be a non-empty string.",
        "event.summary must be a non-empty string.",
        "event.sourceRef must be a non-empty string.",
        *(
            f"event.signals.{name} must be an array of strings."
            for name in ("gotchas", "nextStepHints", "keyPaths", "validationObservations")
        ),
    ]
    assert session_faults(None) == ["normalized must be an object."]
    assert session_faults({}) == [
        "normalized.summary must be a non-empty string.",
        "normalized.signals must be an object.",
    ]
