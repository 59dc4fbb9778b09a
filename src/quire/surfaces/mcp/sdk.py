"""Serve through the official SDK: one object for both protocol eras and every transport.

Importing this module costs what the SDK costs; only what needs it does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from quire import __version__
from quire.surfaces.mcp.fast_path import MODERN_VERSION
from quire.surfaces.mcp.replies import CACHE_HINTS, Refused, Replies
from quire.surfaces.mcp.server_text import DESCRIPTION, INSTRUCTIONS, NAME, TITLE
from quire.surfaces.mcp.tool_calls import Ticket

Context = ServerRequestContext[Any, Any]
_TELL_SECONDS = 5.0


def _anybody(_: Any) -> bool:
    """Whoever holds the other end of a pipe started us, and may do what it may do anyway."""
    return True


def build_server(replies: Replies, may_write: Callable[[Any], bool] = _anybody) -> Server[Any]:
    """The server. `may_write` says of an HTTP request whether its sender may change anything."""
    hints = {method: CacheHint(ttl_ms=ttl, scope=scope) for method, (ttl, scope) in CACHE_HINTS.items()}  # type: ignore[arg-type]
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title=TITLE,
        description=DESCRIPTION,
        instructions=INSTRUCTIONS,
        cache_hints=hints,  # type: ignore[arg-type]
        get_tool_input_schema=lambda name: next(
            (tool["inputSchema"] for tool in replies.tools if tool["name"] == name), None
        ),
    )
    # A span for every message costs more than most answers, and nobody here collects them.
    server.middleware.clear()

    def listing(method: str) -> None:
        async def answer(ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
            if params.cursor is not None:
                raise MCPError(types.INVALID_PARAMS, "There is no such page: lists are not paged.")
            return _complete(ctx, replies.list(method))

        server.add_request_handler(method, types.PaginatedRequestParams, answer)

    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        listing(method)

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        ticket = Ticket(_progress(ctx))
        try:
            return await _done(
                ctx, lambda: replies.call(params.name, params.arguments or {}, ticket, may_write=may_write(ctx.request))
            )
        except BaseException:
            ticket.withdraw()
            raise

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        return await _done(ctx, lambda: replies.read(str(params.uri), modern=ctx.protocol_version == MODERN_VERSION))

    async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> dict[str, Any]:
        return await _done(ctx, lambda: replies.prompt(params.name, params.arguments or {}))

    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    return server


def _complete(ctx: Context, result: dict[str, Any]) -> dict[str, Any]:
    """The newer era wants to be told that a result is one."""
    return {**result, "resultType": "complete"} if ctx.protocol_version == MODERN_VERSION else result


async def _done(ctx: Context, begin: Callable[[], Future[dict[str, Any]]]) -> dict[str, Any]:
    try:
        return _complete(ctx, await asyncio.wrap_future(begin()))
    except Refused as refused:
        raise MCPError(refused.code, refused.message, refused.data) from None


def _progress(ctx: Context) -> Callable[[float, float | None, str], None] | None:
    """Where a call's thread says how far it is, if the client asked."""
    if not ctx.meta or ctx.meta.get("progress_token", ctx.meta.get("progressToken")) is None:
        return None
    loop = asyncio.get_running_loop()

    def tell(done: float, total: float | None, message: str) -> None:
        sent = asyncio.run_coroutine_threadsafe(ctx.session.report_progress(done, total, message or None), loop)
        try:
            # One after another, so that none arrives after the answer.
            sent.result(_TELL_SECONDS)
        except Exception:
            sent.cancel()

    return tell
