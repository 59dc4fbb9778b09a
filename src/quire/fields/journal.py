"""Fields of what the journal answers: its making, recalls, answers, history, sources, faults, automation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.fields.envelope import all_fields, own_fields

if TYPE_CHECKING:
    from quire.clients.wiring_journal.types import ComponentSeen, JournalIntegrated, JournalIntegration

# -- asking -----------------------------------------------------------------------------------


def journal_inspect_fields(found: Any) -> dict[str, Any]:
    """A part of the bundle, an event or a checkpoint in full."""
    return all_fields(found)


# -- making -----------------------------------------------------------------------------------


def journal_refresh_fields(done: Any) -> dict[str, Any]:
    """What a look at the project made of the journal, or would make."""
    return own_fields(done)


def journal_recall_fields(done: Any) -> dict[str, Any]:
    """What was worked into the memory, or would be."""
    return own_fields(done)


def journal_restore_fields(done: Any) -> dict[str, Any]:
    """A checkpoint or a batch that was brought back."""
    return own_fields(done)


# -- sources ----------------------------------------------------------------------------------


def journal_source_fields(done: Any) -> dict[str, Any]:
    """The source that was added or removed."""
    return own_fields(done)


def journal_sources_fields(found: Sequence[Any]) -> dict[str, Any]:
    """Every source, and how its last sync went."""
    return {"sources": msgspec.to_builtins(found)}


def journal_sync_fields(done: Any) -> dict[str, Any]:
    """What was imported from each source, or would be."""
    return own_fields(done)


# -- automation -------------------------------------------------------------------------------


def journal_run_once_fields(cycle: Any) -> dict[str, Any]:
    """What one cycle did."""
    return all_fields(cycle)


def journal_start_fields(done: Any | None) -> dict[str, Any]:
    """The process that was started or ran already; None where it could not be."""
    return {"pid": None, "started": False} if done is None else all_fields(done)


def journal_stop_fields(done: Any) -> dict[str, Any]:
    """The process that was ended, if one ran."""
    return all_fields(done)


def journal_automation_fields(found: Any) -> dict[str, Any]:
    """Whether the process runs, and how the last cycles went."""
    return own_fields(found)


# -- clients ----------------------------------------------------------------------------------


def journal_integrated_fields(done: JournalIntegrated) -> dict[str, Any]:
    """What was written for Claude Code and Codex, or would be."""
    return {**own_fields(done), "complete": done.is_clean}


def journal_integration_fields(found: JournalIntegration) -> dict[str, Any]:
    """How Claude Code and Codex are wired, in the form that other programs know."""
    return {
        "target": found.target,
        "healthy": found.healthy,
        "claude": {part.key: _component_fields(part) for part in found.parts if part.client == "claude"},
        "codex": {part.key: _component_fields(part) for part in found.parts if part.client == "codex"},
        "warnings": list(found.warnings),
        "missingItems": list(found.missing),
        "suggestedNextAction": found.advice,
    }


def _component_fields(part: ComponentSeen) -> dict[str, Any]:
    return {"status": part.status, "path": part.path, "scope": part.scope, "note": part.note}
