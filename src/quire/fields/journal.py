"""Fields of what the journal answers: its making, recalls, answers, history, sources, faults, automation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.envelope import all_fields, own_fields

if TYPE_CHECKING:
    from quire.clients.wiring_journal.types import ComponentSeen, JournalIntegrated, JournalIntegration

# -- asking -----------------------------------------------------------------------------------


def journal_inspect_fields(found: Any) -> dict[str, Any]:
    """A part of the bundle, an event or a checkpoint in full."""
    return all_fields(found)


# -- making -----------------------------------------------------------------------------------


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
