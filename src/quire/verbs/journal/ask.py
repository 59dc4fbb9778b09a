"""What the journal can be asked: its state, its history, what changed between two checkpoints, questions, faults."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from quire.layers.journal.layout import ALL, FOLDER, LOCAL_PROVIDER, SCOPES, SECTION_KEYS, STATE
from quire.model import limits
from quire.model.errors import InputError, NotFound, QuireError, UnsupportedVersion
from quire.model.records import Problem, Record
from quire.model.refs import parse_ref
from quire.model.text import cut
from quire.project import Project
from quire.verbs.journal.journal_state import (
    ask_model,
    journal_locked,
    journal_ready,
    provider_name,
    read_journal,
    source_state,
    write_due_pages,
)
from quire.verbs.journal.model_requests import question_request
from quire.verbs.journal.recall import recall_against
from quire.verbs.journal.restore import journal_checkpoint
from quire.verbs.journal.results import (
    Checkpoints,
    Compared,
    FileChange,
    HistoryEntry,
    InspectedJournal,
    JournalItem,
    JournalStatus,
    RetentionState,
    Validated,
)

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.journal.archive import Batch, Candidates
    from quire.layers.journal.evidence_groups import GroupedEvidence
    from quire.layers.journal.store import Journal
    from quire.layers.journal.types import Checkpoint, State
    from quire.retrieval.journal.answer import JournalAnswer

_LEVELS = {"pass": "pass", "warning": "warn", "error": "fail"}
"""How `journal validate` calls the severities of what it found."""
_QUERY_SCOPES = ("state", "history", ALL)
_STATE = "state"
Scope = Literal["state", "history", "all"]


# -- status -----------------------------------------------------------------------------


def journal_status(project: Project, *, checkpoint: str | None = None, diffs: bool = False) -> JournalStatus:
    """The journal at a glance, and what to do next."""
    from quire.layers.journal.archive import find_batches, find_candidates
    from quire.layers.journal.cursors import unrecalled
    from quire.layers.journal.evidence_groups import group_events
    from quire.layers.journal.evidence_text import evidence_lines

    journal = read_journal(project)
    maintenance = journal.state.maintenance
    events = journal.history.events
    left = {scope: unrecalled(events, maintenance, scope) for scope in SCOPES}
    evidence: GroupedEvidence = group_events(left[ALL])
    candidates = find_candidates(journal, project.world.now())
    batches = find_batches(project.root)
    sources = [source_state(project, source) for source in journal.registry.sources]
    if checkpoint is not None:
        journal_checkpoint(project, checkpoint)
    against = checkpoint or journal.latest_checkpoint
    drift = recall_against(project, against, journal.state.bundle)
    action, command = _next_action(journal, len(left[ALL]), candidates, drift, sources)
    return JournalStatus(
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
        file_diffs=_file_diffs(project, journal.state, against, drift) if diffs else [],
        retention=RetentionState(
            enabled=journal.config.is_retaining,
            candidate_events=len(candidates.events),
            candidate_checkpoints=len(candidates.checkpoints),
            archive_batches=len(batches),
            expired_batches=len(candidates.expired),
            oldest_archive=_oldest(batches),
        ),
        automation=_automation_state(project),
        next_action=action,
        next_command=command,
        warnings=[*journal.history.problems[:20], *candidates.problems],
    )


def _automation_state(project: Project) -> dict[str, Any]:
    """The last cycle, as far as it was noted."""
    from quire.layers.journal.documents import parse_document, read_run, value_of
    from quire.layers.journal.layout import LATEST_RUN
    from quire.layers.journal.store import held_file

    try:
        data = held_file(project.root, LATEST_RUN)
        if data is None:
            return {}
        return value_of(read_run(parse_document(data, f"{FOLDER}/{LATEST_RUN}")))
    except QuireError as error:
        return {"error": error.message}


def _file_diffs(project: Project, state: State, name: str | None, drift: dict[str, Any] | None) -> list[FileChange]:
    """The pages as the checkpoint of this name would have them against those of the memory."""
    if name is None or drift is None or "error" in drift:
        return []
    before = journal_checkpoint(project, name)
    return _page_diffs(_as_state(state, before), state)


def _as_state(state: State, checkpoint: Checkpoint) -> State:
    """A checkpoint in the form of a state."""
    from msgspec.structs import replace

    return replace(
        state,
        bundle=checkpoint.bundle,
        bundle_hash=checkpoint.bundle_hash,
        generated_at=checkpoint.created_at,
    )


def _page_diffs(before: State, after: State) -> list[FileChange]:
    from quire.layers.journal.line_diff import diff_lines, shortened
    from quire.layers.journal.projections import render_projections

    found = []
    pairs = zip(render_projections(before), render_projections(after), strict=True)
    for old, new in pairs:
        # The first line only says from which bundle the page is.
        made = diff_lines(old.text.partition("\n")[2], new.text.partition("\n")[2], new.path)
        if made and new.file_id != "readme":
            found.append(FileChange(kind="DIFF", path=new.path, note="", diff=shortened(made)))
    return found


# -- history ----------------------------------------------------------------------------


def journal_log(
    project: Project, *, limit: int = 20, events: bool = False, archived: bool = False, source: str | None = None
) -> Checkpoints:
    """The checkpoints, newest first; or the events."""
    journal = read_journal(project)
    problems: list[Problem] = []
    found = list(_events(project, journal, archived) if events else _checkpoints(project, journal, archived, problems))
    if source is not None:
        found = [entry for entry in found if entry.source == source]
    return Checkpoints(
        results=found[:limit] if limit > 0 else found,
        total=len(found),
        warnings=problems if not events else list(journal.history.problems[:20]),
    )


def _events(project: Project, journal: Journal, archived: bool) -> Iterator[HistoryEntry]:
    from quire.layers.journal.archive import find_batches
    from quire.layers.journal.layout import BATCH_EVENTS
    from quire.layers.journal.store import load_history

    parts: list[tuple[str | None, Any]] = [(None, journal.history)]
    if archived:
        parts += [
            (batch.name, load_history(project.root, f"{batch.path}/{BATCH_EVENTS}"))
            for batch in reversed(find_batches(project.root))
        ]
    for batch_name, history in parts:
        for event in reversed(history.events):
            yield HistoryEntry(
                ref=f"event:{event.id}",
                id=event.id,
                kind=event.kind,
                created_at=event.created_at,
                summary=event.summary,
                source=event.source_id,
                archived=batch_name is not None,
                batch=batch_name,
            )


def _checkpoints(project: Project, journal: Journal, archived: bool, problems: list[Problem]) -> Iterator[HistoryEntry]:
    from quire.layers.journal.archive import find_batches
    from quire.layers.journal.bundle_diff import diff_bundles
    from quire.layers.journal.layout import BATCH_CHECKPOINTS, CHECKPOINTS
    from quire.layers.journal.store import checkpoint_ids, load_checkpoint

    places: list[tuple[str, str | None]] = [(CHECKPOINTS, None)]
    if archived:
        places += [(f"{batch.path}/{BATCH_CHECKPOINTS}", batch.name) for batch in reversed(find_batches(project.root))]
    held: list[tuple[Checkpoint, str | None]] = []
    for folder, batch_name in places:
        for name in reversed(checkpoint_ids(project.root, folder)):
            try:
                held.append((load_checkpoint(project.root, name, folder), batch_name))
            except QuireError as error:
                problems.append(Problem(code=error.code, severity="warning", message=error.message))
    latest = journal.state.maintenance.latest_checkpoint_id
    for number, (checkpoint, batch_name) in enumerate(held):
        older = held[number + 1][0].bundle if number + 1 < len(held) else {}
        yield HistoryEntry(
            ref=f"checkpoint:{checkpoint.id}",
            id=checkpoint.id,
            kind="checkpoint",
            created_at=checkpoint.created_at,
            summary=checkpoint.summary,
            event_id=checkpoint.event_id,
            bundle_hash=checkpoint.bundle_hash,
            changed_sections=list(diff_bundles(older, checkpoint.bundle).changed_sections)
            if older
            else list(SECTION_KEYS),
            archived=batch_name is not None,
            batch=batch_name,
            is_latest=checkpoint.id == latest,
        )


def journal_diff(project: Project, before: str, after: str | None = None) -> Compared:
    """What changed from one checkpoint to another, or to the memory as it is."""
    from quire.layers.journal.bundle_diff import diff_bundles, diff_text, diff_value

    journal = read_journal(project)
    names = (before, after or _STATE)
    states = [
        journal.state if name == _STATE else _as_state(journal.state, journal_checkpoint(project, name))
        for name in names
    ]
    diff = diff_bundles(states[0].bundle, states[1].bundle)
    value = diff_value(diff)
    return Compared(
        before=names[0].removeprefix("checkpoint:"),
        after=names[1].removeprefix("checkpoint:"),
        same=diff.is_empty,
        changed_sections=list(diff.changed_sections),
        diff=value,
        summary=diff_text(value),
        files=_page_diffs(states[0], states[1]),
    )


def journal_inspect(project: Project, ref: str) -> InspectedJournal:
    """A part of the bundle, an event or a checkpoint in full; of a section all its items."""
    from quire.index.search import Filter

    parsed = parse_ref(ref)
    if parsed.layer != "journal":
        raise InputError(f"`{ref[:80]}` belongs to another layer.", hint="See `memory inspect`.")
    read_journal(project)

    def look(index: Index) -> list[Record]:
        found = index.find(str(parsed))
        if found is not None:
            return [found]
        section = Filter(layers=("journal",), kinds=("bundle",), sections=(parsed.id,))
        return index.page(section) if parsed.kind == "bundle" else []

    records = project.with_index(look)
    if not records and parsed.id not in SECTION_KEYS:
        raise NotFound(
            f"There is no `{cut(ref, 80)}` in the journal.",
            hint="`memory journal log` lists checkpoints, with --events events; sections are "
            + ", ".join(f"bundle:{name}" for name in SECTION_KEYS)
            + ".",
            details={"id": cut(ref, 80)},
        )
    return InspectedJournal(items=[_journal_item(project, record) for record in records])


def _journal_item(project: Project, record: Record) -> JournalItem:
    return JournalItem(
        ref=record.ref,
        kind=record.kind,
        section=record.section,
        title=record.title,
        text=record.text,
        status=record.status,
        created_at=record.created_at,
        path=f"{FOLDER}/{record.path}",
        stored=_journal_stored(project, record),
    )


def _journal_stored(project: Project, record: Record) -> Any:
    from quire.layers.journal.documents import value_of

    if record.kind == "checkpoint":
        return value_of(journal_checkpoint(project, record.ref.partition(":")[2]))
    held = msgspec.json.decode(record.raw)
    return held["value"] if record.kind == "bundle" else held


# -- questions --------------------------------------------------------------------------


def journal_query(
    project: Project, question: str, *, scope: str = ALL, provider: str | None = None, archived: bool = False
) -> JournalAnswer:
    """An answer from the journal alone, with where each part of it comes from."""
    from quire.retrieval.journal.answer import answer_journal

    if not question.strip():
        raise InputError("The question is empty.", hint='Ask in words: `memory journal query "what changed?"`.')
    if len(question) > limits.QUESTION_CHARS:
        question = question.strip()[: limits.QUESTION_CHARS]
    if scope not in _QUERY_SCOPES:
        raise InputError(
            f"`{scope[:40]}` is no scope of a question.",
            hint=f"It is one of {', '.join(_QUERY_SCOPES)}.",
            details={"field": "scope", "allowed": list(_QUERY_SCOPES)},
        )
    journal_ready(project)
    if not os.path.isfile(os.path.join(project.root, FOLDER, STATE)):
        read_journal(project)  # which says what is missing
    name = provider_name(provider)

    def ask(index: Index) -> JournalAnswer:
        found = answer_journal(index, question, scope=cast("Scope", scope), archived=archived, now=project.world.now())
        return msgspec.structs.replace(found, warnings=tuple(_unread_journal(index)))

    found = project.with_index(ask)
    if name == LOCAL_PROVIDER or not found.sufficient:
        return found
    return _asked_question(project, question, scope, found, read_journal(project), name)


def _unread_journal(index: Index) -> Iterator[Problem]:
    """What of the journal could not be read; of a state of another version nothing is told at all."""
    for layer, path, code, message in index.problems():
        if layer == "journal" and code == UnsupportedVersion.code:
            raise UnsupportedVersion(message, hint="Use a program of that version, or `memory journal init`.")
        if layer == "journal":
            hint = "`memory journal validate` says what is wrong."
            yield Problem(code=code, severity="warning", path=f"{FOLDER}/{path}", message=message, hint=hint)


def _asked_question(
    project: Project, question: str, scope: str, found: JournalAnswer, journal: Journal, provider: str
) -> JournalAnswer:
    """A model's words on the evidence that was found; what it cites must be among it."""
    from quire.retrieval.journal.answer import cited_from, shortlist_value

    instructions = journal.config.instructions[found.mode]
    request = question_request(question, found.mode, scope, instructions, shortlist_value(found))
    answer = ask_model(project, "query", request, provider)
    cited = cited_from(found, [(item["sourceType"], item["sourceId"]) for item in answer.value["citations"]])
    return msgspec.structs.replace(
        found, answer=answer.value["answer"], why=answer.value["why"], citations=cited or found.citations
    )


# -- faults -----------------------------------------------------------------------------


def journal_validate(project: Project, *, mend: bool = False) -> Validated:
    """Look for faults in the journal's files; with `mend`, mend what can be without loss."""
    from quire.layers.journal.checks.journal import check_journal

    journal_ready(project)
    mended = _mend(project) if mend else []
    findings = project.in_one_state(lambda: check_journal(project.root, project.world.now(), home=project.world.home))
    levels = [_LEVELS[finding.severity] for finding in findings]
    return Validated(
        findings=[_finding(finding, level) for finding, level in zip(findings, levels, strict=True)],
        passed=levels.count("pass"),
        warned=levels.count("warn"),
        failed=levels.count("fail"),
        mended=mended,
    )


def _finding(problem: Problem, level: str) -> dict[str, Any]:
    names = ("code", "message", "path", "line", "hint")
    return {"level": level, **{name: getattr(problem, name) for name in names}}


def _mend(project: Project) -> list[str]:
    from quire.layers.journal.repair import plan_journal_repair
    from quire.layers.journal.store import commit

    with journal_locked(project, "mend the journal"):
        mending = plan_journal_repair(project.root, project.world.now())
        if mending.journal is not None and mending.said:
            commit(mending.journal, mending.writing, project.world)
            write_due_pages(project)
    return mending.said


def _next_action(
    journal: Journal, left: int, candidates: Candidates, drift: dict[str, Any] | None, sources: list[Any]
) -> tuple[str, str | None]:
    """What to do first."""
    threshold = journal.config.backlog_warn_threshold
    if left > threshold:
        return f"Events that wait to be recalled: {left:,}, more than {threshold:g}. Recall them.", "recall"
    if any(source.last_sync_status == "failed" for source in sources):
        return "The last sync of a source failed: sync again.", "sync --all"
    if left:
        return f"Events that wait to be recalled: {left:,}. Recall them.", "recall"
    if not candidates.is_empty:
        return "Retention has something to archive: run a cycle.", "automate run-once"
    if drift and drift.get("changedSections"):
        return f"The memory differs from checkpoint {drift['id']}: look at it, or update.", "update"
    if any(source.last_sync_status == "never" for source in sources):
        return "A source was never synced: sync it.", "sync --all"
    return "Nothing to do.", None


def _oldest(batches: list[Batch]) -> str | None:
    return min((batch.manifest.created_at for batch in batches if batch.manifest), default=None)
