"""Print what the page's process reports: lines, JSON envelopes, errors."""

from __future__ import annotations

import sys
from typing import Any

from quire.guard.hostile_text import make_safe
from quire.guard.redaction import InputSecrets
from quire.model.errors import QuireError
from quire.verbs.envelope import failed, succeeded
from quire.verbs.plain import json_line

_EXIT = {"failed": 1, "usage": 2, "not_ready": 3}


def say(*lines: str) -> None:
    """Lines for people, with nothing in them that a terminal would act on."""
    _write("".join(f"{make_safe(line)}\n" for line in lines))


def tell(data: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    """The answer as one envelope, or as lines."""
    if not as_json:
        say(*lines)
        return
    _write(json_line(succeeded(None, data)) + "\n")


def tell_error(error: QuireError, *, as_json: bool) -> int:
    """What went wrong and what to do; the exit code."""
    envelope = failed(error)
    said = InputSecrets(envelope).value(envelope)
    if as_json:
        _write(json_line(said) + "\n")
    elif sys.stderr is not None:
        hint = f"hint: {said['error']['hint']}\n" if error.hint else ""
        sys.stderr.write(make_safe(f"error: {said['error']['message']}\n{hint}"))
    return _EXIT[error.kind]


def _write(text: str) -> None:
    """Whoever closed standard output wants to be told nothing."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
