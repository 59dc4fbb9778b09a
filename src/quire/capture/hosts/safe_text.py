"""Check whether text of an imported file may be kept: no credentials, nothing that deceives or steers a model.

A problem says where it stands and why, without repeating it. All readers ask here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from quire.guard.hostile_text import find_hostile, make_safe
from quire.guard.prompt_attacks import find_instructions
from quire.guard.secrets import find_secrets
from quire.model.records import Problem

PROBLEMS_MOST = 20
"""Of one file so many are reported; more would hide the rest."""
# Pages on how to set a project up are full of it, and a person looks at it before it is kept.
_SETUP = "download and run"
_WRITTEN_OUT = "\\u{"
_AFTER_LEAK = "Replace the credential, then remove it there; git history keeps it until it is rewritten."


class Guard:
    """Whether a text of one file may be kept, and what is to be told of the file."""

    def __init__(self, shown: str, problems: Iterable[Problem] = ()) -> None:
        self.shown = shown
        self._problems = list(problems)
        self._refused: set[tuple[str, str, int]] = set()
        self._secret_lines: set[int] = set()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is to be told: the first problems, and how many there are beside them."""
        first = self._problems[:PROBLEMS_MOST]
        more = len(self._problems) - len(first)
        if more:
            said = f"{more} more of its lines or sections were left out."
            first.append(Problem(code="HostUnread", severity="warning", path=self.shown, message=said))
        return tuple(first)

    def know(self, text: str) -> None:
        """Look over the whole file, whose lines are asked for next.

        A rule may know a credential by what stands in the line before it.
        """
        self._secret_lines = {found.line for found in find_secrets(text) if found.certain}

    def tell(self, problem: Problem, *, first: bool = False) -> None:
        """Note a problem; one of the whole file comes `first`, so that it is always told."""
        self._problems.insert(0 if first else len(self._problems), problem)

    def passed(self, text: str, line: int, last: int = 0, *, spread: bool = False) -> str | None:
        """The text as it may be kept; None where it may not be, which is reported.

        It stands on `line`, or from there to `last`. Where it is `spread`, each of its lines is one of the file, and
        the very line is reported.
        """
        safe = make_safe(text)
        secrets = [found for found in find_secrets(safe) if found.certain]
        for found in secrets:
            place = line + found.line - 1 if spread else line
            why = f"It holds a credential ({found.rule}: {found.masked})"
            self._refuse(place, why, code="HostSecret", hint=_AFTER_LEAK)
        if secrets:
            return None
        if not self._secret_lines.isdisjoint(range(line, max(line, last) + 1)):
            self._refuse(line, "It holds a credential", code="HostSecret", hint=_AFTER_LEAK)
            return None
        if _deceives(text):
            place = line + _line_that_deceives(text) if spread else line
            why = "It holds deceptive characters"
            self._refuse(place, why, code="HostTextUnsafe", hint="Remove the characters, and import again.")
            return None
        flags = _steering(safe)
        if flags:
            place = line + _line_that_steers(safe) if spread else line
            why = f"It tries to steer the model that reads it ({', '.join(flags)})"
            self._refuse(place, why, code="HostTextSteers")
            return None
        return safe

    def _refuse(self, line: int, why: str, *, code: str, hint: str | None = None) -> None:
        if (self.shown, code, line) in self._refused:
            return
        self._refused.add((self.shown, code, line))
        said = f"{why}; that part is not proposed."
        self.tell(Problem(code=code, severity="warning", path=self.shown, line=line, message=said, hint=hint))


def _steering(text: str) -> list[str]:
    return [flag for flag in find_instructions(text) if flag != _SETUP]


def _deceives(text: str) -> bool:
    # What nobody sees is written out where it does not belong.
    return bool(find_hostile(text)) or make_safe(text).count(_WRITTEN_OUT) > text.count(_WRITTEN_OUT)


def _line_that_deceives(text: str) -> int:
    return next((number for number, line in enumerate(text.split("\n")) if _deceives(line)), 0)


def _line_that_steers(text: str) -> int:
    """On which line what steers is said to its end. Like the above, counted from zero."""
    lines = text.split("\n")
    return bisect_left(range(len(lines) - 1), True, key=lambda last: bool(_steering("\n".join(lines[: last + 1]))))
