"""Run programs other than git with a time limit and bounded output, or start them detached.

No shell is ever asked. Each program has a process group of its own: at the time limit the whole group goes, and so does
a child that still holds the pipes when the program itself has ended. What a program says is read to its end; of more
than `most` bytes the last ones are kept.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

if TYPE_CHECKING:
    import selectors
    import subprocess

MOST = 8 * 1024 * 1024
"""How much of what a program says is kept, of each of its two streams."""
_PAUSE_SECONDS = 0.05
_GRACE_SECONDS = 0.5
"""How long the pipes may stay open after the program has ended."""
_CHUNK = 1 << 16


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended. `code` is None where it was stopped, or never started: then `missing` says why.

    A program that a signal ended has the signal's number as a negative code.
    """

    code: int | None = None
    out: bytes = b""
    err: bytes = b""
    timed_out: bool = False
    too_long: bool = False
    missing: str = ""


def own_command(*words: str) -> list[str]:
    """The command line of a command of this program, for a process of its own, whichever program is running."""
    # The folder in which the process is started must not be searched for modules: a repository could bring its own.
    return [sys.executable, "-P", "-m", "quire", *words]


def become_server(words: Sequence[str]) -> NoReturn:
    """Go on as the server for MCP clients, in this process: whoever started it holds its pipes already."""
    os.execv(sys.executable, [sys.executable, "-P", "-m", "quire.surfaces.mcp", *words])  # noqa: S606


def become_page(options: Mapping[str, Any]) -> NoReturn:
    """Go on as the server of the local page, in this process: Ctrl-C on the terminal then ends it."""
    import json

    words = json.dumps(options, ensure_ascii=True)
    os.execv(sys.executable, [sys.executable, "-P", "-m", "quire.surfaces.web", words])  # noqa: S606


def run_program(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float,
    most: int = MOST,
    end_when_long: bool = False,
) -> Finished:
    """Run a program to its end, or to the end of `seconds`.

    With `end_when_long` it is stopped as soon as it says more than `most` bytes; otherwise it may go on, and the last
    ones are kept. A program that ends without reading what it is sent is no error.
    """
    import subprocess

    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(  # noqa: S603
            list(argv), cwd=cwd, env=dict(env), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
        )
    except OSError as error:
        return Finished(missing=error.strerror or str(error))
    except ValueError as error:
        return Finished(missing=str(error))
    talk = _Talk(process, stdin, most)
    try:
        talk.until(monotonic() + seconds, end_when_long)
    except BaseException:
        talk.stop()
        raise
    finally:
        talk.close()
    return Finished(
        code=talk.code,
        out=talk.kept(0),
        err=talk.kept(1),
        timed_out=talk.timed_out,
        too_long=talk.too_long,
    )


def start_program(argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> int:
    """Start a program that goes on without us, and say its process id. OSError where it cannot be started.

    It leads a session of its own, and reads and says nothing. It stays our child (one fork, no second one: that would
    not be safe beside threads); a thread of ours waits for it, so it leaves no dead process behind while we live.
    """
    import subprocess
    import threading

    quiet = subprocess.DEVNULL
    process = subprocess.Popen(  # noqa: S603
        list(argv), cwd=cwd, env=dict(env), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    threading.Thread(target=process.wait, name=f"wait-{process.pid}", daemon=True).start()
    return process.pid


class _Talk:
    """The pipes of one running program: what is still to be sent, what was said."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes, most: int) -> None:
        import selectors

        self._process = process
        self._most = most
        self._unsent = memoryview(stdin)
        self._said = (bytearray(), bytearray())
        self._selector = selectors.DefaultSelector()
        self.stopped = self.timed_out = self.too_long = False
        streams = (process.stdin, process.stdout, process.stderr)
        self._pipes = [stream.fileno() for stream in streams if stream is not None]
        for number in self._pipes:
            os.set_blocking(number, False)
        sending, *hearing = self._pipes
        if stdin:
            self._selector.register(sending, selectors.EVENT_WRITE, self._send)
        else:
            self._end_of_sending()
        for number, said in zip(hearing, self._said, strict=True):
            self._selector.register(number, selectors.EVENT_READ, self._hearer(said))

    def until(self, deadline: float, end_when_long: bool) -> None:
        """Send and listen until the program has ended and is silent, or has to be stopped."""
        silence = deadline
        ended = False
        while True:
            now = monotonic()
            if now >= deadline:
                self.timed_out = not ended
                break
            if now >= silence or (self.too_long and end_when_long):
                break
            if self._is_silent():
                # Both of its pipes are closed; it may still have something to do.
                if self._wait(deadline - now):
                    return
                self.timed_out = True
                break
            for key, _ in self._selector.select(min(_PAUSE_SECONDS, deadline - now)):
                key.data(key)
            if not ended and self._has_ended():
                ended, silence = True, monotonic() + _GRACE_SECONDS
        self.stopped = self.timed_out or (self.too_long and end_when_long)
        self.stop()

    def stop(self) -> None:
        """The whole group goes. Our own child is not waited for before that, so its number is still its own."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    @property
    def code(self) -> int | None:
        return None if self.stopped else self._process.returncode

    def kept(self, number: int) -> bytes:
        return bytes(self._said[number][-self._most :])

    def _is_silent(self) -> bool:
        return not any(key.fd in self._pipes[1:] for key in self._selector.get_map().values())

    def _wait(self, seconds: float) -> bool:
        import subprocess

        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _has_ended(self) -> bool:
        """Whether the program has ended; where the system can tell it, without letting go of its number."""
        look = getattr(os, "waitid", None)
        if look is None:
            return self._process.poll() is not None
        return look(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _send(self, key: selectors.SelectorKey) -> None:
        try:
            self._unsent = self._unsent[os.write(key.fd, self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = self._unsent[:0]  # nobody reads on the other side
        if not self._unsent:
            self._selector.unregister(key.fd)
            self._end_of_sending()

    def _end_of_sending(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _hearer(self, said: bytearray) -> Callable[[selectors.SelectorKey], None]:
        def hear(key: selectors.SelectorKey) -> None:
            try:
                chunk = os.read(key.fd, _CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                self._selector.unregister(key.fd)
                return
            said.extend(chunk)
            if len(said) > self._most:
                self.too_long = True
            if len(said) > self._most + (1 << 20):
                del said[: len(said) - self._most]

        return hear
