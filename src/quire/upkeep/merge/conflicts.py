"""Read files that a merge without our driver left in conflict, and what a version of a file said before a merge."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from quire.files.git import Git
from quire.files.git_history import or_else, read_blobs
from quire.files.git_snapshot import Blob
from quire.files.paths import read_if_there
from quire.layers.protocol import Site
from quire.layers.table import layer_of_file, tracked_paths
from quire.upkeep.merge.merge_files import MergedPath, merge_files
from quire.upkeep.merge.shared_files import PLACES, merge_shared, with_one_section

_MARK = re.compile(rb"(<{7,}|\|{7,}|={7,}|>{7,})(?: .*)?\r?$", re.S)
_HEADS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD")
_BYTES = 512 * 1024 * 1024
_COMMITS = 100
_STEPS = {b"<": (0, 1), b"|": (1, 2), b"=": (1, 3), b">": (3, 0)}


def merge_conflicts(site: Site) -> list[MergedPath]:
    """What becomes of every file of the memory with conflict marks, or that git holds as unmerged."""
    sides: tuple[dict[str, bytes], dict[str, bytes], dict[str, bytes]] = ({}, {}, {})
    before: dict[str, bytes | None] = {}
    stages = _stages(site, tracked_paths())
    for path in sorted({*stages, *_marked(site, tracked_paths())}):
        layer = layer_of_file(path)
        now = read_if_there(os.path.join(site.root, path))
        versions = _versions(site.git, stages.get(path, {}), now)
        if layer is None or versions is None:
            continue
        before[path] = now
        for side, data in zip(sides, versions, strict=True):
            if data is not None:
                side[path] = data
        for other in layer.read_together(path):
            if other not in stages:
                _add_beside(site, path, other, versions, sides, before)
    base, ours, theirs = sides
    found = {one.path: one for one in merge_files(base, ours, theirs)}
    return [
        msgspec.structs.replace(found.get(path, MergedPath(path=path, before=now, after=ours.get(path))), before=now)
        for path, now in before.items()
    ]


def shared_conflicts(site: Site) -> list[MergedPath]:
    """The same for files that hold a part of ours; what people wrote in them is left to people."""
    found = []
    unmerged = _stages(site, PLACES)
    for path in sorted({*unmerged, *_marked(site, PLACES)}):
        now = read_if_there(os.path.join(site.root, path))
        marked = split_conflict(now or b"")
        versions = _versions(site.git, unmerged.get(path, {}), now)
        if marked is None or versions is None:
            continue
        merged = merge_shared(path, *(data or b"" for data in versions))
        if merged is None:
            _, ours, theirs = with_one_section(path, [data or b"" for data in marked])
            merged = ours if ours == theirs else None
        why_not = "" if merged is not None else "both sides changed the same lines of what people wrote in it"
        if why_not and path not in unmerged:
            continue  # marks that git knows nothing of may be an example
        found.append(MergedPath(path=path, before=now, after=now if why_not else merged, why_not=why_not))
    return found


def _add_beside(
    site: Site,
    path: str,
    other: str,
    versions: tuple[bytes | None, bytes | None, bytes | None],
    sides: tuple[dict[str, bytes], ...],
    before: dict[str, bytes | None],
) -> None:
    """The other file of a record that one side removed: git removed it, too, where the other side left it alone."""
    if versions[1] is not None and versions[2] is not None:
        return
    heads = ("HEAD",) if versions[1] is not None else _HEADS
    data = next((held for head in heads if (held := committed(site.git, head, other)) is not None), None)
    if data is not None and other != path:
        before[other] = read_if_there(os.path.join(site.root, other))
        for side in (sides[0], sides[1] if versions[1] is not None else sides[2]):
            side[other] = data


def _stages(site: Site, paths: Sequence[str]) -> dict[str, dict[str, Blob]]:
    return or_else({}, site.git.stages, paths) if site.git.available else {}


def _marked(site: Site, tops: Sequence[str]) -> Iterator[str]:
    """The files at or below these paths that hold conflict marks, whatever git says of them."""
    for top in tops:
        full = os.path.join(site.root, top)
        names = (
            [full]
            if os.path.isfile(full)
            else [os.path.join(folder, name) for folder, _, files in os.walk(full) for name in files]
        )
        for name in names:
            if b"<<<<<<<" in (read_if_there(name) or b""):
                yield os.path.relpath(name, site.root).replace(os.sep, "/")


def _versions(
    git: Git, stages: dict[str, Blob], now: bytes | None
) -> tuple[bytes | None, bytes | None, bytes | None] | None:
    """Base, ours and theirs; None where nothing is left in conflict."""
    split = split_conflict(now or b"")
    if not stages:
        return split
    if split is None and "2" in stages and "3" in stages:
        return None  # a person settled it by hand
    held = read_blobs(git, (blob.id for blob in stages.values()), each=_BYTES, together=_BYTES)
    base, ours, theirs = (held.get(stages[name].id) if name in stages else None for name in "123")
    return base, ours, theirs


def split_conflict(data: bytes) -> tuple[bytes | None, bytes, bytes] | None:
    """The sides of a file with conflict marks, and its base where the marks tell it; None where there are none."""
    sides: tuple[list[bytes], ...] = ([], [], [])  # ours, base, theirs
    at, has_base, conflicts, length = 0, True, 0, 0
    for line in data.splitlines(keepends=True):
        mark = _MARK.match(line.rstrip(b"\n"))
        kind = mark.group(1)[:1] if mark else b""
        if mark and kind == b"<" and at == 0:
            length = len(mark.group(1))
        is_mark = mark is not None and len(mark.group(1)) == length
        if is_mark and at in ((0,) if kind == b"<" else (1,) if kind == b"|" else (1, 2) if kind == b"=" else (3,)):
            has_base &= not (kind == b"=" and at == 1)
            at = _STEPS[kind][1]
            conflicts += kind == b"<"
        elif at == 0:
            for side in sides:
                side.append(line)
        else:
            sides[at - 1].append(line)
    if not conflicts or at:
        return None
    ours, base, theirs = (b"".join(side) for side in sides)
    return (base if has_base else None), ours, theirs


def committed(git: Git, revision: str, path: str) -> bytes | None:
    """A file in a commit; None where it is not there, or the name says nothing."""
    found = git.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", allow=(0, 1, 128)).decode().strip()
    blob = git.committed([path], found).get(path) if found else None
    return read_blobs(git, [blob.id], each=_BYTES, together=_BYTES).get(blob.id) if blob else None


def sides_before(
    site: Site, path: str, is_contested: Callable[[bytes], bool]
) -> tuple[bytes | None, bytes | None] | None:
    """The file on both sides of the merge after which it is contested: this branch's version, and the other one's."""
    git = site.git
    if not git.available or git.head() is None:
        return None
    last = ""
    for commit in git.run("rev-list", "--first-parent", f"--max-count={_COMMITS}", "HEAD").decode().split():
        data = committed(git, commit, path)
        if data is None or not is_contested(data):
            heads = [f"{last}^2"] if last else _HEADS
            theirs = next((held for head in heads if (held := committed(git, head, path)) is not None), None)
            return data, theirs
        last = commit
    return None
