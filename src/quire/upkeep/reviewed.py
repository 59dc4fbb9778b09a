"""Tell which records a person has reviewed: committed as they are, or written or accepted by a person.

What a file says of its author is the writer's word, so nothing here goes by it. A commit counts because people look at
what they commit, and others at what they merge; a project that wants the second only says so in its configuration.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.files.digests import digest_of
from quire.files.git import Git
from quire.files.layout import CONFIG, MEMORY
from quire.files.paths import read_inside_or_none
from quire.inbox.reviewed_records import read_reviewed, review_mark
from quire.layers.table import HOMES
from quire.model.records import Record

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.model.config import Settings
    from quire.upkeep.committed_records import CommittedRecords

_CONFIG_BYTES = 1024 * 1024
_ELSEWHERE = b"default-branch"


def local_folder(root: str) -> str:
    """The folder below which this machine's own files lie."""
    first, other, *_ = HOMES
    return first.folder if os.path.isdir(first.path(root)) else other.folder


class Reviews:
    """Asks git only about what is not known yet: for one commit and one wording the answer stays what it is."""

    def __init__(self, root: str, git: Git, index: Index | None = None) -> None:
        self._root = root
        self._git = git
        self._index = index
        self._held: CommittedRecords | None = None

    def __call__(self, records: Sequence[Record]) -> set[str]:
        """The refs of those that a person has looked at."""
        marks = {record.ref: review_mark(record) for record in records}
        noted = read_reviewed(self._root, local_folder(self._root))
        found = {ref for ref, mark in marks.items() if mark in noted}
        rest = [record for record in records if record.ref not in found and record.kind != "note"]
        if not rest or not self._git.available:
            return found
        state = self._state()
        names = {f"reviewed {record.ref}": record for record in rest} if state and self._index is not None else {}
        memos = self._index.memos(names) if self._index is not None and names else {}
        unknown = []
        for record in rest:
            memo = memos.get(f"reviewed {record.ref}", b"")
            if not names or memo[:-1] != _digest(state, marks[record.ref]):
                unknown.append(record)
            elif memo[-1:] == b"1":
                found.add(record.ref)
        if unknown:
            seen = self._committed()(unknown)
            found |= seen
            if self._index is not None and names:
                self._index.note(
                    {
                        f"reviewed {record.ref}": _digest(state, marks[record.ref])
                        + (b"1" if record.ref in seen else b"0")
                        for record in unknown
                    }
                )
        return found

    def settings(self) -> Settings:
        """How this project treats what is not reviewed."""
        return self._committed().settings()

    def _committed(self) -> CommittedRecords:
        if self._held is None:
            from quire.upkeep.committed_records import CommittedRecords

            self._held = CommittedRecords(self._root, self._git)
        return self._held

    def _state(self) -> bytes:
        """What an answer depends on besides the record; empty where that takes git to find out."""
        head = self._git.head_from_files()
        config = read_inside_or_none(self._root, f"{MEMORY}/{CONFIG}", _CONFIG_BYTES) or b""
        return digest_of(head.encode() + config) if head and _ELSEWHERE not in config else b""


def _digest(state: bytes, mark: str) -> bytes:
    return digest_of(state + mark.encode())[:16]
