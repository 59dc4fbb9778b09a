"""Which sentences of a user are standing rules about how to work."""

from __future__ import annotations

import pytest

from cases import each
from quire.capture.signals.speeches import Talk
from quire.capture.signals.standing_rules import standing_rules
from quire.capture.transcripts.types import Turn


def rules(text: str, role: str = "user") -> list[tuple[str, str]]:
    talk = Talk()
    talk.hear(Turn(role=role, text=text))
    return [(rule.category, rule.text) for rule in standing_rules(talk)]


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("always use uv, never pip", "tools"),
        ("never push to main", "learnings"),
        ("Please never commit directly to main, open a PR.", "learnings"),
        ("I prefer pnpm over npm", "tools"),
        ("ok, from now on run the tests before committing", "learnings"),
        ("I prefer short answers.", "user"),
        ("run ruff before every commit", "tools"),
        ("stop adding comments to the code", "learnings"),
        ("Going forward, answer in German.", "user"),
        ("ab jetzt bitte pnpm statt npm verwenden", "tools"),
    ],
)
def test_a_rule_about_the_work_is_one(said: str, category: str) -> None:
    assert [found for found, _ in rules(said)] == [category]


@each(
    "said",
    [
        "Always validate input at the boundary.",
        "The tests never pass on CI.",
        "I always get an error when I run npm install",
        "we never had this problem with yarn",
        "I prefer the second option",
        "Never store amounts as floats.",
        "Don't push yet",
        "Never mind the tests",
        "The docs say: always use npm ci.",
        "should we always use uv?",
        "always make sure the cache is warm before the job starts",
        "use uv for now",
    ],
)
def test_what_is_built_told_or_asked_is_none(said: str) -> None:
    assert rules(said) == []


def test_an_agent_gives_no_rules() -> None:
    assert rules("Always use uv instead of pip.", role="assistant") == []


def test_of_a_rule_that_is_given_twice_the_later_words_stay() -> None:
    assert rules("Never push to main.\n\nok\n\nnever push to MAIN") == [("learnings", "Never push to MAIN")]
