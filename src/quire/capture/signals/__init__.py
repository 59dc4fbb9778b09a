"""What a session leaves behind, found by rules and without a model: signals for the journal, and a summary."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.signals.extraction import MOST, SessionSignals, extract

__all__ = ["MOST", "SessionSignals", "extract"]

# Which module holds what.
_HOMES = {"MOST": "extraction", "SessionSignals": "extraction", "extract": "extraction"}

__getattr__ = loader(__name__, _HOMES)
