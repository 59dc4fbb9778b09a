"""Read and write the lines of the protocol; nothing else ever reaches standard output.

The process's own standard output is pointed at standard error, so that a stray print of any library cannot garble the
protocol; its standard input at nothing, so that no program we start can eat a message.
"""

from __future__ import annotations

import os
import re
import select
import threading
from collections import deque
from typing import Any

import msgspec

LINE_MOST = 8 * 1024 * 1024
"""The longest message that is read; a longer one is refused without being kept."""
_CHUNK = 1 << 16
_EDGE = 512
_ID = rb'"id"\s*:\s*("(?:[^"\\]|\\.){1,200}"|-?\d{1,18})(?=\s*[,}])'
_ID_FIRST = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(_ID + rb"\s*\}\s*$")

_PARSE_ERROR, _INVALID_REQUEST, _METHOD_NOT_FOUND = -32700, -32600, -32601


class TooLong(msgspec.Struct, frozen=True):
    """A message that was longer than we read, and the id it carried, where that could be seen."""

    id: str | int | None


class Wire:
    """One client's pipe."""

    def __init__(self) -> None:
        self._in = os.dup(0)
        self._out = os.dup(1)
        for descriptor in (self._in, self._out):
            os.set_inheritable(descriptor, False)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._sending = threading.Lock()
        self._ready: deque[bytes | TooLong] = deque()
        self._kept = bytearray()
        self._first = b""
        """How a message begins that is too long; empty for any other."""
        self.gone = False
        """Whether the client no longer listens."""

    def next(self, seconds: float | None) -> bytes | TooLong | None:
        """The next message; nothing where the client has gone; an empty one where none came in so many seconds."""
        while not self._ready:
            if seconds is not None and not select.select([self._in], [], [], seconds)[0]:
                return b""
            try:
                chunk = os.read(self._in, _CHUNK)
            except OSError:
                return None
            if not chunk:
                return None
            self._take(chunk)
        return self._ready.popleft()

    def _take(self, chunk: bytes) -> None:
        """Cut what came into messages; of one that is too long only its edges are kept."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._keep(part)
            if self._first:
                self._ready.append(TooLong(_id_of(self._first, bytes(self._kept[-_EDGE:]))))
            elif self._kept.strip():
                self._ready.append(bytes(self._kept))
            self._kept, self._first = bytearray(), b""
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._kept += part
        if self._first or len(self._kept) > LINE_MOST:
            self._first = self._first or bytes(self._kept[:_EDGE])
            del self._kept[:-_EDGE]

    def send(self, message: dict[str, Any]) -> None:
        """One message, whole, however many threads are sending."""
        from quire.verbs.plain import json_line

        data = memoryview(json_line(message).encode() + b"\n")
        with self._sending:
            while data and not self.gone:
                try:
                    data = data[os.write(self._out, data) :]
                except OSError:
                    self.gone = True


def refused(data: bytes) -> dict[str, Any] | None:
    """The answer to a message that goes no further; nothing to any other.

    Where a key occurs twice in one object, which one is meant cannot be known, and another reader might take the other.
    Where a secret stands for the method, it would be repeated: there is no such method.
    """
    from quire.files.json_files import has_key_twice

    try:
        message = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    fields = message if isinstance(message, dict) else {}
    if has_key_twice(data, message):
        said = "A key occurs twice in one object. Send each key once."
        error: dict[str, Any] = {"code": _INVALID_REQUEST, "message": said}
    elif _is_secret(fields.get("method")):
        error = {"code": _METHOD_NOT_FOUND, "message": "Method not found"}
    else:
        return None
    name = fields.get("id")
    name = name if isinstance(name, str | int) and not isinstance(name, bool) else None
    return {"jsonrpc": "2.0", "id": name, "error": error}


def _is_secret(method: Any) -> bool:
    # The names that there are have letters only: those are spared the look.
    if not isinstance(method, str) or method.replace("/", "").replace("_", "").isalpha():
        return False
    from quire.guard.redaction import InputSecrets

    return bool(InputSecrets(method))


def unread(line: bytes) -> dict[str, Any] | None:
    """The answer to a line that is no message of the protocol, so that nobody waits for one in vain.

    Nothing where it can be seen that it wanted none.
    """
    import json

    try:
        found = json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        code, name = _PARSE_ERROR, _id_of(line[:_EDGE], line[-_EDGE:])
    else:
        fields = found if isinstance(found, dict) else {}
        if ("method" in fields and "id" not in fields) or "result" in fields or "error" in fields:
            return None
        given = fields.get("id")
        code, name = _INVALID_REQUEST, given if isinstance(given, str | int) and not isinstance(given, bool) else None
    said = "Not readable. Send JSON-RPC 2.0: one line of UTF-8 per message, not nested deeply."
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": said}}


def _id_of(first: bytes, last: bytes) -> str | int | None:
    found = _ID_FIRST.match(first) or _ID_LAST.search(last)
    if found is None:
        return None
    try:
        value: str | int = msgspec.json.decode(found.group(1))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value
