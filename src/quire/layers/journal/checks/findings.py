"""The finding of a check, safe to print on any terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quire.guard.hostile_text import make_safe
from quire.layers.journal.documents import parse_document
from quire.layers.journal.layout import FILE_BYTES, FOLDER
from quire.layers.journal.store import held_file
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import cut, one_line

PASSED = "pass"
"""The severity of what was looked at and is well; the others are those of every problem."""
_CODE_CHARS = 160
_TEXT_CHARS = 1_000
TOLD = 20
"""How many of a kind are named; the rest is counted."""
REPAIRS_IT = "`memory journal validate --repair` repairs it."
RESTORES = "`git restore` restores the committed version."


def passed(code: str, message: str, path: str = "") -> Problem:
    """That something was looked at, and is well."""
    return _problem(PASSED, code, message, path, None, None)


def warned(code: str, message: str, path: str = "", hint: str | None = None, line: int | None = None) -> Problem:
    return _problem("warning", code, message, path, hint, line)


def failed(code: str, message: str, path: str = "", hint: str | None = None, line: int | None = None) -> Problem:
    return _problem("error", code, message, path, hint, line)


def _problem(severity: str, code: str, message: str, path: str, hint: str | None, line: int | None) -> Problem:
    # Ids, names and errors come from files that anybody may have written.
    return Problem(
        severity=severity,
        code=_shown(code, _CODE_CHARS),
        message=_shown(message, _TEXT_CHARS),
        path=make_safe(path),
        line=line,
        hint=hint,
    )


def _shown(text: str, chars: int) -> str:
    return make_safe(cut(one_line(text), chars))


def listing(names: Iterable[str]) -> str:
    """The first few, and how many more there are."""
    named = list(names)
    more = f" and {len(named) - TOLD:,} more" if len(named) > TOLD else ""
    return ", ".join(f"`{cut(name, 120)}`" for name in named[:TOLD]) + more


def document_at(root: str, name: str) -> tuple[Any, str, str]:
    """The value in a file; or None, one of `missing`, `read` and `json`, and a sentence. Never an exception."""
    where = f"{FOLDER}/{name}"
    try:
        data = held_file(root, name, FILE_BYTES)
    except QuireError as error:
        return None, "read", error.message
    if data is None:
        return None, "missing", f"`{where}` is missing."
    try:
        return parse_document(data, where), "", ""
    except QuireError as error:
        return None, "json", error.message
