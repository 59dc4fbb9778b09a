"""Follow renamed files and symbols through commits, the git index and the working tree."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import takewhile

import msgspec

from quire.anchors.commit_history import CommitHistory
from quire.anchors.commit_tree import FileTree
from quire.anchors.path_match import covers, is_glob, static_prefix
from quire.anchors.symbols import Symbol, Symbols, Unparsed, WantedSymbols, find_symbol, has_grammar, read_symbols
from quire.anchors.working_tree import WorkingTree
from quire.files.digests import is_empty_blob
from quire.model.errors import GitRequired
from quire.model.seals import ABSENT

_STEPS = 12
_LIKE = 0.5
_CANDIDATES = 200
_CANDIDATE_BYTES = 400_000
_PROPOSED = 5
_TELLING_LINES = 2
_PARTS = re.compile(r"\.|::|#")


class RenameTrail(msgspec.Struct, frozen=True, kw_only=True):
    """Where something is now, and the commit that took it there; no commit where it is not committed."""

    to: tuple[str, ...] = ()
    commit: str = ""
    note: str = ""


def follow_file(
    tree: WorkingTree, past: CommitHistory, path: str, since: str | None, content: str = "", *, dated: bool = True
) -> RenameTrail:
    """Where a file is now. Without a commit to start from, only a file of the same content is found."""
    if since is None:
        return _same_content(tree, past, path, since, content)
    current: str | None = path
    commit = ""
    renamed = {change.old: change.new for change in past.changes(since) if change.how == "R"}
    if path in renamed:
        current = renamed[path]
        commit = past.arrival(current, since) if dated else ""
    else:
        current, commit = _step_by_step(past, path, since)
    if current is None:
        # Gone from the last commit, and not by a rename: perhaps it was moved and only removed from git so far.
        found = _beside(tree, past, path, since)
        return RenameTrail(to=(found,)) if found else _same_content(tree, past, path, since, content, commit)
    staged = {change.old: change.new for change in past.staged if change.how == "R"}
    if current in staged:
        current, commit = staged[current], ""
    if tree.has(current):
        return RenameTrail(to=(current,), commit=commit)
    found = _beside(tree, past, current, past.head or since)
    return RenameTrail(to=(found,)) if found else _same_content(tree, past, path, since, content)


def _step_by_step(past: CommitHistory, path: str, since: str) -> tuple[str | None, str]:
    """Follow one rename after another: between the ends, a file may have changed beyond recognition."""
    current, commit = path, ""
    for _ in range(_STEPS):
        newest = past.newest([current], since)
        if newest is None:
            return current, commit
        changes = past.changes_in(newest)
        gone = any(change.old == current and change.how == "D" for change in changes)
        went = next((change.new for change in changes if change.how == "R" and change.old == current), None)
        if went is None:
            return (None if gone else current), newest if gone else commit
        current, commit, since = went, newest, newest
    return None, commit


def _same_content(
    tree: WorkingTree, past: CommitHistory, path: str, since: str | None, content: str, commit: str = ""
) -> RenameTrail:
    """Find a new file with the same content; commits need not know the old one."""
    if not content or is_empty_blob(content):
        return RenameTrail(commit=commit)
    same = [other for other in tree.paths if tree.staged.get(other) == content]
    same += [other for other in tree.untracked if _suffix(other) == _suffix(path) and tree.content(other) == content]
    same.sort(key=lambda other: (-_shared_ending(other, path), other))
    for other in same[:_PROPOSED]:
        before = past.tree(since, (other,)) if since else None
        if before is None or not before.has(other):
            return RenameTrail(to=(other,))
    return RenameTrail(commit=commit)


def _beside(tree: WorkingTree, past: CommitHistory, path: str, commit: str) -> str | None:
    """Find an untracked file with the content of a lost one, or most of its lines."""
    before = past.tree(commit, (path,))
    content = before.content(path) if before else None
    if before is None or content is None:
        return None
    candidates = [other for other in tree.untracked if _suffix(other) == _suffix(path)][:_CANDIDATES]
    same = [other for other in candidates if tree.content(other) == content]
    if same:
        return min(same, key=lambda other: (-_shared_ending(other, path), other))
    try:
        lines = Counter(before.read(path, _CANDIDATE_BYTES).splitlines())
    except (OSError, GitRequired):
        return None
    scored = [(_likeness(tree, other, lines), other) for other in candidates]
    best = max(scored, default=(0.0, ""))
    return best[1] if best[0] >= _LIKE else None


def _shared_ending(one: str, other: str) -> int:
    """How many names two paths share from the end: of equal files, the one that moved with its folder."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _likeness(tree: WorkingTree, path: str, lines: Counter[bytes]) -> float:
    try:
        others = Counter(tree.read(path, _CANDIDATE_BYTES).splitlines())
    except OSError:
        return 0.0
    return (lines & others).total() / (max(lines.total(), others.total()) or 1)


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1]


def follow_files(
    tree: WorkingTree, past: CommitHistory, anchor: str, since: str | None, notes: Mapping[str, str]
) -> RenameTrail:
    """Where the files of a folder or a pattern went, as anchors of the same form; most of them must have.

    The files are those that the commit had, and those that were seen then and not committed.
    """
    before = past.tree(since, (anchor,)) if since else None
    old = dict.fromkeys((before.paths[place] for place in before.files.at(anchor)), "") if before else {}
    old.update({path: content for path, content in notes.items() if covers(anchor, path)})
    old = {path: content for path, content in old.items() if not content.startswith(ABSENT)}
    if not old:
        return RenameTrail()
    routes = {path: follow_file(tree, past, path, since, old[path], dated=False) for path in list(old)[:_CANDIDATES]}
    gone = [path for path, route in routes.items() if not route.to]
    arrived = next((route.to[0] for route in routes.values() if route.to), None)
    commit = past.arrival(arrived, since) if arrived and since else ""
    if 2 * len(gone) > len(routes):
        lost = past.newest(gone[:_CANDIDATES], since) or ""
        note = f"{len(routes) - len(gone)} of its {len(routes)} files moved" if len(gone) < len(routes) else ""
        return RenameTrail(commit=lost, note=note)
    moved = {path: route.to[0] for path, route in routes.items() if route.to}
    places = Counter(new_place(anchor, path, new) for path, new in moved.items())
    top = places.most_common(1)[0][0]
    if top.endswith("/"):
        # Of files that equal others, those count as moved along that lie beside the rest.
        rests = {path: path[len(static_prefix(anchor)) :].lstrip("/") for path in moved}
        moved = {path: top + rests[path] if tree.has(top + rests[path]) else new for path, new in moved.items()}
        places = Counter(new_place(anchor, path, new) for path, new in moved.items())
    return RenameTrail(to=tuple(place for place, _ in places.most_common(_PROPOSED)), commit=commit)


def new_place(anchor: str, old: str, new: str) -> str:
    """The anchor that would match a file at its new path, in the form of the old one."""
    prefix = static_prefix(anchor)
    rest = old[len(prefix) :].lstrip("/")
    pattern = anchor[len(prefix) :].lstrip("/") if is_glob(anchor) else ""
    if rest and new.endswith(f"/{rest}"):
        return f"{new[: -len(rest) - 1]}/{pattern}"
    folder = os.path.dirname(new)
    return f"{folder}/" if folder else new


def follow_symbol(
    tree: WorkingTree, past: CommitHistory, file: str, name: str, since: str | None, digest: str, whole: str
) -> tuple[RenameTrail, bool]:
    """Where a symbol is now, and whether it is there unchanged; `whole` is what its file held as a whole."""
    if not tree.has(file):
        route = follow_file(tree, past, file, since, whole)
        found = symbol_in_file(tree, route.to[0], name, digest) if route.to else None
        if found:
            return RenameTrail(to=(f"{route.to[0]}#{found[0]}",), commit=route.commit), found[1]
    elif renamed := symbol_renamed(tree, file, digest):
        commit = "" if tree.is_dirty(file) else past.newest([file], since) or ""
        return RenameTrail(to=(f"{file}#{renamed}",), commit=commit), True
    for other in _possible_sources(tree, past, file, since):
        found = symbol_in_file(tree, other, name, digest)
        # Many files have a `main`: only the very same definition counts as this one.
        if found and found[1]:
            commit = "" if tree.is_dirty(other) else past.newest([other], since) or "" if since else ""
            return RenameTrail(to=(f"{other}#{found[0]}",), commit=commit), True
    return RenameTrail(commit=(past.newest([file], since) or "") if since else ""), False


def _symbols(tree: FileTree, file: str, last: str) -> list[Symbol]:
    """What a file defines under names that end like this."""
    try:
        data = tree.read(file, _CANDIDATE_BYTES)
    except (OSError, GitRequired):
        return []
    # Most files do not even hold the word.
    symbols = read_symbols(file, data, (last,)) if WantedSymbols((last,)).may_be_in(data) else Symbols()
    return [] if isinstance(symbols, Unparsed) else symbols


def symbol_in_file(tree: FileTree, file: str, name: str, digest: str) -> tuple[str, bool] | None:
    """The name under which a file holds a symbol, and whether it is unchanged."""
    last = _PARTS.split(name)[-1]
    symbols = _symbols(tree, file, last)
    for symbol in symbols:
        if symbol.digest == digest and symbol.name.rpartition(".")[2] == last:
            return symbol.name, True
    return (name, False) if find_symbol(symbols, name) else None


def symbol_renamed(tree: FileTree, file: str, digest: str) -> str | None:
    """A definition of the same content under another name; one of a line or two says too little."""
    if file not in tree.defined:
        try:
            tree.defined[file] = read_symbols(file, tree.read(file, _CANDIDATE_BYTES))
        except (OSError, GitRequired):
            return None
    symbols = tree.defined[file]
    same = [symbol for symbol in symbols if symbol.digest == digest] if not isinstance(symbols, Unparsed) else []
    return next((symbol.name for symbol in same if symbol.last_line - symbol.first_line >= _TELLING_LINES), None)


def _possible_sources(tree: WorkingTree, past: CommitHistory, file: str, since: str | None) -> Iterable[str]:
    """Files that a symbol may have gone to: of the same language, changed or new since.

    Without a commit to compare with, all of them, those of the same name first.
    """
    if since is None:
        suffix, name = _suffix(file), os.path.basename(file)
        every = (path for path in tree.paths if path != file and _suffix(path) == suffix)
        return sorted(every, key=lambda path: (os.path.basename(path) != name, path))[:_CANDIDATES]
    changed = [change.new for change in past.changes(since) if change.how != "D"]
    changed += [change.new for change in past.staged if change.how != "D"]
    changed += sorted(tree.dirty() - tree.gone)
    wanted = dict.fromkeys(path for path in changed if path != file and tree.has(path) and has_grammar(path))
    same = [path for path in wanted if _suffix(path) == _suffix(file)]
    return same[:_CANDIDATES]
