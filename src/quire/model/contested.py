"""Values that branches disagree on: kept in the record, all of them, until somebody decides."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.model.text import cut, one_line

_SHOWN = 80
CONTESTED = "contested"
"""The key of a stored object under which it keeps, by field, all values that branches gave it."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a contested field, and when its branch last changed the record."""

    at: str
    value: Any
    """None where the branch removed it."""


class ContestedField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a record that branches gave different values."""

    ref: str
    field: str
    """The field's stored name; `body` for a node's text, `record` where one branch deleted what another changed."""
    candidates: tuple[Candidate, ...]
    """In the order of their time, then of their value: the last one is shown."""
    path: str = ""
    """The file that holds it, from the project's root."""


class MergedFile(msgspec.Struct, frozen=True, kw_only=True):
    """Three versions of a file made into one."""

    data: bytes | None
    """None where the file is removed."""
    contested: tuple[ContestedField, ...] = ()
    """What the branches disagree on, also what was contested before and still is."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """How a contested field is settled."""

    ref: str
    field: str
    value: Any
    """One of the candidates, or another value; None removes it."""


def candidate_shown(value: Any, chars: int = _SHOWN) -> str:
    """A value in a line."""
    if value is None:
        return "(removed)"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    return cut(one_line(value if isinstance(value, str) else msgspec.json.encode(value).decode()), chars)


def disagreement(field: ContestedField, chars: int = _SHOWN) -> str:
    """What branches disagree on, in a line such as `stage: paused | building`; the first is shown till then."""
    shown = " | ".join(candidate_shown(one.value, chars) for one in reversed(field.candidates))
    return f"{field.field}: {shown}"
