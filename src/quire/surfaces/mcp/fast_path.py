"""Answer the first requests before the SDK is loaded.

Loading the SDK takes many times as long as answering. So the fast path listens first, and answers what is beyond doubt:
the handshake or discovery, the lists, calls, reads and prompts that are well formed. The SDK is loaded in the first
quiet moment, or at once when something arrives that is not beyond doubt; from then on everything goes to it. What is
answered is the same either way (`replies.py`), and tests hold the two next to each other, message by message.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from quire.surfaces.mcp.replies import CACHE_HINTS, Refused, Replies
from quire.surfaces.mcp.server_text import INSTRUCTIONS, server_info
from quire.surfaces.mcp.tool_calls import Ticket

if TYPE_CHECKING:
    from quire.surfaces.mcp.wire import Wire

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
_META = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES, _CLIENT, _SERVER = (
    f"{_META}{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo", "serverInfo")
)
_CLOSED = {"listChanged": False}
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def capabilities() -> dict[str, Any]:
    """What the server can be asked for. Nothing here changes while it runs, so there is nothing to be notified of."""
    return {"prompts": dict(_CLOSED), "resources": {"subscribe": False, **_CLOSED}, "tools": dict(_CLOSED)}


class FastPath:
    """Answers one client until the SDK takes over."""

    def __init__(self, replies: Replies, wire: Wire) -> None:
        self._replies = replies
        self._wire = wire
        self._guard = threading.Lock()
        self._tickets: dict[str | int, Ticket] = {}
        self.opening: dict[str, Any] | None = None
        """The request that decided the era: the handshake, or the first with an envelope."""
        self.initialized: dict[str, Any] | None = None

    @property
    def busy(self) -> bool:
        return bool(self._tickets)

    def answers(self, message: Any) -> bool:
        """Whether this message was taken; what is not taken is for the SDK."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return False
        method, params = message.get("method"), message.get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            return False
        if "id" not in message:
            return self._notified(method, params, message)
        name = message["id"]
        if not _is_name(name):
            return False
        meta = params.get("_meta", {})
        if not isinstance(meta, dict) or not _is_plain_meta(meta):
            return False
        if method == "initialize":
            return self._shake(name, params, message)
        modern = _VERSION in meta
        if modern != self._is_modern(modern) or (modern and not _is_envelope(meta)):
            return False
        if not modern and self.opening is None:
            return False
        handled = self._request(name, method, params, meta, modern)
        if handled and self.opening is None and modern:
            self.opening = message
        return handled

    def withdraw(self, params: Mapping[str, Any]) -> bool:
        """A call is no longer wanted: whether it was one of ours."""
        name = params.get("requestId")
        with self._guard:
            ticket = self._tickets.pop(name, None) if _is_name(name) else None
        if ticket is None:
            return False
        ticket.withdraw()
        return True

    def _is_modern(self, claimed: bool) -> bool:
        """The era of this connection, which its first request decides."""
        if self.opening is None:
            return claimed
        return bool(self.opening["method"] != "initialize")

    def _notified(self, method: str, params: dict[str, Any], message: dict[str, Any]) -> bool:
        if self.opening is None:
            return False
        if method == "notifications/initialized" and self.initialized is None:
            self.initialized = message
            return True
        return method == "notifications/cancelled" and (self.withdraw(params) or True)

    def _shake(self, name: str | int, params: dict[str, Any], message: dict[str, Any]) -> bool:
        client, offered = params.get("clientInfo"), params.get("protocolVersion")
        if self.opening is not None or not isinstance(offered, str) or not _is_client(client):
            return False
        if not _plain_capabilities(params.get("capabilities")):
            return False
        self.opening = message
        version = offered if offered in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        self._reply(
            name,
            {
                "protocolVersion": version,
                "capabilities": capabilities(),
                "serverInfo": server_info(),
                "instructions": INSTRUCTIONS,
            },
        )
        return True

    def _request(
        self, name: str | int, method: str, params: dict[str, Any], meta: dict[str, Any], modern: bool
    ) -> bool:
        if method in _LISTS and set(params) <= {"_meta"}:
            self._reply(name, self._replies.list(method), method, modern)
        elif method == "ping" and not modern and set(params) <= {"_meta"}:
            self._reply(name, {})
        elif method == "server/discover" and modern and set(params) <= {"_meta"}:
            found = {"supportedVersions": [MODERN_VERSION], "capabilities": capabilities()}
            self._reply(name, {**found, "instructions": INSTRUCTIONS}, method, modern)
        elif method == "tools/call" and _is_call(params, "arguments"):
            ticket = Ticket(self._progress(meta.get("progressToken")))
            arguments = params.get("arguments") or {}
            self._later(name, method, modern, ticket, lambda: self._replies.call(params["name"], arguments, ticket))
        elif method == "prompts/get" and _is_call(params, "arguments", texts=True):
            arguments = params.get("arguments") or {}
            self._later(name, method, modern, Ticket(), lambda: self._replies.prompt(params["name"], arguments))
        elif method == "resources/read" and isinstance(params.get("uri"), str) and set(params) <= {"_meta", "uri"}:
            self._later(name, method, modern, Ticket(), lambda: self._replies.read(params["uri"], modern=modern))
        else:
            return False
        return True

    def _later(
        self,
        name: str | int,
        method: str,
        modern: bool,
        ticket: Ticket,
        begin: Callable[[], Future[dict[str, Any]]],
    ) -> None:
        """Answer when the work is done, unless the client withdrew it meanwhile."""
        with self._guard:
            self._tickets[name] = ticket
        try:
            future = begin()
        except Refused as refused:
            self._forget(name)
            self._refuse(name, refused)
            return
        future.add_done_callback(lambda done: self._finished(name, method, modern, done))

    def _finished(self, name: str | int, method: str, modern: bool, done: Future[dict[str, Any]]) -> None:
        error = done.exception()
        wanted = self._forget(name)
        if not wanted:
            return
        if isinstance(error, Refused):
            self._refuse(name, error)
        elif error is not None:
            self._refuse(name, Refused(-32603, f"Quire itself failed ({type(error).__name__})."))
        else:
            self._reply(name, done.result(), method, modern)

    def _forget(self, name: str | int) -> bool:
        with self._guard:
            return self._tickets.pop(name, None) is not None

    def _progress(self, token: Any) -> Callable[[float, float | None, str], None] | None:
        if token is None:
            return None

        def tell(done: float, total: float | None, message: str) -> None:
            params = {"progressToken": token, "progress": done}
            params |= {"total": total} if total is not None else {}
            params |= {"message": message} if message else {}
            self._wire.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

        return tell

    def _reply(self, name: str | int, result: dict[str, Any], method: str = "", modern: bool = False) -> None:
        if modern:
            hint = CACHE_HINTS.get(method)
            if hint is not None:
                result = {"ttlMs": hint[0], "cacheScope": hint[1], **result}
            result = {**result, "resultType": "complete", "_meta": {_SERVER: server_info()}}
        self._wire.send({"jsonrpc": "2.0", "id": name, "result": result})

    def _refuse(self, name: str | int, refused: Refused) -> None:
        error: dict[str, Any] = {"code": refused.code, "message": refused.message}
        if refused.data is not None:
            error["data"] = refused.data
        self._wire.send({"jsonrpc": "2.0", "id": name, "error": error})


def _is_client(value: Any) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("version"), str)
    ) and all(isinstance(item, str) for item in value.values())


def _is_name(value: Any) -> TypeGuard[str | int]:
    """Whether it can name a request; of true and false, which are numbers to Python, neither can."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_plain_meta(meta: dict[str, Any]) -> bool:
    """Whether what the protocol itself reads of it is beyond doubt."""
    return _is_name(meta.get("progressToken", 0)) and all(
        name in (_VERSION, _CAPABILITIES, _CLIENT) for name in meta if name.startswith(_META)
    )


def _plain_capabilities(value: Any) -> bool:
    """Whether these are capabilities as nearly all clients have them; of any other the SDK says what it thinks."""
    return isinstance(value, dict) and all(_is_plain_capability(name, item) for name, item in value.items())


def _is_plain_capability(name: str, value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if name == "roots":
        return set(value) <= {"listChanged"} and isinstance(value.get("listChanged", False), bool)
    if name in ("experimental", "extensions"):
        return all(isinstance(item, dict) for item in value.values())
    return all(item == {} for item in value.values())


def _is_envelope(meta: dict[str, Any]) -> bool:
    client = meta.get(_CLIENT)
    return (
        meta.get(_VERSION) == MODERN_VERSION
        and _plain_capabilities(meta.get(_CAPABILITIES))
        and (client is None or _is_client(client))
    )


def _is_call(params: dict[str, Any], inner: str, *, texts: bool = False) -> bool:
    arguments = params.get(inner)
    if not isinstance(params.get("name"), str) or not set(params) <= {"_meta", "name", inner}:
        return False
    if arguments is None:
        return inner not in params or not texts
    return isinstance(arguments, dict) and (not texts or all(isinstance(item, str) for item in arguments.values()))


def decoded(line: bytes) -> Any:
    """The message of a line, or nothing where it is no JSON that we read at once."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
