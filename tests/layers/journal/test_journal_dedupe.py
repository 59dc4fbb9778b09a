"""What a bundle says twice: the same is said once, what merely looks alike is not touched, and newer words hold."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journaling import bundle, needs_real, vectors

from quire.layers.journal.dedupe import dedupe_bundle
from quire.layers.journal.shapes import bundle_faults
from work import calls_made


def _held(value: dict[str, Any]) -> dict[str, Any]:
    held = bundle(gotchas=value["gotchas"], nextSteps=value["nextSteps"])
    held["currentFocus"]["currentState"] = value["currentState"]
    return held


def _gotcha(title: str, cause: str = "c", path: str = "p", **more: Any) -> dict[str, Any]:
    return {"title": title, "symptom": "s", "cause": cause, "correctPath": path, **more}


def _step(title: str, start: str = "s", done: str = "d") -> dict[str, str]:
    return {"title": title, "why": "w", "start": start, "done": done}


# Where we differ on purpose: the first title stays and the newer words hold, titles of punctuation are told apart,
# steps of the same title are one, and a text that holds another is another text.
OTHERWISE: dict[int, dict[str, Any]] = {
    0: {"gotchas": [{"title": "Same Title", "symptom": "longer", "cause": "bb", "correctPath": "c"}]},
    1: {
        "gotchas": [
            {
                "title": "one two three four five",
                "symptom": "s2",
                "cause": "alpha beta gamma delta epsilon",
                "correctPath": "y",
            }
        ]
    },
    3: {"gotchas": [_gotcha("!!!"), _gotcha("???")], "mergedGotchas": []},
    5: {"nextSteps": [_step("Add retry", "begin two", "finish two")], "mergedNextSteps": ["Add retry"]},
    6: {"nextSteps": [_step("a", "start same words")], "mergedNextSteps": ["a"]},
    7: {
        "currentState": [
            "alpha, beta; GAMMA",
            "Alpha beta",
            "delta",
            "delta epsilon zeta eta theta",
            "Ωmega test",
            "ωMEGA   test longer",
        ]
    },
    8: {"currentState": ["a", "cat", "concatenate", "b"]},
}


@needs_real
@pytest.mark.parametrize("number", range(9))
def test_the_recorded_bundles_are_cleaned_as_recorded_or_better(number: int) -> None:
    recorded = vectors("dedupe")
    assert len(recorded) == 9
    found = dedupe_bundle(_held(recorded[number]["input"]))
    assert {
        "gotchas": found.bundle["gotchas"],
        "nextSteps": found.bundle["nextSteps"],
        "currentState": found.bundle["currentFocus"]["currentState"],
        "mergedGotchas": list(found.merged_gotchas),
        "mergedNextSteps": list(found.merged_next_steps),
    } == {**recorded[number]["output"], **OTHERWISE.get(number, {})}


def test_newer_words_hold_even_if_they_are_fewer() -> None:
    held = bundle(
        gotchas=[_gotcha("Cents drift", "A long and wrong explanation."), _gotcha("cents DRIFT", "Floats.", " ")]
    )
    found = dedupe_bundle(held)
    assert found.bundle["gotchas"] == [_gotcha("Cents drift", "Floats.", "p")]
    assert found.merged_gotchas == ("cents DRIFT",)


def test_what_was_there_before_is_older_wherever_it_stands() -> None:
    before = _gotcha("Cents drift", "The old cause.", since=1)
    held = bundle(gotchas=[_gotcha("Cents drift", "The new cause.", by="me"), before])
    found = dedupe_bundle(held, bundle(gotchas=[before]))
    assert found.bundle["gotchas"] == [_gotcha("Cents drift", "The new cause.", since=1, by="me")]
    assert dedupe_bundle(held).bundle["gotchas"][0]["cause"] == "The old cause."
    texts = ["Rounding is done now in all parts", "Rounding is done now in most parts"]
    for one, other in (texts, texts[::-1]):
        after, previous = bundle(), bundle()
        after["currentFocus"]["knownRisks"] = [one, other]
        previous["currentFocus"]["knownRisks"] = [other]
        assert dedupe_bundle(after, previous).bundle["currentFocus"]["knownRisks"] == [one]


@pytest.mark.parametrize(
    ("first", "second", "body"),
    [
        ("Cache", "Cache keys need a tenant", "The same body"),
        ("cat", "concatenate", "The same body"),
        ("Step 1 of the migration fails often", "Step 2 of the migration fails often", "The same body"),
        ("Use Python 3.11 for all tests", "Use Python 3.12 for all tests", "The same body"),
        ("The cache of orders is slow", "The cache of orders is stale", "Another body"),
        ("", "", "The same body"),
    ],
)
def test_what_only_looks_alike_stays_two(first: str, second: str, body: str) -> None:
    gotchas = [_gotcha(first, "The same body"), _gotcha(second, body)]
    found = dedupe_bundle(bundle(gotchas=gotchas))
    assert found.bundle["gotchas"] == gotchas
    assert found.merged_gotchas == ()


def test_nearly_the_same_title_needs_nearly_the_same_body() -> None:
    first = _step("Write the runbook for the cache", "Open docs and begin", "Merged")
    second = _step("Write a runbook for the cache", "open docs, and begin!", "Released")
    other = _step("Write the runbook for the cache now", "Ask the team", "They agree")
    found = dedupe_bundle(bundle(nextSteps=[first, second, other]))
    merged = {**second, "title": first["title"]}
    assert found.bundle["nextSteps"] == [merged, other]
    assert found.merged_next_steps == (second["title"],)
    third = dedupe_bundle(bundle(nextSteps=[first, second, _step(second["title"], "x", "y")]))
    assert third.bundle["nextSteps"] == [_step(first["title"], "x", "y")]


def test_lists_of_texts_lose_repetitions_and_what_says_nothing() -> None:
    held = bundle()
    texts = [
        "Tests pass.",
        "Tests pass only without the cache.",
        "TESTS pass!",
        "",
        " ",
        "…",
        "Run step 1.",
        "Run step 2.",
    ]
    held["currentFocus"]["validationSnapshot"]["suggestedNextActions"] = texts
    found = dedupe_bundle(held).bundle["currentFocus"]["validationSnapshot"]["suggestedNextActions"]
    assert found == ["TESTS pass!", "Tests pass only without the cache.", "Run step 1.", "Run step 2."]


TITLES = st.sampled_from(["Cache", "cache!", "The cache is slow", "The cache is so slow", "Other thing", "?", "!"])
GOTCHAS = st.lists(st.builds(_gotcha, TITLES, st.sampled_from(["a b c d e", "a b c d f", "z"])), max_size=6)
STATES = st.lists(st.sampled_from(["Tests pass now", "tests pass now!", "Tests fail", "", "!"]), max_size=5)


@given(GOTCHAS, STATES)
def test_cleaning_changes_nothing_that_was_given_and_cleaning_again_changes_nothing(
    gotchas: list[dict[str, Any]], texts: list[str]
) -> None:
    held = bundle(gotchas=gotchas)
    held["currentFocus"]["currentState"] = texts
    copied = copy.deepcopy(held)
    found = dedupe_bundle(held)
    assert held == copied
    assert bundle_faults(found.bundle) == []
    assert len(found.bundle["gotchas"]) + len(found.merged_gotchas) == len(gotchas)
    # Only what merged may, in its new words, be near to another one.
    again = dedupe_bundle(found.bundle)
    if not found.merged_gotchas:
        assert again.bundle["gotchas"] == found.bundle["gotchas"]
    assert dedupe_bundle(held) == found


def test_a_bundle_of_another_form_is_left_as_it_is() -> None:
    odd = {"gotchas": "x", "nextSteps": [None, 3, {"title": "T"}], "currentFocus": {"currentState": [1, "a b", "A B"]}}
    assert dedupe_bundle(odd).bundle == {**odd, "currentFocus": {"currentState": [1, "A B"]}}
    assert dedupe_bundle({}).bundle == {}


@pytest.mark.proof
def test_a_thousand_like_titles_are_no_quadratic_work() -> None:
    def work(count: int) -> int:
        names = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(count)]
        items = [_gotcha(f"The cache of this service fails in the tests of {name}", f"{name} xx") for name in names]
        held = bundle(gotchas=items)
        return calls_made(lambda: dedupe_bundle(held))

    work(50)
    assert work(1_000) < 20 * work(100)
