"""Keeping it honest: anchors, product map, guidance, check, status, the registry of projects, reset."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.upkeep.beginning import Initialized, first_brief, initialize
    from quire.upkeep.change_set import ChangeSet, files_changed
    from quire.upkeep.changes import Changes, uncommitted_changes
    from quire.upkeep.check import Checked, check_memory
    from quire.upkeep.export import Holdings, gather_holdings, judge_holdings
    from quire.upkeep.export_formats import EXPORT_FORMATS, Exported, render_export
    from quire.upkeep.flags import flagged_records
    from quire.upkeep.folders import path_from_root
    from quire.upkeep.governing import Governor, inner_path
    from quire.upkeep.guidance import Target, holds_map, install_guidance, refresh_map
    from quire.upkeep.ignore import ensure_ignored
    from quire.upkeep.product_map import render_map
    from quire.upkeep.projects import Registered, Registry
    from quire.upkeep.rebuilding import Rebuilt, rebuild_memory
    from quire.upkeep.reset import Reset, reset_memory
    from quire.upkeep.status import ProjectRow, Status, memory_status
    from quire.upkeep.sync import Synced, sync_memory
    from quire.upkeep.sync_marker import advance_marker
    from quire.upkeep.verdicts import Verdicts
    from quire.upkeep.why import Background, background_of, place_of

__all__ = [
    "EXPORT_FORMATS",
    "Background",
    "ChangeSet",
    "Changes",
    "Checked",
    "Exported",
    "Governor",
    "Holdings",
    "Initialized",
    "ProjectRow",
    "Rebuilt",
    "Registered",
    "Registry",
    "Reset",
    "Status",
    "Synced",
    "Target",
    "Verdicts",
    "advance_marker",
    "background_of",
    "check_memory",
    "ensure_ignored",
    "files_changed",
    "first_brief",
    "flagged_records",
    "gather_holdings",
    "holds_map",
    "initialize",
    "inner_path",
    "install_guidance",
    "judge_holdings",
    "memory_status",
    "path_from_root",
    "place_of",
    "rebuild_memory",
    "refresh_map",
    "render_export",
    "render_map",
    "reset_memory",
    "sync_memory",
    "uncommitted_changes",
]

# Which module holds what.
_HOMES = {
    "EXPORT_FORMATS": "export_formats",
    "Background": "why",
    "ChangeSet": "change_set",
    "Changes": "changes",
    "Checked": "check",
    "Exported": "export_formats",
    "Governor": "governing",
    "Holdings": "export",
    "Initialized": "beginning",
    "ProjectRow": "status",
    "Rebuilt": "rebuilding",
    "Registered": "projects",
    "Registry": "projects",
    "Reset": "reset",
    "Status": "status",
    "Synced": "sync",
    "Target": "guidance",
    "Verdicts": "verdicts",
    "advance_marker": "sync_marker",
    "background_of": "why",
    "check_memory": "check",
    "ensure_ignored": "ignore",
    "files_changed": "change_set",
    "first_brief": "beginning",
    "flagged_records": "flags",
    "gather_holdings": "export",
    "holds_map": "guidance",
    "initialize": "beginning",
    "inner_path": "governing",
    "install_guidance": "guidance",
    "judge_holdings": "export",
    "memory_status": "status",
    "path_from_root": "folders",
    "place_of": "why",
    "rebuild_memory": "rebuilding",
    "refresh_map": "guidance",
    "render_export": "export_formats",
    "render_map": "product_map",
    "reset_memory": "reset",
    "sync_memory": "sync",
    "uncommitted_changes": "changes",
}

__getattr__ = loader(__name__, _HOMES)
