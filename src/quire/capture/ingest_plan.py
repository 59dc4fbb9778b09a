"""Plan a lifecycle ingest without writing: from candidates to steps.

A plan does not depend on the order of what it is given, and a plan carried out leaves nothing to do: planned again,
every step is `unchanged`, or `reject` as before. Only an explicit candidate that names no artifact reinforces each
time it is given, since each time someone says it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from quire.capture.candidate_outcome import RESOLVED, CandidateOutcome, Settled, settle
from quire.capture.candidates import (
    QUESTION,
    WITHDRAWN,
    FactCandidate,
    candidates_of,
    has_live_questions,
    open_question,
)
from quire.capture.design_documents import DesignDocument
from quire.capture.ingest_state import HeldEntry, HeldFact, Ledger, Prospect, make_prospect
from quire.layers.facts import layout
from quire.layers.facts.content import normal_text
from quire.model import limits
from quire.model.text import cut

Action = Literal[Settled, "archive"]


class IngestStep(Struct, frozen=True, kw_only=True):
    """One thing to do."""

    action: Action
    candidate: FactCandidate | None = None
    content: str
    """The text of the fact, with its pointer."""
    fact_id: str | None = None
    """The fact that is reinforced, superseded (it may be a pending one), archived or left as it is; of `pend`, the one
    that it replaces: a pending one at once, a live one when it is accepted."""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Who confirms the fact by this, to be kept with it."""


def plan_candidates(candidates: Sequence[FactCandidate], held: Sequence[HeldFact]) -> list[IngestStep]:
    """One step for each candidate, in their order. `held`: every fact of the sections concerned, in any status."""
    prospects = [make_prospect(candidate) for candidate in candidates]
    return _steps(prospects, settle(prospects, Ledger(held), frozenset()))


def plan_documents(documents: Sequence[DesignDocument], held: Sequence[HeldFact]) -> list[IngestStep]:
    """The steps of all documents by their paths, then the questions that are open no longer.

    A document that is not given, or whose questions could not be read, closes none.
    """
    by_path = {document.path: document for document in documents}
    scanned = [by_path[path] for path in sorted(by_path)]
    prospects = [make_prospect(candidate) for document in scanned for candidate in candidates_of(document)]
    ledger = Ledger(held)
    _mark_answered(scanned, prospects, ledger)
    withdrawn = _withdrawn(scanned, ledger)
    outcomes = settle(prospects, ledger, frozenset(by_path))
    return [*_steps(prospects, outcomes), *_closing(prospects, outcomes, ledger), *withdrawn]


def _withdrawn(documents: Sequence[DesignDocument], ledger: Ledger) -> list[IngestStep]:
    """Decisions that their documents took back; each leaves the ledger, so that nothing leans on it."""
    taken_back = {
        ("design-decision", "Decisions", document.path, decision.title): decision.status
        for document in documents
        for decision in document.decisions
        if decision.status in WITHDRAWN
    }
    found = []
    for entry in ledger.entries:
        status = taken_back.get(entry.key) if entry.key and (entry.is_live or entry.is_pending) else None
        if status:
            entry.status = layout.ARCHIVED
            reason = f"{status} in its document"
            found.append(_archived(entry, reason))
    return found


def _archived(entry: HeldEntry, reason: str) -> IngestStep:
    return IngestStep(action="archive", content=entry.held.content, fact_id=entry.held.id, reason=reason)


def _steps(prospects: Sequence[Prospect], outcomes: Sequence[CandidateOutcome]) -> list[IngestStep]:
    return [
        IngestStep(
            action=outcome.action,
            candidate=prospect.candidate,
            content=prospect.content,
            fact_id=(outcome.fact.held.id or None) if outcome.fact else None,
            reason=outcome.reason,
            evidence=tuple(outcome.made.voices) if outcome.made else (outcome.voice,) if outcome.voice else (),
        )
        for prospect, outcome in zip(prospects, outcomes, strict=True)
    ]


# -- questions ------------------------------------------------------------------------------------


def _mark_answered(documents: Sequence[DesignDocument], prospects: Sequence[Prospect], ledger: Ledger) -> None:
    """Mark the live facts that keep a question open which its document no longer asks."""
    by_path = {document.path: document for document in documents}
    by_id: dict[str, list[DesignDocument]] = {}
    for document in documents:
        by_id.setdefault(normal_text(document.id), []).append(document)
    asked = {
        prospect.key[2:]
        for prospect in prospects
        if prospect.candidate.kind == QUESTION and open_question(prospect.text)
    }
    for entry in ledger.entries:
        question = open_question(entry.text) if entry.is_live and entry.held.source.startswith("lifecycle") else None
        if question is None:
            continue
        node, text = question
        own = by_path.get(entry.held.artifact.path) if entry.held.artifact else None
        # A document that was moved is known by its node, unless two claim to be it.
        moved = by_id.get(node, [])
        asking = own or (moved[0] if len(moved) == 1 else None)
        if asking and has_live_questions(asking) and asking.knows_questions and (asking.path, text) not in asked:
            entry.leaving = asking.path


def _closing(prospects: Sequence[Prospect], outcomes: Sequence[CandidateOutcome], ledger: Ledger) -> list[IngestStep]:
    decided: dict[str, list[str]] = {}
    for prospect, outcome in zip(prospects, outcomes, strict=True):
        if prospect.candidate.kind == "design-decision" and outcome.action in ("store", "supersede"):
            decided.setdefault(prospect.path, []).append(prospect.key[3])
    leaving = sorted(
        (entry for entry in ledger.entries if entry.leaving and entry.is_live),
        key=lambda entry: (entry.leaving, entry.held.id),
    )
    return [_archived(entry, _why(decided.get(entry.leaving, []))) for entry in leaving]


def _why(decisions: list[str]) -> str:
    return cut(f"{RESOLVED}: {'; '.join(decisions)}", limits.REASON_CHARS) if decisions else RESOLVED
