"""How signals are worded: which beginnings keep their case."""

from __future__ import annotations

import pytest

from quire.capture.signals.wording import tidy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go with moved blocks", "Go with moved blocks"),
        ("go build ./... fails", "go build ./... fails"),
        ("make the handler idempotent", "Make the handler idempotent"),
        ("make test fails on Fridays", "make test fails on Fridays"),
        ("make -j8 is too much", "make -j8 is too much"),
        ("npm falls back to a compiler", "npm falls back to a compiler"),
        ("iOS needs a key", "iOS needs a key"),
        ("sync() kills the card", "sync() kills the card"),
        ("don't touch the lock file please", "Don't touch the lock file"),
    ],
)
def test_a_sentence_begins_with_a_capital_letter_unless_it_begins_with_a_name(text: str, expected: str) -> None:
    assert tidy(text) == expected
