"""Fields of one record in full, whichever layer holds it."""

from __future__ import annotations

from typing import Any


def looked_fields(looked: Any) -> dict[str, Any]:
    """What `Project.inspect_any` found, in the shape of its layer."""
    if looked.layer == "graph":
        from quire.fields.graph import inspected_fields

        return inspected_fields(looked.found, looked.connections)
    if looked.layer == "facts":
        from quire.fields.facts import inspect_fact_fields

        return inspect_fact_fields(looked.found)
    if looked.layer == "profile":
        from quire.verbs.plain import plain

        found = plain(looked.found)
        connected = plain(looked.connections)
        return {"object": found.pop("entry"), "links": found, "connections": connected}
    from quire.fields.envelope import all_fields

    return all_fields(looked.found)
