"""The data of an answer: hits, connected records, and the records withheld with the reason."""

from __future__ import annotations

import msgspec

from quire.model.records import Problem, Record
from quire.model.verdicts import Verdict

NOT_REVIEWED = "not reviewed"


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
    reviewed: bool | None = None
    """Whether a person has looked at it as it is now; None where nobody was asked."""
    tier: str = "answer"
    """`answer`, or `possible` for what may answer and is not clear."""
    holds_all: bool = False
    """Whether it holds every word of the question."""
    faded: bool = False
    """Whether nobody confirmed it for long; it is shown because nothing better answers."""
    effects: tuple[str, ...] = ()
    """What doing as it says could do; only of answers without a fence, whose marks say it."""
    amended_by: str = ""
    """A later record that says it changes this one."""
    session: str = ""
    """Of the journal: the session in which it was said."""


class ConnectedRecord(msgspec.Struct, kw_only=True, frozen=True):
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


class LeftOut(msgspec.Struct, kw_only=True, frozen=True):
    """A record that was measured and is not shown."""

    ref: str
    title: str
    rule: str
    parts: dict[str, float]


class Answer(msgspec.Struct, kw_only=True):
    question: str
    heading: str
    """What was asked, in words: the question, or the file."""
    hits: list[Hit]
    connected: list[ConnectedRecord] = []
    open_questions: list[ConnectedRecord] = []
    withheld: list[Withheld] = []
    left_out: list[LeftOut] = []
    """The best of what is not shown, and which rule left it out; only where that was asked for."""
    markdown: str = ""
    tokens: int = 0
    truncated: bool = False
    beyond: int = 0
    """How many more there are than were asked for."""
    faded: int = 0
    """How many matches nobody confirmed for long."""
    shown: list[str] = []
    """The refs of the hits that found room in the text."""
    flags: dict[str, tuple[str, ...]] = {}
    """By ref, what the text of a record tries to make its reader do; only of answers that are fenced."""
    warnings: list[Problem] = []

    @property
    def weak(self) -> bool:
        """Whether there are only possible answers."""
        return bool(self.hits) and all(hit.tier == "possible" for hit in self.hits)
