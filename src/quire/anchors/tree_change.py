"""Compare two trees: which anchors the change between them touched, and where what is gone went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from quire.anchors.commit_tree import FileTree, without_own
from quire.anchors.minor_change import minor_change
from quire.anchors.path_match import is_glob
from quire.anchors.reach import Reach
from quire.anchors.renames import new_place, symbol_in_file, symbol_renamed
from quire.anchors.resolve_anchor import ResolvedAnchor, resolve_anchor, split_symbol
from quire.anchors.symbols import LIMIT, Unparsed, extension_of, find_symbol, has_grammar, read_symbols
from quire.files.git import Git
from quire.files.git_history import GitFileChange, read_blobs
from quire.files.git_snapshot import Blob
from quire.model.errors import GitRequired
from quire.model.seals import ABSENT, UNREAD, Seal

_TOGETHER = 64 * 1024 * 1024
_CANDIDATES = 200
_PARTS = 100

Standing = Literal["fresh", "changed", "gone", "unknown"]
"""How an anchor in one tree compares with its seal."""


class TouchedPlace(msgspec.Struct, frozen=True):
    """A line that a change touched, for whoever wants to show it."""

    path: str
    line: int = 1


class ChangedPart(msgspec.Struct, frozen=True, eq=False):
    """What an anchor holds of one changed file, before and after."""

    old: list[bytes]
    new: list[bytes]
    name: str
    """Of a definition; empty for a file."""


class _Side(FileTree):
    """One of the two trees, with the contents that were read of it at once."""

    def __init__(self, git: Git, ids: Mapping[str, str], data: dict[str, bytes]) -> None:
        super().__init__(git, dict(ids))
        self._data = data

    def read(self, path: str, limit: int) -> bytes:
        content = self._ids[path]
        if content not in self._data:
            self._data[content] = self.git.blob(content)
        return self._data[content][: limit + 1]


class TreeChange:
    """Two trees by what differs between them; of the rest, they know what the anchors that were looked at cover."""

    def __init__(self, git: Git, changes: Sequence[GitFileChange]) -> None:
        self._git = git
        self._changes = changes
        self.paths = Reach(without_own(sorted({path for change in changes for path in (change.old, change.new)})))
        """The files that differ, by both their names."""
        self._renamed = {change.old: change.new for change in changes if change.how == "R"}
        self._came = [change.new for change in changes if change.how != "D"]
        self._data: dict[str, bytes] = {}
        self._minor: dict[tuple[str, str], bool] = {}
        self._defined: dict[tuple[bool, str, str], tuple[int, list[bytes] | None]] = {}
        self._parts: dict[tuple[str, str], ChangedPart] = {}
        self.look({})

    def look(self, listed: Mapping[str, Blob]) -> None:
        """Know the files of the newer tree that are listed, those at and below anchors, beside those that differ."""
        self._special = {path for path, blob in listed.items() if blob.mode in ("120000", "160000")}
        after = {path: blob.id for path, blob in listed.items()}
        after.update({change.new: change.new_id for change in self._changes if change.how != "D"})
        before = dict(after)
        for change in self._changes:
            before.pop(change.new, None)
        before.update({change.old: change.old_id for change in self._changes if change.how != "A"})
        self.before, self.after = (_Side(self._git, ids, self._data) for ids in (before, after))
        self.after.definitions = self.before.definitions

    def read_anchored(self, anchors: Iterable[str]) -> None:
        """Read both versions of the files that differ, as far as these anchors cover them."""
        files = {file for anchor in anchors for file in (anchor, anchor.rpartition("#")[0]) if file}
        self.read_ahead({self.paths.paths[place] for file in files for place in self.paths.at(file)})

    def read_ahead(self, files: Iterable[str]) -> None:
        """Read both versions of these files at once; one that is too large is read when it is asked for."""
        named = set(files)
        ids = [
            content
            for change in self._changes
            if change.old in named or change.new in named
            for content in (change.old_id, change.new_id)
        ]
        new = [content for content in ids if content not in self._data]
        self._data.update(read_blobs(self._git, new, each=LIMIT, together=_TOGETHER) if new else {})

    def is_unsure(self, anchor: str) -> bool:
        """Whether a link or a submodule is in it: what is behind one cannot be read from a tree."""
        if not self._special:
            return False
        named = split_symbol(self.after, anchor)
        path = named[0] if named else anchor.rstrip("/")
        matched = {self.after.paths[place] for place in self.after.files.at(path)}
        return bool(matched & self._special) or any(path.startswith(f"{special}/") for special in self._special)

    def standing(self, tree: FileTree, anchor: str, seals: Mapping[str, Seal]) -> Standing:
        """How what an anchor holds in a tree compares with its seal."""
        now, seal = resolve_anchor(tree, anchor), seals.get(anchor)
        if now.fault:
            return "unknown"
        if now.seal is None or (seal and seal.how == "blob" and now.seal.how == "tree" and is_glob(anchor)):
            return "gone"
        if seal is None or seal.digest.startswith(UNREAD):
            return "unknown"
        if (seal.how, seal.digest) == (now.seal.how, now.seal.digest):
            return "fresh"
        return "unknown" if now.doubt else "changed"

    def differs(self, anchor: str) -> bool:
        """Whether an anchor holds something else after the change, as digests tell."""
        old, new = (_digest(resolve_anchor(tree, anchor)) for tree in (self.before, self.after))
        return old is not None and new is not None and old != new

    def was_there(self, anchor: str) -> bool:
        """Whether an anchor led anywhere before the change."""
        found = resolve_anchor(self.before, anchor)
        return found.seal is not None or bool(found.fault and found.files)

    def went(self, anchor: str, seal: Seal | None) -> tuple[str, ...]:
        """Where something that is gone is now: anchors of the same form; nothing where it was not found."""
        named = split_symbol(self.before, anchor)
        if named:
            return self._symbol_went(anchor, *named, seal)
        path = anchor.rstrip("/")
        if path in self._renamed:
            return (self._renamed[path],)
        old = [self.before.paths[place] for place in self.before.files.at(anchor)]
        moved = [(path, self._renamed[path]) for path in old if path in self._renamed]
        if not moved or 2 * len(moved) < len(old):
            return ()
        places = Counter(new_place(anchor, old, new) for old, new in moved)
        return tuple(place for place, _ in places.most_common(3))

    def _symbol_went(self, anchor: str, file: str, name: str, seal: Seal | None) -> tuple[str, ...]:
        then = resolve_anchor(self.before, anchor).seal
        digest = then.digest if then else seal.digest if seal else ABSENT
        home = file if self.after.has(file) else self._renamed.get(file, "")
        if home:
            self.read_ahead([home])
            found = symbol_in_file(self.after, home, name, digest)
            if found:
                return (f"{home}#{found[0]}",)
            if renamed := symbol_renamed(self.after, home, digest):
                return (f"{home}#{renamed}",)
        others = [path for path in self._came if path != home and extension_of(path) == extension_of(file)]
        others = [path for path in others if has_grammar(path)][:_CANDIDATES]
        self.read_ahead(others)
        for other in others:
            found = symbol_in_file(self.after, other, name, digest)
            # Many files have a `main`: only the very same definition counts as this one.
            if found and found[1]:
                return (f"{other}#{found[0]}",)
        return ()

    def touched(self, anchor: str) -> TouchedPlace | None:
        """The first line of an anchor that the change touched; None where it touched other parts of the file alone.

        What is gone has no line any more: then it is the file, if that is there.
        """
        named = split_symbol(self.after, anchor) or split_symbol(self.before, anchor)
        if named:
            return self.touched_symbol(*named)
        paths = [self.paths.paths[place] for place in self.paths.at(anchor)]
        if not paths:
            return None
        shown = next((path for path in paths if self.after.has(path)), paths[0])
        if len(paths) > 1:
            return TouchedPlace(shown)
        return TouchedPlace(shown, _first_difference(self._text(self.before, shown), self._text(self.after, shown)))

    def touched_symbol(self, file: str, name: str) -> TouchedPlace | None:
        """The first line of a definition that the change touched; None where it touched others of the file alone."""
        (_, old), (line, new) = (self._lines(tree, file, name) for tree in (self.before, self.after))
        if old == new and old is not None:
            return None
        return TouchedPlace(file, line + _first_difference(old, new) - 1 if new is not None else 1)

    def parts(self, anchor: str) -> list[ChangedPart]:
        """What changed files hold of an anchor, line by line, as far as they are text."""
        named = split_symbol(self.after, anchor) or split_symbol(self.before, anchor)
        if named:
            return [self._part(*named)]
        found = [self._part(self.paths.paths[place], "") for place in self.paths.at(anchor)[:_PARTS]]
        return [part for part in found if not any(b"\0" in line for line in (*part.old, *part.new))]

    def _part(self, file: str, name: str) -> ChangedPart:
        if (file, name) not in self._parts:
            trees = (self.before, self.after)
            old, new = (self._lines(tree, file, name)[1] if name else self._text(tree, file) for tree in trees)
            self._parts[file, name] = ChangedPart(old or [], new or [], name)
        return self._parts[file, name]

    def stays(self, anchor: str) -> bool:
        """Whether something of what the change touched below an anchor is there afterwards, so that it is not gone."""
        named = split_symbol(self.after, anchor)
        if named:
            return self._lines(self.after, *named)[1] is not None
        return any(self.after.has(self.paths.paths[place]) for place in self.paths.at(anchor))

    def only_minor(self, anchor: str) -> bool:
        """Whether formatting, comments, imports or annotations are all that differs in what an anchor covers."""
        named = split_symbol(self.after, anchor)
        if named:
            return self._is_minor(*named)
        paths = [self.paths.paths[place] for place in self.paths.at(anchor)]
        return 0 < len(paths) <= _PARTS and all(self._is_minor(path, "") for path in paths)

    def _is_minor(self, file: str, name: str) -> bool:
        key = (file, name)
        if key not in self._minor:
            self._minor[key] = self._compare(file, name)
        return self._minor[key]

    def _compare(self, file: str, name: str) -> bool:
        if not self.before.has(file) or not self.after.has(file):
            return False
        try:
            old, new = (tree.read(file, LIMIT) for tree in (self.before, self.after))
        except (OSError, GitRequired):
            return False
        return bool(minor_change(file, old, new, name))

    def _lines(self, tree: FileTree, file: str, name: str) -> tuple[int, list[bytes] | None]:
        """The lines of a definition, and the number of the first; of a file that cannot be parsed all of them."""
        key = (tree is self.after, file, name)
        if key not in self._defined:
            self._defined[key] = self._read_lines(tree, file, name)
        return self._defined[key]

    def _read_lines(self, tree: FileTree, file: str, name: str) -> tuple[int, list[bytes] | None]:
        lines = self._text(tree, file)
        if lines is None:
            return 1, None
        symbols = read_symbols(file, b"\n".join(lines), [name])
        if isinstance(symbols, Unparsed):
            return 1, lines
        symbol = find_symbol(symbols, name)
        return (symbol.first_line, lines[symbol.first_line - 1 : symbol.last_line]) if symbol else (1, None)

    def _text(self, tree: FileTree, file: str) -> list[bytes] | None:
        try:
            return tree.read(file, LIMIT).split(b"\n") if tree.has(file) else None
        except (OSError, GitRequired):
            return None


def _digest(found: ResolvedAnchor) -> str | None:
    return found.seal.digest if found.seal is not None else None if found.fault else ABSENT


def _first_difference(old: list[bytes] | None, new: list[bytes] | None) -> int:
    """The number of the first line that is not what it was; of lines that were taken out, of what follows them."""
    if not old or not new:
        return 1
    shared = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    return min(len(new), (min(len(old), len(new)) if shared is None else shared) + 1)
