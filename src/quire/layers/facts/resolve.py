"""Resolve the lines of the facts into one state, independent of their order after union merges.

An absent line means nothing; only a line that says so puts a fact away. Reading confirms nothing and revives nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quire.layers.facts.layout import DEFAULT_MIND, OTHER_DEFAULT, PENDING, REPLACES, SECTIONS, SUPERSEDED
from quire.layers.facts.lines import FactLines, encode_record
from quire.layers.facts.types import Connection, Episode, Fact, Mind, Stored
from quire.layers.facts.winners import FactConflict, by_time, settle
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.refs import parse_ref

_SECTION_ORDER = {name: place for place, name in enumerate(SECTIONS)}


class ResolvedLink(msgspec.Struct, frozen=True):
    """A connection, and what its ends are today: ids of facts, or refs of other things."""

    connection: Connection
    source: str
    target: str


class Parked(msgspec.Struct, frozen=True):
    """A connection that leads nowhere yet; it is tried again with every reading."""

    connection: Connection
    missing: tuple[str, ...]
    """The ends that are not known. None are missing where both have become the same fact."""


class Contradiction(msgspec.Struct, frozen=True):
    """Several live facts where one was replaced: two replacements, or the old one and a new one."""

    fact: str
    live: tuple[str, ...]


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """What holds. Everything is in the order of the normal file."""

    facts: dict[str, Fact]
    """Every fact by its id, whatever its status; those that are only another name for one are in `twins`."""
    twins: dict[str, Fact]
    aliases: dict[str, str]
    """From the id of a twin to the fact it stands for."""
    connections: dict[str, ResolvedLink]
    doubles: dict[str, str]
    """From a connection to the one with the same ends and relation that stands for it."""
    parked: tuple[Parked, ...]
    episodes: dict[str, Episode]
    minds: dict[str, Mind]
    replacements: dict[str, tuple[str, ...]]
    """From a fact, known or not, to those that replace it, of any status."""
    contradictions: tuple[Contradiction, ...]
    conflicts: tuple[FactConflict[Any], ...]
    version: int
    """The highest of the file; the next change takes one more."""
    problems: tuple[Problem, ...]
    records: tuple[Stored, ...]
    """Every line worth keeping: winners, twins, and behind each winner the losers of its conflict."""
    aside: tuple[bytes, ...]
    """Lines that are no records, as they were."""

    @property
    def home(self) -> str:
        """The mind that is meant where none is named: the default one, or what another writer calls so."""
        minds = {fact.mind for fact in self.facts.values()}
        return OTHER_DEFAULT if OTHER_DEFAULT in minds and DEFAULT_MIND not in minds else DEFAULT_MIND

    def actual(self, fact_id: str) -> str:
        """The id that an id or ref of a fact stands for."""
        bare = fact_id.removeprefix("fact:")
        return self.aliases.get(bare, bare)

    def find(self, fact_id: str) -> Fact | None:
        return self.facts.get(self.actual(fact_id))

    def live(self, fact_id: str) -> tuple[str, ...]:
        """The active facts that stand for this one today: itself, or what its replacements have become."""
        return tuple(sorted(_live(self.actual(fact_id), self.facts, self.replacements)))

    def chain(self, fact_id: str) -> tuple[str, ...]:
        """The fact, what it replaced, what that replaced, and so on; the last may be unknown."""
        found: dict[str, None] = {}
        place: str | None = self.actual(fact_id)
        while place is not None and place not in found:
            found[place] = None
            fact = self.facts.get(place)
            place = self.actual(fact.supersedes) if fact is not None and fact.supersedes else None
        return tuple(found)


def resolve_reading(reading: FactLines) -> Resolved:
    facts, fact_conflicts = settle(reading.facts)
    episodes, episode_conflicts = settle(reading.episodes)
    connections, connection_conflicts = settle(reading.connections)
    minds, mind_conflicts = settle(reading.minds)
    facts = dict(sorted(facts.items(), key=_fact_place))
    episodes = dict(sorted(episodes.items(), key=_episode_place))
    connections = dict(sorted(connections.items(), key=lambda item: (item[1].created_at, item[0])))
    minds = dict(sorted(minds.items()))

    aliases = _aliases(facts)
    holding = {name: fact for name, fact in facts.items() if name not in aliases} if aliases else facts
    replacements = _replacements(holding, facts, aliases, connections)
    links, doubles, parked = _linked(connections, facts, aliases, episodes, replacements)
    records: list[Stored] = []
    conflicts: list[FactConflict[Any]] = []
    for held, lost in (
        (minds, mind_conflicts),
        (facts, fact_conflicts),
        (connections, connection_conflicts),
        (episodes, episode_conflicts),
    ):
        _line_up(held, lost, records, conflicts)
    return Resolved(
        facts=holding,
        twins={name: facts[name] for name in aliases},
        aliases=aliases,
        connections=links,
        doubles=doubles,
        parked=parked,
        episodes=episodes,
        minds=minds,
        replacements=replacements,
        contradictions=_contradictions(holding, replacements),
        conflicts=tuple(conflicts),
        version=max((record.version for record in records), default=0),
        problems=tuple(reading.problems),
        records=tuple(records),
        aside=tuple(sorted({line.raw for line in reading.aside})),
    )


def canonical(resolved: Resolved) -> bytes:
    """The normal file: what a merged one is rewritten to. Reading it again gives the same, byte for byte."""
    lines = [encode_record(record) for record in resolved.records]
    lines += resolved.aside
    return b"".join(line + b"\n" for line in lines)


def _line_up(held: Any, lost: Any, records: list[Stored], conflicts: list[FactConflict[Any]]) -> None:
    if not lost:
        records.extend(held.values())
        return
    for name, record in held.items():
        records.append(record)
        if name in lost:
            conflicts.append(lost[name])
            records.extend(lost[name].losers)


def _fact_place(item: tuple[str, Fact]) -> tuple[Any, ...]:
    fact = item[1]
    place = _SECTION_ORDER.get(fact.section, len(SECTIONS))
    return (fact.mind, place, fact.section, fact.created_at, fact.id)


def _episode_place(item: tuple[str, Episode]) -> tuple[str, ...]:
    episode = item[1]
    return (episode.date, episode.created_at, episode.id)


def _aliases(facts: dict[str, Fact]) -> dict[str, str]:
    """Active facts of one mind with the same content are one fact: the oldest. Others may say whom they stand for."""
    first: dict[tuple[str, str], Fact] = {}
    several: dict[tuple[str, str], list[Fact]] = {}
    points_to: dict[str, str] = {}
    for fact in facts.values():
        if fact.is_active:
            told = (fact.mind, fact.content_hash)
            other = first.setdefault(told, fact)
            if other is not fact:
                several.setdefault(told, [other]).append(fact)
        elif fact.same_as is not None and fact.same_as in facts:
            points_to[fact.id] = fact.same_as
    for group in several.values():
        survivor = min(group, key=_age)
        points_to.update((fact.id, survivor.id) for fact in group if fact is not survivor)
    found = {}
    for name in facts if points_to else ():
        if name in points_to:
            end = _end_of(name, points_to)
            if end is not None:
                found[name] = end
    return found


def _age(fact: Fact) -> tuple[Any, ...]:
    """What names no time is younger than anything that does."""
    known, moment, text = by_time(fact.created_at)
    return (-known, moment, text, fact.id)


def _end_of(name: str, points_to: dict[str, str]) -> str | None:
    """Where the pointers lead; nowhere, if they lead in a circle."""
    seen = {name}
    while name in points_to:
        name = points_to[name]
        if name in seen:
            return None
        seen.add(name)
    return name


def _linked(
    connections: dict[str, Connection],
    facts: dict[str, Fact],
    aliases: dict[str, str],
    episodes: dict[str, Episode],
    replacements: dict[str, tuple[str, ...]],
) -> tuple[dict[str, ResolvedLink], dict[str, str], tuple[Parked, ...]]:
    links: dict[str, ResolvedLink] = {}
    doubles: dict[str, str] = {}
    parked = []
    first: dict[tuple[str, str, str], str] = {}
    for name, connection in connections.items():
        source, target = (_end(text, facts, aliases, episodes) for text in (connection.source_id, connection.target_id))
        if connection.relation != REPLACES:
            ends = [_today(end, facts, replacements) for end in (source, target)]
            # Between a fact and what replaced it there is nothing to follow.
            source, target = ends if ends[0] != ends[1] else (source, target)
        if source is None or target is None or source == target:
            named = ((connection.source_id, source), (connection.target_id, target))
            parked.append(Parked(connection, tuple(text for text, found in named if found is None)))
            continue
        if connection.is_active:
            # They come in the order of their age, so the first is the one that stays.
            stands = first.setdefault((source, target, connection.relation), name)
            if stands != name:
                doubles[name] = stands
                continue
        links[name] = ResolvedLink(connection, source, target)
    return links, doubles, tuple(parked)


def _end(text: str, facts: dict[str, Fact], aliases: dict[str, str], episodes: dict[str, Episode]) -> str | None:
    """What an end of a connection is; None if it should be in this file and is not."""
    bare = text.removeprefix("fact:")
    if bare in facts:
        return aliases.get(bare, bare)
    try:
        ref = parse_ref(text)
    except InputError:
        return None
    if ref.kind == "episode":
        return text if ref.id in episodes else None
    return None if ref.kind == "fact" else text


def _today(end: str | None, facts: dict[str, Fact], replacements: dict[str, tuple[str, ...]]) -> str | None:
    """A connection follows a fact to what replaced it, where that is one thing."""
    if end is None or end not in facts or facts[end].status != SUPERSEDED:
        return end
    live = _live(end, facts, replacements)
    return live.pop() if len(live) == 1 else end


def _replacements(
    holding: dict[str, Fact], facts: dict[str, Fact], aliases: dict[str, str], connections: dict[str, Connection]
) -> dict[str, tuple[str, ...]]:
    """Twins count too: what they replaced, the fact they stand for has replaced. So do connections that say it."""
    found: dict[str, dict[str, None]] = {}
    # What is only proposed replaces nothing yet.
    told = [(name, fact.supersedes) for name, fact in facts.items() if fact.supersedes and fact.status != PENDING]
    for connection in connections.values():
        if connection.relation == REPLACES and connection.is_active:
            source, target = (end.removeprefix("fact:") for end in (connection.source_id, connection.target_id))
            # Of a fact that is still live it says only what someone thinks of it.
            if source in facts and target in facts and not facts[target].is_active:
                told.append((source, target))
    for name, replaced in told:
        old = aliases.get(replaced, replaced)
        new = aliases.get(name, name)
        if old != new and new in holding:
            found.setdefault(old, {})[new] = None
    return {old: tuple(sorted(found[old])) for old in sorted(found)}


def _live(start: str, facts: dict[str, Fact], replacements: dict[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    seen = {start}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in facts and facts[name].is_active:
            found.add(name)
            continue
        for other in replacements.get(name, ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return found


def _contradictions(facts: dict[str, Fact], replacements: dict[str, tuple[str, ...]]) -> tuple[Contradiction, ...]:
    """Told where the ways part, not for every fact before that."""
    found = []
    for old, new in replacements.items():
        stays = old in facts and facts[old].is_active
        if len(new) + stays < 2:
            continue
        live: set[str] = {old} if stays else set()
        live = live.union(*(_live(name, facts, replacements) for name in new))
        if len(live) > 1:
            found.append(Contradiction(old, tuple(sorted(live))))
    return tuple(found)
