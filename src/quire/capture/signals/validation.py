"""Validation: the checks that were run and how they ended at last, as `command: result`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from quire.capture.signals.commands import check_command, checks_in, covers
from quire.capture.signals.cues import cue
from quire.capture.signals.labels import CHECKED
from quire.capture.signals.outcomes import Outcome, outcome_of, spoken_counts
from quire.capture.signals.sentences import Block
from quire.capture.signals.wording import capped, tidy

KEPT = 256
_OPEN_CALLS = 64
_CODE = re.compile(r"`([^`\n]{3,160})`")
_AT_START = re.compile(r"([\w./-]+(?: [\w./:@-]+){0,6}?)(?=\s{2,}|\s+(?:passes|passed|is|fails|failed|ok)\b|[:：])")
_RESULT = re.compile(r"(?:ok|pass\w*|fail\w*|clean|green|red|\d+|is|no|[:：—–-])\b|[—–✓✅❌-]", re.I)


class _Check(Struct):
    command: str
    outcome: Outcome
    spoken: bool
    turn: int


class Validations:
    """The checks of a session, as far as it was heard."""

    def __init__(self) -> None:
        self._checks: dict[str, _Check] = {}
        self._told: dict[str, None] = {}
        self._open: dict[str, deque[str]] = {}
        self._answered: set[str] = set()

    def called(self, tool: str, command: str) -> None:
        """A call that may be a check; its answer comes later. Calls of one tool are answered in their order."""
        if tool in self._answered:
            # The calls before were answered, as far as they will be.
            self._open.pop(tool, None)
            self._answered.discard(tool)
        waiting = self._open.setdefault(tool, deque(maxlen=_OPEN_CALLS))
        waiting.append(check_command(command))
        if len(self._open) > _OPEN_CALLS:
            oldest = next(iter(self._open))
            del self._open[oldest]
            self._answered.discard(oldest)

    def interrupted(self) -> None:
        """Somebody speaks: calls that are still open are answered now or never."""
        self._answered.update(self._open)

    def answered(self, tool: str, output: str, turn: int, *, failed: bool) -> None:
        waiting = self._open.get(tool)
        if waiting is None:
            return
        self._answered.add(tool)
        command = waiting.popleft() if waiting else ""
        if command:
            self._note(command, outcome_of(output, failed=failed), turn, spoken=False)

    def said(self, blocks: Iterable[Block], turn: int) -> None:
        """Checks that somebody says they ran. What was seen to run counts more."""
        for block in blocks:
            for sentence in block.sentences:
                verdict = _verdict(sentence.text)
                if verdict is None:
                    continue
                commands = [
                    command for name in _named(sentence.written, block.kind) if (command := check_command(name))
                ]
                counts = spoken_counts(sentence.text, passed=verdict)
                for command in dict.fromkeys(commands):
                    is_test = "test" in command or len(commands) == 1
                    self._note(command, Outcome(verdict, counts if is_test else ""), turn, spoken=True)
                if not commands and block.kind == CHECKED and block.labelled and len(self._told) < KEPT:
                    self._told[capped(tidy(sentence.text))] = None

    def found(self, most: int) -> list[str]:
        checks = list(self._checks.values())
        kept = [check for index, check in enumerate(checks) if not _is_outdone(check, checks[index + 1 :])]
        texts = [f"{check.command}: {check.outcome}" for check in kept] + list(self._told)
        return texts[-most:] if most > 0 else []

    def others(self, known: Validations, most: int) -> list[str]:
        """The checks that ran here and not in the other thread."""
        rest = [check for key, check in self._checks.items() if key not in known._checks and not check.spoken]
        texts = [f"{check.command}: {check.outcome}" for check in rest]
        return texts[-most:] if most > 0 else []

    def _note(self, command: str, outcome: Outcome, turn: int, *, spoken: bool) -> None:
        key = " ".join(command.split())
        held = self._checks.get(key)
        if held and spoken and not held.spoken:
            return
        # The last run stands at the end.
        self._checks.pop(key, None)
        self._checks[key] = _Check(command, outcome, spoken, turn)
        if len(self._checks) > KEPT:
            self._checks.pop(next(iter(self._checks)))


def _is_outdone(check: _Check, later: list[_Check]) -> bool:
    """Whether later runs say more: the same was run again, or after a failure something wider passed."""
    parts = checks_in(check.command)
    return bool(parts) and all(any(_outdoes(other, one, check) for other in later) for one in parts)


def _outdoes(other: _Check, one: tuple[str, frozenset[str]], check: _Check) -> bool:
    tool, looked_at = one
    for program, wider in checks_in(other.command):
        is_repaired = other.outcome.passed and not check.outcome.passed and covers(wider, looked_at)
        if program == tool and (wider == looked_at or is_repaired):
            return True
    return False


def _verdict(text: str) -> bool | None:
    if cue("failed").search(text):
        return bool(re.search(r"\b(?:no|0|none|kein\w*|sin|sans) (?:\w+ )?(?:fail|error|issue|fehler)", text, re.I))
    return True if cue("passed").search(text) else None


def _named(written: str, kind: str) -> list[str]:
    """The command lines that a sentence may name: between backticks, or at its beginning."""
    names = _CODE.findall(written)
    begins = _AT_START.match(written.replace("`", ""))
    if begins:
        names.append(begins[1])
    if kind == CHECKED and not names:
        words = written.split()
        ends = (end for end in range(len(words) - 1, 0, -1) if _RESULT.match(words[end]))
        names += [" ".join(words[:end]) for end in ends][-1:]
    return names
