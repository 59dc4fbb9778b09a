"""Compute verdicts for some records or all, cached until a file they depend on changes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.anchors.quick_verdict import quick_verdict
from quire.files.digests import hex_digest
from quire.files.freshness import joint_stamp
from quire.files.git import Git
from quire.layers.graph.layout import FOLDER, GENERATED, NODES, RELATIONS
from quire.model.records import Record
from quire.model.verdicts import Verdict

if TYPE_CHECKING:
    from quire.anchors.working_tree import TreeReader, WorkingTree
    from quire.index.catalog import Index

MEMO = "verdict "
"""What the names of noted verdicts begin with; a ref follows."""
_ALL = "verdicts"
_RULES = 2
"""Another number where other verdicts are given, or they are said otherwise."""


def file_of(record: Record) -> str:
    """The file that holds a record, from the project's root."""
    return f"{FOLDER}/{record.path}"


class _Memo(msgspec.Struct, frozen=True):
    """A verdict, what it was on, and how everything looked that it rests on."""

    rules: int
    about: tuple[tuple[str, ...], tuple[str, ...], str]
    paths: list[str]
    stamp: int
    verdict: Verdict


class Verdicts:
    """Asked with records, answers with their verdicts; the index keeps them, and may lose them.

    With `until`, a moment of the monotonic clock, what cannot be found out by then is left open, and not kept.
    """

    def __init__(self, root: str, git: Git, index: Index | None = None, *, until: float | None = None) -> None:
        self._until = until
        self._root = root
        self._git = git
        self._index = index
        self._metadata: dict[str, tuple[int, ...]] = {}

    def __call__(self, records: Sequence[Record]) -> dict[str, Verdict]:
        found = self._remembered(records)
        for record in records:
            if record.ref not in found:
                quick = quick_verdict(self._root, record)
                if quick is not None:
                    found[record.ref] = quick
        missing = [record for record in records if record.ref not in found]
        return {**found, **self._work_out(missing)} if missing else found

    def _remembered(self, records: Sequence[Record]) -> dict[str, Verdict]:
        if self._index is None:
            return {}
        about = {f"{MEMO}{record.ref}": record for record in records if record.anchors}
        found = {}
        for name, value in self._index.memos(about).items():
            record = about[name]
            try:
                memo = msgspec.msgpack.decode(value, type=_Memo)
            except msgspec.MsgspecError:
                continue
            is_same = (memo.rules, memo.about) == (_RULES, _about(record))
            if is_same and joint_stamp(self._root, memo.paths, self._metadata) == memo.stamp:
                found[record.ref] = memo.verdict
        return found

    def _work_out(self, records: Sequence[Record]) -> dict[str, Verdict]:
        from quire.anchors.verify import Verifier

        verifier = Verifier(self._root, self._git, file_of, keep=self._index, until=self._until)
        tree = verifier.look(records)
        # Looked at before it is read: what changes in between is noticed the next time.
        watched = {record.ref: self._watch(tree, record) for record in records}
        before: dict[str, tuple[int, ...]] = {}
        after: dict[str, tuple[int, ...]] = {}
        stamps = {ref: joint_stamp(self._root, paths, before) for ref, paths in watched.items() if paths}
        verdicts = verifier.verify(records)
        memos = {}
        for record in records:
            paths = watched[record.ref] if record.ref not in verifier.unfinished else None
            if paths and joint_stamp(self._root, paths, after) == stamps[record.ref]:
                paths = [*paths, *_destinations(verdicts[record.ref])]
                memo = _Memo(_RULES, _about(record), paths, joint_stamp(self._root, paths, after), verdicts[record.ref])
                with contextlib.suppress(UnicodeEncodeError):  # a name that is no text is looked at every time
                    memos[f"{MEMO}{record.ref}"] = msgspec.msgpack.encode(memo)
        if memos and self._index is not None:
            self._index.note(memos)
        return verdicts

    def _watch(self, tree: WorkingTree, record: Record) -> list[str] | None:
        if self._index is None or not record.anchors:
            return None
        from quire.anchors.verdict_paths import verdict_paths

        return verdict_paths(tree, self._git, record, file_of(record))


class _All(msgspec.Struct, frozen=True):
    """The verdicts on all live records, and everything that decided on them."""

    rules: int
    state: str
    beside: list[str]
    """Files of which git does not say whether they changed, and how they looked."""
    stamp: int
    verdicts: dict[str, Verdict]


def verdicts_on_all(
    root: str, git: Git, index: Index, records: Sequence[Record], looking: TreeReader, head: str | None
) -> dict[str, Verdict]:
    """The verdicts on very many records. Where nothing at all is different from the last time, neither are they."""
    state = state_of_all(git, index, looking, head)
    known = index.memos([_ALL]).get(_ALL) if state else None
    if known is not None:
        with contextlib.suppress(msgspec.MsgspecError):
            memo = msgspec.msgpack.decode(known, type=_All)
            is_same = (memo.rules, memo.state) == (_RULES, state) and joint_stamp(root, memo.beside, {}) == memo.stamp
            if is_same and all(record.ref in memo.verdicts for record in records):
                return memo.verdicts
    from quire.anchors.verify import Verifier

    tree = looking.tree()
    beside = beside_git(tree, records)
    stamp = joint_stamp(root, beside, {}) if beside is not None else 0
    verdicts = Verifier(root, git, file_of, tree, keep=index).verify(records)
    if state and beside is not None:
        memo = _All(_RULES, state, beside, stamp, verdicts)
        with contextlib.suppress(UnicodeEncodeError):  # a name that is no text cannot be kept
            index.note({_ALL: msgspec.msgpack.encode(memo)})
    return verdicts


def state_of_all(git: Git, index: Index, looking: TreeReader, head: str | None, *more: str) -> str | None:
    """All that verdicts rest on, as one digest: commits, the records, git's index, and the files beside it."""
    differing = looking.differing()
    # The index says how the records look. What we make beside them differs at every look, where no rule ignores it.
    made = tuple(f"{FOLDER}/{name}/" for name in (NODES, RELATIONS, *GENERATED))
    differing = [path for path in differing if not path.startswith(made)] if differing is not None else None
    if differing is None or os.path.lexists(os.path.join(git.root, ".gitmodules")):
        return None
    rules = [
        os.path.join(git.common_folder(), name) for name in ("config", "info/exclude", "info/attributes", "shallow")
    ]
    beside = joint_stamp(git.root, [os.path.join(git.folder(), "index"), *rules, *differing], {})
    return hex_digest("\0".join([str(head), *more, index.state(), str(beside), *differing]))


def beside_git(tree: WorkingTree, records: Sequence[Record]) -> list[str] | None:
    """The files of which git does not say whether they changed; None where there is no end of them."""
    from quire.anchors.path_match import is_glob

    if tree.modules or tree.missing:
        return None
    anchors = {(anchor.rpartition("#")[0] or anchor).rstrip("/") for record in records for anchor in record.anchors}
    return sorted({*tree.doubtful, *(anchor for anchor in anchors if not is_glob(anchor) and not tree.has(anchor))})


def rested_on(index: Index) -> list[str]:
    """The files and folders that verdicts rest on, as far as that is known: while they look the same, so do they."""
    from quire.anchors.path_match import static_prefix

    found: set[str] = set()
    for record in index.records_anchored():
        for anchor in record.anchors:
            found |= {static_prefix(anchor), static_prefix(anchor.rpartition("#")[0] or anchor)}
    for value in index.memos_from(MEMO):
        with contextlib.suppress(msgspec.MsgspecError):
            found.update(msgspec.msgpack.decode(value, type=_Memo).paths)
    return sorted(found)


def _destinations(verdict: Verdict) -> list[str]:
    """The files that anchors have moved to."""
    return [place.partition("#")[0].rstrip("/") for anchor in verdict.anchors for place in anchor.to]


def _about(record: Record) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return record.anchors, record.seen, record.commit
