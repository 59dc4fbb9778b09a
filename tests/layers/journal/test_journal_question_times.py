"""Since when: dates, weekdays and spans in the words of a question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.layers.journal.question import since_when

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday


@each(
    ("question", "moment", "rest"),
    [
        ("what changed since Monday?", "2026-03-02T00:00:00+00:00", "what changed ?"),
        ("since Wednesday", "2026-02-25T00:00:00+00:00", ""),
        ("what changed since yesterday in auth", "2026-03-03T00:00:00+00:00", "what changed since in auth"),
        ("today", "2026-03-04T00:00:00+00:00", ""),
        ("changes in the last 3 days", "2026-03-01T12:00:00+00:00", "changes in the"),
        ("2 hours ago", "2026-03-04T10:00:00+00:00", ""),
        ("last week", "2026-02-25T00:00:00+00:00", ""),
        ("since 2026-02-01", "2026-02-01T00:00:00+00:00", "since"),
        ("since 2026-02-01T10:30:00Z", "2026-02-01T10:30:00+00:00", "since"),
        ("seit gestern", "2026-03-03T00:00:00+00:00", "seit"),
        ("seit 3 Tagen", "2026-03-01T12:00:00+00:00", ""),
        ("depuis hier", "2026-03-03T00:00:00+00:00", "depuis"),
        ("depuis lundi", "2026-03-02T00:00:00+00:00", ""),
        ("desde hace 2 semanas", "2026-02-18T12:00:00+00:00", "desde"),
        ("desde segunda-feira", "2026-03-02T00:00:00+00:00", ""),
        ("最近3天", "2026-03-01T12:00:00+00:00", ""),
        ("昨日からの変更", "2026-03-03T00:00:00+00:00", "からの変更"),
    ],
)
def test_a_moment_is_found_and_taken_out(question: str, moment: str, rest: str) -> None:
    found = since_when(question, NOW)
    assert found.moment is not None
    assert found.moment.isoformat() == moment
    assert " ".join(found.rest.split()) == rest


@pytest.mark.parametrize(
    "question",
    ["what changed", "the 30 day retention", "Was ist hier neu?", "since 2026-13-45", "version 2026-02-01-rc1"],
)
def test_what_names_no_moment_is_left_alone(question: str) -> None:
    assert since_when(question, NOW).moment is None
    assert since_when(question, NOW).rest == question


def test_a_day_begins_where_the_asker_is() -> None:
    now = datetime(2026, 3, 4, 1, tzinfo=timezone(timedelta(hours=9)))
    assert str(since_when("since yesterday", now).moment) == "2026-03-03 00:00:00+09:00"
    assert str(since_when("since 2026-03-01", now).moment) == "2026-03-01 00:00:00+09:00"


@given(st.text(alphabet="0123456789 -:TZ+天日lastdays", max_size=60))
def test_no_text_is_too_odd(text: str) -> None:
    found = since_when(text, NOW)
    assert found.moment is None or found.moment.tzinfo is not None
