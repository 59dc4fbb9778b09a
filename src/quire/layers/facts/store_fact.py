"""Store a fact: add it, confirm a known one, or replace an outdated one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from quire.files.digests import hex_digest
from quire.guard.admission import admit
from quire.layers.facts.content import clean_content, content_hash
from quire.layers.facts.drafts import FactsDraft, find_fact, section_named
from quire.layers.facts.layout import ACTIVE, CONTENT_CHARS, DORMANT, PENDING, RECENT_WORK, REPLACES, SUPERSEDED
from quire.layers.facts.records import FactWithTwins, connection_of, fact_ref, replaces_edge
from quire.layers.facts.types import Connection, Fact
from quire.layers.facts.winners import replacements_of
from quire.model import limits
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.text import cut

_EVIDENCE = 64
"""How many sources of confirmation a fact names; the oldest go first."""


class FactInput(msgspec.Struct, frozen=True, kw_only=True):
    """A fact as someone tells it."""

    id: str
    """The id that it gets if it is new."""
    content: str
    section: str | None = None
    mind: str | None = None
    source: str = "manual"
    session: str | None = None
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    artifact: dict[str, str] | None = None
    """The document that says it: kind, path, sub, sha256."""
    witnesses: tuple[str, ...] = ()
    """Who says so, where that is known better than by source, session and day."""
    replaces: str | None = None
    """Of a proposal: the fact that it is to replace when it is accepted."""
    pending: bool = False
    """Kept until someone accepts it."""
    reason: str | None = None


class FactOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it."""

    action: str
    """`stored`, `reinforced`, `tagged`, `unchanged`, `superseded`, `pending`"""
    fact: Fact
    equal: tuple[Fact, ...] = ()
    """Facts with exactly this text that were put away."""
    warnings: list[Problem] = []


def store_fact(draft: FactsDraft, told: FactInput) -> FactOutcome:
    """A new fact; or, where the text is known, one confirmation more of the one that is there."""
    section = section_named(told.section or "")
    content, warnings = _checked(told)
    mind = told.mind or draft.home
    same = draft.saying(mind, content_hash(content))
    live = next((held for held in same if held.fact.is_active), None)
    if live is not None:
        return confirm_fact(draft, live, told, warnings)
    waiting = next((held for held in same if held.fact.status == PENDING), None)
    if waiting is not None and told.pending:
        return FactOutcome(action="unchanged", fact=waiting.fact, warnings=warnings)
    if waiting is not None:
        accepted = accept_fact(draft, waiting, _witnesses(draft, told))
        return FactOutcome(action="stored", fact=accepted.fact, warnings=warnings)
    fact = _new(draft, told, content, section=section, mind=mind, tags=told.tags)
    draft.add_fact(fact)
    action = "pending" if told.pending else "stored"
    return FactOutcome(action=action, fact=fact, equal=tuple(held.fact for held in same), warnings=warnings)


def refresh_fact(draft: FactsDraft, held: FactWithTwins) -> None:
    """Its clock starts again now. That nobody looked at it in particular counts as no confirmation more."""
    draft.change_fact(held, draft.renewed(held.fact, last_reinforced=draft.now))


def accept_fact(draft: FactsDraft, held: FactWithTwins, witnesses: tuple[str, ...] = ()) -> FactWithTwins:
    """What was only proposed holds, and replaces what it was to replace."""
    old = draft.fact(held.fact.supersedes) if held.fact.supersedes else None
    if old is not None:
        draft.put_edge(replaces_edge(held.fact.id, old.fact.id))
    if old is not None and old.fact.is_active:
        away = draft.change_fact(old, _superseded(draft, old.fact, held.fact.reason)).fact
        _move_edges(draft, away.id, held.fact.id)
    evidence = tuple(dict.fromkeys((*held.fact.evidence, *witnesses)))[-_EVIDENCE:]
    fact = draft.renewed(held.fact, status=ACTIVE, last_reinforced=draft.now, evidence=evidence)
    return draft.change_fact(held, fact)


def supersede_fact(draft: FactsDraft, name: str, told: FactInput) -> tuple[Fact, FactOutcome]:
    """The old fact put away, and what takes its place: a new one, or one that says it already."""
    old = find_fact(draft, name, "fact_id")
    if old.fact.status not in (ACTIVE, DORMANT):
        raise _not_active(draft, old.fact)
    content, warnings = _checked(told)
    digest = content_hash(content)
    if digest == old.fact.content_hash:
        raise InputError(
            f"`{old.fact.id}` already says exactly that.",
            hint="To confirm it, store the same text again.",
            details={"field": "content", "id": old.fact.id},
        )
    section = section_named(told.section) if told.section is not None else old.fact.section
    put_away = draft.change_fact(old, _superseded(draft, old.fact, told.reason)).fact
    known = draft.saying(old.fact.mind, digest)
    live = next((held for held in known if held.fact.is_active), None)
    waiting = next((held for held in known if held.fact.status == PENDING), None)
    if live is None and waiting is not None:
        live = accept_fact(draft, waiting, _witnesses(draft, told))
    if live is not None:
        new = _takes_over(draft, live, put_away)
        result = FactOutcome(action="superseded", fact=new, warnings=warnings)
    else:
        tags = (*old.fact.tags, *told.tags)
        new = _new(draft, told, content, section=section, mind=old.fact.mind, tags=tags)
        profile = old.fact.decay_profile
        if (section == RECENT_WORK) != (old.fact.section == RECENT_WORK):
            profile = new.decay_profile
        new = msgspec.structs.replace(new, supersedes=old.fact.id, decay_profile=profile)
        draft.add_fact(new)
        equal = tuple(held.fact for held in known)
        result = FactOutcome(action="superseded", fact=new, equal=equal, warnings=warnings)
    draft.put_edge(replaces_edge(new.id, put_away.id))
    _move_edges(draft, put_away.id, new.id)
    return put_away, result


def _superseded(draft: FactsDraft, fact: Fact, reason: str | None) -> Fact:
    draft.is_simple = draft.is_simple and fact.same_as is None
    reason = reason or fact.reason
    return draft.renewed(fact, status=SUPERSEDED, superseded_at=draft.now, reason=reason, same_as=None)


def _checked(told: FactInput) -> tuple[str, list[Problem]]:
    content, warnings = admit(clean_content(told.content), "content", most=CONTENT_CHARS)
    if not 0.0 < told.confidence <= 1.0:
        raise InputError(
            f"`confidence` is {told.confidence}; it must be above 0 and at most 1.",
            hint="Leave it out for 1.",
            details={"field": "confidence", "minimum": 0, "maximum": 1},
        )
    for name, text in (("source", told.source), ("session", told.session)):
        check_name(text, name)
    check_name(told.mind, "mind", one_word=True)
    for tag in told.tags:
        admit(tag, "tags", most=limits.TAG_CHARS, single_line=True)
    if told.reason is not None:
        admit(told.reason, "reason", most=limits.REASON_CHARS)
    return content, warnings


def check_name(text: str | None, field: str, *, one_word: bool = False) -> None:
    """Refuse what could not be read back as the short name that it is to be."""
    if text is None:
        return
    fits = len(text.strip()) > 0 and len(text) <= limits.ID_CHARS and text.isprintable()
    if not fits or (one_word and len(text.split()) + (text != text.strip()) != 1):
        what = "one word" if one_word else "a short name on one line"
        raise InputError(f"`{field}` must be {what}.", hint=f"Leave `{field}` out.", details={"field": field})
    admit(text, field, most=limits.ID_CHARS, single_line=True)


def _new(draft: FactsDraft, told: FactInput, content: str, *, section: str, mind: str, tags: tuple[str, ...]) -> Fact:
    extra: dict[str, Any] = {"artifact": told.artifact} if told.artifact else {}
    return Fact(
        id=told.id,
        mind=mind,
        section=section,
        content=content,
        status=PENDING if told.pending else "active",
        created_at=draft.now,
        source=told.source,
        content_hash=content_hash(content),
        version=draft.next_version(),
        decay_profile="recent_work" if section == RECENT_WORK else "standard",
        tags=_each_once(tags),
        supersedes=told.replaces if told.pending else None,
        confidence=told.confidence,
        evidence=told.witnesses,
        created_session=told.session,
        extra=extra,
    )


def confirm_fact(
    draft: FactsDraft, held: FactWithTwins, told: FactInput, warnings: Sequence[Problem] = ()
) -> FactOutcome:
    """One confirmation more, unless the same said so before: a session counts once, or a day where none is known."""
    fact, warnings = held.fact, list(warnings)
    first = f"{fact.source} {fact.created_session or fact.created_at[:10]}"
    new = tuple(name for name in _witnesses(draft, told) if name != first and name not in fact.evidence)
    full = bool(told.witnesses) and len(fact.evidence) >= _EVIDENCE
    # Of documents beyond the limit nobody would know the next time that they had been counted.
    tags = _each_once((*fact.tags, *told.tags))
    if (not new or full) and tags != fact.tags:
        tagged = draft.change_fact(held, draft.renewed(fact, tags=tags)).fact
        return FactOutcome(action="tagged", fact=tagged, warnings=warnings)
    if not new or full:
        return FactOutcome(action="unchanged", fact=fact, warnings=warnings)
    confirmed = draft.renewed(
        fact,
        reinforcement_count=fact.reinforcement_count + 1,
        last_reinforced=draft.now,
        evidence=(*fact.evidence, *new)[-_EVIDENCE:],
        tags=tags,
    )
    return FactOutcome(action="reinforced", fact=draft.change_fact(held, confirmed).fact, warnings=warnings)


def _witnesses(draft: FactsDraft, told: FactInput) -> tuple[str, ...]:
    return told.witnesses or (f"{told.source} {told.session or draft.now[:10]}",)


def _each_once(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in tags))


def _takes_over(draft: FactsDraft, live: FactWithTwins, old: Fact) -> Fact:
    """A fact that was there already takes the place of another one."""
    replaces = replaces_edge(live.fact.id, old.id)
    if any(
        (edge.source, edge.predicate, edge.target, edge.status)
        == (replaces.source, replaces.predicate, replaces.target, ACTIVE)
        for edge in draft.edges_of(replaces.target)
    ):
        return live.fact
    if live.fact.supersedes is None:
        return draft.change_fact(live, draft.renewed(live.fact, supersedes=old.id)).fact
    # It replaces something else already: a line of its own says that it replaces this one, too.
    connection = Connection(
        id=f"replaces-{hex_digest(f'{live.fact.id} {old.id}')[:16]}",
        source_id=live.fact.id,
        target_id=old.id,
        relation=REPLACES,
        created_at=draft.now,
        version=draft.next_version(),
    )
    draft.add_connection(connection, fact_ref(live.fact.id), fact_ref(old.id))
    return live.fact


def _move_edges(draft: FactsDraft, old: str, new: str) -> None:
    """What led to the old fact leads to the new one, as long as nothing becomes connected to itself."""
    before, after = fact_ref(old), fact_ref(new)
    for edge in draft.edges_of(before):
        if edge.predicate == REPLACES or connection_of(edge) is None:
            continue
        source, target = (after if end == before else end for end in (edge.source, edge.target))
        if source != target:
            draft.put_edge(msgspec.structs.replace(edge, source=source, target=target))


def _not_active(draft: FactsDraft, fact: Fact) -> InputError:
    now = replacements_of(draft, fact.id)
    hint = f"It was replaced by {', '.join(item.id for item in now)}: supersede that one." if now else None
    if not now and fact.status != PENDING:
        hint = f"Restore it with `memory facts restore {fact.id}` first."
    return InputError(
        f"`{fact.id}` is {fact.status}, not active: {cut(fact.content, 60)}",
        hint=hint,
        details={"field": "fact_id", "id": fact.id, "status": fact.status, "replacements": [item.id for item in now]},
    )
