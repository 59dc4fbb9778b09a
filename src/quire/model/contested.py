"""Values that branches disagree on: kept in the record, all of them, until someone decides."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.model.text import cut, one_line

_SHOWN = 80
CONTESTED = "contested"
"""The key of a stored object under which it keeps, by field, all values that branches gave it."""
SETTLED = "settled"
"""The key under which it keeps, by field, digests of the values that someone decided against."""
RECORD = "record"
"""The field that stands for the record itself, where one branch deleted what another changed."""
KEPT = "kept"
"""The value of that field in the branch that kept the record; None in the one that deleted it."""
BODY = "body"
"""The field that stands for the text of a node."""

IN_CONFLICT = "`memory resolve` merges the file by record; or choose one side by hand."
"""What to do with a file that a merge of texts left in conflict."""


class ContestedField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a record that branches gave different values."""

    ref: str
    field: str
    """The field's stored name, inner ones after a dot; `body` for a node's text, `record` for a deletion."""
    values: tuple[Any, ...]
    """In a fixed order; None where a branch removed it. The last one is shown."""
    path: str = ""
    """The file that holds it, from the project's root."""
    sides: tuple[str, ...] = ()
    """Which side of the merge each value is of, `ours` or `theirs`, where the history tells."""


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
    """One of the values, or another one; None removes it."""
    at: str = ""
    """When someone decided."""


def value_shown(value: Any, chars: int = _SHOWN) -> str:
    """A value in a line."""
    if value is None:
        return "(removed)"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    return cut(one_line(value if isinstance(value, str) else msgspec.json.encode(value).decode()), chars)


def disagreement(field: ContestedField, chars: int = _SHOWN) -> str:
    """What branches disagree on, in a line such as `stage: paused | building`; the first is shown till then."""
    shown = " | ".join(value_shown(value, chars) for value in reversed(field.values))
    return f"{field.field}: {shown}"
