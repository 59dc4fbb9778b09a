"""The user's registry of projects, for commands that work across repositories."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Literal

import msgspec

from quire.files.digests import hex_digest
from quire.files.durable_write import ensure_folder, write_file
from quire.files.file_lock import Holder, held
from quire.files.git import Git
from quire.files.json_files import json_value, pretty
from quire.files.paths import read_bytes, read_or_none, storage_failed
from quire.files.sparse_checkout import hidden_files
from quire.files.world import World
from quire.layers.graph.layout import CONFIG, FOLDER
from quire.layers.graph.store import GraphStore
from quire.model.errors import InputError, NotReady, UnsupportedVersion
from quire.model.times import stamp, timestamp

FILE = "projects.json"
LOCK = "projects.lock"
_LOCK_SECONDS = 5.0


class Registered(msgspec.Struct, kw_only=True, frozen=True):
    """One project the user has; `last_seen_at` is when it was last initialised or added."""

    registry_id: str
    project: dict[str, str]
    project_root: str
    memory_root: str
    registered_at: str
    last_seen_at: str
    source: Literal["auto", "manual"]


def _name(item: Registered) -> tuple[str, str]:
    return item.project.get("name", "").casefold(), item.project_root


class _File(msgspec.Struct):
    version: Literal[1]
    projects: list[Registered]


class _Versioned(msgspec.Struct):
    version: int


class ProjectRegistry:
    """`$MEMORY_HOME/projects.json`, by default `~/.memory/projects.json`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.folder = world.memory_home

    @property
    def path(self) -> str:
        return os.path.join(self.folder, FILE)

    def projects(self) -> list[Registered]:
        """Every registered project, by name; an unreadable registry counts as empty."""
        found = json_value(read_or_none(self.path) or b"", _File)
        return sorted(found.projects, key=_name) if found else []

    def known_projects(self) -> list[Registered]:
        """Every registered project, unless a newer version wrote the registry."""
        self.refuse_newer()
        return self.projects()

    def refuse_newer(self) -> None:
        """Nothing may be told of a registry of a newer version, and nothing be written to it."""
        found = json_value(read_or_none(self.path) or b"", _Versioned)
        if found is not None and found.version > 1:
            raise UnsupportedVersion(
                f"The list of projects was written by a newer version of Quire: {self.path}",
                hint="Update Quire. Nothing was changed.",
                details={"path": self.path},
            )

    def add(self, root: str, source: Literal["auto", "manual"] = "manual") -> Registered:
        """Register a project, or note that it was seen. One that was added by hand stays so."""
        config = GraphStore(root).config()
        now = timestamp(self._world.now())
        registry_id = "prj_" + hex_digest(os.path.realpath(root))[:16]
        with self._changing() as projects:
            before = next((item for item in projects if item.registry_id == registry_id), None)
            entry = Registered(
                registry_id=registry_id,
                project={"id": config.project.id, "name": config.project.name},
                project_root=root,
                memory_root=os.path.join(root, FOLDER),
                registered_at=before.registered_at if before else now,
                last_seen_at=now,
                source="manual" if before and before.source == "manual" else source,
            )
            projects[:] = [*(item for item in projects if item.registry_id != registry_id), entry]
        return entry

    def remove(self, name: str) -> Registered:
        """Forget the project with this registry id, project id or path. Its files stay."""
        path = os.path.realpath(os.path.join(self._world.cwd, name)) if "/" in name or name.startswith(".") else ""
        with self._changing() as projects:
            found = [
                item
                for item in projects
                if name in (item.registry_id, item.project.get("id"), item.project_root) or item.project_root == path
            ]
            if len(found) != 1:
                raise InputError(
                    f"`{name}` names {len(found)} registered projects."
                    if found
                    else f"`{name}` is not a registered project.",
                    hint="`memory projects list` shows the registry ids, project ids and paths.",
                    details={"field": "project", "matches": [item.registry_id for item in found]},
                )
            projects.remove(found[0])
        return found[0]

    def is_gone(self, entry: Registered) -> bool:
        """Whether a project has no memory any more. One that is damaged, newer or hidden by git is not gone."""
        root = entry.project_root
        if os.path.lexists(os.path.join(root, FOLDER, CONFIG)):
            return False
        return not hidden_files(Git(root, self._world.env), (FOLDER,))

    def prune(self) -> list[Registered]:
        """Remove projects without a memory from the list."""
        with self._changing() as projects:
            gone = [item for item in projects if self.is_gone(item)]
            projects[:] = [item for item in projects if item not in gone]
        return gone

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Registered]]:
        if not self.folder:
            raise NotReady("There is no home folder for the registry.", hint="Set MEMORY_HOME to a folder of yours.")
        try:
            ensure_folder(self.folder)
            now = timestamp(self._world.now())
            holder = Holder(pid=self._world.pid, operation="projects", created_at=now)
            with held(os.path.join(self.folder, LOCK), holder, _LOCK_SECONDS, self._world.sleep):
                self.refuse_newer()
                projects = self.projects()
                before = list(projects)
                self._set_aside()
                yield projects
                if projects != before:
                    projects.sort(key=_name)
                    fields = {"projects": msgspec.to_builtins(projects, str_keys=True), "version": 1}
                    ordered = msgspec.json.decode(msgspec.json.encode(fields, order="sorted"))
                    write_file(self.path, pretty(ordered), self._world.token())
        except OSError as error:
            raise storage_failed(error, "update the registry of projects") from error

    def _set_aside(self) -> None:
        """A registry that cannot be read is kept under another name before a new one is written."""
        try:
            data = read_bytes(self.path)
        except FileNotFoundError:
            return
        if json_value(data, _File) is None:
            name = f"projects.invalid-{stamp(self._world.now())}-{self._world.pid}.json"
            write_file(os.path.join(self.folder, name), data, self._world.token())
