"""Next steps: what is left to do, as `NEXT: title: start`, and what of it was done, as `DONE: title`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from quire.capture.quotable_text import quote
from quire.capture.signals.cues import cue
from quire.capture.signals.labels import DONE, NEXT, PLAN
from quire.capture.signals.leftovers import (
    declines,
    is_left,
    is_wish,
    left_part,
    needs,
    own_words,
    puts_off,
    split_steps,
)
from quire.capture.signals.notes import Note, Notes
from quire.capture.signals.sentences import Block
from quire.capture.signals.steps import Plan, is_enumeration, is_none, is_work, title_stems, worded
from quire.capture.signals.symptoms import asks_for
from quire.capture.signals.wording import TEXT_CHARS, pair, share, stems

# The object of the order is something that was said before.
_PRONOUN = re.compile(
    r"\b(?:do|leave|keep|put|fix|split|make|look at|add|done?|about|move|want|get to|take|write) (?:that|it|this|them"
    r"|these|those)\b|^\W*(?:eso|das|ça|isso|that|those)\b",
    re.I,
)
_DEFERRED_TAIL = re.compile(r",?\s*\bi['’]ll (?:put|add|note) .{1,40}$", re.I)
_WHERE = re.compile(r"\b(?:that|it|this|one|start|begin)\b.{0,60}[\w-]+/[\w./-]+|[\w-]+/[\w./-]+.{0,40}\bstart\b", re.I)
_IT = re.compile(r"\W*(?:(?:it|that|this|they|these|those|das|es|eso|esto|ça|cela|isso)\b|\w+ (?:them|it)\b)", re.I)
_WANT_ME = re.compile(
    r"[;,.–—-]\s*(?:do you )?(?:want me|shall i|should i|would you like|soll ich|quieres que|tu veux que)\b.*[?？]\s*$",
    re.I,
)
_LEAVE = re.compile(r"\W*(?:\w+,? ){0,2}(?:leave|put|keep|do|let|move|make|open|create|file|we)\b", re.I)
_GOES = re.compile(r"\b(?:would|goes?|belongs?|i['’]d|begin|start)\b.*[\w-]+/[\w./-]+", re.I)
_AFTER_THAT = re.compile(r"\W*(?:and )?(?:after (?:that|this)|danach|después|ensuite|depois disso)\b", re.I)
_LEAST_STEMS = 2
_DONE_SHARE = 0.55

MENTIONED, DEFERRED, LISTED = 1, 2, 3


class NextSteps:
    """The steps of a session as far as it was heard."""

    def __init__(self) -> None:
        self._notes = Notes(heavier_stays=True)
        self._plan = Plan()
        self._last_turn = 0
        self._since = 0
        """The first turn of the agent since the user spoke."""
        self._is_speaking = False
        """Whether the agent spoke last."""
        self._meant: set[str] = set()
        """What the agent mentioned and the user then spoke of: if something is changed now, it is that."""
        self._put = ""
        """What the user just put off."""
        self._last_said = ""
        self._needed: list[str] = []
        """What the user said is needed, as long as nobody works on it."""

    def found(self, most: int) -> list[str]:
        return [f"{'DONE' if note.done else 'NEXT'}: {note.text}" for note in self.notes(most)]

    def notes(self, most: int) -> list[Note]:
        for text in self._needed:
            self._add(text, MENTIONED, self._last_turn)
        self._needed = []
        return self._notes.best(most)

    # -- the user ---------------------------------------------------------------------------------

    def user(self, blocks: Iterable[Block], turn: int, taken: Set[str] = frozenset()) -> None:
        self._is_speaking, self._meant, self._put = False, set(), ""
        for block in blocks:
            if block.kind in (NEXT, PLAN, DONE) or block.checked is not None:
                self._listed(block, turn)
                continue
            if block.number and not self._last_turn:
                # What the user came with, point by point.
                self._plan.note(block)
            if block.kind:
                continue
            before = ""
            for sentence in block.sentences:
                if self._last_turn and not puts_off(sentence.text):
                    self._mean(sentence.text)
                if self._last_turn and sentence.text not in taken:
                    self._user_says(sentence.text, before, turn)
                before = sentence.text

    def _mean(self, text: str) -> None:
        """Note which of the steps that the agent spoke of the user speaks of now."""
        about = stems(text)
        self._meant |= {note.text for note in self._notes if note.turn == self._last_turn and note.stems & about}

    def _user_says(self, text: str, before: str, turn: int) -> None:
        if declines(text):
            self._forget()
            return
        if text.endswith(("?", "？")):
            return
        if self._put and _AFTER_THAT.match(text):
            self._put_more(text)
        elif puts_off(text):
            if not is_wish(text):
                self._put_off(_DEFERRED_TAIL.sub("", text), before, turn)
        elif needs(text):
            self._needed += [worded(part) for part in split_steps(text)]
        else:
            self._finish(text)

    def _put_off(self, text: str, before: str, turn: int) -> None:
        own = own_words(text)
        is_reference = not own or bool(_PRONOUN.search(own))
        mentioned = [note for note in self._notes if note.turn == self._last_turn]
        known = [note for note in mentioned if own and len(note.stems & stems(own)) >= _LEAST_STEMS]
        if known:
            # What the agent listed, and when.
            self._notes.replace(known[-1], text=pair(known[-1].text, own), weight=LISTED)
        elif own and is_reference and len(stems(before)) > _LEAST_STEMS:
            self._defer(pair(worded(before), own), turn)
        elif is_reference and mentioned:
            for note in mentioned:
                self._notes.replace(note, weight=max(note.weight, DEFERRED))
        elif own and not (is_reference and len(stems(self._last_said)) > _LEAST_STEMS):
            for part in split_steps(own):
                self._defer(worded(part), turn)
        elif len(stems(self._last_said)) > _LEAST_STEMS:
            # `Leave that for tomorrow`: what the agent spoke of last. `Document that later` says what to do with it.
            is_work = asks_for(text) and not _LEAVE.match(text)
            self._defer(pair(worded(text), self._last_said) if is_work else worded(self._last_said), turn)

    def _defer(self, text: str, turn: int) -> None:
        self._put = text
        self._add(text, DEFERRED, turn)

    def _put_more(self, text: str) -> None:
        """Add to what the user just put off where it belongs, or what comes after it."""
        for note in self._notes:
            if note.text == self._put:
                self._notes.replace(note, text=pair(note.text, text))

    def worked(self, *, is_edit: bool) -> None:
        """The agent goes on with its work: what was just said to be missing is what it works on."""
        self._needed = []
        if self._is_speaking:
            self._forget()
        if is_edit:
            for note in self._notes:
                if note.text in self._meant and note.weight == MENTIONED and not note.done:
                    self._notes.drop(note)
            self._meant = set()

    def _forget(self) -> None:
        """Drop what the agent mentioned since the user spoke."""
        for note in self._notes:
            if note.turn >= self._since and note.weight == MENTIONED and not note.done:
                self._notes.drop(note)

    # -- the agent --------------------------------------------------------------------------------

    def assistant(self, blocks: Iterable[Block], turn: int, cause: str = "") -> None:
        """Hear the agent. What is the cause of something is not left to do."""
        for block in blocks:
            texts = [sentence.text for sentence in block.sentences]
            if block.kind in (NEXT, PLAN, DONE) or block.checked is not None:
                self._listed(block, turn)
                continue
            if block.kind:
                self._last_said = " ".join(texts[-2:])
                continue
            for index, text in enumerate(texts):
                previous, following = texts[index - 1] if index else "", "".join(texts[index + 1 : index + 2])
                if block.is_item:
                    self._report(text)
                elif text.rstrip(".。") not in cause:
                    self._agent_says(text, previous, following, turn)
                self._hold(text)
        self._put = ""
        self._since = self._since if self._is_speaking else turn
        self._last_turn, self._is_speaking = turn, True

    def _hold(self, text: str) -> None:
        """Keep what the agent said last, for a user who only points at it."""
        if text.endswith(("?", "？")):
            self._last_said = ""
        elif len(stems(text)) > _LEAST_STEMS:
            self._last_said = text

    def _agent_says(self, text: str, previous: str, following: str, turn: int) -> None:
        text = _WANT_ME.sub("", text)
        if self._finish(text) or text.endswith(("?", "？", ":", "：")) or cue("polite", at_start=True).match(text):
            return
        if self._put and _GOES.search(text):
            self._put_more(text)
            return
        if is_left(text):
            part = left_part(text)
            step = pair(previous, part) if previous and _IT.match(part) else worded(part)
            if following and _WHERE.search(following) and ": " not in step:
                step = pair(step, following)
            if len(stems(step)) >= _LEAST_STEMS:
                self._add(step, MENTIONED, turn)

    def summary(self, blocks: Iterable[Block], turn: int) -> None:
        for block in blocks:
            self._listed(block, turn)
        self._last_turn = turn

    # -- lists ------------------------------------------------------------------------------------

    def _listed(self, block: Block, turn: int) -> None:
        first = block.sentences[0].text
        if block.kind == PLAN or (block.kind == NEXT and is_enumeration(first)):
            self._plan.note(block)
            return
        if block.kind == DONE:
            is_told = self._report(first) or not block.labelled or block.is_item
            if not is_told and is_work(first):
                self._add(worded(first), LISTED, turn, done=True)
            for sentence in block.sentences:
                self._match(stems(sentence.text))
            return
        if block.kind != NEXT and block.checked is None:
            return
        parts = [part for part in (block.title, *(sentence.text for sentence in block.sentences)) if part]
        if parts[0].endswith(("?", "？")) or cue("polite", at_start=True).match(parts[0]) or is_none(parts[0]):
            return
        is_done = bool(block.checked) or bool(
            re.search(r"\W(?:done|erledigt|hecho|fait|完了|已完成)\b.{0,30}$", parts[0], re.I)
        )
        if len(parts) == 1:
            for part in [parts[0]] if block.is_item else split_steps(parts[0]):
                self._add(worded(part), LISTED, turn, done=is_done)
        else:
            self._add(pair(worded(parts[0]), parts[1]), LISTED, turn, done=is_done)

    # -- what is done -----------------------------------------------------------------------------

    def _report(self, text: str) -> bool:
        """Mark the points of the plan that a text is about as done; whether there are any."""
        return self._done(self._plan.done_by(text) or self._plan.done_like(text))

    def _done(self, items: list[str]) -> bool:
        for item in items:
            for note in self._notes:
                if note.stems == stems(item):
                    self._notes.drop(note)
            self._add(item, LISTED, self._last_turn, done=True)
        return bool(items)

    def _finish(self, text: str) -> bool:
        """Mark what a sentence reports as done; whether it was such a report."""
        if not cue("finished").search(text):
            return False
        items = self._plan.done_by(text)
        if items is not None:
            self._done(items)
            return True
        clause = re.split(r"[;.,]\s", text, maxsplit=1)[0]
        if cue("unfinished").search(clause):
            return False
        return self._match(stems(clause)) or self._report(clause)

    def _match(self, said: frozenset[str]) -> bool:
        open_notes = [note for note in self._notes if not note.done]
        matched = [note for note in open_notes if share(title_stems(note.text), said) >= _DONE_SHARE]
        if not matched:
            # `The script is done` names a step by one word, if only one step has it.
            named = [note for note in open_notes if title_stems(note.text) & said]
            matched = named if len(named) == 1 and len(said) <= 5 else []
        for note in matched:
            self._notes.replace(note, done=True)
        return bool(matched)

    def _add(self, text: str, weight: int, turn: int, *, done: bool = False) -> None:
        if text:
            self._notes.add(quote(text, TEXT_CHARS - 6), weight=weight, turn=turn, done=done)
