"""Serve one client over standard input and output."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Any

from quire.surfaces.mcp.fast_path import FastPath, decoded
from quire.surfaces.mcp.replies import Replies
from quire.surfaces.mcp.wire import LINE_MOST, TooLong, Wire, refused

QUIET_SECONDS = 0.15
"""How long nothing must come before the SDK is loaded: clients send their first requests one right after another."""
ANSWERING_SECONDS, CLOSING_SECONDS = 2.0, 30.0
"""How long answers are still given when the client has closed its end, and how long a change may take to complete."""
_PAUSE_SECONDS = 0.01
_INVALID_REQUEST = -32600


def serve_stdio(replies: Replies, *, at_once: bool = False) -> int:
    """Answer until the client goes. With `at_once`, the SDK is loaded before the first answer."""
    wire = Wire()
    _end_on_signals(replies)
    failed = 0
    try:
        _serve(replies, wire, at_once)
    except BaseException:
        import traceback

        traceback.print_exc()
        failed = 1
    _end(replies, failed)
    return failed


def _end(replies: Replies, code: int) -> None:
    """Complete what is being written, then end the process, whatever its other threads read."""
    replies.tool_calls.settle(CLOSING_SECONDS)
    sys.stderr.flush()
    os._exit(code)


def _end_on_signals(replies: Replies) -> None:
    """End when a client sends a signal, on a thread: an exception in the midst of anything could leave a lock taken."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)

    def wait() -> None:
        os.read(heard, 1)
        _end(replies, 0)

    threading.Thread(target=wait, name="signals", daemon=True).start()


class _Loader:
    """The SDK, being loaded on a thread of its own."""

    def __init__(self, replies: Replies, wire: Wire) -> None:
        self._replies = replies
        self._wire = wire
        self.server: Any = None
        self.failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._load, name="sdk", daemon=True)
            self._thread.start()

    def wait(self) -> Any:
        self.begin()
        assert self._thread is not None
        self._thread.join()
        if self.failure is not None:
            raise self.failure
        return self.server

    def _load(self) -> None:
        try:
            from quire.surfaces.mcp.sdk_server import SdkServer

            self.server = SdkServer(self._replies, self._wire)
        except BaseException as error:
            self.failure = error


def _serve(replies: Replies, wire: Wire, at_once: bool) -> None:
    front, loader = FastPath(replies, wire), _Loader(replies, wire)
    server = None
    if at_once:
        server = loader.wait()
        server.begin(None, None)
    while True:
        line = wire.next(QUIET_SECONDS if server is None and loader.failure is None else None)
        if line is None:
            _answer_the_rest(replies, wire, [front] if server is None else [front, server])
            return
        if line == b"":
            if not front.busy:
                loader.begin()
            continue
        if isinstance(line, TooLong):
            _refuse(wire, line)
            continue
        if (answer := refused(line)) is not None:
            wire.send(answer)
            continue
        if server is None:
            message = decoded(line)
            if loader.server is None and front.answers(message):
                continue
            server = loader.wait()
            server.begin(front.opening, front.initialized)
        elif front.busy and _withdrawn(front, line):
            continue
        server.feed(line)


def _answer_the_rest(replies: Replies, wire: Wire, answering: Sequence[Any]) -> None:
    """Who closes its end may still listen at ours: a script that sends its questions and waits for the answers."""
    until = monotonic() + ANSWERING_SECONDS
    while any(part.busy for part in answering) and not wire.gone and monotonic() < until:
        replies.tool_calls.world.sleep(_PAUSE_SECONDS)


def _withdrawn(front: FastPath, line: bytes) -> bool:
    """Whether the line withdraws a call that the fast path still works on."""
    if b"notifications/cancelled" not in line:
        return False
    message = decoded(line)
    params = message.get("params") if isinstance(message, dict) else None
    return isinstance(params, dict) and front.withdraw(params)


def _refuse(wire: Wire, line: TooLong) -> None:
    said = f"The message is longer than {LINE_MOST // 1024 // 1024} MiB and was not read. Send less at a time."
    wire.send({"jsonrpc": "2.0", "id": line.id, "error": {"code": _INVALID_REQUEST, "message": said}})
