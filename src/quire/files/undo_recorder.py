"""Record each file before and after a change, so that the change can be undone exactly.

Nobody notes anything by default, and then nothing is read for it. While `record_changes` holds, in this thread alone,
transactions and single files that are written durably are noted. Of a large file only the lines between the first and
the last that differ are kept; whoever changes more than `MOST` bytes in all cannot take it back.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.files.digests import sha256
from quire.files.durable_write import noticed
from quire.files.paths import names_in, read_bytes, read_from
from quire.model.errors import Conflict

if TYPE_CHECKING:
    from quire.files.transaction import Append, FileUpdate

MOST = 8 * 1024 * 1024
"""So many bytes of change are kept at most."""
_FILE_BYTES = 1024 * 1024 * 1024
_SMALL = 64 * 1024
"""A smaller file is kept whole: there is little to save."""
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


class RecordedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one file."""

    folder: str
    """Absolute; the path is below it."""
    path: str
    before: bytes | None
    """What stood there; None where there was no file."""
    after: bytes | None
    """What stands there now; None where the file was removed."""
    start: int = 0
    """How many bytes before these are the same in both; what follows them is the same, too."""
    digest: str = ""
    """Of the whole file as it was left; empty where it was removed, or only added to."""

    @property
    def place(self) -> str:
        return os.path.join(self.folder, *self.path.split("/"))


class UndoRecorder:
    """What was written so far: of every file how it was first, and how it is now."""

    def __init__(self, folders: Sequence[str] = ()) -> None:
        self._found: dict[str, RecordedChange] = {}
        self._watched = {path: data for folder in folders for path, data in _files_in(folder)}
        self.is_lost = False
        """Whether more was changed than could be noted."""

    @property
    def changes(self) -> tuple[RecordedChange, ...]:
        """All changes in the order in which they began; none where not all of them are known."""
        return () if self.is_lost else tuple(self._found.values())

    def look(self, root: str, changes: Sequence[FileUpdate], appends: Sequence[Append]) -> Callable[[], None]:
        """Before a transaction: the files as they are. What is returned notes it, once it is done."""
        before = {change.path: self.held(os.path.join(root, change.path)) for change in changes}
        sizes = {item.path: _size(os.path.join(root, item.path)) for item in appends}

        def done() -> None:
            for change in changes:
                self.replaced(root, change.path, before[change.path], change.data)
            for path, size in sizes.items():
                self._appended(root, path, size)

        return done

    def held(self, path: str) -> bytes | None:
        """The bytes of a file; None if there is none."""
        try:
            return read_bytes(path, _FILE_BYTES)
        except FileNotFoundError:
            return None
        except OSError:
            self.is_lost = True
            return None

    def replaced(self, folder: str, path: str, before: bytes | None, after: bytes | None) -> None:
        place = os.path.join(folder, path)
        known = self._found.pop(place, None)
        if known is not None:
            if not is_as_left(known, before):
                self.is_lost = True  # someone else wrote in between: what is theirs cannot be distinguished from ours
                return
            before = put_back(known, before)
        if before == after:
            return
        noted = RecordedChange(
            folder=folder, path=path, before=before, after=after, digest="" if after is None else sha256(after)
        )
        self._keep(place, _trimmed(noted))

    def _appended(self, folder: str, path: str, size: int | None) -> None:
        place = os.path.join(folder, path)
        try:
            added = read_from(place, size or 0)
        except OSError:
            self.is_lost = True
            return
        if place in self._found:
            whole = self.held(place) or b""
            self.replaced(folder, path, whole[: size or 0], whole)
            return
        before = None if size is None else b""
        self._keep(place, RecordedChange(folder=folder, path=path, before=before, after=added, start=size or 0))

    def _keep(self, place: str, noted: RecordedChange) -> None:
        self._found[place] = noted
        if sum(len(item.before or b"") + len(item.after or b"") for item in self._found.values()) > MOST:
            self.is_lost = True

    def finish(self) -> None:
        """Note what was removed on the way: of what was written here, and of folders that were to be watched."""
        for place, noted in list(self._found.items()):
            if noted.after is None or os.path.lexists(place):
                continue
            del self._found[place]
            if noted.before is not None:
                self.is_lost = self.is_lost or bool(noted.start) or sha256(noted.after) != noted.digest
                self.replaced(noted.folder, noted.path, noted.before, None)
        for place, data in self._watched.items():
            if place not in self._found and not os.path.lexists(place):
                self.replaced(os.path.dirname(place), os.path.basename(place), data, None)


@contextlib.contextmanager
def record_changes(folders: Sequence[str] = ()) -> Iterator[UndoRecorder]:
    """Note what this thread writes, and what vanishes from these folders meanwhile."""
    notes = UndoRecorder(folders)
    token = noticed.set(notes)
    try:
        yield notes
    finally:
        noticed.reset(token)
        notes.finish()


def is_as_left(noted: RecordedChange, now: bytes | None) -> bool:
    """Whether a file still is as the change left it. Of one that was only added to, only the end counts."""
    if noted.after is None or now is None:
        return now is noted.after
    if not noted.digest:
        return now[noted.start :] == noted.after
    return len(now) >= noted.start + len(noted.after) and sha256(now) == noted.digest


def put_back(noted: RecordedChange, now: bytes | None) -> bytes | None:
    """The file as it was before; only of one that is as the change left it."""
    if noted.before is None:
        return None
    whole = now or b""
    return whole[: noted.start] + noted.before + whole[noted.start + len(noted.after or b"") :]


def put_lines_back(noted: RecordedChange, now: bytes | None) -> bytes | None:
    """A file of lines with those of the change taken back, whatever else happened to it.

    Conflict where what the change put in is not there any more, or not once alone.
    """
    if noted.after is None or now is None:
        raise overtaken(noted.path)
    from difflib import SequenceMatcher

    old, new, held = _LINE.findall(noted.before or b""), _LINE.findall(noted.after), _LINE.findall(now)
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for kind, first, last, new_first, new_last in reversed(steps):
        if kind == "equal":
            continue
        inserted, removed = new[new_first:new_last], old[first:last]
        at = _only_place(held, inserted, noted.path) if inserted else _behind(held, new[:new_first])
        if removed and at and not held[at - 1].endswith(b"\n"):
            held[at - 1] += b"\n"
        held[at : at + len(inserted)] = removed
    return b"".join(held) or (None if noted.before is None else b"")


def overtaken(path: str) -> Conflict:
    return Conflict(
        f"`{path}` was changed since; undo would lose that change.",
        hint="See `memory diff`, and correct it by hand.",
        details={"path": path},
    )


def _only_place(lines: list[bytes], wanted: list[bytes], path: str) -> int:
    width = len(wanted)
    places = [at for at, line in enumerate(lines) if line == wanted[0] and lines[at : at + width] == wanted]
    if len(places) != 1:
        raise overtaken(path)
    return places[0]


def _behind(lines: list[bytes], before: list[bytes]) -> int:
    """Where lines go back that stood behind these: behind the last of them that is still there, or at the end."""
    for line in reversed(before):
        if lines.count(line) == 1:
            return lines.index(line) + 1
    return 0 if not before else len(lines)


def _trimmed(noted: RecordedChange) -> RecordedChange:
    """Without the lines at both ends that are the same before and after, where that saves something."""
    before, after = noted.before, noted.after
    if before is None or after is None or len(before) + len(after) < _SMALL:
        return noted
    shorter = min(len(before), len(after))
    start = before.rfind(b"\n", 0, _common(lambda size: before[:size] == after[:size], shorter)) + 1
    tail = _common(lambda size: before[len(before) - size :] == after[len(after) - size :], shorter - start)
    begins = [len(data) - tail for data in (before, after)]
    if any(at > start and data[at - 1 : at] != b"\n" for at, data in zip(begins, (before, after), strict=True)):
        tail -= (before.find(b"\n", begins[0]) + 1 or len(before)) - begins[0]
    return msgspec.structs.replace(
        noted, before=before[start : len(before) - tail], after=after[start : len(after) - tail], start=start
    )


def _common(holds: Callable[[int], bool], most: int) -> int:
    """The largest size for which it holds; it holds for all smaller ones."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if holds(middle) else (least, middle - 1)
    return least


def _size(path: str) -> int | None:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return None


def _files_in(folder: str) -> Iterator[tuple[str, bytes]]:
    for name in names_in(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            yield path, read_bytes(path)
