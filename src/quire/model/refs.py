"""Parse and write refs: one address for any record of any layer."""

from __future__ import annotations

import msgspec

from quire.model.errors import InputError, NotFound
from quire.model.ids import is_id
from quire.model.vocabulary import LayerName

LAYERS_BY_PREFIX: dict[str, LayerName] = {
    "fact": "facts",
    "episode": "facts",
    "profile": "profile",
    "event": "journal",
    "checkpoint": "journal",
    "bundle": "journal",
}


class Ref(msgspec.Struct, frozen=True):
    """The layer that holds a record, and the id it has there."""

    layer: LayerName
    kind: str
    id: str

    def __str__(self) -> str:
        return self.id if self.layer == "graph" else f"{self.kind}:{self.id}"


def graph_id(text: str) -> str:
    """The id of a node; a ref of another layer is refused."""
    ref = parse_ref(text)
    if ref.layer != "graph":
        raise NotFound(
            f"`{text}` is not a feature, decision, gotcha or question.",
            hint="Their refs look like feature.retry-queue.",
            details={"id": text},
        )
    return ref.id


def parse_ref(text: str) -> Ref:
    """`feature.retry-queue`, `fact:Ab3…`, `profile:user.timezone`, `bundle:gotchas`."""
    text = text.strip()
    prefix, colon, rest = text.partition(":")
    if colon and prefix in LAYERS_BY_PREFIX and rest:
        return Ref(layer=LAYERS_BY_PREFIX[prefix], kind=prefix, id=rest)
    if is_id(text):
        return Ref(layer="graph", kind=text.partition(".")[0], id=text)
    raise InputError(
        f"`{text[:80]}` is not a ref.",
        hint="A ref is kind.slug, such as feature.retry-queue, or one of "
        + ", ".join(f"{name}:…" for name in LAYERS_BY_PREFIX)
        + ".",
        details={"field": "ref", "allowed": ["kind.slug", *(f"{name}:id" for name in LAYERS_BY_PREFIX)]},
    )
