"""Allow one writer at a time: a kernel lock on a file that names its holder, with a time limit.

The kernel lets go when the holder dies, so a killed writer never blocks the next one. The file is
removed on release, because programs that know no kernel locks read its mere presence as "busy"; such
a file left by one of them is respected while its process lives.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterator

import msgspec

from quire.files.json_files import json_value
from quire.model.errors import LockBusy
from quire.model.times import instant

STALE_SECONDS = 3600
PAUSE_SECONDS = 0.02


class Holder(msgspec.Struct, kw_only=True):
    """Who holds a lock; the first three fields are those other programs write too."""

    pid: int
    operation: str
    created_at: str
    kernel: bool = False


@contextlib.contextmanager
def held(
    path: str,
    holder: Holder,
    seconds: float,
    sleep: Callable[[float], None],
    *,
    keep: bool = False,
    pause: float = PAUSE_SECONDS,
) -> Iterator[None]:
    """Hold the lock at `path` for the body of the `with`; LockBusy, naming the holder, after `seconds`.

    `pause` is between two attempts: whoever comes back soonest gets it.

    With `keep`, the file stays, empty: for a lock shared with programs that know kernel locks, but not that the file
    they wait for may go.
    """
    waited = 0.0
    while True:
        descriptor = _try(path, holder, keep)
        if descriptor is not None:
            break
        if waited >= seconds:
            raise _busy(path, waited)
        sleep(pause)
        waited += pause
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if keep:
                os.ftruncate(descriptor, 0)
            else:
                # Removed while still locked: whoever waits on this inode finds the name gone and starts over.
                os.unlink(path)
        os.close(descriptor)


def _try(path: str, holder: Holder, keep: bool) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise
            os.close(descriptor)
            return None
        if not _same_file(path, descriptor) or _foreign_holder(descriptor, holder):
            os.close(descriptor)
            return None
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(msgspec.structs.replace(holder, kernel=True)) + b"\n", 0)
        except BaseException:
            if not keep:
                os.unlink(path)  # a full disk: what is left would read as "busy" to other programs
            raise
        return descriptor
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise


def _same_file(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _foreign_holder(descriptor: int, us: Holder) -> bool:
    """Whether a program without kernel locks holds this file: its process lives and it is not old."""
    found = json_value(os.pread(descriptor, 4096, 0), Holder)
    if found is None or found.kernel or found.pid == us.pid or not is_alive(found.pid):
        return False
    then, now = instant(found.created_at), instant(us.created_at)
    return then is None or now is None or (now - then).total_seconds() < STALE_SECONDS


def is_alive(pid: int) -> bool:
    """Whether a process with this number runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError, ValueError):
        return True
    return True


def _busy(path: str, waited: float) -> LockBusy:
    try:
        with open(path, "rb") as file:
            found = json_value(file.read(4096), Holder)
    except OSError:
        found = None
    who = f"process {found.pid} (`{found.operation}`, since {found.created_at})" if found else "another process"
    hint = "Wait for it to finish and run the command again."
    if found and not found.kernel:
        hint += f" If process {found.pid} is not a memory program, remove `{os.path.basename(path)}`."
    return LockBusy(
        f"The memory is locked by {who}; gave up after {waited:.0f} s.",
        hint=hint,
        details={"lock_path": path, "holder": msgspec.to_builtins(found) if found else None},
    )
