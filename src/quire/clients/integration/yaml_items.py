"""Items of ours in a list of someone else's YAML file, between two comment lines; the rest stays byte for byte."""

from __future__ import annotations

import re

from quire.clients.integration.entries import text_of
from quire.clients.integration.types import Made, Seen

_START, _END = "# memory:start", "# memory:end"
_SECTION = re.compile(rf"^[ \t]*{_START}\r?\n(.*?)^[ \t]*{_END}(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL)


class YamlItems:
    """Items in the list that stands under one key of a file."""

    def __init__(self, key: str, items: str) -> None:
        self.key = key
        self.items = items

    def look(self, data: bytes | None) -> Seen:
        text = text_of(data)
        found = _SECTION.search(text)
        if found is None:
            self._place(text)
            return Seen("missing")
        held = [line.strip() for line in found[1].splitlines() if line.strip() != f"{self.key}:"]
        same = held == [line.strip() for line in self.items.splitlines()]
        return Seen("present" if same else "changed", ours=True)

    def keys(self, _data: bytes | None) -> Made:
        return frozenset()

    def apply(self, data: bytes | None, _force: bool) -> bytes:
        if self.look(data).state == "present":
            return data or b""
        text = _SECTION.sub("", text_of(data), count=1)
        end = "\r\n" if "\r\n" in text else "\n"
        at, indent, lead = self._place(text)
        lines = [_START, *lead, *(f"{'  ' if lead else ''}{line}" for line in self.items.splitlines()), _END]
        before = end if at and text[at - 1] != "\n" else ""
        section = "".join(f"{indent}{line}{end}" for line in lines)
        return f"{text[:at]}{before}{section}{text[at:]}".encode()

    def strip(self, data: bytes, _made: Made | None) -> bytes:
        return _SECTION.sub("", text_of(data), count=1).encode()

    def is_void(self, data: bytes) -> bool:
        return not data.strip()

    def _place(self, text: str) -> tuple[int, str, list[str]]:
        """Where the section goes, how far it is indented, and the line of the key where the file has none."""
        keys = list(re.finditer(rf"^{re.escape(self.key)}[ \t]*:(.*)$", text, re.MULTILINE))
        if re.search(r"^---.*\n(?s:.*)^---", text, re.MULTILINE) or len(keys) > 1:
            raise ValueError(f"it has several documents or several keys `{self.key}`")
        if not keys:
            return len(text), "", [f"{self.key}:"]
        at = min(keys[0].end() + 1, len(text))
        first = re.compile(r"(?:[ \t]*(?:#.*)?\r?\n)*([ \t]*)-[ \t]").match(text, at)
        if re.sub(r"#.*", "", keys[0][1]).strip() or first is None:
            raise ValueError(f"`{self.key}` is not a list with one item to a line; add to it yourself: {self.items!r}")
        return at, first[1], []
