"""Keeping it honest: anchors, product map, guidance, check, status, the registry of projects, reset."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.upkeep.anchors import closeness
    from quire.upkeep.beginning import Initialized, initialize
    from quire.upkeep.changes import Changes, uncommitted_changes
    from quire.upkeep.check import Checked, check_memory
    from quire.upkeep.guidance import Target, brief_for, install_guidance, refresh_map
    from quire.upkeep.product_map import render_map
    from quire.upkeep.projects import Registered, Registry
    from quire.upkeep.reset import Reset, reset_memory
    from quire.upkeep.status import Status, memory_status

__all__ = [
    "Changes",
    "Checked",
    "Initialized",
    "Registered",
    "Registry",
    "Reset",
    "Status",
    "Target",
    "brief_for",
    "check_memory",
    "closeness",
    "initialize",
    "install_guidance",
    "memory_status",
    "refresh_map",
    "render_map",
    "reset_memory",
    "uncommitted_changes",
]

# Which module holds what.
_HOMES = {
    "Changes": "changes",
    "Checked": "check",
    "Initialized": "beginning",
    "Registered": "projects",
    "Registry": "projects",
    "Reset": "reset",
    "Status": "status",
    "Target": "guidance",
    "brief_for": "guidance",
    "check_memory": "check",
    "closeness": "anchors",
    "initialize": "beginning",
    "install_guidance": "guidance",
    "memory_status": "status",
    "refresh_map": "guidance",
    "render_map": "product_map",
    "reset_memory": "reset",
    "uncommitted_changes": "changes",
}

__getattr__ = loader(__name__, _HOMES)
