"""Archive facts and restore them, with a result for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from quire.guard.admission import admit
from quire.layers.facts.drafts import FactsDraft, find_fact
from quire.layers.facts.layout import ACTIVE, ARCHIVED, DORMANT, PENDING, SUPERSEDED
from quire.layers.facts.records import FactWithTwins
from quire.layers.facts.store_fact import accept_fact
from quire.layers.facts.winners import replacements_of
from quire.model import limits
from quire.model.errors import InputError, NotFound
from quire.model.text import cut

_SHOWN = 60


class ArchiveOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one id."""

    id: str
    outcome: str
    """`archived`, `restored`, `accepted`, `already …`, `not found`, `refused`"""
    done: bool
    message: str


def named_ids(ids: Sequence[str] | str) -> list[str]:
    """At least one id, each once; one alone need not be a list."""
    found = list(dict.fromkeys(name.strip() for name in ([ids] if isinstance(ids, str) else ids) if name.strip()))
    if not found:
        raise InputError("No fact is named.", hint="Give at least one id.", details={"field": "fact_ids"})
    if len(found) > limits.ITEMS:
        raise InputError(
            f"{len(found):,} facts are named; the limit is {limits.ITEMS:,}.",
            hint="Name fewer at a time.",
            details={"field": "fact_ids", "maximum": limits.ITEMS},
        )
    return found


def archive_facts(draft: FactsDraft, ids: Sequence[str] | str, reason: str | None) -> list[ArchiveOutcome]:
    """Stale facts out of the way, still to be found by who looks for them. A connection goes by `edge:…`."""
    if reason is not None:
        reason, _ = admit(reason, "reason", most=limits.REASON_CHARS)
    return _each(
        draft,
        ids,
        lambda held: _archive(draft, held, reason),
        lambda ref: _archive_connection(draft, ref, reason),
    )


def restore_facts(draft: FactsDraft, ids: Sequence[str] | str) -> list[ArchiveOutcome]:
    """Facts that were put away, or only proposed, hold again."""
    return _each(draft, ids, lambda held: _restore(draft, held), lambda ref: _restore_connection(draft, ref))


def _each(
    draft: FactsDraft,
    ids: Sequence[str] | str,
    on_fact: Callable[[FactWithTwins], ArchiveOutcome],
    on_connection: Callable[[str], ArchiveOutcome],
) -> list[ArchiveOutcome]:
    """Do it to everything that is named; what cannot be found stops none of the others."""
    found = []
    for name in named_ids(ids):
        if name.startswith("edge:"):
            found.append(on_connection(name))
            continue
        try:
            held = find_fact(draft, name, "fact_ids")
        except NotFound as error:
            found.append(
                ArchiveOutcome(id=name, outcome="not found", done=False, message=f"{name}: not found. {error.hint}")
            )
        else:
            found.append(on_fact(held))
    return found


def _archive(draft: FactsDraft, held: FactWithTwins, reason: str | None) -> ArchiveOutcome:
    fact = held.fact
    if fact.status not in (ACTIVE, PENDING, DORMANT):
        message = f"{fact.id}: already {fact.status}"
        return ArchiveOutcome(id=fact.id, outcome=f"already {fact.status}", done=False, message=message)
    draft.is_simple = draft.is_simple and fact.same_as is None
    # A proposal that is dropped was to replace something, and does not.
    supersedes = None if fact.status == PENDING else fact.supersedes
    away = {"archived_at": draft.now, "reason": reason, "supersedes": supersedes, "same_as": None}
    draft.change_fact(held, draft.renewed(fact, status=ARCHIVED, **away))
    message = f"{fact.id}: archived (was: {cut(fact.content, _SHOWN)})"
    return ArchiveOutcome(id=fact.id, outcome="archived", done=True, message=message)


def _archive_connection(draft: FactsDraft, ref: str, reason: str | None) -> ArchiveOutcome:
    found = draft.connection(ref)
    if found is None:
        return ArchiveOutcome(id=ref, outcome="not found", done=False, message=f"{ref}: not found")
    edge, connection = found
    if not connection.is_active:
        return ArchiveOutcome(
            id=ref, outcome="already archived", done=False, message=f"{ref}: already {connection.status}"
        )
    draft.change_connection(edge, draft.renewed(connection, status=ARCHIVED, archived_at=draft.now, reason=reason))
    said = f"{ref}: archived (was: {edge.source} {edge.predicate} {edge.target})"
    return ArchiveOutcome(id=ref, outcome="archived", done=True, message=said)


def _restore_connection(draft: FactsDraft, ref: str) -> ArchiveOutcome:
    found = draft.connection(ref)
    if found is None:
        return ArchiveOutcome(id=ref, outcome="not found", done=False, message=f"{ref}: not found")
    edge, connection = found
    if connection.is_active:
        return ArchiveOutcome(id=ref, outcome="already active", done=False, message=f"{ref}: already active")
    # It may be that another one says the same by now; the file is read again for that.
    draft.change_connection(edge, draft.renewed(connection, status=ACTIVE, archived_at=None, reason=None))
    draft.is_simple = False
    said = f"{ref}: restored ({edge.source} {edge.predicate} {edge.target})"
    return ArchiveOutcome(id=ref, outcome="restored", done=True, message=said)


def _restore(draft: FactsDraft, held: FactWithTwins) -> ArchiveOutcome:
    fact = held.fact
    if fact.is_active:
        return ArchiveOutcome(id=fact.id, outcome="already active", done=False, message=f"{fact.id}: already active")
    same = next((item for item in draft.saying(fact.mind, fact.content_hash) if item.fact.is_active), None)
    if same is not None:
        message = f"{fact.id}: not restored, since {same.fact.id} says the same"
        return ArchiveOutcome(id=fact.id, outcome="refused", done=False, message=message)
    if fact.status == PENDING:
        accept_fact(draft, held)
        return ArchiveOutcome(id=fact.id, outcome="accepted", done=True, message=f"{fact.id}: accepted")
    now = replacements_of(draft, fact.id) if fact.status == SUPERSEDED else []
    if now:
        names = ", ".join(item.id for item in now)
        message = f"{fact.id}: not restored, since {names} replaced it; archive that first"
        return ArchiveOutcome(id=fact.id, outcome="refused", done=False, message=message)
    draft.is_simple = draft.is_simple and fact.same_as is None
    never_away = dict.fromkeys(("archived_at", "superseded_at", "reason", "same_as"))
    draft.change_fact(held, draft.renewed(fact, status=ACTIVE, **never_away))
    message = f"{fact.id}: restored ({cut(fact.content, _SHOWN)})"
    return ArchiveOutcome(id=fact.id, outcome="restored", done=True, message=message)
