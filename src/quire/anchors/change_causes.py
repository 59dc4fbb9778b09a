"""Find what changed an anchor's content: which files, in which commit, or uncommitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic

import msgspec

from quire.anchors.commit_history import CommitHistory
from quire.anchors.path_match import covers
from quire.anchors.resolve_anchor import resolve_anchor
from quire.anchors.symbols import LIMIT
from quire.anchors.working_tree import WorkingTree
from quire.files.git import Git
from quire.files.git_history import GitFileChange, or_else, read_blobs
from quire.model.seals import ABSENT

_AT_ONCE = 32 * 1024 * 1024


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Files that differ from what was seen, those of them not committed, and the commits that changed the others."""

    files: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    """Newest first: of a definition all that changed it, of files the newest."""
    unknown: bool = False
    """There was no time to look for them."""


def is_late(until: float | None) -> bool:
    """Whether the time is over."""
    return until is not None and monotonic() > until


def cause_in_files(
    tree: WorkingTree,
    past: CommitHistory,
    anchor: str,
    files: Sequence[int],
    since: str | None,
    notes: Mapping[str, str],
) -> Cause:
    """Find the cause of a change in files: compare with the sealed commit and its uncommitted files."""
    if since is None:
        dirty = tuple(path for path in (tree.paths[place] for place in files) if tree.is_dirty(path))
        return Cause(files=dirty, dirty=dirty)
    committed = past.contents_then(since)
    candidates = past.covered(since, anchor) | _dirty(tree, past, anchor, files)
    candidates |= {path for path in notes if covers(anchor, path)}
    changed, dirty_files, commits = [], [], []
    for path in sorted(candidates):
        after = tree.staged.get(path) if path in tree.modules else tree.content(path)
        if after is None and tree.has(path):
            continue  # it is there and cannot be read: nothing is known of it
        head = past.head_content(tree, path)
        note = notes.get(path)
        before = (None if note.startswith(ABSENT) else note) if note else committed.get(path, head)
        if before == after:
            continue
        changed.append(path)
        if head != after:
            dirty_files.append(path)
        if head != before:
            commits.append(path)
    commit = past.newest(commits, since) if commits else None
    return Cause(files=tuple(changed), dirty=tuple(dirty_files), commits=(commit,) if commit else ())


def _dirty(tree: WorkingTree, past: CommitHistory, anchor: str, files: Sequence[int]) -> set[str]:
    """Files that are not as the last commit has them."""
    found = {path for path in (tree.paths[place] for place in files) if tree.is_dirty(path)}
    found |= {path for path in tree.gone if covers(anchor, path)}
    return found | {path for path in past.staged_paths() if covers(anchor, path)}


def cause_in_symbol(
    tree: WorkingTree, past: CommitHistory, traces: SymbolTraces, named: tuple[str, str], since: str | None, digest: str
) -> Cause:
    """The commits in which this definition became another one; of a file's commits most do not touch it."""
    file, name = named
    dirty: tuple[str, ...] = ()
    head = past.head_content(tree, file)
    if tree.content(file) != head:
        now = resolve_anchor(tree, f"{file}#{name}").seal
        committed = _digest(past, file, name, head)
        dirty = (file,) if committed != (now.digest if now else "") else ()
        if dirty and committed == digest:
            return Cause(files=(file,), dirty=dirty)
    if since is None:
        return Cause(files=(file,), dirty=dirty)
    commits = traces.commits(file, name, since, digest)
    return Cause(files=(file,), dirty=dirty, commits=commits or (), unknown=commits is None)


def _digest(past: CommitHistory, file: str, name: str, content: str | None) -> str | None:
    if not content:
        return ""
    found = or_else(None, past.definitions.find, file, name, content, lambda: past.git.blob(content))
    return found.digest if found else None


class SymbolTraces:
    """Which commits changed a definition, found for many at once: file by file, and version by version."""

    def __init__(self, past: CommitHistory, until: float | None = None) -> None:
        self._past = past
        self._until = until
        self._known: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        """By file, name and the commit that it was seen at: commits, and what each made of it."""

    def find(self, wanted: Iterable[tuple[str, str, str]]) -> None:
        """Load the commits that changed these symbols: file, name, and the commit to begin after."""
        new = sorted({one for one in wanted if one not in self._known})
        if not new:
            return
        files = {file for file, _, _ in new}
        self._past.follow(files, {since for _, _, since in new})
        asked: dict[str, list[tuple[str, str]]] = {file: [] for file in files}
        for file, name, since in new:
            asked[file].append((name, since))
        versions = _Versions(self._past.git, self._contents(asked))
        for file, names in sorted(asked.items()):
            if not self._trace(file, names, versions.read):
                return

    def commits(self, file: str, name: str, since: str, digest: str) -> tuple[str, ...] | None:
        """Newest first; None where there was no time to find out. What only brought what was seen changed nothing."""
        key = (file, name, since)
        if key not in self._known:
            self.find([key])
        found = self._known.get(key)
        return tuple(commit for commit, made in found if made != digest) if found is not None else None

    def _contents(self, asked: dict[str, list[tuple[str, str]]]) -> list[str]:
        """The versions that have to be read, in the order in which they are compared."""
        found: dict[str, None] = {}
        for file, names in sorted(asked.items()):
            if all(len(self._past.steps(file, since)) == 1 for _, since in names):
                continue
            for _, changes in self._past.steps(file):
                found.update(dict.fromkeys(content for one in changes for content in (one.new_id, one.old_id)))
        return [content for content in found if content.strip("0")]

    def _trace(self, file: str, names: list[tuple[str, str]], read: Callable[[str], bytes | None]) -> bool:
        """Compare the versions of one file, the newest first; whether there was time for it."""
        definitions = self._past.definitions
        found: dict[tuple[str, str, str], list[tuple[str, str]]] = {(file, *one): [] for one in names}
        touched: dict[str, list[tuple[str, str]]] = {}
        for name, since in names:
            commits = [commit for commit, _ in self._past.steps(file, since)]
            if len(commits) == 1:
                found[file, name, since].append((commits[0], ""))  # nothing else can have changed it
                continue
            for commit in commits:
                touched.setdefault(commit, []).append((name, since))
        for commit, changes in self._past.steps(file):
            if commit not in touched:
                continue
            if is_late(self._until):
                definitions.write_down()
                return False
            asked = list(dict.fromkeys(name for name, _ in touched[commit]))
            contents = dict.fromkeys(content for one in changes for content in (one.new_id, one.old_id))
            for content in contents:
                if content.strip("0"):
                    definitions.compare(file, content, read, asked)
            for name, since in touched[commit]:
                made = self._made(file, name, changes)
                if made is not None:
                    found[file, name, since].append((commit, made))
        definitions.write_down()
        self._known.update(found)
        return True

    def _made(self, file: str, name: str, changes: list[GitFileChange]) -> str | None:
        """The digest of a definition after a commit; None if unchanged from a parent, or unknown."""
        after, *before = (
            self._past.definitions.digest(file, name, content) if content.strip("0") else ""
            for content in (changes[0].new_id, *(change.old_id for change in changes))
        )
        return None if after is None or None in before or after in before else after


class _Versions:
    """Versions of files, read many at once, as they are compared one after the other."""

    def __init__(self, git: Git, contents: list[str]) -> None:
        self._git = git
        self._contents = contents
        self._places = {content: place for place, content in enumerate(contents)}
        self._data: dict[str, bytes] = {}
        self._read: set[str] = set()

    def read(self, content: str) -> bytes | None:
        """None where it cannot be read, or is too large to be parsed."""
        if content not in self._data and content not in self._read:
            ahead = self._contents[self._places.get(content, len(self._contents)) :]
            self._data = or_else({}, read_blobs, self._git, [content, *ahead], each=LIMIT, together=_AT_ONCE)
            if content not in self._data:
                self._read.add(content)
        return self._data.get(content)
