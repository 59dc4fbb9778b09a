"""Who may come in over HTTP, and where: shared by the surfaces that listen on a port."""

from quire.surfaces.door.keeper import GRANTED, READ, WRITE, App, Doorkeeper, Receive, Rules, Scope, Send
from quire.surfaces.door.listening import LOOPBACK, hurried_protocol, listen, loopback_hosts, quiet_settings

__all__ = [
    "GRANTED",
    "LOOPBACK",
    "READ",
    "WRITE",
    "App",
    "Doorkeeper",
    "Receive",
    "Rules",
    "Scope",
    "Send",
    "hurried_protocol",
    "listen",
    "loopback_hosts",
    "quiet_settings",
]
