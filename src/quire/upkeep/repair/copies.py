"""Copies of files from before a repair, kept on this machine up to a size limit.

Each part of a repair has two files below the `local/` of its layer's folder, which git ignores whatever else it is
told: an archive with the bytes and the modes, which any `tar` unpacks in the project's folder, and what was done, with
the digests of every file before and after. That one is written last: an archive alone is nobody's copy.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import tarfile
from collections.abc import Iterable

import msgspec

from quire.files import disk
from quire.files.digests import sha256
from quire.files.durable_write import stage
from quire.files.layout import LOCAL
from quire.files.local_files import ensure_local
from quire.files.paths import inside, names_in, read_inside
from quire.files.transaction import FileUpdate
from quire.files.world import World
from quire.layers.table import HOMES
from quire.model.errors import Conflict, InvalidStore, NotFound
from quire.model.records import RepairStep
from quire.model.text import cut
from quire.model.times import stamp, timestamp
from quire.upkeep.repair.leftovers import REPAIRS
from quire.upkeep.repair.plan import AROUND, RepairPlan

KEPT = 20
"""So many repairs are kept; of more, the oldest go."""
VERSION = 1
_NAME = re.compile(r"(\d{4,})-\d{8}T\d{6}Z")
_BYTES = 2 * 1024 * 1024 * 1024
_ORDER = (*(home.part for home in HOMES), AROUND)


class KeptFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a repair changed; the path is below the project."""

    path: str
    before: str | None
    """The digest of what it held; None where there was none."""
    after: str | None
    mode: int | None = None
    around: bool = False
    """Whether it lies outside the layer's folder."""


class RepairCopy(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a repair, and what it takes to take it back."""

    version: int = VERSION
    name: str
    part: str
    folder: str
    at: str
    fixes: tuple[RepairStep, ...]
    files: tuple[KeptFile, ...]

    @property
    def number(self) -> int:
        return int(self.name.partition("-")[0])


def place_of_copies(folder: str, name: str) -> str:
    """The folder of a repair's copies, below the project."""
    return f"{folder}/{LOCAL}/{REPAIRS}/{name}"


def new_name(root: str, world: World) -> str:
    """A name that comes after all others, whatever the clock says."""
    numbers = [int(name.partition("-")[0]) for home in HOMES for name in _names(root, home.folder)]
    return f"{max(numbers, default=0) + 1:04d}-{stamp(world.now())}"


def keep_copies(root: str, plan: RepairPlan, name: str, world: World) -> RepairCopy:
    """Copy every file that is about to change, and note what it will be. The caller holds the lock."""
    lasting = [change for change in plan.changes if change.path not in plan.passing]
    inner = [(f"{plan.folder}/{change.path}", change, False) for change in lasting]
    files, copies = [], list[tuple[str, bytes, os.stat_result]]()
    for path, change, around in (*inner, *((change.path, change, True) for change in plan.around)):
        held = _held(root, path, change)
        after = None if change.data is None else sha256(change.data)
        if held is not None:
            copies.append((path, *held))
        mode = None if held is None else stat.S_IMODE(held[1].st_mode)
        files.append(KeptFile(path=path, before=change.planned, after=after, mode=mode, around=around))
    kept = RepairCopy(
        name=name,
        part=plan.part,
        folder=plan.folder,
        at=timestamp(world.now()),
        fixes=plan.fixes,
        files=tuple(files),
    )
    _write(root, kept, _archive(copies), world)
    return kept


def _held(root: str, path: str, change: FileUpdate) -> tuple[bytes, os.stat_result] | None:
    try:
        data = read_inside(root, path, _BYTES)
        found = os.stat(os.path.join(root, path), follow_symlinks=False)
    except FileNotFoundError:
        data = None
    if (None if data is None else sha256(data)) != change.planned:
        raise Conflict(f"`{path}` was changed by another process in the meantime.", hint="Run the command again.")
    return None if data is None else (data, found)


def _archive(copies: Iterable[tuple[str, bytes, os.stat_result]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, data, found in copies:
            member = tarfile.TarInfo(path)
            member.size, member.mtime, member.mode = len(data), int(found.st_mtime), stat.S_IMODE(found.st_mode)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _write(root: str, kept: RepairCopy, archive: bytes, world: World) -> None:
    below = f"{REPAIRS}/{kept.name}"
    ensure_local(root, kept.folder, world.token(), below)
    place = inside(root, place_of_copies(kept.folder, kept.name))
    manifest = os.path.join(place, f"{kept.part}.json")
    stage(os.path.join(place, f"{kept.part}.tar"), archive)
    stage(f"{manifest}.draft", msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")
    disk.sync_folder(place)
    disk.rename(f"{manifest}.draft", manifest)
    disk.sync_folder(place)


# -- finding them again ------------------------------------------------------------------------


def find_kept(root: str) -> list[RepairCopy]:
    """The parts of every repair that is kept, the newest first, and its last part first."""
    found = []
    for home in HOMES:
        for name in _names(root, home.folder):
            for part in _ORDER:
                kept = _read(root, home.folder, name, part)
                if kept is not None:
                    found.append(kept)
    return sorted(found, key=lambda kept: (-kept.number, -_ORDER.index(kept.part)))


def named_repair(kept: Iterable[RepairCopy], wanted: str) -> list[RepairCopy]:
    """All parts of the repair with this name or number; of the newest, where none is named."""
    found = list(kept)
    if not found:
        raise NotFound("There is no repair to undo.", hint="`memory check --repairs` lists the repairs.")
    if not wanted:
        return [one for one in found if one.number == found[0].number]
    number = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 10 else None
    chosen = [one for one in found if wanted == one.name or one.number == number]
    if not chosen:
        raise NotFound(
            f"No repair `{cut(wanted, 40)}` is kept.",
            hint="`memory check --repairs` lists them.",
            details={"field": "undo", "id": cut(wanted, 40)},
        )
    return chosen


def copies_of(root: str, kept: RepairCopy) -> dict[str, bytes]:
    """The bytes of the files as they were, by their paths below the project."""
    place = f"{place_of_copies(kept.folder, kept.name)}/{kept.part}.tar"
    found = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(read_inside(root, place, _BYTES)), mode="r:") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                if content is not None:
                    found[member.name] = content.read()
    except (OSError, tarfile.TarError, EOFError) as error:
        raise _spoiled(place, str(error)) from error
    for file in kept.files:
        if file.before is not None and (file.path not in found or sha256(found[file.path]) != file.before):
            raise _spoiled(place, f"it does not hold `{cut(file.path, 120)}` as it was")
    return found


def _spoiled(place: str, reason: str) -> InvalidStore:
    return InvalidStore(
        f"The copies in `{place}` cannot be used: {cut(reason, 200)}.",
        hint="Nothing was restored. Git may have the files.",
        details={"path": place},
    )


def _names(root: str, folder: str) -> list[str]:
    base = os.path.join(root, folder)
    place = os.path.join(base, LOCAL, REPAIRS)
    if any(map(os.path.islink, (base, os.path.dirname(place), place))):
        return []
    return [name for name in names_in(place) if _NAME.fullmatch(name) and len(name) < 40]


def _read(root: str, folder: str, name: str, part: str) -> RepairCopy | None:
    try:
        data = read_inside(root, f"{place_of_copies(folder, name)}/{part}.json", _BYTES)
        held = msgspec.json.decode(data)
        if isinstance(held, dict) and "mends" in held:
            held.setdefault("fixes", held["mends"])  # as the first versions wrote it
        kept = msgspec.convert(held, RepairCopy)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    is_ours = (kept.name, kept.part, kept.folder) == (name, part, folder) and kept.version == VERSION
    return kept if is_ours else None


# -- making room -------------------------------------------------------------------------------


def prune_copies(root: str, folder: str) -> list[str]:
    """Remove the copies of the oldest repairs in one layer's folder, and halves of copies. The caller holds the lock.

    Counted are the repairs of the whole project: none is kept by halves.
    """
    names = {name for home in HOMES for name in _names(root, home.folder)}
    oldest = sorted(names, key=lambda name: int(name.partition("-")[0]))[:-KEPT]
    gone = []
    for name in _names(root, folder):
        place = os.path.join(root, place_of_copies(folder, name))
        if name in oldest or not any(entry.endswith(".json") for entry in os.listdir(place)):
            _remove(place)
            gone.append(name)
    return [name for name in gone if name in oldest]


def remove_copies(root: str, kept: RepairCopy) -> None:
    """Forget a part of a repair; with its last part the folder goes."""
    place = inside(root, place_of_copies(kept.folder, kept.name))
    for name in (f"{kept.part}.json", f"{kept.part}.tar"):
        with contextlib.suppress(FileNotFoundError):
            disk.remove(os.path.join(place, name))
            disk.sync_folder(place)
    if not os.listdir(place):
        disk.remove_folder(place)
        disk.sync_folder(os.path.dirname(place))


def _remove(place: str) -> None:
    # What was done goes first: an archive without it is nobody's copy.
    for name in sorted(os.listdir(place), key=lambda name: not name.endswith(".json")):
        disk.remove(os.path.join(place, name))
    disk.remove_folder(place)
    disk.sync_folder(os.path.dirname(place))
