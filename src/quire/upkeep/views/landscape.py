"""Folders and files by size, and the features that cover them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

import msgspec

from quire.anchors.working_tree import WorkingTree, read_working_tree
from quire.files.git import Git
from quire.files.paths import is_text
from quire.model.records import Record
from quire.model.text import one_line
from quire.model.verdicts import Verdict
from quire.upkeep.coverage import code_reached, own_code

_WORST = ("orphaned", "moved", "changed", "unverifiable", "fresh", "unanchored", "")
"""What most needs a look comes first; the last is for what nothing covers."""
_NOTHING = len(_WORST) - 1
_REFS = 5
_DEEPEST = 40
_SHARE = 5
"""At most this part of all nodes stands in one folder, so that one with very many files leaves room for others."""


class CoverNode(msgspec.Struct, frozen=True, kw_only=True):
    """A file, a folder, or what of a folder was too small to be shown."""

    name: str
    """Of folders that hold nothing but the next one, all of them: `src/main/java`."""
    path: str
    files: int
    covered: int
    bytes: int
    verdict: str
    """The worst verdict of what covers it; empty where nothing does."""
    refs: tuple[str, ...]
    """Features that cover it, at most a few."""
    children: tuple[CoverNode, ...]


class CoverageHealth(msgspec.Struct, frozen=True, kw_only=True):
    root: CoverNode
    files: int
    covered: int
    cut: bool
    titles: dict[str, str]
    """What the features are called that nodes name."""


class _Cover(msgspec.Struct):
    """What covers one file."""

    gravity: int = _NOTHING
    refs: tuple[str, ...] = ()


class _Place:
    """A file or a folder with everything below it, while it is counted."""

    __slots__ = ("bytes", "children", "covered", "files", "gravity", "name", "path", "told")

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        self.files = 0
        self.covered = 0
        self.bytes = 0
        self.gravity = _NOTHING
        self.told: dict[str, int] = {}
        """Features that cover something of it, and how many files."""
        self.children: dict[str, _Place] = {}

    def take(self, size: int, cover: _Cover) -> None:
        self.files += 1
        self.covered += cover.gravity < _NOTHING
        self.bytes += size
        self.gravity = min(self.gravity, cover.gravity)
        for ref in cover.refs:
            self.told[ref] = self.told.get(ref, 0) + 1


def coverage_health(
    root: str, git: Git, features: Sequence[Record], verdicts: Mapping[str, Verdict], limit: int
) -> CoverageHealth:
    """The code of the working tree as at most so many nodes; what nobody would miss a feature for is left out."""
    tree = read_working_tree(root, git)
    covers = _covers(tree, git, features, verdicts)
    top = _Place(".", "")
    for path, cover in covers.items():
        _place(top, path, _size(root, path), cover)
    shown, is_cut = _choose(top, limit)
    titles = {record.ref: one_line(record.title) for record in features if record.ref in top.told}
    return CoverageHealth(root=_node(top, shown), files=top.files, covered=top.covered, cut=is_cut, titles=titles)


def _covers(
    tree: WorkingTree, git: Git, features: Sequence[Record], verdicts: Mapping[str, Verdict]
) -> dict[str, _Cover]:
    """Every file of code, and what covers it: those come first whose anchors cover the least besides."""
    by_anchor: dict[str, list[Record]] = {}
    for feature in features:
        for anchor in feature.anchors:
            by_anchor.setdefault(anchor, []).append(feature)
    code, reached = code_reached(tree, sorted(by_anchor))
    covered: dict[int, _Cover] = {}
    for anchor, places in sorted(reached.items(), key=lambda pair: len(pair[1])):
        gravity, refs = _weigh(by_anchor[anchor], verdicts)
        for place in places:
            cover = covered.setdefault(place, _Cover())
            cover.gravity = min(cover.gravity, gravity)
            if len(cover.refs) < _REFS:
                cover.refs = tuple(dict.fromkeys((*cover.refs, *refs)))[:_REFS]
    bare = own_code(tree, git, [path for place, path in enumerate(code) if place not in covered])
    return {**{code[place]: covered[place] for place in sorted(covered)}, **{path: _Cover() for path in bare}}


def _weigh(features: Iterable[Record], verdicts: Mapping[str, Verdict]) -> tuple[int, tuple[str, ...]]:
    """The worst verdict of these features, and a few of them, the worst first."""
    known = ((record.ref, verdicts.get(record.ref)) for record in features)
    found = sorted({(_WORST.index(verdict.verdict) if verdict else _NOTHING - 1, ref) for ref, verdict in known})
    return found[0][0], tuple(ref for _, ref in found[:_REFS])


def _size(root: str, path: str) -> int:
    """Bytes of a file; none where it is not in the working tree."""
    try:
        return os.lstat(os.path.join(root, path)).st_size
    except (OSError, ValueError):
        return 0


def _place(top: _Place, path: str, size: int, cover: _Cover) -> None:
    place = top
    place.take(size, cover)
    end = -1
    while end < len(path):
        begin = end + 1
        end = path.find("/", begin)
        end = len(path) if end < 0 else end
        name = path[begin:end]
        below = place.children.get(name)
        if below is None:
            below = place.children[name] = _Place(name, path[:end])
        place = below
        place.take(size, cover)


# -- what is shown --------------------------------------------------------------------------


def _choose(top: _Place, limit: int) -> tuple[dict[str, list[_Place]], bool]:
    """Which places are shown in which folder: the largest folders are opened first, as long as there is room."""
    shown: dict[str, list[_Place]] = {}
    room = limit - 1
    is_cut = False
    waiting = [(-top.bytes, top.path, 0, top)] if top.children else []
    while waiting:
        _, path, depth, place = heappop(waiting)
        below = sorted(map(_followed, place.children.values()), key=lambda one: (-one.bytes, one.path))
        most = min(len(below), room, max(limit // _SHARE, 2)) if depth < _DEEPEST else 0
        if most < len(below):
            is_cut = True
            if most < 2:
                continue
            below = [*below[: most - 1], _rest(path, below[most - 1 :])]
        room -= len(below)
        shown[path] = below
        for one in below:
            if one.children:
                heappush(waiting, (-one.bytes, one.path, depth + 1, one))
    return shown, is_cut


def _followed(place: _Place) -> _Place:
    """The end of a chain of only children, under the names of all of them."""
    names = [place.name]
    while len(place.children) == 1:
        (place,) = place.children.values()
        names.append(place.name)
    if len(names) == 1:
        return place
    merged = _sum(_Place("/".join(names), place.path), [place])
    merged.children = place.children
    return merged


def _rest(path: str, places: Sequence[_Place]) -> _Place:
    """The smaller ones of a folder as one."""
    return _sum(_Place(f"{len(places):,} more", f"{path}/…" if path else "…"), places)


def _sum(whole: _Place, parts: Iterable[_Place]) -> _Place:
    for part in parts:
        whole.files += part.files
        whole.covered += part.covered
        whole.bytes += part.bytes
        whole.gravity = min(whole.gravity, part.gravity)
        for ref, files in part.told.items():
            whole.told[ref] = whole.told.get(ref, 0) + files
    return whole


def _node(place: _Place, shown: Mapping[str, Sequence[_Place]]) -> CoverNode:
    told = sorted(place.told, key=lambda ref: -place.told[ref])
    return CoverNode(
        name=_text(place.name),
        path=_text(place.path),
        files=place.files,
        covered=place.covered,
        bytes=place.bytes,
        verdict=_WORST[place.gravity],
        refs=tuple(told[:_REFS]),
        children=tuple(_node(one, shown) for one in shown.get(place.path, ()) if place.children),
    )


def _text(name: str) -> str:
    """A name as it can be shown: bytes that are no text are replaced."""
    return name if is_text(name) else name.encode("utf-8", "replace").decode()
