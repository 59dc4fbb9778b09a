"""Which signals of a session may be put before a person: those that the user stated or accepted, or that were labelled.

What an agent only mused about stays in the journal. A text must also stand alone: whoever reads it was not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quire.capture.signals.causes import points_at
from quire.capture.signals.choices import SHORT_WORDS, is_question
from quire.capture.signals.cues import cue
from quire.capture.signals.gotchas import LABELLED as LABELLED_GOTCHA
from quire.capture.signals.gotchas import REPORTED
from quire.capture.signals.leftovers import is_later
from quire.capture.signals.next_steps import LISTED
from quire.capture.signals.notes import Note
from quire.capture.signals.replies import LABELLED, RESTATED
from quire.capture.signals.symptoms import trouble
from quire.capture.signals.witness import Quote, Speech, Witness, agrees
from quire.capture.signals.wording import is_safe, share, stems
from quire.guard.prompt_attacks import find_instructions

_OWN_SHARE = 0.4
"""Who says so much of a decision states it."""
_CLAUSE_STEMS = 4
_STEP_STEMS = 3
_CONTEXT = re.compile(r"\s+\([^()]*(?:\([^()]*\)[^()]*)*\)\W*$")
_OPENED = re.compile(r"\W*(?:do|does|did|should|shall|what|how|why|which|who|where|when|is|are|can|could) \w", re.I)
_ANSWERED = re.compile(r":\s*(?:no|yes|nein|ja|sí|oui|non|não|sim)\b\W*(?:$|\()", re.I)
_POINTS_BACK = re.compile(
    r"\W*(?:none|both|all|some|one|before|after|without) (?:of )?(?:that|this|those|these|them)\b", re.I
)
_PRAISE = re.compile(r"\W*(?:good|great|fair|nice) (?:point|call|idea|catch|question)\b", re.I)


class Confirmed(Struct, frozen=True):
    """A signal, with the words that it rests on in their order, and the one who said it first."""

    note: Note
    quotes: tuple[Quote, ...]
    first: Quote


def confirmed_decisions(notes: Iterable[Note], witness: Witness) -> Iterator[Confirmed]:
    for found in _grounded(notes, witness):
        if not _stands_alone(found.note.text):
            continue
        told = frozenset().union(*(quote.said.stems for quote in found.quotes if quote.speech.by == "user"))
        if found.note.weight == LABELLED or share(found.note.stems, told) >= _OWN_SHARE:
            yield found
        elif found.note.weight >= RESTATED and (word := _agreement(found, witness)):
            yield _with(found, word)


def confirmed_gotchas(notes: Iterable[Note], witness: Witness) -> Iterator[Confirmed]:
    for found in _grounded(notes, witness):
        last = found.quotes[-1].speech
        if not _stands_alone(found.note.text):
            continue
        if found.note.weight in (REPORTED, LABELLED_GOTCHA) or last.by == "user":
            yield found
            continue
        report = found.quotes[0]
        is_told = report.speech.by == "user" and trouble(report.said.text) > 0
        if is_told and witness.is_looked_into(report.speech, last) and witness.is_let_stand(last):
            # The user told of it, the agent looked and explained it, and the user went on from there.
            yield found


def open_steps(notes: Iterable[Note], witness: Witness) -> Iterator[Confirmed]:
    for found in _grounded(notes, witness):
        if len(found.note.stems) < _STEP_STEMS or points_at(found.note.text) or _POINTS_BACK.match(found.note.text):
            continue
        if found.note.weight == LISTED or any(quote.speech.by == "user" for quote in found.quotes):
            yield found
            continue
        answer = witness.answer_to(found.quotes[-1].speech)
        if answer is not None and quotable(answer) and (agrees(answer) or _puts_off(answer)):
            yield _with(found, Quote(answer, 0, answer.sentences[0]))


def quotable(speech: Speech) -> bool:
    """Whether somebody's words may be quoted: nothing in them tries to steer whoever reads them."""
    return speech.is_own and bool(speech.sentences) and not find_instructions(speech.text)


def _grounded(notes: Iterable[Note], witness: Witness) -> Iterator[Confirmed]:
    """The signals whose words were said, by somebody who may be quoted."""
    for note in notes:
        quotes = witness.evidence(note)
        is_fit = all(quotable(quote.speech) and is_safe(quote.said.text) for quote in quotes)
        if quotes and is_fit and not find_instructions(note.text):
            yield Confirmed(note, quotes, witness.first_of(quotes, note))


def _stands_alone(text: str) -> bool:
    """Whether a text says enough by itself: it neither asks, nor points at something, nor is a bare yes or no."""
    clause = _CONTEXT.sub("", text)
    if is_question(clause) or _OPENED.match(clause) or _ANSWERED.search(text) or _PRAISE.match(clause):
        return False
    context = text[len(clause) :].strip(" ()")
    return len(stems(clause)) >= _CLAUSE_STEMS and not points_at(clause) and not (context and _OPENED.match(context))


def _agreement(found: Confirmed, witness: Witness) -> Quote | None:
    """The words with which the user took what the agent offered, or chose what the agent then said anew."""
    spoken = [quote.speech for quote in found.quotes if quote.speech.by == "agent"]
    answer = witness.answer_to(spoken[0])
    if answer is not None and answer.turn <= found.note.turn and agrees(answer) and quotable(answer):
        return Quote(answer, 0, answer.sentences[0])
    before = witness.asked_before(spoken[-1])
    if before is None or before.number == 1 or not quotable(before):
        return None
    said = before.sentences[0]
    is_choice = len(said.text.split()) <= SHORT_WORDS and not any(is_question(one.text) for one in before.sentences)
    return Quote(before, 0, said) if is_choice and is_safe(said.text) else None


def _puts_off(speech: Speech) -> bool:
    return any(is_later(said.text) or cue("deferred").search(said.text) for said in speech.sentences)


def _with(found: Confirmed, word: Quote) -> Confirmed:
    """A signal with the user's word beside it."""
    if any(quote.speech.number == word.speech.number and quote.place == word.place for quote in found.quotes):
        return found
    quotes = sorted((*found.quotes, word), key=lambda quote: (quote.speech.number, quote.place))
    return Confirmed(found.note, tuple(quotes), found.first)
