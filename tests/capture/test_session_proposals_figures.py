"""How much of what is proposed a person would keep, on the half of the sessions that the rules were made with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# The benchmarks are not installed; they are found beside the tests.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import signals
from quire.capture.signals.confirmed import confirmed_decisions, confirmed_gotchas, open_steps
from quire.capture.signals.extraction import Traced, trace
from quire.capture.signals.witness import Witness


def _texts(kind: str, traced: Traced, witness: Witness) -> tuple[list[str], list[str]]:
    """What was found of a kind, and what of it is proposed."""
    if kind == "decisions":
        return [note.text for note in traced.decisions], [
            found.note.text for found in confirmed_decisions(traced.decisions, witness)
        ]
    if kind == "gotchas":
        return [note.text for note in traced.gotchas], [
            found.note.text for found in confirmed_gotchas(traced.gotchas, witness)
        ]
    steps = [f"NEXT: {found.note.text}" for found in open_steps(traced.steps, witness)]
    return [f"NEXT: {note.text}" for note in traced.steps], steps


def _figures(kind: str, folder: str) -> tuple[signals.Score, signals.Score]:
    before, after = signals.Score(), signals.Score()
    for session in signals.sessions("development"):
        if session.folder == folder:
            witness = Witness()
            traced = trace(witness.overhear(session.turns))
            for score, texts in zip((before, after), _texts(kind, traced, witness), strict=True):
                score.add(signals._matched(kind, texts, session.expect[kind], signals.LOOSE).score)
    return before, after


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("kind", ["decisions", "gotchas", "next_step_hints"])
@pytest.mark.parametrize("folder", ["development", "fresh"])
def test_what_is_proposed_is_right_more_often_than_what_is_found(kind: str, folder: str) -> None:
    before, after = _figures(kind, folder)
    assert after.right / after.found > before.right / before.found
    assert after.right / after.found >= (0.97 if folder == "development" else 0.86)
    assert after.right >= before.right * 0.45


def test_every_quote_was_said_by_whom_it_is_said_to_be() -> None:
    count = 0
    for session in signals.sessions("development"):
        witness = Witness()
        traced = trace(witness.overhear(session.turns))
        for found in (
            *confirmed_decisions(traced.decisions, witness),
            *confirmed_gotchas(traced.gotchas, witness),
            *open_steps(traced.steps, witness),
        ):
            assert found.first in found.quotes
            for quote in found.quotes:
                role = {"user": "user", "agent": "assistant"}[quote.speech.by]
                said = " ".join(turn.text for turn in session.turns if turn.role == role and not turn.tool)
                words = iter(signals._WORD.findall(said.lower()))
                # The words stand there in their order; marks around them may be gone.
                assert all(word in words for word in signals._WORD.findall(quote.said.text.lower()))
                count += 1
    assert count > 250
