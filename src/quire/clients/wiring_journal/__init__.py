"""How Claude Code and Codex are wired to the journal alone, as `agent-memory integrate` has always done it."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.clients.wiring_journal.components import components_of
    from quire.clients.wiring_journal.engine import look_at, wire
    from quire.clients.wiring_journal.texts import guidance_text, skill_text
    from quire.clients.wiring_journal.types import (
        CLIENTS,
        TARGETS,
        Component,
        ComponentDone,
        ComponentSeen,
        JournalIntegrated,
        JournalIntegration,
    )

__all__ = [
    "CLIENTS",
    "TARGETS",
    "Component",
    "ComponentDone",
    "ComponentSeen",
    "JournalIntegrated",
    "JournalIntegration",
    "components_of",
    "guidance_text",
    "look_at",
    "skill_text",
    "wire",
]

# Which module holds what.
_HOMES = {
    "CLIENTS": "types",
    "TARGETS": "types",
    "Component": "types",
    "ComponentDone": "types",
    "ComponentSeen": "types",
    "JournalIntegrated": "types",
    "JournalIntegration": "types",
    "components_of": "components",
    "guidance_text": "texts",
    "look_at": "engine",
    "skill_text": "texts",
    "wire": "engine",
}

__getattr__ = loader(__name__, _HOMES)
