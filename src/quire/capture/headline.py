"""Where a statement begins, behind an answer or an announcement, and the title that its first clause makes."""

from __future__ import annotations

import re

from quire.capture.quotable_text import quote
from quire.model.text import one_line

_LEAST_WORDS = 3
_ANSWERS = frozenset(["agree", "later", "refuse"])
_LEAD = re.compile(r"[^.:!?。：！？]{1,60}(?:[.:!]\s+|[。：！])")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CLAUSE_END = re.compile(
    r": | \(|; |,? (?:because|since|so that|weil|porque|parce que)\b|(?<=[。.!])\s|，|(?<=。)", re.I
)
_REASON = re.compile(r",? (?:because|weil|porque|parce que)\s", re.I)
_COLON = re.compile(r":\s|：")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")


def statement(text: str) -> str:
    """A text without what only leads up to it: an answer ("yes."), an announcement ("there it is:")."""
    from quire.capture.signals.cues import cues_of
    from quire.capture.signals.words import stems, tidy

    while lead := _LEAD.match(text):
        rest = tidy(text[lead.end() :])
        says_more = any(stems(word) and not cues_of(word)[0] & _ANSWERS for word in _WORD.findall(lead[0]))
        if says_more or len(stems(rest)) < _LEAST_WORDS or "cause" in cues_of(rest)[1]:
            break
        text = rest
    return text


def title_of(text: str, most: int) -> str:
    """The first clause of a text that says enough, short enough for a title."""
    line = one_line(text)
    ends = (found.start() for found in _CLAUSE_END.finditer(line))
    end = next((at for at in ends if _is_enough(line[:at])), len(line))
    return quote(line[:end], most).rstrip(" .,;:。，；：")


def claim_and_reason(text: str) -> tuple[str, str]:
    """A text, and the reason that its first sentence gives; a colon before that divides it already."""
    reason = _REASON.search(text)
    claim = text[: reason.start()] if reason else ""
    if reason is None or _COLON.search(claim) or _SENTENCE_END.search(claim) or not _is_enough(claim):
        return text, ""
    return claim, text[reason.end() :]


def head_and_rest(text: str, most: int) -> tuple[str, str, str]:
    """A statement in parts: the title, what a colon says of it, and what follows where the whole is no title."""
    text = statement(text)
    colon = _COLON.search(text)
    end = next((at for found in _SENTENCE_END.finditer(text) if _is_enough(text[: (at := found.start())])), len(text))
    if colon and 0 < colon.start() < end:
        return text[: colon.start()], text[colon.end() :], ""
    if len(text) <= most:
        return text.rstrip(" .。"), "", ""
    head = text[:end].rstrip(" .。")
    return head, "", text[end:].strip() if len(head) <= most else text


def _is_enough(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS or not text.isascii()
