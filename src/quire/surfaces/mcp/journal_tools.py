"""The tools over the journal: what happened in the sessions of a project, and how it is kept up."""

from __future__ import annotations

from quire.surfaces.mcp.journal_keeping import (
    JournalRecallArguments,
    JournalSyncArguments,
    automation_ensure_running,
    automation_run_once,
    automation_status,
    journal_recall,
    journal_sync,
)
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

JOURNAL = (
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
    Tool(
        name="journal_recall",
        title="Recall past sessions",
        says="Works events that nobody has looked at into the memory and its pages; earlier states stay as "
        "checkpoints. Use it when only a recall is wanted, or with dry_run to see it first; otherwise memory_maintain.",
        takes=JournalRecallArguments,
        gives={"applied": "boolean", "raw_event_count": "integer", "changed_sections": "array"},
        run=journal_recall,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="journal_sync",
        title="Import sessions",
        says="Imports what is new in the registered places where agents keep sessions. Recalls nothing: for both use "
        "memory_maintain.",
        takes=JournalSyncArguments,
        gives={"sources": "array", "imported": "integer", "skipped": "integer", "failed": "integer"},
        run=journal_sync,
        writes=True,
    ),
    Tool(
        name="automation_status",
        title="Automation",
        says="Whether a background process keeps the journal, and how the last cycle went. Not for what is in it: "
        "memory_status.",
        takes=Arguments,
        gives={"running": "boolean"},
        run=automation_status,
    ),
    Tool(
        name="automation_ensure_running",
        title="Start the automation",
        says="Starts the background process that runs a cycle every so many minutes and ends after a day, unless it "
        "runs. Only where the user asked for it; otherwise memory_maintain.",
        takes=Arguments,
        gives={"started": "boolean", "pid": "integer"},
        run=automation_ensure_running,
        writes=True,
    ),
    Tool(
        name="automation_run_once",
        title="Run one cycle",
        says="Runs one cycle of the automation now, and gives its record. memory_maintain does the same and says more.",
        takes=Arguments,
        gives={"status": "string", "busy": "boolean"},
        run=automation_run_once,
        writes=True,
        destructive=True,
    ),
)
