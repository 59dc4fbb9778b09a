"""What a session leaves behind: decisions, gotchas, next steps, files, checks, a summary, each with who said it.

Passages that a small model finds likely enough are kept, the likeliest first, each thing once. The same turns give the
same signals.
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from quire.capture.quotable_text import safe_text
from quire.capture.signals.cues import DATA, cues_of, pattern
from quire.capture.signals.features import Excerpt, passages
from quire.capture.signals.paths import Paths
from quire.capture.signals.speeches import Speech, Talk
from quire.capture.signals.summary import Story
from quire.capture.signals.validation import Validations
from quire.capture.signals.words import capped, is_safe, tidy
from quire.capture.transcripts.types import Turn
from quire.layers.journal.types import Signals

Kind = Literal["decisions", "gotchas", "next_step_hints"]
KINDS: tuple[Kind, ...] = ("decisions", "gotchas", "next_step_hints")
LABELS: dict[Kind, str] = dict(zip(KINDS, ("says_decision", "says_gotcha", "says_next"), strict=True))
LONGEST: dict[Kind, int] = dict(zip(KINDS, (2, 3, 1), strict=True))
"""The most sentences of one signal. A gotcha includes its cause; each next step is a sentence of its own."""
MOST = 12
WORTH = 0.85
"""A session leaves something where it is so likely that of the likeliest of each kind one is right, or where the user
says what is decided and why, or chooses what was offered."""
_DECIDED = pattern("decided", re.I)
SPEECHES = 1_000
"""So many speeches are looked at together: of a longer session what was found is kept, and its speeches are not."""
_COMMAND_CHARS = 2_000


class SessionSignals(Struct, frozen=True):
    """What of a session lasts."""

    summary: str
    signals: Signals


class Signal(Struct, frozen=True, kw_only=True):
    """A passage that is worth keeping, in its own words, with how likely it is."""

    kind: Kind
    text: str
    score: float
    passage: Excerpt


def extract(turns: Iterable[Turn], *, root: str = "", most: int = MOST) -> SessionSignals:
    """The signals of a session. `root` is the repository, for paths that name it; `most` is how many of each kind."""
    main, helpers = Listener(root), Listener(root)
    for turn in turns:
        (helpers if turn.is_subagent else main).hear(turn)
    # A transcript may be that of a helper alone: then nobody else speaks.
    return main.signals(most, helpers) if main.talk.count else helpers.signals(most)


class Listener:
    """Hears one thread of a session."""

    def __init__(self, root: str = "") -> None:
        self.talk = Talk()
        self.paths = Paths(root)
        self.checks = Validations()
        self.story = Story()
        self._kept: list[Signal] = []

    def hear(self, turn: Turn) -> None:
        speech = self.talk.hear(turn)
        if speech is not None:
            self._said(speech)
        elif turn.role == "tool":
            self.checks.answered(turn.tool, turn.text, failed=turn.is_error)
        elif turn.tool:
            self.paths.called(turn.tool, turn.text, turn.paths)
            self.checks.called(turn.tool, safe_text(turn.text, _COMMAND_CHARS))

    def _said(self, speech: Speech) -> None:
        self.paths.said(speech.text)
        self.story.hear(speech)
        if not speech.is_summary:
            self.checks.said(speech)
        if len(self.talk.speeches) >= SPEECHES:
            found = self.found()
            self._kept = found["decisions"] + found["gotchas"]
            self.talk.speeches.clear()

    def found(self) -> dict[Kind, list[Signal]]:
        """What is worth keeping, by kind, the likeliest first."""
        judged = (one for passage in passages(self.talk.speeches) for one in _judged(passage, self.talk.speeches))
        chosen = {kind: list[Signal]() for kind in KINDS}
        # Of two that are as likely, the later one holds.
        for one in sorted([*self._kept, *judged], key=lambda one: (-one.score, -one.passage.speech.turn)):
            others = chosen[one.kind]
            is_new = not any(one.passage.is_same(other.passage) for other in others)
            if is_new and one.score >= least(one.kind, len(others)):
                others.append(one)
        likely = 1 - math.prod(1 - found[0].score for found in chosen.values() if found)
        is_clear = any(one.passage.is_clear for one in chosen["decisions"])
        return chosen if likely >= WORTH or is_clear else {kind: [] for kind in KINDS}

    def done(self) -> list[str]:
        """What a list or a label ticks off."""
        said = (one for speech in self.talk.speeches for one in speech.sentences)
        ticked = (one for one in said if (one.done or "says_done" in one.label) and len(one.stems) > 1)
        texts = dict.fromkeys(capped(tidy(one.text)) for one in ticked)
        return [f"DONE: {text}" for text in texts if is_safe(text)]

    def summary(self) -> str:
        return self.story.text(tuple(self.checks.found(MOST)))

    def signals(self, most: int, helpers: Listener | None = None) -> SessionSignals:
        checks, paths = self.checks.found(most), self.paths.found(most)
        if helpers:
            # What helpers decided or planned was theirs. What they changed and ran fills up the rest.
            checks = [*helpers.checks.others(self.checks, most - len(checks)), *checks]
            paths += [path for path in helpers.paths.found(most, edited=True) if path not in paths]
        found = self.found()
        steps = [f"NEXT: {text}" for text in _texts(found["next_step_hints"], most)]
        run = tuple(filter(is_safe, dict.fromkeys(checks)))
        return SessionSignals(
            summary=self.story.text(run),
            signals=Signals(
                decisions=_texts(found["decisions"], most),
                gotchas=_texts(found["gotchas"], most),
                next_step_hints=tuple([*self.done(), *steps][-most:] if most > 0 else ()),
                key_paths=tuple(filter(is_safe, paths[: max(0, most)])),
                validation_observations=run,
            ),
        )


def _judged(passage: Excerpt, speeches: Sequence[Speech]) -> Iterator[Signal]:
    for kind in KINDS:
        if (score := probability(kind, passage)) >= least(kind, 0) and not is_refused(kind, passage, speeches):
            text = capped(tidy(passage.text))
            if is_safe(text):
                yield Signal(kind=kind, text=text, score=score, passage=passage)


def _texts(found: Sequence[Signal], most: int) -> tuple[str, ...]:
    """The likeliest, in the order in which they were said."""
    ordered = sorted(found[: max(0, most)], key=lambda one: (one.passage.speech.turn, one.passage.begin))
    return tuple(dict.fromkeys(one.text for one in ordered))


def is_refused(kind: Kind, passage: Excerpt, speeches: Sequence[Speech]) -> bool:
    """Whether what the agent says is refused by the user's next word."""
    answer = next((one for one in speeches if one.number > passage.speech.number), passage.speech)
    return kind != "next_step_hints" and passage.speech.by == "agent" and answer.by == "user" and answer.refuses()


class Weights(Struct, frozen=True):
    """The weights of one kind, and the bounds: log odds of the likeliest, more for each next, how likely to propose."""

    least: float
    rise: float
    sure: float
    bias: dict[str, float]
    features: dict[str, dict[str, float]]


@functools.cache
def weights() -> dict[Kind, Weights]:
    with open(os.path.join(DATA, "weights.json"), "rb") as file:
        return msgspec.json.decode(file.read(), type=dict[Kind, Weights])


def least(kind: Kind, kept: int) -> float:
    return 1 / (1 + math.exp(-weights()[kind].least - weights()[kind].rise * kept))


def stated(kind: Kind, passage: Excerpt) -> float | None:
    """What is labelled is what its label says, and what the user says is decided is a decision; None of all else."""
    first, count = passage.speech.sentences[passage.begin], passage.end - passage.begin
    is_one = count == 1
    if first.label or count > LONGEST[kind]:
        return float(LABELS[kind] in first.label and is_one)
    is_said = kind == "decisions" and is_one and passage.speech.by == "user" and "question" not in first.marks
    found = _DECIDED.match(first.text) if is_said else None
    return float(not cues_of(found["said"] or "")[0] & {"negation", "maybe"}) if found else None


def probability(kind: Kind, passage: Excerpt) -> float:
    """How likely a passage is what someone would keep."""
    if (known := stated(kind, passage)) is not None:
        return known
    by, table = passage.speech.by, weights()[kind]
    own = table.features[by]
    total = table.bias[by] + sum(own.get(name, 0.0) * value for name, value in passage.features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
