"""Serve clients over streamable HTTP: on this machine only and with a token, unless asked otherwise."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

from quire.model.errors import InputError, UsageError
from quire.surfaces.mcp.options import READ_TOKEN_VARIABLE, TOKEN_VARIABLE, ServerOptions
from quire.surfaces.mcp.sessions import SESSIONS_MOST, Shares
from quire.surfaces.mcp.wire import LINE_MOST, refused
from quire.surfaces.server.http_auth import GRANTED, READ, WRITE, HttpAuth, Rules
from quire.surfaces.server.listen import LOOPBACK, hurried_protocol, leave, listen, loopback_hosts, quiet_settings

if TYPE_CHECKING:
    from quire.files.world import World
    from quire.surfaces.mcp.replies import Replies

PATH = "/mcp"
RATE = 50
TOKEN_LEAST = 16
_TOKEN_PARTS = 3
_CLOSING_SECONDS = 10


def serve_http(replies: Replies, options: ServerOptions) -> int:
    """Listen until a signal ends it."""
    tokens = _tokens(options, replies.tool_calls.world)
    _refuse_reachable(options)
    listening = listen(options.host, options.port)
    host, port = options.host, listening.getsockname()[1]
    rules = Rules(
        path=PATH,
        tokens=tokens,
        hosts=_hosts(options, port),
        origins=frozenset(origin.lower() for origin in options.allowed_origins),
        rate=options.rate or RATE,
        host_hint="; see --allow-host",
        origin_hint="; see --allow-origin",
    )
    _announce(options, host, port, next(iter(tokens)) if not options.token and not options.read_token else "")
    # What serves us takes signals for itself, and hands them on when it has closed its connections.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        _run(replies, rules, listening)
    replies.tool_calls.settle(_CLOSING_SECONDS)
    sys.stderr.flush()
    os._exit(0)


def _run(replies: Replies, rules: Rules, listening: socket.socket) -> None:
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    from quire.surfaces.mcp.sdk import build_server

    def may_write(request: Any) -> bool:
        return request is not None and request.scope.get(GRANTED) == WRITE

    # The check before this app has looked already; the SDK looks again, so that neither alone has to be right.
    security = TransportSecuritySettings(allowed_hosts=sorted(rules.hosts), allowed_origins=sorted(rules.origins))
    app = build_server(replies, may_write).streamable_http_app(
        streamable_http_path=rules.path,
        max_request_body_size=LINE_MOST,
        max_sessions=(SESSIONS_MOST + 1) * len(rules.tokens),
        transport_security=security,
    )
    config = uvicorn.Config(
        HttpAuth(Shares(_owned(_once(app))), rules),
        http=hurried_protocol(),
        timeout_graceful_shutdown=_CLOSING_SECONDS,
        lifespan="on",
        **quiet_settings(),
    )
    uvicorn.Server(config).run(sockets=[listening])


def _announced(headers: Any) -> int:
    """How long a body is said to be; one that is too long is refused before it is read."""
    said = next((value for name, value in headers if name.lower() == b"content-length"), b"")
    return int(said) if said.isdigit() else 0


def _owned(app: Any) -> Any:
    """The app, told whose request it is: what one token began is not for another to go on with."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    async def owned(scope: Any, receive: Any, send: Any) -> None:
        granted = scope.get(GRANTED)
        if granted is not None:
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=granted, scopes=[granted]))
        await app(scope, receive, send)

    return owned


def _once(app: Any) -> Any:
    """The app, given no message that is refused as it stands."""
    from quire.verbs.plain import json_line

    async def once(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or _announced(scope["headers"]) > LINE_MOST:
            await app(scope, receive, send)
            return
        held: list[Any] = []
        body = bytearray()
        more = True
        while more and len(body) <= LINE_MOST:
            held.append(await receive())
            body += held[-1].get("body", b"")
            more = held[-1]["type"] == "http.request" and held[-1].get("more_body", False)
        answer = refused(bytes(body)) if len(body) <= LINE_MOST else None
        if answer is not None:
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 400, "headers": headers})
            await send({"type": "http.response.body", "body": json_line(answer).encode()})
            return

        async def again() -> Any:
            return held.pop(0) if held else await receive()

        await app(scope, again, send)

    return once


def _tokens(options: ServerOptions, world: World) -> dict[str, str]:
    """What each token may do. On this machine one is made for the run where none was given."""
    given = {options.token: WRITE, options.read_token: READ}
    given.pop("", None)
    for token in given:
        if len(token) < TOKEN_LEAST or not token.isascii() or any(char.isspace() for char in token):
            raise InputError(
                f"A token has at least {TOKEN_LEAST} ASCII characters and no spaces.",
                hint="`openssl rand -hex 24` makes a good one.",
            )
    if options.token and options.token == options.read_token:
        raise InputError("Both tokens are the same.", hint="Give each scope its own token, or only one token.")
    if given:
        return given
    if options.host not in LOOPBACK:
        raise UsageError(
            f"Listening on {options.host} needs a token of your own.",
            hint=f"Set {TOKEN_VARIABLE} or give --token-file; {READ_TOKEN_VARIABLE} is for readers.",
        )
    return {"".join(world.token() for _ in range(_TOKEN_PARTS)): WRITE}


def _refuse_reachable(options: ServerOptions) -> None:
    if options.host not in LOOPBACK and not options.public:
        raise UsageError(
            f"{options.host} can be reached by other machines.",
            hint="Add --public to allow it, behind a proxy with TLS; or leave --host out.",
        )


def _hosts(options: ServerOptions, port: int) -> frozenset[str]:
    """The Host headers that are served: the loopback names with our port, and those that were allowed."""
    allowed = [
        form for name in options.allowed_hosts for form in ((name,) if _has_port(name) else (name, f"{name}:{port}"))
    ]
    return loopback_hosts(port) | frozenset(name.lower() for name in allowed)


def _has_port(name: str) -> bool:
    return (name.rpartition(":")[2].isdecimal() and not name.endswith("]") and name.count(":") == 1) or "]:" in name


def _announce(options: ServerOptions, host: str, port: int, made: str) -> None:
    shown = f"[{host}]" if ":" in host else host
    lines = [f"memory-mcp listens on http://{shown}:{port}{PATH}"]
    if made:
        lines.append(f"token for this run: {made}")
    if host not in LOOPBACK:
        lines.append(
            "warning: other machines can reach this address, and what is sent is not encrypted."
            " Put a proxy with TLS before it; `memory docs mcp` says how."
        )
        if not options.allowed_hosts:
            lines.append("warning: no --allow-host was given, so only clients that name a loopback host are served.")
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
