"""The journal kept by itself: one cycle of sync, recall and retention, safe to call from anywhere."""

from __future__ import annotations

from quire.project.journal_asking import JournalAsking

__all__ = ["JournalAutomation"]


class JournalAutomation(JournalAsking):
    """Cycles, and the process that runs them."""
