"""Convert facts, episodes and connections to the records and edges of the index."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from quire.layers.facts.layout import FILE, RECENT_WORK, SPECS
from quire.layers.facts.lines import FactLines, encode_record, read_lines
from quire.layers.facts.types import Connection, Episode, Fact
from quire.layers.merge_record import disagreements
from quire.model.contested import CONTESTED
from quire.model.records import Edge, Record
from quire.model.text import headline, one_line
from quire.model.times import instant

HALF_LIFE_MOST = 90.0
# Beyond this count every profile that grows has long reached the cap; the power must not overflow.
_COUNT_MOST = 64


class Profile(Struct, frozen=True):
    half_life: float
    """In days, for what was said once."""
    factor: float
    """By how much each confirmation lengthens it."""
    minimum: float
    """At or below it a fact may be swept into the archive."""


PROFILES = {
    "standard": Profile(half_life=14.0, factor=1.8, minimum=0.1),
    "global": Profile(half_life=30.0, factor=2.5, minimum=0.1),
    "recent_work": Profile(half_life=2.0, factor=1.0, minimum=0.01),
}


def profile_of(fact: Fact) -> Profile:
    """The section decides before the stored profile: other writers store recent work with the standard one."""
    if fact.section == RECENT_WORK:
        return PROFILES["recent_work"]
    return PROFILES.get(fact.decay_profile, PROFILES["standard"])


def prior_of(fact: Fact) -> float:
    """What it counted when it was last confirmed."""
    return min(max(fact.confidence, 0.0), 1.0)


def half_life_of(fact: Fact) -> float:
    """In days; 0 where it does not wear."""
    if fact.section == SPECS:
        return 0.0
    profile = profile_of(fact)
    growth = profile.factor ** min(max(fact.reinforcement_count, 1) - 1, _COUNT_MOST)
    return min(HALF_LIFE_MOST, profile.half_life * growth)


def last_seen(fact: Fact) -> str:
    """The later of the last confirmation and the last reading; empty, which counts as now, where none is known."""
    confirmed = fact.last_reinforced or fact.created_at
    at = instant(confirmed)
    if at is None:
        return ""
    read = fact.last_accessed or ""
    seen = instant(read) if read else None
    return read if seen is not None and seen > at else confirmed


_TITLE_CHARS = 80
_EPISODE_WEIGHT = 0.9
"""A narrative tells of many things: where a fact says it, the fact comes first."""


class FactWithTwins(msgspec.Struct, frozen=True):
    """A fact, and the lines that are only another name for it."""

    fact: Fact
    twins: tuple[Fact, ...] = ()


def fact_ref(fact_id: str) -> str:
    return f"fact:{fact_id}"


def edge_ref(connection_id: str) -> str:
    return f"edge:{connection_id}"


def text_name(mind: str, digest: str) -> str:
    """The name by which a fact is found that says exactly this."""
    return f"text:{digest}:{mind}"


def session_name(session: str) -> str:
    """The name by which everything is found that a session left."""
    return f"session:{session}"


def fact_record(held: FactWithTwins, home: str) -> Record:
    fact = held.fact
    changed = fact.updated_at or fact.archived_at or fact.superseded_at or fact.last_reinforced or fact.created_at
    return Record(
        ref=fact_ref(fact.id),
        layer="facts",
        kind="fact",
        title=headline(fact.content, _TITLE_CHARS),
        text=fact.content,
        status=fact.status,
        path=FILE,
        section=fact.section,
        scope=_scope(fact.mind, home),
        weight=prior_of(fact),
        half_life=half_life_of(fact),
        since=last_seen(fact),
        created_at=fact.created_at,
        updated_at=changed,
        tags=fact.tags,
        origin=fact.source,
        contested=disagreements(_contested_fields(fact)),
        names=(
            text_name(fact.mind, fact.content_hash),
            *(fact_ref(twin.id) for twin in held.twins),
            *((session_name(fact.created_session),) if fact.created_session else ()),
        ),
        raw=b"\n".join(encode_record(line) for line in (fact, *held.twins)),
    )


def _contested_fields(fact: Fact) -> dict[str, Any]:
    """What the line says of the fields that branches disagree on."""
    noted = fact.extra.get(CONTESTED)
    return {CONTESTED: noted, **{name: getattr(fact, name, None) for name in noted}} if isinstance(noted, dict) else {}


def held_of(record: Record) -> FactWithTwins:
    fact, *twins = _lines(record.raw).facts
    return FactWithTwins(fact, tuple(twins))


def episode_record(episode: Episode, home: str) -> Record:
    return Record(
        ref=f"episode:{episode.id}",
        layer="facts",
        kind="episode",
        title=one_line(episode.title) or episode.date,
        text=episode.narrative,
        status="active",
        path=FILE,
        scope=_scope(episode.mind, home),
        weight=_EPISODE_WEIGHT,
        created_at=episode.created_at or episode.date,
        updated_at=episode.updated_at or episode.created_at or episode.date,
        tags=episode.tags,
        origin="session",
        names=(session_name(episode.session_id),) if episode.session_id else (),
        raw=encode_record(episode),
    )


def episode_of_record(record: Record) -> Episode:
    return _lines(record.raw).episodes[0]


def connection_edge(connection: Connection, source: str, target: str) -> Edge:
    """The ends are refs."""
    return Edge(
        ref=edge_ref(connection.id),
        source=source,
        predicate=connection.relation,
        target=target,
        status=connection.status,
        path=FILE,
        raw=encode_record(connection),
    )


def connection_of(edge: Edge) -> Connection | None:
    """The line behind an edge; None where it follows from the facts alone."""
    return _lines(edge.raw).connections[0] if edge.raw else None


def replaces_edge(new: str, old: str) -> Edge:
    """A fact that replaces another says so itself; no line of its own is needed."""
    return Edge(
        ref=f"{fact_ref(new)} replaces {fact_ref(old)}",
        source=fact_ref(new),
        predicate="replaces",
        target=fact_ref(old),
        status="active",
        path=FILE,
    )


def _lines(raw: bytes) -> FactLines:
    """What we wrote ourselves: a line that was read once may have grown a little by being put in order."""
    return read_lines(raw, most=len(raw))


def _scope(mind: str, home: str) -> str:
    return "" if mind == home else mind
