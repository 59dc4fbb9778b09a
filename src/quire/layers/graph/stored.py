"""A node and a relation of the graph as they lie on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files.json_files import decode_object
from quire.layers.graph.codec import body_hash, node_decoder, node_hash_holds, relation_decoder
from quire.layers.graph.damage import invalid
from quire.model.records import Problem

if TYPE_CHECKING:
    from quire.layers.graph.types import Node, Relation, Stamps


class StoredNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node as it lies on the disk; paths are relative to the memory folder."""

    node: Node
    body: str
    path: str
    data: bytes
    body_data: bytes
    stamps: Sequence[Stamps] = ()
    """What saves on branches made of it that is not in the sidecar yet."""

    def stamped(self, stamps: Sequence[Stamps]) -> StoredNode:
        """The node as saves on branches left it."""
        if not stamps:
            return self
        from quire.layers.graph.stamps import stamped_fields

        node = msgspec.convert(stamped_fields(self.written, self.body, stamps), type(self.node))
        return msgspec.structs.replace(self, node=node, stamps=stamps)

    @property
    def fields(self) -> dict[str, Any]:
        """Everything that is said of the node, also what we do not know."""
        if not self.stamps:
            return self.written
        from quire.layers.graph.stamps import stamped_fields

        return stamped_fields(self.written, self.body, self.stamps)

    @property
    def written(self) -> dict[str, Any]:
        """Everything the sidecar says."""
        return decode_object(self.data)

    @property
    def hash_holds(self) -> bool:
        return self.node.content_hash == body_hash(self.body) or node_hash_holds(self.fields, self.body)


class StoredRelation(msgspec.Struct, frozen=True, kw_only=True):
    relation: Relation
    path: str
    fields: dict[str, Any]
    data: bytes


def decoded_node(path: str, data: bytes) -> Node | Problem:
    """The node of a sidecar; where it cannot be read, what is wrong with it."""
    try:
        node = node_decoder().decode(data.removeprefix(b"\xef\xbb\xbf"))
        decode_object(data)  # what it says beyond our fields must be readable, too: a rewrite keeps it
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return invalid(path, data, str(error))
    return node


def decoded_relation(path: str, data: bytes) -> StoredRelation | Problem:
    """The relation of a file; where it cannot be read, what is wrong with it."""
    try:
        relation = relation_decoder().decode(data.removeprefix(b"\xef\xbb\xbf"))
        fields = decode_object(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return invalid(path, data, str(error))
    return StoredRelation(relation=relation, path=path, fields=fields, data=data)
