"""Keep what a branch appends to a log in files of its own, until the default branch takes them in.

Two branches that append to one file conflict on every forge. So on other branches each write makes a new file beside
the log, in `<log>.d/`, with a name that no other write has. Readers see the log and its fragments as one. A fragment
is never changed; folding appends its lines to the log and removes it. `files/branches.py` says where this is done.
A document of many records, to which branches add, has fragments as well (`layers/fragment_records.py`).
"""

from __future__ import annotations

import contextlib
import os

from quire.files.paths import is_text
from quire.files.world import World

_SUFFIX = ".jsonl"


def folder_of(log: str) -> str:
    """The folder of a log's fragments: `events.jsonl` → `events.d`."""
    return f"{os.path.splitext(log)[0]}.d"


def new_fragment(log: str, world: World) -> str:
    """The path of a new fragment; names sort by time."""
    return f"{folder_of(log)}/{world.now():%Y%m%d-%H%M%S-%f}-{world.token()}{_SUFFIX}"


def fragments_of(root: str, log: str) -> list[str]:
    """The fragments of a log that is named from the project's root, in the order of their names."""
    folder = folder_of(log)
    with contextlib.suppress(OSError):
        if not os.path.islink(os.path.join(root, folder)):
            names = os.listdir(os.path.join(root, folder))
            return sorted(f"{folder}/{name}" for name in names if is_fragment(name))
    return []


def is_fragment(name: str) -> bool:
    """Whether a name is a fragment's, and no temporary file's."""
    return name.endswith(_SUFFIX) and not name.startswith(".") and is_text(name)


def stamp_of_fragments(root: str, log: str) -> int:
    """When a fragment last came or went; 0 where there are none."""
    try:
        return os.stat(os.path.join(root, folder_of(log)), follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0
