"""Files that are ours alone, and marked sections in files of others."""

from __future__ import annotations

from quire.clients.wiring.types import Made, Seen
from quire.files.marked_sections import Markers, find_section, place_section, remove_section

MARKERS = Markers("<!-- memory:start -->", "<!-- memory:end -->")
"""The same as around the guidance in AGENTS.md: a file has one of the two, and readers leave both out."""


class WholeFile:
    """A file of which every byte is ours."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()

    def look(self, data: bytes | None) -> Seen:
        if data is None:
            return Seen("missing")
        # Git may have checked it out with other line endings.
        same = data == self.data or data.replace(b"\r\n", b"\n") == self.data
        return Seen("present", ours=True) if same else Seen("changed", foreign=True)

    def keys(self, _data: bytes | None) -> Made:
        return frozenset()

    def apply(self, data: bytes | None, _force: bool) -> bytes:
        return data if data is not None and self.look(data).state == "present" else self.data

    def strip(self, data: bytes, _made: Made | None) -> bytes:
        return b"" if self.look(data).ours else data

    def is_void(self, data: bytes) -> bool:
        return not data


class MarkedSection:
    """A section between two comment lines."""

    def __init__(self, text: str) -> None:
        self.text = text.strip("\n")

    def look(self, data: bytes | None) -> Seen:
        found = find_section(data or b"", MARKERS)
        if found.state == "damaged":
            raise ValueError(f"its markers {MARKERS.start} … {MARKERS.end} are damaged: {found.reason}")
        if found.state == "missing":
            return Seen("missing")
        return Seen("present" if found.body == self.text else "changed", ours=True)

    def keys(self, _data: bytes | None) -> Made:
        return frozenset()

    def apply(self, data: bytes | None, _force: bool) -> bytes:
        return (data or b"") if self.look(data).state == "present" else place_section(data or b"", MARKERS, self.text)

    def strip(self, data: bytes, _made: Made | None) -> bytes:
        self.look(data)
        return remove_section(data, MARKERS)

    def is_void(self, data: bytes) -> bool:
        return not data.removeprefix(b"\xef\xbb\xbf").strip()
