"""What the agent said last: statements, the question it asked, what it offered and what it proposed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.capture.signals.answers import whole
from quire.capture.signals.choices import is_done, is_question
from quire.capture.signals.options import Options
from quire.capture.signals.picks import is_open, lets_choose
from quire.capture.signals.sentences import Block

_SENTENCES = 12
_PENDING = 4
_OPTIONS = re.compile(r"\b(?:options?|alternatives?|choices|optionen|opciones|opções)\b|选项|方案|選択肢", re.I)


class Talk:
    """The talk as far as a choice may come out of it."""

    def __init__(self) -> None:
        self.options = Options()
        self.proposals: list[str] = []
        self.said: list[str] = []
        """What the agent said last."""
        self.said_before: list[str] = []
        self.told: list[str] = []
        """What the user told in the last turn."""
        self.question = ""
        """The last question, of whomever."""
        self.is_asked = False
        """Whether the agent asked it, and in its last turn."""
        self.is_report = True
        """Whether the agent last told what it had done: then an order is about the next piece of work."""
        self.is_offered = False
        """Whether the agent last offered something to choose from."""
        self._has_asked = False

    @property
    def is_discussed(self) -> bool:
        """Whether there is something to choose: the agent offered it, or the user asked and was answered."""
        return self.is_offered or (self._has_asked and bool(self.said))

    @property
    def is_choice_asked(self) -> bool:
        """Whether the agent asked what is to be."""
        return self.is_asked and lets_choose(self.question)

    def hear(self, blocks: Sequence[Block]) -> None:
        """Hear the agent."""
        texts = [sentence.text for block in blocks for sentence in block.sentences]
        is_left_open = any(map(is_open, texts))
        asked = next(filter(is_question, reversed(texts)), "")
        self.question, self.is_asked = asked or self.question, bool(asked)
        self.said_before = self.said
        self.said = [text for text in texts if not is_question(text)][:_SENTENCES]
        self.is_report = any(map(is_done, texts)) and not is_left_open
        is_wanted = self._has_asked or any(map(_OPTIONS.search, self.told))
        if self.options.offer(blocks, [whole(block) for block in blocks], is_wanted=is_wanted) or is_left_open:
            self.is_offered = True

    def propose(self, proposals: list[str]) -> None:
        self.is_offered = self.is_offered or bool(proposals)
        if self.is_offered:
            self.proposals = proposals[-_PENDING:]

    def answer(self, told: list[str]) -> None:
        """Hear what the user told: whatever was offered is answered."""
        self.told, self._has_asked = told[-_SENTENCES:], any(map(is_question, told))
