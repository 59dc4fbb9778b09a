"""Look up facts in the index, for verbs that change or show one."""

from __future__ import annotations

from quire.index.catalog import Index
from quire.layers.facts.records import FactWithTwins, fact_ref, held_of, text_name
from quire.layers.facts.source import FactsOverview, overview_of
from quire.model.records import Edge

_NEAR = 6


class KnownFacts:
    """Looks up what it is asked for; the file itself is not read."""

    def __init__(self, index: Index) -> None:
        self._index = index

    @property
    def overview(self) -> FactsOverview:
        return overview_of(self._index.summary("facts"))

    def fact(self, name: str) -> FactWithTwins | None:
        record = self._index.find(fact_ref(name.removeprefix("fact:")))
        return None if record is None else held_of(record)

    def saying(self, mind: str, digest: str) -> list[FactWithTwins]:
        return [held_of(record) for record in self._index.named(text_name(mind, digest))]

    def edges_of(self, ref: str) -> list[Edge]:
        return self._index.edges_of(ref)

    def edge(self, ref: str) -> Edge | None:
        return self._index.edge(ref)

    def has(self, ref: str) -> bool:
        return self._index.find(ref) is not None

    def beginning(self, text: str) -> list[str]:
        return [ref.removeprefix("fact:") for ref in self._index.refs_from(fact_ref(text), _NEAR)]
