"""Write several files all or nothing.

New contents are first staged, one file each, in a folder of their own below the recovery folder; then the
list of what goes where is written, and with that the transaction is decided. Applying it takes appends, which
can be taken back, then renames and removals, which need no room. A process that dies before the decision
leaves only a folder to sweep; one that dies after it leaves work that `finish_interrupted` completes. A
staged file that is gone has been applied, so finishing twice does no harm.

Nothing is overwritten that was not read: every change names the digest of the bytes it was planned against.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from quire.files import disk
from quire.files.digests import sha256
from quire.files.durable_write import ensure_folder, noticed, stage
from quire.files.layout import RECOVERY
from quire.files.paths import escaping_part, inside, names_in, read_bytes, read_from
from quire.model.errors import Conflict, OutsideProject, StorageFailed

FOLDER_PREFIX = "transaction-"
KEPT_PREFIX = "unapplied-"
INTENT = "intent.json"
_TARGET_BYTES = 1024 * 1024 * 1024
"""A file that is replaced was written by us: how large it may be is for its layer to say."""
_FOR_EVER = (errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG)
_STAGED = re.compile(r"\d+\.new")


class FileUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """A file's next bytes, or None to remove it; `planned` is the digest it had, None if it was missing."""

    path: str
    data: bytes | None
    planned: str | None


def update_of(path: str, before: bytes | None, after: bytes | None) -> FileUpdate:
    """The change of a file from the bytes that it has, None where it is missing, to others, or its removal."""
    return FileUpdate(path=path, data=after, planned=None if before is None else sha256(before))


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes added at the end of a log that had `size` bytes."""

    path: str
    data: bytes
    size: int


class _Step(msgspec.Struct, frozen=True, kw_only=True):
    action: Literal["replace", "remove", "append"]
    path: str
    staged: str = ""
    planned: str | None = None
    made: str | None = None
    """The digest of the bytes that are put there; None in what an earlier version wrote."""
    text: str = ""
    size: int = 0


class _Intent(msgspec.Struct, frozen=True):
    version: int
    steps: list[_Step]
    whole: bool = False


def apply_changes(
    root: str, changes: list[FileUpdate], appends: list[Append], name: str, *, whole: bool = False
) -> None:
    """Make all these changes below `root`, or none. The caller holds the lock.

    With `whole` they only make sense together: where a writer dies and someone else changes one of the files before
    the work can be completed, none of the rest is done either.
    """
    notes = noticed.get()
    with uninterrupted():
        note = notes.look(root, changes, appends) if notes else None
        _apply(root, changes, appends, name, whole)
        if note:
            note()


def _apply(root: str, changes: list[FileUpdate], appends: list[Append], name: str, whole: bool) -> None:
    for change in changes:
        _refuse_if_changed(root, change.path, change.planned)
    folder, recovery = inside(root, f"{RECOVERY}/{FOLDER_PREFIX}{name}"), os.path.join(root, RECOVERY)
    ensure_folder(recovery)
    disk.make_folder(folder)
    try:
        intent = _stage_all(root, folder, changes, appends, whole)
        # Folders first: making one may need room, and after the decision nothing may.
        for change in changes:
            if change.data is not None:
                ensure_folder(os.path.dirname(inside(root, change.path)))
        draft = os.path.join(folder, INTENT + ".draft")
        stage(draft, msgspec.json.encode(intent))
        for change in changes:
            _refuse_if_changed(root, change.path, change.planned)
        # The staged names must last before the decision does: not every file system keeps the order of names.
        disk.sync_folder(folder)
        disk.rename(draft, os.path.join(folder, INTENT))
        disk.sync_folder(folder)
        disk.sync_folder(recovery)
        # Nothing is in its place yet: the files can still be left as someone else has made them.
        for change in changes:
            _refuse_if_changed(root, change.path, change.planned)
        _append_all(root, intent)
    except BaseException:
        with contextlib.suppress(OSError):
            _sweep(folder)
        raise
    try:
        _finish(root, folder, intent)
    except OSError as error:
        raise StorageFailed(
            f"The change was recorded but could not be completed: {error.strerror or error}.",
            hint="Fix the cause, then run any memory command: it completes the change first.",
            details={"path": folder},
        ) from error


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the transaction is decided either way."""
    import signal

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def is_interrupted(recovery: str) -> bool:
    """Whether an earlier writer died in the middle. One directory listing."""
    return bool(_folders(recovery))


def staged_bytes(recovery: str, path: str) -> bytes | None:
    """The next bytes of a file that a decided transaction has not put in its place yet, for readers without a lock."""
    for name in _folders(recovery):
        folder = os.path.join(recovery, name)
        intent = _read_intent(os.path.join(folder, INTENT))
        for step in intent.steps if intent else ():
            if step.action == "replace" and step.path == path:
                with contextlib.suppress(OSError):
                    return read_bytes(os.path.join(folder, step.staged))
    return None


def finish_interrupted(root: str, recovery: str, *, logs: bool = True) -> list[str]:
    """Complete or sweep what a dead writer left; the paths whose staged contents had to be set aside.

    The caller holds the lock, so no living writer owns these folders. Without `logs` the folder has none, and whoever
    wants something appended is not one of ours.
    """
    kept: list[str] = []
    for name in _folders(recovery):
        try:
            kept += _finish_one(root, recovery, os.path.join(recovery, name), logs)
        except (OutsideProject, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _FOR_EVER:
                raise
            kept.append(_keep_folder(recovery, name))  # it would be in everybody's way for ever
    return kept


def _finish_one(root: str, recovery: str, folder: str, logs: bool) -> list[str]:
    if not os.path.lexists(os.path.join(folder, INTENT)):
        _sweep(folder)
        return []
    intent = _read_intent(os.path.join(folder, INTENT))
    if intent is None or (not logs and any(step.action == "append" for step in intent.steps)):
        return [_keep_folder(recovery, os.path.basename(folder))]
    intent, aside = _set_aside(root, recovery, folder, intent)
    _append_all(root, intent)
    _finish(root, folder, intent)
    return aside


def left_aside(recovery: str) -> list[str]:
    """The names of what could not be completed, and is kept."""
    return [name for name in names_in(recovery) if name.startswith(KEPT_PREFIX)]


def _folders(recovery: str) -> list[str]:
    """The transactions' folders. Links do not count: a repository could bring one that leads to files of the user."""
    if os.path.islink(recovery):
        return []
    try:
        with os.scandir(recovery) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.name.startswith(FOLDER_PREFIX) and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []


def _keep_folder(recovery: str, name: str) -> str:
    """A decision we cannot read is neither carried out nor thrown away: it may be a newer version's."""
    kept = os.path.join(recovery, KEPT_PREFIX + name.removeprefix(FOLDER_PREFIX))
    disk.rename(os.path.join(recovery, name), kept)
    disk.sync_folder(recovery)
    return kept


def _stage_all(root: str, folder: str, changes: list[FileUpdate], appends: list[Append], whole: bool) -> _Intent:
    steps = [_Step(action="append", path=item.path, text=item.data.decode("utf-8"), size=item.size) for item in appends]
    for number, change in enumerate(changes):
        target = inside(root, change.path)
        if change.data is None:
            steps.append(_Step(action="remove", path=change.path, planned=change.planned))
            continue
        staged = f"{number}.new"
        stage(os.path.join(folder, staged), change.data, like=target)
        made = sha256(change.data)
        steps.append(_Step(action="replace", path=change.path, staged=staged, planned=change.planned, made=made))
    return _Intent(version=1, steps=steps, whole=whole)


def _append_all(root: str, intent: _Intent) -> None:
    """Appends come first: only they can still fail for want of room, and they can be taken back."""
    done: list[tuple[str, int]] = []
    try:
        for step in intent.steps:
            if step.action == "append":
                path = inside(root, step.path)
                # As below: git may have removed the folder since the work was begun.
                ensure_folder(os.path.dirname(path))
                size = os.path.getsize(path) if os.path.exists(path) else 0
                done.append((path, size))
                _append_once(path, step.text.encode("utf-8"), step.size)
    except OSError:
        for path, size in done:
            with contextlib.suppress(OSError):
                disk.truncate(path, size)
        raise


def _append_once(path: str, data: bytes, planned_size: int) -> None:
    """Append unless a dead writer already did; complete what it wrote by half."""
    found = read_from(path, max(planned_size - 1, 0))
    if planned_size and not found:
        found = read_from(path, 0)[-1:]  # shorter than it was: only how it ends now matters
    last, tail = (found[:1], found[1:]) if planned_size else (b"", found)
    if last not in (b"", b"\n"):
        data = b"\n" + data
    if tail.startswith(data):
        return
    if data.startswith(tail):
        data = data[len(tail) :]
    elif len(tail) <= len(data) and data.startswith(tail.rstrip(b"\0")):
        # The power failed when the file had grown and its bytes had not come: zeros stand in their place.
        disk.truncate(path, planned_size)
    elif data.lstrip(b"\n") in read_from(path, 0):
        return
    else:
        data = (b"" if tail.endswith(b"\n") else b"\n") + data.lstrip(b"\n")
    disk.append(path, data)


def _finish(root: str, folder: str, intent: _Intent) -> None:
    touched = {folder}
    for step in intent.steps:
        target = inside(root, step.path)
        staged = os.path.join(folder, step.staged)
        if step.action == "replace" and os.path.lexists(staged):
            # Git removes folders that become empty, also between a crash and its recovery.
            ensure_folder(os.path.dirname(target))
            disk.rename(staged, target)
        elif step.action == "remove":
            with contextlib.suppress(FileNotFoundError):
                disk.remove(target)
        touched.add(os.path.dirname(target))
    for path in sorted(touched):
        if os.path.isdir(path):
            disk.sync_folder(path)
    _sweep(folder)


def _set_aside(root: str, recovery: str, folder: str, intent: _Intent) -> tuple[_Intent, list[str]]:
    """Skip steps whose target another writer changed; keep their contents aside."""
    steps: list[_Step] = []
    kept: list[str] = []
    overtaken = {step.path for step in intent.steps if _is_overtaken(root, folder, step, intent.whole)}
    for step in intent.steps:
        staged = os.path.join(folder, step.staged)
        pending = _is_pending(folder, step)
        if intent.whole and overtaken and step.action == "append":
            continue  # nobody shall be told of what was not done
        if not pending or (step.path not in overtaken and not (intent.whole and overtaken)):
            steps.append(step)
            continue
        if step.action == "replace":
            aside = os.path.join(recovery, os.path.basename(folder).replace(FOLDER_PREFIX, KEPT_PREFIX))
            target = os.path.join(aside, *step.path.split("/"))
            ensure_folder(os.path.dirname(target))
            disk.rename(staged, target)
            disk.sync_folder(os.path.dirname(target))
            kept.append(target)
    return _Intent(version=intent.version, steps=steps), kept


def _is_pending(folder: str, step: _Step) -> bool:
    """Whether a step may still have to be applied; for a removal this is unknown."""
    return step.action == "remove" or (step.action == "replace" and os.path.exists(os.path.join(folder, step.staged)))


def _is_overtaken(root: str, folder: str, step: _Step, whole: bool) -> bool:
    """Whether someone else changed the file since this was decided; of a whole, also what was in its place already."""
    if _is_pending(folder, step):
        now = _digest(inside(root, step.path))
        # A file that is gone: removed by us already, or taken away with what a whole was planned upon.
        return now != step.planned if whole and step.action == "replace" else now not in (step.planned, None)
    # Put in its place by us, and not there now: git knows nothing of what is under way, and took it back.
    return whole and step.made is not None and _digest(inside(root, step.path)) != step.made


def _sweep(folder: str) -> None:
    """Remove a transaction's folder, its intent first: without it the rest means nothing."""
    names = sorted(os.listdir(folder), key=lambda name: name != INTENT)
    for name in names:
        disk.remove(os.path.join(folder, name))
        if name == INTENT:
            disk.sync_folder(folder)
    disk.remove_folder(folder)


def _read_intent(path: str) -> _Intent | None:
    try:
        intent = msgspec.json.decode(read_bytes(path), type=_Intent)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return intent if intent.version == 1 and all(map(_is_ours, intent.steps)) else None


def _is_ours(step: _Step) -> bool:
    """Whether a step stays inside: an intent is a file like any other, and a repository may bring its own."""
    named = step.action != "replace" or _STAGED.fullmatch(step.staged) is not None
    return named and escaping_part(step.path) is None


def _refuse_if_changed(root: str, path: str, planned: str | None) -> None:
    if _digest(inside(root, path)) != planned:
        raise Conflict(
            f"`{path}` was changed by another process in the meantime.",
            hint="See `memory diff`, then run the command again.",
            details={"path": path},
        )


def _digest(path: str) -> str | None:
    try:
        return sha256(read_bytes(path, _TARGET_BYTES))
    except FileNotFoundError:
        return None
