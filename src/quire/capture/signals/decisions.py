"""Decisions: what was chosen and why, and what was taken back.

A choice is what somebody says is decided, a rule that the user gives, a proposal that the user accepts, and what the
agent repeats as agreed after the user chose. What could be done, what others decided and what is only asked is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.capture.signals.answers import (
    after_agreement,
    after_refusal,
    others,
    statements,
    whole,
    with_amount,
    with_next,
    with_next_sentence,
)
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
    is_refusal,
    is_rule,
    may_say,
    restates,
    takes_back,
    with_reason,
)
from quire.capture.signals.cues import cue
from quire.capture.signals.labels import DECISION, DONE, NEXT
from quire.capture.signals.leftovers import is_later, is_left
from quire.capture.signals.notes import Note, Notes
from quire.capture.signals.options import Options
from quire.capture.signals.picks import (
    answers,
    is_open,
    is_remark,
    offers,
    points_at,
    settles,
    sums_up,
    with_context,
    with_question,
)
from quire.capture.signals.replies import LABELLED, RESTATED, RULED, SAID, Reply
from quire.capture.signals.sentences import Block
from quire.capture.signals.wording import capped, is_alike, share, stems, tidy

_PENDING = 4
_HEAD_CHARS = 60
_SAME_PICK = 0.4
_SENTENCES = 12
_SAME_ANSWER = 0.3
_SAME_DONE = 0.2
_SAME_SIGNS = 0.15
_VAGUE_STEMS = 6
_SAID_AGAIN = 0.5
_AMOUNT = re.compile(r"\W*(?:\w+ )?\d[\w.,%]*(?: [\w%]+){0,2}\W*")
_SIGN = re.compile("[\u3040-\u9fff]")

__all__ = ["Decisions"]


class Decisions:
    """The decisions of a session as far as it was heard."""

    def __init__(self) -> None:
        self._notes = Notes()
        self._proposals: list[str] = []
        self._options = Options()
        self._said: list[str] = []
        """What the agent said last."""
        self._said_before: list[str] = []
        self._question = ""
        """The last question, of whomever."""
        self._is_asked = False
        """Whether the agent asked it, and in its last turn."""
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
        reply = Reply(
            turn=turn,
            is_first=is_first,
            discussed=self._discussed or (self._has_asked and bool(self._said)),
            proposals=self._proposals,
        )
        self._proposals, self._discussed = [], False
        asks = False
        for number, block in enumerate(blocks):
            if block.kind:
                self._labelled(block, turn)
                continue
            for index, (sentence, following) in enumerate(with_next(block.sentences)):
                before = block.sentences[index - 1].text if index else ""
                self._sentence(reply, sentence.text, before, following, is_begin=number == index == 0)
                asks = is_question(sentence.text)
                if asks:
                    self._question, self._is_asked = sentence.text, False
        self._close(reply)
        if not reply.taken and asks:
            # Whoever still asks has not chosen.
            self._choice = False
        return reply.taken

    def _sentence(self, reply: Reply, said: str, before: str, following: str, *, is_begin: bool) -> None:
        """Hear a sentence of the user."""
        reply.told.append(said)
        if answered := self._options.answered(said) if reply.discussed else "":
            reply.taken.add(said)
            self._add(answered, RULED, reply.turn)
            return
        text, refused = after_refusal(said) if is_begin and self._is_asked else (said, False)
        text, agreed = (text, False) if refused else after_agreement(text)
        reply.refuses = reply.refuses or refused
        if agreed and is_begin and not reply.is_first:
            self._choice = reply.agrees = True
            reply.is_plain = not text
        if not text or is_no_statement(text):
            return
        kind = SAID if refused and len(stems(text)) > 1 else self._kind(text, reply)
        reply.puts_off = reply.puts_off or is_later(text)
        if reply.discussed and len(text.split()) <= SHORT_WORDS and not reply.is_first and not reply.puts_off:
            # Whatever it says, the agent may say it anew as what was chosen.
            self._choice = True
        if kind:
            reply.taken.add(said)
            self._take(reply, kind, text, following, agreed=agreed)
        elif not is_later(text):
            reply.add(said, text, before)

    def _take(self, reply: Reply, kind: int, text: str, following: str, *, agreed: bool) -> None:
        """Note what a sentence of the user rules or chooses."""
        worded = with_reason(tidy(text, imperative=True), following)
        offer = reply.proposals[-1] if reply.proposals else ""
        if kind == RULED:
            self._add(worded, RULED, reply.turn)
            self._picked = self._picked_bare = stems(tidy(worded))
        elif _AMOUNT.fullmatch(text) and len(stems(offer)) >= LEAST_STEMS:
            # `Yes, 5 GB`: what was proposed, with what is added to it.
            amended = with_amount(offer, text)
            self._accepted.append(f"{amended.rstrip('.。')}: {reply.reason}" if reply.reason else amended)
        elif not self._takes_option(text, discussed=reply.discussed):
            reply.pick(text, worded)

    def _close(self, reply: Reply) -> None:
        """The user has spoken."""
        if reply.refuses and not reply.picks and reply.reason:
            reply.picks.append(tidy(reply.reason))
        for pick in reply.picks:
            self._pick(with_question(pick, self._question) if reply.refuses else pick, reply.proposals, reply.turn)
        is_asking = any(map(is_question, reply.told))
        if reply.agrees and reply.is_plain and not reply.puts_off and not is_asking:
            self._accepted += [with_context(text, others(self._said, text), "") for text in reply.proposals]
        self._choice = (self._choice and not reply.puts_off) or bool(reply.taken)
        self._told, self._has_asked = reply.told[-_SENTENCES:], is_asking

    def _kind(self, text: str, reply: Reply) -> int:
        """What a sentence of the user does: give a rule, choose something, or neither."""
        bare, discussed = tidy(text, imperative=True), reply.discussed
        if decides(text) or sums_up(text):
            return RULED if reply.is_first or not discussed else SAID
        if is_later(text):
            return 0
        if is_rule(bare, is_request=reply.is_first):
            return RULED
        if reply.is_first or not stems(bare) or is_remark(text):
            return 0
        is_named = discussed or bool(stems(bare) & frozenset().union(*map(stems, self._said)))
        if is_refusal(bare, discussed=is_named):
            return SAID if is_named else RULED
        if discussed and self._options.chosen(text, self._said):
            return SAID
        # `Let's` is left out of what is written down, and yet says that it is a choice.
        if is_choice(bare, discussed=discussed) or is_choice(text, discussed=discussed):
            return SAID
        if not discussed and self._is_report:
            return 0
        if reply.proposals and _AMOUNT.fullmatch(text):
            return SAID
        is_answer = answers(bare, [*self._said, *reply.proposals, self._question], is_open=discussed)
        return SAID if settles(text) or is_answer else 0

    def _takes_option(self, text: str, *, discussed: bool) -> bool:
        options = self._options.chosen(text, self._said) if discussed else []
        self._accepted += [with_context(option, others(self._said, option), "") for option in options]
        return bool(options)

    def _pick(self, whole: str, proposals: list[str], turn: int) -> None:
        """Note what the user chose, with what it answers."""
        agreed = [proposal for proposal in proposals if share(stems(whole), stems(proposal)) >= _SAME_PICK]
        if agreed and len(stems(whole)) < LEAST_STEMS:
            self._accepted += [with_context(text, others(self._said, text), "") for text in agreed]
            return
        told = [text for text in self._told if not is_question(text)]
        said = [*self._said_before, *told, *proposals, *self._said]
        # Whoever takes something back says what holds instead.
        is_new = bool(cue("taken_back", at_start=True).match(whole))
        worded = capped(tidy(whole if is_new else with_context(whole, said, self._question)))
        self._add(worded, RULED, turn)
        self._picked, self._picked_bare, self._is_vague = stems(worded), stems(whole), points_at(whole)

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
        heard = list(blocks)
        self._listen(heard)
        proposals: list[str] = []
        taken: set[str] = set()
        before = self._added
        for number, block in enumerate(heard):
            if block.kind:
                self._labelled(block, turn)
            if block.kind and block.kind != DONE and (block.kind != NEXT or block.is_item):
                continue
            acknowledged = False
            for index, (sentence, following) in enumerate(with_next(block.sentences)):
                text = sentence.text
                worded = with_reason(tidy(text, imperative=True), following)
                may_restate = was_chosen and number == 0 and index <= (0 if block.kind else 1)
                if is_proposal(text):
                    proposals.append(with_next_sentence(worded, following))
                elif self._restates(text, block, acknowledged=acknowledged, is_near=may_restate):
                    self._restate(worded, turn, is_answer=acknowledged)
                    taken.add(text)
                elif not block.kind and (decides(text) or (takes_back(text) and self._near(stems(text), turn))):
                    self._add(worded, SAID, turn)
                    taken.add(text)
                acknowledged = is_acknowledgement(text)
        if not proposals and self._added == before:
            proposals = [tidy(text, imperative=True) for text in self._said if offers(text) and not is_left(text)][-1:]
        if proposals:
            self._discussed = True
        if self._discussed:
            self._proposals = proposals[-_PENDING:]
        return taken

    def _listen(self, blocks: list[Block]) -> None:
        """What the agent says, and whether there is something to choose in it."""
        texts = [sentence.text for block in blocks for sentence in block.sentences]
        is_choice_left = any(map(is_open, texts))
        asked = next(filter(is_question, reversed(texts)), "")
        self._question, self._is_asked = asked or self._question, bool(asked)
        self._said_before = self._said
        self._said = [text for text in texts if not is_question(text)][:_SENTENCES]
        self._is_report = any(map(is_done, texts)) and not is_choice_left
        if self._options.offer(blocks, [whole(block) for block in blocks]) or is_choice_left:
            self._discussed = True

    def _restates(self, text: str, block: Block, *, acknowledged: bool, is_near: bool) -> bool:
        """Whether the agent says anew what the user chose: right after it, or by speaking of what was picked."""
        if self._is_picked(text) and not block.is_item and may_say(text, done=self._is_vague):
            return True
        if not is_near or block.kind not in ("", DONE) or not self._is_told(text):
            return False
        if not block.kind:
            return restates(text, acknowledged=acknowledged)
        # `Done: …` says what was done; it was chosen if it is what the user took.
        taken = [self._picked, *map(stems, self._accepted)]
        return restates(text, acknowledged=True) and any(share(one, stems(text)) >= _SAME_DONE for one in taken)

    def _is_told(self, text: str) -> bool:
        """Whether the agent speaks of what the user spoke of, or says what it will do about it."""
        told = frozenset().union(*map(stems, [*self._told, *self._accepted]))
        return bool(stems(text) & told) or bool(cue("commit").search(text))

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
            for sentence, following in with_next(block.sentences):
                text = sentence.text
                if decides(text) or (block.is_item and is_rule(text) and has_reason(text)):
                    self._add(with_reason(tidy(text), following), RESTATED, turn)

    # -- both -------------------------------------------------------------------------------------

    def _labelled(self, block: Block, turn: int) -> None:
        if block.kind != DECISION or block.checked:
            return
        for text in [whole(block)] if block.is_item or block.labelled or block.title else statements(block):
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
