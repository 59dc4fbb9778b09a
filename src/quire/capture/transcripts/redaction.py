"""Shorten and redact text of a session: its beginning or its ends, without hostile characters or secrets."""

from __future__ import annotations

from quire.capture.transcripts.types import RESULT_CHARS, TEXT_CHARS
from quire.guard.hostile_text import make_safe
from quire.guard.redaction import redacted as without_secrets

_BEGIN, _END = "-----BEGIN", "-----END"


def redacted(text: str) -> tuple[str, int]:
    """The text with every certain secret replaced by what it was, and how many there were."""
    return without_secrets(text, "[redacted: {}]", "[redacted: too many secrets]")


def kept_text(text: str, most: int = TEXT_CHARS) -> str:
    """A text that may be shown, its beginning where it is long. Secrets are still in it."""
    text = make_safe(text).strip()
    if len(text) <= most:
        return text
    kept = _to_a_gap(text[:most])
    return f"{kept}\n[{len(text) - len(kept):,} characters left out]"


def kept_result(text: str, most: int = RESULT_CHARS) -> str:
    """What a tool answered, as far as it is kept: how it begins, and how it ends. Secrets are still in it."""
    text = make_safe(text).strip()
    if len(text) <= most:
        return text
    head = _to_a_gap(text[: most // 2])
    start = _from_a_gap(text, len(text) - most // 2)
    tail = text[start:]
    return f"{head}\n[{len(text) - len(head) - len(tail):,} characters left out]\n{tail}".rstrip("\n")


def _to_a_gap(text: str) -> str:
    """Without the word that was cut: it could be half a secret, which nothing would recognise."""
    gap = max(text.rfind(" "), text.rfind("\n"))
    return text[:gap].rstrip() if gap >= 0 else ""


def _from_a_gap(text: str, start: int) -> int:
    """Where the end begins: after a line, else after a word, and never within a key whose head is left out."""
    line = text.find("\n", start)
    if line < 0:
        blank = text.find(" ", start)
        start = blank + 1 if blank >= 0 else len(text)
    else:
        start = line + 1
    if text.rfind(_BEGIN, 0, start) > text.rfind(_END, 0, start):
        stop = text.find(_END, start)
        line = text.find("\n", stop) if stop >= 0 else -1
        start = line + 1 if line >= 0 else len(text)
    return start
