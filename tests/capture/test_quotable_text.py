"""Quoting: never longer than asked for, and cut where a sentence or a word ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.capture.quotable_text import quote

PIECES = ("a", "word", " ", ". ", "! ", "? ", ".", "。", "！", "？", "字", "\n", "…", '"', ")", "long" * 9)


@pytest.mark.parametrize(
    ("text", "chars", "expected"),
    [
        ("金額は整数です。次は", 8, "金額は整数です。"),
        ("金額は整数です。次は", 7, "金額は整数で…"),
        ("一二三四五六七。八", 7, "一二三四五六…"),
        ("One two. Three", 8, "One two."),
        ("One two. Three", 7, "One…"),
        ("One two. Three four", 12, "One two."),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("", 0, ""),
    ],
)
def test_a_quotation_fits_exactly(text: str, chars: int, expected: str) -> None:
    assert quote(text, chars) == expected


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=200), st.integers(0, 80))
def test_a_quotation_is_never_longer_than_asked_for(text: str, chars: int) -> None:
    found = quote(text, chars)
    line = " ".join(text.split())
    assert len(found) <= chars
    assert line.startswith(found.removesuffix("…"))
    if len(line) <= chars:
        assert found == line
