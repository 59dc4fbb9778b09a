"""What hosts of agents already know: their instructions, rules, notes and records, read into proposals."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.hosts.finding import find_hosts, read_host
    from quire.capture.hosts.types import FILES_MOST, KINDS, HostRead, HostSource

__all__ = ["FILES_MOST", "KINDS", "HostRead", "HostSource", "find_hosts", "read_host"]

# Which module holds what.
_HOMES = {
    "FILES_MOST": "types",
    "KINDS": "types",
    "HostRead": "types",
    "HostSource": "types",
    "find_hosts": "finding",
    "read_host": "finding",
}

__getattr__ = loader(__name__, _HOMES)
