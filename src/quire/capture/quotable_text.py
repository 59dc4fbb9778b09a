"""Prepare quotes from a conversation: no secrets, hostile characters or temporary paths; split into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.guard.hostile_text import find_hostile, make_safe
from quire.guard.redaction import redacted
from quire.model.text import cut, one_line

CLIPBOARD = "[clipboard image attachment]"
SECRET = "[secret left out]"  # noqa: S105

# A pasted image lies in a temporary folder that is gone when someone reads the summary.
_CLIPBOARD = re.compile(
    r"(?:/private)?(?:/var/folders/[\w+/-]{1,200}/T|/tmp)/[\w.]{0,40}-?clipboard-[\w-]{1,200}\.\w{2,5}"
)
# So much more than is wanted is looked at, so that a secret is not cut in two and missed.
_MARGIN = 4_096
_ITEM = re.compile(r"(?:[-*+>#|•]{1,6}|\d{1,3}[.)])\s+|[>#|]")
_FENCES = ("```", "~~~")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+|(?<=[。！？])")


def safe_text(text: str, chars: int) -> str:
    """The beginning of a text, as far as it may be shown."""
    if len(text) > chars + _MARGIN:
        text = text[: chars + _MARGIN]
        # The word that was cut could be half a secret, which nothing would recognise.
        text = text[: max(text.rfind(" "), text.rfind("\n"))] if " " in text or "\n" in text else text
    text = _CLIPBOARD.sub(CLIPBOARD, make_safe(text))
    return redacted(text)[0][:chars]


def safe_pin(text: str) -> str:
    """A pin as it is; changed only where a character or a secret must not pass."""
    return redacted(make_safe(text) if find_hostile(text) else text)[0]


def quote(text: str, chars: int) -> str:
    """A text on one line, at most `chars` characters of it, cut after a sentence where one ends, else after a word."""
    line = one_line(text)
    if len(line) <= chars:
        return line
    if chars < 1:
        return ""
    # One character more is looked at: the space after a sentence that just fits.
    ends = [end for found in _SENTENCE_END.finditer(line[: chars + 1]) if (end := found.start()) <= chars]
    if ends and ends[-1] >= chars // 3:
        return line[: ends[-1]]
    word = line[: chars - 1].rpartition(" ")[0]
    return cut(line, chars) if len(word) < chars // 2 else word + "…"


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each on one line; what stands in code fences is no sentence."""
    for paragraph in _paragraphs(text):
        for part in _SENTENCE_END.split(paragraph):
            sentence = one_line(part)
            if len(sentence) > 3:
                yield sentence


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that belong together: a new item, a blank line and a fence each begin something else."""
    held: list[str] = []
    fence, heading = "", False
    for line in text.split("\n"):
        bare = line.strip()
        opens = bare[:3] if bare.startswith(_FENCES) else ""
        item = _ITEM.match(bare)
        if held and (fence or opens or item or heading or not bare):
            yield " ".join(held)
            held.clear()
        heading = bare.startswith("#")
        if opens and (not fence or fence == opens):
            fence = "" if fence else opens
        elif not fence and bare:
            held.append(bare[item.end() :] if item else bare)
    if held:
        yield " ".join(held)
