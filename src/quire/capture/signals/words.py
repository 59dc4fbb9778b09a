"""How a signal is worded: one plain line, cut at a limit; which words carry it; and whether it may be kept."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from quire.capture.quotable_text import quote
from quire.capture.signals.cues import words
from quire.guard.hostile_text import make_safe
from quire.guard.secrets import find_secrets
from quire.model.text import one_line

TEXT_CHARS = 320
"""How long a signal may be; several sentences are no longer together."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_STEM = 6
_REDACTED = re.compile(r"\[(?:redacted|secret left out|text left out)\b", re.I)
_GONE = re.compile(r"^[\W_]*(?<![`(\[\"'“#@$])[-–—,;:.!·…\s]+|\s*[.,;:。！!，；：\s]+$")


@functools.lru_cache(maxsize=4_096)
def stems(text: str) -> frozenset[str]:
    """The words that carry a text, cut so that their forms agree; pairs of signs where there are no spaces."""
    found: set[str] = set()
    for match in _WORD.finditer(text.lower()):
        word = match[0].replace("’", "'")
        for part in _IDEOGRAPHS.findall(word):
            found.update(part[index : index + 2] for index in range(max(1, len(part) - 1)))
        plain = _IDEOGRAPHS.sub("", word).removesuffix("'s")
        if plain and plain not in words("stop_words") and (len(plain) > 1 or plain.isnumeric()):
            found.add(plain.removesuffix("s")[:_STEM] if len(plain) > 3 else plain)
    return frozenset(found)


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def share(part: frozenset[str], whole: frozenset[str]) -> float:
    """How much of the first is in the second."""
    return len(part & whole) / len(part) if part else 0.0


def tidy(text: str) -> str:
    """A sentence as it can stand alone: without its end mark, and with a capital letter."""
    text = _GONE.sub("", one_line(text))
    word = text.split(maxsplit=1)[0] if text else ""
    # A name from code keeps its case.
    is_name = any(char in word for char in "_./()<>=`$") or any(char.isupper() for char in word)
    return text if is_name else text[:1].upper() + text[1:]


def capped(text: str) -> str:
    return quote(text, TEXT_CHARS)


def is_safe(text: str) -> bool:
    """Whether a text may be kept: nothing in it is a secret, was one, or is hostile."""
    if not text or _REDACTED.search(text) or make_safe(text) != text:
        return False
    return not any(finding.certain for finding in find_secrets(text))
