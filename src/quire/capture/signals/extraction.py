"""What a session leaves behind, told from its turns by rules: decisions, gotchas, next steps, files, checks, a summary.

The turns are heard once, in their order, and of each only what may last is kept, so a session may be of any length. The
same turns give the same signals. What a later turn says holds against an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quire.capture.quotable_text import safe_pin, safe_text
from quire.capture.signals.decisions import Decisions
from quire.capture.signals.gotchas import Gotchas
from quire.capture.signals.next_steps import NextSteps
from quire.capture.signals.notes import Note
from quire.capture.signals.paths import Paths, is_edit
from quire.capture.signals.sentences import blocks_of, read_part
from quire.capture.signals.summary import Story
from quire.capture.signals.validation import Validations
from quire.capture.signals.wording import is_safe
from quire.capture.transcripts.types import Turn
from quire.guard.hostile_text import make_safe
from quire.layers.journal.types import Signals

MOST = 12
_COMMAND_CHARS = 2_000


class SessionSignals(Struct, frozen=True):
    """What of a session lasts."""

    summary: str
    signals: Signals


class Traced(Struct, frozen=True, kw_only=True):
    """What of a session lasts, each text with its weight and with the turn of the main thread that gave rise to it.

    Helpers are left out: whoever speaks to them as their user is an agent. Of the steps those alone are told that are
    still open.
    """

    session: SessionSignals
    decisions: tuple[Note, ...] = ()
    gotchas: tuple[Note, ...] = ()
    steps: tuple[Note, ...] = ()


def extract(turns: Iterable[Turn], *, root: str = "", most: int = MOST) -> SessionSignals:
    """The signals of a session. `root` is the repository, for paths that name it; `most` is how many of each kind."""
    main, helpers = _listened(turns, root)
    return _signals(main, helpers, most)


def trace(turns: Iterable[Turn], *, root: str = "", most: int = MOST) -> Traced:
    """The signals of a session, and where in it they come from. Turns of the main thread are counted from 1."""
    main, helpers = _listened(turns, root)
    session = _signals(main, helpers, most)
    if not main.spoke:
        return Traced(session=session)
    return Traced(
        session=session,
        decisions=_safe_notes(main.decisions.notes(most)),
        gotchas=_safe_notes(main.gotchas.notes(most)),
        steps=_safe_notes([note for note in main.steps.notes(most) if not note.done]),
    )


def _listened(turns: Iterable[Turn], root: str) -> tuple[_Listener, _Listener]:
    main, helpers = _Listener(root), _Listener(root)
    for turn in turns:
        (helpers if turn.is_subagent else main).hear(turn)
    return main, helpers


def _signals(main: _Listener, helpers: _Listener, most: int) -> SessionSignals:
    # A transcript may be that of a helper alone: then nobody else speaks.
    return main.signals(most, helpers) if main.spoke else helpers.signals(most)


class _Listener:
    """Hears one thread of a session."""

    def __init__(self, root: str) -> None:
        self.spoke = False
        self.decisions = Decisions()
        self.gotchas = Gotchas()
        self.steps = NextSteps()
        self.paths = Paths(root)
        self.checks = Validations()
        self.story = Story()
        self._turn = 0
        self._asked = False
        self._command = ""

    def hear(self, turn: Turn) -> None:
        self._turn += 1
        if turn.role == "tool":
            self.checks.answered(turn.tool, turn.text, self._turn, failed=turn.is_error)
            self.gotchas.ran(self._command, failed=turn.is_error)
        elif turn.tool:
            self.paths.called(turn.tool, turn.text, turn.paths)
            self.steps.worked(is_edit=is_edit(turn.tool))
            if is_edit(turn.tool):
                self.gotchas.edited()
            command = safe_text(turn.text, _COMMAND_CHARS)
            self.checks.called(turn.tool, command)
            self._command = command[:200]
        elif turn.text.strip():
            self._said(turn)

    def _said(self, turn: Turn) -> None:
        # Secrets go before anything is cut: half of one would not be known as one. What held it is dropped by its mark.
        text = safe_pin(make_safe(read_part(turn.text)))
        if turn.role == "system" and not turn.is_summary:
            return
        self.spoke = True
        blocks = list(blocks_of(text))
        self.paths.said(text)
        if turn.is_summary:
            for listener in (self.decisions, self.gotchas, self.steps):
                listener.summary(blocks, self._turn)
            self.story.summary(blocks)
            return
        self.checks.said(blocks, self._turn)
        if turn.role == "user":
            self.checks.interrupted()
            taken = self.decisions.user(blocks, self._turn, is_first=not self._asked)
            self.gotchas.user(blocks, self._turn, taken, is_first=not self._asked)
            self.steps.user(blocks, self._turn, taken)
            self.story.user(blocks)
            self._asked = True
        else:
            taken = self.decisions.assistant(blocks, self._turn)
            cause = self.gotchas.assistant(blocks, self._turn, taken)
            self.steps.assistant(blocks, self._turn, cause)
            self.story.assistant(blocks)

    def signals(self, most: int, helpers: _Listener | None = None) -> SessionSignals:
        checks, gotchas, paths = self.checks.found(most), self.gotchas.found(most), self.paths.found(most)
        if helpers:
            # What helpers decided or planned was theirs. What they changed, ran and stumbled over fills up the rest.
            checks = [*helpers.checks.others(self.checks, most - len(checks)), *checks]
            gotchas += helpers.gotchas.found(most - len(gotchas), sure=True)
            paths += [path for path in helpers.paths.found(most, edited=True) if path not in paths]
        return SessionSignals(
            summary=self.story.text(list(_safe(checks))),
            signals=Signals(
                decisions=_safe(self.decisions.found(most)),
                gotchas=_safe(gotchas),
                next_step_hints=_safe(self.steps.found(most)),
                key_paths=_safe(paths[: max(0, most)]),
                validation_observations=_safe(checks),
            ),
        )


def _safe(texts: list[str]) -> tuple[str, ...]:
    return tuple(text for text in dict.fromkeys(texts) if is_safe(text))


def _safe_notes(notes: list[Note]) -> tuple[Note, ...]:
    return tuple(note for note in notes if is_safe(note.text))
