"""Standing rules: what the user says about how to work, now and the next time: `always use uv`, `never push to main`.

A rule about what is built is a decision. One of these must say that it holds from now on, be given as an order or as a
preference, and speak of the work itself: of tools, of commits and branches, of tests that are to be run, of how the
agent answers. So few sentences pass, and hardly one by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from quire.capture.signals.confirmed import Quote, quotable
from quire.capture.signals.cues import pattern
from quire.capture.signals.sentences import Sentence
from quire.capture.signals.speeches import Speech, Talk
from quire.capture.signals.words import capped, is_safe, tidy

RULE_WORDS = 30
"""A longer sentence tells more than a rule."""
_SPEECH_CHARS = 1_500
"""In a longer message, rules are most often those of a document."""
_ORDERED, _PREFERRED, _LASTS, _OF_THIS = (pattern(name, re.I) for name in ("ordered", "preferred", "lasts", "of_this"))
Category = Literal["user", "tools", "learnings"]


class Rule(Struct, frozen=True):
    """A rule as it may be kept, and the sentence that gave it."""

    text: str
    category: Category
    quote: Quote


def standing_rules(talk: Talk) -> Iterator[Rule]:
    """The rules that the user gave, each once: a later one that says the same takes its place."""
    found: dict[frozenset[str], Rule] = {}
    for speech in talk.speeches:
        if speech.by != "user" or len(speech.text) > _SPEECH_CHARS or not quotable(speech):
            continue
        for place, said in enumerate(speech.sentences):
            category = _category(said)
            if category is not None and is_safe(said.text):
                found.pop(said.stems, None)
                found[said.stems] = Rule(_worded(speech, place), category, Quote(speech, place, said))
    yield from found.values()


def _worded(speech: Speech, place: int) -> str:
    """A rule with the sentence behind it where that gives the reason."""
    text, after = tidy(speech.sentences[place].text), speech.sentences[place + 1 : place + 2]
    reason = f": {after[0].text}" if after and "cause" in after[0].opens else ""
    return capped(tidy(text + reason))


def _category(said: Sentence) -> Category | None:
    """Where a rule belongs; None where a sentence is none."""
    text = said.text
    if "question" in said.marks or len(text.split()) > RULE_WORDS or len(said.stems) < 2 or _OF_THIS.search(text):
        return None
    is_liked = bool(_PREFERRED.match(text))
    if not is_liked and not _ORDERED.match(text) and not _LASTS.match(text):
        return None
    belongs: dict[str, Category] = {"answers": "user", "tools": "tools", "work": "user" if is_liked else "learnings"}
    return next((place for topic, place in belongs.items() if f"topic_{topic}" in said.cues), None)
