"""Keeping it honest: anchors, product map, guidance, check, status, the registry of projects, reset."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.upkeep.changes import Changes, uncommitted_changes
    from quire.upkeep.check import Checked, check_memory
    from quire.upkeep.guidance import BRIEF, Target, install_guidance, refresh_map
    from quire.upkeep.ignore import ensure_ignored
    from quire.upkeep.product_map import render_map
    from quire.upkeep.projects import Registered, Registry
    from quire.upkeep.reset import Reset, backups, reset_memory
    from quire.upkeep.status import Status, memory_status

__all__ = [
    "BRIEF",
    "Changes",
    "Checked",
    "Registered",
    "Registry",
    "Reset",
    "Status",
    "Target",
    "backups",
    "check_memory",
    "ensure_ignored",
    "install_guidance",
    "memory_status",
    "refresh_map",
    "render_map",
    "reset_memory",
    "uncommitted_changes",
]

# Which module holds what.
_HOMES = {
    "BRIEF": "guidance",
    "Changes": "changes",
    "Checked": "check",
    "Registered": "projects",
    "Registry": "projects",
    "Reset": "reset",
    "Status": "status",
    "Target": "guidance",
    "backups": "reset",
    "check_memory": "check",
    "ensure_ignored": "ignore",
    "install_guidance": "guidance",
    "memory_status": "status",
    "refresh_map": "guidance",
    "render_map": "product_map",
    "reset_memory": "reset",
    "uncommitted_changes": "changes",
}

__getattr__ = loader(__name__, _HOMES)
