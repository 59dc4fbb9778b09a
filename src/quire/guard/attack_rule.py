r"""The form of a rule that detects text steering a model: a flag, first words, what must follow.

The text is folded before: small letters, no accents, no apostrophes, lookalikes replaced. Between words there may be
anything but the end of a sentence, and only so many other words, so that what follows is bounded. Each rule names the
words that an ordinary text seldom has; where none of them stands, nothing is looked for.
"""

from __future__ import annotations

import msgspec

AGENT = "agent directive"
APPROVAL = "claimed approval"
HIDDEN = "hidden from user"
OVERRIDE = "override"
PERSONA = "new role"
PROMPT = "system prompt"


class AttackRule(msgspec.Struct, frozen=True):
    """A flag, how what deserves it begins, and the pattern of what comes next."""

    flag: str
    starts: tuple[str, ...]
    rest: str
    needs: str = ""
    """Words of which one must stand in the text for the rule to be looked for at all."""


# What may stand between two words, how a word ends, and how a clause does.
SPACE = r"[^\w.!?]{1,6}"
END = r"(?![a-z0-9])"
STOP = r"(?=\s{0,4}(?:[.!?;,\n]|$))"


def gap(most: int) -> str:
    """The way to the next word of a rule, with up to so many other words on it."""
    return rf"(?:{SPACE}\w{{1,24}}){{0,{most}}}?{SPACE}"


def phrases(text: str) -> tuple[str, ...]:
    """What a rule begins with, where that is a longer list with commas."""
    return tuple(text.split(", "))
