"""`memory journal`, `memory journal status`, the tool `memory_status`: what waits to be recalled, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, field

from quire.layers.journal.bundle_diff import diff_text
from quire.layers.journal.documents import parse_document, read_run, value_of
from quire.layers.journal.layout import ALL, FOLDER, LATEST_RUN, SCOPES
from quire.layers.journal.store import Journal, held_file
from quire.model.errors import QuireError
from quire.model.text import counted
from quire.project import Project
from quire.verbs.journal.checkpoints import as_state, difference_from, journal_checkpoint, page_diffs
from quire.verbs.journal.journal_lines import FileChange, SourceState, file_diff_lines, short, source_text, told
from quire.verbs.journal.journal_state import read_journal, source_state
from quire.verbs.journal.options import Name
from quire.verbs.journal.recorded_lines import status_lines
from quire.verbs.verb import Arguments, Lines, Option, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.layers.journal.archive import Candidates
    from quire.layers.journal.evidence_groups import GroupedEvidence

_GROUPS = 10
_SIGNALS = 5
_IDS = 20
_CALLS = {
    "recall": "Call journal_recall.",
    "sync --all": "Call journal_sync.",
    "automate run-once": "Call memory_maintain.",
}
"""The tools that do what the journal suggests."""


class JournalStatus(Arguments, frozen=True, kw_only=True):
    checkpoint: Annotated[
        Annotated[Name, Meta(description="compare with this one")] | None,
        Option(metavar="ID", help="Compare the memory with this earlier state instead of the latest one."),
    ] = field(default=None, name="checkpointId")
    show_diff: Annotated[bool, Option(help="Show every file that changes, line by line.")] = field(
        default=False, name="showDiff"
    )


class RetentionState(msgspec.Struct, frozen=True, kw_only=True):
    enabled: bool
    candidate_events: int
    candidate_checkpoints: int
    archive_batches: int
    expired_batches: int
    oldest_archive: str | None

    def tool_fields(self) -> dict[str, Any]:
        return {
            "enabled": self.enabled,
            "pruneCandidateEventCount": self.candidate_events,
            "pruneCandidateCheckpointCount": self.candidate_checkpoints,
            "archiveBatchCount": self.archive_batches,
            "oldestArchiveCreatedAt": self.oldest_archive,
        }


class JournalOverview(Result, kw_only=True):
    """The journal at a glance."""

    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("evidence", "compared", "shows_diff")
    schema_version: int
    generator_version: str
    provider: str
    generated_at: str
    bundle_hash: str
    latest_checkpoint_id: str | None
    checkpoints: int
    events: int
    unrecalled: dict[str, int]
    """By scope: all, local, imports."""
    backlog: list[str]
    sources: list[SourceState]
    drift: dict[str, Any] | None
    """How the memory differs from a checkpoint; None where there is none."""
    file_diffs: list[FileChange] = []
    retention: RetentionState
    automation: dict[str, Any]
    next_action: str
    next_command: str | None
    evidence: GroupedEvidence
    """The events that no recall has looked at, in groups."""
    compared: bool = False
    """Whether it was asked how the memory differs from a checkpoint."""
    shows_diff: bool = False

    def tool_fields(self) -> dict[str, Any]:
        return {
            "state": {
                "schemaVersion": self.schema_version,
                "bundleHash": self.bundle_hash,
                "latestCheckpointId": self.latest_checkpoint_id,
            },
            "history": {"totalEvents": self.events, **self.backlog_fields()},
            "sources": [
                {
                    "id": source.id,
                    "status": source.last_sync_status,
                    "lastSyncedAt": source.last_synced_at,
                    "lastImportedCount": source.last_imported_count,
                    "lastSyncError": source.last_sync_error,
                }
                for source in self.sources
            ],
            "checkpoint": self._drift_fields(self.drift) if self.compared and self.drift else None,
            "unrecalledSummary": _evidence_fields(self.evidence),
            "retention": self.retention.tool_fields(),
            "suggestedNextAction": self.tool_action(),
        }

    def backlog_fields(self) -> dict[str, int]:
        return {f"unrecalled{scope.capitalize()}": count for scope, count in self.unrecalled.items()}

    def tool_action(self) -> str:
        """What the journal suggests, and the tool or the command that does it: in words of ours alone.

        A checkpoint calls itself what it likes, so it is not named: this text stands outside of the marks.
        """
        if self.next_command == "update":
            return "The memory differs from its last saved state: review it, or run `memory journal update`."
        return f"{self.next_action} {_CALLS.get(self.next_command or '', '')}".rstrip()

    def _drift_fields(self, drift: dict[str, Any]) -> dict[str, Any]:
        parts = {name: value for name, value in drift.items() if name != "id"}
        diffs = [{"path": item.path, "diff": item.diff} for item in self.file_diffs]
        return {"checkpointId": drift["id"], **parts, "fileDiffs": diffs}


def _evidence_fields(evidence: GroupedEvidence) -> dict[str, Any]:
    """The latest groups, and of each what it says first: all of them could be a book."""
    groups = []
    for group in evidence.groups[:_GROUPS]:
        fields = msgspec.to_builtins(group)
        fields["eventIds"] = fields["eventIds"][:_IDS]
        fields["representativeSummary"] = short(group.representative_summary)
        fields["signals"] = {name: [short(text) for text in of[:_SIGNALS]] for name, of in fields["signals"].items()}
        groups.append(fields)
    left = len(evidence.groups) - _GROUPS
    return {
        "rawEventCount": evidence.raw_event_count,
        "groupedItemCount": evidence.grouped_item_count,
        "groups": groups,
        **({"moreGroups": left} if left > 0 else {}),
    }


def journal_status(project: Project, given: JournalStatus) -> JournalOverview:
    """Show what is not merged yet, the sources, and what to do next."""
    from quire.layers.journal.archive import find_batches, find_candidates
    from quire.layers.journal.cursors import unrecalled
    from quire.layers.journal.evidence_groups import evidence_lines, group_events

    journal = read_journal(project)
    maintenance = journal.state.maintenance
    events = journal.history.events
    left = {scope: unrecalled(events, maintenance, scope) for scope in SCOPES}
    evidence = group_events(left[ALL])
    candidates = find_candidates(journal, project.world.now())
    batches = find_batches(project.root)
    sources = [source_state(project, source) for source in journal.registry.sources]
    checkpoint = None if given.checkpoint is None else journal_checkpoint(project, given.checkpoint)
    against = given.checkpoint or journal.latest_checkpoint
    drift = difference_from(project, against, journal.state.bundle)
    diffs = []
    if given.show_diff and against is not None and drift is not None and "error" not in drift:
        checkpoint = checkpoint or journal_checkpoint(project, against)
        diffs = page_diffs(as_state(journal.state, checkpoint), journal.state)
    action, command = _next_action(journal, len(left[ALL]), candidates, drift, sources)
    return JournalOverview(
        schema_version=journal.state.schema_version,
        generator_version=journal.state.generator_version,
        provider=journal.state.provider.name,
        generated_at=journal.state.generated_at,
        bundle_hash=journal.state.bundle_hash,
        latest_checkpoint_id=maintenance.latest_checkpoint_id,
        checkpoints=len(journal.checkpoints),
        events=len(events),
        unrecalled={scope: len(found) for scope, found in left.items()},
        backlog=evidence_lines(evidence) if left[ALL] else [],
        sources=sources,
        drift=drift,
        file_diffs=diffs,
        retention=RetentionState(
            enabled=journal.config.is_retaining,
            candidate_events=len(candidates.events),
            candidate_checkpoints=len(candidates.checkpoints),
            archive_batches=len(batches),
            expired_batches=len(candidates.expired),
            oldest_archive=min((batch.manifest.created_at for batch in batches if batch.manifest), default=None),
        ),
        automation=_last_cycle(project),
        next_action=action,
        next_command=command,
        evidence=evidence,
        compared=given.show_diff or given.checkpoint is not None,
        shows_diff=given.show_diff,
        warnings=[*journal.history.problems[:20], *candidates.problems],
    )


def _last_cycle(project: Project) -> dict[str, Any]:
    """The last cycle of the automation, as far as it was noted."""
    try:
        data = held_file(project.root, LATEST_RUN)
        if data is None:
            return {}
        return value_of(read_run(parse_document(data, f"{FOLDER}/{LATEST_RUN}")))
    except QuireError as error:
        return {"error": error.message}


def _next_action(
    journal: Journal, left: int, candidates: Candidates, drift: dict[str, Any] | None, sources: list[SourceState]
) -> tuple[str, str | None]:
    """What to do first."""
    threshold = journal.config.backlog_warn_threshold
    if left > threshold:
        return f"Not merged yet: {left:,}, more than {threshold:g}. Merge them.", "recall"
    if any(source.last_sync_status == "failed" for source in sources):
        return "The last sync of a source failed: sync again.", "sync --all"
    if left:
        return f"Not merged yet: {left:,}. Merge them.", "recall"
    if not candidates.is_empty:
        return "Old sessions can be archived: run a cycle.", "automate run-once"
    if drift and drift.get("changedSections"):
        return f"The memory differs from {drift['id']}: review it, or update.", "update"
    if any(source.last_sync_status == "never" for source in sources):
        return "A source was never synced: sync it.", "sync --all"
    return "Nothing to do.", None


def lines(found: JournalOverview) -> Lines:
    yield f"Sessions and runs in the history: {found.events:,}."
    for group in found.evidence.groups[:_GROUPS]:
        yield told(f"- {short(group.representative_summary)}")
    if len(found.evidence.groups) > _GROUPS:
        yield f"- and {len(found.evidence.groups) - _GROUPS} more"
    for source in found.sources:
        yield told(f"Source {source.id}: {source_text(source)}")
    if found.drift is not None:
        said = found.drift.get("error") or diff_text(found.drift)
        yield told(f"Since {found.drift['id']}: {said}")
    if found.shows_diff:
        yield from file_diff_lines(found.file_diffs)
    old = found.retention.candidate_events, found.retention.candidate_checkpoints
    if any(old):
        yield f"Old enough for the archive: {counted(old[0], 'event')}, {counted(old[1], 'checkpoint')}."
    if found.automation:
        ran = " ".join(str(found.automation.get(name, "")) for name in ("status", "finishedAt"))
        yield told(f"Last cycle: {found.automation.get('error') or ran}")
    yield told(found.next_action) if found.next_command == "update" else found.next_action
    if found.next_command:
        yield f"`memory journal {found.next_command}`"


def overview(project: Project, _given: Arguments) -> JournalOverview:
    """The journal: what happened in this project's sessions, and what was learned.

    Kept in .agent-memory/, with pages to read in docs/agent-memory/. Works with and without the rest of the memory,
    and needs no model. Also installed as agent-memory. Without a verb, shows the status.
    """
    return journal_status(project, JournalStatus())


GROUP = Verb(
    run=overview,
    lines=lines,
    recorded_lines=status_lines,
    alone=True,
    examples="""Examples:
  memory journal init                            create the journal from the project's files
  memory journal add claude-local ~/.claude      where an agent keeps its sessions
  memory journal sync --all                      import what is new in them
  memory journal recall                          merge it into the memory
  memory journal query "what changed?"           ask
""",
)

VERB = Verb(
    takes=JournalStatus,
    run=journal_status,
    lines=lines,
    recorded_lines=status_lines,
    examples="Examples:\n  memory journal status\n  memory journal status --checkpoint chk-000001 --show-diff\n",
    tool=Tool(
        title="The journal in numbers",
        says="Counts of the journal, what is not merged yet in groups, sources, differences from an earlier state. Use "
        "it for details after memory_assess.",
        gives={
            "state": "object",
            "history": "object",
            "sources": "array",
            "unrecalledSummary": "object",
            "retention": "object",
            "suggestedNextAction": "string",
        },
    ),
)
