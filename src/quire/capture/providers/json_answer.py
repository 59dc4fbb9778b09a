"""The value in what a provider said: bare JSON, in a code fence, or with words around it."""

from __future__ import annotations

import re
from typing import Any

from quire.layers.journal.canonical import decode_json

_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w-]*[ \t]*\n(.*)\n[ \t]*(?:```|~~~)\s*\Z", re.S)


def value_in(text: str) -> Any:
    """The JSON object in a text, or None."""
    fenced = _FENCE.match(text)
    text = (fenced[1] if fenced else text).strip()
    found = decoded(text)
    if found is None:
        start, end = text.find("{"), text.rfind("}")
        found = decoded(text[start : end + 1]) if 0 <= start < end else None
    return found if isinstance(found, dict) else None


def decoded(text: str) -> Any:
    """A JSON value, or None where the text is none."""
    try:
        return decode_json(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
