"""Sessions of coding agents: where they lie, what was said in them, and what of it may be kept."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.transcripts.discovery import Discovery, discover
    from quire.capture.transcripts.places import source_path
    from quire.capture.transcripts.reading import Reading, read
    from quire.capture.transcripts.redaction import redacted
    from quire.capture.transcripts.types import SOURCE_TYPES, SessionFile, Skipped, Turn

__all__ = [
    "SOURCE_TYPES",
    "Discovery",
    "Reading",
    "SessionFile",
    "Skipped",
    "Turn",
    "discover",
    "read",
    "redacted",
    "source_path",
]

# Which module holds what.
_HOMES = {
    "SOURCE_TYPES": "types",
    "Discovery": "discovery",
    "Reading": "reading",
    "SessionFile": "types",
    "Skipped": "types",
    "Turn": "types",
    "discover": "discovery",
    "read": "reading",
    "redacted": "redaction",
    "source_path": "places",
}

__getattr__ = loader(__name__, _HOMES)
