"""What commits changed, where those files are now, and how much of a change is still there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from quire.capture.history.commits import PastCommit, Tell
from quire.capture.repository.tree import make_tree
from quire.files.git import Git
from quire.files.git_history import GitFileChange, parse_change, read_blobs
from quire.model.anchors import OWN_FILES
from quire.model.errors import GitRequired

_CHUNK = 500
_FILES_MOST = 6
"""Of one commit so many files are looked into."""
_WIDE = 60
"""A commit of more files is a sweep over the code: what it says is tied to none of them."""
_EACH, _TOGETHER = 256 * 1024, 48 * 1024 * 1024
_LINE_LEAST = 6
_BESIDE_LIVES = 0.5
"""How much a change counts that is in no source."""
UNKNOWN = 0.6
"""How much of a change is there, where that cannot be seen."""
_BESIDE = re.compile(
    r"(?:^|/)(?:t|tests?|testing|testdata|specs?|__tests__|docs?|documentation|examples?|fixtures|\.github|\.circleci)/"
    r"|(?:^|/)(?:test_|conftest)|(?:_test|\.test|\.spec|_spec)\.\w+$|\.(?:md|rst|txt|adoc|lock|sum|snap|svg|json|ya?ml|toml|cfg|po)$"
    r"|(?:^|/)(?:[A-Z]{4,}|\.[\w.-]+)$",
)


class LivingPart(Struct, frozen=True):
    """A file that a commit changed, as it is called now, and what of its lines is still there."""

    path: str
    lines: frozenset[str]


class Living(Struct, frozen=True):
    """How much of a commit is still there, from 0 to 1, and in which files, the telling ones first."""

    share: float
    parts: tuple[LivingPart, ...] = ()
    stays_out: float = 1.0
    """How much of what it took away is still not there: of a revert, that is what it says."""


class Now:
    """The files of the last commit, and what others were called before."""

    def __init__(self, git: Git) -> None:
        try:
            blobs = {path: blob.id for path, blob in git.committed(()).items() if blob.mode.startswith("100")}
        except GitRequired:
            # A partial clone may lack even the last commit's folders.
            blobs = {}
        self.files = {path: blobs[path] for path in make_tree(git.root, blobs).files if path not in OWN_FILES}
        self._names: dict[str, list[str]] = {}
        for path in self.files:
            self._names.setdefault(path.rpartition("/")[2], []).append(path)
        self._moved: dict[str, str] = {}

    def note_moves(self, changes: Iterable[GitFileChange]) -> None:
        """Note what a commit renamed; commits come newest first."""
        for change in changes:
            if change.how == "R":
                self._moved[change.old] = self._moved.get(change.new, change.new)

    def place(self, path: str) -> str:
        """Where a file of the past is now; empty where it is gone."""
        if path in self.files:
            return path
        moved = self._moved.get(path, "")
        if moved in self.files:
            return moved
        alike = self._names.get(path.rpartition("/")[2], ())
        return alike[0] if len(alike) == 1 else ""


def is_beside(path: str) -> bool:
    """Whether a file is no source: a test, a document, a lock."""
    return _BESIDE.search(path) is not None


def changed_files(
    git: Git, commits: Sequence[PastCommit], tell: Tell | None = None
) -> tuple[dict[str, tuple[GitFileChange, ...]], int]:
    """What each commit changed, a merge beside its first parent; and of how many that cannot be seen."""
    found: dict[str, tuple[GitFileChange, ...]] = {}
    unseen = 0
    listing = ("-r", "-z", "--raw", "--no-abbrev", "--root", "-M100%", "-l0", "--ignore-submodules=all")
    for start in range(0, len(commits), _CHUNK):
        part = commits[start : start + _CHUNK]
        asked = "".join(f"{' '.join((item.id, *item.parents[:1]) if item.is_merge else (item.id,))}\n" for item in part)
        try:
            answer = git.run("diff-tree", "--stdin", *listing, stdin=asked.encode())
        except GitRequired:
            # A partial clone lacks the trees of some of them.
            unseen += len(part)
            continue
        found.update(_parsed(answer))
        if tell is not None:
            tell(start + len(part), len(commits), "Reading what changed")
    return found, unseen


def _parsed(answer: bytes) -> dict[str, tuple[GitFileChange, ...]]:
    found: dict[str, list[GitFileChange]] = {}
    current: list[GitFileChange] = []
    words = iter(os.fsdecode(answer).split("\0"))
    for word in words:
        *heads, meta = word.split("\n") if not word.startswith(":") else (word,)
        for head in (*heads, "" if meta.startswith(":") else meta):
            if head:
                current = found.setdefault(head.split(" ")[0], [])
        if meta.startswith(":"):
            current.append(parse_change(meta, words))
    return {name: tuple(changes) for name, changes in found.items()}


def living_of(git: Git, now: Now, changed: Mapping[str, Sequence[GitFileChange]]) -> dict[str, Living]:
    """How much of each of these commits is still there. Where contents are missing, that is unknown."""
    looked = {name: _looked_at(now, changes) for name, changes in changed.items()}
    wanted = {
        name
        for some in looked.values()
        for change, path in some
        for name in (change.old_id, change.new_id, now.files[path])
    }
    try:
        blobs = read_blobs(git, sorted(wanted), each=_EACH, together=_TOGETHER)
    except GitRequired:
        blobs = {}
    lines = {name: _lines(data) for name, data in blobs.items()}
    return {
        name: _living(now, changes, looked[name], lines) if len(changes) <= _WIDE else Living(UNKNOWN)
        for name, changes in changed.items()
    }


def _looked_at(now: Now, changes: Sequence[GitFileChange]) -> list[tuple[GitFileChange, str]]:
    """The changes of files that are still there, sources before what is beside them."""
    if len(changes) > _WIDE:
        return []
    there = [(change, place) for change in changes if (place := now.place(change.new))]
    return sorted(there, key=lambda one: is_beside(one[1]))[:_FILES_MOST]


def _living(
    now: Now,
    changes: Sequence[GitFileChange],
    looked: Sequence[tuple[GitFileChange, str]],
    lines: Mapping[str, frozenset[str]],
) -> Living:
    """Lines that came and are there, and lines that went and are not, of all that came or went."""
    kept = total = 0.0
    out = back = 0
    parts = []
    empty: frozenset[str] = frozenset()
    for change, path in looked:
        if now.files[path] not in lines or (change.new_id.strip("0") and change.new_id not in lines):
            parts.append(LivingPart(path, empty))
            continue
        before, after, here = lines.get(change.old_id, empty), lines.get(change.new_id, empty), lines[now.files[path]]
        came, went = after - before, before - after
        out, back = out + len(went), back + len(went & here)
        weight = 1 if not is_beside(path) else 0.2
        kept += weight * (len(came & here) + (len(went - here) if not came else 0))
        total += weight * (len(came) or len(went))
        if came & here or not came:
            parts.append(LivingPart(path, came & here))
    gone = [
        change for change in changes if not now.place(change.new) and not is_beside(change.new) and change.how != "D"
    ]
    stays_out = 1 - back / out if out else 1.0
    if not total and not gone:
        return Living(UNKNOWN, tuple(parts), stays_out)
    # A file that is gone counts as much as the average of the others.
    share = kept / total if total else 0.0
    share *= (len(changes) - len(gone)) / len(changes) if changes else 1.0
    parts.sort(key=lambda one: (is_beside(one.path), -len(one.lines)))
    share *= 1.0 if any(not is_beside(one.path) for one in parts) else _BESIDE_LIVES
    return Living(share, tuple(parts), stays_out)


def _lines(data: bytes) -> frozenset[str]:
    """The lines of a text that say something; none of a binary file."""
    if b"\0" in data[:8000]:
        return frozenset()
    return frozenset(
        bare for line in data.decode("utf-8", "replace").split("\n") if len(bare := line.strip()) >= _LINE_LEAST
    )
