"""Sessions of coding agents: where they lie, what was said in them, and what of it may be kept."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.transcripts.discovery import Discovery, discover
    from quire.capture.transcripts.places import shown_text, source_path
    from quire.capture.transcripts.reading import Reading, read
    from quire.capture.transcripts.redaction import redacted
    from quire.capture.transcripts.types import SOURCE_TYPES, Places, SessionFile, Skipped, Turn

__all__ = [
    "SOURCE_TYPES",
    "Discovery",
    "Places",
    "Reading",
    "SessionFile",
    "Skipped",
    "Turn",
    "discover",
    "read",
    "redacted",
    "shown_text",
    "source_path",
]

# Which module holds what.
_HOMES = {
    "SOURCE_TYPES": "types",
    "Discovery": "discovery",
    "Places": "types",
    "Reading": "reading",
    "SessionFile": "types",
    "Skipped": "types",
    "Turn": "types",
    "discover": "discovery",
    "read": "reading",
    "redacted": "redaction",
    "shown_text": "places",
    "source_path": "places",
}

__getattr__ = loader(__name__, _HOMES)
