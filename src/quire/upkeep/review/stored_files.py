"""Read the memory's files in the two states that a review compares: from git, never from the working tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from quire.files.git import Git
from quire.files.git_history import GitFileChange, read_blobs
from quire.files.git_snapshot import Blob
from quire.layers.protocol import Layer
from quire.layers.table import LAYERS, layer_of_file, tracked_paths
from quire.model.errors import GitRequired
from quire.upkeep.change_set import Span

_FILE_BYTES = 64 * 1024 * 1024
_TOGETHER = 512 * 1024 * 1024


class AnchoredFile(msgspec.Struct, frozen=True):
    """A file that holds one record with anchors."""

    path: str
    layer: Layer
    anchors: Sequence[str]


def _fragments(paths: Iterable[str]) -> list[str]:
    paths = list(paths)
    return [path for layer in LAYERS for path in paths if layer.is_fragment(path)]


class StoredFiles:
    """Asks git for a whole folder, and for many contents at once."""

    def __init__(self, git: Git, span: Span, changes: Sequence[GitFileChange]) -> None:
        self._git = git
        self._span = span
        self._changes = changes
        self._data: dict[str, bytes] = {}
        self.after: dict[str, Blob] = self.listed_after(tracked_paths())
        """The memory's files after the change."""
        self._fragments = _fragments(self.after)
        self.changed = [change for change in changes if layer_of_file(change.old) or layer_of_file(change.new)]
        """What the change did to the memory's own files."""
        self._before = {change.old: change.old_id for change in self.changed if change.how != "A"}
        self._came = {change.new for change in self.changed if change.how in "AR"}
        self.unread = 0
        """How many records the repository does not hold, as a partial clone does not."""

    def listed_after(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The files at and below these paths after the change."""
        paths = list(paths)
        return self._git.committed(paths, self._span.new) if self._span.new else self._git.staged(paths)

    def listed_before(self, paths: Iterable[str]) -> dict[str, Blob]:
        return self._git.committed(list(paths), self._span.old) if self._span.old else {}

    def read(self, ids: Iterable[str]) -> dict[str, bytes]:
        """What blobs hold, by their ids; one that is not here is left out."""
        wanted = list(dict.fromkeys(ids))
        new = [name for name in wanted if name not in self._data]
        if new:
            try:
                self._data.update(read_blobs(self._git, new, each=_FILE_BYTES, together=_TOGETHER))
            except GitRequired:
                return {}
        return {name: self._data[name] for name in wanted if name in self._data}

    def contents(self, listed: Mapping[str, Blob]) -> dict[str, bytes]:
        """What listed files hold, by their paths."""
        found = self.read(blob.id for blob in listed.values())
        return {path: found[blob.id] for path, blob in listed.items() if blob.id in found}

    def brought(self, paths: Sequence[str]) -> dict[str, bytes]:
        """What the change itself made of these files, by their paths."""
        ids = {change.new: change.new_id for change in self._changes if change.how != "D" and change.new in paths}
        found = self.read(ids.values())
        return {path: found[name] for path, name in ids.items() if name in found}

    def anchored(self) -> list[AnchoredFile]:
        """Every file after the change that holds a live record with anchors; also counts what cannot be read."""
        wanted = {path: layer for path in self.after for layer in LAYERS if layer.has_anchors(path)}
        found = self.read(self.after[path].id for path in wanted)
        files = []
        for path, layer in wanted.items():
            data = found.get(self.after[path].id)
            anchors = layer.anchors_in(data) if data is not None else None
            if anchors is None:
                self.unread += 1
            else:
                files.append(AnchoredFile(path, layer, anchors))
        return files

    def versions(self, paths: Iterable[str]) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """What files, and those that are read with them, held before the change and hold after it.

        Fragments belong to both sides, and the files that changed ones speak of are read, too.
        """
        paths = list(paths)
        paths += self._spoken_of(paths) if paths else []
        whole = {other: None for path in paths if (layer := layer_of_file(path)) for other in layer.read_together(path)}
        after = {path: self.after[path].id for path in whole if path in self.after}
        before = {path: name for path in whole if (name := self._id_before(path))}
        found = self.read([*after.values(), *before.values()])
        return tuple({path: found[name] for path, name in side.items() if name in found} for side in (before, after))  # type: ignore[return-value]

    def fragments_after(self) -> dict[str, bytes]:
        """What branches say of records in other files, after the change."""
        return self.contents({path: self.after[path] for path in self._fragments})

    def _spoken_of(self, paths: Iterable[str]) -> list[str]:
        paths = _fragments(paths)
        ids = {path: self.after[path].id if path in self.after else self._id_before(path) for path in paths}
        found = self.read(filter(None, ids.values()))
        unchanged = [path for path in self._fragments if path not in ids]
        spoken = [file for path, name in ids.items() if name in found and (layer := layer_of_file(path))
                  for file in layer.files_in_fragment(found[name])]  # fmt: skip
        return [*unchanged, *spoken]

    def _id_before(self, path: str) -> str:
        if path in self._before:
            return self._before[path]
        return self.after[path].id if path in self.after and path not in self._came else ""
