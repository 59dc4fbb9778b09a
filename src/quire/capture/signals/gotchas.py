"""Gotchas: what went wrong and why, and what will go wrong again for whoever does not know it, as `title: cause`."""

from __future__ import annotations

from collections.abc import Iterable, Set

from quire.capture.signals.causes import (
    LEAST_STEMS,
    bare_symptom,
    breaks,
    effect_of,
    explains,
    fullest,
    has_cause,
    has_problem,
    is_discovery,
    is_symptom,
    points_at,
    points_back,
    reason_of,
    says_nothing,
    split_cause,
    tells_what_is_lost,
    titled,
    warns,
    without_own_work,
)
from quire.capture.signals.choices import decides
from quire.capture.signals.cues import cue
from quire.capture.signals.diagnosis import explanation, is_dismissed, is_warning, points, states, without_lead
from quire.capture.signals.labels import CAUSE, GOTCHA, label_in
from quire.capture.signals.leftovers import is_left
from quire.capture.signals.notes import Note, Notes
from quire.capture.signals.sentences import Block
from quire.capture.signals.symptoms import LIKELY, asks_for, belongs, failure_of, symptom, without_mention
from quire.capture.signals.wording import capped, pair, share, stems

_ALIKE = 0.55
_NOTES = 4
_SAME_REPORT = 0.3
_BRIEF = 48
"""A cause that is told in so few characters is told in two sentences."""
_REPORT_TURNS = 4
"""For so many turns of the agent, what it explains is taken for what the user reported."""

_EDITED_POINTS, _FAILED_POINTS, _CLEAR_POINTS, _PLAIN_POINTS = 2, 2, 4, 5

WARNED, EXPLAINED, REPORTED, LABELLED = 1, 2, 3, 4


class Gotchas:
    """The gotchas of a session as far as it was heard."""

    def __init__(self) -> None:
        self._notes = Notes(alike=_ALIKE)
        self._report = ""
        """What the user said went wrong, until it is explained."""
        self._request = ""
        """What the user came with, until something is said to be its cause."""
        self._failure = ""
        """What just failed, until somebody spoke of it."""
        self._symptom = ""
        """What the agent sees go wrong, until it explains it."""
        self._is_sure = False
        """Whether what the user said is surely a report."""
        self._is_edited = False
        """Whether something was changed since: then what the agent says is more likely what it did."""
        self._has_asked = False
        """Whether the agent ended with a question."""
        self._is_searched = False
        """Whether a tool was run since."""
        self._guessed = ""
        """The note of what may be the cause, until one is said to be it."""
        self._guess_points = self._waited = self._added = 0
        self._last = ""

    def found(self, most: int, *, sure: bool = False) -> list[str]:
        """The gotchas; with `sure` those alone that somebody called one."""
        return [note.text for note in self.notes(most) if note.weight == LABELLED or not sure]

    def notes(self, most: int) -> list[Note]:
        return self._notes.best(most)

    def user(self, blocks: Iterable[Block], turn: int, taken: Set[str], *, is_first: bool) -> None:
        texts: list[str] = []
        count = 0
        for block in blocks:
            count += len(block.sentences)
            if block.kind:
                self._labelled(block, turn)
            else:
                texts += [sentence.text for sentence in block.sentences if sentence.text not in taken]
        told = [without_mention(text) for text in texts]
        if count >= _NOTES and not self._waited and not any(map(asks_for, told)):
            # Whoever says so much at once, and to nobody, writes notes.
            for text in filter(is_warning, told):
                self._add(split_cause(text), WARNED, turn)
            return
        if is_first and told and len(stems(told[0])) >= LEAST_STEMS:
            self._request = told[0]
        self.close()
        report, sure = symptom(told, is_first=is_first)
        is_answer = not is_first and (self._has_asked or bool(taken) or not self._is_searched)
        if report and not (is_answer and sure <= LIKELY):
            self._report, self._is_sure, self._waited = report, sure >= LIKELY, 0
            self._is_edited = self._is_searched = False
        elif self._waited and not self._has_asked:
            # The talk went on to something else.
            self._report = ""

    def ran(self, command: str, *, failed: bool) -> None:
        """A tool was run. If it failed, the agent may say why."""
        self._is_searched = True
        self._failure = failure_of(command) if failed else ""

    def edited(self) -> None:
        """Something was changed: what was said before stays the cause."""
        self._is_edited = True
        self.close()

    def close(self) -> None:
        """Somebody acts on what was said: it stays the cause."""
        if self._guessed:
            self._report = self._guessed = ""

    def assistant(self, blocks: Iterable[Block], turn: int, taken: Set[str] = frozenset()) -> str:
        """Hear the agent; what it says explains what the user reported."""
        self._waited += 1
        if self._waited > _REPORT_TURNS:
            self._report = ""
        self._symptom, self._has_asked, before = "", False, self._added
        said: list[list[str]] = []
        for block in blocks:
            if block.kind:
                self._labelled(block, turn)
                continue
            used = self._paragraph(block, turn, taken)
            self._has_asked = bool(block.sentences) and block.sentences[-1].text.endswith(("?", "？"))
            if not block.is_item:
                said.append([sentence.text for sentence in block.sentences if sentence.text not in {*taken, *used}])
        if any(is_dismissed(text) for texts in said for text in texts):
            self._failure = ""
        if self._added == before or (self._report and not self._failure):
            self._guess(said, turn)
        self._failure = ""
        return self._guessed

    def summary(self, blocks: Iterable[Block], turn: int) -> None:
        for block in blocks:
            if block.kind:
                self._labelled(block, turn)
            elif block.is_item and is_warning(block.sentences[0].text) and not decides(block.sentences[0].text):
                self._add(split_cause(block.sentences[0].text), EXPLAINED, turn)

    # -- a paragraph ------------------------------------------------------------------------------

    def _paragraph(self, block: Block, turn: int, taken: Set[str]) -> list[str]:
        """Note what a paragraph says by itself; which sentences that were."""
        used: list[str] = []
        texts = [
            without_own_work(without_lead(sentence.text)) for sentence in block.sentences if sentence.text not in taken
        ]
        previous, is_near = "", False
        for index, text in enumerate(texts):
            if cue("not_it").search(text):
                self._take_back(turn, is_said=bool(previous))
                previous = self._symptom = ""
                continue
            if is_discovery(text) and (cause := fullest(texts[index + 1 :])):
                self._add(self._named(self._symptom, cause), REPORTED, turn)
                return texts
            if previous and self._looks_back(text, previous, turn):
                used += [previous, text]
                previous = self._symptom = ""
                continue
            if says_nothing(text) and not (self._failure and points(text) >= _PLAIN_POINTS):
                is_near = False
                continue
            following = texts[index + 1] if index + 1 < len(texts) else ""
            told = f"{previous} {text}" if points_at(text) and states(previous) else text
            gotcha, weight = self._headed(text, previous, following) or self._read(
                told, following, is_near=is_near, block=block
            )
            if gotcha:
                used.append(text)
                self._add(gotcha, weight, turn)
                self._symptom = ""
            is_near = not gotcha and is_symptom(text)
            if is_near:
                self._symptom = text
            previous = text
        return used

    def _looks_back(self, text: str, previous: str, turn: int) -> bool:
        """Note that the sentence before was a cause, if this one says so; whether it does."""
        if points_back(text, failed=bool(self._failure)):
            self._add(self._named(self._failure, previous), REPORTED, turn)
            return True
        if tells_what_is_lost(text):
            self._report = ""
            self._add(pair(previous, text), EXPLAINED, turn)
            return True
        effect = effect_of(text)
        if effect and not has_cause(previous):
            self._add(self._named(effect, previous), EXPLAINED, turn)
            return True
        return False

    # -- one statement ----------------------------------------------------------------------------

    def _labelled(self, block: Block, turn: int) -> None:
        parts = [sentence.text for sentence in block.sentences]
        if parts[0].endswith(("?", "？")):
            return
        if block.kind == CAUSE:
            self._add(self._named(block.title, fullest(parts) or parts[0]), LABELLED, turn)
        elif block.kind == GOTCHA:
            title, rest = (block.title, " ".join(parts[:2])) if block.title else (parts[0], "".join(parts[1:2]))
            self._add(pair(title, rest) if rest else split_cause(title), LABELLED, turn)

    def _headed(self, text: str, previous: str, following: str) -> tuple[str, int] | None:
        """A sentence that calls itself a cause: `The reason is …`, as `title: cause`."""
        if reason := reason_of(text):
            if share(stems(self._report), stems(reason[0])) >= _SAME_REPORT:
                self._report = ""
            return pair(*reason), REPORTED
        kind, cause = label_in(text)
        if kind != CAUSE:
            head = cue("cause_head", at_start=True).match(text)
            if not head:
                return None
            cause = text[head.end() :].lstrip(" ,:：，")
        if len(stems(cause)) < 2:
            return None
        if len(cause) <= _BRIEF and following and not says_nothing(following):
            cause = f"{cause.rstrip('.。')}; {following}"
        symptom, self._request = self._symptom or self._report or self._request or previous, ""
        return self._named(symptom, cause), REPORTED

    def _read(self, text: str, following: str, *, is_near: bool, block: Block) -> tuple[str, int]:
        """What a sentence tells of a cause, as `title: cause`, and how sure that is."""
        is_wrong = has_problem(text) or bool(self._failure)
        if len(stems(text)) < LEAST_STEMS or (block.is_item and not is_wrong):
            return "", 0
        if self._report and not self._failure:
            return "", 0
        if has_cause(text):
            if is_near:
                return pair(bare_symptom(self._symptom), text), EXPLAINED
            if is_wrong or explains(text):
                return split_cause(text), EXPLAINED
        if is_near and breaks(self._symptom) and not cue("commit").search(text):
            return pair(bare_symptom(self._symptom), text), EXPLAINED
        is_told_next = bool(self._failure) and states(following) and points(following) > points(text)
        if (named := titled(text, failed=bool(self._failure))) and not is_told_next:
            return named, EXPLAINED
        if warns(text) or (is_warning(text) and not (is_left(text) and points(text) < _PLAIN_POINTS)):
            return split_cause(text), WARNED
        return "", 0

    def _named(self, symptom: str, cause: str) -> str:
        """A cause under the name of what it explains: what the user reported, else what the agent just saw."""
        if self._report:
            self._notes.drop_text(self._guessed)
        title, self._report = self._report or bare_symptom(symptom), ""
        return self._under(title, cause)

    def _under(self, title: str, cause: str) -> str:
        """A cause, under what it explains if that names it."""
        is_named = belongs(title, cause, is_near=self._is_sure or self._waited <= 1)
        return pair(title, cause) if is_named else split_cause(cause)

    def _add(self, text: str, weight: int, turn: int) -> None:
        text = capped(text)
        self._notes.add(text, weight=weight, turn=turn)
        self._last = text
        self._added += 1

    def _guess(self, said: list[list[str]], turn: int) -> None:
        """Note what is most likely the cause. What the user reported stays open for one that is said to be it."""
        if not self._report and not self._failure:
            return
        is_fresh = self._is_searched and not self._is_edited
        # Whoever looks first and then tells something explains what was reported.
        least = _FAILED_POINTS if self._failure else 1 + (not is_fresh) + (not self._is_sure)
        found = explanation(said, least + (_EDITED_POINTS if self._is_edited and not self._failure else 0))
        if not found or (self._guessed and found.points < min(self._guess_points, _CLEAR_POINTS)):
            return
        self._notes.drop_text(self._guessed)
        self._add(self._under(self._report, found.text), WARNED, turn)
        self._guessed, self._guess_points = (self._last if self._report else ""), found.points

    def _take_back(self, turn: int, *, is_said: bool) -> None:
        """The guess in the sentence before was wrong."""
        for note in self._notes:
            if is_said and note.turn == turn and note.text == self._last:
                self._notes.drop(note)
