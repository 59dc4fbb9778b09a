"""What someone offered to choose from, and which of it an answer names by its number, its letter or its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from quire.capture.signals.cues import pattern
from quire.capture.signals.sentences import Sentence, split
from quire.capture.signals.speeches import Speech

_BACK = 6
"""So many speeches before, an offer may still be answered."""
_WORDS = 14
"""A longer sentence names no place, and a longer item of a list answers nothing: it was pasted."""
_LETTERED, _OR = pattern("lettered"), pattern("or")
_NAMED, _MORE, _PLACE = (pattern(name, re.I) for name in ("named_option", "more_options", "place"))
_LAST, _ALL = 3, 4


def offered(speeches: Sequence[Speech], at: int) -> list[tuple[str, str]]:
    """What was on offer when a speech of the user began: keys and texts."""
    before = [one for one in speeches[max(0, at - _BACK) : at] if one.by == "agent"][-2:]
    return next((found for one in reversed(before) if len(found := _options(one)) > 1), [])


def _options(speech: Speech) -> list[tuple[str, str]]:
    grouped = (list(found) for _, found in groupby(speech.sentences, key=lambda one: one.paragraph))
    parts = [(found[0], " ".join(one.text for one in found)) for found in grouped]
    numbered = [(first.number, text) for first, text in parts if first.number]
    listed = [text for first, text in parts if first.is_item]
    if len(numbered) > 1:
        return numbered
    if len(listed) > 1:
        return [(str(number), text) for number, text in enumerate(listed, 1)]
    for _, text in parts:
        keys = list(_LETTERED.finditer(text))
        if [key[1].upper() for key in keys][:2] in (["A", "B"], ["1", "2"]):
            ends = [*(key.start() for key in keys[1:]), len(text)]
            return [(key[1].upper(), text[key.end() : end].strip(" ,;")) for key, end in zip(keys, ends, strict=True)]
    asked = (_OR.split(one.text) for one in reversed(speech.sentences) if "question" in one.marks)
    halves = next((found for found in asked if len(found) == 2), [])
    return [(str(number), half.strip(" ?？.:")) for number, half in enumerate(halves, 1)]


def chosen(sentence: Sentence, options: Sequence[tuple[str, str]]) -> list[str]:
    """The options that a sentence names, in the words in which they were offered, each in at most two sentences."""
    return [" ".join(list(split(options[place][1]))[:2]).rstrip(" .;,") for place in _places(sentence, options)]


def _places(sentence: Sentence, options: Sequence[tuple[str, str]]) -> list[int]:
    keys, is_short = [key for key, _ in options], len(sentence.text.split()) <= _WORDS
    if sentence.number:
        return [keys.index(sentence.number)] if is_short and sentence.number in keys else []
    named = _NAMED.match(sentence.text)
    # An `a` before a word is none.
    is_article = named and not named["word"] and named["key"] == "a" and sentence.text[named.end() :].startswith(" ")
    if named and named["key"].upper() in keys and not is_article:
        found, at = [keys.index(named["key"].upper())], named.end()
        while more := _MORE.match(sentence.text, at):
            found += [keys.index(more["key"].upper())] if more["key"].upper() in keys else []
            at = more.end()
        return found
    place = _PLACE.match(sentence.text) if is_short else None
    if not place:
        return []
    group, every = (place.lastindex or 1) - 1, list(range(len(options)))
    return every if group == _ALL else every[-1:] if group == _LAST else every[group : group + 1]
