"""The `memory` command."""

from quire.surfaces.cli.main import journal_main, main

__all__ = ["journal_main", "main"]
