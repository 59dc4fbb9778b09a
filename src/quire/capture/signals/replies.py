"""What the user answers in one turn: picks and rules, put together with the reasons that stand around them."""

from __future__ import annotations

import re

from msgspec import Struct, field

from quire.capture.signals.answers import join
from quire.capture.signals.leftovers import puts_off
from quire.capture.signals.picks import is_comment, points_at, settled_part, settles
from quire.capture.signals.wording import stems, tidy

SAID, RESTATED, RULED, LABELLED = 1, 2, 3, 4
"""How much a decision weighs: somebody said so, both did, the user rules so, it is called one."""
_FEW_STEMS = 7
"""A pick of fewer words is told with the reason before it."""
_FULL_STEMS, _TINY_STEMS = 7, 2
"""From so many words on a pick says enough by itself; with so few it is told with the next one."""
_TEXT_CHARS = 220
# With this the user goes on to something else.
_ELSE = re.compile(
    r"\W*(?:another thing|one more|other than that|also\b|oh and|otra cosa|noch (?:et)?was|außerdem|autre chose"
    r"|outra coisa"
    r"|それより|另外)|\W*(?:and|und|y|et|e) (?!then|yes|no)\w+ \w+ \w+.{30}",
    re.I,
)

_AND = re.compile(r"\W*(?:and|und|y|et|e)\s", re.I)


def goes_on(text: str) -> bool:
    """Whether a sentence leaves what was talked about: `One more thing: …`"""
    return bool(_ELSE.match(text))


class Reply(Struct, kw_only=True):
    """What the user says in one turn, as far as it was heard."""

    turn: int
    is_first: bool
    discussed: bool
    """Whether there was something to choose."""
    proposals: list[str]
    taken: set[str] = field(default_factory=set)
    picks: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    reason: str = ""
    """What was said before a pick, and may be why."""
    agrees: bool = False
    is_plain: bool = False
    """Whether a whole sentence agrees, so that what else is said goes beside it: `Do that. And …`"""
    refuses: bool = False
    """Whether the answer begins with `no`."""
    puts_off: bool = False

    def pick(self, text: str, worded: str) -> None:
        """Add a pick, or go on with the one before."""
        chosen = tidy(settled_part(worded))
        is_full = len(stems(chosen)) >= _FULL_STEMS and not points_at(chosen)
        is_more = bool(self.picks) and len(stems(self.picks[-1])) > _TINY_STEMS
        is_next = bool(_AND.match(text)) and settles(text)
        is_apart = goes_on(text) or is_next or (is_more and (settles(text) or is_full))
        if (
            self.reason
            and not points_at(chosen)
            and len(stems(chosen)) < _FEW_STEMS
            and len(chosen) + len(self.reason) <= _TEXT_CHARS
        ):
            chosen = f"{chosen.rstrip('.。')}: {self.reason.rstrip('.。')}"
        self.reason = ""
        join(self.picks, chosen, is_apart=is_apart)

    def add(self, said: str, text: str, before: str) -> None:
        """Hear a sentence that picks nothing: after a pick it says more about it, before one it may be the reason."""
        if not is_comment(text) or goes_on(text) or puts_off(text):
            self.reason = ""
        elif self.picks and before in self.taken:
            if len(self.picks[-1]) + len(text) <= _TEXT_CHARS:
                self.picks[-1] = f"{self.picks[-1].rstrip('.。')}: {text.rstrip('.。')}"
            self.taken.add(said)
        elif self.discussed:
            self.reason = text
