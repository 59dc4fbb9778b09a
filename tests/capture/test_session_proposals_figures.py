"""How much of what is proposed a person would keep, on sessions that the weights were trained with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# The benchmarks are not installed; they are found beside the tests.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import signals
from quire.capture.signals.confirmed import Confirmed, confirmed
from quire.capture.signals.extraction import KINDS, Kind, Listener


def proposed(session: signals.Labelled) -> dict[Kind, list[Confirmed]]:
    listener = Listener()
    for turn in session.turns:
        if not turn.is_subagent:
            listener.hear(turn)
    return {kind: list(confirmed(found, listener.talk)) for kind, found in listener.found().items()}


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("kind", KINDS)
def test_most_of_what_is_proposed_is_right(kind: Kind) -> None:
    total = signals.Score()
    for session in signals.sessions("development"):
        mark = "NEXT: " if kind == "next_step_hints" else ""
        texts = [mark + one.found.text for one in proposed(session)[kind]]
        total.add(signals._matched(kind, texts, session.expect[kind], signals.LOOSE).score)
    assert total.right / total.found >= 0.7
    assert total.right >= total.wanted * 0.35


def test_every_quote_was_said_by_whom_it_is_said_to_be() -> None:
    count = 0
    for session in signals.sessions("development"):
        for found in (one for kept in proposed(session).values() for one in kept):
            assert found.first in found.quotes
            for quote in found.quotes:
                role = {"user": "user", "agent": "assistant"}[quote.speech.by]
                said = " ".join(turn.text for turn in session.turns if turn.role == role and not turn.tool)
                words = iter(signals._WORD.findall(said.lower()))
                # The words stand there in their order; marks around them may be gone.
                assert all(word in words for word in signals._WORD.findall(quote.said.text.lower()))
                count += 1
    assert count > 250
