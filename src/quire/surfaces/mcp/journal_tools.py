"""The tools over the journal: what happened in the sessions of a project, and how it is kept up."""

from __future__ import annotations

from quire.surfaces.mcp.journal_workflows import memory_assess, memory_compact_handoff, memory_maintain
from quire.surfaces.mcp.tool import Tool
from quire.verbs.verb import Arguments

_WORKFLOW = {
    "status": "string",
    "summary": "string",
    "suggestedNextAction": "string",
    "details": "object",
    "warnings": "array",
    "errors": "array",
}

JOURNAL: tuple[Tool | str, ...] = (
    Tool(
        name="memory_assess",
        title="How the journal stands",
        says="How the journal of past sessions stands: faults, events that wait to be recalled, automation, and what "
        "to do next. Use it once when a session begins. Not for what was learned: memory_compact_handoff.",
        takes=Arguments,
        gives=_WORKFLOW,
        run=memory_assess,
    ),
    Tool(
        name="memory_maintain",
        title="Keep the journal up",
        says="One round of upkeep: imports what is new in past sessions, recalls it, archives what has aged; says "
        "which files changed. Use it when memory_assess says that something waits, or at the end of a task. Starts "
        "no background process.",
        takes=Arguments,
        gives=_WORKFLOW,
        run=memory_maintain,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="memory_compact_handoff",
        title="Hand over",
        says="What a next session needs to go on: current focus, top traps and next steps, what waits. Use it before "
        "context is compacted or handed over, and when you resume. Not for questions: journal_query.",
        takes=Arguments,
        gives=_WORKFLOW,
        run=memory_compact_handoff,
    ),
    "journal_query",
    "memory_status",
    "memory_validate",
    "journal_recall",
    "journal_sync",
    "automation_status",
    "automation_ensure_running",
    "automation_run_once",
)
