"""The tools over the journal: what happened in the sessions of a project, and how it is kept up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

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
from quire.surfaces.mcp.tool import Call, Given, Question, Tool
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project

_LISTED = 100
_STATE_MISSING = "state:missing"
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class JournalQueryArguments(Arguments, frozen=True, kw_only=True):
    question: Question
    scope: Annotated[
        Literal["state", "history", "all"],
        msgspec.Meta(description="state: what holds, with checkpoints; history: events"),
    ] = "all"
    archived: bool = False


class MemoryQueryArguments(JournalQueryArguments, frozen=True, kw_only=True):
    output: Annotated[
        Literal["text", "json"], msgspec.Meta(description="makes no difference: the answer is always both")
    ] = "text"


class StatusArguments(Arguments, frozen=True, kw_only=True):
    checkpoint_id: Annotated[Name, msgspec.Meta(description="compare with this one")] | None = msgspec.field(
        default=None, name="checkpointId"
    )
    show_diff: bool = msgspec.field(default=False, name="showDiff")


def journal_query(project: Project, given: JournalQueryArguments, call: Call) -> Given:
    from quire.fields.journal import journal_answer_fields
    from quire.surfaces.mcp.answers import fenced_text, with_flags
    from quire.verbs.journal.ask import journal_query as journal_query_of

    found = journal_query_of(project, given.question, scope=given.scope, archived=given.archived)
    fields = journal_answer_fields(found)
    fields["sufficient"] = found.sufficient
    fields["citations"] = [
        with_flags({"ref": item.ref, "origin": item.source_type, **row}, "summary")
        for item, row in zip(found.citations, fields["citations"], strict=True)
    ]
    pages = [f" -> {item.projection_path}" if item.projection_path else "" for item in found.citations]
    cited = [f"- {item.ref}: {item.summary}{page}" for item, page in zip(found.citations, pages, strict=True)]
    told = "\n".join([found.answer, "", f"Why: {found.why}", "Citations:" if cited else "Citations: none", *cited])
    text = "\n".join([f"Mode: {found.mode}", call.fence.notice(), fenced_text(told, call.fence, origin="journal")])
    return Given(fields=fields, text=text, warnings=found.warnings)


def memory_status(project: Project, given: StatusArguments, call: Call) -> Given:
    from quire.surfaces.mcp.answers import fenced_text
    from quire.surfaces.mcp.journal_shown import backlog_of, status_fields
    from quire.verbs.journal.ask import journal_status

    found = journal_status(project, checkpoint=given.checkpoint_id, diffs=given.show_diff)
    compared = given.show_diff or given.checkpoint_id is not None
    fields = status_fields(found, backlog_of(project)[1], compared=compared)
    left, failed = found.unrecalled, sum(source.last_sync_status == "failed" for source in found.sources)
    told = [
        f"Latest checkpoint: {found.latest_checkpoint_id or 'none'}",
        f"Events that wait to be recalled: {left['all']} ({left['local']} local, {left['imports']} imported)",
        *found.backlog,
        f"Sources: {len(found.sources)}, of which the last sync failed: {failed}",
        f"To be archived: {found.retention.candidate_events} events, "
        f"{found.retention.candidate_checkpoints} checkpoints",
    ]
    drift = fields["checkpoint"]
    if drift:
        changed = drift.get("error") or ", ".join(drift["changedSections"]) or "nothing"
        told.append(f"Changed since checkpoint {drift['checkpointId']}: {changed}")
        told += [item["diff"] for item in drift["fileDiffs"]]
    action = f"Suggested next action: {fields['suggestedNextAction']}"
    text = "\n".join([action, call.fence.notice(), fenced_text("\n".join(told), call.fence, origin="journal")])
    return Given(fields=fields, text=text, warnings=found.warnings)


def memory_validate(project: Project, given: Arguments, call: Call) -> Given:
    from quire.surfaces.mcp.journal_shown import finding_fields
    from quire.verbs.journal.ask import journal_validate
    from quire.verbs.journal.sources import journal_sources

    checked = journal_validate(project)
    if any(item["code"] == _STATE_MISSING for item in checked.findings):
        journal_sources(project)  # which says what is missing, and what to do
    bad = [item for level in ("fail", "warn") for item in checked.findings if item["level"] == level]
    fields: dict[str, Any] = {
        "failCount": checked.failed,
        "warnCount": checked.warned,
        "passCount": checked.passed,
        "findings": [finding_fields(item) for item in bad[:_LISTED]],
    }
    return Given(fields={**fields, "more": len(bad) - _LISTED} if len(bad) > _LISTED else fields)


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
    Tool(
        name="journal_query",
        title="Ask the journal",
        says="Answers a question from the journal alone: what changed (since a day), what comes next, which traps "
        "there are, what a session found. Quotes with refs, or says that there is not enough. Not for decisions or "
        "facts of the product: query_memory.",
        takes=JournalQueryArguments,
        gives={"mode": "string", "answer": "string", "why": "string", "citations": "array"},
        run=journal_query,
    ),
    Tool(
        name="memory_status",
        title="The journal in numbers",
        says="Counts of the journal, what waits to be recalled in groups, its sources, how it differs from a "
        "checkpoint. Use it for details after memory_assess.",
        takes=StatusArguments,
        gives={
            "state": "object",
            "history": "object",
            "sources": "array",
            "unrecalledSummary": "object",
            "retention": "object",
            "suggestedNextAction": "string",
        },
        run=memory_status,
    ),
    Tool(
        name="memory_validate",
        title="Faults of the journal",
        says="Faults in the journal's files, each with what to do. Use it when memory_assess says fail. Mends nothing. "
        "For the other layers: check_memory.",
        takes=Arguments,
        gives={"failCount": "integer", "warnCount": "integer", "passCount": "integer", "findings": "array"},
        run=memory_validate,
    ),
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

JOURNAL_ALONE = (
    msgspec.structs.replace(
        next(tool for tool in JOURNAL if tool.name == "journal_query"),
        name="memory_query",
        says="The same as journal_query, under the name that other programs know.",
        takes=MemoryQueryArguments,
    ),
)
"""What a server of the journal alone has besides: elsewhere this name belongs to the facts."""
