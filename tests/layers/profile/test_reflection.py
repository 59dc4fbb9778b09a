"""What a reflection proposes, that no two proposals contradict each other, and that following them is the end of it."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.layers.profile.entries import Entry, read_entry, time_text
from quire.layers.profile.layout import ACTIVE, CATEGORIES, SOURCES, STATUSES
from quire.layers.profile.reflection import (
    Archival,
    ConfidenceUpdate,
    Reflection,
    ReflectionSummary,
    UnreadEntry,
    reflect,
)
from thorough import examples

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
LATER = datetime(2026, 11, 15, 1, 6, 9, tzinfo=UTC)
"""When all documents were written long ago."""
DOCUMENTS = Path(__file__).parents[4] / "shared" / "fixtures" / "profile" / "docs"
needs_documents = pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the real documents lie outside the repository")


def ago(days: float) -> str:
    return time_text(NOW - timedelta(days=days))


def entry(key: str = "k", *, category: str = "learnings", days: float | None = 30, **more: Any) -> Entry:
    """An entry that was written so many days ago; by default one that nobody ever read."""
    times = {} if days is None else {"created_at": ago(days), "updated_at": ago(days)}
    return Entry(**{"category": category, "key": key, "value": "v", **times, **more})


def proposals(found: Reflection) -> tuple[list[str], list[str], dict[str, float]]:
    """The keys that are stale, those to be put away, and the confidence proposed for others."""
    return (
        [item.key for item in found.stale_entries],
        [item.key for item in found.archival_candidates],
        {item.key: item.proposed_confidence for item in found.confidence_updates},
    )


def proposed(one: Entry) -> tuple[list[str], list[str], dict[str, float]]:
    return proposals(reflect([one], NOW))


NOTHING: tuple[list[str], list[str], dict[str, float]] = ([], [], {})


# -- one rule after the other ---------------------------------------------------------------


def test_no_entries_are_no_proposals() -> None:
    assert reflect([], NOW) == Reflection(
        stale_entries=(),
        archival_candidates=(),
        confidence_updates=(),
        summary=ReflectionSummary(
            total_entries=0,
            active=0,
            archived=0,
            superseded=0,
            stale_count=0,
            archival_candidate_count=0,
            confidence_update_count=0,
        ),
    )


def test_every_proposal_says_what_it_is_about_and_why() -> None:
    entries = [
        entry("unread", category="tools", days=10.26, created_at="2026-01-01T00:00:00Z"),
        entry("small", category="project", days=8, importance=2),
        entry("stated", confidence=0.5, source_type="user-stated", access_count=1),
        entry("often", category="assistant", confidence=0.4, access_count=5),
        entry("never", category="relationships", confidence=0.62),
        entry("gone", status="archived", importance=1),
        entry("old", status="superseded", importance=1),
        entry("odd", status="parked", importance=1),
    ]
    assert reflect(entries, NOW) == Reflection(
        stale_entries=(
            UnreadEntry(
                category="tools",
                key="unread",
                created_at="2026-01-01T00:00:00Z",
                days_old=10.3,
                reason="never accessed, last written 10.3 days ago",
            ),
            UnreadEntry(
                category="relationships",
                key="never",
                created_at=ago(30),
                days_old=30.0,
                reason="never accessed, last written 30.0 days ago",
            ),
        ),
        archival_candidates=(
            Archival(
                category="project",
                key="small",
                importance=2,
                reason="importance 2, never accessed, last written 8.0 days ago",
            ),
        ),
        confidence_updates=(
            ConfidenceUpdate(
                category="learnings",
                key="stated",
                current_confidence=0.5,
                proposed_confidence=0.9,
                reason="user-stated fact",
            ),
            ConfidenceUpdate(
                category="assistant",
                key="often",
                current_confidence=0.4,
                proposed_confidence=0.8,
                reason="frequently accessed",
            ),
            ConfidenceUpdate(
                category="relationships",
                key="never",
                current_confidence=0.62,
                proposed_confidence=0.47,
                reason="never accessed",
            ),
        ),
        summary=ReflectionSummary(
            total_entries=8,
            active=5,
            archived=1,
            superseded=1,
            stale_count=2,
            archival_candidate_count=1,
            confidence_update_count=3,
        ),
    )


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (entry(days=7), (["k"], [], {})),
        (entry(days=7 - 1 / 86_400), NOTHING),
        (entry(days=400, access_count=1), NOTHING),
        (entry(days=7, importance=3), ([], ["k"], {})),
        (entry(days=7, importance=4), (["k"], [], {})),
        (entry(days=6.99, importance=1), NOTHING),
        (entry(days=400, importance=1, access_count=1), NOTHING),
    ],
)
def test_what_nobody_reads_is_stale_or_put_away_after_a_week(one: Entry, expected: Any) -> None:
    assert proposed(one) == expected


@pytest.mark.parametrize(
    ("current", "expected"),
    [(None, None), (0.0, None), (0.3, None), (0.31, 0.3), (0.44, 0.3), (0.45, 0.3), (0.46, 0.31), (0.7, 0.55)],
)
def test_the_confidence_of_what_nobody_reads_falls_to_a_floor(current: float | None, expected: float | None) -> None:
    updates = {} if expected is None else {"k": expected}
    assert proposed(entry(confidence=current)) == (["k"], [], updates)
    assert proposed(entry(confidence=current, days=6)) == NOTHING
    assert proposed(entry(confidence=current, access_count=1)) == NOTHING


@pytest.mark.parametrize(
    ("current", "accesses", "expected"),
    [(0.1, 4, None), (0.1, 5, 0.8), (0.79, 500, 0.8), (0.8, 5, None), (1.0, 5, None), (None, 5, None)],
)
def test_the_confidence_of_what_is_read_often_rises(
    current: float | None, accesses: int, expected: float | None
) -> None:
    for days in (None, 0, 30):
        found = proposed(entry(confidence=current, access_count=accesses, days=days))
        assert found == ([], [], {} if expected is None else {"k": expected})


@pytest.mark.parametrize(("current", "expected"), [(0.0, 0.9), (0.89, 0.9), (0.9, None), (1.0, None), (None, None)])
def test_the_confidence_of_what_the_user_stated_rises(current: float | None, expected: float | None) -> None:
    for accesses, days in itertools.product((0, 1), (None, 0, 6)):
        found = proposed(entry(confidence=current, source_type="user-stated", access_count=accesses, days=days))
        assert found == ([], [], {} if expected is None else {"k": expected})


@pytest.mark.parametrize("source", ["session", "inferred", "codebase", "User-Stated", "hearsay"])
def test_what_comes_from_elsewhere_is_not_taken_for_the_users_word(source: str) -> None:
    assert proposed(entry(confidence=0.5, source_type=source, days=0)) == NOTHING


@pytest.mark.parametrize("status", ["archived", "superseded", "parked", "Active", ""])
def test_only_active_entries_get_proposals(status: str) -> None:
    for more in ({"importance": 1}, {"confidence": 0.1, "access_count": 9}, {"source_type": "user-stated"}):
        assert proposed(entry(status=status, **{"confidence": 0.5, **more})) == NOTHING


def test_the_confidence_of_what_the_user_is_is_left_alone() -> None:
    for accesses, source in itertools.product((0, 9), SOURCES):
        one = entry(category="user", confidence=0.5, access_count=accesses, source_type=source)
        assert proposed(one) == ([] if accesses else ["k"], [], {})


def test_the_name_of_the_assistant_is_never_put_away() -> None:
    assert proposed(entry("name", category="assistant", importance=1)) == (["name"], [], {})
    assert proposed(entry("name", category="user", importance=1)) == ([], ["name"], {})
    assert proposed(entry("names", category="assistant", importance=1)) == ([], ["names"], {})


# -- the age --------------------------------------------------------------------------------


def test_the_age_counts_from_the_last_writing_not_from_the_first() -> None:
    assert proposed(entry(days=400, updated_at=ago(1))) == NOTHING
    assert proposed(entry(days=400, updated_at=ago(1), importance=1, confidence=0.9)) == NOTHING
    [stale] = reflect([entry(days=400, updated_at=ago(8))], NOW).stale_entries
    assert (stale.days_old, stale.created_at) == (8.0, ago(400))


@pytest.mark.parametrize("time", ["", "yesterday", "2026-13-45T00:00:00Z", "9999-12-31T23:59:59Z", ago(-0.001)])
def test_an_age_that_is_unknown_or_lies_ahead_proposes_nothing(time: str) -> None:
    for more in ({}, {"importance": 1}, {"confidence": 0.7}):
        assert proposed(entry(days=None, created_at=time, updated_at=time, **more)) == NOTHING


def test_an_unknown_age_does_not_keep_what_needs_none() -> None:
    assert proposed(entry(days=None, confidence=0.5, source_type="user-stated")) == ([], [], {"k": 0.9})
    assert proposed(entry(days=None, confidence=0.5, access_count=7)) == ([], [], {"k": 0.8})


def test_a_last_writing_that_is_no_time_counts_from_the_first() -> None:
    assert proposed(entry(days=9, updated_at="soon")) == (["k"], [], {})


@pytest.mark.parametrize(
    ("time", "is_stale"),
    [
        ("2026-02-23T11:19:00", True),
        ("2026-02-23T11:19:00.000000Z", True),
        ("2026-02-23T11:19:00.000001Z", False),
        ("2026-02-23T13:19:00+02:00", True),
        ("2026-02-23T11:19:00-00:30", False),
        ("0001-01-01T00:00:00+23:59", True),
    ],
)
def test_times_of_other_writers_count_to_the_moment(time: str, is_stale: bool) -> None:
    assert proposed(entry(days=None, updated_at=time)) == (["k"] if is_stale else [], [], {})


def test_the_moment_may_be_told_in_any_zone() -> None:
    there = NOW.astimezone(tz=datetime.fromisoformat("2026-01-01T00:00:00+09:00").tzinfo)
    entries = [entry(str(days), days=days) for days in (6.9, 7, 7.1)]
    assert reflect(entries, there) == reflect(entries, NOW)


# -- every pair of rules --------------------------------------------------------------------


def test_of_two_reasons_to_rise_the_higher_counts() -> None:
    one = entry(confidence=0.5, source_type="user-stated", access_count=5)
    [update] = reflect([one], NOW).confidence_updates
    assert (update.proposed_confidence, update.reason) == (0.9, "user-stated fact")


def test_what_the_user_stated_rises_and_is_not_stale() -> None:
    assert proposed(entry(confidence=0.5, source_type="user-stated")) == ([], [], {"k": 0.9})


@pytest.mark.parametrize("current", [0.9, 0.95, 1.0])
def test_what_the_user_stated_does_not_fall_only_to_rise_again(current: float) -> None:
    assert proposed(entry(confidence=current, source_type="user-stated")) == (["k"], [], {})


def test_what_may_go_gets_no_confidence() -> None:
    for current, source in itertools.product((0.2, 0.5, 0.95), SOURCES):
        assert proposed(entry(importance=3, confidence=current, source_type=source)) == ([], ["k"], {})


def test_what_matters_little_and_is_read_often_rises_and_stays() -> None:
    assert proposed(entry(importance=1, confidence=0.5, access_count=5)) == ([], [], {"k": 0.8})


def test_what_falls_is_stale_too() -> None:
    assert proposed(entry(confidence=0.5)) == (["k"], [], {"k": 0.35})


# -- for all of them ------------------------------------------------------------------------


def consistent(entries: list[Entry], found: Reflection) -> None:
    stale, archival = ({(item.category, item.key) for item in items} for items in proposal_lists(found)[:2])
    updates = {(item.category, item.key): item for item in found.confidence_updates}
    assert len(updates) == len(found.confidence_updates)
    assert len(stale) == len(found.stale_entries)
    assert len(archival) == len(found.archival_candidates)
    assert not archival & updates.keys()
    assert not archival & stale
    active = {(one.category, one.key) for one in entries if one.status == ACTIVE}
    assert stale | archival | updates.keys() <= active
    for name, update in updates.items():
        assert name[0] != "user"
        assert 0.0 <= update.proposed_confidence <= 1.0
        assert update.proposed_confidence != update.current_confidence
        assert not (name in stale and update.proposed_confidence > update.current_confidence)
    assert msgspec.structs.astuple(found.summary) == (
        len(entries),
        *(sum(one.status == status for one in entries) for status in STATUSES),
        len(stale),
        len(archival),
        len(updates),
    )


def proposal_lists(found: Reflection) -> tuple[tuple[Any, ...], ...]:
    return (found.stale_entries, found.archival_candidates, found.confidence_updates)


def followed(entries: list[Entry], found: Reflection, now: datetime, *, keep: bool = True) -> list[Entry]:
    """The entries after every proposal was followed at this moment.

    An entry that is stale is looked at: it is kept, and with that written anew, or nobody looks at it yet.
    """
    changes: dict[tuple[str, str], dict[str, Any]] = {}
    for item in found.stale_entries if keep else ():
        changes[item.category, item.key] = {}
    for item in found.archival_candidates:
        changes[item.category, item.key] = {"status": "archived"}
    for item in found.confidence_updates:
        changes[item.category, item.key] = {"confidence": item.proposed_confidence}
    return [
        msgspec.structs.replace(one, updated_at=time_text(now), **changes[one.category, one.key])
        if (one.category, one.key) in changes
        else one
        for one in entries
    ]


def ends(entries: list[Entry], found: Reflection, now: datetime = NOW) -> None:
    """Whoever follows the proposals is not told the opposite, or anything else, by the next reflection."""
    assert proposals(reflect(followed(entries, found, now), now)) == NOTHING
    again = reflect(followed(entries, found, now, keep=False), now)
    assert again.archival_candidates == again.confidence_updates == ()
    assert set(again.stale_entries) <= set(found.stale_entries)


def every_kind() -> list[Entry]:
    """One entry for each way in which the rules can meet."""
    return [
        entry(
            f"k{number}",
            category=category,
            importance=importance,
            access_count=accesses,
            days=days,
            confidence=confidence,
            source_type=source,
            status=status,
        )
        for number, (category, importance, accesses, days, confidence, source, status) in enumerate(
            itertools.product(
                ("user", "learnings"),
                (1, 3, 4, 10),
                (0, 1, 4, 5, 90),
                (None, -1, 0, 6.9, 7, 90),
                (None, 0.0, 0.3, 0.304, 0.31, 0.5, 0.79, 0.8, 0.85, 0.9, 0.95, 1.0),
                ("user-stated", "session"),
                STATUSES,
            )
        )
    ]


def test_no_two_rules_contradict_each_other() -> None:
    entries = every_kind()
    found = reflect(entries, NOW)
    consistent(entries, found)
    ends(entries, found)
    # Every list has its say: nothing above holds for want of proposals.
    assert all(len(items) > 100 for items in proposal_lists(found))
    assert {item.reason for item in found.confidence_updates} == {
        "user-stated fact",
        "frequently accessed",
        "never accessed",
    }


TIMES = st.sampled_from(["", "no time", "9999-12-31T00:00:00Z"]) | st.floats(-3, 40).map(ago)
ENTRIES = st.lists(
    st.builds(
        Entry,
        category=st.sampled_from([*CATEGORIES, "folklore"]),
        key=st.sampled_from(["name", *"abcdefgh"]),
        value=st.just("v"),
        created_at=TIMES,
        updated_at=TIMES,
        confidence=st.none() | st.floats(0, 1),
        importance=st.integers(1, 10),
        source_type=st.sampled_from(SOURCES),
        access_count=st.sampled_from([0, 0, 0, 1, 4, 5, 9]),
        status=st.sampled_from([*[ACTIVE] * 4, *STATUSES, "parked"]),
    ),
    max_size=20,
    unique_by=lambda one: one.name,
)


@settings(max_examples=examples(500))
@given(ENTRIES)
def test_the_proposals_for_any_entries_agree_with_each_other(entries: list[Entry]) -> None:
    consistent(entries, reflect(entries, NOW))


@settings(max_examples=examples(500))
@given(ENTRIES)
def test_following_every_proposal_leaves_nothing_to_propose(entries: list[Entry]) -> None:
    ends(entries, reflect(entries, NOW))


@given(ENTRIES, st.randoms(use_true_random=False))
def test_an_entry_is_judged_by_itself_and_in_its_place(entries: list[Entry], chance: Any) -> None:
    """The proposals are those for each entry alone, in the order in which the entries come."""
    mixed = chance.sample(entries, len(entries))
    alone = [proposal_lists(reflect([one], NOW)) for one in mixed]
    assert proposal_lists(reflect(mixed, NOW)) == tuple(
        tuple(itertools.chain.from_iterable(items)) for items in (zip(*alone, strict=True) if alone else ((), (), ()))
    )


# -- documents of the original program ------------------------------------------------------


def held(name: str) -> list[Entry]:
    document = json.loads((DOCUMENTS / name).read_bytes())
    memories = document["memories"].items()
    return [read_entry(category, key, fields) for category, entries in memories for key, fields in entries.items()]


@needs_documents
def test_the_example_has_one_entry_that_nobody_read() -> None:
    found = reflect(held("seed-example-1.2.json"), LATER)
    assert proposals(found) == (["clipboard"], [], {})
    [stale] = found.stale_entries
    assert (stale.category, stale.days_old) == ("tools", 278.5)


@needs_documents
@pytest.mark.parametrize("name", ["rich-1.2-260.json", "rich-1.0-260.json", "real-2.0-a85646b.json"])
def test_the_proposals_for_large_documents_agree_and_end(name: str) -> None:
    entries = held(name)
    found = reflect(entries, LATER)
    consistent(entries, found)
    ends(entries, found, LATER)
    assert found.summary.total_entries == len(entries) > 170
    assert found.summary.stale_count > 0
