"""`memory facts ingest`, the tool `memory_ingest_lifecycle`: ingest decisions of design documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from quire.files.json_files import input_text, parse_strict
from quire.layers.facts.layout import LIFECYCLE_KINDS, PENDING
from quire.layers.facts.types import Fact
from quire.model.errors import InputError, InvalidJson, QuireError, SecretDetected, UsageError, ValueRejected
from quire.model.text import counted, cut
from quire.verbs.facts.fact_file import change_facts, fact_view, short_token
from quire.verbs.facts.fact_lines import fact_lines
from quire.verbs.facts.options import IDS_SCHEMA, DryRun, Ref, Refs, named
from quire.verbs.facts.results import FactView
from quire.verbs.facts.search import fact_filter
from quire.verbs.inbox.rejected_texts import left_out
from quire.verbs.verb import Arguments, Input, Lines, Option, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.capture.candidates import Artifact
    from quire.capture.ingest_plan import IngestStep
    from quire.capture.ingest_state import HeldFact
    from quire.inbox.rejections import Rejections
    from quire.index.catalog import Index
    from quire.layers.facts.drafts import FactsDraft
    from quire.project import Project

_SHOWN = 200
_WORDS = {
    "store": "stored",
    "reinforce": "confirmed",
    "supersede": "superseded",
    "archive": "archived",
    "pend": "pending",
    "reject": "left out",
    "accept": "accepted",
    "drop": "dropped",
    "unchanged": "unchanged",
}
CANDIDATE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": list(LIFECYCLE_KINDS)},
        "authority": {"type": "string", "enum": ["explicit", "inferred"]},
        "section": {"type": "string"},
        "content": {"type": "string", "maxLength": 8000},
        "artifact": {"type": "object"},
        "supersedes": {"type": "string"},
    },
    "required": ["kind", "authority", "section", "content"],
    "description": "one statement instead of the documents",
}


class Ingest(Arguments, frozen=True, kw_only=True):
    candidate: dict[str, Any] | Annotated[str, Meta(max_length=100_000)] | None = None
    """The verb judges a candidate itself; it may also come as JSON text."""
    data: Annotated[
        bytes | None, Input(what="the candidate", stdin="Take one candidate as JSON from standard input.")
    ] = None
    source: str = "standard input"
    accept: Annotated[Refs | Ref | None, Option(metavar="ID", help="Accept this pending fact.")] = None
    drop: Annotated[
        Refs | Ref | None, Option(metavar="ID", help="Drop this pending fact; it is not proposed again.")
    ] = None
    dry_run: DryRun = False


class Ingested(Result, kw_only=True):
    dry_run: bool
    documents: int
    counts: dict[str, int]
    steps: list[dict[str, Any]]
    pending: list[FactView] = []
    fact_ids: list[str] = []


def ingest(project: Project, given: Ingest) -> Ingested:
    """Import facts from design documents: decisions, constraints, open and answered questions.

    Reads Markdown below docs/ and ai/docs/ with `id` and `status` in its head. Inferred facts stay pending until you
    accept them; a decision that its document withdraws is archived. Running it again changes nothing. With --stdin,
    takes one candidate as JSON instead.
    """
    candidate: Any = given.candidate if given.data is None else given.data
    if candidate is not None and (given.accept or given.drop):
        if given.data is not None:
            raise UsageError(
                "--stdin cannot be combined with --accept or --drop.", hint="Give one candidate, or decide on some."
            )
        raise InputError(
            "`candidate` cannot be combined with `accept` or `drop`.",
            hint="Give one candidate, or decide on pending ones.",
            details={"field": "candidate"},
        )
    candidate = candidate.encode() if isinstance(candidate, str) else candidate
    return take_in_documents(
        project, candidate, accept=named(given.accept), drop=named(given.drop), dry_run=given.dry_run
    )


def take_in_documents(
    project: Project,
    candidate: Any = None,
    *,
    accept: Sequence[str] = (),
    drop: Sequence[str] = (),
    dry_run: bool = False,
    unattended: bool = False,
) -> Ingested:
    """Take in what the design documents decided since the last time, or one candidate that is given.

    With nobody there to see a warning (`unattended`), what reads like an order to a model is left out.
    """
    from quire.capture.candidates import parse_candidate
    from quire.capture.design_documents import scan_design_documents
    from quire.capture.ingest_plan import plan_candidates, plan_documents

    if accept or drop:
        return _decide(project, list(accept), list(drop), dry_run=dry_run)
    if isinstance(candidate, bytes):
        candidate = _parsed(candidate)
    single = None if candidate is None else parse_candidate(candidate)
    scan = None if single is not None else scan_design_documents(project.root)

    def plan(draft: FactsDraft, index: Index) -> Ingested:
        held = _held_facts(index)
        steps = (
            plan_candidates([single], held)
            if single is not None
            else plan_documents(scan.documents if scan else [], held)
        )
        done = Ingested(
            dry_run=dry_run,
            documents=len(scan.documents) if scan else 0,
            counts={},
            steps=[],
            warnings=list(scan.problems) if scan else [],
        )
        rejections = project.rejections()
        if unattended:
            steps = list(filter(_is_harmless, steps))
        rejected = sum(_carry_out(project, draft, step, done, rejections) for step in steps)
        done.warnings += left_out(rejected)
        done.pending = _pending(project, draft, index)
        return done

    return change_facts(project, "ingest design documents", plan, dry_run=dry_run)


def _held_facts(index: Index) -> list[HeldFact]:
    from quire.capture.ingest_state import HeldFact
    from quire.layers.facts.records import held_of

    found = []
    for record in index.page(fact_filter()):
        fact = held_of(record).fact
        found.append(
            HeldFact(
                fact.id,
                fact.section,
                fact.content,
                fact.status,
                fact.source,
                _artifact(fact),
                fact.evidence,
                fact.reason or "",
            )
        )
    return found


def _carry_out(
    project: Project, draft: FactsDraft, step: IngestStep, done: Ingested, rejections: Rejections | None
) -> bool:
    """Take a step; whether it was not taken because someone rejected what it says."""
    shown = {
        "action": step.action,
        "content": step.content,
        "fact_id": step.fact_id,
        "reason": step.reason,
        "path": step.candidate.artifact.path if step.candidate and step.candidate.artifact else "",
    }
    done.steps.append(shown)
    is_rejected = False
    try:
        if rejections is not None:
            _refuse_step(draft, step, rejections)
        fact, changed = _apply(project, draft, step)
    except QuireError as error:
        # One that may not be written stops none of the others, and is not repeated where it may not be shown.
        shown |= {"action": "reject", "reason": error.message, "content": cut(step.content, _SHOWN)}
        if isinstance(error, SecretDetected):
            shown["content"] = ""
        is_rejected = isinstance(error, ValueRejected)
    else:
        if not changed and step.action != "reject":
            shown["action"] = "unchanged"
        if fact is not None:
            shown["fact_id"] = fact.id
            done.fact_ids.append(fact.id)
    action = str(shown["action"])
    done.counts[action] = done.counts.get(action, 0) + 1
    return is_rejected


def _refuse_step(draft: FactsDraft, step: IngestStep, rejections: Rejections) -> None:
    """Raise where a step would write what was rejected."""
    if step.action in ("store", "pend", "supersede", "reinforce"):
        known = draft.fact(step.fact_id) if step.fact_id and step.action == "reinforce" else None
        for text in (step.content, *([known.fact.content] if known else ())):
            rejections.refuse({"content": text})


def _apply(project: Project, draft: FactsDraft, step: IngestStep) -> tuple[Fact | None, bool]:
    """Do what a step says; the fact that it leaves, and whether anything changed."""
    from quire.capture.candidate_outcome import ANEW
    from quire.capture.candidates import source_of
    from quire.layers.facts.archive import archive_facts
    from quire.layers.facts.store_fact import FactInput, confirm_fact, store_fact, supersede_fact

    known = draft.fact(step.fact_id) if step.fact_id else None
    if step.action == "archive" and step.fact_id:
        return None, archive_facts(draft, [step.fact_id], step.reason)[0].done
    if step.candidate is None or step.action not in ("store", "pend", "supersede", "reinforce"):
        return None, False
    waits = known is not None and known.fact.status == PENDING
    told = FactInput(
        id=short_token(project),
        content=step.content,
        section=step.candidate.section,
        source=source_of(step.candidate),
        session=step.candidate.session,
        artifact=msgspec.to_builtins(step.candidate.artifact) if step.candidate.artifact else None,
        witnesses=step.evidence,
        pending=step.action == "pend",
        replaces=step.fact_id if step.action == "pend" and not waits else None,
        reason=step.reason or None if step.action == "supersede" else None,
    )
    if step.action == "reinforce" and known is not None:
        confirmed = confirm_fact(draft, known, told)
        return confirmed.fact, confirmed.action != "unchanged"
    if step.action == "supersede" and step.fact_id and not waits:
        return supersede_fact(draft, step.fact_id, told)[1].fact, True
    if waits and step.fact_id:
        # A proposal that was replaced before anybody accepted it.
        archive_facts(draft, [step.fact_id], ANEW)
    stored = store_fact(draft, told)
    return stored.fact, stored.action != "unchanged"


def _decide(project: Project, accept: list[str], drop: list[str], *, dry_run: bool) -> Ingested:
    """Accept or drop what waits."""
    from quire.capture.candidate_outcome import DROPPED
    from quire.layers.facts.archive import archive_facts, restore_facts
    from quire.layers.facts.drafts import find_fact

    def plan(draft: FactsDraft, index: Index) -> Ingested:
        both = {find_fact(draft, name, "accept").fact.id for name in accept}
        both &= {find_fact(draft, name, "drop").fact.id for name in drop}
        if both:
            raise InputError(
                f"`{min(both)}` is both accepted and dropped.",
                hint="Name it only once.",
                details={"field": "drop", "id": min(both)},
            )
        for name in (*accept, *drop):
            fact = find_fact(draft, name, "accept").fact
            if fact.status != PENDING:
                raise InputError(
                    f"`{fact.id}` is not pending: it is {fact.status}.",
                    hint="`memory facts ingest` lists pending facts.",
                    details={"field": "accept", "id": fact.id},
                )
        outcomes = restore_facts(draft, accept) if accept else []
        outcomes += archive_facts(draft, drop, DROPPED) if drop else []
        return Ingested(
            dry_run=dry_run,
            documents=0,
            counts={
                "accept": sum(item.outcome == "accepted" for item in outcomes),
                "drop": sum(item.outcome == "archived" for item in outcomes),
            },
            steps=[{"action": item.outcome, "fact_id": item.id, "reason": item.message} for item in outcomes],
            pending=_pending(project, draft, index),
            fact_ids=[item.id for item in outcomes if item.done],
        )

    return change_facts(project, "ingest design documents", plan, dry_run=dry_run)


def _pending(project: Project, draft: FactsDraft, index: Index) -> list[FactView]:
    """What waits after this change."""
    now = project.world.now()
    known = {record.ref.removeprefix("fact:") for record in index.page(fact_filter(statuses=(PENDING,)))}
    known |= {record.id for record in draft.added if isinstance(record, Fact)}
    held = [draft.fact(name) for name in sorted(known)]
    return [fact_view(project, item.fact, now) for item in held if item and item.fact.status == PENDING]


def _is_harmless(step: IngestStep) -> bool:
    from quire.guard.prompt_attacks import find_instructions

    return not find_instructions(step.content)


def _artifact(fact: Fact) -> Artifact | None:
    """The document that a fact names, where it names one as we do."""
    from quire.capture.candidates import Artifact

    try:
        return msgspec.convert(fact.extra.get("artifact"), Artifact)
    except msgspec.ValidationError:
        return None


def _parsed(data: bytes) -> Any:
    """One candidate as JSON."""
    source = "The candidate"
    try:
        return parse_strict(input_text(data, source), source)
    except InvalidJson as error:
        shape = '{"kind": "design-decision", "authority": "explicit", "section": "Decisions", "content": "…"}'
        raise InvalidJson(
            error.message, hint=f"Send one JSON object, such as {shape}.", details=error.details
        ) from None


def lines(done: Ingested) -> Lines:
    counts = [f"{count} {_WORDS.get(action, action)}" for action, count in done.counts.items() if count]
    lead = "Would be: " if done.dry_run else ""
    where = f" from {counted(done.documents, 'design document')}" if done.documents else ""
    if not counts and done.documents:
        yield f"{counted(done.documents, 'design document')} hold no decision, constraint or open question."
    elif not counts:
        yield "No design documents were found below docs/ or ai/docs/ (Markdown with `id` and `status` in its head)."
    else:
        yield f"{lead}{', '.join(counts)}{where}."
    for step in done.steps:
        if step["action"] not in ("unchanged",):
            reason = f" ({step['reason']})" if step["reason"] else ""
            said = _WORDS.get(step["action"], step["action"])
            yield Recalled(
                text=f"  {said}: {step.get('content') or step['fact_id']}{reason}", origin="design documents"
            )
    if done.pending:
        yield "Pending (accept with --accept ID, drop with --drop ID):"
        yield from fact_lines(done.pending)


VERB = Verb(
    takes=Ingest,
    run=ingest,
    lines=lines,
    writes=True,
    examples="Examples:\n  memory facts ingest --dry-run\n  memory facts ingest --accept 57afd07611e9\n",
    tool=Tool(
        title="Take in design documents",
        says="Import decisions, constraints and questions from design documents below docs/ as facts; running it "
        "again changes nothing. Inferred facts stay pending: accept or drop them when the user says so. For a single "
        "fact use memory_store.",
        schema={"candidate": CANDIDATE, "accept": IDS_SCHEMA, "drop": IDS_SCHEMA},
        gives={"counts": "object", "pending": "array"},
        destructive=True,
    ),
)
