"""`memory journal recall`, the tool `journal_recall`: work pending events into the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta
from msgspec.structs import replace

from quire.layers.journal.bundle_diff import BundleDiff, diff_bundles, diff_text, diff_value
from quire.layers.journal.bundles import merge_sections, objects_at
from quire.layers.journal.layout import ALL, LOCAL_PROVIDER, POLICIES, SCOPES, SECTIONS
from quire.layers.journal.store import Journal, Writing
from quire.layers.journal.types import Bundle, JournalEvent
from quire.model.errors import Conflict
from quire.model.records import Problem
from quire.project import Project
from quire.verbs.journal.checkpoints import difference_from, journal_checkpoint
from quire.verbs.journal.journal_lines import FileChange
from quire.verbs.journal.journal_state import (
    ask_model,
    change_journal,
    journal_time,
    model_warnings,
    plan_journal,
    plan_pages,
    provider_name,
    read_journal,
    sift_rejected,
    sift_rejected_diff,
    sift_rejected_events,
)
from quire.verbs.journal.model_requests import recall_request
from quire.verbs.journal.options import DryRun, Provider, Yes
from quire.verbs.journal.recall_lines import lines
from quire.verbs.journal.recorded_lines import recalled_lines
from quire.verbs.verb import Arguments, Option, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.layers.journal.cursors import RecallScope
    from quire.layers.journal.dedupe import Deduped
    from quire.layers.journal.evidence_groups import GroupedEvidence

_NO_EVENTS = "All sessions in this scope were merged already."
_NOTHING_NEW = "They say nothing new."


class JournalRecall(Arguments, frozen=True, kw_only=True):
    yes: Yes = False
    source: Annotated[
        Literal["all", "local", "imports"] | None,
        Meta(description="events of sessions (imports), of commands (local)"),
        Option(
            metavar="SCOPE",
            choices=SCOPES,
            help="What to merge: sessions (imports), runs of commands (local), or all.",
        ),
    ] = None
    section: Annotated[
        Literal["all", "project", "project-map", "current-focus", "gotchas", "next-steps", "validation-commands"]
        | None,
        Option(metavar="NAME", choices=SECTIONS, help="Change only this section."),
    ] = None
    policy: Annotated[
        str | None,
        Option(
            metavar="NAME",
            choices=POLICIES,
            help="A rule for this recall: what counts, or which section to keep unchanged.",
            tool=False,
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        Option(metavar="ID", help="Compare the result with this earlier state instead of the latest one.", tool=False),
    ] = None
    show_diff: Annotated[bool | None, Option(help="Show every file that changes, line by line.", tool=False)] = None
    """By default as the settings say."""
    provider: Provider = None
    dry_run: DryRun = False


class JournalRecalled(Result, kw_only=True):
    """What a recall did, or would do."""

    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("expects", "memory", "baseline")
    source: str
    section: str
    policy: str
    protected: list[str] = []
    provider: str
    raw_event_count: int = 0
    grouped_item_count: int = 0
    backlog: list[str] = []
    """The grouped evidence in a few lines."""
    applied: bool = False
    dry_run: bool = False
    noop_reason: str | None = None
    """Why there is nothing to do; None where there is something."""
    pages_anew: bool = False
    """Whether pages were written for a memory that stays as it is."""
    changed_sections: list[str] = []
    diff: dict[str, Any] = {}
    summary: str = ""
    planned: list[FileChange] = []
    memory: dict[str, Any] = {}
    """What the memory holds before and after, in numbers."""
    baseline: dict[str, Any] | None = None
    """How the result differs from a checkpoint."""
    checkpoint: str | None = None
    event: str | None = None
    expects: str = ""
    """What the plan was made from; an application of it is refused where that changed."""
    cost_usd: float = 0.0


def journal_recall(project: Project, given: JournalRecall, *, expects: str = "") -> JournalRecalled:
    """Merge new sessions into the journal's memory.

    What they say is grouped, without repetitions. On a terminal the command shows the result and asks before it writes.
    With --yes, or after that question, it also adds its section to AGENTS.md where that is missing. Defaults are in
    .agent-memory/config.json.
    """
    from quire.layers.journal.cursors import recall_scope

    journal = read_journal(project)
    if given.checkpoint is not None:
        journal_checkpoint(project, given.checkpoint)
    scope = recall_scope(journal.config, source=given.source, section=given.section, policy=given.policy)
    name = provider_name(given.provider)
    shows = journal.config.shows_diff if given.show_diff is None else given.show_diff
    proposal = _asked_recall(project, journal, scope, name) if name != LOCAL_PROVIDER else None

    def plan(fresh: Journal) -> tuple[JournalRecalled, Writing | None]:
        result, writing = _recalling(project, fresh, scope, name, proposal, given.checkpoint, shows, given.yes)
        if expects and result.expects != expects:
            raise Conflict(
                "Another process changed the journal since the preview.",
                hint="Nothing was written. Run the command again to see the current plan.",
            )
        if given.dry_run:
            result.dry_run = True
            return result, None
        result.applied = writing is not None and result.noop_reason is None
        result.pages_anew = result.noop_reason is not None and bool(result.planned)
        return result, writing

    return plan(journal)[0] if given.dry_run else change_journal(project, "recall", plan)


def _recalling(
    project: Project,
    journal: Journal,
    scope: RecallScope,
    provider: str,
    proposal: tuple[str, Bundle, float, list[Problem]] | None,
    checkpoint: str | None,
    shows: bool,
    agreed: bool,
) -> tuple[JournalRecalled, Writing | None]:
    from quire.layers.journal.cursors import advanced, unrecalled
    from quire.layers.journal.evidence_groups import evidence_lines, group_events
    from quire.layers.journal.state_changes import counted_maintenance, write_bundle

    events = unrecalled(journal.history.events, journal.state.maintenance, scope.source)
    evidence = group_events(sift_rejected_events(project, events)[0])
    expects = f"{journal.state.bundle_hash}:{events[-1].id if events else ''}:{len(events)}"
    result = JournalRecalled(
        source=scope.source,
        section=scope.section,
        policy=scope.policy,
        protected=list(scope.protected),
        provider=provider,
        raw_event_count=evidence.raw_event_count,
        grouped_item_count=evidence.grouped_item_count,
        backlog=evidence_lines(evidence) if events else [],
        expects=expects,
    )
    if not events:
        result.noop_reason = _NO_EVENTS
        result.planned = plan_pages(project, journal.state, shows, agreed)
        return result, Writing(pages=True, entry=agreed) if result.planned else None
    found, diff = _proposed(project, journal, evidence, scope, proposal, result, expects)
    result.diff = diff_value(diff)
    result.changed_sections = list(diff.changed_sections)
    result.summary = diff_text(result.diff)
    now = journal_time(project)
    if diff.is_empty:
        result.noop_reason = _NOTHING_NEW
        result.planned = plan_pages(project, journal.state, shows, agreed)
        writing = Writing(pages=bool(result.planned), entry=agreed)
        if scope.section != ALL:
            return result, writing if writing.pages else None
        maintenance = advanced(counted_maintenance(journal), journal.history.events, events, now)
        return result, replace(writing, state=replace(journal.state, maintenance=maintenance))
    writing = write_bundle(
        journal,
        found.bundle,
        command="recall",
        now=now,
        diff=result.diff,
        # What was looked at for one section only is still to be looked at for the others.
        recalled=events if scope.section == ALL else (),
    )
    if writing.state is not None and writing.checkpoint is not None:
        result.planned = plan_journal(project, writing.state, diffs=shows, agreed=agreed)
        result.memory = _in_numbers(journal.state.bundle, found.bundle, result)
        result.baseline = difference_from(project, checkpoint or journal.latest_checkpoint, found.bundle)
        result.checkpoint, result.event = writing.checkpoint.id, writing.events[0].id
    return result, replace(writing, entry=agreed)


def _proposed(
    project: Project,
    journal: Journal,
    evidence: GroupedEvidence,
    scope: RecallScope,
    proposal: tuple[str, Bundle, float, list[Problem]] | None,
    result: JournalRecalled,
    expects: str,
) -> tuple[Deduped, BundleDiff]:
    from quire.capture.repository.consolidation import consolidated
    from quire.layers.journal.dedupe import dedupe_bundle

    current = journal.state.bundle
    if proposal is None:
        found = consolidated(current, evidence, section=scope.section, protected=scope.protected)
    else:
        made_from, bundle, result.cost_usd, warnings = proposal
        result.warnings += warnings
        if made_from != expects:
            raise Conflict(
                "Another process changed the journal in the meantime.",
                hint="Nothing was written. Run the command again.",
            )
        found = dedupe_bundle(merge_sections(current, bundle, scope.section, scope.protected), current)
    found = replace(found, bundle=sift_rejected(project, found.bundle, result.warnings))
    diff = diff_bundles(
        current,
        found.bundle,
        merged_gotchas=found.merged_gotchas,
        merged_next_steps=found.merged_next_steps,
        section=scope.section,
        protected=scope.protected,
    )
    return found, sift_rejected_diff(project, diff)


def _asked_recall(
    project: Project, journal: Journal, scope: RecallScope, provider: str
) -> tuple[str, Bundle, float, list[Problem]] | None:
    """A model's proposal, and what it was made from; None where there is nothing to ask about."""
    from quire.layers.journal.cursors import unrecalled
    from quire.layers.journal.evidence_groups import group_events

    events: list[JournalEvent] = unrecalled(journal.history.events, journal.state.maintenance, scope.source)
    if not events:
        return None
    from quire.capture.repository.consolidation import consolidated
    from quire.capture.repository.scan import scan_repository

    latest = journal.latest_checkpoint
    evidence = group_events(sift_rejected_events(project, events)[0])
    request = recall_request(
        project.root,
        scan_repository(project.root, project.git),
        journal.state,
        evidence,
        scope.source,
        journal_checkpoint(project, latest) if latest else None,
    )
    answer = ask_model(project, request, provider)
    unseen = answer.left_out.get("UNRECALLED_EVIDENCE_JSON", 0)
    proposal = answer.value
    if unseen:
        # The oldest did not fit; no evidence counts as recalled that nobody looked at.
        rest = replace(evidence, groups=evidence.groups[-unseen:])
        proposal = consolidated(proposal, rest).bundle
    made_from = f"{journal.state.bundle_hash}:{events[-1].id}:{len(events)}"
    return made_from, proposal, answer.cost_usd, model_warnings(answer)


def _in_numbers(before: Bundle, after: Bundle, result: JournalRecalled) -> dict[str, Any]:
    """What the memory holds, before and after."""
    counts = {
        name: {"before": len(objects_at(before, key)), "after": len(objects_at(after, key))}
        for name, key in (("gotchas", "gotchas"), ("nextSteps", "nextSteps"))
    }
    return {**counts, "changedSections": result.changed_sections, **{k: v for k, v in result.diff.items() if v}}


VERB = Verb(
    takes=JournalRecall,
    run=journal_recall,
    lines=lines,
    recorded_lines=recalled_lines,
    writes=True,
    examples="""Examples:
  memory journal recall
  memory journal recall --dry-run --show-diff
  memory journal recall --source imports --section gotchas --yes
""",
    tool=Tool(
        title="Recall past sessions",
        says="Merge new sessions into the memory and its pages; earlier states are kept. Use it for a "
        "recall alone, or with dry_run to preview it; otherwise use memory_maintain.",
        gives={"applied": "boolean", "raw_event_count": "integer", "changed_sections": "array"},
        given={"show_diff": False},
        destructive=True,
    ),
)
