"""Verdicts that views share: each is asked for once, unless the record became another one."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec
import pytest

from quire.model.records import Record
from quire.model.verdicts import Verdict
from quire.upkeep.views.shared_verdicts import KnownVerdicts


def record(number: int) -> Record:
    return Record(
        ref=f"gotcha.n{number}",
        layer="graph",
        kind="gotcha",
        title=f"N {number}",
        text="",
        status="active",
        path=f"memory/n{number}.json",
        anchors=(f"src/n{number}.py",),
    )


class Asked:
    """Somebody who is asked for verdicts, and remembers for which."""

    def __init__(self) -> None:
        self.refs: list[str] = []

    def __call__(self, records: Sequence[Record]) -> dict[str, Verdict]:
        self.refs += [record.ref for record in records]
        return {record.ref: Verdict(verdict="fresh", because=record.ref) for record in records}


def test_what_is_known_is_not_asked_for_again() -> None:
    known, asked = KnownVerdicts(), Asked()
    verify = known.sharing(asked)
    first = verify([record(1), record(2)])
    again = verify([record(2), record(3)])
    assert asked.refs == ["gotcha.n1", "gotcha.n2", "gotcha.n3"]
    assert known.asked == 3
    assert list(first) == ["gotcha.n1", "gotcha.n2"]
    assert {ref: verdict.because for ref, verdict in again.items()} == {ref: ref for ref in ("gotcha.n2", "gotcha.n3")}


def test_a_record_that_became_another_is_asked_for_again() -> None:
    known, asked = KnownVerdicts(), Asked()
    known.sharing(asked)([record(1)])
    for other in (
        {"anchors": ("src/other.py",)},
        {"seen": ("src/n1.py 00",)},
        {"commit": "0" * 40},
        {"path": "x.json"},
    ):
        asked.refs.clear()
        known.sharing(asked)([msgspec.structs.replace(record(1), **other)])
        assert asked.refs == ["gotcha.n1"]
        known.sharing(asked)([record(1)])
    asked.refs.clear()
    known.sharing(asked)([msgspec.structs.replace(record(1), title="Another title")])
    assert asked.refs == []


def test_what_has_no_verdict_gets_none() -> None:
    verify = KnownVerdicts().sharing(lambda records: {})
    assert verify([record(1)]) == {}
    assert verify([]) == {}


def test_a_verdict_of_what_a_record_was_is_not_given_to_what_it_became() -> None:
    known, asked = KnownVerdicts(), Asked()
    known.sharing(asked)([record(1)])
    other = msgspec.structs.replace(record(1), anchors=())
    assert known.sharing(lambda records: {})([other]) == {}


def test_many_are_worked_out_once_by_all_who_ask_at_once() -> None:
    known, asked = KnownVerdicts(), Asked()
    records = [record(number) for number in range(1_000)]
    begun, go_on = threading.Event(), threading.Event()

    def slow(some: Sequence[Record]) -> dict[str, Verdict]:
        begun.set()
        go_on.wait(60)
        return asked(some)

    found: list[dict[str, Verdict]] = []
    threads = [threading.Thread(target=lambda: found.append(known.sharing(slow)(records))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    # One record does not wait for a thousand.
    assert list(known.sharing(asked)([record(7)])) == ["gotcha.n7"]
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert [len(verdicts) for verdicts in found] == [1_000] * 4
    assert len(asked.refs) == 1_001


def test_an_error_is_for_who_asked_and_nothing_is_kept_of_it() -> None:
    known, asked = KnownVerdicts(), Asked()

    def broken(records: Sequence[Record]) -> dict[str, Verdict]:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        known.sharing(broken)([record(1)])
    assert known.asked == 0
    assert list(known.sharing(asked)([record(1)])) == ["gotcha.n1"]
