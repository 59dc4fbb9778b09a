"""What happened worked into the memory: `recall`, with its preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.layers.journal.layout import ALL, LOCAL_PROVIDER, POLICIES, SCOPES, SECTIONS
from quire.model.errors import Conflict, InputError
from quire.project import Project
from quire.verbs.journal.checkpoints import difference_from, journal_checkpoint
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
from quire.verbs.journal.results import Recalled

if TYPE_CHECKING:
    from quire.layers.journal.bundle_diff import BundleDiff
    from quire.layers.journal.cursors import RecallScope
    from quire.layers.journal.dedupe import Deduped
    from quire.layers.journal.evidence_groups import GroupedEvidence
    from quire.layers.journal.store import Journal, Writing
    from quire.layers.journal.types import Bundle, JournalEvent

_NO_EVENTS = "There are no events in this scope that no recall has looked at."
_NOTHING_NEW = "These events say nothing that the memory does not say already."


def journal_recall(
    project: Project,
    *,
    source: str | None = None,
    section: str | None = None,
    policy: str | None = None,
    checkpoint: str | None = None,
    provider: str | None = None,
    diffs: bool | None = None,
    dry_run: bool = False,
    agreed: bool = False,
    expects: str = "",
) -> Recalled:
    """Work the history that nobody has looked at into the memory; with `dry_run`, say what that would do.

    The entry block goes into a file that has none only where a person has `agreed`. `expects` is what a preview
    gave: where the journal changed since, nothing is written.
    """
    from quire.layers.journal.cursors import recall_scope

    for value, allowed, field in (
        (source, SCOPES, "source"),
        (section, SECTIONS, "section"),
        (policy, POLICIES, "policy"),
    ):
        if value is not None and value not in allowed:
            raise InputError(
                f"`{value[:40]}` is no {field} of a recall.",
                hint=f"It is one of {', '.join(allowed)}.",
                details={"field": field, "allowed": list(allowed)},
            )
    journal = read_journal(project)
    if checkpoint is not None:
        journal_checkpoint(project, checkpoint)
    scope = recall_scope(journal.config, source=source, section=section, policy=policy)
    name = provider_name(provider)
    shows = journal.config.shows_diff if diffs is None else diffs
    proposal = _asked_recall(project, journal, scope, name) if name != LOCAL_PROVIDER else None

    def plan(fresh: Journal) -> tuple[Recalled, Writing | None]:
        result, writing = _recalling(project, fresh, scope, name, proposal, checkpoint, shows, agreed)
        if expects and result.expects != expects:
            raise Conflict(
                "The journal was changed by somebody else since the preview.",
                hint="Run the command again to see what would be done now; nothing was written.",
            )
        if dry_run:
            return result, None
        result.applied = writing is not None and result.noop_reason is None
        result.pages_anew = result.noop_reason is not None and bool(result.planned)
        return result, writing

    return plan(journal)[0] if dry_run else change_journal(project, "recall", plan)


def _recalling(
    project: Project,
    journal: Journal,
    scope: RecallScope,
    provider: str,
    proposal: tuple[str, Bundle, float, list[Any]] | None,
    checkpoint: str | None,
    shows: bool,
    agreed: bool,
) -> tuple[Recalled, Writing | None]:
    from msgspec.structs import replace

    from quire.layers.journal.bundle_diff import diff_text, diff_value
    from quire.layers.journal.cursors import advanced, unrecalled
    from quire.layers.journal.evidence_groups import evidence_lines, group_events
    from quire.layers.journal.state_changes import counted_maintenance, write_bundle
    from quire.layers.journal.store import Writing

    events = unrecalled(journal.history.events, journal.state.maintenance, scope.source)
    evidence = group_events(sift_rejected_events(project, events)[0])
    expects = f"{journal.state.bundle_hash}:{events[-1].id if events else ''}:{len(events)}"
    result = Recalled(
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
    proposal: tuple[str, Bundle, float, list[Any]] | None,
    result: Recalled,
    expects: str,
) -> tuple[Deduped, BundleDiff]:
    from msgspec.structs import replace

    from quire.capture.repository.consolidation import consolidated
    from quire.layers.journal.bundle_diff import diff_bundles
    from quire.layers.journal.bundles import merge_sections
    from quire.layers.journal.dedupe import dedupe_bundle

    current = journal.state.bundle
    if proposal is None:
        found = consolidated(current, evidence, section=scope.section, protected=scope.protected)
    else:
        made_from, bundle, result.cost_usd, warnings = proposal
        result.warnings += warnings
        if made_from != expects:
            raise Conflict(
                "The journal was changed by somebody else while the proposal was made.",
                hint="Run the command again; nothing was written.",
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
) -> tuple[str, Bundle, float, list[Any]] | None:
    """A model's proposal, and what it was made from; None where there is nothing to ask about."""
    from quire.layers.journal.cursors import unrecalled
    from quire.layers.journal.evidence_groups import group_events

    events: list[JournalEvent] = unrecalled(journal.history.events, journal.state.maintenance, scope.source)
    if not events:
        return None
    from msgspec.structs import replace

    from quire.capture.repository.consolidation import consolidate
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
    answer = ask_model(project, "recall", request, provider)
    unseen = answer.left_out.get("UNRECALLED_EVIDENCE_JSON", 0)
    proposal = answer.value
    if unseen:
        # The oldest did not fit; no evidence counts as recalled that nobody looked at.
        rest = replace(evidence, groups=evidence.groups[-unseen:])
        proposal = consolidate(proposal, rest)
    made_from = f"{journal.state.bundle_hash}:{events[-1].id}:{len(events)}"
    return made_from, proposal, answer.cost_usd, model_warnings(answer)


def _in_numbers(before: Bundle, after: Bundle, result: Recalled) -> dict[str, Any]:
    """What the memory holds, before and after."""
    from quire.layers.journal.bundles import objects_at

    counts = {
        name: {"before": len(objects_at(before, key)), "after": len(objects_at(after, key))}
        for name, key in (("gotchas", "gotchas"), ("nextSteps", "nextSteps"))
    }
    return {**counts, "changedSections": result.changed_sections, **{k: v for k, v in result.diff.items() if v}}
