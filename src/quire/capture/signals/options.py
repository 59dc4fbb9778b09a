"""What an agent offers to choose from, or asks point by point, and which of it an answer names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.capture.signals.sentences import Block
from quire.capture.signals.signs import HEDGE, signs_of
from quire.capture.signals.wording import stems, tidy

_MOST = 9
_TEXT_CHARS = 200
_PLACES = {"first": 0, "second": 1, "third": 2, "last": -1}
_COUNTS = {"two": 2, "three": 3, "both": 2}
_REFERENCE = re.compile(
    r"\W*(?:(?:yes|ok|okay|on|option|number|let['’]?s (?:do|go with|take)|go with|take|do)[\s,]+){0,3}(?:the )?[(（]?"
    r"(?P<what>first|second|third|last|[A-D]|[1-9])[)）]?(?: (?P<count>two|three))?(?: (?:one|option))?"
    r"(?: (?:and|und|y|et|e|\+) (?P<other>[A-D]|[1-9]))?"
    r"(?=[\s,.!;]*$|[,.;]| but\b| and\b|でお|にし|がいい)",
)
# `2 yes: the result, then …`: the answer to the second of several points.
_ANSWER = re.compile(r"\W*(?P<number>[1-9])(?:[.):]|\s+(?=[^\W\d]))\s*(?P<answer>[^\W\d].*)", re.S)
_INLINE = re.compile(
    r"(?<![\w.])[(（]?([1-9])[)）]\s*([^()（）]{4,}?)(?=[,、;，；]?\s*(?:and |or |und |oder )?[(（]?[1-9][)）]|[。.]"
    r"|、の|$)"
)
_AND = re.compile(
    r"^(?:(?:でお願いします|にします|がいいです)[。.]?|[\s,.;]*(?:(?:and|but|und|aber|y|pero|et|mais)\s+)?)", re.I
)
_TOPIC = re.compile(r"[:：?？.。]")


class Options:
    """What was offered last, by number, letter or place."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def offer(self, blocks: Sequence[Block], wholes: Sequence[str], *, is_wanted: bool) -> bool:
        """Take what a turn of the agent offers, each point with its text; whether it offers anything. Points without a
        number are an offer if the user wanted one."""
        points = [(block, text) for block, text in zip(blocks, wholes, strict=True) if block.is_item and not block.kind]
        named = {block.number: tidy(text, imperative=True) for block, text in points if block.number}
        if not named:
            inline = {number: item for text in wholes for number, item in _INLINE.findall(text)}
            named = {number: tidy(item) for number, item in inline.items()} if len(inline) > 1 else {}
        listed = named or {f"{index}.": tidy(text) for index, (_, text) in enumerate(points, start=1)}
        if len(listed) > 1:
            self._texts = dict(list(listed.items())[:_MOST])
        return bool(named) or (is_wanted and len(listed) > 1)

    def chosen(self, text: str, said: Sequence[str]) -> list[str]:
        """The options that an answer names by number, letter or place, with what the answer adds to them."""
        found = _REFERENCE.match(text)
        if not found or not self._texts:
            return []
        names, what = list(self._texts), found["what"]
        if what in _PLACES:
            at, many = _PLACES[what], _COUNTS.get(found["count"] or "", 1)
            picked = names[at : at + many] if at >= 0 else names[-many:]
        else:
            picked = [name for name in (what, found["other"] or "") if name in self._texts]
        more = _AND.sub("", text[found.end() :]).strip()
        texts = [self._argued(name, said) for name in picked]
        return [f"{texts[0]}; {more}", *texts[1:]] if texts and len(stems(more)) > 1 else texts

    def answered(self, text: str) -> str | None:
        """An answer to one of several points, under what the point is about: empty where it is none yet, nothing where
        it is about none."""
        found = _ANSWER.fullmatch(text)
        point = self._texts.get(found["number"], "") if found else ""
        if not found or not point or _REFERENCE.match(text):
            return None
        if HEDGE in signs_of(found["answer"]):
            return ""
        topic = _TOPIC.split(point, maxsplit=1)[0].strip()
        return tidy(f"{topic}: {found['answer']}")

    def _argued(self, name: str, said: Sequence[str]) -> str:
        """An option with what is said for it by its name: `Option B also keeps …`."""
        option = self._texts[name]
        named = (text for text in said if re.search(rf"\boption {re.escape(name)}(?!\w)", text, re.I))
        argument = next(named, "")
        return f"{option.rstrip('.。')}: {argument}" if 0 < len(argument) <= _TEXT_CHARS - len(option) else option
