"""How the graph's tools tell what they found: short, because a model pays for every word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quire.surfaces.mcp.answers import fenced_items, fenced_text
from quire.verbs.outline import outline_lines

if TYPE_CHECKING:
    from quire.guard.framing import Boundary
    from quire.verbs.ask.inspect import Looked


def record_text(looked: Looked, fields: Mapping[str, Any], fence: Boundary) -> str:
    """One record in full."""
    from quire.fields.lines import connection_lines, node_lines

    parts = [fence.notice()]
    if looked.layer == "graph":
        lines = [*node_lines(looked.found), *connection_lines(looked.connections)]  # type: ignore[arg-type]
        node = fields["object"]
        source = (node["source"] or {}).get("kind") or "graph"
        parts.append(
            fenced_text("\n".join(lines), fence, ref=node["ref"], origin=source, verdict=node["verdict"] or "")
        )
        return "\n".join(parts)
    items = fields["items"] if looked.layer == "journal" else [fields["object"]]
    parts.append(fenced_items([{**item, "origin": _origin(item, looked.layer)} for item in items], fence))
    rest = outline_lines({name: value for name, value in fields.items() if name not in ("object", "items")})
    return "\n".join([*parts, fenced_text("\n".join(rest), fence)] if rest else parts)


def _origin(item: Mapping[str, Any], layer: str) -> str:
    source = item.get("source")
    if isinstance(source, Mapping):
        source = source.get("kind") or source.get("type")
    return str(source or item.get("origin") or layer)
