"""Digests of nodes and relations made anew where texts were taken out of them, and only where they held before."""

from __future__ import annotations

from collections.abc import Callable

from quire.files.json_files import decode_object
from quire.files.jsonc_edit import set_member
from quire.layers.graph.codec import body_hash, body_text, node_hash_holds, relation_hash
from quire.layers.graph.layout import NODES, RELATIONS
from quire.model.errors import QuireError

_DIGEST = "content_hash"


def rehash_node(path: str, before: bytes, after: bytes, held: Callable[[str], tuple[bytes, bytes]]) -> bytes:
    """A sidecar or a relation, below the memory's folder; `held` gives another file as it was and as it will be."""
    if not path.endswith(".json") or not path.startswith((f"{NODES}/", f"{RELATIONS}/")):
        return after
    try:
        was, now = decode_object(before), decode_object(after)
        if path.startswith(f"{RELATIONS}/"):
            digest = relation_hash(now) if was.get(_DIGEST) == relation_hash(was) else ""
        else:
            old, new = held(path.removesuffix(".json") + ".md")
            digest = body_hash(body_text(new)) if node_hash_holds(was, body_text(old)) else ""
        return set_member(after.decode("utf-8"), [_DIGEST], digest).encode("utf-8") if digest else after
    except (QuireError, OSError, ValueError):
        return after  # what cannot be read has no digest that held
