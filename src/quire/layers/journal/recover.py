"""What every reading of the journal begins with: nothing of a dead writer is left half done, no page is due."""

from __future__ import annotations

import contextlib
import os

from quire.files.world import World
from quire.files.write_access import recover_folder
from quire.layers.journal.layout import AUTOMATION, FOLDER, LOCAL, PAGES_DUE
from quire.model.errors import QuireError

WRITTEN = (LOCAL, "history", "archive", AUTOMATION)
"""What in the journal's folder is written to, and so may not be a link."""
_SETTLE_SECONDS = 2.0


def recover_journal(root: str, world: World) -> None:
    """Before a read: complete what a dead writer left of its transaction."""
    recover_folder(root, FOLDER, world, written=WRITTEN)


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
