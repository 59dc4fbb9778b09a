"""The `memory` command: short verbs for people and agents alike."""

from quire.surfaces.cli.main import journal_main, main

__all__ = ["journal_main", "main"]
