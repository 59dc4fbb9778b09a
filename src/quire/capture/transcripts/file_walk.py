"""Walk a folder for session files: in order, without links, pipes, hidden names or endless depth."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from quire.capture.transcripts.types import FILE_BYTES, SessionFile, Skipped
from quire.files.freshness import stamp_of
from quire.files.paths import PASSING, is_text, storage_failed

DEPTH = 16
FILES_MOST = 100_000
SKIPPED_MOST = 1_000


class FoundFile(Struct, frozen=True):
    path: str
    size: int
    stamp: str

    def session(self, source_type: str, name: str, started_at: str = "", title: str = "") -> SessionFile:
        """The one session that the file holds."""
        return SessionFile(
            source_type=source_type,
            external_id=name,
            path=self.path,
            started_at=started_at,
            title=title,
            stamp=self.stamp,
        )


def pass_over(skipped: list[Skipped], path: str, reason: str) -> None:
    """Note what is not taken. Beyond a number that anybody would read, nothing more is noted."""
    if len(skipped) < SKIPPED_MOST:
        skipped.append(Skipped(path if is_text(path) else ascii(path)[1:-1], reason))


def pass_over_unread(skipped: list[Skipped], path: str, error: OSError) -> None:
    """Note what cannot be read. Where nothing is wrong with it, nothing is passed over: a later try may read it."""
    if error.errno in PASSING:
        raise storage_failed(error, "read the sessions") from error
    pass_over(skipped, path, (error.strerror or "it cannot be read").lower())


def files_below(
    top: str, wanted: Callable[[str], bool], skipped: list[Skipped], *, most: int = FILE_BYTES
) -> Iterator[FoundFile]:
    """The files of a folder and of those in it whose names are wanted, always in the same order."""
    waiting = [(top, 0)]
    count = 0
    while waiting:
        folder, depth = waiting.pop()
        inner: list[tuple[str, int]] = []
        for entry in _entries(folder, skipped):
            if not is_text(entry.name):
                if wanted(entry.name):
                    pass_over(skipped, entry.path, "its name is not text")
            elif entry.is_dir(follow_symlinks=False):
                inner.append((entry.path, depth + 1))
            elif wanted(entry.name):
                count += 1
                if count > FILES_MOST:
                    pass_over(skipped, entry.path, f"it and what follows: there are more than {FILES_MOST:,} files")
                    return
                found = file_at(entry.path, skipped, most=most)
                if found:
                    yield found
            elif entry.is_symlink() and os.path.isdir(entry.path):
                pass_over(skipped, entry.path, "it is a symbolic link")
        if depth < DEPTH:
            waiting += reversed(inner)
        else:
            for path, _ in inner:
                pass_over(skipped, path, f"it is more than {DEPTH} folders deep")


def files_at(
    path: str, wanted: Callable[[str], bool], skipped: list[Skipped], *, most: int = FILE_BYTES
) -> Iterator[FoundFile]:
    """The wanted files below a folder; or a file that is named itself."""
    if os.path.isdir(path):
        yield from files_below(path, wanted, skipped, most=most)
    elif found := file_at(path, skipped, most=most):
        yield found


def sessions_in(
    files: Iterable[FoundFile], read: Callable[[FoundFile], SessionFile | None], skipped: list[Skipped]
) -> Iterator[SessionFile]:
    """What each file says of its session; one that cannot be read is passed over."""
    for found in files:
        try:
            session = read(found)
        except OSError as error:
            pass_over_unread(skipped, found.path, error)
            continue
        if session:
            yield session


def folders_in(top: str, skipped: list[Skipped]) -> list[str]:
    """The folders in a folder, in order; hidden ones and links left out."""
    return [entry.path for entry in _entries(top, skipped) if entry.is_dir(follow_symlinks=False)]


def file_at(path: str, skipped: list[Skipped], *, most: int = FILE_BYTES) -> FoundFile | None:
    """A regular file and its stamp, or None with the reason noted."""
    try:
        found = os.lstat(path)
    except OSError as error:
        pass_over_unread(skipped, path, error)
        return None
    if stat.S_ISLNK(found.st_mode):
        pass_over(skipped, path, "it is a symbolic link")
    elif not stat.S_ISREG(found.st_mode):
        pass_over(skipped, path, "it is not a regular file")
    elif found.st_size > most:
        pass_over(skipped, path, f"it is larger than {most:,} bytes")
    else:
        return FoundFile(path, found.st_size, stamp_of(found))
    return None


def _entries(folder: str, skipped: list[Skipped]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda one: one.name)
    except OSError as error:
        pass_over_unread(skipped, folder, error)
        return []
