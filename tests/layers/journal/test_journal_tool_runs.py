"""The events that our own runs leave: what of the bundle they repeat, and what they say has changed."""

from __future__ import annotations

import pytest
from journaling import bundle, needs_real, vectors

from quire.layers.journal.bundle_diff import diff_bundles, diff_value
from quire.layers.journal.canonical import content_hash
from quire.layers.journal.documents import value_of
from quire.layers.journal.shapes import EVENT
from quire.layers.journal.state_changes import bundle_signals, run_summary, tool_run_event
from quire.layers.journal.types import Signals
from quire.layers.journal.value_shapes import find_faults

# The other program records the two cases below without saying what changed; we say it.
OTHERWISE = {
    3: "Recalled project memory for orders-service: updated gotchas",
    4: "Recalled project memory for orders-service: what changed was not recorded",
}


@needs_real
@pytest.mark.parametrize("number", range(5))
def test_the_recorded_runs_leave_the_recorded_events(number: int) -> None:
    recorded = vectors("tool-run-events")
    assert len(recorded) == 5
    one = recorded[number]
    made = tool_run_event(
        one["commandName"],
        one["bundle"],
        event_id="evt-000042",
        created_at="2026-06-15T12:00:00.000Z",
        diff=one["diffSummary"],
        validations=[(run["command"], run["summary"]) for run in one["validations"]],
    )
    expected = one["event"]
    if number in OTHERWISE:
        expected["summary"] = OTHERWISE[number]
    assert list(value_of(made).items()) == list(expected.items())


def test_a_run_repeats_what_lasts() -> None:
    made = tool_run_event(
        "init", bundle(), event_id="evt-000001", created_at="2026-01-01T00:00:00.000Z", validations=[("make", "ok")]
    )
    assert find_faults(EVENT, value_of(made), "event") == []
    assert (made.kind, made.source_id, made.external_item_id) == ("tool_run", "agent-memory.local", None)
    assert (made.source_ref, made.summary) == ("agent-memory:init", "init refreshed canonical memory for harbor.")
    hashed = {"commandName": "init", "bundleHash": content_hash(bundle()), "diffSummary": None}
    assert made.content_hash == content_hash(hashed)
    assert made.signals == Signals(
        decisions=("All money is in cents.", "src/billing: Makes invoices."),
        gotchas=("Cents drift: Floats.",),
        next_step_hints=("Round once: Open src/billing.",),
        key_paths=("src/harbor.py", "README.md", "docs/money.md"),
        validation_observations=("One of two passed.", "pytest -q: 12 passed", "make: ok"),
    )


def test_signals_are_cut_unique_and_never_empty() -> None:
    held = bundle(gotchas=[{"title": f"T{n}", "cause": "c"} for n in range(20)])
    held["project"]["keyPaths"] = ["", " ", "a", "a", *(f"p{n}" for n in range(30))]
    signals = bundle_signals(held)
    assert len(signals.gotchas) == 12
    assert signals.gotchas[-1] == "T11: c"
    assert signals.key_paths == ("a", *(f"p{n}" for n in range(15)))


def test_a_bundle_of_another_form_gives_what_it_has() -> None:
    assert bundle_signals({"project": [], "gotchas": "x", "nextSteps": [1, {"title": "T"}]}) == Signals(
        next_step_hints=("T",)
    )
    assert run_summary("update", {}) == "update refreshed canonical memory for ."


def test_a_recall_says_what_changed() -> None:
    after = bundle()
    after["gotchas"][0]["cause"] = "Binary floats."
    after["project"]["summary"] = "Invoices."
    summary = run_summary("recall", after, diff_value(diff_bundles(bundle(), after)))
    assert summary == "Recalled project memory for harbor: changed gotchas: Cents drift; updated project"
    same = diff_value(diff_bundles(bundle(), bundle()))
    assert run_summary("recall", after, same) == "Recalled project memory for harbor: no changes"
