"""Evidence: what belongs together is brought together, in time that grows with the events and not with their pairs."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from journaling import event, needs_real, vectors

from quire.layers.journal.documents import value_of
from quire.layers.journal.evidence_groups import GroupedEvidence, evidence_lines, group_events
from quire.layers.journal.text_match import normal_text, topic_of, unmarked
from quire.layers.journal.types import JournalEvent
from work import calls_made

# Where we differ on purpose: that something is done is kept beside it, milliseconds since 1970 are a time, a full-width
# colon ends a topic, and a topic of nothing is shown as the whole.
OTHERWISE: dict[int, tuple[dict[str, Any], str]] = {
    3: (
        {"nextStepHints": ["NEXT: Write runbook: open docs and describe the flush order", "DONE: Write runbook"]},
        "  next=Write runbook (done)",
    ),
    4: ({"nextStepHints": ["NEXT: Ship", "DONE: Ship"]}, "  next=Ship (done)"),
    9: ({"gotchas": [": no topic", "http://x: y", "陷阱：全角冒号"]}, "  gotchas=: no topic, http, +1 more"),
}
NUMERIC = 8


@needs_real
@pytest.mark.parametrize("number", range(11))
def test_the_recorded_events_are_grouped_as_recorded(number: int) -> None:
    recorded = vectors("recall-evidence")
    assert len(recorded) == 11
    one = recorded[number]
    evidence = group_events([msgspec.convert(value, JournalEvent) for value in one["events"]])
    groups, lines = one["summary"]["groups"], one["rendered"].split("\n")
    if number in OTHERWISE:
        signals, line = OTHERWISE[number]
        groups[0]["signals"].update(signals)
        lines[-1] = line
    if number == NUMERIC:
        groups = [groups[3], *groups[:3]]
        groups = [{**group, "groupId": f"grp-{place:06d}"} for place, group in enumerate(groups, start=1)]
        lines = [*lines[:2], lines[5], *lines[2:5]]
    told = value_of(evidence)
    assert sorted(told.pop("events")) == sorted(value["id"] for value in one["events"])
    assert told == {**one["summary"], "groups": groups}
    assert evidence_lines(evidence) == lines


def _sets(evidence: GroupedEvidence) -> set[frozenset[str]]:
    return {frozenset(group.event_ids) for group in evidence.groups}


def _ids(*sets: tuple[int, ...]) -> set[frozenset[str]]:
    return {frozenset(f"evt-{number:06d}" for number in numbers) for numbers in sets}


def test_a_path_links_only_together_with_what_was_said_of_it() -> None:
    events = [
        event(1, key_paths=["src/a.py"], decisions=["Use cents."]),
        event(2, key_paths=["src/a.py"], decisions=["Use euros."]),
        event(3, key_paths=["src/A.PY"], decisions=["use CENTS"]),
        event(4, key_paths=["src/b.py"], decisions=["Use cents."]),
        event(5, key_paths=["src/b.py"], validation_observations=["Use cents."]),
        event(6, key_paths=["src/b.py"], validation_observations=["use cents"]),
    ]
    assert _sets(group_events(events)) == _ids((1, 3), (2,), (4,), (5, 6))


def test_punctuation_links_nothing() -> None:
    events = [
        event(n, gotchas=["!!!", "…"], next_step_hints=["NEXT: "], key_paths=["/"], decisions=["-"]) for n in (1, 2)
    ]
    evidence = group_events(events)
    assert _sets(evidence) == _ids((1,), (2,))
    assert evidence.groups[0].signals.gotchas == ("!!!", "…")


def test_a_step_taken_up_again_is_open_and_a_repeated_one_stays_done() -> None:
    done = event(2, next_step_hints=["DONE: Ship it"])
    again = event(3, next_step_hints=["next: Ship it: the second part"])
    repeated = event(3, next_step_hints=["Ship it: somewhere"])
    first = event(1, next_step_hints=["NEXT: Ship it: all of it"])
    open_again = group_events([first, done, again]).groups[0]
    assert open_again.signals.next_step_hints == ("next: Ship it: the second part",)
    still_done = group_events([first, done, repeated])
    assert still_done.groups[0].signals.next_step_hints == ("NEXT: Ship it: all of it", "DONE: Ship it")
    assert evidence_lines(still_done)[-1] == "  next=Ship it (done)"
    assert evidence_lines(group_events([done, repeated]))[-1] == "  next=Ship it (done)"


def test_a_group_is_told_by_its_members_in_the_order_of_time() -> None:
    local = event(
        2, kind="tool_run", source_id="agent-memory.local", gotchas=["Drift: of cents"], summary="A long summary"
    )
    late = event(12, gotchas=["drift: x", "Other"], created_at="2026-01-01T00:00:00.000Z")
    unknown = event(9, gotchas=["DRIFT"], created_at="some day")
    (group,) = group_events([unknown, local, late]).groups
    assert group.event_ids == ("evt-000012", "evt-000002", "evt-000009")
    assert (group.source_scope_label, group.source_ids) == ("mixed", ("agent-memory.local", "sessions"))
    assert (group.created_at_first, group.created_at_last) == ("2026-01-01T00:00:00.000Z", "some day")
    assert group.representative_summary == "A long summary"
    assert group.signals.gotchas == ("Drift: of cents", "Other")


def test_ids_past_a_million_are_ordered_by_their_number() -> None:
    same = "2026-01-01T00:00:00.000Z"
    events = [event(1, id=name, created_at=same) for name in ("evt-1000000", "evt-999999", "odd")]
    assert [group.event_ids[0] for group in group_events(events).groups] == ["evt-999999", "evt-1000000", "odd"]


def test_a_text_with_a_break_stays_on_its_line() -> None:
    lines = evidence_lines(group_events([event(1, summary="One\nTwo\u2028Three", key_paths=["a\nb"])]))
    assert lines == ["- raw events: 1", "- grouped items: 1", "- [imports] One Two Three events=1 paths=a b"]


WORDS = st.lists(st.sampled_from(["a: 1", "A", "b", "b: c", "!", ""]), max_size=2)
EVENTS = st.lists(
    st.fixed_dictionaries({"gotchas": WORDS, "next_step_hints": WORDS, "key_paths": WORDS, "decisions": WORDS}),
    max_size=7,
)


@given(EVENTS)
def test_groups_are_those_that_comparing_all_pairs_would_give(signals: list[dict[str, list[str]]]) -> None:
    events = [event(number, **one) for number, one in enumerate(signals, start=1)]
    tops = list(range(len(events)))
    for one, other in itertools.combinations(range(len(events)), 2):
        if _are_linked(events[one], events[other]):
            before, after = tops[other], tops[one]
            tops = [after if top == before else top for top in tops]
    expected = {frozenset(events[number].id for number, own in enumerate(tops) if own == top) for top in set(tops)}
    assert _sets(group_events(events)) == expected
    assert group_events(events) == group_events(events[::-1])


def _are_linked(one: JournalEvent, other: JournalEvent) -> bool:
    def share(first: tuple[str, ...], second: tuple[str, ...], form: Any) -> bool:
        return bool(set(map(form, first)) & set(map(form, second)) - {""})

    a, b = one.signals, other.signals
    return (
        share(a.gotchas, b.gotchas, topic_of)
        or share(a.next_step_hints, b.next_step_hints, lambda hint: topic_of(unmarked(hint)))
        or (share(a.key_paths, b.key_paths, normal_text) and share(a.decisions, b.decisions, normal_text))
    )


def test_ten_times_the_events_are_about_ten_times_the_work() -> None:
    def work(count: int) -> int:
        events = [
            event(
                number + 1,
                created_at="2026-01-01T00:00:00.000Z",
                gotchas=[f"Trap {number // 3}: x"],
                decisions=[f"Decision {number % 50}"],
                key_paths=[f"src/{number % 40}.py", "README.md"],
            )
            for number in range(count)
        ]
        return calls_made(lambda: group_events(events))

    work(200)
    assert work(2_000) < 15 * work(200)
