"""Starting over without losing anything: the memory is archived, checked, and only then removed."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile

import msgspec

from quire.files import World, disk, ensure_folder, write_file
from quire.layers.graph import GraphStore, write_access
from quire.layers.graph.layout import BACKUP, CONFIG, FOLDER, INDEX, LOCK, NODES
from quire.model import StorageFailed, stamp
from quire.upkeep.guidance import remove_guidance

_LEFT_OUT = (BACKUP, LOCK, INDEX)

__all__ = ["Reset", "archive", "backups", "is_half_removed", "reset_memory"]


class Reset(msgspec.Struct, kw_only=True):
    """What a reset removed, and where the archive of it is."""

    project_root: str
    destroyed: bool
    backup_path: str | None
    entries_removed: list[str]
    guidance_removed: list[str]


def reset_memory(store: GraphStore, world: World, *, destroy: bool = False) -> Reset:
    """Archive the memory and remove it; with `destroy`, remove it and every archive as well."""
    if not os.path.isdir(store.folder):
        return Reset(
            project_root=store.root, destroyed=destroy, backup_path=None, entries_removed=[], guidance_removed=[]
        )
    with write_access(store, world, "reset"):
        backup = None if destroy else archive(store, world)
        removed = [name for name in sorted(os.listdir(store.folder)) if name != LOCK and (destroy or name != BACKUP)]
        # The configuration goes first: what is left without it is no memory, and the next `init` clears it away.
        for name in sorted(removed, key=lambda name: name != CONFIG):
            _remove_tree(os.path.join(store.folder, name))
        disk.sync_folder(store.folder)
        targets = remove_guidance(store.root, world)
    if destroy:
        _remove_empty(store.folder)
    return Reset(
        project_root=store.root,
        destroyed=destroy,
        backup_path=backup,
        entries_removed=removed,
        guidance_removed=[target.path for target in targets],
    )


def archive(store: GraphStore, world: World) -> str | None:
    """Write everything but generated files into a new archive; its path below the project, None if empty."""
    names = [name for name in sorted(os.listdir(store.folder)) if name not in _LEFT_OUT]
    if not names:
        return None
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in names:
            tar.add(os.path.join(store.folder, name), arcname=f"{FOLDER}/{name}")
    data = buffer.getvalue()
    _verify(data, store)
    folder = os.path.join(store.folder, BACKUP)
    ensure_folder(folder)
    name = f"memory-{stamp(world.now())}-{world.token()[:8]}.tar.gz"
    write_file(os.path.join(folder, name), data, world.token())
    return f"{FOLDER}/{BACKUP}/{name}"


def is_half_removed(store: GraphStore) -> bool:
    """Whether a reset died on its way: an archive is there, the configuration is gone, nodes are left."""
    return bool(backups(store)) and not store.exists() and os.path.isdir(os.path.join(store.folder, NODES))


def backups(store: GraphStore) -> list[str]:
    """The archives that are there, oldest first, by their paths below the project."""
    try:
        names = os.listdir(os.path.join(store.folder, BACKUP))
    except OSError:
        return []
    kept = [name for name in names if name.endswith(".tar.gz")]
    kept.sort(key=lambda name: (os.stat(os.path.join(store.folder, BACKUP, name)).st_mtime_ns, name))
    return [f"{FOLDER}/{BACKUP}/{name}" for name in kept]


def _verify(data: bytes, store: GraphStore) -> None:
    """Every file is in the archive with its bytes, before anything is removed."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        held = {member.name: member for member in tar.getmembers()}
        for folder, folders, files in os.walk(store.folder):
            folders[:] = [name for name in folders if os.path.join(folder, name) not in _skipped(store)]
            for name in files:
                full = os.path.join(folder, name)
                if full in _skipped(store) or os.path.islink(full) or not os.path.isfile(full):
                    continue
                member = held.get(os.path.relpath(full, store.root))
                content = tar.extractfile(member) if member and member.isfile() else None
                if content is None or len(content.read()) != os.path.getsize(full):
                    raise StorageFailed(
                        f"The archive does not hold `{os.path.relpath(full, store.root)}`; nothing was removed.",
                        hint="Run the command again when nothing else writes to the memory.",
                    )


def _skipped(store: GraphStore) -> set[str]:
    return {os.path.join(store.folder, name) for name in _LEFT_OUT}


def _remove_tree(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            _remove_tree(os.path.join(path, name))
        disk.remove_folder(path)
    else:
        disk.remove(path)


def _remove_empty(folder: str) -> None:
    with contextlib.suppress(OSError):  # an empty folder that stays does no harm
        if os.path.isdir(folder) and not os.listdir(folder):
            disk.remove_folder(folder)
