"""Errors of providers, each with its reason and what the failed call may have cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from quire.model.errors import NotReady

_SHOWN_CHARS = 200
_TAIL_BYTES = 8_000
# A longer line is no message to a person: it is the prompt, or an answer, repeated.
_LINE_CHARS = 400
# Narrow on purpose: that a text speaks of tokens or of authentication says nothing about who is signed in.
_SIGNED_OUT = re.compile(
    r"\bnot (?:logged|signed) in\b"
    r"|\bplease (?:run|log|sign)\b.{0,40}(?:\blog ?in\b|/login\b)"
    r"|\brun [`'\"]?(?:codex|claude) (?:auth )?login\b"
    r"|\b(?:invalid|incorrect) api key\b"
    r"|\bauthentication_error\b"
    r"|\b401 unauthorized\b"
    r"|\boauth token has expired\b",
    re.I,
)


class ProviderFailed(NotReady):
    """A provider did not answer. `charge` is what the call cost, in millionths of a dollar.

    None stands for a cost that nobody knows: then all that was set aside for the call counts as spent.
    """

    reason: ClassVar[str] = "failed"

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
        charge: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details={"reason": self.reason, "provider": provider, **(details or {})})
        self.provider = provider
        self.charge = charge


class ProgramMissing(ProviderFailed):
    """Its program is not on this machine, or may not be used; or its endpoint is not set up."""

    reason = "missing"


class SignedOut(ProviderFailed):
    """The program or the endpoint does not know who asks."""

    reason = "signed-out"


class TimedOut(ProviderFailed):
    """No answer within the time limit."""

    reason = "timed-out"


class BadAnswer(ProviderFailed):
    """What was answered is not what was asked for."""

    reason = "invalid-answer"


class SpendRefused(ProviderFailed):
    """The call could cost more than may still be spent today; it was not made."""

    reason = "ceiling"


def says_signed_out(*streams: bytes) -> bool:
    """Whether what a failed program said last means that nobody is signed in."""
    return any(_SIGNED_OUT.search(line) for stream in streams for line in _lines(stream))


def last_words(*streams: bytes) -> str:
    """The last line that a program meant for people, fit to be shown; empty where no output."""
    from quire.capture.quotable_text import quote, safe_text

    for stream in streams:
        lines = _lines(stream)
        if lines:
            return quote(safe_text(lines[-1], _LINE_CHARS), _SHOWN_CHARS)
    return ""


def _lines(stream: bytes) -> list[str]:
    text = stream[-_TAIL_BYTES:].decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip() and len(line) <= _LINE_CHARS]
