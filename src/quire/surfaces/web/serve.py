"""Serve the page on this machine only, with a token of this run."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any

from quire.files.world import World
from quire.surfaces.server.http_auth import READ, WRITE, HttpAuth, Rules
from quire.surfaces.server.listen import hurried_protocol, leave, listen, loopback_hosts, quiet_settings
from quire.surfaces.web.app import build_app
from quire.surfaces.web.assets import INDEX, Asset, read_assets
from quire.surfaces.web.options import PageOptions
from quire.surfaces.web.page_calls import PageCalls
from quire.surfaces.web.page_process import announce, noted
from quire.surfaces.web.tickets import Tickets

HOST = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types quire"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_RATE = 2_000
_TOKEN_PARTS = 3
_FILES_MOST = 4_096
_CLOSING_SECONDS = 2


def serve(world: World, options: PageOptions) -> int:
    """Listen until a signal ends it."""
    assets = read_assets()
    _make_room()
    listening = listen(HOST, options.port)
    port = listening.getsockname()[1]
    token, ticket = ("".join(world.token() for _ in range(_TOKEN_PARTS)) for _ in range(2))
    page_calls = PageCalls(world, options.start or world.cwd, may_write=options.write)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` has its reasons
            signal.signal(number, leave)
    with listening, contextlib.suppress(KeyboardInterrupt, SystemExit), noted(world, options) as noting:
        tickets = Tickets(token, ticket, world.token)
        rules = Rules(
            path="/api/",
            tokens={token: WRITE if options.write else READ},
            hosts=loopback_hosts(port),
            origins=frozenset(f"http://{host}" for host in loopback_hosts(port)),
            rate=_RATE,
            open_paths=frozenset({"/", "/api/ticket", *(f"/{name}" for name in assets if name != INDEX)}),
        )

        def ready() -> None:
            announce(world, options, page_calls, port=port, token=token, ticket=ticket, noting=noting)
            page_calls.prepare()

        _run(page_calls, assets, tickets, rules, listening, ready)
    page_calls.close()
    os._exit(0)


def _make_room() -> None:
    """Room for as many connections as are taken; most systems give fewer files to a process that does not ask."""
    import logging
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES_MOST if hard == resource.RLIM_INFINITY else min(hard, _FILES_MOST)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    # Where there is no room for one more connection, asyncio says so thousands of times a second.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


def _run(
    page_calls: PageCalls,
    assets: Mapping[str, Asset],
    tickets: Tickets,
    rules: Rules,
    listening: socket.socket,
    ready: Callable[[], None],
) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            # Whoever comes before the first second is over gets them, too.
            self.server_state.default_headers = list(self.config.encoded_headers)
            await super().startup(sockets)
            ready()

    config = uvicorn.Config(
        HttpAuth(build_app(page_calls, assets, tickets), rules),
        http=_sealed_protocol(),
        headers=list(HEADERS.items()),
        timeout_graceful_shutdown=_CLOSING_SECONDS,
        lifespan="off",
        **quiet_settings(),
    )
    Server(config).run(sockets=[listening])


def _sealed_protocol() -> type[Any]:
    """HTTP with our headers on every answer, also where the bytes are no HTTP and no app sees them."""
    import h11

    def refuse(self: Any, said: str) -> None:
        headers = [("content-type", "text/plain; charset=utf-8"), ("connection", "close"), *HEADERS.items()]
        refusal = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (refusal, h11.Data(data=said.encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    protocol = hurried_protocol()
    protocol.send_400_response = refuse
    return protocol
