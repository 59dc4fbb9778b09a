"""Keep paths inside a root: no `..`, no symbolic links out of it, no special files."""

from __future__ import annotations

import errno
import os
import stat

from quire.model import limits
from quire.model.errors import OutsideProject, StorageFailed

PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR)
"""Why a file may be refused that a later try may be given: nothing is wrong with it, and it is not missing."""
_PASSING_NAMES = frozenset(errno.errorcode[number] for number in PASSING)


def inside(root: str, relative: str) -> str:
    """The absolute path of `relative` below `root`. Refuses what leads out, or through a symbolic link."""
    reason = escaping_part(relative)
    if reason:
        raise OutsideProject(
            f"`{relative[:200]}` {reason}.",
            hint="Give a path relative to the project's root.",
            details={"path": relative[:500]},
        )
    path = root
    for part in relative.split("/"):
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise OutsideProject(
                f"`{relative[:200]}` passes through a symbolic link.",
                hint=f"Replace the link `{os.path.relpath(path, root)}` by a real file or folder.",
                details={"path": relative[:500]},
            )
    return path


def follow_inside(root: str, name: str) -> str:
    """The real file behind a name at the root, a link followed; refused where it is a link out of the project."""
    real = os.path.realpath(os.path.join(root, name))
    if not real.startswith(os.path.realpath(root) + os.sep):
        raise OutsideProject(
            f"`{name}` is a link out of the project; it was not changed.",
            hint="Replace the link with a file of the project.",
            details={"path": name},
        )
    return real


def escaping_part(relative: str) -> str | None:
    """Why a relative path may not be used, or None."""
    if not relative or "\0" in relative:
        return "is not a usable path"
    if relative.startswith(("/", "~")) or "\\" in relative or (len(relative) > 1 and relative[1] == ":"):
        return "is not relative to the project"
    if any(part in ("", ".", "..") for part in relative.split("/")):
        return "has an empty, `.` or `..` part"
    return None


def below(path: str, top: str) -> str | None:
    """What is left of a path below a folder, by its name alone; `.` for the folder itself, None for any other path."""
    if path == top:
        return "."
    begin = top if top.endswith("/") else top + "/"
    return path[len(begin) :] if top and path.startswith(begin) else None


def is_within(path: str, top: str) -> bool:
    """Whether a path leads to something below a folder, all links followed."""
    return below(os.path.realpath(path), os.path.realpath(top)) not in (None, ".")


def passes_link(root: str, relative: str) -> bool:
    """Whether a folder below a root is a link, or is reached through one."""
    parts = relative.split("/")
    return any(os.path.islink(os.path.join(root, *parts[: number + 1])) for number in range(len(parts)))


def is_text(name: str) -> bool:
    """Whether a file's name is UTF-8: others can be spelled neither in JSON nor in the index."""
    return name.isascii() or not any("\ud800" <= char <= "\udfff" for char in name)


def read_bytes(path: str, limit: int = limits.FILE_BYTES) -> bytes:
    """A regular file's bytes. Never follows a link, never waits on a pipe, never reads without bound."""
    descriptor, found = open_regular(path)
    try:
        if found.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", path)
        data = os.read(descriptor, found.st_size + 1)
        while chunk := os.read(descriptor, 1 << 20):
            data += chunk
        return data
    finally:
        os.close(descriptor)


def read_if_there(path: str, limit: int = limits.FILE_BYTES) -> bytes | None:
    """The bytes of `read_bytes`; None where there is no such file."""
    try:
        return read_bytes(path, limit)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in PASSING:
            raise storage_failed(error, f"read `{os.path.basename(path)}`") from error
        raise


def read_or_none(path: str, limit: int = limits.FILE_BYTES) -> bytes | None:
    """The bytes of `read_bytes`; None where they cannot be had, for whatever reason."""
    try:
        return read_bytes(path, limit)
    except OSError:
        return None


def names_in(folder: str) -> list[str]:
    """What a folder holds, in order; nothing where it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def read_inside(root: str, relative: str, limit: int = limits.FILE_BYTES, plain: set[str] | None = None) -> bytes:
    """A regular file's bytes below a root. A link on the way is refused as one at its end is.

    Who reads many files at once hands in a set, in which folders are noted that need no second look.
    """
    folder, _, _ = relative.rpartition("/")
    if plain is None or folder not in plain:
        path = root
        for part in folder.split("/") if folder else ():
            path = os.path.join(path, part)
            if os.path.islink(path):
                raise OSError(errno.ELOOP, "it is reached through a symbolic link", path)
        if plain is not None:
            plain.add(folder)
    return read_bytes(os.path.join(root, relative), limit)


def read_inside_or_none(root: str, relative: str, limit: int = limits.FILE_BYTES) -> bytes | None:
    """The bytes of `read_inside`; None where they cannot be had, for whatever reason."""
    try:
        return read_inside(root, relative, limit)
    except OSError:
        return None


def is_special(path: str) -> bool:
    """Whether a path is a pipe, a socket or a device, which may block when opened."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))


def open_regular(path: str) -> tuple[int, os.stat_result]:
    """A regular file opened for reading, and what it is. Never follows a link, never waits on a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode):
        return descriptor, found
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", path)


def read_from(path: str, offset: int) -> bytes:
    """A regular file's bytes from an offset on; empty where the file is missing or shorter."""
    try:
        descriptor, _ = open_regular(path)
    except FileNotFoundError:
        return b""
    try:
        os.lseek(descriptor, offset, os.SEEK_SET)
        data = b""
        while chunk := os.read(descriptor, 1 << 20):
            data += chunk
        return data
    finally:
        os.close(descriptor)


_MARK_BYTES = 4096


def mark_before(path: str, offset: int) -> str:
    """A digest of a file's beginning and of what stands right before an offset; empty where it cannot be read."""
    import hashlib

    try:
        descriptor, _ = open_regular(path)
    except OSError as error:
        if error.errno in PASSING:
            raise storage_failed(error, f"read `{os.path.basename(path)}`") from error
        return ""
    try:
        head = os.pread(descriptor, min(_MARK_BYTES, offset), 0)
        start = max(0, offset - _MARK_BYTES)
        return hashlib.sha256(head + os.pread(descriptor, offset - start, start)).hexdigest()[:32]
    except OSError:
        return ""
    finally:
        os.close(descriptor)


_LOCKS = "Move the project to a local disk, or mount its file system with locks."
_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space and run the command again."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and run the command again."),
    errno.EROFS: ("the file system is read-only", "Make it writable, or work in another clone."),
    errno.EACCES: ("permission was denied", "Check who owns the file and its folder."),
    errno.EPERM: ("permission was denied", "Check who owns the file and its folder."),
    errno.EMFILE: ("too many files are open", "Close some programs and run the command again."),
    errno.ENAMETOOLONG: ("the name is too long", "Use a shorter id."),
    errno.ENOLCK: ("this file system has no locks, so nothing can be written safely", _LOCKS),
    errno.EOPNOTSUPP: ("this file system has no locks, so nothing can be written safely", _LOCKS),
    errno.ENOSYS: ("this file system has no locks, so nothing can be written safely", _LOCKS),
    errno.ELOOP: ("it is a symbolic link", "Replace the link with a real file."),
}


def is_passing(error: Exception) -> bool:
    """Whether a later try may be given what was refused, by the error of the system or by the one a person reads."""
    if isinstance(error, StorageFailed):
        return error.details.get("errno") in _PASSING_NAMES
    return isinstance(error, OSError) and error.errno in PASSING


def storage_failed(error: OSError, doing: str, root: str = "") -> StorageFailed:
    """The error a person reads when the disk refuses."""
    reason, hint = _REASONS.get(
        error.errno or 0,
        ((error.strerror or str(error)).lower(), "Check the disk and run the command again."),
    )
    name = error.filename if isinstance(error.filename, str) else ""
    shown = os.path.relpath(name, root) if name and root and name.startswith(root) else name
    where = f" ({shown})" if shown else ""
    return StorageFailed(
        f"Could not {doing}: {reason}{where}.",
        hint=hint,
        details={"errno": errno.errorcode.get(error.errno or 0, ""), "path": shown},
    )
