"""Run the SDK's loop over a pipe: feed it lines, tell it what the fast path has answered."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import anyio
import mcp_types as types
from anyio.from_thread import start_blocking_portal
from mcp.shared.message import SessionMessage

from quire.surfaces.mcp.replies import Replies
from quire.surfaces.mcp.sdk import build_server
from quire.surfaces.mcp.wire import Wire, unread

_HANDOVER = "quire-handover"
"""The id of the request that tells the SDK what the client and the fast path agreed on; its answer goes nowhere."""


class SdkServer:
    """The SDK's server for one pipe, on a thread of its own."""

    def __init__(self, replies: Replies, wire: Wire) -> None:
        self._server = build_server(replies)
        self._wire = wire
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._in: Any = None
        self._asked: set[str | int] = set()

    @property
    def busy(self) -> bool:
        """Whether a request has not been answered yet."""
        return bool(self._asked)

    def begin(self, opening: dict[str, Any] | None, initialized: dict[str, Any] | None) -> None:
        """Take over where the fast path left off."""
        self._in, received, sent, outgoing = self._portal.call(_streams)
        options = self._server.create_initialization_options()
        self._portal.start_task_soon(self._server.run, received, sent, options)
        self._portal.start_task_soon(self._write, outgoing)
        if opening is not None:
            if opening["method"] == "initialize":
                self._put({**opening, "id": _HANDOVER})
            else:
                params = {"_meta": opening["params"]["_meta"]}
                self._put({"jsonrpc": "2.0", "id": _HANDOVER, "method": "server/discover", "params": params})
        if initialized is not None:
            self._put(initialized)

    def feed(self, line: bytes) -> None:
        """One message of the client, as it came."""
        try:
            message = SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            # The SDK would drop it without a word, and whoever asked would wait for ever.
            answer = unread(line)
            if answer is not None:
                self._wire.send(answer)
            return
        self._follow(message.message)
        self._portal.call(self._in.send, message)

    def _follow(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._asked.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            # A call that was withdrawn gets no answer.
            name = (message.params or {}).get("requestId")
            if isinstance(name, str | int):
                self._asked.discard(name)

    def _put(self, message: dict[str, Any]) -> None:
        found = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        self._portal.call(self._in.send, SessionMessage(found))

    async def _write(self, outgoing: Any) -> None:
        async with outgoing:
            async for item in outgoing:
                message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                if message.get("id") != _HANDOVER:
                    self._wire.send(message)
                    self._asked.discard(message.get("id"))


async def _streams() -> tuple[Any, Any, Any, Any]:
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](64)
    return incoming, received, sent, outgoing
