"""What a session leaves behind: decisions, gotchas, next steps, files, checks, a summary, each with who said it.

Passages that a small model finds likely enough are kept, the likeliest first, each thing once. The same turns give the
same signals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from quire.capture.quotable_text import safe_text
from quire.capture.signals.features import Excerpt, passages
from quire.capture.signals.model import KINDS, Kind, probability, weights
from quire.capture.signals.paths import Paths
from quire.capture.signals.speeches import Speech, Talk
from quire.capture.signals.summary import Story
from quire.capture.signals.validation import Validations
from quire.capture.signals.words import capped, is_safe, share, tidy
from quire.capture.transcripts.types import Turn
from quire.layers.journal.types import Signals

MOST = 12
SPEECHES = 1_000
"""So many speeches are looked at together: of a longer session what was found is kept, and its speeches are not."""
_ALIKE = 0.6
"""Two passages of which the shorter has so much in the longer say the same."""
_COMMAND_CHARS = 2_000


class SessionSignals(Struct, frozen=True):
    """What of a session lasts."""

    summary: str
    signals: Signals


class Signal(Struct, frozen=True, kw_only=True):
    """A passage that is worth keeping, as it is told, with how likely it is."""

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


def worth(text: str, *, by: str = "agent") -> float:
    """How likely a text by itself holds something worth keeping, from 0 to 1."""
    talk = Talk()
    talk.hear(Turn(role="user" if by == "user" else "assistant", text=text))
    return max((probability(kind, one) for one in passages(talk.speeches) for kind in KINDS), default=0.0)


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
        told = list(self._kept)
        for passage in passages(self.talk.speeches):
            told += _judged(passage, self.talk.speeches)
        # Of two that are as likely, the later one holds.
        told.sort(key=lambda found: (-found.score, -found.passage.speech.turn))
        chosen: dict[Kind, list[Signal]] = {kind: [] for kind in KINDS}
        for one in told:
            if not any(is_same(one.passage, other.passage) for other in chosen[one.kind]):
                chosen[one.kind].append(one)
        return chosen

    def done(self) -> list[str]:
        """What a list or a label ticks off."""
        said = (one for speech in self.talk.speeches for one in speech.sentences)
        ticked = (one for one in said if one.done or "says_done" in one.label)
        texts = dict.fromkeys(capped(tidy(one.text)) for one in ticked if len(one.stems) > 1)
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
        score = probability(kind, passage)
        if score >= weights()[kind].least and not _is_refused(kind, passage, speeches):
            text = capped(tidy(passage.text))
            if is_safe(text):
                yield Signal(kind=kind, text=text, score=score, passage=passage)


def _texts(found: Sequence[Signal], most: int) -> tuple[str, ...]:
    """The likeliest, in the order in which they were said."""
    ordered = sorted(found[: max(0, most)], key=lambda one: (one.passage.speech.turn, one.passage.begin))
    return tuple(dict.fromkeys(one.text for one in ordered))


def is_same(one: Excerpt, other: Excerpt) -> bool:
    small, large = sorted((one.stems, other.stems), key=len)
    return one.overlaps(other) or share(small, large) >= _ALIKE


def _is_refused(kind: Kind, passage: Excerpt, speeches: Sequence[Speech]) -> bool:
    """Whether what the agent says is refused by the user's next word."""
    if kind == "next_step_hints" or passage.speech.by == "user":
        return False
    answer = next((one for one in speeches if one.number > passage.speech.number), None)
    return answer is not None and answer.by == "user" and answer.refuses()
