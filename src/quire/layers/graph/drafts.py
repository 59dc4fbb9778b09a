"""Mutable drafts of nodes and relations, compared with what is stored at the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from quire.layers.graph.codec import body_hash, encode_fields, relation_hash
from quire.layers.graph.layout import RELATIONS
from quire.layers.graph.stamps import given_evidence, with_stamps_of
from quire.layers.graph.stored import StoredNode, StoredRelation
from quire.layers.graph.types import Event
from quire.model.ids import kind_of
from quire.model.vocabulary import Actor, EventName, live_status


class NodeDraft(msgspec.Struct, kw_only=True):
    """A node's next fields and body; `path` is empty until a new node gets one."""

    id: str
    stored: StoredNode | None
    fields: dict[str, Any]
    body: str
    path: str = ""
    removed: bool = False
    event: EventName | None = None
    reason: str | None = None
    confirmed: bool = False
    """Someone looked at the code and found the node true."""

    @classmethod
    def of(cls, stored: StoredNode) -> NodeDraft:
        return cls(
            id=stored.node.id,
            stored=stored,
            fields=stored.fields,
            body=stored.body,
            path=stored.path,
        )

    @classmethod
    def new(cls, node_id: str, actor: Actor, task: str, now: str) -> NodeDraft:
        kind = kind_of(node_id)
        fields: dict[str, Any] = {
            "id": node_id,
            "type": kind,
            "status": live_status(kind),
            "tags": [],
            "evidence": [],
            "source": {"kind": actor, "task": task},
            "created_at": now,
        }
        return cls(id=node_id, stored=None, fields=fields, body="")

    @property
    def kind(self) -> str:
        return str(self.fields["type"])

    @property
    def body_path(self) -> str:
        return self.path.removesuffix(".json") + ".md"

    @property
    def changed_fields(self) -> list[str]:
        """What differs from the stored node; a digest that no longer fits counts as a changed body."""
        if self.stored is None:
            return sorted(self.fields)
        before = self.stored.fields
        names = [name for name in {**before, **self.fields} if before.get(name) != self.fields.get(name)]
        if self.body != self.stored.body or not self.stored.hash_holds:
            names.append("body")
        return sorted(names)

    @property
    def needs_seal(self) -> bool:
        """Whether this save says something of the code: a tag or a relation does not."""
        if self.stored is None or self.confirmed:
            return True
        before = self.stored.fields
        changed = self.body != self.stored.body or any(before.get(name) != self.fields.get(name) for name in _CLAIMS)
        return changed and self.event is None

    def seal(self, seals: Iterable[str], commit: str, actor: Actor) -> None:
        """Note what the anchors hold now, beside the evidence that was given."""
        given = given_evidence(self.fields)
        self.fields["evidence"] = [*given, *({"kind": "file", "id": seal} for seal in seals)]
        source = {**self.fields.get("source", {"kind": actor})}
        source.pop("commit", None)
        self.fields["source"] = {**source, "commit": commit} if commit else source

    def retire(self, event: EventName, reason: str) -> None:
        self.event = event
        self.reason = reason

    def encode(self, now: str, *, apart: bool = False) -> bytes:
        """The sidecar's next bytes; `apart`, with the stamps that it has."""
        self.fields.update(body_path=self.body_path, content_hash=body_hash(self.body), updated_at=now)
        if self.stored is None:
            return encode_fields(self.fields)
        written = self.stored.written
        if not apart:
            return encode_fields(self.fields, written)
        fields = with_stamps_of(self.fields, written)
        return self.stored.data if fields == written else encode_fields(fields, written)

    def events(self, actor: Actor, task: str, now: str) -> list[Event]:
        """One event for the change, and one more where fields were also edited on the way to retirement."""
        made = []
        payload: dict[str, object]
        if self.stored is None and not self.removed:
            made.append(self._event("memory.created", actor, now, {"task": task}))
        elif not self.removed:
            edited = [name for name in self.changed_fields if name not in _STAMPS and not self._only_sealed(name)]
            if self.event:
                edited = [name for name in edited if name not in ("status", "superseded_by")]
            if self.confirmed:
                payload = {"task": task, "fields": edited, "confirmed": True}
                made.append(self._event("memory.updated", actor, now, payload, self.reason))
            elif edited:
                made.append(self._event("memory.updated", actor, now, {"task": task, "fields": edited}))
        if self.event:
            payload = {"task": task}
            if self.event == "memory.superseded":
                payload["superseded_by"] = self.fields["superseded_by"]
            made.append(self._event(self.event, actor, now, payload, self.reason))
        return made

    def _only_sealed(self, name: str) -> bool:
        """Whether a field differs in nothing but what sealing wrote into it."""
        before = self.stored.fields if self.stored else {}
        if name == "source":
            return {**before.get(name, {}), "commit": ""} == {**self.fields.get(name, {}), "commit": ""}
        return name == "evidence" and given_evidence(before) == given_evidence(self.fields)

    def _event(
        self, name: EventName, actor: Actor, now: str, payload: dict[str, object], reason: str | None = None
    ) -> Event:
        return Event(
            event=name,
            actor=actor,
            timestamp=now,
            id=self.id,
            payload=payload,
            reason=reason or msgspec.UNSET,
        )


_STAMPS = ("body_path", "content_hash", "updated_at")
_CLAIMS = ("title", "stage", "status", "anchors")


class RelationDraft(msgspec.Struct, kw_only=True):
    stored: StoredRelation | None
    fields: dict[str, Any]
    path: str
    removed: bool = False

    @classmethod
    def of(cls, stored: StoredRelation) -> RelationDraft:
        return cls(stored=stored, fields=dict(stored.fields), path=stored.path)

    @classmethod
    def new(cls, key: tuple[str, str, str], path: str, taken: set[str], now: str) -> RelationDraft:
        base, number = path.removesuffix(".json"), 2
        while path in taken:
            path, number = f"{base}-{number}.json", number + 1
        source, predicate, target = key
        name = path.removeprefix(f"{RELATIONS}/").removesuffix(".json")
        fields: dict[str, Any] = {
            "id": f"rel.{name}",
            "from": source,
            "predicate": predicate,
            "to": target,
            "status": "active",
            "created_at": now,
        }
        return cls(stored=None, fields=fields, path=path)

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def changed(self) -> bool:
        return self.stored is None or self.removed or self.fields != self.stored.fields

    def encode(self, now: str) -> bytes:
        self.fields["updated_at"] = now
        self.fields["content_hash"] = relation_hash(self.fields)
        return encode_fields(self.fields, self.stored.fields if self.stored else None)

    def event(self, actor: Actor, task: str, now: str) -> Event:
        name: EventName = (
            "relation.deleted" if self.removed else "relation.updated" if self.stored else "relation.created"
        )
        return Event(event=name, actor=actor, timestamp=now, relation_id=self.id, payload={"task": task})
