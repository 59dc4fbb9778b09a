"""What a session leaves behind, found by rules and without a model: signals for the journal, and a summary."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.signals.extraction import MOST, SessionSignals, Traced, extract, trace

__all__ = ["MOST", "SessionSignals", "Traced", "extract", "trace"]

# Which module holds what.
_HOMES = {
    "MOST": "extraction",
    "SessionSignals": "extraction",
    "Traced": "extraction",
    "extract": "extraction",
    "trace": "extraction",
}

__getattr__ = loader(__name__, _HOMES)
