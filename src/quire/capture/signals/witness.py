"""Who said what in a session and when: the sentences that a signal rests on, as they were written.

A signal is worded anew from several sentences. Here the sentences are found again by the words that they share with it.
Only what the user and the agent of the main thread say counts: what a tool answered, what the agent reads out of such
an answer word for word, what a summary tells and what somebody pasted by the page is nobody's word.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal

from msgspec import Struct

from quire.capture.quotable_text import safe_pin
from quire.capture.signals.answers import after_agreement
from quire.capture.signals.choices import is_question
from quire.capture.signals.cues import cue
from quire.capture.signals.notes import Note
from quire.capture.signals.paths import is_edit
from quire.capture.signals.sentences import Block, blocks_of, read_part
from quire.capture.signals.wording import share, stems
from quire.capture.transcripts.types import Turn
from quire.guard.hostile_text import make_safe

QUOTES = 3
"""So many sentences may be put together into one signal."""
TYPED_CHARS = 4_000
"""A message of the user that is longer was not typed."""
_KEPT_CHARS = 8_000_000
_OUTPUTS = 64
_ECHO_CHARS = 24
"""A shorter sentence may stand in a tool's answer by chance."""
_ENOUGH = 0.85
_GROUNDED = 0.7
"""So much of a signal must have been said."""
_FIRST = 0.5
"""Whoever says so much of it says it."""
_ASKED_BEFORE = 4
"""What a signal rests on was said since the user spoke so many times before."""
_GAIN = 0.15
"""So much of a signal a further sentence must add."""
_NO = re.compile(r"\W*(?:no|nope|nah|still|wrong|nein|non|não)\b", re.I)
_MARKS = re.compile(r"[\s`*_\"'“”‘’]+")


class Said(Struct, frozen=True, kw_only=True):
    """One sentence."""

    text: str
    stems: frozenset[str]
    is_echo: bool = False
    """A tool had answered it before, word for word."""


class Speech(Struct, frozen=True, kw_only=True):
    """What somebody said at once."""

    by: Literal["user", "agent"]
    number: int
    """Which speech it is, counted from 1."""
    turn: int
    """Which turn of the main thread it is, calls and answers of tools included."""
    at: str
    text: str
    sentences: tuple[Said, ...]

    @property
    def is_own(self) -> bool:
        """Whether it may be somebody's own words as a whole."""
        return self.by == "agent" or len(self.text) <= TYPED_CHARS


class Quote(Struct, frozen=True):
    """A sentence, with where it was said."""

    speech: Speech
    place: int
    said: Said


class Witness:
    """What was said and edited in the main thread of a session, as far as it was heard."""

    def __init__(self) -> None:
        self.speeches: deque[Speech] = deque()
        self.edits: list[tuple[int, str]] = []
        """The turn and the file of each edit."""
        self.calls = 0
        """How many tools were called."""
        self.count = 0
        self.turn = 0
        self._outputs: deque[str] = deque(maxlen=_OUTPUTS)
        self._chars = 0

    def overhear(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Pass turns on, and remember what was said in them."""
        for turn in turns:
            if not turn.is_subagent:
                self._hear(turn)
            yield turn

    def _hear(self, turn: Turn) -> None:
        self.turn += 1
        if turn.role == "tool":
            self._outputs.append(_folded(turn.text))
        elif turn.tool:
            self.calls += 1
            if is_edit(turn.tool):
                self.edits += [(self.turn, path) for path in turn.paths]
        elif turn.text.strip() and turn.role in ("user", "assistant") and not turn.is_summary:
            self._remember(turn)

    def _remember(self, turn: Turn) -> None:
        # As the signals hear it: the same sentences, without secrets.
        text = safe_pin(make_safe(read_part(turn.text)))
        is_agent = turn.role == "assistant"
        found = [
            Said(text=sentence, stems=stems(sentence), is_echo=is_agent and self._is_echo(sentence))
            for block in blocks_of(text)
            for sentence in _sentences(block)
        ]
        self.count += 1
        speech = Speech(
            by="agent" if is_agent else "user",
            number=self.count,
            turn=self.turn,
            at=turn.at,
            text=text,
            sentences=tuple(found),
        )
        self.speeches.append(speech)
        self._chars += len(text)
        while self._chars > _KEPT_CHARS:
            self._chars -= len(self.speeches.popleft().text)

    def _is_echo(self, text: str) -> bool:
        folded = _folded(text).rstrip(".")
        return len(folded) >= _ECHO_CHARS and any(folded in output for output in self._outputs)

    # -- what a signal rests on -------------------------------------------------------------------

    def evidence(self, note: Note) -> tuple[Quote, ...]:
        """The sentences that a signal was put together from, in their order; none where it says more than they do."""
        near = [quote for quote in self._near(note.turn) if quote.said.stems & note.stems]
        chosen: list[Quote] = []
        covered: frozenset[str] = frozenset()
        while len(chosen) < QUOTES and share(note.stems, covered) < _ENOUGH:
            best = max(near, key=lambda quote: _worth(quote, note.stems - covered), default=None)
            if best is None or share(note.stems, best.said.stems - covered) < _GAIN:
                break
            chosen.append(best)
            covered |= best.said.stems & note.stems
        if share(note.stems, covered) < _GROUNDED:
            return ()
        if len(chosen) < QUOTES:
            chosen += [quote for quote in self._first(near, note.stems) if quote not in chosen]
        return tuple(sorted(chosen, key=lambda quote: (quote.speech.number, quote.place)))

    def first_of(self, quotes: tuple[Quote, ...], note: Note) -> Quote:
        """Who said it first: the earliest sentence that says most of it, else the one that says the most."""
        first = self._first(quotes, note.stems)
        return first[0] if first else max(quotes, key=lambda quote: _worth(quote, note.stems))

    def answer_to(self, speech: Speech) -> Speech | None:
        """What the user said next."""
        return next((one for one in self.speeches if one.number > speech.number and one.by == "user"), None)

    def asked_before(self, speech: Speech) -> Speech | None:
        """What the user had said last."""
        return next((one for one in reversed(self.speeches) if one.number < speech.number and one.by == "user"), None)

    def is_let_stand(self, speech: Speech) -> bool:
        """Whether the user went on after a speech, or had it acted on, and did not contradict it."""
        answer = self.answer_to(speech)
        if answer is None:
            return any(at > speech.turn for at, _ in self.edits)
        return not any(cue("not_it").search(one.text) or _NO.match(one.text) for one in answer.sentences)

    def is_looked_into(self, asked: Speech, told: Speech) -> bool:
        """Whether a tool was run between two speeches."""
        return told.turn - asked.turn > told.number - asked.number

    def edited_near(self, turn: int) -> list[str]:
        """The files that were edited since the speech before a turn and until the user spoke again, nearest first."""
        before = max((one.turn for one in self.speeches if one.turn < turn and one.by == "user"), default=0)
        later = [one.turn for one in self.speeches if one.turn > turn and one.by == "user"]
        # The user who decides is followed by the work; the next word of theirs may be about it.
        end = later[0] if later else self.turn + 1
        near = [(abs(at - turn), at, path) for at, path in self.edits if before <= at <= end]
        return list(dict.fromkeys(path for _, _, path in sorted(near)))

    def _near(self, turn: int) -> list[Quote]:
        heard = [speech for speech in self.speeches if speech.turn <= turn]
        asked = [speech.number for speech in heard if speech.by == "user"][-_ASKED_BEFORE:]
        begin = asked[0] - 1 if asked else 0
        return [
            Quote(speech, place, said)
            for speech in heard
            if speech.number >= begin and speech.is_own
            for place, said in enumerate(speech.sentences)
            if not said.is_echo
        ]

    def _first(self, quotes: Iterable[Quote], wanted: frozenset[str]) -> list[Quote]:
        full = (quote for quote in quotes if share(wanted, quote.said.stems) >= _FIRST)
        return list(islice((quote for quote in full if not is_question(quote.said.text)), 1))


def _worth(quote: Quote, wanted: frozenset[str]) -> tuple[int, int, int]:
    """What says the most of it, and the least beside it; of two that say the same, the later one."""
    told = quote.said.stems
    return len(told & wanted), -len(told - wanted), quote.speech.number


def agrees(speech: Speech) -> bool:
    """Whether the user agrees: with the first words, and without asking anything."""
    if not speech.sentences or any(is_question(said.text) for said in speech.sentences):
        return False
    return after_agreement(speech.sentences[0].text)[1]


def _sentences(block: Block) -> Iterator[str]:
    """The sentences of a block; the first one under what stands in bold before it."""
    for index, sentence in enumerate(block.sentences):
        yield f"{block.title}: {sentence.text}" if block.title and not index else sentence.text


def _folded(text: str) -> str:
    return _MARKS.sub(" ", text).casefold().strip()
