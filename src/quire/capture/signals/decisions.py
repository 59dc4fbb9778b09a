"""Decisions: what was chosen and why, and what was taken back.

A choice is what somebody says is decided, a rule that the user gives, a proposal that the user accepts, and what the
agent repeats as agreed after the user chose. What could be done, what others decided and what is only asked is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from quire.capture.signals.choices import (
    LEAST_STEMS,
    SHORT_WORDS,
    decides,
    has_reason,
    is_acknowledgement,
    is_choice,
    is_done,
    is_no_statement,
    is_proposal,
    is_question,
    is_rule,
    may_say,
    restates,
    takes_back,
    with_reason,
    without_agreement,
)
from quire.capture.signals.cues import cue
from quire.capture.signals.labels import DECISION, DONE, NEXT
from quire.capture.signals.leftovers import is_later, is_left
from quire.capture.signals.notes import Note, Notes
from quire.capture.signals.picks import (
    agrees_in,
    answers,
    is_comment,
    is_remark,
    offers,
    points_at,
    settled_part,
    settles,
    with_context,
)
from quire.capture.signals.sentences import Block, Sentence
from quire.capture.signals.wording import capped, is_alike, share, stems, tidy

_ORDINALS = {"first": 0, "second": 1, "third": 2, "last": -1}
_REFERENCE = re.compile(
    r"\W*(?:(?:yes|ok|okay|option|number|let['’]?s (?:do|go with|take)|go with|take|do)[\s,]+){0,3}(?:the )?"
    r"(?P<what>first|second|third|last|[A-D]|[1-9])(?: (?:one|option))?(?: and (?P<other>[A-D]|[1-9]))?"
    r"(?=[\s,.!;]*$|[,.;]| but\b| and\b)",
)
_AND = re.compile(r"^[\s,.;]*(?:(?:and|but|und|aber|y|pero|et|mais)\s+)?", re.I)
_PENDING = 4
_OPTIONS = 9
_HEAD_CHARS = 60
_SAME_PICK = 0.4
_SENTENCES = 12
_SAME_ANSWER = 0.25
_SAME_SIGNS = 0.15
_VAGUE_STEMS = 6
_SAID_AGAIN = 0.5
_SAME_TEXT = 0.8
_PROPOSAL_CHARS = 200
_SIGN = re.compile("[\u3040-\u9fff]")
_AGAINST = re.compile(r"\b(?:against|not|n['’]t|push back)\b", re.I)
_REASON = re.compile(r"\W*(?:reason|because|since|that|this|it|they|otherwise|so|weil|denn|porque|car)\b", re.I)

SAID, RESTATED, RULED, LABELLED = 1, 2, 3, 4

__all__ = ["Decisions"]


class Decisions:
    """The decisions of a session as far as it was heard."""

    def __init__(self) -> None:
        self._notes = Notes()
        self._proposals: list[str] = []
        self._options: dict[str, str] = {}
        self._said: list[str] = []
        """What the agent said last."""
        self._question = ""
        """The last question, of whomever."""
        self._has_asked = False
        """Whether the user asked something in the last turn: what follows the answer may be the choice."""
        self._told: list[str] = []
        """What the user told in the last turn."""
        self._is_report = True
        """Whether the agent last told what it had done: then an order is about the next piece of work."""
        self._discussed = False
        """Whether the agent last offered something to choose from."""
        self._choice = False
        """Whether the user chose something in the last turn."""
        self._turn = 0
        self._picked: frozenset[str] = frozenset()
        self._picked_bare: frozenset[str] = frozenset()
        self._is_vague = False
        """Whether what was picked is only pointed at: then the agent's words say more."""
        self._added = 0
        self._accepted: list[str] = []
        """What of the agent's words the user chose; it counts unless the agent says it anew."""

    def found(self, most: int) -> list[str]:
        self._settle(self._turn)
        return [note.text for note in self._notes.best(most)]

    # -- the user ---------------------------------------------------------------------------------

    def user(self, blocks: Iterable[Block], turn: int, *, is_first: bool) -> set[str]:
        """Hear the user; which sentences were choices."""
        self._settle(turn)
        self._choice, self._picked = False, frozenset()
        proposals, discussed = self._proposals, self._discussed or (self._has_asked and bool(self._said))
        self._proposals, self._discussed = [], False
        taken: set[str] = set()
        picks: list[str] = []
        told: list[str] = []
        agrees = asks = puts_off = False
        for number, block in enumerate(blocks):
            if block.kind:
                self._labelled(block, turn)
                continue
            for index, (sentence, following) in enumerate(_with_next(block.sentences)):
                asks = is_question(sentence.text)
                text, agreed = _after_agreement(sentence.text)
                if agreed and not is_first and number == index == 0:
                    self._choice = agrees = True
                if asks:
                    self._question = sentence.text
                told.append(sentence.text)
                if not text or is_no_statement(text):
                    continue
                worded = with_reason(tidy(text, imperative=True), following)
                kind = self._kind(text, is_first=is_first, discussed=discussed, proposals=proposals)
                puts_off = puts_off or is_later(text)
                if discussed and len(text.split()) <= SHORT_WORDS and not is_first and not puts_off:
                    # Whatever it says, the agent may say it anew as what was chosen.
                    self._choice = True
                if not kind:
                    if index and picks and block.sentences[index - 1].text in taken and is_comment(text):
                        picks[-1] = f"{picks[-1].rstrip('.。')}: {text.rstrip('.。')}"
                    continue
                taken.add(sentence.text)
                if kind == RULED:
                    self._add(worded, RULED, turn)
                    self._picked = self._picked_bare = stems(tidy(worded))
                elif not self._takes_option(text, discussed=discussed):
                    _join(picks, tidy(settled_part(worded)), is_apart=settles(text))
        for pick in picks:
            self._pick(pick, proposals, turn)
        if agrees and not taken and not puts_off:
            self._accepted += [with_context(text, _others(self._said, text), "") for text in proposals]
        self._choice = (self._choice and not puts_off) or bool(taken)
        self._told, self._has_asked = told, any(map(is_question, told))
        if not taken and asks:
            # Whoever still asks has not chosen.
            self._choice = False
        return taken

    def _kind(self, text: str, *, is_first: bool, discussed: bool, proposals: list[str]) -> int:
        """What a sentence of the user does: give a rule, choose something, or neither."""
        bare = tidy(text, imperative=True)
        if decides(text):
            return RULED if is_first or not discussed else SAID
        if is_later(text):
            return 0
        if is_rule(bare, discussed=discussed):
            return RULED
        if is_first or not stems(bare) or is_remark(text):
            return 0
        if discussed and self._named_options(text):
            return SAID
        # `Let's` is left out of what is written down, and yet says that it is a choice.
        if is_choice(bare, discussed=discussed) or is_choice(text, discussed=discussed):
            return SAID
        if settles(text) and (discussed or not self._is_report):
            return SAID
        said = [*self._said, *proposals, self._question]
        return SAID if answers(bare, said, is_open=discussed) and (discussed or not self._is_report) else 0

    def _takes_option(self, text: str, *, discussed: bool) -> bool:
        options = self._named_options(text) if discussed else []
        self._accepted += [with_context(option, _others(self._said, option), "") for option in options]
        return bool(options)

    def _pick(self, whole: str, proposals: list[str], turn: int) -> None:
        """Note what the user chose, with what it answers."""
        agreed = [proposal for proposal in proposals if share(stems(whole), stems(proposal)) >= _SAME_PICK]
        if agreed and len(stems(whole)) < LEAST_STEMS:
            self._accepted += [with_context(text, _others(self._said, text), "") for text in agreed]
            return
        said = [*self._told, *proposals, *self._said]
        # Whoever takes something back says what holds instead.
        is_new = bool(cue("taken_back", at_start=True).match(whole))
        worded = capped(tidy(whole if is_new else with_context(whole, said, self._question)))
        self._add(worded, RULED, turn)
        self._picked, self._picked_bare, self._is_vague = stems(worded), stems(whole), points_at(whole)

    def _named_options(self, text: str) -> list[str]:
        found = _REFERENCE.match(text)
        if not found or not self._options:
            return []
        names = list(self._options)
        what = found["what"]
        if what in _ORDINALS:
            at = _ORDINALS[what]
            chosen = names[at : at + 1 or None] if at < len(names) else []
        else:
            chosen = [name for name in (what, found["other"] or "") if name in self._options]
        more = _AND.sub("", text[found.end() :]).strip()
        texts = [_with_argument(self._options[name], name, self._said) for name in chosen]
        return [f"{texts[0]}; {more}", *texts[1:]] if texts and len(stems(more)) > 1 else texts

    def _settle(self, turn: int) -> None:
        """What was accepted and not said anew counts as it was proposed."""
        self._turn = turn
        for text in self._accepted:
            self._add(text, RESTATED, turn)
        self._accepted = []

    # -- the agent --------------------------------------------------------------------------------

    def assistant(self, blocks: Iterable[Block], turn: int) -> set[str]:
        """Hear the agent; which sentences were decisions."""
        was_chosen, self._choice = self._choice, False
        proposals: list[str] = []
        options: dict[str, str] = {}
        taken: set[str] = set()
        said: list[str] = []
        asked = reported = False
        before = self._added
        for number, block in enumerate(blocks):
            if block.number and not block.kind and len(options) < _OPTIONS:
                options[block.number] = tidy(_whole(block), imperative=True)
            if block.kind:
                self._labelled(block, turn)
            acknowledged = False
            for index, (sentence, following) in enumerate(_with_next(block.sentences)):
                text = sentence.text
                asked = asked or is_question(text) or bool(cue("hypothetical").search(text)) or offers(text)
                if is_question(text):
                    self._question = text
                elif len(said) < _SENTENCES:
                    said.append(text)
                reported = reported or is_done(text)
                if block.kind and block.kind != DONE and (block.kind != NEXT or block.is_item):
                    continue
                worded = with_reason(tidy(text, imperative=True), following)
                may_restate = was_chosen and number == 0 and index <= 1 and (not block.kind or (block.kind == DONE and not index))
                is_same = self._is_picked(text) and not block.is_item and may_say(text, done=self._is_vague)
                if is_proposal(text):
                    proposals.append(_with_next_sentence(worded, following))
                elif (may_restate and self._restates(text, block, acknowledged=acknowledged)) or is_same:
                    self._restate(worded, turn, is_answer=acknowledged)
                    taken.add(text)
                elif not block.kind and (decides(text) or (takes_back(text) and self._near(stems(text), turn))):
                    self._add(worded, SAID, turn)
                    taken.add(text)
                acknowledged = is_acknowledgement(text)
        self._said = said
        self._is_report = reported and not asked
        if not proposals and self._added == before:
            proposals = [tidy(text, imperative=True) for text in said if offers(text) and not is_left(text)][-1:]
        if options or proposals or asked:
            self._options, self._proposals = options or self._options, proposals[-_PENDING:]
            self._discussed = True
        return taken

    def _restates(self, text: str, block: Block, *, acknowledged: bool) -> bool:
        if block.kind != DONE:
            return restates(text, acknowledged=acknowledged)
        # `Done: …` says what was done; it was chosen if it is what the user took.
        taken = [self._picked, *map(stems, self._accepted)]
        return restates(text, acknowledged=True) and any(share(one, stems(text)) >= _SAME_ANSWER for one in taken)

    def _is_picked(self, text: str) -> bool:
        """Whether the agent speaks of what the user just picked."""
        most = _VAGUE_STEMS if self._is_vague else LEAST_STEMS
        if not self._picked or not 0 < len(self._picked_bare) <= most:
            return False
        return share(self._picked_bare, stems(text)) > _SAID_AGAIN and len(stems(text)) >= LEAST_STEMS

    def _restate(self, text: str, turn: int, *, is_answer: bool = False) -> None:
        """The agent's wording takes the place of what the user picked, where it says more."""
        self._accepted = []
        picked, self._picked = self._picked, frozenset()
        is_short = len(self._picked_bare) <= LEAST_STEMS or is_answer
        least = _SAME_SIGNS if _SIGN.search(text) else _SAME_ANSWER if is_short else _SAME_PICK
        if picked and share(self._picked_bare, stems(text)) >= least:
            if len(stems(text)) < len(self._picked_bare):
                return
            for note in [note for note in self._notes if note.stems == picked]:
                self._notes.drop(note)
        self._add(text, RESTATED, turn)

    def summary(self, blocks: Iterable[Block], turn: int) -> None:
        """What a summary of an older part says was decided."""
        self._settle(turn)
        for block in blocks:
            if block.kind:
                self._labelled(block, turn)
                continue
            for sentence, following in _with_next(block.sentences):
                text = sentence.text
                if decides(text) or (block.is_item and is_rule(text) and has_reason(text)):
                    self._add(with_reason(tidy(text), following), RESTATED, turn)

    # -- both -------------------------------------------------------------------------------------

    def _labelled(self, block: Block, turn: int) -> None:
        if block.kind != DECISION or block.checked:
            return
        for text in [_whole(block)] if block.is_item or block.labelled or block.title else _statements(block):
            if not text.endswith(("?", "？")) and not cue("undecided").search(text):
                self._add(text, LABELLED, turn)

    def _add(self, text: str, weight: int, turn: int) -> None:
        found = stems(text)
        if cue("taken_back").search(text[:_HEAD_CHARS]) and (near := self._near(found, turn)):
            self._notes.drop(max(near, key=lambda note: note.turn))
        self._notes.add(capped(tidy(text)), weight=weight, turn=turn)
        self._added += 1

    def _near(self, found: frozenset[str], turn: int) -> list[Note]:
        """Earlier decisions about the same thing."""
        return [note for note in self._notes if note.turn < turn and _is_about(note.stems, found)]


def _is_about(old: frozenset[str], new: frozenset[str]) -> bool:
    return len(old & new) >= 2 or share(new, old) >= 0.3 or is_alike(old, new, 0.34)


def _after_agreement(text: str) -> tuple[str, bool]:
    """A sentence without the words that only agree, and whether there were any."""
    agreed = agrees_in(text)
    rest, also = without_agreement(text if agreed is None else agreed)
    return rest, also or agreed is not None


def _join(picks: list[str], pick: str, *, is_apart: bool) -> None:
    """Add a pick, or go on with the one before: `that topic. name it like the others`."""
    if picks and not (is_apart and not points_at(pick)):
        picks[-1] = f"{picks[-1].rstrip('.。')}; {pick[:1].lower()}{pick[1:]}"
    else:
        picks.append(pick)


def _with_next_sentence(text: str, following: str) -> str:
    """A proposal with what is said right after it, which most often is its reason."""
    if not following or has_reason(text) or is_question(following) or len(text) + len(following) > _PROPOSAL_CHARS:
        return text
    if is_proposal(following) or text.endswith(following) or (": " in text and not _AGAINST.search(text)):
        return text
    return f"{text.rstrip('.。')}: {following}"


def _with_argument(option: str, name: str, said: list[str]) -> str:
    """An option with what is said for it by its name: `Option B also keeps …`."""
    named = (text for text in said if re.search(rf"\boption {re.escape(name)}\b", text, re.I))
    argument = next(named, "")
    return f"{option.rstrip('.。')}: {argument}" if argument and len(option) + len(argument) <= _PROPOSAL_CHARS else option


def _statements(block: Block) -> list[str]:
    """The sentences of a paragraph, each with the reason that follows it."""
    found: list[str] = []
    for sentence in block.sentences:
        if found and (_REASON.match(sentence.text) or len(sentence.text.split()) < LEAST_STEMS):
            found[-1] = f"{found[-1].rstrip('.。')}: {sentence.text}"
        else:
            found.append(sentence.text)
    return found


def _others(said: list[str], text: str) -> list[str]:
    """What was said beside a text."""
    return [one for one in said if share(stems(one), stems(text)) < _SAME_TEXT]


def _with_next(sentences: tuple[Sentence, ...]) -> Iterator[tuple[Sentence, str]]:
    for index, sentence in enumerate(sentences):
        yield sentence, sentences[index + 1].text if index + 1 < len(sentences) else ""


def _whole(block: Block) -> str:
    """A list item in one sentence: its title or first sentence, and what follows it as the reason."""
    parts = [part for part in (block.title, *(sentence.text for sentence in block.sentences)) if part]
    first, rest = parts[0].rstrip(".。"), parts[1:]
    return f"{first}: {rest[0]}" if rest else first
