"""Limit how many handshake-era sessions one token may hold, so that no token takes all of them.

Whoever begins one more loses the session of the same token that was longest unused. Its client is answered 404 then, as
after half an hour without a request, and begins another. A session in which a request is under way is never ended.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import msgspec

from quire.surfaces.server.http_auth import GRANTED, App, Receive, Scope, Send

SESSIONS_MOST = 256
"""Of one token."""
_SESSION = b"mcp-session-id"
_SENT_ON = (b"host", b"authorization")
_GONE = 404
_TAKEN = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "Too many open sessions"}}


class _Mine(msgspec.Struct):
    """The sessions of one token."""

    under_way: dict[str, int] = {}
    """How many requests are under way in each; the longest unused session first."""
    opening: int = 0


class Shares:
    """Stands before the app, which holds the sessions and ends one where it is asked to by DELETE."""

    def __init__(self, app: App, most: int = SESSIONS_MOST) -> None:
        self._app = app
        self._most = most
        self._tokens: dict[str, _Mine] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = scope.get(GRANTED)
        if scope["type"] != "http" or token is None:
            await self._app(scope, receive, send)
            return
        mine = self._tokens.setdefault(token, _Mine())
        named = _session_of(scope["headers"])
        if not named:
            await self._begin(mine, scope, receive, send)
        elif named in mine.under_way:
            await self._go_on(mine, named, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _begin(self, mine: _Mine, scope: Scope, receive: Receive, send: Send) -> None:
        """A request without a session: it may begin one."""
        while len(mine.under_way) + mine.opening >= self._most:
            unused = next((name for name, number in mine.under_way.items() if not number), "")
            if not unused:
                await _refuse(send)
                return
            del mine.under_way[unused]
            await self._end(unused, scope)
        answer = _Answer(send)
        mine.opening += 1
        try:
            await self._app(scope, receive, answer)
        finally:
            mine.opening -= 1
        if answer.session:
            mine.under_way[answer.session] = 0

    async def _go_on(self, mine: _Mine, named: str, scope: Scope, receive: Receive, send: Send) -> None:
        mine.under_way[named] = mine.under_way.pop(named) + 1  # the last one is the one that was just used
        answer = _Answer(send)
        try:
            await self._app(scope, receive, answer)
        finally:
            if named in mine.under_way:
                mine.under_way[named] -= 1
        if scope["method"] == "DELETE" or answer.status == _GONE:
            mine.under_way.pop(named, None)

    async def _end(self, session: str, scope: Scope) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name in _SENT_ON]
        ending = {**scope, "method": "DELETE", "headers": [*headers, (_SESSION, session.encode("latin-1"))]}

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_message: MutableMapping[str, Any]) -> None:
            return None

        await self._app(ending, receive, send)


class _Answer:
    """Sends an answer on, and notes its status and the session that it begins."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.session = ""

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.session = _session_of(message.get("headers", ())) if self.status < 400 else ""
        await self._send(message)


def _session_of(headers: Any) -> str:
    return next((value.decode("latin-1") for name, value in headers if name.lower() == _SESSION), "")


async def _refuse(send: Send) -> None:
    body = msgspec.json.encode(_TAKEN)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})
