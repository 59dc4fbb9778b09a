"""From an intent to what will change: everything is checked against the store before anything is written.

The order of entries in an intent does not matter: ids are given first, then nodes are drafted, then
relations, then stale, supersede and delete, then what is confirmed. Drafts that equal what is stored change nothing.
"""

from __future__ import annotations

from quire.layers.graph.intent import ParsedIntent
from quire.layers.graph.plan_confirm import confirm_nodes
from quire.layers.graph.plan_nodes import draft_nodes
from quire.layers.graph.plan_relations import draft_relations
from quire.layers.graph.plan_retire import retire_nodes
from quire.layers.graph.plan_state import Planning, SavePlan
from quire.layers.graph.store import GraphStore
from quire.model.vocabulary import Actor


def plan_save(store: GraphStore, draft: ParsedIntent, actor: Actor, now: str) -> SavePlan:
    """Plan the whole intent; the problems of the plan include those of the draft."""
    planning = Planning(store, draft, actor, now)
    draft_nodes(planning)
    draft_relations(planning)
    retire_nodes(planning)
    confirm_nodes(planning)
    return planning.result()
