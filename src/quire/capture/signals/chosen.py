"""Decisions as they are noted: what was added, taken back, picked last, and accepted until the agent says it anew."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.capture.signals.answers import statements, whole
from quire.capture.signals.choices import LEAST_STEMS
from quire.capture.signals.cues import cue
from quire.capture.signals.labels import DECISION
from quire.capture.signals.notes import Note, Notes
from quire.capture.signals.picks import points_at
from quire.capture.signals.replies import LABELLED, RESTATED, RULED, SAID
from quire.capture.signals.sentences import Block
from quire.capture.signals.wording import capped, is_alike, share, stems, tidy

_HEAD_CHARS = 60
_SAME_PICK = 0.4
_SAME_ANSWER = 0.3
_SAME_DONE = 0.2
_SAME_SIGNS = 0.15
_VAGUE_STEMS = 6
_SAID_AGAIN = 0.5
_SIGN = re.compile("[\u3040-\u9fff]")


class Chosen:
    """The decisions of a session, and what of the talk may still become one."""

    def __init__(self) -> None:
        self.accepted: list[str] = []
        """What of the agent's words the user chose; it counts unless the agent says it anew."""
        self.added = 0
        self._notes = Notes()
        self._picked: frozenset[str] = frozenset()
        self._picked_bare: frozenset[str] = frozenset()
        self._is_vague = False

    @property
    def is_vague(self) -> bool:
        """Whether what was picked is only pointed at: then the agent's words say more."""
        return self._is_vague

    def best(self, most: int) -> list[Note]:
        return self._notes.best(most)

    def add(self, text: str, weight: int, turn: int) -> None:
        found = stems(text)
        if cue("taken_back").search(text[:_HEAD_CHARS]) and (near := self.near(found, turn)):
            self._notes.drop(max(near, key=lambda note: note.turn))
        self._notes.add(capped(tidy(text)), weight=weight, turn=turn)
        self.added += 1

    def add_labelled(self, block: Block, turn: int) -> None:
        """Note what stands under a label that calls it a decision."""
        if block.kind != DECISION or block.checked:
            return
        for text in [whole(block)] if block.is_item or block.labelled or block.title else statements(block):
            if not text.endswith(("?", "？")) and not cue("undecided").search(text):
                self.add(text, LABELLED, turn)

    def drop_since(self, turn: int) -> None:
        """What the agent called decided after this turn is refused. What it only said anew the user had chosen."""
        for note in self._notes:
            if note.turn > turn and note.weight in (SAID, LABELLED):
                self._notes.drop(note)

    def near(self, found: frozenset[str], turn: int) -> list[Note]:
        """Earlier decisions about the same thing."""
        return [note for note in self._notes if note.turn < turn and _is_about(note.stems, found)]

    def settle(self, turn: int) -> None:
        """What was accepted and not said anew counts as it was proposed."""
        for text in self.accepted:
            self.add(text, RESTATED, turn)
        self.accepted = []

    # -- what was picked --------------------------------------------------------------------------

    def pick(self, worded: str, bare: str, turn: int) -> None:
        """Note what the user picked, in their words and with what it answers."""
        self.add(worded, RULED, turn)
        self._picked, self._picked_bare, self._is_vague = stems(worded), stems(bare), points_at(bare)

    def rule(self, worded: str, turn: int) -> None:
        """Note a rule that the user gives."""
        self.add(worded, RULED, turn)
        self._picked = self._picked_bare = stems(tidy(worded))

    def forget_pick(self) -> None:
        self._picked = frozenset()

    def is_picked(self, text: str) -> bool:
        """Whether the agent speaks of what the user just picked."""
        most = _VAGUE_STEMS if self._is_vague else LEAST_STEMS
        if not self._picked or not 0 < len(self._picked_bare) <= most:
            return False
        return share(self._picked_bare, stems(text)) > _SAID_AGAIN and len(stems(text)) >= LEAST_STEMS

    def is_taken(self, text: str) -> bool:
        """Whether what the agent says it did is what the user took."""
        taken = [self._picked, *map(stems, self.accepted)]
        return any(share(one, stems(text)) >= _SAME_DONE for one in taken)

    def is_told(self, text: str, told: Iterable[str]) -> bool:
        """Whether the agent speaks of what the user spoke of, or says what it will do about it."""
        known = frozenset().union(*map(stems, [*told, *self.accepted]))
        return bool(stems(text) & known) or bool(cue("commit").search(text))

    def replace(self, said: frozenset[str]) -> None:
        """What the agent calls agreed takes the place of what the user picked, if it is about that."""
        for note in self._notes:
            if self._picked and note.stems == self._picked and note.stems & said:
                self._notes.drop(note)
        self.forget_pick()

    def restate(self, text: str, turn: int, *, is_answer: bool = False) -> None:
        """The agent's wording takes the place of what the user picked, where it has details."""
        self.accepted = []
        picked, self._picked = self._picked, frozenset()
        is_short = len(self._picked_bare) <= LEAST_STEMS or is_answer
        least = _SAME_SIGNS if _SIGN.search(text) else _SAME_ANSWER if is_short else _SAME_PICK
        if picked and share(self._picked_bare, stems(text)) >= least:
            if len(stems(text)) < len(self._picked_bare):
                return
            for note in self._notes:
                if note.stems == picked:
                    self._notes.drop(note)
        self.add(text, RESTATED, turn)


def _is_about(old: frozenset[str], new: frozenset[str]) -> bool:
    return len(old & new) >= 2 or share(new, old) >= 0.3 or is_alike(old, new, 0.34)
