"""Validation: the checks that were run and how they ended at last, as `command: result`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import chain

from msgspec import Struct

from quire.capture.signals.commands import checks, checks_in, covers
from quire.capture.signals.cues import pattern
from quire.capture.signals.outcomes import Outcome, outcome_of, told
from quire.capture.signals.sentences import Sentence, split
from quire.capture.signals.speeches import Speech
from quire.capture.signals.words import capped, tidy

KEPT = 256
_OPEN_CALLS = 64
_CODE = re.compile(r"`([^`\n]{3,160})`")
_AT_START = re.compile(r"([\w./-]+(?: [\w./:@-]+){0,6}?)(?=\s{2,}|\s+(?:passes|passed|is|fails|failed|ok)\b|[:：])")
_PASSED = pattern("says_passed", re.I)


class _Check(Struct):
    command: str
    outcome: Outcome
    spoken: bool


class Validations:
    """The checks of a session, as far as it was heard."""

    def __init__(self) -> None:
        self._checks: dict[str, _Check] = {}
        self._told: dict[str, None] = {}
        self._open: dict[str, deque[list[str]]] = {}
        self._answered: set[str] = set()

    def called(self, tool: str, command: str) -> None:
        """A call that may be a check; its answer comes later. Calls of one tool are answered in their order."""
        if tool in self._answered:
            # The calls before were answered, as far as they will be.
            self._open.pop(tool, None)
            self._answered.discard(tool)
        self._open.setdefault(tool, deque(maxlen=_OPEN_CALLS)).append(checks(command))
        if len(self._open) > _OPEN_CALLS:
            self._answered.discard(oldest := next(iter(self._open)))
            del self._open[oldest]

    def answered(self, tool: str, output: str, *, failed: bool) -> None:
        if tool in self._open:
            self._answered.add(tool)
        commands = self._open[tool].popleft() if self._open.get(tool) else []
        outcomes = outcome_of(output, failed=failed, run=len(commands)) if commands else []
        # Which of several failed is not known.
        for command, outcome in zip(commands if outcomes[1:] else [" && ".join(commands)], outcomes, strict=False):
            self._note(command, outcome, spoken=False)

    def said(self, speech: Speech) -> None:
        """Checks that someone says they ran. What was seen to run counts more."""
        if speech.by == "user":
            # Calls that are still open are answered now or never.
            self._answered.update(self._open)
        for written in (one for line in speech.text.splitlines() for one in split(line)):
            self._spoken(written.lstrip("-*• "))
        for one in speech.sentences:
            if "says_checked" in one.label and not _PASSED.search(one.text) and len(self._told) < KEPT:
                self._told[capped(tidy(one.text))] = None

    def _spoken(self, written: str) -> None:
        outcome = told(written)
        if not outcome:
            return
        named = (*chain.from_iterable(map(checks, _CODE.findall(written))), *opening_checks(written))
        commands = list(dict.fromkeys(named))
        for command in commands:
            is_counted = "test" in command or len(commands) == 1
            self._note(command, outcome if is_counted else Outcome(outcome.passed), spoken=True)

    def found(self, most: int) -> list[str]:
        checks = list(self._checks.values())
        kept = [check for index, check in enumerate(checks) if not _is_outdone(check, checks[index + 1 :])]
        return [*(f"{check.command}: {check.outcome}" for check in kept), *self._told][-most:] if most > 0 else []

    def others(self, known: Validations, most: int) -> list[str]:
        """The checks that ran here and not in the other thread."""
        rest = [check for key, check in self._checks.items() if key not in known._checks and not check.spoken]
        return [f"{check.command}: {check.outcome}" for check in rest][-most:] if most > 0 else []

    def _note(self, command: str, outcome: Outcome, *, spoken: bool) -> None:
        key = " ".join(command.split())
        held = self._checks.get(key)
        if held and spoken and not held.spoken:
            return
        # The last run stands at the end.
        self._checks.pop(key, None)
        self._checks[key] = _Check(command, outcome, spoken)
        if len(self._checks) > KEPT:
            self._checks.pop(next(iter(self._checks)))


def opening_checks(text: str) -> Iterator[str]:
    """The check that a text begins with, and the one behind its first colon."""
    begins = (_AT_START.match(part.replace("`", "")) for part in (text, text.partition(": ")[2]))
    return chain.from_iterable(checks(found[1]) for found in begins if found)


def is_report(said: Sentence) -> bool:
    """Whether a sentence only tells how a check ended."""
    outcome = told(said.text)
    if not outcome or "cause" in said.cues:
        return False
    signs = bool(outcome.counts), any(opening_checks(said.text))
    return any(signs) if outcome.passed else all(signs)


def _is_outdone(check: _Check, later: list[_Check]) -> bool:
    """Whether later runs say more: the same was run again, or something wider."""
    parts = checks_in(check.command)
    # Which of several failed is not known: what ran again of them tells how it is now.
    is_enough = all if check.outcome.passed else any
    return bool(parts) and is_enough(any(_outdoes(other, one) for other in later) for one in parts)


def _outdoes(other: _Check, one: tuple[str, frozenset[str]]) -> bool:
    tool, looked_at = one
    return any(program == tool and covers(wider, looked_at) for program, wider in checks_in(other.command))
