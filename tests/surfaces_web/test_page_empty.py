"""A memory in which there is nothing yet: every screen says what would be there, and what puts it there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from page_checks import accessibility_faults, contrast_faults, sideways
from page_looking import Look, Looking
from web_serving import PageDoor, harbor, opened

from thorough import some

HELP = {
    "today": ("No records yet.", "memory init --brief"),
    "map": ("Nothing is on the map yet.", "memory add"),
    "records": ("1 record", ""),
    "inbox": ("No pending proposals.", "memory inbox collect"),
    "graph": ("", ""),
    "search": ("", ""),
    "timeline": ("everything", "created"),
    "health": ("Anchors", "memory"),
}


@pytest.fixture(scope="module")
def page_server(place: Path) -> Iterator[PageDoor]:
    """The page of a memory that was made a moment ago."""
    with opened(harbor(place), "--write") as door:
        yield door


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("screen", some(list(HELP), 6))
def test_an_empty_screen_says_what_to_do(looking: Looking, screen: str) -> None:
    page = looking.open(screen)
    shown = page.locator("main").inner_text()
    for words in HELP[screen]:
        assert words.lower() in shown.lower(), shown
    assert accessibility_faults(page) == []
    assert contrast_faults(page) == []


@pytest.mark.proof
def test_no_empty_screen_is_wider_than_a_phone(look: Look) -> None:
    looking = look(width=360, height=740, is_mobile=True, has_touch=True, color_scheme="dark")
    for screen in HELP:
        page = looking.open(screen)
        assert sideways(page) == [], screen
        assert contrast_faults(page) == [], screen


def test_a_question_that_nothing_answers(looking: Looking) -> None:
    page = looking.open("search", q="where do retries run?")
    assert "nothing" in page.locator("main").inner_text().lower()
    assert accessibility_faults(page) == []
