"""Which signals may be proposed: likely ones whose words may be quoted, and that the user did not contradict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from quire.capture.signals.extraction import Signal
from quire.capture.signals.model import weights
from quire.capture.signals.sentences import Sentence
from quire.capture.signals.speeches import Speech, Talk
from quire.capture.signals.words import is_safe, share
from quire.guard.prompt_attacks import find_instructions

_OFFERED = 0.8
"""A sentence that holds so much of an option offered it."""
_BACK = 6
"""So many speeches before, the user may have told of what the agent explains."""


class Quote(Struct, frozen=True):
    """A sentence, with where it was said."""

    speech: Speech
    place: int
    said: Sentence


class Confirmed(Struct, frozen=True):
    """A signal, with the words that it rests on in their order, and the one who said it first."""

    found: Signal
    quotes: tuple[Quote, ...]
    first: Quote


def confirmed(found: Iterable[Signal], talk: Talk) -> Iterator[Confirmed]:
    for one in found:
        quotes = _quotes(one, talk)
        is_fit = all(quotable(quote.speech) and is_safe(quote.said.text) for quote in quotes)
        if is_fit and one.score >= weights()[one.kind].sure and not find_instructions(one.text) and _stands(one, talk):
            main = next(quote for quote in quotes if quote.speech is one.passage.speech)
            yield Confirmed(one, quotes, quotes[0] if one.passage.choice else main)


def quotable(speech: Speech) -> bool:
    """Whether somebody's words may be quoted: nothing in them tries to steer whoever reads them."""
    return speech.is_own and bool(speech.sentences) and not find_instructions(speech.text)


def _stands(found: Signal, talk: Talk) -> bool:
    """Whether the user said it, agreed with it, or went on without contradicting it."""
    speech = found.passage.speech
    if speech.is_summary or (speech.by == "user" and "question" in speech.sentences[found.passage.end - 1].marks):
        return False
    if speech.by == "user" or found.score == 1.0:
        return True
    answer = talk.next_of(speech)
    if found.kind == "decisions":
        return answer is not None and answer.agrees()
    if answer is None:
        return found.kind == "next_step_hints" or any(turn > speech.turn for turn, _ in talk.edits)
    return not answer.refuses()


def _quotes(found: Signal, talk: Talk) -> tuple[Quote, ...]:
    """The sentences of a signal, what they answer and what answers them."""
    passage, speech = found.passage, found.passage.speech
    quotes = [Quote(speech, place, speech.sentences[place]) for place in range(passage.begin, passage.end)]
    at = talk.speeches.index(speech) if speech in talk.speeches else 0
    before = talk.speeches[max(0, at - _BACK) : at]
    if passage.choice:
        quotes = [*_offer(passage.stems, before), *quotes]
    elif speech.by == "agent" and found.kind == "gotchas":
        quotes = [*_report(passage.stems, before), *quotes]
    answer = talk.next_of(speech)
    if speech.by == "agent" and answer is not None and answer.agrees():
        quotes.append(Quote(answer, 0, answer.sentences[0]))
    return tuple(quotes)


def _offer(wanted: frozenset[str], before: Sequence[Speech]) -> list[Quote]:
    said = [quote for speech in reversed(before) if speech.by == "agent" for quote in _all(speech)]
    return [quote for quote in said if quote.said.stems and share(quote.said.stems, wanted) >= _OFFERED][:1]


def _report(wanted: frozenset[str], before: Sequence[Speech]) -> list[Quote]:
    """Where the user told of the trouble that the agent explains."""
    said = [quote for speech in before if speech.by == "user" for quote in _all(speech)]
    return [quote for quote in said if "problem" in quote.said.cues and quote.said.stems & wanted][-1:]


def _all(speech: Speech) -> list[Quote]:
    return [Quote(speech, place, said) for place, said in enumerate(speech.sentences)]
