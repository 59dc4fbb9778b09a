"""The tool `memory_compact_handoff`: list what the next session has to know."""

from __future__ import annotations

from typing import Any

from quire.layers.journal.bundles import known, objects_at, shown
from quire.project import Project
from quire.verbs.journal.automate_status import automate_status
from quire.verbs.journal.journal_lines import short
from quire.verbs.journal.journal_state import read_journal
from quire.verbs.journal.status import JournalStatus, RetentionState, journal_status
from quire.verbs.journal.validate import JournalValidate, journal_validate
from quire.verbs.journal.workflow import GIVES, Workflow, workflow_lines
from quire.verbs.verb import Arguments, Tool, Verb

_TOP = 3
_ACTIONS = 4


def compact_handoff(project: Project, given: Arguments) -> Workflow:
    """Say what a next session needs to go on."""
    found = journal_status(project, JournalStatus())
    automation = automate_status(project, given)
    faults = journal_validate(project, JournalValidate()).failed
    bundle = read_journal(project).state.bundle
    steps = objects_at(bundle, "nextSteps")[:_TOP]
    focus = short(shown(bundle, "currentFocus", "summary"))
    groups = found.evidence.grouped_item_count
    waiting = [f"Groups of sessions not merged yet: {groups:,}."] if groups else []
    told = [f"Faults in the journal's files: {faults:,}. memory_validate lists them."] if faults else []
    action = found.tool_action()
    starts = [short(known(step, "start") or shown(step, "title")) for step in steps]
    first = [action] if found.next_command else []
    return Workflow(
        summary=" ".join(text for text in (focus, *waiting, automation.sentence()) if text),
        action=action,
        details={
            "currentFocusSummary": focus,
            "topGotchas": [_pair(item, "cause", "correctPath") for item in objects_at(bundle, "gotchas")[:_TOP]],
            "topNextSteps": [_pair(item, "start", "why") for item in steps],
            "unrecalledGroupedCount": groups,
            "automationSummary": automation.sentence(),
            "retentionSummary": _retention_text(found.retention),
            "recommendedResumeActions": [*first, *(text for text in starts if text)][:_ACTIONS],
        },
        alerts=[*waiting, *told, *automation.faults()],
    )


def _pair(item: dict[str, Any], *names: str) -> str:
    """`title: the first of these that says something`."""
    said = next((text for name in names if (text := known(item, name).strip())), "")
    title = shown(item, "title")
    return short(f"{title}: {said}" if said else title)


def _retention_text(found: RetentionState) -> str:
    if not found.enabled:
        return "Retention is switched off."
    aged = found.candidate_events + found.candidate_checkpoints + found.expired_batches
    return f"Old enough for the archive, or expired in it: {aged:,}." if aged else "Nothing is to be archived."


VERB = Verb(
    run=compact_handoff,
    lines=workflow_lines,
    tool=Tool(
        title="Hand over",
        says="What the next session needs: current focus, main traps, next steps, pending work. Use it before a "
        "compaction or handover, and when you resume. For questions use journal_query.",
        gives=GIVES,
    ),
)
