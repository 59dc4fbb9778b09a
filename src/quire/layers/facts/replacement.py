"""Find the latest replacement of a fact, through any number of replacements."""

from __future__ import annotations

from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.layout import REPLACES
from quire.layers.facts.records import fact_ref
from quire.layers.facts.types import Fact


def replacements_of(draft: FactsDraft, fact_id: str) -> list[Fact]:
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
