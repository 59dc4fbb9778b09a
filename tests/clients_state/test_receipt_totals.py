"""Receipts summed up: by day, client and event, what was told most often, and the newest one by one."""

from __future__ import annotations

import msgspec
import pytest

from quire.clients.receipt_totals import DaySum, ReceiptTotal, ToldRecord, sum_receipts
from quire.clients.receipts import Receipt, ReceiptItem


def receipt(at: str, *items: tuple[str, str, int], client: str = "claude", event: str = "prompt") -> Receipt:
    told = tuple(ReceiptItem(ref=ref, outcome=outcome, tokens=tokens) for ref, outcome, tokens in items)
    tokens = sum(item.tokens for item in told if item.outcome == "included")
    return Receipt(at=at, client=client, event=event, items=told, tokens=tokens, budget=500, considered=9)


def title(ref: str) -> str:
    return {"feature.queue": "Retry  queue"}.get(ref, "")


def test_nothing_was_told() -> None:
    found = sum_receipts([], 50, title)
    assert (found.answers, found.tokens, found.days, found.by_client) == (0, 0, (), {})
    assert (found.by_event, found.most_told, found.recent) == ({}, (), ())


def test_everything_is_summed() -> None:
    found = sum_receipts(
        [
            receipt("2026-03-01T23:30:00-02:00", ("feature.queue", "included", 40), ("gotcha.a", "trimmed", 10)),
            receipt("2026-03-01T10:00:00Z", ("feature.queue", "included", 2), client="codex", event="edit"),
            receipt("2026-03-02T10:00:00Z", ("gotcha.a", "included", 7), ("gotcha.b", "withheld", 0)),
        ],
        50,
        title,
    )
    assert (found.answers, found.tokens) == (3, 49)
    assert found.days == (
        DaySum(day="2026-03-01", answers=1, tokens=2, included=1),
        DaySum(day="2026-03-02", answers=2, tokens=47, included=2, trimmed=1, withheld=1),
    )
    assert found.by_client == {"claude": ReceiptTotal(2, 47), "codex": ReceiptTotal(1, 2)}
    assert list(found.by_event.items()) == [("prompt", ReceiptTotal(2, 47)), ("edit", ReceiptTotal(1, 2))]
    assert found.most_told == (
        ToldRecord(ref="feature.queue", title="Retry queue", times=2, tokens=42),
        ToldRecord(ref="gotcha.a", title="", times=1, tokens=7),
    )
    assert [(one.at, one.included, one.trimmed, one.withheld, one.budget) for one in found.recent] == [
        ("2026-03-02T10:00:00Z", 1, 0, 1, 500),
        ("2026-03-01T10:00:00Z", 1, 0, 0, 500),
        ("2026-03-01T23:30:00-02:00", 1, 1, 0, 500),
    ]


def test_the_newest_are_shown_and_twenty_of_the_most_told() -> None:
    many = [receipt("2026-03-01T10:00:00Z", *((f"feature.n{n:02}", "included", n) for n in range(30)))] * 3
    last = receipt("2026-03-01T11:00:00Z", ("feature.n03", "included", 1))
    found = sum_receipts([*many, last], 2, title)
    assert [one.at for one in found.recent] == ["2026-03-01T11:00:00Z", "2026-03-01T10:00:00Z"]
    assert found.answers == 4
    assert len(found.most_told) == 20
    assert [one.ref for one in found.most_told][:2] == ["feature.n03", "feature.n29"]


@pytest.mark.parametrize("at", ["", "never"])
def test_a_receipt_that_does_not_say_when_counts_and_has_no_day(at: str) -> None:
    found = sum_receipts([receipt(at)], 50, title)
    assert (found.answers, found.days, found.recent[0].at) == (1, (), at)


def test_numbers_and_texts_of_an_edited_file_stay_within_bounds() -> None:
    wild = Receipt(
        at="2026-03-01T10:00:00Z",
        client="c" * 5_000,
        event="a\nb",
        tokens=2**63 - 1,
        budget=-5,
        items=(ReceiptItem(ref="x", outcome="included", tokens=-3), ReceiptItem(ref="y", outcome="odd")),
    )
    found = sum_receipts([wild] * 3, 50, title)
    assert found.tokens == 3 * 10**9
    assert (found.recent[0].budget, found.recent[0].event, len(found.recent[0].client)) == (0, "a b", 300)
    assert found.most_told == (ToldRecord(ref="x", title="", times=3, tokens=0),)
    assert msgspec.json.decode(msgspec.json.encode(found))["answers"] == 3


def test_names_and_days_are_bounded() -> None:
    many = [receipt(f"{1000 + n}-01-01T10:00:00Z", client=f"c{n:04}") for n in range(1_200)]
    found = sum_receipts(many, 50, title)
    assert (len(found.by_client), len(found.days), len(found.recent)) == (50, 1_000, 50)
    assert found.days[-1].day == "2199-01-01"
