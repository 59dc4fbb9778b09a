"""How a step is worded, what a plan holds, and what of it a sentence reports as done."""

from __future__ import annotations

import re

from quire.capture.signals.sentences import Block
from quire.capture.signals.symptoms import asks_for
from quire.capture.signals.wording import opened, pair, share, stems, tidy

_MOST = 20
_BEGINS = re.compile(
    r"[,;(–—]?\s*\b((?:start(?:ing)?|begin(?:ning)?) (?:in|with|at|from|by)\b.+|empezando por .+|comenzando por .+"
    r"|en commençant par .+|beginnend mit .+|am besten (?:mit|in) .+|with the .{1,30}/\S+.*)$",
    re.I,
)
_HEAD = re.compile(
    r"\W*(?:next(?:,)?(?: up)? (?:i['’]d|i would|we (?:should|could|need to)|you (?:should|could))"
    r"|(?:and )?after that|what is left is|still to do is|offen ist noch|es fehlt noch|il reste à|queda por|queda|falta"
    r"|i['’]d suggest to|you should|.*\bif you (?:want|like|wish),? (?:i|we) (?:can|could))\s+",
    re.I,
)
_TAIL = re.compile(
    r"[;,]?\s*(?:(?:that|this|it) would be a good next step|(?:and )?(?:that|it) is (?:still )?(?:open|left|pending)"
    r"|i (?:have left|left) it\b.*|(?:please )?(?:don['’]?t let me forget|remind me))\W*$",
    re.I,
)
_ENUMERATED = re.compile(r"(?<!\S)\(?(\d)[).]\s+(.+?)(?=,?\s+\(?\d[).]\s|\.\s|\.?$)")
_NUMBERS = re.compile(r"\b(?:steps?|points?|items?|parts?|number)\s+((?:\d(?:\s*(?:,|and|&|to|-)\s*)?)+)", re.I)
_COUNT = r"(?:two|three|four|five|six|\d+)"
_ALL = re.compile(
    rf"\b(?:all (?:of (?:them|it|these) |{_COUNT} )?(?:(?:points?|steps?|items?|tasks?|parts?) )?(?:are|is) (?:now )?"
    rf"(?:done|finished|complete)|everything is (?:done|finished)|(?:all|the) {_COUNT} (?:steps|points|items|tasks"
    r"|parts) above)",
    re.I,
)
_DONE_SHARE = 0.55


class Plan:
    """What somebody set out to do, by number. Nothing is said of it until it is done."""

    def __init__(self) -> None:
        self._items: dict[str, str] = {}

    def note(self, block: Block) -> None:
        text = " ".join(sentence.text for sentence in block.sentences)
        if block.number and len(self._items) < _MOST:
            self._items[block.number] = tidy(block.title or block.sentences[0].text)
        for number, item in _ENUMERATED.findall(text):
            self._items[number] = tidy(item)

    def done_by(self, text: str) -> list[str] | None:
        """The items that a report speaks of as a whole or by number; nothing where it does neither."""
        if _ALL.search(text):
            numbers = list(self._items)
        elif found := _NUMBERS.search(text):
            numbers = re.findall(r"\d", found[1])
        else:
            return None
        return [self._items.pop(number) for number in numbers if number in self._items]

    def done_like(self, text: str) -> list[str]:
        """The items whose words are in a report."""
        said = stems(text)
        numbers = [number for number, item in self._items.items() if share(stems(item), said) >= _DONE_SHARE]
        return [self._items.pop(number) for number in numbers]


def is_enumeration(text: str) -> bool:
    return bool(_ENUMERATED.search(text))


def title_stems(text: str) -> frozenset[str]:
    return stems(text.partition(": ")[0])


def is_work(text: str) -> bool:
    """Whether a text names a piece of work rather than telling of it."""
    return len(text.split()) <= 12 and not text[:2].isupper() and asks_for(text)


def is_none(text: str) -> bool:
    return bool(re.fullmatch(r"\W*(?:none|nothing|n/?a|nichts|nada|rien|没有|なし)\b.{0,30}", text, re.I))


def worded(text: str) -> str:
    """A step as `title: start`, without the words that only say that it is one."""
    text = _TAIL.sub("", opened(text))
    text = text[found.end() :] if (found := _HEAD.match(text)) else text
    text = tidy(text, imperative=True)
    begins = _BEGINS.search(text)
    if begins and begins.start() > 8 and ": " not in text[: begins.start()]:
        return pair(text[: begins.start()], begins[1].rstrip(")"))
    title, colon, rest = text.partition(": ")
    return pair(title, rest) if colon else text
