"""Tell which records are committed in their present form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from quire.files.digests import is_blob
from quire.files.fragments import folder_of, fragments_of
from quire.files.git import Git
from quire.files.git_history import default_branch, or_else, read_blobs
from quire.files.git_snapshot import Blob
from quire.files.layout import CONFIG, MEMORY
from quire.files.paths import read_inside_or_none
from quire.layers.protocol import Holding
from quire.layers.table import layer_named
from quire.model.config import Settings, settings_in
from quire.model.errors import GitRequired, QuireError
from quire.model.records import Record

_CAREFUL = ("send", "line", "hold")
_CONFIG = f"{MEMORY}/{CONFIG}"
_FEW = 100
"""Up to so many files are read and compared; of more, git says which of them changed."""
_FILE_BYTES = 64 * 1024 * 1024


class _Held(msgspec.Struct, frozen=True):
    """What a commit has of a file, and whether the file is that."""

    blob: Blob | None
    same: bool


class CommittedRecords:
    """Asks git once for all records of a call, and no more where every file is as the commit has it."""

    def __init__(self, root: str, git: Git) -> None:
        self._root = root
        self._git = git
        self._files: dict[str, _Held] = {}
        self._data: dict[str, bytes | None] = {}
        self._commit = "HEAD"
        self._settings: Settings | None = None

    def __call__(self, records: Sequence[Record]) -> set[str]:
        """The refs of those that the commit has with the same words."""
        rest = {record.ref: record for record in records}
        found: set[str] = set()
        holdings = {
            ref: holding for ref, record in rest.items() if (holding := layer_named(record.layer).holding(record)).paths
        }
        if not holdings:
            return found
        self._look([path for holding in holdings.values() for path in holding.paths])
        unsure = {}
        for ref, holding in holdings.items():
            held = [self._files[path] for path in holding.paths]
            in_fragments = bool(holding.fragments and self._fragments(holding.fragments))
            if all(file.same for file in held) and not in_fragments:
                found.add(ref)
            elif holding.fragments or all(file.blob is not None for file in held):
                unsure[ref] = rest[ref], holding
        return found | self._as_committed(unsure)

    def settings(self) -> Settings:
        """How this project treats what is not reviewed: of two answers, the file's and the commit's, the careful one.

        An agent that may write the file must not be able to lift the rule with it.
        """
        self._look([])
        return self._settings or Settings()

    def _look(self, paths: Sequence[str]) -> None:
        """Hold these files, and the configuration, against the commit."""
        new = [path for path in dict.fromkeys((_CONFIG, *paths)) if path not in self._files]
        if not new:
            return
        self._hold(new)
        if self._settings is None:
            self._settings = self._careful()
            if self._settings.reviewed == "default-branch" and self._git.available:
                self._commit = default_branch(self._git) or "HEAD"
                self._hold(new)

    def _careful(self) -> Settings:
        held = self._files[_CONFIG]
        ours = settings_in(self._read(_CONFIG) or b"")
        if held.same:
            return ours
        # With no commit to hold it against, the file may ask for more care than usual, and not for less.
        theirs = settings_in(self._blobs([held.blob.id]).get(held.blob.id, b"")) if held.blob else Settings()
        return msgspec.structs.replace(
            ours,
            unreviewed=max(ours.unreviewed, theirs.unreviewed, key=_CAREFUL.index),
            reviewed="default-branch" if "default-branch" in (ours.reviewed, theirs.reviewed) else "head",
        )

    def _hold(self, paths: list[str]) -> None:
        many = len(paths) > _FEW
        asked = list(dict.fromkeys("/".join(path.split("/")[:2]) for path in paths)) if many else paths
        blobs = self._committed(asked)
        sure = self._untouched(asked, blobs) if many and blobs else frozenset()
        for path in paths:
            blob = blobs.get(path)
            same = path in sure or (blob is not None and is_blob(self._read(path) or b"\0", blob.id))
            self._files[path] = _Held(blob, same)

    def _untouched(self, paths: list[str], blobs: Mapping[str, Blob]) -> frozenset[str]:
        """Of many files, those that git itself says are as committed: they need not be read."""
        try:
            seen = self._git.snapshot(paths)
        except GitRequired:
            return frozenset()
        if seen.touched is None:
            return frozenset()
        staged = (line.partition("\t") for line in seen.staged)
        ids = {path: meta.split(" ")[2] for meta, _, path in staged}
        return frozenset(path for path, blob in blobs.items() if ids.get(path) == blob.id and path not in seen.touched)

    def _read(self, path: str) -> bytes | None:
        if path not in self._data:
            self._data[path] = read_inside_or_none(self._root, path, _FILE_BYTES)
        return self._data[path]

    def _committed(self, paths: list[str]) -> Mapping[str, Blob]:
        # Before the first commit there is nothing.
        return or_else({}, self._git.committed, paths, self._commit) if self._git.available else {}

    def _blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        try:
            return read_blobs(self._git, ids, each=_FILE_BYTES, together=4 * _FILE_BYTES)
        except QuireError:
            return {}

    def _as_committed(self, unsure: Mapping[str, tuple[Record, Holding]]) -> set[str]:
        """Of records whose files differ from the commit, those that the commit has with the same words."""
        if not unsure:
            return set()
        held = {path: self._files[path].blob for _, holding in unsure.values() for path in holding.paths}
        blobs = self._blobs(blob.id for blob in held.values() if blob)
        then = {path: blobs[blob.id] for path, blob in held.items() if blob and blob.id in blobs}
        now = {path: self._read(path) for path in held}
        for log in {holding.fragments for _, holding in unsure.values() if holding.fragments}:
            # A log and its fragments are one file.
            now[log] = (now[log] or b"") + b"\n" + self._fragments(log)
            then[log] = then.get(log, b"") + b"\n" + self._committed_fragments(log)
        return {
            ref
            for ref, (record, holding) in unsure.items()
            if all(path in then for path in holding.paths)
            and layer_named(record.layer).says_the_same(
                record, now[holding.paths[0]], [then[path] for path in holding.paths]
            )
        }

    def _fragments(self, log: str) -> bytes:
        return b"\n".join(self._read(path) or b"" for path in fragments_of(self._root, log))

    def _committed_fragments(self, log: str) -> bytes:
        blobs = self._committed([folder_of(log)])
        return b"\n".join(self._blobs(blob.id for blob in blobs.values()).values())
