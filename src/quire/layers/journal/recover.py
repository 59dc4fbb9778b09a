"""Pages that a dead writer left due are written before the journal is read."""

from __future__ import annotations

import contextlib
import os

from quire.files.world import World
from quire.layers.journal.layout import FOLDER, LOCAL, PAGES_DUE
from quire.model.errors import QuireError

_SETTLE_SECONDS = 2.0


def are_pages_due(root: str) -> bool:
    return os.path.lexists(os.path.join(root, FOLDER, LOCAL, PAGES_DUE))


def recover_due_pages(root: str, world: World) -> None:
    """Before a read: write what a dead writer left due. A living one, or a read-only disk, is left alone."""
    if not are_pages_due(root):
        return
    # Loaded here: most of the time nothing is due, and all that makes pages is not needed.
    from quire.layers.journal.pages import write_due_pages
    from quire.layers.journal.store import journal_access

    with (
        contextlib.suppress(QuireError, ValueError),
        journal_access(root, world, "write the pages", _SETTLE_SECONDS),
    ):
        write_due_pages(root, world)
