"""Patches in the form that models write: which files they name."""

from __future__ import annotations

# Lines of a file stand behind a sign or a blank, so a line that begins with stars is always a mark.
_MARKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")


def patched_files(patch: str) -> list[str]:
    """The files that a patch changes, adds, deletes or moves, in its order."""
    found = []
    for line in patch.split("\n"):
        for mark in _MARKS:
            if line.startswith(mark):
                found.append(line[len(mark) :].strip())
    return found
