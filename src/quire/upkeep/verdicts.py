"""Verdicts for a handful of records, as a question needs them: worked out once, and again when something moved."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.anchors import quick_verdict, stamp_of
from quire.files import Git
from quire.layers.graph.layout import FOLDER
from quire.model import Record, Verdict

if TYPE_CHECKING:
    from quire.anchors import WorkingTree
    from quire.index import Index

_MEMO = "verdict "

__all__ = ["Verdicts", "file_of", "rested_on"]


def file_of(record: Record) -> str:
    """The file that holds a record, from the project's root."""
    return f"{FOLDER}/{record.path}"


class _Memo(msgspec.Struct, frozen=True):
    """A verdict, what it was on, and how everything looked that it rests on."""

    about: tuple[tuple[str, ...], tuple[str, ...], str]
    paths: list[str]
    stamp: int
    verdict: Verdict


class Verdicts:
    """Asked with records, answers with their verdicts; the index keeps them, and may lose them."""

    def __init__(self, root: str, git: Git, index: Index | None = None) -> None:
        self._root = root
        self._git = git
        self._index = index
        self._looks: dict[str, tuple[int, ...]] = {}

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
        about = {f"{_MEMO}{record.ref}": record for record in records if record.anchors}
        found = {}
        for name, value in self._index.memos(about).items():
            record = about[name]
            try:
                memo = msgspec.msgpack.decode(value, type=_Memo)
            except msgspec.MsgspecError:
                continue
            if memo.about == _about(record) and stamp_of(self._root, memo.paths, self._looks) == memo.stamp:
                found[record.ref] = memo.verdict
        return found

    def _work_out(self, records: Sequence[Record]) -> dict[str, Verdict]:
        from quire.anchors import Verifier

        verifier = Verifier(self._root, self._git, file_of)
        tree = verifier.look(records)
        # Looked at before it is read: what changes in between is noticed the next time.
        watched = {record.ref: self._watch(tree, record) for record in records}
        before: dict[str, tuple[int, ...]] = {}
        after: dict[str, tuple[int, ...]] = {}
        stamps = {ref: stamp_of(self._root, paths, before) for ref, paths in watched.items() if paths}
        verdicts = verifier.verify(records)
        memos = {}
        for record in records:
            paths = watched[record.ref]
            if paths and stamp_of(self._root, paths, after) == stamps[record.ref]:
                paths = [*paths, *_destinations(verdicts[record.ref])]
                memo = _Memo(_about(record), paths, stamp_of(self._root, paths, after), verdicts[record.ref])
                with contextlib.suppress(UnicodeEncodeError):  # a name that is no text is looked at every time
                    memos[f"{_MEMO}{record.ref}"] = msgspec.msgpack.encode(memo)
        if memos and self._index is not None:
            self._index.note(memos)
        return verdicts

    def _watch(self, tree: WorkingTree, record: Record) -> list[str] | None:
        if self._index is None or not record.anchors:
            return None
        from quire.anchors import watch_for

        return watch_for(tree, self._git, record, file_of(record))


def rested_on(index: Index) -> list[str]:
    """The files and folders that verdicts rest on, as far as that is known: while they look the same, so do they."""
    from quire.anchors import static_prefix

    found: set[str] = set()
    for record in index.records_anchored():
        for anchor in record.anchors:
            found |= {static_prefix(anchor), static_prefix(anchor.rpartition("#")[0] or anchor)}
    for value in index.memos_from(_MEMO):
        with contextlib.suppress(msgspec.MsgspecError):
            found.update(msgspec.msgpack.decode(value, type=_Memo).paths)
    return sorted(found)


def _destinations(verdict: Verdict) -> list[str]:
    """The files that anchors have moved to."""
    return [place.partition("#")[0].rstrip("/") for anchor in verdict.anchors for place in anchor.to]


def _about(record: Record) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return record.anchors, record.seen, record.commit
