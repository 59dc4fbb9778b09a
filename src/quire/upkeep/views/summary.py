"""Summarise a project: counts, open reviews, last activity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import msgspec

from quire.files.git import Git
from quire.index.catalog import Index
from quire.layers.graph.store import GraphStore
from quire.model.verdicts import VERDICTS
from quire.model.vocabulary import LAYER_NAMES, LIVE_STATUSES, STAGES
from quire.upkeep.status import GitState, git_state, last_activity, last_sync
from quire.upkeep.views.record_list import Verify, records_and_verdicts


class ProjectSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One project, counted."""

    name: str
    root: str
    stages: dict[str, int]
    """Features that are not retired."""
    kinds: dict[str, int]
    """Live nodes of the graph."""
    layers: dict[str, int]
    """Records of every layer that is there."""
    open_questions: int
    stale: int
    """Live nodes that changed, moved or lost what they are tied to."""
    verdicts: dict[str, int]
    inbox: int
    unreadable: int
    last_activity: str | None
    last_sync: str | None
    git: GitState


def project_summary(
    index: Index,
    store: GraphStore,
    git: Git,
    verify: Verify,
    *,
    name: str,
    root: str,
    inbox: int,
    unreadable: int,
    hidden: Collection[str] = frozenset(),
) -> ProjectSummary:
    """`hidden` are refs of the profile that are not counted; `inbox` and `unreadable` are counted by the caller."""
    _, verdicts = records_and_verdicts(index, verify, ("graph",))
    states = Counter(found.verdict for found in verdicts.values())
    stages, kinds = _counted(index)
    layers = {layer: sum(index.counts(layer).values()) for layer in LAYER_NAMES}
    layers["profile"] -= len(hidden)
    return ProjectSummary(
        name=name,
        root=root,
        stages=stages,
        kinds=kinds,
        layers={layer: number for layer, number in layers.items() if number},
        open_questions=kinds.get("question", 0),
        stale=sum(found.needs_a_look for found in verdicts.values()),
        verdicts={state: states[state] for state in VERDICTS if states[state]},  # type: ignore[index]
        inbox=inbox,
        unreadable=unreadable,
        last_activity=last_activity(index),
        last_sync=_synced_at(store),
        git=git_state(git),
    )


def _counted(index: Index) -> tuple[dict[str, int], dict[str, int]]:
    """Features by stage, and live nodes by kind."""
    stages = dict.fromkeys(STAGES, 0)
    kinds: Counter[str] = Counter()
    for (kind, status, stage), number in index.counts("graph").items():
        if status not in LIVE_STATUSES:
            continue
        if kind == "feature" and (stage or "idea") in stages:
            stages[stage or "idea"] += number
        if stage != "dead":
            kinds[kind] += number
    return stages, dict(sorted(kinds.items()))


def _synced_at(store: GraphStore) -> str | None:
    found = (last_sync(store) or {}).get("last_sync_at")
    return found if isinstance(found, str) and found else None
