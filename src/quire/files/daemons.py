"""Start, identify and stop background processes; each holds a lock while it lives.

The lock is the kernel's: it is held if and only if its holder lives, whatever the files beside it say. A process id
alone says nothing, since the next process may be given the same; so a signal is only sent while the lock is held by
the process that is meant, and where the system can say when a process was started, that has to fit, too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from quire.files import disk
from quire.files.paths import open_regular
from quire.files.programs import run_program

if TYPE_CHECKING:
    import subprocess

_TOLD_BYTES = 4096
_TRIES = 25
_PAUSE_SECONDS = 0.02
_SLICE_SECONDS = 0.25
_END_SECONDS = 5.0
_NICE = 10
_PID_MOST = 2**31
_ASKING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# -- the lock -------------------------------------------------------------------------------------


class Hold:
    """A lock that is held until it is released or the process ends. The file says who holds it."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def say(self, data: bytes) -> None:
        """What others may read about the holder."""
        disk.truncate(self.path, 0)
        disk.append_lightly(self.path, data)

    def is_ours(self) -> bool:
        """Whether the file of that name is still the one that is held; someone may have removed or replaced it."""
        try:
            return os.path.samestat(os.stat(self.path, follow_symlinks=False), os.fstat(self._descriptor))
        except OSError:
            return False

    def release(self) -> None:
        """The file goes while it is still held, so that whoever waits finds either it or nothing."""
        if self.is_ours():
            with contextlib.suppress(OSError):
                disk.remove(self.path)
        os.close(self._descriptor)


def hold(path: str, is_respected: Callable[[bytes], bool], sleep: Callable[[float], None]) -> Hold | None:
    """The lock at a path; None where another process has it.

    A file that nobody holds was left by a dead process, or is of a program that knows no kernel locks: whether what it
    says is respected, the caller decides.
    """
    for attempt in range(_TRIES):
        if attempt:
            sleep(_PAUSE_SECONDS)  # someone may only have looked whether it is held
        disk.append_lightly(path, b"")
        descriptor, _ = open_regular(path)
        found = Hold(path, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if found.is_ours():
                if not is_respected(os.pread(descriptor, _TOLD_BYTES, 0)):
                    return found
                os.close(descriptor)
                return None
        except BlockingIOError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    return None


def holder_of(path: str) -> bytes | None:
    """The description that the holder of a lock wrote; None if the lock is free."""
    try:
        descriptor, _ = open_regular(path)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, _TOLD_BYTES, 0)
    except OSError:
        return None  # a disk that knows no such locks
    finally:
        os.close(descriptor)
    return None


# -- other processes ------------------------------------------------------------------------------


def is_process_id(number: object) -> bool:
    """Of 0 and what is below it, the kernel thinks of whole groups; 1 is nobody's daemon."""
    return isinstance(number, int) and not isinstance(number, bool) and 1 < number < _PID_MOST


def process_mark(pid: int, env: Mapping[str, str]) -> str:
    """The start time of a process, which tells it from another with the same id; empty if none runs."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read(_TOLD_BYTES).rpartition(b")")[2].split()
        return "" if fields[0] == b"Z" else f"{_boot()}:{fields[19].decode()}"
    except (OSError, IndexError, UnicodeDecodeError):
        return "" if _has_proc() else _asked_ps("lstart=", pid, env)


def _boot() -> str:
    """Which start of which machine this is: times of processes are counted from there."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id", "rb") as file:
        return file.read(64).decode("ascii", "replace").strip()
    return ""


def command_line(pid: int, env: Mapping[str, str]) -> list[str] | None:
    """The command line of a process; empty if it has none, None if unknown."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [word.decode("utf-8", "replace") for word in file.read(1 << 16).split(b"\0") if word]
    except OSError:
        return [] if _has_proc() else _asked_ps("command=", pid, env).split() or None


def _has_proc() -> bool:
    return os.path.exists("/proc/self/stat")


def _asked_ps(column: str, pid: int, env: Mapping[str, str]) -> str:
    line = ("ps", "-o", column, "-p", str(pid))
    done = run_program(line, cwd="/", env={**env, "LC_ALL": "C"}, seconds=5.0, most=_TOLD_BYTES)
    return done.out.decode("utf-8", "replace").strip()


def send_signal(pid: int, number: int, is_it: Callable[[], bool]) -> bool:
    """Send a signal to a process if it is the one that is meant; False where it is not, or has gone.

    Where the system has handles for processes, one is held before the question is asked: the number cannot pass to
    another process in between.
    """
    handle: int | None = None
    try:
        with contextlib.suppress(AttributeError, NotImplementedError):
            handle = os.pidfd_open(pid)
        if not is_it():
            return False
        if handle is None:
            os.kill(pid, number)
        else:
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


# -- this process ---------------------------------------------------------------------------------


class StopRequested(BaseException):
    """Raised in a process that was asked to stop and did not within its grace period."""


class Life:
    """Waits until a signal asks this process to stop. Use it in the main thread only.

    With a grace, whatever is still under way after so many seconds is left by an exception.
    """

    def __init__(self, grace: float | None = None) -> None:
        self._asked = threading.Event()
        self._grace = grace
        self._before: dict[int, Any] = {}

    @property
    def is_over(self) -> bool:
        return self._asked.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait, or be woken by the signal; whether it has come."""
        return self._asked.wait(max(0.0, seconds))

    def __enter__(self) -> Life:
        for number in _ASKING:
            self._before[number] = signal.signal(number, self._on_asked)
        if self._grace is not None:
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._on_grace_over)
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if self._grace is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_asked(self, _number: int, _frame: FrameType | None) -> None:
        if self._grace is not None and not self._asked.is_set():
            signal.setitimer(signal.ITIMER_REAL, self._grace)
        self._asked.set()

    def _on_grace_over(self, _number: int, _frame: FrameType | None) -> None:
        raise StopRequested


def go_quiet() -> None:
    """From here on this process says nothing, and gives way to others. Its standard input leads nowhere already."""
    os.dup2(0, 1)
    os.dup2(0, 2)
    with contextlib.suppress(OSError):
        os.nice(_NICE)


class Child:
    """A process of ours, without a terminal; what it says on its standard error is kept as far as it fits."""

    def __init__(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> None:
        import subprocess

        nowhere = subprocess.DEVNULL
        self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=nowhere,
            stdout=nowhere,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stderr is not None
        self._pipe = self._process.stderr
        os.set_blocking(self._pipe.fileno(), False)
        self._said = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    @property
    def last_line(self) -> str:
        """The last line that it said."""
        self._listen(0.0)
        lines = [line.strip() for line in self._said.decode("utf-8", "replace").splitlines()]
        return next((line for line in reversed(lines) if line), "")

    def wait(self, seconds: float) -> bool:
        """Listen to it for a while; whether it has ended."""
        until = monotonic() + seconds
        while self.code is None and (left := until - monotonic()) > 0:
            self._listen(min(left, _SLICE_SECONDS))
        return self.code is not None

    def end(self, seconds: float = _END_SECONDS) -> None:
        """Ask it to end, and make it end after so many seconds. Nobody else waits for it, so its number is its own."""
        self._process.terminate()
        if not self.wait(seconds):
            self._process.kill()
            self._process.wait()
        self._pipe.close()

    def let_go(self) -> None:
        """It goes on without us. While we live, a thread waits for it, so it leaves no dead process behind."""
        self._pipe.close()
        threading.Thread(target=self._process.wait, name=f"wait-{self.pid}", daemon=True).start()

    def _listen(self, seconds: float) -> None:
        import select
        import subprocess

        if self._pipe.closed:
            return
        if select.select([self._pipe], [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(self._pipe.fileno(), 1 << 16)
                self._said = (self._said + chunk)[-_TOLD_BYTES:]
                if not chunk and seconds:
                    # It says nothing any more, and may still have something to do.
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._process.wait(seconds)
