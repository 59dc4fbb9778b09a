"""Decide for each candidate: store it, leave it pending, reject it, or count it as a confirmation of a known fact.

What changes or retires a fact is settled before what only looks for one that says the same, and what is explicit before
what is inferred: so nothing leans on a fact that goes in the same plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from quire.capture.candidates import QUESTION, evidence_of, is_chatter
from quire.capture.ingest_state import HeldEntry, Key, Ledger, Prospect
from quire.layers.facts import layout

Settled = Literal["store", "reinforce", "supersede", "pend", "reject", "unchanged"]

LOW_SIGNAL = "Rejected as low-signal workflow chatter"
EQUIVALENT = "Equivalent fact already exists"
REINFORCED = "Reinforced existing equivalent fact"
UNCONFIRMED = "Inferred candidate requires operator confirmation"
RESOLVED = "resolved"
"""How the reason of a question's fact begins that was put away since the question is open no longer."""
DROPPED = "dropped"
"""The reason of a proposal that an operator did not want."""
ANEW = "proposed anew"
"""The reason of a proposal in whose place another one waits."""
_KNOWN = "Held already"
_REPEATED = "Already in this batch"
_CONTESTED = "Other candidates of this batch contradict it for the same part of the same file"
_WAITING = "Already pending"
_CHANGED = "The file says something else now"
_NAMED = "Names the fact that it replaces"
_EXPLICIT_NOW = "Was pending, and is explicit now"
_PUT_AWAY = {layout.ARCHIVED: "Was archived", layout.SUPERSEDED: "Was replaced by another fact"}


class CandidateOutcome(Struct, frozen=True, eq=False):
    """What becomes of a candidate, the fact that it touches, the fact that it makes."""

    action: Settled
    reason: str = ""
    fact: HeldEntry | None = None
    made: HeldEntry | None = None
    voice: str = ""
    """Who confirms the fact by this."""


def settle(prospects: Sequence[Prospect], ledger: Ledger, whole: frozenset[str]) -> list[CandidateOutcome]:
    """One outcome for each; `whole` are the paths of which every candidate is among them."""
    outcomes: dict[Prospect, CandidateOutcome] = {}
    first: dict[tuple[Key, str], Prospect] = {}
    for prospect in sorted(prospects, key=_order):
        if is_chatter(prospect.candidate):
            outcomes[prospect] = CandidateOutcome("reject", LOW_SIGNAL)
        else:
            first.setdefault((prospect.key, prospect.text), prospect)
    told = list(first.values())
    texts = Counter((prospect.key, prospect.candidate.authority) for prospect in told)
    for prospect in told:
        explicit, inferred = texts[prospect.key, "explicit"], texts[prospect.key, "inferred"]
        # What is explicit goes before what is inferred; among equals nobody knows who is right.
        if explicit > 1 or (prospect.candidate.authority == "inferred" and explicit + inferred > 1):
            outcomes[prospect] = CandidateOutcome("reject", _CONTESTED)
    plan = _Plan(ledger, whole, frozenset(prospect.key for prospect in told))
    explicit_ones = [prospect for prospect in told if prospect.candidate.authority == "explicit"]
    inferred_ones = [prospect for prospect in told if prospect.candidate.authority == "inferred"]
    for group, decide in (
        (explicit_ones, plan.explicit_by_key),
        (explicit_ones, plan.explicit_by_likeness),
        (inferred_ones, plan.inferred_by_key),
        (inferred_ones, plan.inferred_by_likeness),
    ):
        for prospect in group:
            outcome = None if prospect in outcomes else decide(prospect)
            if outcome:
                outcomes[prospect] = outcome
    return [outcomes.get(prospect) or _repeated(outcomes[first[prospect.key, prospect.text]]) for prospect in prospects]


def _order(prospect: Prospect) -> tuple[object, ...]:
    """An order that has nothing to do with how they came; of two that say the same, the one that asks for more."""
    candidate = prospect.candidate
    whole = msgspec.json.encode(candidate)
    return (candidate.authority, prospect.key, prospect.text, candidate.supersedes is None, whole)


def _repeated(outcome: CandidateOutcome) -> CandidateOutcome:
    if outcome.action in ("reject", "unchanged"):
        return outcome
    return CandidateOutcome("unchanged", _REPEATED, outcome.fact if outcome.action == "reinforce" else None)


class _Plan:
    """One round of decisions; each changes the ledger that the next one looks at."""

    def __init__(self, ledger: Ledger, whole: frozenset[str], current: frozenset[Key]) -> None:
        self.ledger = ledger
        self.whole = whole
        self.current = current
        # Mostly nothing is outdated: then there is no need to look for it.
        self.outdated = {
            (entry.key[0], entry.key[2]) for entry in ledger.entries if entry.key not in current and entry.key
        }
        self.outdated.update((QUESTION, entry.leaving) for entry in ledger.entries if entry.leaving)

    # Each of these four may leave a candidate to the next; the last one of an authority never does.

    def explicit_by_key(self, prospect: Prospect) -> CandidateOutcome | None:
        about = self.ledger.about(prospect)
        same = next((entry for entry in about if _is_same(entry, prospect)), None)
        if prospect.candidate.supersedes is not None:
            outcome = self._replace_named(prospect, about, same)
            if outcome:
                return outcome
        has_artifact = prospect.candidate.artifact is not None
        if same and same.is_live:
            return CandidateOutcome("unchanged", _KNOWN, same) if has_artifact else None
        for entry in about:
            if entry.is_live:
                return self._supersede(entry, prospect, _CHANGED)
            if entry.is_pending:
                return self._supersede(entry, prospect, _EXPLICIT_NOW)
        if prospect.path in self.whole and (prospect.candidate.kind, prospect.path) in self.outdated:
            reworded = self.ledger.alike(prospect, lambda entry: self._is_outdated(entry, prospect))
            if reworded:
                return self._supersede(reworded[0], prospect, _CHANGED)
        if same and has_artifact and not _may_return(same):
            return CandidateOutcome("unchanged", _PUT_AWAY.get(same.status, _KNOWN), same)
        return None

    def explicit_by_likeness(self, prospect: Prospect) -> CandidateOutcome:
        alike = self.ledger.alike(prospect, lambda entry: self._may_stand_for(entry, prospect))
        artifact = prospect.candidate.artifact
        voice = evidence_of(artifact) if artifact else ""
        for entry in alike:
            if voice and voice in entry.all_voices:
                return CandidateOutcome("unchanged", _KNOWN, entry)
        if alike:
            if voice:
                alike[0].voices.append(voice)
            if alike[0].is_new:
                return CandidateOutcome("unchanged", _REPEATED, alike[0])
            return CandidateOutcome("reinforce", REINFORCED, alike[0], voice=voice)
        for entry in self.ledger.saying(prospect):
            if entry.is_pending:
                return self._supersede(entry, prospect, _EXPLICIT_NOW)
        return CandidateOutcome("store", made=self.ledger.make(prospect, layout.ACTIVE))

    def inferred_by_key(self, prospect: Prospect) -> CandidateOutcome | None:
        about = [entry for entry in self.ledger.about(prospect) if not _is_outdone(entry)]
        same = next((entry for entry in about if _is_same(entry, prospect)), None)
        if same and same.is_pending:
            return CandidateOutcome("unchanged", _WAITING, same)
        if same and not same.is_live:
            return CandidateOutcome("unchanged", _PUT_AWAY.get(same.status, _KNOWN), same)
        if same and prospect.candidate.artifact:
            return CandidateOutcome("unchanged", _KNOWN, same)
        if self.ledger.alike(prospect, lambda entry: self._may_stand_for(entry, prospect)):
            return CandidateOutcome("reject", EQUIVALENT)
        changed = next((entry for entry in about if entry.is_live or entry.is_pending), None)
        return self._pend(prospect, changed) if changed else None

    def inferred_by_likeness(self, prospect: Prospect) -> CandidateOutcome:
        waiting = self.ledger.alike(prospect, lambda entry: entry.is_pending)
        return CandidateOutcome("unchanged", _WAITING, waiting[0]) if waiting else self._pend(prospect, None)

    def _replace_named(
        self, prospect: Prospect, about: list[HeldEntry], same: HeldEntry | None
    ) -> CandidateOutcome | None:
        """The candidate takes the place of the fact that it names; None where that fact says the same already."""
        name = prospect.candidate.supersedes or ""
        named = self.ledger.by_id.get(name)
        if same and same.is_live and same is not named and not (named and named.is_live):
            return CandidateOutcome("unchanged", _KNOWN, same)
        fault = _name_fault(name, named)
        if named is None or fault:
            return CandidateOutcome("reject", fault)
        if named.text == prospect.text and named.held.section == prospect.candidate.section:
            return None
        for entry in about:
            if entry.is_live and entry is not named:
                return CandidateOutcome("reject", f"`{entry.held.id}` holds this already, not `{name}`", entry)
        return self._supersede(named, prospect, _NAMED)

    def _supersede(self, entry: HeldEntry, prospect: Prospect, reason: str) -> CandidateOutcome:
        entry.status = layout.SUPERSEDED
        return CandidateOutcome("supersede", reason, entry, self.ledger.make(prospect, layout.ACTIVE))

    def _pend(self, prospect: Prospect, changed: HeldEntry | None) -> CandidateOutcome:
        name = prospect.candidate.supersedes
        named = self.ledger.by_id.get(name) if name is not None else changed
        fault = _name_fault(name, named) if name is not None else ""
        if fault:
            return CandidateOutcome("reject", fault)
        if changed and changed.is_pending:
            changed.status = layout.SUPERSEDED
        return CandidateOutcome("pend", UNCONFIRMED, named, self.ledger.make(prospect, layout.PENDING))

    def _is_outdated(self, entry: HeldEntry, prospect: Prospect) -> bool:
        """Whether the fact came from this file, which is known as a whole, and is found in it no more."""
        if entry.leaving:
            return entry.is_live and entry.leaving == prospect.path and prospect.candidate.kind == QUESTION
        if not entry.is_live or not entry.key or entry.key in self.current:
            return False
        return (entry.key[0], entry.key[2]) == (prospect.candidate.kind, prospect.path)

    def _may_stand_for(self, entry: HeldEntry, prospect: Prospect) -> bool:
        """Whether a fact that says the same can be the one meant. Two statements of one file are two."""
        if not entry.is_live or entry.leaving:
            return False
        neighbours = bool(entry.key and prospect.path and entry.key[2] == prospect.path and entry.key in self.current)
        return not neighbours or entry.text == prospect.text


def _is_same(entry: HeldEntry, prospect: Prospect) -> bool:
    """Whether this is the candidate's fact and nothing has changed: the same text, or the same bytes it came from."""
    if entry.text == prospect.text:
        return True
    ours, theirs = prospect.candidate.artifact, entry.held.artifact
    return bool(ours and theirs and ours.sub and ours.sha256) and ours == theirs


def _may_return(entry: HeldEntry) -> bool:
    """A question that was answered may be asked again, and what was dropped as a mere guess may be said outright."""
    return entry.status == layout.ARCHIVED and entry.held.reason.startswith((RESOLVED, DROPPED, ANEW))


def _is_outdone(entry: HeldEntry) -> bool:
    """A proposal that nobody refused: the file only said something else for a while."""
    return entry.status == layout.ARCHIVED and entry.held.reason.startswith(ANEW)


def _name_fault(name: str, named: HeldEntry | None) -> str:
    if named is None:
        return f"`{name}` names no fact that is held"
    return "" if named.is_live else f"`{name}` is {named.status}; only an active fact can be superseded"
