"""What the history says, asked once: which commits are here, what they hold, what changed since."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from quire.anchors.match import Files
from quire.anchors.tree import Tree, look_back, without_own
from quire.anchors.working import WorkingTree
from quire.files import (
    FileChange,
    Git,
    changes_between,
    changes_staged,
    commits_between,
    full_commit,
    full_commits,
    is_shallow,
    last_commit,
    resolve_commit,
    touched_since,
)
from quire.model import GitRequired

_MANY = 16
_FEW = 5
_COMMITS = 2_000
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

__all__ = ["Past"]


class Past:
    """One repository's history. Every answer is kept; where git cannot answer, there is none."""

    def __init__(self, git: Git) -> None:
        self.git = git
        self._commits: dict[str, str | None] = {}
        self._trees: dict[tuple[str, tuple[str, ...]], Tree | None] = {}
        self._changes: dict[str, list[FileChange]] = {}
        self._staged: list[FileChange] | None = None
        self._recorded: dict[str, str | None] = {}
        self._head: tuple[str | None] | None = None
        self._then: dict[str, dict[str, str | None]] = {}
        self._changed: dict[str, Files] = {}
        self._head_ids: dict[str, str | None] | None = None
        self._asked: dict[str | None, int] = {}
        self._newest: dict[str | None, dict[str, tuple[int, str]]] = {}
        self._since: dict[str, list[str]] = {}
        self._in: dict[str, list[FileChange]] = {}

    @property
    def head(self) -> str | None:
        if self._head is None:
            try:
                self._head = (self.git.head(),)
            except GitRequired:
                self._head = (None,)
        return self._head[0]

    def commit(self, name: str) -> str | None:
        """The commit of this name, if this clone has it."""
        if name not in self._commits:
            try:
                self._commits[name] = full_commit(self.git, name) if name else None
            except GitRequired:
                self._commits[name] = None
        return self._commits[name]

    def find(self, names: Iterable[str]) -> None:
        """Look for many commits at once, before each is asked for; what git refuses is looked for by itself."""
        wanted = {name for name in names if name and name not in self._commits}
        if len(wanted) > 1:
            with contextlib.suppress(GitRequired):
                self._commits.update(full_commits(self.git, wanted))

    def tree(self, commit: str, anchors: Iterable[str]) -> Tree | None:
        """The files of a commit that these anchors can lead to."""
        key = (commit, tuple(anchors))
        if key not in self._trees:
            try:
                self._trees[key] = look_back(self.git, commit, key[1])
            except GitRequired:
                self._trees[key] = None
        return self._trees[key]

    def changes(self, since: str) -> list[FileChange]:
        """What differs between a commit and the last one."""
        if since not in self._changes:
            try:
                self._changes[since] = changes_between(self.git, since) if self.head else []
            except GitRequired:
                self._changes[since] = []
        return self._changes[since]

    def contents_then(self, since: str) -> dict[str, str | None]:
        """What a commit held in the paths that have changed since; None where it had no such file."""
        if since not in self._then:
            then: dict[str, str | None] = {}
            for change in self.changes(since):
                then.setdefault(change.new, None)
                if change.how != "A":
                    then[change.old] = change.old_id
            self._then[since] = then
            own = without_own(sorted(then))
            self._changed[since] = Files(own)
        return self._then[since]

    def covered(self, since: str, anchor: str) -> set[str]:
        """Of the paths that have changed since, those that an anchor covers."""
        self.contents_then(since)
        files = self._changed[since]
        named = {anchor.rstrip("/")} & self._then[since].keys()
        return {files.paths[place] for place in files.at(anchor)} | named

    def staged_paths(self) -> set[str]:
        """Paths that the index has otherwise than the last commit."""
        return {path for change in self.staged() for path in (change.old, change.new)}

    def head_content(self, tree: WorkingTree, path: str) -> str | None:
        """What the last commit holds in a path."""
        if self._head_ids is None:
            self._head_ids = {}
            for change in self.staged():
                self._head_ids.setdefault(change.new, None)
                if change.how != "A":
                    self._head_ids[change.old] = change.old_id
        return self._head_ids[path] if path in self._head_ids else tree.staged.get(path) if self.head else None

    def changes_in(self, commit: str) -> list[FileChange]:
        """What one commit changed, against its first parent."""
        if commit not in self._in:
            self._in[commit] = self._changes_in(commit)
        return self._in[commit]

    def _changes_in(self, commit: str) -> list[FileChange]:
        for before in (f"{commit}^", _EMPTY_TREE):
            try:
                return changes_between(self.git, before, commit)
            except GitRequired:
                continue  # the first commit of all has no parent
        return []

    def staged(self) -> list[FileChange]:
        if self._staged is None:
            try:
                self._staged = changes_staged(self.git) if self.head else []
            except GitRequired:
                self._staged = []
        return self._staged

    def newest(self, paths: Iterable[str], since: str | None) -> str | None:
        """The newest commit after `since` that changed one of these."""
        if self.head is None:
            return None
        self._asked[since] = self._asked.get(since, 0) + 1
        try:
            if self._asked[since] < _FEW:
                return last_commit(self.git, paths, since)
            known = [self._touched(since)[path] for path in paths if path in self._touched(since)]
            # Merges are not in the list, and what lies far back.
            return min(known)[1] if known else last_commit(self.git, paths, since)
        except GitRequired:
            return None

    def _touched(self, since: str | None) -> dict[str, tuple[int, str]]:
        """For each path the newest commit that touched it, and how new that is; asked once for many records."""
        if since not in self._newest:
            found = touched_since(self.git, since, _COMMITS)
            ranks = {commit: rank for rank, commit in enumerate(dict.fromkeys(found.values()))}
            self._newest[since] = {path: (ranks[commit], commit) for path, commit in found.items()}
        return self._newest[since]

    def arrival(self, path: str, since: str) -> str:
        """The commit that brought a path, the first one after `since` that knows it."""
        try:
            commits = commits_between(self.git, since, limit=_COMMITS, paths=(path,))
        except GitRequired:
            return ""
        return commits[-1] if commits else ""

    def commits_of(self, path: str, since: str, limit: int) -> list[str]:
        """Commits after `since` that changed a path, newest first."""
        try:
            if since not in self._since:
                self._since[since] = commits_between(self.git, since, limit=2)
            if len(self._since[since]) < 2:
                return self._since[since]
            return commits_between(self.git, since, limit=limit, paths=(path,))
        except GitRequired:
            return []

    def recorded(self, paths: Iterable[str]) -> dict[str, str | None]:
        """For files of the memory, the commit that last wrote each."""
        wanted = [path for path in paths if path not in self._recorded]
        if self.head is None:
            return {}
        try:
            if len(wanted) > _MANY:
                touched = touched_since(self.git, None, _COMMITS)
                self._recorded.update({path: touched.get(path) for path in wanted})
            else:
                self._recorded.update({path: last_commit(self.git, [path], None) for path in wanted})
            if is_shallow(self.git):
                self._recorded.update({path: None for path in wanted if not self._has_parent(self._recorded[path])})
        except GitRequired:
            self._recorded.update(dict.fromkeys(wanted))
        return self._recorded

    def _has_parent(self, commit: str | None) -> bool:
        """Where the history was cut off, the first commit seems to have written everything."""
        return commit is not None and resolve_commit(self.git, f"{commit}^") is not None
