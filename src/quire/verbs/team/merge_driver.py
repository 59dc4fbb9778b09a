"""The merge driver: three versions of one file, as git hands them over, made into one by the file's layer.

The file that git reads the result from is replaced at once and at the end. Until then it holds our side, so that
whoever starts the driver can still do what git does without it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import msgspec

from quire.files.durable_write import write_file
from quire.files.git import Git
from quire.files.git_merge import merge_texts, read_settings
from quire.files.paths import read_bytes
from quire.files.world import World
from quire.layers.table import layer_of_file
from quire.model.contested import ContestedField, MergedFile
from quire.model.errors import GitRequired, QuireError
from quire.upkeep.merge.driver_line import LEFT_TO_A_PERSON

SETTING = "quire.contested"
STOP = "stop"
_FILE_BYTES = 1024 * 1024 * 1024


class DriverFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What git hands to a driver: three files, and the path of the one that they are versions of."""

    base: str
    ours: str
    """Also where the result goes."""
    theirs: str
    path: str = ""
    """From the top of the working tree."""
    marker: int = 7
    union: bool = False
    """Whether the lines of both sides are kept where nothing better is known."""


class Driven(msgspec.Struct, frozen=True):
    """How a merge of one file ended."""

    is_clean: bool
    """Whether git may go on."""
    contested: tuple[ContestedField, ...] = ()

    @property
    def exit_code(self) -> int:
        return 0 if self.is_clean else LEFT_TO_A_PERSON


def drive(world: World, given: DriverFiles) -> Driven:
    """Merge one file; what no layer merges is merged as git would do it."""
    merged = _by_layer(given)
    if merged is not None and merged.data is not None:
        write_file(given.ours, merged.data, world.token())
        return Driven(not merged.contested or not _stops(world), merged.contested)
    if _by_section(world, given):
        return Driven(is_clean=True)
    git = Git(world.cwd, world.env)
    texts = merge_texts(git, given.base, given.ours, given.theirs, union=given.union, marker=given.marker)
    if texts is None:
        return Driven(is_clean=False)
    data, in_conflict = texts
    write_file(given.ours, data, world.token())
    return Driven(not in_conflict)


def _by_section(world: World, given: DriverFiles) -> bool:
    """Of a file that holds our part: whether it is merged; if not, all versions have the same part now."""
    from quire.upkeep.merge.shared_files import SHARED, merge_shared, with_one_section

    if not any(fnmatchcase(given.path, pattern) for pattern in SHARED):
        return False
    places = (given.base, given.ours, given.theirs)
    versions = [read_bytes(path, _FILE_BYTES) for path in places]
    merged = merge_shared(given.path, *versions)
    if merged is not None:
        write_file(given.ours, merged, world.token())
        return True
    for path, before, after in zip(places, versions, with_one_section(given.path, versions), strict=True):
        if after != before:
            write_file(path, after, world.token())
    return False


def _by_layer(given: DriverFiles) -> MergedFile | None:
    """What the layer makes of it; None where it is nothing of ours, or cannot be read."""
    layer = layer_of_file(given.path)
    if layer is None:
        return None
    # Where a side never had the file, git hands over an empty one.
    base, ours, theirs = (read_bytes(path, _FILE_BYTES) or None for path in (given.base, given.ours, given.theirs))
    try:
        return layer.merge(given.path, base, ours, theirs)
    except (QuireError, ValueError):
        return None


def _stops(world: World) -> bool:
    """Whether someone wants git to stop where branches disagree."""
    try:
        found = read_settings(Git(world.cwd, world.env), r"^quire\.contested$")
    except GitRequired:
        return False
    return found.get(SETTING, "").strip().lower() == STOP
