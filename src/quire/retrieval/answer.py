"""What a question is answered with: hits, what is connected to them, and what was withheld and why."""

from __future__ import annotations

import msgspec

from quire.model import Problem, Record, Verdict

__all__ = ["Answer", "Hit", "Link", "Withheld"]


class Hit(msgspec.Struct, kw_only=True):
    """A record that answers, with its score and the reasons for it."""

    record: Record
    score: float
    why: str
    parts: dict[str, float]
    files: tuple[str, ...] = ()
    """Of the files that were asked for, those that it governs."""
    verdict: Verdict | None = None
    """Whether it is still true of the code; None where nobody was asked."""


class Link(msgspec.Struct, kw_only=True, frozen=True):
    """A record that is connected to a hit; `sentence` keeps the direction of the relation."""

    record: Record
    sentence: str
    score: float


class Withheld(msgspec.Struct, kw_only=True, frozen=True):
    """A record that matches but is no longer current."""

    ref: str
    title: str
    reason: str
    is_faded: bool = False
    """Whether it is current otherwise, and only was not confirmed for long."""


class Answer(msgspec.Struct, kw_only=True):
    question: str
    heading: str
    """What was asked, in words: the question, or the file."""
    hits: list[Hit]
    connected: list[Link] = []
    open_questions: list[Link] = []
    withheld: list[Withheld] = []
    closest: list[Hit] = []
    """Where nothing is relevant enough: the records that came nearest."""
    markdown: str = ""
    tokens: int = 0
    truncated: bool = False
    beyond: int = 0
    """How many more there are than were asked for."""
    faded: list[Hit] = []
    """Matches that were withheld only because nobody confirmed them for long, the best match first."""
    weak: bool = False
    """Nothing clearly answers; what came nearest is given all the same."""
    shown: list[str] = []
    """The refs of the hits that found room in the text."""
    flags: dict[str, tuple[str, ...]] = {}
    """By ref, what the text of a record tries to make its reader do; only of answers that are fenced."""
    warnings: list[Problem] = []
