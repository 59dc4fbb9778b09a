"""Fit lines below headings into a budget of tokens and, where set, of characters.

Everything that is sent without being rendered as an answer is fitted with it: the text of a hook, the context of facts.
"""

from __future__ import annotations

import math
from typing import Generic, TypeVar

import msgspec

from quire.model.tokens import count_tokens


def line_cost(line: str) -> int:
    """Tokens of a line with its end. The sum over the lines of a text is never less than what the text costs."""
    return count_tokens(line) + 1


class PageLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line, the heading it stands below, and its cost."""

    heading: str
    text: str
    cost: int


AnyLine = TypeVar("AnyLine", bound=PageLine)


class BudgetPage(Generic[AnyLine]):
    """The lines that were placed, in that order, and the room that is left."""

    def __init__(self, tokens: int, chars: float = math.inf) -> None:
        self.room = tokens
        self.lines: list[AnyLine] = []
        self._chars = chars
        self._headings: set[str] = set()

    def cost(self, line: AnyLine) -> int:
        """What a line costs here: with its heading where that is not there yet."""
        return line.cost + (0 if line.heading in self._headings else line_cost(line.heading))

    def add(self, line: AnyLine, kept: int = 0) -> bool:
        """Place a line if it leaves the tokens that are kept for others; whether it was placed."""
        cost = self.cost(line)
        size = len(line.text) + 1 + (0 if line.heading in self._headings else len(line.heading) + 1)
        if cost > self.room - kept or size > self._chars:
            return False
        self.room -= cost
        self._chars -= size
        self.lines.append(line)
        self._headings.add(line.heading)
        return True

    def below(self, heading: str) -> list[AnyLine]:
        return [line for line in self.lines if line.heading == heading]
