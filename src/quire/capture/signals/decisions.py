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
    refused,
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
    is_no_statement,
    is_proposal,
    is_question,
    is_refusal,
    is_rule,
    is_unreal,
    may_say,
    restates,
    takes_back,
    with_reason,
)
from quire.capture.signals.chosen import Chosen
from quire.capture.signals.cues import cue
from quire.capture.signals.labels import DECISION, DONE, NEXT
from quire.capture.signals.leftovers import is_later, is_left, needs, puts_off
from quire.capture.signals.notes import Note
from quire.capture.signals.picks import (
    answers,
    is_brief,
    is_remark,
    offers,
    settles,
    sums_up,
    with_context,
    with_question,
)
from quire.capture.signals.replies import RESTATED, RULED, SAID, Reply, goes_on
from quire.capture.signals.sentences import Block
from quire.capture.signals.talk import Talk
from quire.capture.signals.wording import capped, share, stems, tidy

_SAME_PICK = 0.4
_AMOUNT = re.compile(
    r"\W*(?:(?:max|min|only|about|rather|say|just|make it|at (?:most"
    r"|least)) )?\d[a-zA-Z\d.,%]*(?: [a-zA-Z%]+){0,2}\W*"
)
_THUS = re.compile(r"\W*(?:así|assim|ainsi|so|that way|like that)\W*", re.I)


class Decisions:
    """The decisions of a session as far as it was heard."""

    def __init__(self) -> None:
        self._chosen = Chosen()
        self._talk = Talk()
        self._choice = False
        """Whether the user chose something in the last turn."""
        self._turn = self._before = 0
        """When the user spoke last, and the time before."""

    def found(self, most: int) -> list[str]:
        return [note.text for note in self.notes(most)]

    def notes(self, most: int) -> list[Note]:
        self._chosen.settle(self._turn)
        return self._chosen.best(most)

    # -- the user ---------------------------------------------------------------------------------

    def user(self, blocks: Iterable[Block], turn: int, *, is_first: bool) -> set[str]:
        """Hear the user; which sentences were choices."""
        self._before, self._turn, self._choice = self._turn, turn, False
        self._chosen.settle(turn)
        self._chosen.forget_pick()
        reply = Reply(
            turn=turn,
            is_first=is_first,
            discussed=self._talk.is_discussed,
            proposals=self._talk.proposals,
        )
        self._talk.proposals, self._talk.is_offered = [], False
        asks = False
        for number, block in enumerate(blocks):
            if block.kind:
                self._chosen.add_labelled(block, turn)
                continue
            for index, (sentence, following) in enumerate(with_next(block.sentences)):
                before = block.sentences[index - 1].text if index else ""
                self._sentence(reply, sentence.text, before, following, is_begin=number == index == 0)
                asks = is_question(sentence.text)
                if asks:
                    self._talk.question, self._talk.is_asked = sentence.text, False
        self._close(reply)
        if not reply.taken and asks:
            # Whoever still asks has not chosen.
            self._choice = False
        return reply.taken

    def _sentence(self, reply: Reply, said: str, before: str, following: str, *, is_begin: bool) -> None:
        """Hear a sentence of the user."""
        reply.told.append(said)
        answered = self._talk.options.answered(said) if reply.discussed else None
        if answered is not None:
            reply.taken.add(said)
            reply.picks += [answered] if answered else []
            return
        if is_begin and not reply.is_first:
            said, is_refused = refused(said, asked=self._talk.is_asked)
            if is_refused:
                self._chosen.drop_since(self._before)
                reply.proposals = []
                if not said:
                    # What follows is why; it answers nothing that was offered.
                    reply.discussed, self._talk.said = False, []
        text, refuses = after_refusal(said) if is_begin and self._talk.is_asked else (said, False)
        text, agreed = (text, False) if refuses else after_agreement(text)
        reply.refuses = reply.refuses or refuses
        if agreed and is_begin and not reply.is_first:
            self._choice = reply.agrees = True
            reply.is_plain = not stems(text) or bool(_THUS.fullmatch(text))
        if not text or is_no_statement(text):
            return
        if (puts_off(text) and needs(text)) or (refuses and is_remark(text)):
            return
        kind = SAID if refuses and len(stems(text)) > 1 else self._kind(text, reply)
        reply.puts_off = reply.puts_off or is_later(text)
        if reply.discussed and len(text.split()) <= SHORT_WORDS and not reply.is_first and not reply.puts_off:
            # Whatever it says, the agent may say it anew as what was chosen.
            self._choice = True
        if kind:
            reply.taken.add(said)
            self._take(reply, kind, text, following)
        elif not is_later(text):
            reply.add(said, text, before)

    def _take(self, reply: Reply, kind: int, text: str, following: str) -> None:
        """Note what a sentence of the user rules or chooses."""
        worded = with_reason(tidy(text, imperative=True), following)
        offer = reply.proposals[-1] if reply.proposals else ""
        if kind == RULED and not (reply.picks and reply.discussed):
            self._chosen.rule(worded, reply.turn)
        elif _AMOUNT.fullmatch(text) and len(stems(offer)) >= LEAST_STEMS:
            # `Yes, 5 GB`: what was proposed, with what is added to it.
            amended = with_amount(offer, text)
            self._chosen.accepted.append(f"{amended.rstrip('.。')}: {reply.reason}" if reply.reason else amended)
        elif not self._takes_option(text, discussed=reply.discussed):
            reply.pick(text, worded)

    def _close(self, reply: Reply) -> None:
        """The user has spoken."""
        if reply.refuses and not reply.picks and reply.reason:
            reply.picks.append(tidy(reply.reason))
        if reply.refuses and reply.picks and not goes_on(reply.picks[0]):
            reply.picks[0] = with_question(reply.picks[0], self._talk.question)
        for pick in reply.picks:
            self._pick(pick, reply.proposals, reply.turn)
        is_asking = any(map(is_question, reply.told))
        if reply.agrees and reply.is_plain and not reply.puts_off and not is_asking:
            self._chosen.accepted += [with_context(text, others(self._talk.said, text), "") for text in reply.proposals]
        self._choice = (self._choice and not reply.puts_off) or bool(reply.taken)
        self._talk.answer(reply.told)

    def _kind(self, text: str, reply: Reply) -> int:
        """What a sentence of the user does: give a rule, choose something, or neither."""
        bare, discussed = tidy(text, imperative=True), reply.discussed
        if sums_up(text):
            return SAID
        if decides(text):
            return RULED if reply.is_first or not discussed else SAID
        if is_later(text):
            return 0
        if is_rule(bare, is_request=reply.is_first):
            return RULED
        if reply.is_first:
            return RULED if is_refusal(bare, discussed=False) else 0
        if not stems(bare) or is_remark(text):
            return 0
        is_named = discussed or bool(stems(bare) & frozenset().union(*map(stems, self._talk.said)))
        if is_refusal(bare, discussed=is_named):
            return SAID if is_named or reply.picks else RULED
        if discussed and self._talk.options.chosen(text, self._talk.said):
            return SAID
        # `Let's` is left out of what is written down, and yet says that it is a choice.
        if is_choice(bare, discussed=discussed) or is_choice(text, discussed=discussed):
            return SAID
        if not discussed and self._talk.is_report:
            return 0
        if reply.proposals and _AMOUNT.fullmatch(text):
            return SAID
        is_answer = answers(text, [*self._talk.said, *reply.proposals, self._talk.question], is_open=discussed)
        return SAID if settles(text) or is_answer or self._is_reply(text, reply) else 0

    def _is_reply(self, text: str, reply: Reply) -> bool:
        """Whether a few words answer the agent, who asked what is to be."""
        return self._talk.is_choice_asked and not reply.picks and not puts_off(text) and is_brief(text)

    def _takes_option(self, text: str, *, discussed: bool) -> bool:
        options = self._talk.options.chosen(text, self._talk.said) if discussed else []
        self._chosen.accepted += [with_context(option, others(self._talk.said, option), "") for option in options]
        return bool(options)

    def _pick(self, whole: str, proposals: list[str], turn: int) -> None:
        """Note what the user chose, with what it answers."""
        agreed = [proposal for proposal in proposals if share(stems(whole), stems(proposal)) >= _SAME_PICK]
        if agreed and len(stems(whole)) < LEAST_STEMS:
            self._chosen.accepted += [with_context(text, others(self._talk.said, text), "") for text in agreed]
            return
        told = [text for text in self._talk.told if not is_question(text)]
        said = [*self._talk.said_before, *told, *proposals, *self._talk.said]
        # Whoever takes something back says what holds instead.
        is_new = goes_on(whole) or bool(cue("taken_back", at_start=True).match(whole))
        question = self._talk.question if self._talk.is_asked or stems(whole) & stems(self._talk.question) else ""
        worded = capped(tidy(whole if is_new else with_context(whole, said, question)))
        self._chosen.pick(worded, whole, turn)

    # -- the agent --------------------------------------------------------------------------------

    def assistant(self, blocks: Iterable[Block], turn: int) -> set[str]:
        """Hear the agent; which sentences were decisions."""
        was_chosen, self._choice = self._choice, False
        heard = list(blocks)
        self._talk.hear(heard)
        proposals: list[str] = []
        taken: set[str] = set()
        before = self._chosen.added
        for number, block in enumerate(heard):
            if block.kind:
                if block.kind == DECISION and was_chosen and number == 0:
                    self._chosen.replace(stems(whole(block)))
                self._chosen.add_labelled(block, turn)
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
                    self._chosen.restate(worded, turn, is_answer=acknowledged)
                    taken.add(text)
                elif not block.kind and (decides(text) or (takes_back(text) and self._chosen.near(stems(text), turn))):
                    self._chosen.add(worded, SAID, turn)
                    taken.add(text)
                acknowledged = is_acknowledgement(text)
        if not proposals and self._chosen.added == before:
            offered = [text for text in self._talk.said if offers(text) and not is_left(text) and not is_unreal(text)]
            proposals = [tidy(text, imperative=True) for text in offered[-1:]]
        self._talk.propose(proposals)
        return taken

    def _restates(self, text: str, block: Block, *, acknowledged: bool, is_near: bool) -> bool:
        """Whether the agent says anew what the user chose: right after it, or by speaking of what was picked."""
        if self._chosen.is_picked(text) and not block.is_item and may_say(text, done=self._chosen.is_vague):
            return True
        if not is_near or block.kind not in ("", DONE) or not self._chosen.is_told(text, self._talk.told):
            return False
        if not block.kind:
            return restates(text, acknowledged=acknowledged)
        # `Done: …` says what was done; it was chosen if it is what the user took.
        return restates(text, acknowledged=True) and self._chosen.is_taken(text)

    def summary(self, blocks: Iterable[Block], turn: int) -> None:
        """What a summary of an older part says was decided."""
        self._turn = turn
        self._chosen.settle(turn)
        for block in blocks:
            if block.kind:
                self._chosen.add_labelled(block, turn)
                continue
            for sentence, following in with_next(block.sentences):
                text = sentence.text
                if decides(text) or (block.is_item and is_rule(text) and has_reason(text)):
                    self._chosen.add(with_reason(tidy(text), following), RESTATED, turn)
