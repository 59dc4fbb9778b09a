"""Lists of records: what is chosen, in which order, and how many there are of each sort within the other choices."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.model.records import Record
from quire.model.verdicts import Verdict
from quire.upkeep.views.items import item_of
from quire.upkeep.views.record_list import FACETS, RecordFilter, page_of_records

FRESH, MOVED = Verdict(verdict="fresh"), Verdict(verdict="moved", because="it went")


def record(ref: str, **fields: Any) -> Record:
    made = {"layer": "graph", "kind": "feature", "title": ref, "text": "", "status": "active", "path": "a.json"}
    return Record(ref=ref, **{**made, "updated_at": "2026-03-01T00:00:00+00:00", **fields})


RECORDS = [
    record("feature.queue", stage="building", text="Sends again.", updated_at="2026-03-01T10:00:00+00:00"),
    record("feature.fax", stage="dead", updated_at="2026-03-01T13:00:00+02:00"),
    record("feature.plan", tags=("Größe",)),
    record("decision.worker", kind="decision", status="superseded"),
    record("question.when", kind="question", status="open", updated_at="soon"),
    record("fact:a", layer="facts", kind="fact", section="Decisions", text="The QUEUE is small."),
    record("profile:tools.editor", layer="profile", kind="entry", section="tools"),
]
VERDICTS = {"feature.queue": MOVED, "feature.plan": FRESH, "question.when": FRESH}


def page(offset: int = 0, limit: int = 100, **choice: Any) -> Any:
    return page_of_records(RECORDS, VERDICTS, RecordFilter(**choice), offset, limit)


def refs(**choice: Any) -> list[str]:
    return [item.ref for item in page(**choice).items]


def test_everything_comes_newest_first_and_by_ref_where_that_is_equal() -> None:
    assert refs() == [
        "feature.fax",  # eleven o'clock in UTC
        "feature.queue",
        "decision.worker",
        "fact:a",
        "feature.plan",
        "profile:tools.editor",
        "question.when",
    ]


@each(
    ("choice", "found"),
    [
        ({"layer": "facts"}, ["fact:a"]),
        ({"kind": "feature"}, ["feature.fax", "feature.queue", "feature.plan"]),
        ({"status": "open"}, ["question.when"]),
        ({"stage": "idea"}, ["feature.plan"]),
        ({"section": "tools"}, ["profile:tools.editor"]),
        ({"verdict": "fresh"}, ["feature.plan", "question.when"]),
        ({"live": False}, ["feature.fax", "decision.worker"]),
        ({"live": True, "kind": "feature"}, ["feature.queue", "feature.plan"]),
        ({"text": "queue"}, ["feature.queue", "fact:a"]),
        ({"text": "GRÖSSE"}, ["feature.plan"]),
        ({"text": "sends AGAIN"}, ["feature.queue"]),
        ({"text": "queue", "layer": "facts"}, ["fact:a"]),
        ({"verdict": "orphaned"}, []),
    ],
)
def test_each_choice_leaves_what_fits(choice: dict[str, Any], found: list[str]) -> None:
    assert refs(**choice) == found
    assert page(**choice).total == len(found)


def test_a_page_says_how_many_there_are_in_all() -> None:
    found = page(2, 3)
    assert [item.ref for item in found.items] == ["decision.worker", "fact:a", "feature.plan"]
    assert (found.total, found.offset) == (7, 2)
    assert page(7).items == ()
    assert page(7).total == 7


def test_items_carry_their_verdicts() -> None:
    (item,) = page(verdict="moved").items
    assert item == item_of(RECORDS[0], MOVED)
    assert (item.verdict, item.because, item.stage, item.live) == ("moved", "it went", "building", True)


def test_values_are_counted_within_the_other_choices() -> None:
    found = page(layer="graph", kind="feature").facets
    assert found["layer"] == {"graph": 3}
    assert found["kind"] == {"decision": 1, "feature": 3, "question": 1}
    assert found["stage"] == {"building": 1, "dead": 1, "idea": 1}
    assert found["verdict"] == {"fresh": 1, "moved": 1}
    assert found["section"] == {}


def test_what_the_text_and_liveness_leave_out_is_counted_nowhere() -> None:
    assert page(text="queue").facets["layer"] == {"facts": 1, "graph": 1}
    assert page(live=False).facets["status"] == {"active": 1, "superseded": 1}


values = {
    "layer": st.sampled_from(["graph", "facts"]),
    "kind": st.sampled_from(["feature", "fact"]),
    "status": st.sampled_from(["active", "stale"]),
    "stage": st.sampled_from(["", "building", "dead"]),
    "section": st.sampled_from(["", "Specs"]),
}
found_records = st.lists(st.fixed_dictionaries(values), max_size=12)
choices = st.fixed_dictionaries({name: st.one_of(st.just(""), value) for name, value in values.items()})


@given(found_records, choices, st.sampled_from(list(values)))
def test_a_count_is_what_choosing_that_value_gives(
    fields: list[dict[str, str]], choice: dict[str, str], name: str
) -> None:
    records = [record(f"r{at}", **{**held, "stage": held["stage"] or None}) for at, held in enumerate(fields)]
    counts = page_of_records(records, {}, RecordFilter(**choice), 0, 1).facets
    assert set(counts) == set(FACETS)
    for value in ("graph", "facts", "feature", "fact", "active", "stale", "idea", "building", "dead", "Specs"):
        chosen = page_of_records(records, {}, RecordFilter(**{**choice, name: value}), 0, 1)
        assert counts[name].get(value, 0) == chosen.total
