"""Reset the memory: archive it, verify the archive, then remove the files."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile

import msgspec

from quire.files import disk
from quire.files.durable_write import ensure_folder, write_file
from quire.files.json_files import decode_object
from quire.files.layout import LOCK
from quire.files.paths import names_in, read_bytes
from quire.files.world import World
from quire.layers.graph.layout import BACKUP, CONFIG, FOLDER, INDEX, NODES
from quire.layers.graph.lock import write_access
from quire.layers.graph.store import GraphStore
from quire.layers.protocol import MEMORY_HOME
from quire.layers.table import HOMES
from quire.model.errors import StorageFailed
from quire.model.times import stamp
from quire.upkeep.guidance import FILES, remove_guidance

_LEFT_OUT = (BACKUP, LOCK, INDEX)
_WIRING = "integrations"
_OTHERS = tuple(home.folder for home in HOMES if home != MEMORY_HOME)


class MemoryReset(msgspec.Struct, kw_only=True):
    """What a reset removed, and where the archive of it is."""

    project_root: str
    destroyed: bool
    backup_path: str | None
    entries_removed: list[str]
    guidance_removed: list[str]
    left: list[str] = []
    """What stays in the project: lines in .gitignore, other layers, and files that wire agents."""
    wired: list[str] = []
    """Of these, the files that wire agents."""


def reset_memory(store: GraphStore, world: World, *, destroy: bool = False) -> MemoryReset:
    """Archive the memory and remove it; with `destroy`, remove it and every archive as well."""
    if not os.path.isdir(store.folder):
        return MemoryReset(
            project_root=store.root, destroyed=destroy, backup_path=None, entries_removed=[], guidance_removed=[]
        )
    with write_access(store, world, "reset"):
        wired = _wired(store)
        backup = None if destroy else archive(store, world)
        removed = [name for name in sorted(os.listdir(store.folder)) if name != LOCK and (destroy or name != BACKUP)]
        # The configuration goes first: what is left without it is no memory, and the next `init` clears it away.
        for name in sorted(removed, key=lambda name: name != CONFIG):
            _remove_tree(os.path.join(store.folder, name))
        disk.sync_folder(store.folder)
        targets = remove_guidance(store.root, world)
    if destroy:
        _remove_empty(store.folder)
    return MemoryReset(
        project_root=store.root,
        destroyed=destroy,
        backup_path=backup,
        entries_removed=removed,
        guidance_removed=[target.path for target in targets],
        left=[
            *_ignored(store.root),
            *(name for name in _OTHERS if os.path.isdir(os.path.join(store.root, name))),
            *wired,
        ],
        wired=wired,
    )


def _wired(store: GraphStore) -> list[str]:
    """The files of this project that wiring wrote to and that stay, by the notes that it left."""
    paths = set()
    for name in names_in(os.path.join(store.folder, _WIRING)):
        with contextlib.suppress(OSError, ValueError):
            path = decode_object(store.read(f"{_WIRING}/{name}")).get("path")
            if isinstance(path, str) and path not in FILES and os.path.isfile(os.path.join(store.root, path)):
                paths.add(path)
    return sorted(paths)


def _ignored(root: str) -> list[str]:
    """`.gitignore`, where it holds a line of ours."""
    with contextlib.suppress(OSError):
        data = read_bytes(os.path.join(root, ".gitignore"))
        if any(entry.encode() in data for entry in MEMORY_HOME.ignored):
            return [".gitignore"]
    return []


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
    kept = [name for name in names_in(os.path.join(store.folder, BACKUP)) if name.endswith(".tar.gz")]
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
                        hint="Run the command again when no other process writes to the memory.",
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
