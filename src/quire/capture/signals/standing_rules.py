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
from quire.capture.signals.sentences import Sentence
from quire.capture.signals.speeches import Speech, Talk
from quire.capture.signals.words import capped, is_safe, tidy

RULE_WORDS = 30
"""A longer sentence tells more than a rule."""
_SPEECH_CHARS = 1_500
"""In a longer message, rules are most often those of a document."""
_LEAD = (
    r"\W*(?:(?:ok(?:ay)?|and|also|but|so|btw|fyi|oh|yes|no|hey|please|one (?:more )?thing|remember|note|reminder"
    r"|important|for (?:next time|the record))[,:;.!\s–—-]+){0,3}"
)
_ORDERED = re.compile(
    rf"{_LEAD}(?:(?:please |you (?:should|must) |make sure (?:to |you )?|remember to )?(?:always|never)"
    r"(?! (?:been|had|was|were|is|are|works?|worked|mind|seen|got|did|happens?|again|could|would|understood))"
    r" (?!.{0,30}\b(?:fails?|failed|breaks?|worked)\b)\w+"
    r"|(?:from now on|going forward|from here on|in (?:the )?future|as a (?:general )?rule|by default|in this (?:repo"
    r"|repository|project)|ab (?:jetzt|sofort)|künftig|a partir de ahora|à partir de maintenant|désormais)\b"
    r"|stop (?:using|adding|writing|committing|pushing|running|asking|explaining|apologi[sz]ing)\b"
    r"|do(?:n['’]t| not) ever\b)",
    re.I,
)
_PREFERRED = re.compile(
    rf"{_LEAD}(?:i|we)(?: strongly| really| generally| usually| much)? (?:(?:always|never)"
    r"(?! (?:get|got|had|have|has|see|saw|seen|did|was|were|been|thought|know|knew|wanted))|prefer"
    r"|don['’]t (?:use|like)|do not (?:use|like)|hate|only (?:use|run|commit))\b",
    re.I,
)
_LASTS = re.compile(
    rf"{_LEAD}(?:use|run|write|keep|ask|add|put|commit|push|rebase|squash|format|lint)\b.{{1,200}}"
    r"\b(?:always|every time|from now on|going forward|(?:before|after|for) (?:each|every|any) \w+)\W*$",
    re.I,
)
_OF_THIS = re.compile(
    r"\b(?:option|approach|(?:first|second|third|other|former|latter)(?: one)?|this time|for now|until|today|yet"
    r"|that one|should we|if we)\b",
    re.I,
)
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
    if "topic_answers" in said.cues:
        return "user"
    if "topic_tools" in said.cues:
        return "tools"
    if "topic_work" in said.cues:
        return "user" if is_liked else "learnings"
    return None
