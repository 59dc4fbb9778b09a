"""Listen on a port of this machine."""

from __future__ import annotations

import socket
from typing import Any

from quire.model.errors import StorageFailed

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_WAITING = 2048
_HEADER_SECONDS = 10
_QUIET: dict[str, Any] = {
    "log_config": None,
    "log_level": "critical",
    "access_log": False,
    "server_header": False,
    "limit_concurrency": 1_200,
    "ws": "none",
}


def leave(*_: object) -> None:
    """Handle a signal: the process ends, and what it is at is completed first."""
    raise SystemExit(0)


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; 0 takes any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named in full: only then does asyncio send small answers at once, instead of waiting 40 ms for more to send.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_WAITING)
    except OSError as error:
        listening.close()
        raise StorageFailed(
            f"Cannot listen on {host} port {port}: {error.strerror or error}.",
            hint="Choose another port with --port, or 0 for any free one.",
        ) from None
    return listening


def quiet_settings() -> dict[str, Any]:
    """How uvicorn serves for us: it says nothing, and takes no more than it can serve."""
    return dict(_QUIET)


def loopback_hosts(port: int) -> frozenset[str]:
    """The Host headers that mean this machine and this port."""
    return frozenset([f"{name}:{port}" for name in _NAMES] + (list(_NAMES) if port == 80 else []))


def hurried_protocol() -> type[Any]:
    """HTTP as uvicorn speaks it, but who says nothing whole in a while is sent away: places are few."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Hurried(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(_HEADER_SECONDS, self._give_up)

        def _give_up(self) -> None:
            if getattr(self, "cycle", None) is None and not self.transport.is_closing():
                self.transport.close()

    return Hurried
