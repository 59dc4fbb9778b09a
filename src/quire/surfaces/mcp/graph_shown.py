"""How the graph's tools tell what they found: short, because a model pays for every word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from quire.surfaces.mcp.answers import fenced_items, fenced_text
from quire.verbs.outline import outline_lines

if TYPE_CHECKING:
    from quire.guard.framing import Boundary
    from quire.verbs.ask.inspect import Looked

_SAVED = (
    ("memory_created", "created"),
    ("memory_updated", "updated"),
    ("memory_marked_stale", "marked stale"),
    ("memory_superseded", "superseded"),
    ("memory_deleted", "deleted"),
    ("memory_confirmed", "confirmed"),
    ("relations_created", "relations created"),
    ("relations_updated", "relations updated"),
    ("relations_deleted", "relations deleted"),
    ("unchanged", "unchanged"),
)
_FINDINGS = ("moved", "changed", "orphaned", "unverifiable")
_MEND = (
    "Look at the code behind each. Where the record no longer holds, send it with save_memory: the new body or anchors,"
    " or stale with a reason. Where it still holds, put its id into confirm. Leave out what you did not look at."
)


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


def saved_text(fields: Mapping[str, Any]) -> str:
    """What a save did, by ref: ids of ours, nothing that was recalled."""
    told = [f"{headline}: {', '.join(fields[name])}" for name, headline in _SAVED if fields[name]]
    if not fields["changed"]:
        head = "Nothing to change: the memory already says this."
    else:
        head = "Would save:" if fields["dry_run"] else "Saved."
    kept = [f"kept your uncommitted edit of {copy['path']}" for copy in fields["recovery_files"]]
    return "\n".join([head, *told, *kept])


def synced_text(fields: Mapping[str, Any], fence: Boundary) -> str:
    """What needs a look, and what to do about it."""
    counts = [f"{fields['fresh']} fresh", *(f"{len(fields[name])} {name}" for name in _FINDINGS if fields[name])]
    head = f"Synced: {', '.join(counts)}."
    found = "\n".join(_findings(fields))
    if not found:
        return f"{head} Nothing needs a look."
    needy = any(fields[name] for name in _FINDINGS)
    return "\n".join([head, fence.notice(), fenced_text(found, fence, origin="graph"), *([_MEND] if needy else [])])


def _findings(fields: Mapping[str, Any]) -> Iterator[str]:
    more = fields.get("more", {})
    for name in _FINDINGS:
        for row in fields[name]:
            known = "" if row.get("new", True) else " (reported before)"
            yield f"{name}: {row['id']} — {row['title']} — {row['because']}{known}"
        if more.get(name):
            yield f"{name}: and {more[name]} more"
    for gap in fields["coverage_gaps"]:
        yield f"no feature covers: {gap['dir']} ({gap['files_count']} files)"
