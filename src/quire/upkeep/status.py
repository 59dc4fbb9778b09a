"""The state of a project's memory at a glance."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from quire.anchors.working_tree import TreeReader
from quire.files.git import Git
from quire.index.catalog import Index
from quire.layers.facts.layout import PENDING, SECTIONS
from quire.layers.graph.layout import NO_DESCRIPTION
from quire.layers.graph.store import GraphStore
from quire.layers.journal.layout import SECTION_KEYS
from quire.layers.profile.layout import ACTIVE, CATEGORIES
from quire.layers.table import path_from_root
from quire.model.errors import GitRequired
from quire.model.records import Record
from quire.model.text import one_line
from quire.model.times import EPOCH, instant
from quire.model.verdicts import VERDICTS, Verdict
from quire.model.vocabulary import LAYER_NAMES, LIVE_STATUSES, STAGES
from quire.upkeep.reviewed import Reviews
from quire.upkeep.sync_marker import Marker, read_marker
from quire.upkeep.verdicts import verdicts_on_all


class StageCount(msgspec.Struct, frozen=True):
    count: int
    titles: list[str]


class StatusRow(msgspec.Struct, frozen=True, kw_only=True):
    """One node, and whether it is still true of the code."""

    id: str
    kind: str
    title: str
    stage: str | None
    verdict: str
    because: str


class StaleNode(msgspec.Struct, frozen=True):
    id: str
    title: str
    orphaned_anchors: list[str]


class GitState(msgspec.Struct, frozen=True):
    available: bool
    branch: str | None = None
    commit: str | None = None


class FactCount(msgspec.Struct, frozen=True, kw_only=True):
    """The layer of facts in a line."""

    active: int
    pending: int
    """Proposed, and not accepted yet."""
    other: int
    """Archived, superseded and the like."""
    by_section: dict[str, int]
    """Active ones."""
    episodes: int
    connections: int


class ProfileCount(msgspec.Struct, frozen=True, kw_only=True):
    """The profile in a line."""

    active: int
    other: int
    """Archived and superseded."""
    by_category: dict[str, int]
    """Active ones."""
    links: int


class JournalCount(msgspec.Struct, frozen=True, kw_only=True):
    """The journal in a line."""

    events: int
    """Active ones, our own runs included."""
    sessions: int
    """Active events that are imported sessions."""
    checkpoints: int
    archived: int
    """Events and checkpoints in the archive."""
    by_section: dict[str, int]
    """What the bundle holds: one for each section, of gotchas and next steps their number."""


class InboxCount(msgspec.Struct, frozen=True, kw_only=True):
    """What is pending in the inbox, without its words: those are for a person to look at first."""

    pending: int
    by_kind: dict[str, int]
    by_origin: dict[str, int]
    """By folder or file; of sessions all together."""


class Status(msgspec.Struct, kw_only=True):
    project: dict[str, str]
    features_by_stage: dict[str, StageCount]
    nodes_by_kind: dict[str, int]
    relations: int
    open_questions: list[StatusRow]
    stale: list[StaleNode]
    verdicts: dict[str, int]
    features: list[StatusRow]
    attention: list[StatusRow]
    """Every live node that is changed, moved, orphaned or cannot be checked."""
    unreviewed: list[str]
    """Refs of what hooks send only a line of: nobody has looked at it as it is now."""
    contested: dict[str, list[str]]
    """By ref, what branches disagree on."""
    unreadable: list[dict[str, str]]
    facts: FactCount | None
    """None where no fact was ever stored."""
    profile: ProfileCount | None
    """None where nothing was ever remembered."""
    journal: JournalCount | None
    """None where there is none."""
    inbox: InboxCount
    last_activity: str | None
    last_sync: dict[str, Any] | None
    git: GitState


def memory_status(store: GraphStore, git: Git, index: Index) -> Status:
    config = store.config()
    records = index.records("graph")
    live = [record for record in records if record.status in LIVE_STATUSES]
    # A dead feature's code is expected to be gone.
    judged = (record for record in live if record.stage != "dead" and record.kind != "project")
    current = sorted(judged, key=lambda record: record.ref)
    git_now = git_state(git)
    verdicts = verdicts_on_all(store.root, git, index, current, TreeReader(store.root, git), git_now.commit)
    rows = [_row(record, verdicts[record.ref]) for record in current]
    return Status(
        project={"id": config.project.id, "name": config.project.name},
        features_by_stage=_by_stage(live),
        nodes_by_kind=_by_kind(records),
        relations=index.edge_count("graph"),
        open_questions=[row for row in rows if row.kind == "question"],
        stale=_stale(current, verdicts),
        verdicts={state: sum(row.verdict == state for row in rows) for state in VERDICTS},
        features=[row for row in rows if row.kind == "feature"],
        attention=[row for row in rows if row.verdict not in ("fresh", "unanchored")],
        unreviewed=_unreviewed(live, Reviews(store.root, git, index), index),
        contested={record.ref: list(record.contested) for record in index.records_contested()},
        unreadable=[
            {"path": path_from_root(layer, path), "code": code, "message": message}
            for layer, path, code, message in index.problems()
        ],
        facts=_facts(index),
        profile=_profile(index),
        journal=_journal(index),
        inbox=_inbox(store.root),
        last_activity=last_activity(index),
        last_sync=last_sync(store),
        git=git_now,
    )


def _inbox(root: str) -> InboxCount:
    from quire.inbox.store import pending_kinds

    waiting = pending_kinds(root)
    return InboxCount(
        pending=len(waiting),
        by_kind=dict(Counter(item.kind for item in waiting)),
        by_origin=dict(Counter(_place(item.origin) for item in waiting)),
    )


def _place(origin: str) -> str:
    """Where a proposal comes from, as far as it is worth naming."""
    kind, _, path = origin.partition(":")
    return (path.rpartition("/")[0] or path) if kind == "file" else "the git history" if kind == "git" else f"{kind}s"


def _unreviewed(live: list[Record], reviews: Reviews, index: Index) -> list[str]:
    told = [record for record in live if NO_DESCRIPTION not in record.text]
    told += index.records("facts", "fact", (ACTIVE,))
    told += index.records("profile", statuses=(ACTIVE,))
    told += index.records("journal", "bundle", (ACTIVE,))
    seen = reviews(told)
    return [record.ref for record in told if record.ref not in seen]


def _facts(index: Index) -> FactCount | None:
    counts = index.section_counts("facts")
    if not counts:
        return None
    sections = {
        section: number for (kind, section, status), number in counts.items() if kind == "fact" and status == "active"
    }
    pending = sum(number for (_, _, status), number in counts.items() if status == PENDING)
    facts = sum(number for (kind, _, _), number in counts.items() if kind == "fact")
    return FactCount(
        active=sum(sections.values()),
        pending=pending,
        other=facts - sum(sections.values()) - pending,
        by_section={name: sections[name] for name in (*SECTIONS, *sorted(sections)) if name in sections},
        episodes=sum(number for (kind, _, _), number in counts.items() if kind == "episode"),
        connections=index.live_edge_count("facts"),
    )


def _profile(index: Index) -> ProfileCount | None:
    counts = index.section_counts("profile")
    if not counts:
        return None
    active = {category: number for (_, category, status), number in counts.items() if status == ACTIVE}
    return ProfileCount(
        active=sum(active.values()),
        other=sum(counts.values()) - sum(active.values()),
        by_category={name: active[name] for name in (*CATEGORIES, *sorted(active)) if name in active},
        links=index.edge_count("profile"),
    )


def _journal(index: Index) -> JournalCount | None:
    counts = index.section_counts("journal")
    if not counts:
        return None
    active = {(kind, section): number for (kind, section, status), number in counts.items() if status == ACTIVE}
    sections = {section: number for (kind, section), number in active.items() if kind == "bundle"}
    return JournalCount(
        events=sum(number for (kind, _), number in active.items() if kind == "event"),
        sessions=active.get(("event", "imported_session"), 0),
        checkpoints=sum(number for (kind, _), number in active.items() if kind == "checkpoint"),
        archived=sum(number for (_, _, status), number in counts.items() if status != ACTIVE),
        by_section={name: sections[name] for name in SECTION_KEYS if name in sections},
    )


def _by_stage(live: list[Record]) -> dict[str, StageCount]:
    found: dict[str, list[str]] = {stage: [] for stage in STAGES}
    for record in live:
        if record.kind == "feature":
            found[record.stage or "idea"].append(one_line(record.title))
    return {stage: StageCount(len(titles), sorted(titles, key=str.casefold)) for stage, titles in found.items()}


def _by_kind(records: list[Record]) -> dict[str, int]:
    return dict(sorted(Counter(record.kind for record in records).items()))


def _row(record: Record, verdict: Verdict) -> StatusRow:
    return StatusRow(
        id=record.ref,
        kind=record.kind,
        title=one_line(record.title),
        stage=record.stage,
        verdict=verdict.verdict,
        because=verdict.because,
    )


def _stale(current: list[Record], verdicts: dict[str, Verdict]) -> list[StaleNode]:
    """Nodes with anchors that lead nowhere, or no longer where they say."""
    found = []
    for record in current:
        lost = [anchor for anchor in verdicts[record.ref].anchors if anchor.verdict in ("orphaned", "moved")]
        if lost:
            found.append(StaleNode(record.ref, one_line(record.title), [anchor.anchor for anchor in lost]))
    return found


def last_activity(index: Index) -> str | None:
    """When something was last recorded or changed, in any layer."""
    newest = (record.updated_at for layer in LAYER_NAMES for record in index.records(layer, limit=1))
    return max(newest, key=lambda text: instant(text) or EPOCH, default=None)


def last_sync(store: GraphStore) -> dict[str, Any] | None:
    """The commit and time of the last sync, on this branch or for all."""
    marker = read_marker(store)
    return (
        {"last_sync_commit": marker.commit, "last_sync_at": marker.at or None} if isinstance(marker, Marker) else None
    )


def git_state(git: Git) -> GitState:
    if not git.available:
        return GitState(available=False)
    try:
        return GitState(available=True, branch=git.branch(), commit=git.head())
    except GitRequired:
        return GitState(available=False)
