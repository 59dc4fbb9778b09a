"""What somebody offered to choose from, and which of it an answer names by its number, its letter or its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.capture.signals.sentences import Sentence, split
from quire.capture.signals.speeches import Speech

_BACK = 6
"""So many speeches before, an offer may still be answered."""
_WORDS = 14
"""A longer sentence names no place."""
_LETTERED = re.compile(r"(?:^|(?<=[\s(:,;]))(?:option |variante |opción )?\(?([1-9a-hA-H])[).:]\s+(?=\S)")
_OR = re.compile(r",?\s+(?:or|oder|o|ou|u)\s+|还是|それとも")
_LEAD = (
    r"\W*(?:(?:so|ok(?:ay)?|then|and|well|hm+|yes|yeah|ja|dann|also|nehmen wir|nimm|lieber|eher|gut|pues|entonces|vale"
    r"|sí|si|mejor|vamos con|venga|alors|donc|oui|então|sim|do|take|use|pick|go(?:ing)? (?:with|for)"
    r"|let['’]?s (?:do|go with|take)|i['’]?d (?:take|go with|say)|i prefer|definitely)[\s,:.!…-]+){0,3}"
)
_NAMED = re.compile(
    _LEAD + r"(?P<word>(?:option|variante?|opci[oó]n|opç[aã]o|plan|number|nr\.?|la|el|die|den|das|the|#|\(so)\s*#?)?"
    r"\(?(?P<key>[1-9]|[a-h])\)?(?=\s*(?:$|[.,;:!?()]|\.\.|[+&–—]|-\s|(?:and|und|y|et|e|too|also|auch|también|aussi"
    r"|obviously|please|bitte|with|mit|con|but|aber|pero|then|for|because|weil|porque)\b))",
    re.I,
)
_MORE = re.compile(r"\s*(?:,|\+|&|and|und|y|et|e)\s*(?P<key>[1-9]|[a-h])(?=\s*(?:$|[.,;:!?()+&]|\w+\b))", re.I)
_THE = r"(?:(?:the|die|das|den|la|el|le|o|a)\s+)?"
_PLACES = (
    r"first|erste\w*|primer\w*|premi[eè]re?|former|第一|最初",
    r"second|zweite\w*|segund\w*|deuxi[eè]me|seconde?|第二|二つ目",
    r"third|dritte\w*|tercer\w*|troisi[eè]me|terceir\w*|第三",
    r"last|latter|letzte\w*|[uú]ltim\w*|derni[eè]re?|后者|後者",
    r"both|beide[sn]?|ambos|ambas|las dos|los dos|les deux|os dois|as duas|all of them|両方|两个都|都要",
)
_PLACE = re.compile(_LEAD + _THE + "(?:" + "|".join(f"({place})" for place in _PLACES) + r")(?!\w)", re.I)
_LAST, _ALL = 3, 4


def offered(speeches: Sequence[Speech], at: int) -> list[tuple[str, str]]:
    """What was on offer when a speech of the user began: keys and texts."""
    before = [one for one in speeches[max(0, at - _BACK) : at] if one.by == "agent"][-2:]
    return next((found for one in reversed(before) if len(found := _options(one)) > 1), [])


def _options(speech: Speech) -> list[tuple[str, str]]:
    by_paragraph: dict[int, list[Sentence]] = {}
    for sentence in speech.sentences:
        by_paragraph.setdefault(sentence.paragraph, []).append(sentence)
    parts = [(found[0], " ".join(one.text for one in found)) for found in by_paragraph.values()]
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
    keys = [key for key, _ in options]
    if sentence.number:
        return [keys.index(sentence.number)] if sentence.number in keys else []
    named = _NAMED.match(sentence.text)
    if named and named["key"].upper() in keys and (named["word"] or named["key"] != "a"):
        found, at = [keys.index(named["key"].upper())], named.end()
        while more := _MORE.match(sentence.text, at):
            found += [keys.index(more["key"].upper())] if more["key"].upper() in keys else []
            at = more.end()
        return found
    place = _PLACE.match(sentence.text) if len(sentence.text.split()) <= _WORDS else None
    if not place:
        return []
    group = (place.lastindex or 1) - 1
    if group == _ALL:
        return list(range(len(options)))
    return [len(options) - 1] if group == _LAST else [group] if group < len(options) else []
