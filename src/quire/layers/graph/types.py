"""Stored types of the graph (schema v5) and the save intent; JSON Schemas are generated from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from quire.model import limits
from quire.model.ids import ID_PATTERN, RELATION_ID_PATTERN
from quire.model.times import TIMESTAMP_PATTERN
from quire.model.vocabulary import (
    Actor,
    Confidence,
    EventName,
    EvidenceKind,
    Kind,
    OriginKind,
    Predicate,
    RelationStatus,
    Stage,
    Status,
)

_ID_RULE = "must be kind.slug in lower-case ASCII, such as feature.retry-queue"
NodeId = Annotated[str, Meta(pattern=ID_PATTERN, description=_ID_RULE)]
NewId = Annotated[str, Meta(pattern=ID_PATTERN, max_length=limits.ID_CHARS, description=_ID_RULE)]
RelationId = Annotated[str, Meta(pattern=RELATION_ID_PATTERN, description="must be rel.<name>")]
Timestamp = Annotated[str, Meta(pattern=TIMESTAMP_PATTERN, description="must be an ISO 8601 date-time with an offset")]
Digest = Annotated[str, Meta(pattern=r"^sha256:[a-f0-9]{64}$", description="must be sha256: and 64 hexadecimal digits")]
Text = Annotated[str, Meta(min_length=1)]


class Evidence(Struct, frozen=True):
    kind: EvidenceKind
    id: Text


class Source(Struct, frozen=True, omit_defaults=True):
    kind: Actor
    task: str | UnsetType = UNSET
    commit: Text | UnsetType = UNSET


class Origin(Struct, frozen=True, omit_defaults=True):
    kind: OriginKind
    locator: Annotated[str, Meta(min_length=1, max_length=limits.LOCATOR_CHARS)]
    captured_at: Timestamp | UnsetType = UNSET
    digest: Digest | UnsetType = UNSET
    media_type: Text | UnsetType = UNSET


class Node(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node's sidecar."""

    id: NodeId
    type: Kind
    status: Status
    title: Text
    body_path: Annotated[str, Meta(pattern=r"^memory\/.+\.md$", description="must be a .md file below memory/")]
    stage: Stage | UnsetType = UNSET
    anchors: list[Text] = []
    tags: list[Text] = []
    evidence: list[Evidence] = []
    source: Source | UnsetType = UNSET
    origin: Origin | UnsetType = UNSET
    superseded_by: NodeId | None = None
    content_hash: Digest
    created_at: Timestamp
    updated_at: Timestamp


class Relation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: RelationId
    source: NodeId = field(name="from")
    predicate: Predicate
    target: NodeId = field(name="to")
    status: RelationStatus
    confidence: Confidence | UnsetType = UNSET
    evidence: list[Evidence] = []
    content_hash: Digest | UnsetType = UNSET
    created_at: Timestamp
    updated_at: Timestamp


class Stamps(Struct, frozen=True, kw_only=True):
    """What a save on a branch makes of a node besides what someone says: it stands in the save's event until the
    default branch takes it over into the sidecar, so that two branches can change one node without a conflict."""

    path: str
    updated_at: Timestamp
    content_hash: Digest
    seals: list[str] = []
    commit: str = ""


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True):
    event: EventName
    actor: Actor
    timestamp: Timestamp
    id: NodeId | UnsetType = UNSET
    relation_id: RelationId | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    payload: dict[str, Any] | UnsetType = UNSET


Reason = Annotated[str, Meta(min_length=1, max_length=limits.REASON_CHARS)]


class EvidenceIn(Evidence, frozen=True, forbid_unknown_fields=True):
    """Evidence as it is sent: a key that would not be kept is refused, not dropped."""


class OriginIn(Origin, frozen=True, forbid_unknown_fields=True):
    """An origin as it is sent."""


class RelatedIn(Struct, frozen=True, forbid_unknown_fields=True):
    """A relation from this node: made, or given a new confidence, or revived."""

    predicate: Predicate
    to: NodeId
    confidence: Confidence | UnsetType = UNSET


class UnrelatedIn(Struct, frozen=True, forbid_unknown_fields=True):
    """A relation from this node that is to go."""

    predicate: Predicate
    to: NodeId


class NodeIn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a save says of one node; an absent field is left as it is."""

    id: NewId | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    title: Annotated[str, Meta(min_length=1, max_length=limits.TITLE_CHARS)] | UnsetType = UNSET
    body: Annotated[str, Meta(min_length=1, max_length=limits.BODY_CHARS)] | UnsetType = UNSET
    stage: Stage | UnsetType = UNSET
    status: Literal["active", "open", "closed"] | UnsetType = UNSET
    anchors: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=limits.ANCHOR_CHARS)]],
            Meta(max_length=limits.ANCHORS),
        ]
        | UnsetType
    ) = UNSET
    tags: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=limits.TAG_CHARS)]],
            Meta(max_length=limits.TAGS),
        ]
        | UnsetType
    ) = UNSET
    evidence: Annotated[list[EvidenceIn], Meta(max_length=limits.EVIDENCE)] | UnsetType = UNSET
    origin: OriginIn | UnsetType = UNSET
    related: Annotated[list[RelatedIn], Meta(max_length=limits.ITEMS)] = []
    unrelated: Annotated[list[UnrelatedIn], Meta(max_length=limits.ITEMS)] = []


class StaleIn(Struct, frozen=True, forbid_unknown_fields=True):
    id: NodeId
    reason: Reason


class SupersedeIn(Struct, frozen=True, forbid_unknown_fields=True):
    id: NodeId
    superseded_by: NodeId
    reason: Reason


class DeleteIn(Struct, frozen=True, forbid_unknown_fields=True):
    id: NodeId
    reason: Reason


class ConfirmIn(Struct, frozen=True, forbid_unknown_fields=True):
    """Someone looked at the code, and what the node says is still true of it."""

    id: NodeId
    reason: Reason | UnsetType = UNSET


class Intent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The input of a save."""

    task: Annotated[str, Meta(min_length=1, max_length=limits.TASK_CHARS)]
    nodes: Annotated[list[NodeIn], Meta(max_length=limits.ITEMS)] = []
    stale: Annotated[list[StaleIn], Meta(max_length=limits.ITEMS)] = []
    supersede: Annotated[list[SupersedeIn], Meta(max_length=limits.ITEMS)] = []
    delete: Annotated[list[DeleteIn], Meta(max_length=limits.ITEMS)] = []
    confirm: Annotated[list[ConfirmIn], Meta(max_length=limits.ITEMS)] = []
