"""Recompute the digests of nodes and relations after a purge, only where they were correct before."""

from __future__ import annotations

from collections.abc import Mapping

from quire.files.json_files import decode_object
from quire.files.jsonc_edit import set_member
from quire.layers.graph.codec import body_hash, body_text, node_hash_holds, relation_hash
from quire.layers.graph.layout import NODES, RELATIONS, sidecar_of
from quire.model.errors import QuireError

_DIGEST = "content_hash"


def rehash_graph(before: Mapping[str, bytes], after: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """Sidecars and relations among the files, or beside a body among them, with digests that hold."""
    found = {}
    bodies = [path for path in after if path.startswith(f"{NODES}/") and path.endswith(".md")]
    for path in dict.fromkeys([*after, *(sidecar_of(body) for body in bodies)]):
        data = after.get(path, before.get(path))
        has_digest = path.endswith(".json") and path.startswith((f"{NODES}/", f"{RELATIONS}/"))
        if data is not None and path in before and has_digest:
            rehashed = _rehashed(path, before, after, data)
            if rehashed != data:
                found[path] = rehashed
    return found


def _rehashed(path: str, before: Mapping[str, bytes], after: Mapping[str, bytes | None], data: bytes) -> bytes:
    try:
        was, now = decode_object(before[path]), decode_object(data)
        if path.startswith(f"{RELATIONS}/"):
            digest = relation_hash(now) if was.get(_DIGEST) == relation_hash(was) else ""
        else:
            body = path.removesuffix(".json") + ".md"
            if body not in before:
                return data
            old, new = before[body], after.get(body) or before[body]
            digest = body_hash(body_text(new)) if node_hash_holds(was, body_text(old)) else ""
        return set_member(data.decode("utf-8"), [_DIGEST], digest).encode("utf-8") if digest else data
    except (QuireError, OSError, ValueError):
        return data  # what cannot be read has no digest that held
