"""Telling the memory a fact: storing it, confirming one that is known, replacing one that no longer holds."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.guard import admit
from quire.layers.facts.content import clean_content, content_hash
from quire.layers.facts.drafts import Draft, find_fact, section_named
from quire.layers.facts.layout import CONTENT_CHARS, PENDING, RECENT_WORK, REPLACES, SUPERSEDED
from quire.layers.facts.records import Held, connection_of, fact_ref, replaces_edge
from quire.layers.facts.types import Connection, Fact
from quire.model import InputError, Problem, cut, limits

_EVIDENCE = 32
"""How many sources of confirmation a fact names; the oldest go first."""

__all__ = ["Telling", "Told", "accept_fact", "confirm_fact", "replacements_of", "store_fact", "supersede_fact"]


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """A fact as somebody tells it."""

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
    """Kept until somebody accepts it."""
    reason: str | None = None


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it."""

    action: str
    """`stored`, `reinforced`, `unchanged`, `superseded`, `pending`"""
    fact: Fact
    equal: tuple[Fact, ...] = ()
    """Facts with exactly this text that were put away."""
    warnings: list[Problem] = []


def store_fact(draft: Draft, told: Telling) -> Told:
    """A new fact; or, where the text is known, one confirmation more of the one that is there."""
    section = section_named(told.section or "")
    content, warnings = _checked(told)
    mind = told.mind or draft.home
    same = draft.saying(mind, content_hash(content))
    live = next((held for held in same if held.fact.is_active), None)
    if live is not None:
        return _confirmed(draft, live, told, warnings)
    waiting = next((held for held in same if held.fact.status == PENDING), None)
    if waiting is not None and told.pending:
        return Told(action="unchanged", fact=waiting.fact, warnings=warnings)
    if waiting is not None:
        return Told(action="stored", fact=accept_fact(draft, waiting).fact, warnings=warnings)
    fact = _new(draft, told, content, section=section, mind=mind, tags=told.tags)
    draft.add_fact(fact)
    action = "pending" if told.pending else "stored"
    return Told(action=action, fact=fact, equal=tuple(held.fact for held in same), warnings=warnings)


def confirm_fact(draft: Draft, held: Held, told: Telling) -> Told:
    """Somebody found again what a fact says, perhaps in other words."""
    return _confirmed(draft, held, told, [])


def accept_fact(draft: Draft, held: Held) -> Held:
    """What was only proposed holds, and replaces what it was to replace."""
    old = draft.fact(held.fact.supersedes) if held.fact.supersedes else None
    if old is not None and old.fact.is_active:
        away = draft.change_fact(old, _superseded(draft, old.fact, held.fact.reason)).fact
        draft.put_edge(replaces_edge(held.fact.id, away.id))
        _move_edges(draft, away.id, held.fact.id)
    fact = msgspec.structs.replace(
        held.fact, status="active", version=draft.next_version(), last_reinforced=draft.now, updated_at=draft.now
    )
    return draft.change_fact(held, fact)


def supersede_fact(draft: Draft, name: str, told: Telling) -> tuple[Fact, Told]:
    """The old fact put away, and what takes its place: a new one, or one that says it already."""
    old = find_fact(draft, name, "fact_id")
    if not old.fact.is_active:
        raise _not_active(draft, old.fact)
    content, warnings = _checked(told)
    digest = content_hash(content)
    if digest == old.fact.content_hash:
        raise InputError(
            f"`{old.fact.id}` says exactly that: there is no change.",
            hint="To confirm it, store the same text again.",
            details={"field": "content", "id": old.fact.id},
        )
    section = section_named(told.section) if told.section else old.fact.section
    put_away = draft.change_fact(old, _superseded(draft, old.fact, told.reason)).fact
    known = draft.saying(old.fact.mind, digest)
    live = next((held for held in known if held.fact.is_active), None)
    if live is not None:
        new = _takes_over(draft, live, put_away)
        result = Told(action="superseded", fact=new, warnings=warnings)
    else:
        tags = tuple(dict.fromkeys((*old.fact.tags, *told.tags)))
        new = _new(draft, told, content, section=section, mind=old.fact.mind, tags=tags)
        profile = "recent_work" if section == RECENT_WORK else old.fact.decay_profile
        new = msgspec.structs.replace(new, supersedes=old.fact.id, decay_profile=profile)
        draft.add_fact(new)
        equal = tuple(held.fact for held in known)
        result = Told(action="superseded", fact=new, equal=equal, warnings=warnings)
    draft.put_edge(replaces_edge(new.id, put_away.id))
    _move_edges(draft, put_away.id, new.id)
    return put_away, result


def _superseded(draft: Draft, fact: Fact, reason: str | None) -> Fact:
    return msgspec.structs.replace(
        fact,
        status=SUPERSEDED,
        superseded_at=draft.now,
        updated_at=draft.now,
        reason=reason or fact.reason,
        version=draft.next_version(),
    )


def replacements_of(draft: Draft, fact_id: str) -> list[Fact]:
    """The live facts that stand for one that was put away."""
    found: dict[str, Fact] = {}
    seen = {fact_ref(fact_id)}
    waiting = [fact_ref(fact_id)]
    while waiting:
        ref = waiting.pop()
        for edge in draft.edges_of(ref):
            if edge.predicate != REPLACES or edge.target != ref or edge.status != "active" or edge.source in seen:
                continue
            seen.add(edge.source)
            held = draft.fact(edge.source)
            if held is not None and held.fact.is_active:
                found[held.fact.id] = held.fact
            elif held is not None:
                waiting.append(edge.source)
    return list(found.values())


def _checked(told: Telling) -> tuple[str, list[Problem]]:
    content, warnings = admit(clean_content(told.content), "content", most=CONTENT_CHARS)
    if not 0.0 < told.confidence <= 1.0:
        raise InputError(
            f"`confidence` is {told.confidence}; it must be above 0 and at most 1.",
            hint="Leave it out for 1.",
            details={"field": "confidence", "minimum": 0, "maximum": 1},
        )
    for name, text in (("source", told.source), ("session", told.session), ("mind", told.mind)):
        if text is not None and (not text.strip() or len(text) > limits.ID_CHARS or not text.isprintable()):
            raise InputError(
                f"`{name}` must be a short name on one line.", hint=f"Leave `{name}` out.", details={"field": name}
            )
    for tag in told.tags:
        admit(tag, "tags", most=limits.TAG_CHARS, single_line=True)
    if told.reason is not None:
        admit(told.reason, "reason", most=limits.REASON_CHARS)
    return content, warnings


def _new(draft: Draft, told: Telling, content: str, *, section: str, mind: str, tags: tuple[str, ...]) -> Fact:
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
        tags=tuple(tag.strip() for tag in tags),
        supersedes=told.replaces if told.pending else None,
        confidence=told.confidence,
        evidence=told.witnesses,
        created_session=told.session,
        extra=extra,
    )


def _confirmed(draft: Draft, held: Held, told: Telling, warnings: list[Problem]) -> Told:
    """One confirmation more, unless the same said so before: a session counts once, or a day where none is known."""
    fact = held.fact
    first = f"{fact.source} {fact.created_session or fact.created_at[:10]}"
    witnesses = told.witnesses or (f"{told.source} {told.session or draft.now[:10]}",)
    new = tuple(name for name in witnesses if name != first and name not in fact.evidence)
    if not new:
        return Told(action="unchanged", fact=fact, warnings=warnings)
    confirmed = msgspec.structs.replace(
        fact,
        reinforcement_count=fact.reinforcement_count + 1,
        last_reinforced=draft.now,
        updated_at=draft.now,
        evidence=(*fact.evidence, *new)[-_EVIDENCE:],
        tags=tuple(dict.fromkeys((*fact.tags, *told.tags))),
        version=draft.next_version(),
    )
    return Told(action="reinforced", fact=draft.change_fact(held, confirmed).fact, warnings=warnings)


def _takes_over(draft: Draft, live: Held, old: Fact) -> Fact:
    """A fact that was there already takes the place of another one."""
    if live.fact.supersedes is None:
        fact = msgspec.structs.replace(live.fact, supersedes=old.id, updated_at=draft.now, version=draft.next_version())
        return draft.change_fact(live, fact).fact
    # It replaces something else already: a line of its own says that it replaces this one, too.
    connection = Connection(
        id=f"replaces-{live.fact.id}-{old.id}"[: limits.ID_CHARS],
        source_id=live.fact.id,
        target_id=old.id,
        relation=REPLACES,
        created_at=draft.now,
        version=draft.next_version(),
    )
    draft.add_connection(connection, fact_ref(live.fact.id), fact_ref(old.id))
    return live.fact


def _move_edges(draft: Draft, old: str, new: str) -> None:
    """What led to the old fact leads to the new one, as long as nothing becomes connected to itself."""
    before, after = fact_ref(old), fact_ref(new)
    for edge in draft.edges_of(before):
        if edge.predicate == REPLACES or connection_of(edge) is None:
            continue
        source, target = (after if end == before else end for end in (edge.source, edge.target))
        if source != target:
            draft.put_edge(msgspec.structs.replace(edge, source=source, target=target))


def _not_active(draft: Draft, fact: Fact) -> InputError:
    now = replacements_of(draft, fact.id)
    hint = f"It was replaced by {', '.join(item.id for item in now)}: supersede that." if now else None
    if not now and fact.status != PENDING:
        hint = f"Bring it back with `memory facts restore {fact.id}` first."
    return InputError(
        f"`{fact.id}` is {fact.status}, not active: {cut(fact.content, 60)}",
        hint=hint,
        details={"field": "fact_id", "id": fact.id, "status": fact.status, "replacements": [item.id for item in now]},
    )
