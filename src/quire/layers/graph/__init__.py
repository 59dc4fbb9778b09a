"""The graph: project, features, decisions, gotchas, questions and their relations, in `.memory/`."""

from typing import TYPE_CHECKING

from quire.layers.graph import layout
from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.layers.graph.config import Settings, settings_in
    from quire.layers.graph.create import create_store, planned_files, project_identity, refresh_schemas
    from quire.layers.graph.faults import find_store_faults
    from quire.layers.graph.inspect import Inspected, inspect_node
    from quire.layers.graph.intent import parse_intent
    from quire.layers.graph.meant import similar_ids
    from quire.layers.graph.mending import plan_graph_mending
    from quire.layers.graph.rehashing import rehashed_graph
    from quire.layers.graph.save import Saved, save_intent
    from quire.layers.graph.source import GraphSource, node_record
    from quire.layers.graph.store import GraphStore, StoredNode, StoredRelation
    from quire.layers.graph.writing import settle, write_access

__all__ = [
    "GraphSource",
    "GraphStore",
    "Inspected",
    "Saved",
    "Settings",
    "StoredNode",
    "StoredRelation",
    "create_store",
    "find_store_faults",
    "inspect_node",
    "layout",
    "node_record",
    "parse_intent",
    "plan_graph_mending",
    "planned_files",
    "project_identity",
    "refresh_schemas",
    "rehashed_graph",
    "save_intent",
    "settings_in",
    "settle",
    "similar_ids",
    "write_access",
]

# Which module holds what.
_HOMES = {
    "GraphSource": "source",
    "GraphStore": "store",
    "Inspected": "inspect",
    "Saved": "save",
    "Settings": "config",
    "StoredNode": "store",
    "StoredRelation": "store",
    "create_store": "create",
    "find_store_faults": "faults",
    "inspect_node": "inspect",
    "node_record": "source",
    "parse_intent": "intent",
    "plan_graph_mending": "mending",
    "planned_files": "create",
    "project_identity": "create",
    "refresh_schemas": "create",
    "rehashed_graph": "rehashing",
    "save_intent": "save",
    "settings_in": "config",
    "settle": "writing",
    "similar_ids": "meant",
    "write_access": "writing",
}

__getattr__ = loader(__name__, _HOMES)
