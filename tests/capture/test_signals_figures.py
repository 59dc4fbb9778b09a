"""What is promised of the signals on sessions that the weights were trained with, and how they are judged."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

# The benchmarks are not installed; they are found beside the tests.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import signals
from quire.capture.transcripts.types import Turn


@pytest.fixture(scope="module")
def development() -> dict[str, Any]:
    return signals.measure(list(signals.sessions("development")))


@pytest.mark.proof
@pytest.mark.parametrize("kind", signals.KINDS)
def test_more_than_half_of_what_is_found_is_right_and_more_is_found_than_by_words(
    development: dict[str, Any], kind: str
) -> None:
    figures, naive = development["by kind"][kind], development["baseline, by kind"][kind]
    assert figures["precision"] >= 0.55
    assert figures["recall"] >= 0.5
    assert figures["F1"] > naive["F1"]


def test_a_session_is_judged_by_pairs_of_what_was_found_and_what_was_wanted() -> None:
    session = signals.Labelled(
        name="one",
        folder="development",
        client="claude",
        language="en",
        turns=(
            Turn(role="user", text="store it"),
            Turn(role="assistant", text="Decision: store amounts as integers\n\nDecision: keep the old column"),
        ),
        expect={kind: [] for kind in signals.KINDS} | {"decisions": ["Store all amounts as integers", "Use Redis"]},
    )
    verdict = signals.judge(session)["decisions"]
    assert verdict.score == signals.Score(right=1, found=2, wanted=2)
    assert verdict.missed == ["Use Redis"]
    assert verdict.wrong == ["Keep the old column"]
    assert verdict.score.figures()["F1"] == 0.5


def test_the_baseline_takes_whatever_has_a_word_of_its_kind() -> None:
    found = signals.baseline(
        [
            Turn(role="user", text="We could use Redis. It fails because of src/a.py."),
            Turn(role="assistant", text="npm test", tool="Bash"),
            Turn(role="tool", text="1 failed", tool="Bash", is_error=True),
            Turn(role="assistant", text="The docs are still open"),
        ]
    )
    assert found.decisions == ("We could use Redis.",)
    assert found.gotchas == ("It fails because of src/a.py.",)
    assert found.next_step_hints == ("NEXT: The docs are still open",)
    assert found.key_paths == ("src/a.py",)
    assert found.validation_observations == ("npm test: failed",)


def test_a_text_that_says_a_little_less_matches_loosely() -> None:
    label = ["Keep the old column until every reader was moved to the new one"]
    text = ["Keep the old column until moved"]
    assert signals._matched("decisions", text, label).score.right == 0
    assert signals._matched("decisions", text, label, signals.LOOSE).score.right == 1
    assert signals._matched("decisions", ["Drop the cache"], label, signals.LOOSE).score.right == 0


def test_the_halves_share_no_folder() -> None:
    folders = [folder for half in signals.HALVES.values() for folder in half]
    assert len(folders) == len(set(folders))
    assert {session.folder for session in signals.sessions("development")} == {"development", "fresh"}
