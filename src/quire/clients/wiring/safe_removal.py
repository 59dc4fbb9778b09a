"""Check that undoing a change removes only what is ours; the record of it may be forged.

Whoever made a repository wrote its records, too. A file that was taken back by them could hold commands that nobody
has seen in it, or lack rules that somebody put there. So what is left of others must mean the same before and after.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from quire.clients.wiring.documents import read_document, text_of
from quire.clients.wiring.types import Form, Made, Part
from quire.files.toml_scanner import (
    read_toml,
)

_VERSION = ("version",)


def agrees(parts: Sequence[Part], base: bytes | None, current: bytes | None) -> bool:
    """Whether a file differs from what it was before (`base`) by these parts alone."""
    form = parts[0].form
    if form == "text":
        return base is None
    try:
        made = frozenset[tuple[str, ...]]().union(*(part.keys(current) - part.keys(base) for part in parts))
        left = current or b""
        for part in parts:
            left = part.strip(left, made)
        if base is None:
            return all(part.is_void(left) for part in parts)
        return bool(_meaning(form, left, made) == _meaning(form, base, made))
    except (ValueError, RecursionError):
        return False


def _meaning(form: Form, data: bytes, made: Made) -> Any:
    """What a file says, without blanks, comments and empty containers, which come and go with what is in them."""
    if form == "section":
        return data.split()
    value = read_document(data) if form == "jsonc" else read_toml(text_of(data).removeprefix("\ufeff"))
    if _VERSION in made:
        # It stays where somebody else's hooks have come to need it.
        value = {name: held for name, held in value.items() if name != "version"}
    return json.dumps(_solid(value), sort_keys=True, default=str)


def _solid(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: kept for name, held in value.items() if (kept := _solid(held)) not in ({}, [])}
    return [_solid(held) for held in value] if isinstance(value, list) else value
