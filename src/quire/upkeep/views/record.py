"""Assemble one record in full: text, verdict, relations, origin, possible actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from quire.files.git import Git
from quire.files.git_history import Commit, describe_known
from quire.layers.record_details import Field, RecordDetails, RecordEvidence
from quire.model.change_explained import ChangeExplained
from quire.model.contested import ContestedField, value_shown
from quire.model.records import Edge, Record
from quire.model.verdicts import AnchorVerdict, Verdict
from quire.upkeep.views.items import RecordItem, is_judged, item_of

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.upkeep.views.record_list import Verify

Explain = Callable[[Mapping[str, Verdict]], Mapping[str, Iterable[ChangeExplained]]]
"""What changed behind records that are out of date."""
_RELATIONS = 200
_VALUE = 2_000
_SAID = {
    "affects": ("affects", "is affected by"),
    "contradicts": ("contradicts", "is contradicted by"),
    "depends_on": ("depends on", "is depended on by"),
    "elaborates": ("elaborates", "is elaborated by"),
    "enables": ("enables", "is enabled by"),
    "motivated_by": ("is motivated by", "motivates"),
    "related_to": ("is related to", "is related to"),
    "replaces": ("replaces", "is replaced by"),
    "supersedes": ("supersedes", "is superseded by"),
}
_REPLACING = ("supersedes", "replaces")


class AnchorView(msgspec.Struct, frozen=True, kw_only=True):
    """One anchor, and what became of it."""

    anchor: str
    verdict: str
    because: str
    explained: str
    """How many commits changed it, and which most; empty where that says no more than `because`."""
    files: tuple[str, ...]
    files_count: int
    dirty: tuple[str, ...]
    commit: Commit | None
    to: tuple[str, ...]


class VerdictView(msgspec.Struct, frozen=True, kw_only=True):
    verdict: str
    because: str
    since: Commit | None
    """The commit that was current when someone last looked."""
    anchors: tuple[AnchorView, ...]


class RelationView(msgspec.Struct, frozen=True, kw_only=True):
    """A relation as one of its ends sees it."""

    ref: str
    predicate: str
    direction: Literal["out", "in"]
    says: str
    status: str
    confidence: str | None
    other: RecordItem | None
    """None where there is no record of that name."""
    other_ref: str


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A field that branches gave different values: the one that is used, then the others."""

    field: str
    values: tuple[str, ...]


class RecordDetail(msgspec.Struct, frozen=True, kw_only=True):
    item: RecordItem
    path: str
    """The file that holds it, from the project's root."""
    body: str
    verdict: VerdictView | None
    anchors: tuple[str, ...]
    relations: tuple[RelationView, ...]
    evidence: tuple[RecordEvidence, ...]
    provenance: tuple[Field, ...]
    fields: tuple[Field, ...]
    contested: tuple[Disagreement, ...]
    superseded_by: RecordItem | None
    may: tuple[str, ...]
    revision: str


def record_detail(
    record: Record,
    kept: RecordDetails,
    index: Index,
    git: Git,
    verify: Verify,
    *,
    contested: Iterable[ContestedField] = (),
    explain: Explain | None = None,
) -> RecordDetail:
    """Everything that is known of a record; `kept` is what its layer keeps."""
    edges = sorted(_edges(index, record), key=lambda edge: _order(edge, record.ref))
    shown = edges[:_RELATIONS]
    others = {name: found for edge in shown if (found := index.find(name := _other(edge, record.ref))) is not None}
    replaced = index.find(kept.superseded_by) if kept.superseded_by else _replacement(record, shown, others)
    concerned = [record, *others.values(), *([replaced] if replaced else [])]
    judged = {found.ref: found for found in concerned if is_judged(found)}
    verdicts = verify(list(judged.values())) if judged else {}
    verdict = verdicts.get(record.ref)
    changes = explain({record.ref: verdict}).get(record.ref, ()) if explain and verdict else ()
    left = len(edges) - len(shown)
    return RecordDetail(
        item=item_of(record, verdict),
        path=kept.path,
        body=kept.body,
        verdict=_verdict_view(verdict, git, changes) if verdict else None,
        anchors=record.anchors,
        relations=tuple(_relation(edge, record.ref, others, verdicts) for edge in shown),
        evidence=kept.evidence,
        provenance=kept.provenance,
        fields=(
            *kept.fields,
            *([Field("relations left out", str(left), "number")] if left else []),
        ),
        contested=tuple(
            Disagreement(field=one.field, values=tuple(value_shown(value, _VALUE) for value in reversed(one.values)))
            for one in contested
        ),
        superseded_by=item_of(replaced, verdicts.get(replaced.ref)) if replaced else None,
        may=kept.may,
        revision=kept.revision,
    )


def _edges(index: Index, record: Record) -> list[Edge]:
    """Of a relation to itself there is one."""
    return list({edge.ref: edge for edge in index.edges_of(record.ref)}.values())


def _other(edge: Edge, ref: str) -> str:
    return edge.target if edge.source == ref else edge.source


def _order(edge: Edge, ref: str) -> tuple[bool, bool, str, str]:
    """What holds first, then what the record says itself."""
    return edge.status != "active", edge.source != ref, edge.predicate, _other(edge, ref)


def _replacement(record: Record, edges: list[Edge], others: Mapping[str, Record]) -> Record | None:
    """What a record that was replaced was replaced by, where a relation says it."""
    if record.status != "superseded":
        return None
    by = [edge.source for edge in edges if edge.target == record.ref and edge.predicate in _REPLACING]
    return next((others[name] for name in by if name in others), None)


def _relation(edge: Edge, ref: str, others: Mapping[str, Record], verdicts: Mapping[str, Verdict]) -> RelationView:
    is_out = edge.source == ref
    other_ref = _other(edge, ref)
    other = others.get(other_ref)
    return RelationView(
        ref=edge.ref,
        predicate=edge.predicate,
        direction="out" if is_out else "in",
        says=_says(edge.predicate, is_out=is_out),
        status=edge.status,
        confidence=edge.confidence,
        other=item_of(other, verdicts.get(other.ref)) if other else None,
        other_ref=other_ref,
    )


def _says(predicate: str, *, is_out: bool) -> str:
    name = predicate.replace("-", "_")
    words = name.replace("_", " ")
    out, into = _SAID.get(name, (words, f"is named by ({words})"))
    return out if is_out else into


def _verdict_view(verdict: Verdict, git: Git, changes: Iterable[ChangeExplained]) -> VerdictView:
    said = {one.anchor: one.line() for one in changes if one.says_more}
    names = [name for name in (verdict.since, *(anchor.commit for anchor in verdict.anchors)) if name]
    commits = describe_known(git, names)
    return VerdictView(
        verdict=verdict.verdict,
        because=verdict.because,
        since=commits.get(verdict.since),
        anchors=tuple(_anchor_view(anchor, commits, said) for anchor in verdict.anchors),
    )


def _anchor_view(anchor: AnchorVerdict, commits: Mapping[str, Commit], said: Mapping[str, str]) -> AnchorView:
    return AnchorView(
        anchor=anchor.anchor,
        verdict=anchor.verdict,
        because=anchor.because,
        explained=said.get(anchor.anchor, ""),
        files=anchor.files,
        files_count=anchor.files_count,
        dirty=anchor.dirty,
        commit=commits.get(anchor.commit),
        to=anchor.to,
    )
