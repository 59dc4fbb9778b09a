"""The working tree as git sees it at one moment, and the files that git holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from quire.files.digests import is_blob

if TYPE_CHECKING:
    from quire.files.git import Git, Started


class Blob(msgspec.Struct, frozen=True, gc=False):
    """A file as git holds it."""

    mode: str
    id: str


class Snapshot(msgspec.Struct, frozen=True):
    """The working tree as git sees it at one moment."""

    staged: list[str]
    """The index, one line an entry: a letter for its flags, mode, id, stage, a tab, the path."""
    untracked: list[str]
    """Files beside it that no rule ignores."""
    touched: dict[str, str] | None
    """Entries whose file no longer looks like the index says, and how: M, D, U, T. None where git may not tell."""
    plain_lines: bool = False
    """Whether files are committed with line feeds only, however they end their lines here."""


class PendingSnapshot:
    """A snapshot that was asked for. What differs from the index is known before the index is listed."""

    def __init__(
        self,
        git: Git,
        where: tuple[str, ...],
        untracked: Started,
        touched: Started | None,
        plain_lines: bool,
    ) -> None:
        self._git = git
        self._where = where
        self._asked = [untracked, *([touched] if touched else [])]
        self._plain_lines = plain_lines
        self._differing: tuple[list[str], dict[str, str] | None] | None = None

    def differing(self) -> tuple[list[str], dict[str, str] | None]:
        """What is untracked, and what was touched."""
        if self._differing is None:
            self._note(self._git.finish_all(self._asked))
        return self._differing or ([], None)

    def _note(self, answers: list[bytes]) -> None:
        untracked, *touched = map(split_names, answers)
        pairs = dict(zip(touched[0][1::2], touched[0][::2], strict=True)) if touched else None
        self._differing = untracked, pairs

    def finish(self) -> Snapshot:
        listing = self._git.start("ls-files", "-z", "-v", "--stage", *self._where)
        pending = self._asked if self._differing is None else []
        *answers, staged = self._git.finish_all([*pending, listing])
        if self._differing is None:
            self._note(answers)
        untracked, touched = self.differing()
        return Snapshot(split_names(staged), untracked, touched, self._plain_lines)


def differs(data: bytes | None, blob: Blob | None) -> bool:
    """Whether a file, or its absence, is something else than what git holds as this blob."""
    if data is None or blob is None:
        return (data is None) != (blob is None)
    return not is_blob(data, blob.id)


def split_names(output: bytes) -> list[str]:
    words = os.fsdecode(output).split("\0")
    if words[-1] == "":
        words.pop()
    return words
