"""Which signals may be proposed: likely ones whose words may be quoted, and that the user did not contradict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from quire.capture.signals.extraction import Signal, weights
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
    """Whether someone's words may be quoted: nothing in them tries to steer whoever reads them."""
    return speech.is_own and bool(speech.sentences) and not find_instructions(speech.text)


def _stands(found: Signal, talk: Talk) -> bool:
    """Whether the user said it, agreed with it, or went on without contradicting it."""
    speech = found.passage.speech
    if speech.is_summary or (speech.by == "user" and "question" in speech.sentences[found.passage.end - 1].marks):
        return False
    if speech.by == "user" or found.score == 1.0:
        return True
    answer = talk.next_of(speech)
    if answer is None:
        is_edited = any(turn > speech.turn for turn, _ in talk.edits)
        return found.kind == "next_step_hints" or (found.kind == "gotchas" and is_edited)
    return answer.agrees() if found.kind == "decisions" else not answer.refuses()


def _quotes(found: Signal, talk: Talk) -> tuple[Quote, ...]:
    """The sentences of a signal, what they answer and what answers them."""
    passage, speech = found.passage, found.passage.speech
    quotes = [Quote(speech, place, speech.sentences[place]) for place in range(passage.begin, passage.end)]
    at = talk.speeches.index(speech) if speech in talk.speeches else 0
    before = talk.speeches[max(0, at - _BACK) : at]
    told = [Quote(one, at, said) for one in reversed(before) for at, said in enumerate(one.sentences) if said.stems]
    if passage.choice:
        offers = (one for one in told if one.speech.by == "agent")
        quotes = [*[one for one in offers if share(one.said.stems, passage.stems) >= _OFFERED][:1], *quotes]
    elif speech.by == "agent" and found.kind == "gotchas":
        # The user may have told of the trouble that the agent explains.
        reports = (one for one in told if one.speech.by == "user" and "problem" in one.said.cues)
        quotes = [*[one for one in reports if one.said.stems & passage.stems][:1], *quotes]
    answer = talk.next_of(speech)
    if speech.by == "agent" and answer is not None and answer.agrees():
        quotes.append(Quote(answer, 0, answer.sentences[0]))
    return tuple(quotes)
