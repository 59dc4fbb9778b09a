"""Sum receipts by day, client, event and record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from quire.clients.receipts import Receipt
from quire.model.text import cut, one_line
from quire.model.times import instant, timestamp

_DAYS = 1_000
_NAMES = 50
_MOST_TOLD = 20
_TEXT_CHARS = 300
_NUMBER_MOST = 10**9
"""No true receipt comes near it; the file can be edited by anybody, and sums must stay numbers."""


class ReceiptTotal(msgspec.Struct, frozen=True):
    """How often, and how much."""

    answers: int = 0
    tokens: int = 0


class DaySum(msgspec.Struct, frozen=True, kw_only=True):
    """A day, in UTC; the last three count records."""

    day: str
    answers: int = 0
    tokens: int = 0
    included: int = 0
    trimmed: int = 0
    withheld: int = 0


class ToldRecord(msgspec.Struct, frozen=True, kw_only=True):
    ref: str
    title: str
    """Empty where there is no such record any more."""
    times: int
    tokens: int


class RecentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One receipt, with numbers in the place of its records."""

    at: str
    client: str
    event: str
    session: str
    considered: int
    included: int
    trimmed: int
    withheld: int
    tokens: int
    budget: int
    milliseconds: int
    note: str


class ReceiptHealth(msgspec.Struct, frozen=True, kw_only=True):
    answers: int
    tokens: int
    days: tuple[DaySum, ...]
    """The oldest first; days without an answer are left out, and so is what does not say when it was."""
    by_client: dict[str, ReceiptTotal]
    by_event: dict[str, ReceiptTotal]
    most_told: tuple[ToldRecord, ...]
    recent: tuple[RecentAnswer, ...]
    """The newest first."""


def sum_receipts(receipts: Sequence[Receipt], limit: int, title_of: Callable[[str], str]) -> ReceiptHealth:
    """Everything that these receipts, the oldest first, say together; the newest of them one by one."""
    answers = [_answer(receipt) for receipt in receipts]
    return ReceiptHealth(
        answers=len(answers),
        tokens=sum(answer.tokens for answer in answers),
        days=_days(answers),
        by_client=_by_name((answer.client, answer.tokens) for answer in answers),
        by_event=_by_name((answer.event, answer.tokens) for answer in answers),
        most_told=_most_told(receipts, title_of),
        recent=tuple(answers[: -limit - 1 : -1]),
    )


def _answer(receipt: Receipt) -> RecentAnswer:
    outcomes = [item.outcome for item in receipt.items]
    return RecentAnswer(
        at=_text(receipt.at),
        client=_text(receipt.client),
        event=_text(receipt.event),
        session=_text(receipt.session),
        considered=_number(receipt.considered),
        included=outcomes.count("included"),
        trimmed=outcomes.count("trimmed"),
        withheld=outcomes.count("withheld"),
        tokens=_number(receipt.tokens),
        budget=_number(receipt.budget),
        milliseconds=_number(receipt.milliseconds),
        note=_text(receipt.note),
    )


def _days(answers: Iterable[RecentAnswer]) -> tuple[DaySum, ...]:
    by_day: dict[str, list[RecentAnswer]] = {}
    for answer in answers:
        day = _day(answer.at)
        if day:
            by_day.setdefault(day, []).append(answer)
    return tuple(
        DaySum(
            day=day,
            answers=len(by_day[day]),
            tokens=sum(answer.tokens for answer in by_day[day]),
            included=sum(answer.included for answer in by_day[day]),
            trimmed=sum(answer.trimmed for answer in by_day[day]),
            withheld=sum(answer.withheld for answer in by_day[day]),
        )
        for day in sorted(by_day)[-_DAYS:]
    )


def _day(at: str) -> str:
    moment = instant(at)
    return timestamp(moment)[:10] if moment is not None else ""


def _by_name(told: Iterable[tuple[str, int]]) -> dict[str, ReceiptTotal]:
    """How much was told under each name, the most often used first."""
    sums = _sums(told)
    names = sorted(sums, key=lambda name: (-sums[name].answers, name))
    return {name: sums[name] for name in names[:_NAMES]}


def _sums(told: Iterable[tuple[str, int]]) -> dict[str, ReceiptTotal]:
    sums: dict[str, ReceiptTotal] = {}
    for name, tokens in told:
        before = sums.get(name, ReceiptTotal())
        sums[name] = ReceiptTotal(before.answers + 1, before.tokens + tokens)
    return sums


def _most_told(receipts: Iterable[Receipt], title_of: Callable[[str], str]) -> tuple[ToldRecord, ...]:
    items = (item for receipt in receipts for item in receipt.items if item.outcome == "included")
    sums = _sums((item.ref, _number(item.tokens)) for item in items)
    refs = sorted(sums, key=lambda ref: (-sums[ref].answers, -sums[ref].tokens, ref))[:_MOST_TOLD]
    return tuple(
        ToldRecord(ref=_text(ref), title=_text(title_of(ref)), times=sums[ref].answers, tokens=sums[ref].tokens)
        for ref in refs
    )


def _number(number: int) -> int:
    return min(max(number, 0), _NUMBER_MOST)


def _text(text: str) -> str:
    return cut(one_line(text), _TEXT_CHARS)
