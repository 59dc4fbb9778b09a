"""Parts that are whole files of ours, or marked sections in files of others."""

from __future__ import annotations

from quire.clients.integration.types import Made, Seen
from quire.files.digests import hex_digest
from quire.files.marked_sections import Markers, find_section, place_section, remove_section

MARKERS = Markers("<!-- memory:start -->", "<!-- memory:end -->")
"""The same as around the guidance in AGENTS.md: a file has one of the two, and readers leave both out."""


class WholeFile:
    """A file of which every byte is ours."""

    def __init__(self, text: str, known: frozenset[str] = frozenset()) -> None:
        self.data = text.encode()
        self.known = known
        """Digests of texts of other programs that do as well."""

    def look(self, data: bytes | None) -> Seen:
        if data is None:
            return Seen("missing")
        # Git may have checked it out with other line endings.
        same = data == self.data or data.replace(b"\r\n", b"\n") == self.data or _is_known(data, self.known)
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

    def __init__(self, text: str, markers: Markers = MARKERS, known: frozenset[str] = frozenset()) -> None:
        self.text = text.strip("\n")
        self.markers = markers
        self.known = known

    def look(self, data: bytes | None) -> Seen:
        found = find_section(data or b"", self.markers)
        if found.state == "damaged":
            raise ValueError(f"its markers {self.markers.start} … {self.markers.end} are damaged: {found.reason}")
        if found.state == "missing":
            return Seen("missing")
        same = found.body == self.text or _is_known(found.body.encode(), self.known)
        return Seen("present" if same else "changed", ours=True)

    def keys(self, _data: bytes | None) -> Made:
        return frozenset()

    def apply(self, data: bytes | None, _force: bool) -> bytes:
        return (
            (data or b"") if self.look(data).state == "present" else place_section(data or b"", self.markers, self.text)
        )

    def strip(self, data: bytes, _made: Made | None) -> bytes:
        self.look(data)
        return remove_section(data, self.markers)

    def is_void(self, data: bytes) -> bool:
        return not data.removeprefix(b"\xef\xbb\xbf").strip()


def _is_known(data: bytes, known: frozenset[str]) -> bool:
    return bool(known) and hex_digest(data.decode("utf-8", "replace").replace("\r\n", "\n").strip("\n")) in known
