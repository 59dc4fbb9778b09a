"""A planned change to the facts: the lines it replaces and adds."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

import msgspec

from quire.files.paths import is_text
from quire.layers.facts.layout import ACTIVE, DEFAULT_MIND, PENDING, REPLACES, SECTIONS, VERSION_MOST
from quire.layers.facts.records import (
    FactWithTwins,
    connection_edge,
    connection_of,
    edge_ref,
    episode_record,
    fact_record,
    fact_ref,
)
from quire.layers.facts.source import FactsOverview
from quire.layers.facts.types import Connection, Episode, Fact, Stored, StoredT
from quire.model.errors import InputError, NotFound
from quire.model.records import Edge, Record, RecordSummary
from quire.model.text import cut
from quire.model.times import time_text

_SECTION_NAMES = {"".join(filter(str.isalnum, name.lower())): name for name in SECTIONS}


class Known(Protocol):
    """What is in the file, asked for piece by piece."""

    @property
    def overview(self) -> FactsOverview: ...

    def fact(self, name: str) -> FactWithTwins | None:
        """By its id, by the id of a twin, or by either as a ref."""

    def saying(self, mind: str, digest: str) -> list[FactWithTwins]:
        """Facts of any status with exactly this text."""

    def edges_of(self, ref: str) -> list[Edge]: ...

    def edge(self, ref: str) -> Edge | None: ...

    def has(self, ref: str) -> bool:
        """Whether any layer knows this ref."""

    def beginning(self, text: str) -> list[str]:
        """Ids of facts that begin with this text."""


class FactsDraft:
    """Lines to replace and lines to add. Every changed line takes the next version.

    It can be asked like the file itself, and answers as the file will be.
    """

    def __init__(self, known: Known, now: datetime) -> None:
        self._known = known
        self.now = time_text(now)
        self.home = known.overview.mind
        self._version = known.overview.version
        self._held: dict[str, FactWithTwins] = {}
        self._edges: dict[str, Edge] = {}
        self._episodes: dict[str, Episode] = {}
        self.replaced: dict[tuple[type[Stored], str], Stored] = {}
        self._added: dict[tuple[type[Stored], str], Stored] = {}
        self._gone: dict[str, None] = {}
        self.is_simple = True
        """False where whoever planned it knows that other things follow from it."""

    # -- asking -----------------------------------------------------------------------------

    def fact(self, name: str) -> FactWithTwins | None:
        """By its id, by the id of a twin, or by either as a ref."""
        bare = name.removeprefix("fact:")
        if bare in self._held:
            return self._held[bare]
        found = self._known.fact(bare)
        return None if found is None else self._held.get(found.fact.id, found)

    def saying(self, mind: str, digest: str) -> list[FactWithTwins]:
        """Facts of any status with exactly this text."""
        found = {held.fact.id: held for held in self._known.saying(mind, digest)}
        for name, held in self._held.items():
            if name in found or (held.fact.mind, held.fact.content_hash) == (mind, digest):
                found[name] = held
        return list(found.values())

    def edges_of(self, ref: str) -> list[Edge]:
        found = {edge.ref: edge for edge in self._known.edges_of(ref)} | self._edges
        return [edge for edge in found.values() if ref in (edge.source, edge.target)]

    def edge(self, ref: str) -> Edge | None:
        return self._edges.get(ref) or self._known.edge(ref)

    def has(self, ref: str) -> bool:
        """Whether any layer knows this ref."""
        return self.fact(ref) is not None if ref.startswith("fact:") else self._known.has(ref)

    def beginning(self, text: str) -> list[str]:
        return self._known.beginning(text)

    # -- changing ---------------------------------------------------------------------------

    def next_version(self) -> int:
        # Where the highest of all is taken, nothing can be newer; times then decide.
        self._version = min(self._version + 1, VERSION_MOST)
        return self._version

    def renewed(self, record: StoredT, **changes: Any) -> StoredT:
        """A line with these changes, as of now, and newer than all others."""
        return msgspec.structs.replace(record, **changes, updated_at=self.now, version=self.next_version())

    def connection(self, ref: str) -> tuple[Edge, Connection] | None:
        """An edge with the line behind it; None where there is no such line."""
        edge = self.edge(ref)
        line = connection_of(edge) if edge is not None else None
        return (edge, line) if edge is not None and line is not None else None

    def add_fact(self, fact: Fact) -> None:
        self._held[fact.id] = FactWithTwins(fact)
        self._added[Fact, fact.id] = fact

    def change_fact(self, held: FactWithTwins, fact: Fact) -> FactWithTwins:
        """Another state of a fact. Where it is put away, its twins go with it, or they would stand up in its place."""
        twins = tuple(self._beside(fact, twin) for twin in held.twins)
        for line in (fact, *twins):
            if line not in (held.fact, *held.twins):
                self._replace(line, line.id, fact_ref(line.id))
        self._held[fact.id] = changed = FactWithTwins(fact, twins)
        return changed

    def _beside(self, fact: Fact, twin: Fact) -> Fact:
        if fact.is_active or not twin.is_active:
            return twin
        return msgspec.structs.replace(
            twin, status=fact.status, same_as=fact.id, version=fact.version, updated_at=self.now
        )

    def add_connection(self, connection: Connection, source: str, target: str) -> Edge:
        self._added[Connection, connection.id] = connection
        return self.put_edge(connection_edge(connection, source, target))

    def change_connection(self, edge: Edge, connection: Connection) -> Edge:
        self._replace(connection, connection.id, edge.ref)
        return self.put_edge(connection_edge(connection, edge.source, edge.target))

    def put_edge(self, edge: Edge) -> Edge:
        """An edge as it is now; its own line may stay, or there may be none."""
        self._gone[edge.ref] = None
        self._edges[edge.ref] = edge
        return edge

    def put_episode(self, episode: Episode, *, new: bool) -> None:
        if new:
            self._added[Episode, episode.id] = episode
        else:
            self._replace(episode, episode.id, f"episode:{episode.id}")
        self._episodes[episode.id] = episode

    def _replace(self, line: Stored, name: str, ref: str) -> None:
        if (type(line), name) in self._added:
            self._added[type(line), name] = line
            return
        self.replaced[type(line), name] = line
        self._gone[ref] = None

    # -- what comes of it -------------------------------------------------------------------

    @property
    def added(self) -> list[Stored]:
        return list(self._added.values())

    @property
    def told(self) -> list[tuple[str, str]]:
        """What the lines of this draft say from now on, each text with the name of its field.

        A fact that is put away says nothing any more; a connection, only what it did not say before.
        """
        found: list[tuple[str, str]] = []
        for line in (*self._added.values(), *self.replaced.values()):
            if isinstance(line, Fact) and line.status in (ACTIVE, PENDING):
                found.append(("content", line.content))
            elif isinstance(line, Connection) and line.is_active and not self._is_described(line):
                found.append(("description", line.description))
            elif isinstance(line, Episode):
                found += [("title", line.title), ("narrative", line.narrative)]
        return found

    def _is_described(self, connection: Connection) -> bool:
        edge = self._known.edge(edge_ref(connection.id))
        known = connection_of(edge) if edge is not None else None
        return known is not None and known.is_active and known.description == connection.description

    @property
    def is_empty(self) -> bool:
        return not self.replaced and not self._added

    @property
    def gone(self) -> list[str]:
        """Refs that the index forgets before it takes in the items."""
        return list(self._gone)

    @property
    def is_plain(self) -> bool:
        """Whether the index can take it over without reading the file: nothing follows from it for anything else.

        Connections follow facts to what replaced them, and one may stand for another; whose facts are meant where no
        mind is named depends on all of them. Where any of that may change, the file is read again.
        """
        if not self.is_simple:
            return False
        home = self._known.overview
        facts = [line for line in self._added.values() if isinstance(line, Fact)]
        if any(fact.mind != home.mind for fact in facts) and not (home.mind == DEFAULT_MIND and home.has_facts):
            return False
        if home.parked and any(isinstance(line, Episode) for line in self._added.values()):
            return False  # a connection may have waited for it
        lines = {**self._added, **self.replaced}
        for line in lines.values():
            if isinstance(line, Connection) and not self._is_plain_edge(line):
                return False
        return not any(self._is_connected(name) for name in {*self._held, *(fact.id for fact in facts)})

    def _is_plain_edge(self, connection: Connection) -> bool:
        if connection.relation == REPLACES or not connection.is_active:
            return False
        ends = [self.fact(end) for end in (connection.source_id, connection.target_id)]
        return all(held is None or held.fact.is_active for held in ends)

    def _is_connected(self, fact_id: str) -> bool:
        """Whether a line connects the fact with something else, or anything that it replaced or was replaced by."""
        seen: set[str] = set()
        waiting = [fact_ref(fact_id)]
        while waiting:
            ref = waiting.pop()
            seen.add(ref)
            for edge in self._known.edges_of(ref):
                if edge.raw:
                    return True
                # Both ways: what else replaced the same counts, too.
                waiting += {edge.source, edge.target} - seen
        return False

    def items(self) -> list[Record | Edge | RecordSummary]:
        """What the index takes in."""
        return [
            *(fact_record(held, self.home) for held in self._held.values()),
            *(episode_record(episode, self.home) for episode in self._episodes.values()),
            *self._edges.values(),
            self._overview().summary(),
        ]

    def _overview(self) -> FactsOverview:
        told = any(isinstance(line, Fact) and line.mind == DEFAULT_MIND for line in self._added.values())
        known = self._known.overview
        return FactsOverview(self._version, self.home, has_facts=known.has_facts or told, parked=known.parked)


def find_fact(known: Known | FactsDraft, name: str, field: str) -> FactWithTwins:
    """The fact that is named, also by the beginning of its id where that is enough."""
    bare = name.strip().removeprefix("fact:")
    found = known.fact(bare) if bare and is_text(bare) else None
    if found is not None:
        return found
    near = known.beginning(bare) if len(bare) >= 4 and is_text(bare) else []
    if len(near) == 1:
        only = known.fact(near[0])
        if only is not None:
            return only
    hint = "`memory facts recall` and `memory facts list` show ids; the first four characters can be enough."
    if near:
        hint = f"It could be any of {', '.join(near[:5])}."
    raise NotFound(f"There is no fact `{cut(bare, 60)}`.", hint=hint, details={"field": field, "id": cut(bare, 160)})


def section_named(text: str) -> str:
    """One of the seven sections, however its name was spelled."""
    found = _SECTION_NAMES.get("".join(filter(str.isalnum, text.lower())))
    if found is None:
        found = _SECTION_NAMES.get("".join(filter(str.isalnum, text.lower().replace(" and ", " "))))
    if found is None:
        short = "".join(filter(str.isalnum, text.lower()))
        near = [name for key, name in _SECTION_NAMES.items() if len(short) >= 4 and key.startswith(short)]
        found = near[0] if len(near) == 1 else None
    if found is None:
        raise InputError(
            f"Unknown section `{cut(text, 60)}`.",
            hint=f"Use one of {', '.join(SECTIONS)}.",
            details={"field": "section", "allowed": list(SECTIONS)},
        )
    return found
