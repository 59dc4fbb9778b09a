"""The summary of a session: what was asked for first, and how it ended, in one or two sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.capture.quotable_text import quote
from quire.capture.signals.cues import cue
from quire.capture.signals.labels import NEXT, PLAN
from quire.capture.signals.sentences import Block
from quire.capture.signals.wording import is_safe, stems, tidy

REQUEST_CHARS = 200
RESULT_CHARS = 200
_NOTHING = "Nothing was said in this session."
_END = (".", "!", "?", "…", "。", "！", "？")


class Story:
    """What a session was about, as far as it was heard."""

    def __init__(self) -> None:
        self._request = ""
        self._result = ""
        self._stand_in = ""

    def user(self, blocks: Iterable[Block]) -> None:
        if self._request:
            return
        texts = [sentence.text for block in blocks for sentence in block.sentences]
        wanted = [
            text
            for text in texts
            if len(stems(text)) > 1 and is_safe(text) and not cue("polite", at_start=True).match(text)
        ]
        if wanted:
            first = wanted[0]
            rest = [text for text in texts[texts.index(first) + 1 :] if stems(text) and is_safe(text)][:1]
            self._request = f"{first} {rest[0]}" if rest and len(first) + len(rest[0]) < REQUEST_CHARS else first

    def assistant(self, blocks: Iterable[Block]) -> None:
        """The last thing that the agent says it did, which no later one takes the place of."""
        for block in blocks:
            if block.kind in (NEXT, PLAN):
                continue
            for sentence in block.sentences:
                text = sentence.text
                if (
                    text.endswith(("?", "？", ":"))
                    or cue("polite").search(text)
                    or cue("acknowledged", whole=True).fullmatch(text)
                    or len(stems(text)) < 2
                    or not is_safe(text)
                ):
                    continue
                if cue("immediate", at_start=True).match(text) or cue("hypothetical").search(text):
                    continue
                self._result = text
                return

    def summary(self, blocks: Iterable[Block]) -> None:
        """A compacted beginning: what it says first stands in for a request that was not heard."""
        if self._request or self._stand_in:
            return
        for block in blocks:
            for sentence in block.sentences:
                found = re.match(r"(?:primary )?(?:request|goal|intent)[^:]{0,40}:\s*(.+)", sentence.text, re.I)
                if found and is_safe(found[1]):
                    self._stand_in = found[1]
                    return

    def text(self, checks: list[str]) -> str:
        request, result = self._request or self._stand_in, self._result
        parts = []
        if request:
            parts.append(f"Asked: {_ended(quote(tidy(request), REQUEST_CHARS))}")
        if result:
            parts.append(f"Result: {_ended(quote(tidy(result), RESULT_CHARS))}")
        elif checks:
            parts.append(f"Result: {_ended(quote(checks[-1], RESULT_CHARS))}")
        told = " ".join(parts)
        return told if is_safe(told) else _NOTHING


def _ended(text: str) -> str:
    if text.endswith(_END):
        return text
    return f"{text}。" if "\u3040" <= text[-1:] <= "\u9fff" else f"{text}."
