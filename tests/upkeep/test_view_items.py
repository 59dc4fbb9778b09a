"""A record as a line of a list: its title, and the first words of its text without marks."""

from __future__ import annotations

import pytest

from quire.model.records import Record
from quire.model.text import headline
from quire.upkeep.views.items import item_of


def record(title: str, text: str) -> Record:
    return Record(ref="project.one", layer="graph", kind="project", title=title, text=text, status="active", path="a")


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("# One\n\nOne has no description yet.", "One has no description yet."),
        ("# Another\n\nText.", "Another Text."),
        ("# One", "One"),
        ("One\n\nText.", "One Text."),
        ("It costs:\n\n| step | when |\n| --- | --- |\n| charge | at once |\n\nThat is all.", "It costs: That is all."),
        ("- **Bold** [link](a.md), `__init__.py`", "Bold link, `__init__.py`"),
    ],
)
def test_an_excerpt_does_not_say_the_title_again(text: str, excerpt: str) -> None:
    assert item_of(record("One", text)).excerpt == excerpt


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Retries run in the worker.", "Retries run in the worker."),
        (
            "Architecture › Key Patterns:\n- **Config is a Service**: accessed via `config.Service`, not a global",
            "Architecture › Key Patterns: Config is a Service: accessed via…",
        ),
        (
            "Rules:\n* [Guide](docs/guide.md) for " + "long " * 20,
            "Rules: Guide for" + " long" * 9 + "…",
        ),
        ("x" * 100, "x" * 63 + "…"),
        ("日本語" * 40, ("日本語" * 40)[:63] + "…"),
    ],
)
def test_a_headline_has_no_marks_and_ends_behind_a_word(text: str, title: str) -> None:
    assert headline(text, 64) == title
