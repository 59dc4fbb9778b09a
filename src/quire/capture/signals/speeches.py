"""What was said in a session, speech by speech, with what was done in between: calls, edits, errors."""

from __future__ import annotations

import re
from collections import deque
from typing import Literal

from msgspec import Struct

from quire.capture.quotable_text import safe_pin
from quire.capture.signals.paths import is_edit
from quire.capture.signals.sentences import Sentence, read_part, sentences_of
from quire.capture.signals.words import union
from quire.capture.transcripts.types import Turn
from quire.guard.hostile_text import make_safe

TYPED_CHARS = 4_000
"""A message of the user that is longer was not typed."""
_OUTPUTS = 64
_ECHO_CHARS = 24
"""A shorter sentence may stand in a tool's answer by chance."""
_MARKS = re.compile(r"[\s`*_\"'“”‘’]+")


class Work(Struct):
    """What was done between two speeches, and whether the last call failed."""

    calls: int = 0
    edits: int = 0
    failed: bool = False


class Speech(Struct, kw_only=True):
    """What someone said at once."""

    by: Literal["user", "agent"]
    number: int
    """Which speech it is, counted from 1."""
    turn: int
    """Which turn of the main thread it is, calls and answers of tools included."""
    at: str
    text: str
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    echoes: frozenset[int]
    """The places of sentences that a tool had answered before, word for word."""
    is_summary: bool
    before: Work
    after: Work

    @property
    def is_own(self) -> bool:
        """Whether it may be someone's own words as a whole."""
        return self.by == "agent" or len(self.text) <= TYPED_CHARS

    def agrees(self) -> bool:
        is_asking = any("question" in one.marks for one in self.sentences)
        return any("agree" in one.opens for one in self.sentences[:1]) and not is_asking

    def refuses(self) -> bool:
        return any("refuse" in one.opens and "agree" not in one.opens for one in self.sentences[:1])


class Talk:
    """The talk of one thread, as far as it was heard."""

    def __init__(self) -> None:
        self.speeches: list[Speech] = []
        self.edits: list[tuple[int, str]] = []
        """The turn and the file of each edit."""
        self.calls = self.count = self.turn = 0
        """How many tools were called, how many times someone spoke, and how many turns there were."""
        self.asked: Speech | None = None
        """What the user said first."""
        self._work = Work()
        self._outputs: deque[str] = deque(maxlen=_OUTPUTS)

    def hear(self, turn: Turn) -> Speech | None:
        """Hear a turn; what was said is given back."""
        self.turn += 1
        if turn.role == "tool":
            self._outputs.append(_folded(turn.text))
            self._work.failed = turn.is_error
        elif turn.tool:
            self.calls += 1
            self._work.calls += 1
            if is_edit(turn.tool):
                self._work.edits += 1
                self.edits += [(self.turn, path) for path in turn.paths]
        elif turn.text.strip() and (turn.role in ("user", "assistant") or turn.is_summary):
            return self._remember(turn)
        return None

    def _remember(self, turn: Turn) -> Speech:
        # Secrets go before anything is cut: half of one would not be known as one.
        text = safe_pin(make_safe(read_part(turn.text)))
        is_agent = turn.role != "user"
        sentences = tuple(sentences_of(text))
        self.count += not turn.is_summary
        before, self._work = self._work, Work()
        speech = Speech(
            by="agent" if is_agent else "user",
            number=self.count,
            turn=self.turn,
            at=turn.at,
            text=text,
            sentences=sentences,
            stems=union(sentence.stems for sentence in sentences),
            echoes=frozenset(n for n, one in enumerate(sentences) if is_agent and self._is_echo(one.text)),
            is_summary=turn.is_summary,
            before=before,
            after=self._work,
        )
        self.speeches.append(speech)
        if self.asked is None and not is_agent and not turn.is_summary and sentences:
            self.asked = speech
        return speech

    def _is_echo(self, text: str) -> bool:
        folded = _folded(text).rstrip(".")
        return len(folded) >= _ECHO_CHARS and any(folded in output for output in self._outputs)

    def next_of(self, speech: Speech) -> Speech | None:
        """What the user said next."""
        return next((one for one in self.speeches if one.number > speech.number and one.by == "user"), None)

    def edited_near(self, turn: int) -> list[str]:
        """The files that were edited since the speech before a turn and until the user spoke again, nearest first."""
        spoken = [one.turn for one in self.speeches if one.by == "user"]
        before = max((one for one in spoken if one < turn), default=0)
        # The user who decides is followed by the work; the next word of theirs may be about it.
        end = min((one for one in spoken if one > turn), default=self.turn + 1)
        near = [(abs(at - turn), at, path) for at, path in self.edits if before <= at <= end]
        return list(dict.fromkeys(path for _, _, path in sorted(near)))


def _folded(text: str) -> str:
    return _MARKS.sub(" ", text).casefold().strip()
