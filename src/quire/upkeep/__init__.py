"""Keeping it honest: anchors, product map, guidance, check, status, the registry of projects, reset."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.upkeep.beginning import LOST, Initialized, first_brief, initialize, restoring_command
    from quire.upkeep.change_set import ChangeSet, files_changed
    from quire.upkeep.changes import Changes, uncommitted_changes
    from quire.upkeep.check import Checked, check_memory
    from quire.upkeep.coverage import Gap
    from quire.upkeep.doctor import (
        ignored_entries,
        look_at_git,
        look_at_index,
        look_at_layers,
        look_at_lock,
        look_at_transactions,
        told_check,
        unfinished_folders,
    )
    from quire.upkeep.export import Holdings, gather_holdings, judge_holdings
    from quire.upkeep.export_formats import EXPORT_FORMATS, Exported, render_export
    from quire.upkeep.findings import Finding, Section, State
    from quire.upkeep.flags import effects_in, flagged_records
    from quire.upkeep.folders import path_from_root
    from quire.upkeep.governing import Governor, inner_path
    from quire.upkeep.guidance import (
        GUIDANCE,
        Target,
        held_map,
        install_guidance,
        missing_maps,
        refresh_map,
        stale_maps,
        without_guidance,
    )
    from quire.upkeep.ignore import ensure_ignored
    from quire.upkeep.installation import (
        CommandSeen,
        dead_projects,
        link_commands,
        look_at_machine,
        look_at_program,
        reach_hint,
        seen_command,
        unreachable,
    )
    from quire.upkeep.product_map import render_map
    from quire.upkeep.projects import Registered, Registry
    from quire.upkeep.rebuilding import Rebuilt, rebuild_memory
    from quire.upkeep.reset import Reset, reset_memory
    from quire.upkeep.reviewed import Reviews, local_folder
    from quire.upkeep.status import ProjectRow, Status, memory_status
    from quire.upkeep.sync import Synced, sync_memory
    from quire.upkeep.sync_marker import advance_marker, newer_marker
    from quire.upkeep.taking_back import Step, events_back, refuse_rejected, refuse_torn, steps_back
    from quire.upkeep.upgrade_command import upgrade_advice
    from quire.upkeep.verdicts import Verdicts, rested_on
    from quire.upkeep.why import Background, background_of, place_of

__all__ = [
    "EXPORT_FORMATS",
    "GUIDANCE",
    "LOST",
    "Background",
    "ChangeSet",
    "Changes",
    "Checked",
    "CommandSeen",
    "Exported",
    "Finding",
    "Gap",
    "Governor",
    "Holdings",
    "Initialized",
    "ProjectRow",
    "Rebuilt",
    "Registered",
    "Registry",
    "Reset",
    "Reviews",
    "Section",
    "State",
    "Status",
    "Step",
    "Synced",
    "Target",
    "Verdicts",
    "advance_marker",
    "background_of",
    "check_memory",
    "dead_projects",
    "effects_in",
    "ensure_ignored",
    "events_back",
    "files_changed",
    "first_brief",
    "flagged_records",
    "gather_holdings",
    "held_map",
    "ignored_entries",
    "initialize",
    "inner_path",
    "install_guidance",
    "judge_holdings",
    "link_commands",
    "local_folder",
    "look_at_git",
    "look_at_index",
    "look_at_layers",
    "look_at_lock",
    "look_at_machine",
    "look_at_program",
    "look_at_transactions",
    "memory_status",
    "missing_maps",
    "newer_marker",
    "path_from_root",
    "place_of",
    "reach_hint",
    "rebuild_memory",
    "refresh_map",
    "refuse_rejected",
    "refuse_torn",
    "render_export",
    "render_map",
    "reset_memory",
    "rested_on",
    "restoring_command",
    "seen_command",
    "stale_maps",
    "steps_back",
    "sync_memory",
    "told_check",
    "uncommitted_changes",
    "unfinished_folders",
    "unreachable",
    "upgrade_advice",
    "without_guidance",
]

# Which module holds what.
_HOMES = {
    "EXPORT_FORMATS": "export_formats",
    "GUIDANCE": "guidance",
    "LOST": "beginning",
    "Background": "why",
    "ChangeSet": "change_set",
    "Changes": "changes",
    "Checked": "check",
    "CommandSeen": "installation",
    "Exported": "export_formats",
    "Finding": "findings",
    "Gap": "coverage",
    "Governor": "governing",
    "Holdings": "export",
    "Initialized": "beginning",
    "ProjectRow": "status",
    "Rebuilt": "rebuilding",
    "Registered": "projects",
    "Registry": "projects",
    "Reset": "reset",
    "Reviews": "reviewed",
    "Section": "findings",
    "State": "findings",
    "Status": "status",
    "Step": "taking_back",
    "Synced": "sync",
    "Target": "guidance",
    "Verdicts": "verdicts",
    "advance_marker": "sync_marker",
    "background_of": "why",
    "check_memory": "check",
    "dead_projects": "installation",
    "effects_in": "flags",
    "ensure_ignored": "ignore",
    "events_back": "taking_back",
    "files_changed": "change_set",
    "first_brief": "beginning",
    "flagged_records": "flags",
    "gather_holdings": "export",
    "held_map": "guidance",
    "ignored_entries": "doctor",
    "initialize": "beginning",
    "inner_path": "governing",
    "install_guidance": "guidance",
    "judge_holdings": "export",
    "link_commands": "installation",
    "local_folder": "reviewed",
    "look_at_git": "doctor",
    "look_at_index": "doctor",
    "look_at_layers": "doctor",
    "look_at_lock": "doctor",
    "look_at_machine": "installation",
    "look_at_program": "installation",
    "look_at_transactions": "doctor",
    "memory_status": "status",
    "missing_maps": "guidance",
    "newer_marker": "sync_marker",
    "path_from_root": "folders",
    "place_of": "why",
    "reach_hint": "installation",
    "rebuild_memory": "rebuilding",
    "refresh_map": "guidance",
    "refuse_rejected": "taking_back",
    "refuse_torn": "taking_back",
    "render_export": "export_formats",
    "render_map": "product_map",
    "reset_memory": "reset",
    "rested_on": "verdicts",
    "restoring_command": "beginning",
    "seen_command": "installation",
    "stale_maps": "guidance",
    "steps_back": "taking_back",
    "sync_memory": "sync",
    "told_check": "doctor",
    "uncommitted_changes": "changes",
    "unfinished_folders": "doctor",
    "unreachable": "installation",
    "upgrade_advice": "upgrade_command",
    "without_guidance": "guidance",
}

__getattr__ = loader(__name__, _HOMES)
