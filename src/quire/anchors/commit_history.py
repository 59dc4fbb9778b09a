"""Read git history through caches: which commits exist, their trees, what changed since."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from functools import cached_property

from quire.anchors.commit_tree import FileTree, read_commit_tree, without_own
from quire.anchors.definitions import Definitions
from quire.anchors.path_match import Files
from quire.anchors.working_tree import WorkingTree
from quire.files.commit_ranges import changes_since, parents_after, touched_since
from quire.files.git import Git
from quire.files.git_history import (
    CommitChanges,
    GitFileChange,
    changes_between,
    changes_staged,
    commits_between,
    common_ancestor,
    full_commit,
    full_commits,
    is_shallow,
    last_commit,
    log_paths,
    or_else,
    resolve_commit,
)
from quire.model.errors import GitRequired

_MANY = 16
_FEW = 5
_COMMITS = 2_000
_GRAPH = 20_000
_PATHS = 400
"""So many paths git is asked about at once."""
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


class CommitHistory:
    """One repository's history. Answers of git are cached; where git fails, the answer is empty."""

    def __init__(self, git: Git, definitions: Definitions | None = None) -> None:
        self.git = git
        self.definitions = definitions or Definitions()
        self._commits: dict[str, str | None] = {}
        self._trees: dict[tuple[str, tuple[str, ...]], FileTree | None] = {}
        self._changes: dict[str, list[GitFileChange]] = {}
        self._recorded: dict[str, str | None] = {}
        self._then: dict[str, dict[str, str | None]] = {}
        self._changed: dict[str, Files] = {}
        self._asked: dict[str | None, int] = {}
        self._newest: dict[str | None, dict[str, tuple[int, str]]] = {}
        self._steps: dict[str, list[CommitChanges]] = {}
        self._since: set[str] = set()
        self._older: dict[str, set[str]] = {}
        self._in: dict[str, list[GitFileChange]] = {}

    @cached_property
    def head(self) -> str | None:
        return or_else(None, self.git.head)

    def commit(self, name: str) -> str | None:
        """The commit of this name, if this clone has it."""
        if name not in self._commits:
            self._commits[name] = or_else(None, full_commit, self.git, name) if name else None
        return self._commits[name]

    def find(self, names: Iterable[str]) -> None:
        """Resolve many commits with one git process; those that git refuses are resolved one by one."""
        wanted = {name for name in names if name and name not in self._commits}
        if len(wanted) > 1:
            with contextlib.suppress(GitRequired):
                self._commits.update(full_commits(self.git, wanted))

    def tree(self, commit: str, anchors: Iterable[str]) -> FileTree | None:
        """The files of a commit that these anchors can match."""
        key = (commit, tuple(anchors))
        if key not in self._trees:
            found = self._trees[key] = or_else(None, read_commit_tree, self.git, commit, key[1])
            if found is not None:
                found.definitions = self.definitions
        return self._trees[key]

    def compare(self, commits: Iterable[str]) -> None:
        """Load the differences between each of these commits and HEAD, with one git process."""
        wanted = [commit for commit in dict.fromkeys(commits) if commit not in self._changes]
        if self.head and len(wanted) > 1:
            with contextlib.suppress(GitRequired):  # each is asked for by itself then, which may still do
                self._changes.update(changes_since(self.git, wanted))

    def changes(self, since: str) -> list[GitFileChange]:
        """What differs between a commit and the last one."""
        if since not in self._changes:
            self._changes[since] = or_else([], changes_between, self.git, since) if self.head else []
        return self._changes[since]

    def contents_then(self, since: str) -> dict[str, str | None]:
        """The content ids in a commit of the paths changed since; None for a path it did not have."""
        if since not in self._then:
            self._then[since] = _contents_before(self.changes(since))
            self._changed[since] = Files(without_own(sorted(self._then[since])))
        return self._then[since]

    def covered(self, since: str, anchor: str) -> set[str]:
        """Of the paths that have changed since, those that an anchor covers."""
        self.contents_then(since)
        files = self._changed[since]
        named = {anchor.rstrip("/")} & self._then[since].keys()
        return {files.paths[place] for place in files.at(anchor)} | named

    def staged_paths(self) -> set[str]:
        """Paths that the index has otherwise than the last commit."""
        return {path for change in self.staged for path in (change.old, change.new)}

    def head_content(self, tree: WorkingTree, path: str) -> str | None:
        """What the last commit holds in a path."""
        return self._head_ids[path] if path in self._head_ids else tree.staged.get(path) if self.head else None

    @cached_property
    def _head_ids(self) -> dict[str, str | None]:
        return _contents_before(self.staged)

    def changes_in(self, commit: str) -> list[GitFileChange]:
        """What one commit changed, against its first parent."""
        if commit not in self._in:
            self._in[commit] = self._changes_in(commit)
        return self._in[commit]

    def _changes_in(self, commit: str) -> list[GitFileChange]:
        for before in (f"{commit}^", _EMPTY_TREE):
            try:
                return changes_between(self.git, before, commit)
            except GitRequired:
                continue  # the first commit of all has no parent
        return []

    @cached_property
    def staged(self) -> list[GitFileChange]:
        return or_else([], changes_staged, self.git) if self.head else []

    def newest(self, paths: Iterable[str], since: str | None) -> str | None:
        """The newest commit after `since` that changed one of these."""
        if self.head is None:
            return None
        paths = list(paths)
        if since is not None and len(paths) == 1 and paths[0] in self._steps and since in self._since:
            return next((commit for commit, _ in self.steps(paths[0], since)), None)
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
        commits = or_else([], commits_between, self.git, since, limit=_COMMITS, paths=(path,))
        return commits[-1] if commits else ""

    def follow(self, files: Collection[str], commits: Collection[str]) -> None:
        """Load the changes of files in the commits after these, with one git process."""
        if not self._since.issuperset(commits):
            # From further back, or from another branch: what is known of other files does not reach so far.
            self._since.update(commits)
            files = {*files, *self._steps}
            self._steps = {}
        wanted = sorted(set(files) - self._steps.keys())
        since = sorted(self._since)
        self._steps.update((file, []) for file in wanted)
        if self.head is None or not wanted or not since:
            return
        try:
            base: str | None = since[0]
            if len(since) > 1:
                base = common_ancestor(self.git, *since)
                parents = parents_after(self.git, base, ["HEAD", *since], _GRAPH)
                self._older.update((commit, _reached(parents, commit)) for commit in since)
            for at in range(0, len(wanted), _PATHS):
                paths = wanted[at : at + _PATHS]
                for step in log_paths(self.git, paths, limit=_COMMITS, since=base):
                    # Of a folder that stands where the file was, its files are reported, too.
                    for path in {change.new for change in step.changes}.intersection(paths):
                        self._steps[path].append(step)
        except GitRequired:
            pass

    def steps(self, file: str, since: str | None = None) -> list[tuple[str, list[GitFileChange]]]:
        """The commits after `since`, or all, that changed a file that is followed: newest first.

        Each with what it changed against its parents.
        """
        older = self._older.get(since, ()) if since else ()
        return [
            (step.commit.id, [change for change in step.changes if change.new == file])
            for step in self._steps.get(file, [])
            if step.commit.id not in older
        ]

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


def _contents_before(changes: Iterable[GitFileChange]) -> dict[str, str | None]:
    """The content ids of the paths before they changed; None for a path that was not there."""
    before: dict[str, str | None] = {}
    for change in changes:
        before.setdefault(change.new, None)
        if change.how != "A":
            before[change.old] = change.old_id
    return before


def _reached(parents: dict[str, list[str]], commit: str) -> set[str]:
    """A commit and all those before it, as far as they are known."""
    reached: set[str] = set()
    todo = [commit]
    while todo:
        current = todo.pop()
        if current not in reached:
            reached.add(current)
            todo += parents.get(current, ())
    return reached
