"""Find what changed in the code since the last sync, and which records are out of date because of it.

The mechanical half of keeping a memory honest. Nothing here writes a record: the judgement stays with whoever reads the
report, and goes into one save. What was reported and not acted on stays reported, because each record is measured
against its own last look, and the marker only says what is new.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import msgspec

from quire.anchors.commit_tree import without_own
from quire.anchors.path_match import Files
from quire.anchors.working_tree import TreeReader, WorkingTree
from quire.files.freshness import joint_stamp
from quire.files.git import Git
from quire.files.git_history import changes_between, changes_staged, is_shallow
from quire.index.catalog import Index
from quire.layers.graph.store import GraphStore
from quire.model.errors import GitRequired
from quire.model.records import Record
from quire.model.text import one_line
from quire.model.times import EPOCH, instant
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LIVE_STATUSES
from quire.upkeep.coverage import Gap, coverage_gaps, with_news
from quire.upkeep.sync_marker import Marker, Start, read_marker, start_of
from quire.upkeep.verdicts import beside_git, state_of_all, verdicts_on_all

_MEMO = "sync"
_RULES = 2
"""Another number where a report says other things."""


class ChangedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node whose anchored code is not what was seen when it was last saved or confirmed."""

    id: str
    title: str
    anchors: list[str]
    files: list[str]
    because: str
    commit: str | None
    new: bool
    """Not yet so at the last sync."""
    explained: list[str] = []
    """For each changed anchor how many commits changed it, which changed most of it, and what alone is different."""


class MovedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node whose code is somewhere else now."""

    id: str
    title: str
    anchors: list[str]
    to: list[str]
    """All anchors of the node as they would have to be."""
    because: str
    commit: str | None
    new: bool


class OrphanedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node whose code is gone."""

    id: str
    title: str
    anchors: list[str]
    because: str
    commit: str | None
    new: bool


class UnverifiableNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that cannot be checked, and why."""

    id: str
    title: str
    because: str


class Synced(msgspec.Struct, kw_only=True):
    base_commit: str | None
    head_commit: str | None
    full_verification: bool
    reason: str
    """Why everything was verified, where it was."""
    changed_files_count: int
    fresh: list[str]
    changed: list[ChangedNode]
    moved: list[MovedNode]
    orphaned: list[OrphanedNode]
    unanchored: list[str]
    unverifiable: list[UnverifiableNode]
    coverage_gaps: list[Gap]
    hidden_files_count: int
    """Files that a sparse checkout keeps out of the working tree; they were taken from git's index."""
    shallow: bool
    save_skeleton: dict[str, object]
    marker_advanced: bool = False
    titles: dict[str, str] = {}

    @property
    def findings(self) -> int:
        return len(self.changed) + len(self.moved) + len(self.orphaned)


def sync_memory(store: GraphStore, git: Git, index: Index, looking: TreeReader) -> Synced:
    """The whole report; the marker is left as it is. The look at the working tree was begun before.

    Where nothing at all is different from the last time, neither is the report.
    """
    head = git.head()
    marker = read_marker(store)
    start = start_of(marker, git, head)
    state = state_of_all(git, index, looking, head, repr(start), str(_RULES))
    known = index.memos([_MEMO]).get(_MEMO) if state else None
    if known is not None:
        with contextlib.suppress(msgspec.MsgspecError):
            memo = msgspec.msgpack.decode(known, type=_Memo)
            if memo.state == state and joint_stamp(git.root, memo.beside, {}) == memo.stamp:
                return memo.report
    report, beside = _work_out(store, git, index, looking, head, marker, start)
    if state and beside is not None:
        memo = _Memo(state, beside, joint_stamp(git.root, beside, {}), report)
        with contextlib.suppress(UnicodeEncodeError):  # a name that is no text cannot be kept
            index.note({_MEMO: msgspec.msgpack.encode(memo)})
    return report


class _Memo(msgspec.Struct, frozen=True):
    """A report, and the digest of everything that decided on it."""

    state: str
    beside: list[str]
    """Files of which git does not say whether they changed, and how they looked."""
    stamp: int
    report: Synced


def _work_out(
    store: GraphStore,
    git: Git,
    index: Index,
    looking: TreeReader,
    head: str | None,
    marker: Marker | str,
    start: Start,
) -> tuple[Synced, list[str] | None]:
    """The report, and the files beside git's knowledge that it rests on; None where there is no end of them."""
    tree = looking.tree()
    if tree.missing:
        raise GitRequired(f"{tree.missing}.", hint="A sync compares the memory with what git knows of the code.")
    changed = _changed_files(tree, git, start.base, head)
    live = index.records("graph", statuses=LIVE_STATUSES)
    current = (record for record in live if record.stage != "dead" and record.kind != "project")
    records = sorted(current, key=lambda record: record.ref)
    verdicts = verdicts_on_all(store.root, git, index, records, looking, head)
    sorting = _Sorting(Files(sorted(changed)), marker, full=start.base is None)
    for record in records:
        sorting.add(record, verdicts[record.ref])
    covering = [anchor for record in live if record.kind == "feature" for anchor in record.anchors]
    # Where a feature's code has moved to, the save that is proposed below will cover it.
    features = {record.ref for record in live if record.kind == "feature"}
    covering += [place for node in sorting.moved if node.id in features for place in node.to]
    gaps = coverage_gaps(tree, git, index, covering)
    unanchored = [ref for ref, verdict in verdicts.items() if verdict.verdict == "unanchored"]
    report = Synced(
        base_commit=start.base,
        head_commit=head,
        full_verification=start.base is None,
        reason=start.why,
        changed_files_count=len(changed),
        fresh=sorting.fresh,
        changed=sorting.changed,
        moved=sorting.moved,
        orphaned=sorting.orphaned,
        unanchored=unanchored,
        unverifiable=sorting.unverifiable,
        coverage_gaps=with_news(tree, git, gaps, covering, changed) if start.base else gaps,
        hidden_files_count=len(tree.hidden),
        shallow=is_shallow(git) if start.base is None else False,
        save_skeleton=_skeleton(sorting, {record.ref: record for record in records}),
        titles={record.ref: one_line(record.title) for record in records if record.ref not in sorting.fresh},
    )
    return report, beside_git(tree, records)


def _changed_files(tree: WorkingTree, git: Git, base: str | None, head: str | None) -> set[str]:
    """Every path that differs from the last sync: by commits, staged, or only in the working tree."""
    changes = changes_between(git, base, head) if base and head and base != head else []
    changes += changes_staged(git) if head else []
    changed = {path for change in changes for path in (change.old, change.new)} | tree.dirty()
    return set(without_own(sorted(changed)))


class _Sorting:
    """The records by their verdicts, each with what makes it need a look."""

    def __init__(self, changed_files: Files, marker: Marker | str, *, full: bool) -> None:
        self.fresh: list[str] = []
        self.changed: list[ChangedNode] = []
        self.moved: list[MovedNode] = []
        self.orphaned: list[OrphanedNode] = []
        self.unverifiable: list[UnverifiableNode] = []
        self._files = changed_files
        self._full = full
        self._synced = (instant(marker.at) if isinstance(marker, Marker) else None) or EPOCH

    def add(self, record: Record, verdict: Verdict) -> None:
        if verdict.verdict == "fresh":
            self.fresh.append(record.ref)
        elif verdict.verdict == "unverifiable":
            self._add_unverifiable(record, verdict)
        elif verdict.needs_a_look:
            self._add_out_of_date(record, verdict)

    def _hits(self, anchors: Sequence[str]) -> list[str]:
        return [anchor for anchor in anchors if self._files.at(anchor.rpartition("#")[0] or anchor)]

    def _add_out_of_date(self, record: Record, verdict: Verdict) -> None:
        """What changed, moved or is gone, by the anchors of which that is so."""
        ref, title, because = record.ref, one_line(record.title), verdict.because
        hit = [anchor for anchor in verdict.anchors if anchor.verdict == verdict.verdict]
        anchors = [anchor.anchor for anchor in hit]
        commit = next((anchor.commit for anchor in hit if anchor.commit), None)
        new = self._full or bool(self._hits(anchors))
        if verdict.verdict == "changed":
            files = sorted({file for anchor in hit for file in anchor.files})
            self.changed.append(
                ChangedNode(id=ref, title=title, anchors=anchors, files=files, because=because, commit=commit, new=new)
            )
        elif verdict.verdict == "moved":
            to = dict.fromkeys(place for anchor in verdict.anchors for place in (anchor.to or (anchor.anchor,)))
            self.moved.append(
                MovedNode(id=ref, title=title, anchors=anchors, to=list(to), because=because, commit=commit, new=new)
            )
        else:
            self.orphaned.append(
                OrphanedNode(id=ref, title=title, anchors=anchors, because=because, commit=commit, new=new)
            )

    def _add_unverifiable(self, record: Record, verdict: Verdict) -> None:
        """Without a note of what was seen, a change since the last sync is still a change."""
        title = one_line(record.title)
        hit = self._hits(record.anchors) if not self._full and not record.seen else []
        if hit and (instant(record.updated_at) or EPOCH) <= self._synced:
            because = f"`{hit[0]}` changed since the last sync"
            self.changed.append(
                ChangedNode(id=record.ref, title=title, anchors=hit, files=[], because=because, commit=None, new=True)
            )
            return
        self.unverifiable.append(UnverifiableNode(id=record.ref, title=title, because=verdict.because))


def _skeleton(sorting: _Sorting, records: dict[str, Record]) -> dict[str, object]:
    """A save intent for all that needs a look: moved anchors filled in, blanks where only a person can know."""
    nodes: list[dict[str, object]] = [{"id": node.id, "anchors": node.to} for node in sorting.moved]
    nodes += [{"id": node.id, "body": ""} for node in sorting.changed]
    return {
        "task": "sync reconciliation",
        "nodes": nodes,
        "confirm": [],
        "stale": [{"id": node.id, "reason": ""} for node in sorting.orphaned if node.id in records],
    }
