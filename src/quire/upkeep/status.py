"""The state of a project's memory at a glance."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.files import Git, decode_object
from quire.index import Index
from quire.layers.graph import GraphStore
from quire.layers.graph.layout import FOLDER, SYNC_STATE
from quire.model import EPOCH, LIVE_STATUSES, STAGES, GitRequired, Record, instant, one_line
from quire.upkeep.anchors import dead_anchors

__all__ = ["GitState", "StageCount", "Status", "memory_status"]


class StageCount(msgspec.Struct, frozen=True):
    count: int
    titles: list[str]


class Titled(msgspec.Struct, frozen=True):
    id: str
    title: str


class StaleNode(msgspec.Struct, frozen=True):
    id: str
    title: str
    orphaned_anchors: list[str]


class GitState(msgspec.Struct, frozen=True):
    available: bool
    branch: str | None = None
    commit: str | None = None


class Status(msgspec.Struct, kw_only=True):
    project: dict[str, str]
    features_by_stage: dict[str, StageCount]
    nodes_by_kind: dict[str, int]
    relations: int
    open_questions: list[Titled]
    stale: list[StaleNode]
    unreadable: list[dict[str, str]]
    last_activity: str | None
    last_sync: dict[str, Any] | None
    git: GitState


def memory_status(store: GraphStore, git: Git, index: Index) -> Status:
    config = store.config()
    records = index.records("graph")
    live = [record for record in records if record.status in LIVE_STATUSES]
    return Status(
        project={"id": config.project.id, "name": config.project.name},
        features_by_stage=_by_stage(live),
        nodes_by_kind=_by_kind(records),
        relations=index.edge_count("graph"),
        open_questions=[Titled(r.ref, one_line(r.title)) for r in _by_ref(live) if r.kind == "question"],
        stale=_stale(store, git, live),
        unreadable=[
            {"path": f"{FOLDER}/{path}", "code": code, "message": message}
            for _, path, code, message in index.problems()
        ],
        last_activity=max((r.updated_at for r in records), key=lambda text: instant(text) or EPOCH, default=None),
        last_sync=_last_sync(store),
        git=_git_state(git),
    )


def _by_ref(records: list[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record.ref)


def _by_stage(live: list[Record]) -> dict[str, StageCount]:
    found: dict[str, list[str]] = {stage: [] for stage in STAGES}
    for record in live:
        if record.kind == "feature":
            found[record.stage or "idea"].append(one_line(record.title))
    return {stage: StageCount(len(titles), sorted(titles, key=str.casefold)) for stage, titles in found.items()}


def _by_kind(records: list[Record]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in records:
        counts[record.kind] = counts.get(record.kind, 0) + 1
    return dict(sorted(counts.items()))


def _stale(store: GraphStore, git: Git, live: list[Record]) -> list[StaleNode]:
    """Live nodes with anchors that lead nowhere; a dead feature's code is expected to be gone."""
    kept = [record for record in _by_ref(live) if record.stage != "dead"]
    dead = dead_anchors(store.root, git, (anchor for record in kept for anchor in record.anchors))
    return [
        StaleNode(record.ref, one_line(record.title), [anchor for anchor in record.anchors if anchor in dead])
        for record in kept
        if any(anchor in dead for anchor in record.anchors)
    ]


def _last_sync(store: GraphStore) -> dict[str, Any] | None:
    try:
        found = decode_object(store.read(SYNC_STATE))
    except (OSError, ValueError):
        return None
    return {name: found.get(name) for name in ("last_sync_commit", "last_sync_at")}


def _git_state(git: Git) -> GitState:
    if not git.available:
        return GitState(available=False)
    try:
        return GitState(available=True, branch=git.branch(), commit=git.head())
    except GitRequired:
        return GitState(available=False)
