"""Next steps: what is left to do, as `NEXT: title: start`, and what of it was done, as `DONE: title`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from quire.capture.quoting import quote
from quire.capture.signals.cues import cue
from quire.capture.signals.diagnosis import asks_for
from quire.capture.signals.labels import DONE, NEXT, PLAN
from quire.capture.signals.leftovers import declines, is_left, own_words, puts_off, split_steps
from quire.capture.signals.notes import Note, Notes
from quire.capture.signals.sentences import Block
from quire.capture.signals.wording import TEXT_CHARS, opened, pair, share, stems, tidy

_BEGINS = re.compile(
    r"[,;(–—]?\s*\b((?:start(?:ing)?|begin(?:ning)?) (?:in|with|at|from|by)\b.+|empezando por .+|comenzando por .+"
    r"|en commençant par .+|beginnend mit .+|am besten (?:mit|in) .+|with the .{1,30}/\S+.*)$",
    re.I,
)
_HEAD = re.compile(
    r"\W*(?:next(?:,)?(?: up)? (?:i['’]d|i would|we (?:should|could|need to)|you (?:should|could))"
    r"|(?:and )?after that|what is left is|still to do is|offen ist noch|es fehlt noch|il reste à|queda por|falta"
    r"|i['’]d suggest to|you should)\s+",
    re.I,
)
_TAIL = re.compile(
    r"[;,]?\s*(?:(?:that|this|it) would be a good next step|(?:and )?(?:that|it) is (?:still )?(?:open|left|pending)"
    r"|i (?:have left|left) it\b.*)\W*$",
    re.I,
)
_ENUMERATED = re.compile(r"(?<!\S)\(?(\d)[).]\s+(.+?)(?=,?\s+\(?\d[).]\s|\.\s|\.?$)")
_NUMBERS = re.compile(r"\b(?:steps?|points?|items?|parts?|number)\s+((?:\d(?:\s*(?:,|and|&|to|-)\s*)?)+)", re.I)
_ALL = re.compile(
    r"\b(?:all (?:of (?:them|it|these) |(?:two|three|four|five|six|\d+) )?(?:(?:points?|steps?|items?|tasks?"
    r"|parts?) )?(?:are|is) (?:now )?(?:done|finished|complete)|everything is (?:done|finished))",
    re.I,
)
_GO = re.compile(
    r"\W*(?:yes|ok|okay|sure|please|go|do|continue|proceed|both|all of them|ja|mach|sí|hazlo|oui|好|はい)\b", re.I
)
_PRONOUN = re.compile(
    r"\b(?:do|leave|keep|put|fix|split|make|look at|add|done?|about) (?:that|it|this|them|these)\b", re.I
)
_DEFERRED_TAIL = re.compile(r",?\s*\bi['’]ll (?:put|add|note) .{1,40}$", re.I)
_SHORT_REFERENCE = re.compile(r"\b(?:fixed|done|changed|looked at|touched) (?:that|it|this|them)\W*$", re.I)
_SHOULD = re.compile(r"\W*you should (?!now|see|be|have|get|notice|find|hear|also see)(?=\w)", re.I)
_WHERE = re.compile(r"\b(?:that|it|this|one|start|begin)\b.{0,60}[\w-]+/[\w./-]+|[\w-]+/[\w./-]+.{0,40}\bstart\b", re.I)
_IT = re.compile(r"\W*(?:it|that|this|they|these|those|das|es|eso|esto|ça|cela|isso)\b", re.I)
_WANT_ME = re.compile(
    r"[;,.–—-]\s*(?:do you )?(?:want me|shall i|should i|would you like|soll ich|quieres que|tu veux que)\b.*[?？]\s*$",
    re.I,
)
_ORDER_IT = re.compile(r"^\W*(?!leave|keep|put|that|this|it|do\b)\w+ (?:it|that|them|those|this)\b", re.I)
_LEAVE = re.compile(r"\W*(?:\w+,? ){0,2}(?:leave|put|keep|do|let|move|make|open|create|file|we)\b", re.I)
_GOES = re.compile(r"\b(?:would|goes?|belongs?|i['’]d|begin|start)\b.*[\w-]+/[\w./-]+", re.I)
_LEAST_STEMS = 2
_DONE_SHARE = 0.55

MENTIONED, DEFERRED, LISTED = 1, 2, 3

__all__ = ["NextSteps"]


class NextSteps:
    """The steps of a session as far as it was heard."""

    def __init__(self) -> None:
        self._notes = Notes(heavier_stays=True)
        self._plan: dict[str, str] = {}
        self._asked: set[str] = set()
        """Steps that the user said to go on with; the next report of success is about them."""
        self._last_turn = 0
        self._since = 0
        """The first turn of the agent since the user spoke."""
        self._is_speaking = False
        """Whether the agent spoke last."""
        self._is_pointed = False
        """Whether the user gave an order about what the agent said, without naming it."""
        self._meant: set[str] = set()
        """What the agent mentioned and the user then spoke of: if something is changed now, it is that."""
        self._put = ""
        """What the user just put off."""
        self._last_said = ""

    def found(self, most: int) -> list[str]:
        return [f"{'DONE' if note.done else 'NEXT'}: {note.text}" for note in self._notes.best(most)]

    def user(self, blocks: Iterable[Block], turn: int, taken: Set[str] = frozenset()) -> None:
        self._is_speaking, self._is_pointed, self._meant, self._put = False, False, set(), ""
        for block in blocks:
            if block.kind in (NEXT, PLAN, DONE) or block.checked is not None:
                self._listed(block, turn)
                continue
            if block.kind:
                continue
            for sentence in block.sentences:
                if self._last_turn and not puts_off(sentence.text):
                    about = stems(sentence.text)
                    is_pointed = len(about) <= _LEAST_STEMS and bool(_ORDER_IT.search(sentence.text))
                    self._is_pointed = self._is_pointed or is_pointed
                    self._meant |= {
                        note.text
                        for note in self._notes
                        if note.turn == self._last_turn and (is_pointed or note.stems & about)
                    }
                if self._last_turn and sentence.text not in taken:
                    self._user_says(sentence.text, turn)

    def _user_says(self, text: str, turn: int) -> None:
        if declines(text):
            self._forget()
            return
        if text.endswith(("?", "？")):
            return
        if puts_off(text):
            self._put_off(_DEFERRED_TAIL.sub("", text), turn)
            return
        self._finish(text)
        if _GO.match(text):
            self._asked = {note.text for note in self._notes if not note.done and note.turn == self._last_turn}

    def _put_off(self, text: str, turn: int) -> None:
        own = own_words(text)
        mentioned = [note for note in self._notes if note.turn == self._last_turn]
        if own and not (_PRONOUN.search(own) and mentioned):
            self._put = _clean(own)
            self._add(self._put, DEFERRED, turn)
        elif mentioned:
            for note in mentioned:
                self._notes.replace(note, weight=max(note.weight, DEFERRED))
        elif len(stems(self._last_said)) > _LEAST_STEMS:
            # `Leave that for tomorrow`: what the agent spoke of last. `Document that later` says what to do with it.
            is_work = asks_for(text) and not _LEAVE.match(text)
            self._add(pair(_clean(text), self._last_said) if is_work else _clean(self._last_said), DEFERRED, turn)

    def worked(self, *, is_edit: bool) -> None:
        """The agent goes on with its work: what was just said to be missing is what it works on."""
        if self._is_speaking:
            self._forget()
        if is_edit or self._is_pointed:
            for note in self._notes:
                if note.text in self._meant and note.weight == MENTIONED and not note.done:
                    self._notes.drop(note)
            self._meant = set()

    def _forget(self) -> None:
        """Drop what the agent mentioned since the user spoke."""
        for note in self._notes:
            if note.turn >= self._since and note.weight == MENTIONED and not note.done:
                self._notes.drop(note)

    def assistant(self, blocks: Iterable[Block], turn: int, cause: str = "") -> None:
        """Hear the agent. What is the cause of something is not left to do."""
        for block in blocks:
            if block.kind in (NEXT, PLAN, DONE) or block.checked is not None:
                self._listed(block, turn)
                continue
            if block.kind:
                self._last_said = block.sentences[-1].text
                continue
            texts = [sentence.text for sentence in block.sentences]
            for index, text in enumerate(texts):
                if not block.is_item and text.rstrip(".。") not in cause:
                    self._agent_says(
                        text, texts[index - 1] if index else "", "".join(texts[index + 1 : index + 2]), turn
                    )
                self._last_said = "" if text.endswith(("?", "？")) else text
        self._put = ""
        self._since = self._since if self._is_speaking else turn
        self._last_turn, self._is_speaking = turn, True

    def _agent_says(self, text: str, previous: str, following: str, turn: int) -> None:
        text = _WANT_ME.sub("", text)
        if text.endswith(("?", "？", ":", "：")) or cue("polite", at_start=True).match(text):
            return
        if self._finish(text):
            return
        if self._put and _GOES.search(text):
            # What the user put off, and where it belongs.
            for note in self._notes:
                if note.text == self._put:
                    self._notes.replace(note, text=pair(note.text, text))
            return
        if is_left(text) or _SHOULD.match(text):
            step = pair(previous, text) if previous and _IT.match(text) else _clean(text)
            if following and _WHERE.search(following) and ": " not in step:
                step = pair(step, following)
            if len(stems(step)) >= _LEAST_STEMS and not _SHORT_REFERENCE.search(step):
                self._add(step, MENTIONED, turn)

    def summary(self, blocks: Iterable[Block], turn: int) -> None:
        for block in blocks:
            self._listed(block, turn)
        self._last_turn = turn

    # -- lists ------------------------------------------------------------------------------------

    def _listed(self, block: Block, turn: int) -> None:
        if block.kind == DONE and block.labelled and not block.is_item and _is_work(block.sentences[0].text):
            self._add(_clean(block.sentences[0].text), LISTED, turn, done=True)
            return
        if block.kind == PLAN or (block.kind == NEXT and _ENUMERATED.search(block.sentences[0].text)):
            self._planned(block)
            return
        if block.kind == DONE:
            for sentence in block.sentences:
                self._match(stems(sentence.text))
            return
        if block.kind != NEXT and block.checked is None:
            return
        parts = [part for part in (block.title, *(sentence.text for sentence in block.sentences)) if part]
        if parts[0].endswith(("?", "？")) or cue("polite", at_start=True).match(parts[0]) or _is_none(parts[0]):
            return
        is_done = bool(block.checked) or bool(
            re.search(r"\W(?:done|erledigt|hecho|fait|完了|已完成)\b.{0,30}$", parts[0], re.I)
        )
        if len(parts) == 1 and not block.is_item:
            for part in split_steps(parts[0]):
                self._add(_clean(part), LISTED, turn, done=is_done)
        elif block.is_item or len(parts) == 1:
            text = _clean(parts[0]) if len(parts) == 1 else pair(_clean(parts[0]), parts[1])
            self._add(text, LISTED, turn, done=is_done)
        else:
            self._add(pair(_clean(parts[0]), parts[1]), LISTED, turn, done=is_done)

    def _planned(self, block: Block) -> None:
        text = " ".join(sentence.text for sentence in block.sentences)
        if block.number and len(self._plan) < 20:
            self._plan[block.number] = tidy(block.title or block.sentences[0].text)
        for number, item in _ENUMERATED.findall(text):
            self._plan[number] = tidy(item)

    # -- what is done -----------------------------------------------------------------------------

    def _finish(self, text: str) -> bool:
        """Mark what a sentence reports as done; whether it was such a report."""
        if not cue("finished").search(text):
            return False
        if _ALL.search(text):
            for item in self._plan.values():
                self._add(item, LISTED, self._last_turn, done=True)
            self._plan.clear()
            return True
        numbers = _NUMBERS.search(text)
        if numbers:
            for number in re.findall(r"\d", numbers[1]):
                if number in self._plan:
                    self._add(self._plan.pop(number), LISTED, self._last_turn, done=True)
            return True
        clause = re.split(r"[;.,]\s", text, maxsplit=1)[0]
        if cue("unfinished").search(clause):
            return False
        return self._match(stems(clause))

    def _match(self, said: frozenset[str]) -> bool:
        open_notes = [note for note in self._notes if not note.done]
        matched = [note for note in open_notes if share(_title_stems(note), said) >= _DONE_SHARE]
        if not matched:
            # `The script is done` names a step by one word, if only one step has it.
            named = [note for note in open_notes if _title_stems(note) & said]
            matched = named if len(named) == 1 and len(said) <= 5 else []
        if not matched:
            matched = [note for note in open_notes if note.text in self._asked] if len(said) <= 3 else []
        for note in matched:
            self._notes.replace(note, done=True)
        return bool(matched)

    def _add(self, text: str, weight: int, turn: int, *, done: bool = False) -> None:
        if text:
            self._notes.add(quote(text, TEXT_CHARS - 6), weight=weight, turn=turn, done=done)


def _title_stems(note: Note) -> frozenset[str]:
    return stems(note.text.partition(": ")[0])


def _is_work(text: str) -> bool:
    """Whether a text names a piece of work rather than telling of it."""
    return len(text.split()) <= 12 and not text[:2].isupper() and asks_for(text)


def _is_none(text: str) -> bool:
    return bool(re.fullmatch(r"\W*(?:none|nothing|n/?a|nichts|nada|rien|没有|なし)\b.{0,30}", text, re.I))


def _clean(text: str) -> str:
    """A step as `title: start`, without the words that only say that it is one."""
    text = _TAIL.sub("", opened(text))
    text = text[found.end() :] if (found := _HEAD.match(text)) else text
    text = tidy(text, imperative=True)
    begins = _BEGINS.search(text)
    if begins and begins.start() > 8 and ": " not in text[: begins.start()]:
        return pair(text[: begins.start()], begins[1].rstrip(")"))
    title, colon, rest = text.partition(": ")
    return pair(title, rest) if colon else text
