"""Sealing: store in a record the digests of its anchors' current content, committed or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from quire.anchors.commit_history import CommitHistory
from quire.anchors.resolve_anchor import ResolvedAnchor, resolve_anchor
from quire.anchors.working_tree import WorkingTree, read_working_tree
from quire.files.git import Git
from quire.files.paths import is_text
from quire.model.seals import ABSENT, UNREAD, Seal

_NOTES = 32


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """The seals of one record's anchors, the commit they were taken at, and what could not be sealed."""

    seals: tuple[str, ...]
    commit: str
    unmatched: tuple[tuple[str, str], ...] = ()
    """Anchors that lead to nothing now, or cannot be read, each with a clause that says so."""
    lost: tuple[str, ...] = ()
    """Those of them that lead to nothing."""


class Sealer:
    """Seals any number of records with one read of the working tree."""

    def __init__(self, root: str, git: Git, anchors: Iterable[str]) -> None:
        self._wanted = sorted(set(anchors))
        self._tree: WorkingTree = read_working_tree(root, git, self._wanted)
        self._past = CommitHistory(git)

    def seal(self, anchors: Sequence[str]) -> Sealed:
        """What these anchors hold now. What cannot be read gets no seal, and so stays unverifiable."""
        seals: list[str] = []
        notes: dict[str, str] = {}
        unmatched: list[tuple[str, str]] = []
        whole: dict[str, str] = {}
        lost: list[str] = []
        for anchor in anchors:
            found = resolve_anchor(self._tree, anchor)
            if found.seal is not None:
                seals.append(found.seal.id)
                if found.seal.how == "tree":
                    notes.update(self._uncommitted(anchor, found))
                elif found.seal.how == "symbol":
                    whole.update(self._whole_file(anchor.rpartition("#")[0]))
            elif found.fault:
                seals.append(Seal(anchor, "tree", UNREAD).id)
                unmatched.append((anchor, found.fault))
            else:
                seals.append(Seal(anchor, "tree", ABSENT).id)
                lost.append(anchor)
                unmatched.append(
                    (anchor, "its file does not hold it" if found.symbol_missing else "it matches no file")
                )
        if len(notes) <= _NOTES:
            whole.update(notes)
        seals += [Seal(path, "blob", content).id for path, content in sorted(whole.items()) if path not in anchors]
        return Sealed(seals=tuple(seals), commit=self._past.head or "", unmatched=tuple(unmatched), lost=tuple(lost))

    def _whole_file(self, file: str) -> dict[str, str]:
        """While the whole file is the same, nobody needs to parse it. What a link leads to can change without it."""
        content = None if self._tree.is_link(file) or not self._tree.has(file) else self._tree.content(file)
        return {file: content} if content else {}

    def _uncommitted(self, anchor: str, found: ResolvedAnchor) -> dict[str, str]:
        """Files that were seen otherwise than the last commit has them: without this note they would look changed."""
        tree = self._past.tree(self._past.head, self._wanted) if self._past.head else None
        if tree is None:
            return {}
        now = dict(self._tree.contents(found.files))
        then = dict(tree.contents(tree.files.at(anchor)))
        differing = [path for path in now.keys() | then.keys() if now.get(path) != then.get(path)]
        return {path: now.get(path) or ABSENT for path in differing if path not in self._tree.modules and is_text(path)}
