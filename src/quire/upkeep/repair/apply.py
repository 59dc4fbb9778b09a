"""Apply or undo a repair: the files of a layer in one transaction, others one by one.

The caller holds the lock of the layer.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

import msgspec

from quire.files import disk
from quire.files.digests import sha256
from quire.files.durable_write import ensure_folder, write_file, writer_of
from quire.files.layout import RECOVERY
from quire.files.paths import escaping_part, inside, read_inside
from quire.files.transaction import FileUpdate, apply_changes, is_interrupted
from quire.files.world import World
from quire.layers.protocol import Site
from quire.layers.table import layers_in
from quire.model.errors import Conflict
from quire.model.records import Problem
from quire.upkeep.repair.copies import KeptFile, RepairCopy, copies_of, keep_copies, place_of_copies, remove_copies
from quire.upkeep.repair.plan import AROUND, RepairPlan

_BYTES = 2 * 1024 * 1024 * 1024
_DOCUMENTS = (".md", ".markdown", ".mdc", ".txt", ".rst")
_IGNORE = ".gitignore"
_NAMED = 8


def apply_plan(site: Site, plan: RepairPlan, name: str) -> tuple[RepairCopy, list[Problem]]:
    """Keep copies, then make the changes of one part; what could not be done around it is reported."""
    root, world = site.root, site.world
    kept = keep_copies(root, plan, name, world)
    folder = os.path.join(root, plan.folder)
    recovery = os.path.join(folder, RECOVERY)
    try:
        if plan.changes:
            apply_changes(folder, list(plan.changes), [], world.token(), whole=True)
        if plan.part == AROUND:
            for change in plan.around:
                _write_around(root, change, world)
    except BaseException:
        with contextlib.suppress(OSError):
            if not is_interrupted(recovery) and not still_changed(root, kept):
                remove_copies(root, kept)  # nothing was done, so that there is nothing to take back
        raise
    layers = layers_in(plan.folder) if plan.part != AROUND else []
    return kept, [problem for layer in layers for problem in layer.write_pages(site)]


def _write_around(root: str, change: FileUpdate, world: World) -> None:
    path = inside(root, change.path)
    held = _held(root, change.path)
    if (None if held is None else sha256(held)) != change.planned:
        raise Conflict(
            f"`{change.path}` was changed by another process in the meantime.", hint="Run the command again."
        )
    if change.data is not None:
        ensure_folder(os.path.dirname(path))
        write_file(path, change.data, world.token(), held)
    elif held is not None:
        disk.remove(path)
        disk.sync_folder(os.path.dirname(path))


# -- taking it back ----------------------------------------------------------------------------


def changed_since(root: str, parts: Iterable[RepairCopy]) -> list[tuple[RepairCopy, str]]:
    """The files that are neither as a part of the repair left them nor as they were before it.

    Two parts may have changed one file, such as AGENTS.md: taking the later one back leaves it as the earlier made it.
    """
    named = list(parts)
    known: dict[str, set[str | None]] = {}
    for kept in named:
        for file in kept.files:
            known.setdefault(file.path, set()).update((file.before, file.after))
    return [(kept, file.path) for kept in named for file in kept.files if _digest(root, file) not in known[file.path]]


def still_changed(root: str, kept: RepairCopy) -> list[str]:
    """The files that are not as they were before the repair."""
    return [file.path for file in kept.files if _digest(root, file) != file.before]


def refuse_changed(root: str, parts: Iterable[RepairCopy]) -> None:
    """Conflict where taking a repair back would lose what someone did since."""
    found = changed_since(root, parts)
    if not found:
        return
    kept = found[0][0]
    changed = list(dict.fromkeys(path for _, path in found))
    named = ", ".join(f"`{path}`" for path in changed[:_NAMED])
    more = f" and {len(changed) - _NAMED:,} more" if len(changed) > _NAMED else ""
    place = f"{place_of_copies(kept.folder, kept.name)}/{kept.part}.tar"
    raise Conflict(
        f"The repair {kept.name} cannot be undone: {named}{more} changed since. Nothing was restored.",
        hint=f"The files as they were are in {place}: look at them with `tar -xOf` and copy by hand what you need.",
        details={"paths": changed[:100], "copies": place},
    )


def put_back(root: str, kept: RepairCopy, parts: Iterable[RepairCopy], world: World) -> list[str]:
    """The files of one of the parts as they were, byte for byte; which were put back. Doing it twice does no harm."""
    refuse_changed(root, parts)
    before = copies_of(root, kept)
    # What is not as this part left it was put back already, by this part or by one before it.
    wanted = [file for file in kept.files if _digest(root, file) == file.after]
    _refuse_foreign(kept)
    changes = [FileUpdate(path=file.path, data=before.get(file.path), planned=file.after) for file in wanted]
    for file, change in zip(wanted, changes, strict=True):
        if file.around:
            _write_around(root, change, world)
    inner = [
        msgspec.structs.replace(change, path=change.path.removeprefix(f"{kept.folder}/"))
        for file, change in zip(wanted, changes, strict=True)
        if not file.around
    ]
    if inner:
        folder = os.path.join(root, kept.folder)
        apply_changes(folder, inner, [], world.token(), whole=True)
    _set_modes(root, kept)
    return [file.path for file in wanted]


def _refuse_foreign(kept: RepairCopy) -> None:
    """The list is a file like any other, and a repository may bring its own: it leads to our files and documents."""
    for file in kept.files:
        parts = file.path.split("/")
        is_ours = (
            file.path.startswith(f"{kept.folder}/")
            if not file.around
            else file.path == _IGNORE
            or (writer_of(parts[-1]) is not None and ".git" not in parts)
            or (file.path.lower().endswith(_DOCUMENTS) and not any(part.startswith(".git") for part in parts))
        )
        if escaping_part(file.path) or not is_ours:
            raise Conflict(
                f"The repair {kept.name} names `{file.path[:120]}`, which no repair changes. Nothing was restored.",
                hint=f"Another program wrote {place_of_copies(kept.folder, kept.name)}: remove it.",
            )


def _set_modes(root: str, kept: RepairCopy) -> None:
    for file in kept.files:
        if file.mode is None:
            continue
        path = inside(root, file.path)
        with contextlib.suppress(FileNotFoundError):
            if stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode) != file.mode:
                disk.set_mode(path, file.mode & 0o777)


def _held(root: str, path: str) -> bytes | None:
    try:
        return read_inside(root, path, _BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _digest(root: str, file: KeptFile) -> str | None:
    try:
        data = _held(root, file.path)
    except OSError:
        return "unreadable"
    return None if data is None else sha256(data)
