"""Send one POST: limited in time and size, without redirects."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import http.client
    import socket

_CONNECT_SECONDS = 10.0
_CHUNK = 1 << 16


class Response(msgspec.Struct, frozen=True):
    """What a server answered; `too_long` where it is only the beginning."""

    status: int
    body: bytes
    too_long: bool = False


class Unreachable(Exception):
    """No answer. `sent` says whether the server may have got the question; `timed_out`, that it was given up."""

    def __init__(self, reason: str, *, sent: bool, timed_out: bool) -> None:
        super().__init__(reason)
        self.sent = sent
        self.timed_out = timed_out


def post(
    host: str, port: int, path: str, *, secure: bool, body: bytes, headers: Mapping[str, str], seconds: float, most: int
) -> Response:
    """Send and wait for the whole answer, in `seconds` altogether. Names are looked up in the system's own time."""
    import http.client

    line = _Line(seconds)
    sent = False
    try:
        connection = http.client.HTTPConnection(host, port)
        connection.sock = line.connect(host, port, secure)
        sent = True
        connection.request("POST", path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        data, too_long = _body(answer, most, line)
        return Response(answer.status, data, too_long)
    except (OSError, http.client.HTTPException, ValueError) as error:
        timed_out = line.is_over or isinstance(error, TimeoutError)
        raise Unreachable(_reason(error), sent=sent, timed_out=timed_out) from None
    finally:
        line.close()


def _body(answer: http.client.HTTPResponse, most: int, line: _Line) -> tuple[bytes, bool]:
    import http.client

    found = bytearray()
    while len(found) <= most and (chunk := answer.read1(_CHUNK)):
        found += chunk
    if line.is_over:
        raise TimeoutError
    too_long = len(found) > most
    if answer.length and not too_long:
        # Less than was announced is no answer, and would read as a damaged one.
        raise http.client.IncompleteRead(b"", answer.length)
    return bytes(found[:most]), too_long


class _Line:
    """A connection that is hung up when its time is up.

    A limit on single reads is not enough: a server that sends a byte now and then never runs into it.
    """

    def __init__(self, seconds: float) -> None:
        import threading

        self._socket: socket.socket | None = None
        self._end = monotonic() + seconds
        self._over = threading.Event()
        self._guard = threading.Timer(seconds, self._hang_up)
        self._guard.daemon = True
        self._guard.start()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def connect(self, host: str, port: int, secure: bool) -> socket.socket:
        import socket

        found = self._socket = socket.create_connection((host, port), min(self._left(), _CONNECT_SECONDS))
        found.settimeout(self._left())
        if secure:
            import ssl

            context = ssl.create_default_context()
            context.set_alpn_protocols(["http/1.1"])
            wrapped = context.wrap_socket(found, server_hostname=host, do_handshake_on_connect=False)
            found = self._socket = wrapped
            wrapped.do_handshake()
        found.settimeout(self._left())
        return found

    def close(self) -> None:
        self._guard.cancel()
        if self._socket is not None:
            self._socket.close()

    def _left(self) -> float:
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _hang_up(self) -> None:
        import socket

        self._over.set()
        if self._socket is not None:
            with contextlib.suppress(OSError):
                # Past the wrapper of an encrypted connection, which the thread that reads has in its hands.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _reason(error: Exception) -> str:
    """Never the text of a ValueError: it repeats the header that it dislikes."""
    if isinstance(error, OSError):
        return getattr(error, "verify_message", "") or error.strerror or type(error).__name__
    return "the connection was closed in the middle" if "Incomplete" in type(error).__name__ else "no usable answer"
