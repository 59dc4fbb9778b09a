"""Check HTTP requests: address, origin, token, rate.

Checks every request before anything else sees any of it. Knows ASGI, and nothing of what is served.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

import msgspec

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

READ, WRITE = "read", "write"
GRANTED = "quire.granted"
"""Where a request's scope says what its token may do."""
_BURST_SECONDS = 4
_NAMES = (b"host", b"origin")


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What is let in."""

    path: str
    """What needs a token; with a slash at its end, everything below it."""
    tokens: Mapping[str, str]
    """Each token, and what it may do."""
    hosts: frozenset[str]
    origins: frozenset[str]
    rate: int
    open_paths: frozenset[str] = frozenset()
    """What is served to everybody who asks at the right address."""
    host_hint: str = ""
    origin_hint: str = ""


class HttpAuth:
    """Checks each request before the app sees it."""

    def __init__(self, app: App, rules: Rules, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._rules = rules
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = _headers(scope["headers"])
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
            return
        # Names are the same in any letters; whoever looks at them again need not know that.
        scope["headers"] = [
            (name, value.lower() if name.lower() in _NAMES else value) for name, value in scope["headers"]
        ]
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Mapping[str, list[str]]) -> tuple[int, str, dict[str, str]] | None:
        """Why this request is turned away, if it is; else its scope says what it may do."""
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy before us may see another end of it than we do, and the rest would be a request of someone else.
            return 400, "A request has a length or comes in pieces, not both.", {"connection": "close"}
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._rules.hosts:
            return 421, f"This Host is not served here{self._rules.host_hint}.", {}
        if len(origins) > 1 or (origins and origins[0].lower() not in self._rules.origins):
            return 403, f"This Origin is not allowed{self._rules.origin_hint}.", {}
        if scope["path"] in self._rules.open_paths:
            return None
        if not self._is_guarded(scope["path"]):
            return 404, f"There is only {self._rules.path} here.", {}
        token = self._token(headers.get("authorization", []))
        if token is None:
            asked = {"www-authenticate": 'Bearer realm="memory"'}
            return 401, "Send the server's token: Authorization: Bearer TOKEN.", asked
        wait = self._wait(token)
        if wait > 0:
            return 429, "Too many requests; try again in a moment.", {"retry-after": str(int(wait) + 1)}
        scope[GRANTED] = self._rules.tokens[token]
        return None

    def _is_guarded(self, path: str) -> bool:
        return path == self._rules.path or (self._rules.path.endswith("/") and path.startswith(self._rules.path))

    def _token(self, given: list[str]) -> str | None:
        if len(given) != 1:
            return None
        scheme, _, value = given[0].partition(" ")
        sent = value.strip().encode("latin-1", "replace")
        # Every token is compared, in the same time whether it matches or not.
        matching = [token for token in self._rules.tokens if hmac.compare_digest(token.encode(), sent)]
        return matching[0] if matching and scheme.lower() == "bearer" else None

    def _wait(self, token: str) -> float:
        """How many seconds this token has to wait; 0 where it may go on."""
        now, most = self._clock(), float(self._rules.rate * _BURST_SECONDS)
        left, seen = self._left.get(token, (most, now))
        left = min(most, left + (now - seen) * self._rules.rate)
        if left < 1:
            self._left[token] = (left, now)
            return (1 - left) / self._rules.rate
        self._left[token] = (left - 1, now)
        return 0.0


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in raw:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


async def _answer(send: Send, status: int, said: str, extra: Mapping[str, str]) -> None:
    body = said.encode()
    headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **extra}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
