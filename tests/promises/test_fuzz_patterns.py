"""No text makes a pattern slow: a worst case stays near ordinary text of its length, and grows as its length does."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from fuzz_engine import beat
from fuzz_worst import FAMILIES, KEPT, PUMPS, allowed, harmless_text, pumped, took

from promised import proves, tally
from thorough import LONG, either

pytestmark = proves("P5.3")

SIZE = 65_536
DEAR = ("said by a user", "said by an agent", "question", "host items", "rejection", "prose")
"""What takes long for every text: of these, a few are enough in every run."""


def complaint(use: Callable[[str], object], pump: str, harmless: float, size: int = SIZE) -> str:
    """What is wrong with a worst case; empty where nothing is.

    Four times the text takes about four times as long; where it takes sixteen times as long, it is the square of it.
    """
    said = pumped(pump, size)
    long = took(use, said)
    most = allowed(harmless, size)
    if long < 25 * beat() and long < most:
        return ""
    short = took(use, pumped(pump, size // 4), tries=2)
    if long > most or long > 9 * short:
        long = min(long, took(use, said, tries=3))  # a busy machine is not a slow pattern
    if long > most:
        return f"{pump!r}: {long / beat():.0f} beats, ordinary text {harmless / beat():.0f}"
    return f"{pump!r}: {short / beat():.1f} → {long / beat():.1f} beats" if long > 12 * short else ""


@pytest.mark.proof
@proves("P5.3", "D7")
@pytest.mark.parametrize("family", FAMILIES)
def test_worst_cases_are_bounded_and_grow_as_their_length_does(family: str) -> None:
    use = FAMILIES[family]
    harmless = took(use, harmless_text(SIZE), tries=either(1, 2))
    pumps = PUMPS if LONG else KEPT[:3] if family in DEAR else KEPT
    assert not [said for pump in pumps if (said := complaint(use, pump, harmless))]
    tally("P5.3", inputs=len(pumps))


@pytest.mark.proof
def test_a_pattern_that_takes_the_square_is_seen() -> None:
    """The measure itself: a pattern that goes over a run from each of its places."""
    bad = re.compile(r"\s*;").search
    assert "→" in complaint(bad, " ", harmless=1.0, size=8_192)
    assert "ordinary" in complaint(bad, " ", harmless=0.0, size=8_192)
    assert complaint(re.compile(r"(?<!\s)\s*;").search, " ", harmless=0.0, size=8_192) == ""


def test_the_lists_name_what_there_is() -> None:
    assert set(KEPT) <= set(PUMPS)
