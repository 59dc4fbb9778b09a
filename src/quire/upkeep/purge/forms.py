"""List the forms a text can have in a file: plain, other line ends, JSON escapes."""

from __future__ import annotations

import json
import re
from typing import Any

from quire.model.errors import InputError
from quire.model.untyped import with_texts

PURGED = "[purged]"
SHORTEST = 6
_ROUNDS = 100
_COPIES = re.compile(r"(?:^|/)(?:recovery|\.backup)/|(?:^|/)memory\.(?:backup|pre-migration)[^/]*\.json$")
"""Of files as they were: there a name goes like any other text, since nobody can take its entry out."""


class Forms:
    """The ways in which a text is written down, the longest first."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = text.replace("\r\n", "\n")
        said = {text, lines, lines.replace("\n", "\r\n")}
        if "\n" in lines:
            said |= {" ".join(lines.split("\n")), " ".join(lines.split())}  # as it is reported in one line
        self.said = sorted(said, key=len, reverse=True)
        found: set[str] = set()
        for form in said:
            escaped = [json.dumps(form, ensure_ascii=plain)[1:-1] for plain in (True, False)]
            found.update((form, *escaped, *(one.replace("/", "\\/") for one in escaped)))
        self.found = sorted((form.encode("utf-8", "surrogatepass") for form in found), key=len, reverse=True)

    def count(self, data: bytes) -> int:
        """How often the text stands there."""
        return self._without(data)[1]

    def is_in(self, text: str) -> bool:
        """Whether a text, not escaped, has it."""
        return any(form in text for form in self.said)

    def without(self, data: bytes, path: str) -> bytes:
        """The same bytes with a mark in its place. JSON stays JSON with the same keys, or it is refused."""
        if path.endswith(".jsonl"):
            return b"\n".join(self._document(line, path) for line in data.split(b"\n"))
        return self._document(data, path) if path.endswith(".json") else self._without(data)[0]

    def _without(self, data: bytes) -> tuple[bytes, int]:
        total = 0
        # What stood around it may, with the mark, be the text again.
        for _ in range(_ROUNDS):
            count = 0
            for form in self.found:
                if times := data.count(form):
                    data, count = data.replace(form, PURGED.encode()), count + times
            total += count
            if not count:
                break
        return data, total

    def _document(self, data: bytes, path: str) -> bytes:
        after, _ = self._without(data)
        if after == data and b"\\" not in data:
            return data
        value = _parsed(data)
        if value is None:
            return after
        is_copy = _COPIES.search(path) is not None
        if not is_copy and any(map(self.is_in, _keys(value))):
            raise InputError(
                f"`{path}` holds the text in a field name.",
                hint="Remove the entry of that name first, or purge a longer text that contains it.",
            )
        wanted = with_texts(value, self._text_without, names=is_copy)
        if _parsed(after) == wanted:
            return after
        # Escapes that nobody needs may hide it, and what is escaped may look like it; then it is written anew.
        return data if wanted == value else json.dumps(wanted, ensure_ascii=False).encode("utf-8", "surrogatepass")

    def _text_without(self, text: str) -> str:
        for _ in range(_ROUNDS):
            if not self.is_in(text):
                break
            for form in self.said:
                text = text.replace(form, PURGED)
        return text


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(key for item in value.values() for key in _keys(item))}
    return {key for item in value for key in _keys(item)} if isinstance(value, list) else set()
