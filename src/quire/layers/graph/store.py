"""Find and read the graph's files. Reading never changes them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from quire.files.digests import hex_digest
from quire.files.fragments import fragments_of, stamp_of_fragments
from quire.files.json_files import decode_object
from quire.files.layout import RECOVERY
from quire.files.paths import inside, is_text, read_inside
from quire.files.transaction import staged_bytes
from quire.layers.graph.codec import (
    LoggedEvent,
    body_text,
    logged_events,
)
from quire.layers.graph.damage import conflict, conflict_line, not_text, unreadable
from quire.layers.graph.layout import BACKUP, CONFIG, EVENTS, FOLDER, NODES, RELATIONS
from quire.layers.graph.stored import StoredNode, StoredRelation, decoded_node, decoded_relation
from quire.model.config import STORAGE_VERSION, Config
from quire.model.errors import InvalidConfig, InvalidStore, NotInitialized, UnsupportedVersion
from quire.model.ids import file_stems, kind_of, relation_stem
from quire.model.records import Problem

if TYPE_CHECKING:
    from quire.layers.graph.types import Event, Stamps

_KIND_FOLDERS = {
    "feature": "features",
    "decision": "decisions",
    "gotcha": "gotchas",
    "question": "questions",
}
_READ_ATTEMPTS = 5


class GraphStore:
    """One project's graph. Paths given and returned are relative to `.memory/`, with forward slashes."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = os.path.join(root, FOLDER)
        self._stamps: tuple[int, dict[str, list[Stamps]]] = (0, {})

    def path(self, relative: str) -> str:
        return inside(self.folder, relative)

    # -- what the store is ------------------------------------------------------------------

    def exists(self) -> bool:
        return os.path.lexists(os.path.join(self.folder, CONFIG))

    def config(self) -> Config:
        """The store's configuration; says what to do where there is none, or one of another version."""
        try:
            data = self.read(CONFIG)
        except FileNotFoundError:
            raise self._not_initialized() from None
        except OSError as error:
            self.refuse_a_file()
            raise InvalidStore(
                f"`{FOLDER}/{CONFIG}` cannot be read: {(error.strerror or str(error)).lower()}.",
                hint="Replace it with a regular file; symbolic links are not followed.",
                details={"path": f"{FOLDER}/{CONFIG}"},
            ) from None
        try:
            fields = decode_object(data)
        except ValueError as error:
            raise InvalidStore(
                f"`{FOLDER}/{CONFIG}` is not readable: {error}.",
                hint=f"Restore it with `git restore {FOLDER}/{CONFIG}`, or correct it by hand; `memory check` shows "
                "details.",
                details={"path": f"{FOLDER}/{CONFIG}"},
            ) from None
        version = fields.get("version")
        if version != STORAGE_VERSION or isinstance(version, bool):
            named = "no storage version" if version is None else f"storage version {version!r}"
            raise UnsupportedVersion(
                f"This memory has {named}; this program works with version {STORAGE_VERSION}.",
                hint="Nothing was changed. Use the version of Quire that created it, or run `memory reset` (it keeps "
                "a backup "
                f"in `{FOLDER}/{BACKUP}/`) and then `memory init`.",
                details={
                    "path": f"{FOLDER}/{CONFIG}",
                    "supported_version": STORAGE_VERSION,
                    "found_version": version,
                },
            )
        try:
            return msgspec.convert(fields, Config)
        except msgspec.ValidationError as error:
            reason, _, place = str(error).partition(" - at `$")
            field = place.rstrip("`").replace("[...]", "").replace(".", "/")
            raise InvalidConfig(
                f"`{FOLDER}/{CONFIG}` is not valid: {reason}{f' at {field}' if field else ''}.",
                hint="Correct it by hand; `memory check` shows every fault.",
                details={"path": f"{FOLDER}/{CONFIG}", "field": field or None},
            ) from None

    def refuse_a_file(self) -> None:
        """Raise where something that is not a folder has the folder's name."""
        if os.path.lexists(self.folder) and not os.path.isdir(self.folder):
            raise InvalidStore(
                f"`{FOLDER}` is a file; the memory needs a folder of this name.",
                hint=f"Rename or remove `{FOLDER}`, then run `memory init`.",
                details={"path": FOLDER},
            )

    def _not_initialized(self) -> NotInitialized:
        hint = "Run `memory init` in the project's folder."
        if os.path.isfile(os.path.join(self.root, ".aictx", CONFIG)):
            hint = f"There is an older store in `.aictx/`: rename it with `mv .aictx {FOLDER}`, or run `memory init`."
        elif os.path.isdir(os.path.join(self.folder, NODES)):
            hint = f"`{FOLDER}/{CONFIG}` is missing; restore it with `git restore {FOLDER}`, or run `memory init`."
        return NotInitialized(
            f"There is no memory in `{self.root}` yet.", hint=hint, details={"project_root": self.root}
        )

    # -- nodes ------------------------------------------------------------------------------

    def find_node(self, node_id: str) -> StoredNode | None:
        """The node with this id. Looks where it can lie, not through the whole store.

        A file that lies there and cannot be read may be this very node: it is never taken for missing.
        """
        damaged: Problem | None = None
        for path in self._candidates(node_id):
            stored = self.read_node(path)
            if isinstance(stored, StoredNode):
                if stored.node.id == node_id:
                    return stored
            elif stored.code != "CanonicalFileMissing":  # which was deleted since it was listed
                damaged = damaged or stored
        if damaged is not None:
            raise InvalidStore(
                f"`{FOLDER}/{damaged.path}`, which may hold `{node_id}`, cannot be read: {damaged.message}",
                hint=damaged.hint,
                details={"path": f"{FOLDER}/{damaged.path}", "line": damaged.line, "code": damaged.code},
            )
        return None

    def new_node_path(self, node_id: str, taken: set[str]) -> str:
        """Where a new node's sidecar goes: the slug, or kind and slug where that is taken."""
        for stem in file_stems(node_id):
            path = f"{NODES}/{stem}.json"
            if path not in taken and not self._occupied(stem):
                return path
        raise InvalidStore(
            f"`{FOLDER}/{NODES}/{node_id}.json` does not hold the record `{node_id}`.",
            hint="Run `memory check`; correct or remove that file.",
            details={"path": f"{FOLDER}/{NODES}/{node_id}.json"},
        )

    def _occupied(self, stem: str) -> bool:
        base = os.path.join(self.folder, NODES, stem)
        return os.path.lexists(base + ".json") or os.path.lexists(base + ".md")

    def _candidates(self, node_id: str) -> Iterator[str]:
        kind = kind_of(node_id)
        stems = (*file_stems(node_id), "project") if kind == "project" else file_stems(node_id)
        tried = set()
        known = [NODES, f"{NODES}/{_KIND_FOLDERS[kind]}"] if kind in _KIND_FOLDERS else [NODES]
        for folder in known:
            for stem in stems:
                path = f"{folder}/{stem}.json"
                tried.add(path)
                if os.path.lexists(os.path.join(self.folder, path)):
                    yield path
        names = {f"{stem}.json" for stem in stems}
        for path in self._files_in_subfolders():
            if path.rpartition("/")[2] in names and path not in tried:
                yield path

    def _files_in_subfolders(self) -> Iterator[str]:
        top = os.path.join(self.folder, NODES)
        try:
            # A folder without subfolders has two links on the common file systems: most stores end here.
            if os.stat(top).st_nlink == 2:
                return
            children = sorted(os.listdir(top))
        except OSError:
            return
        for name in children:
            if not name.endswith((".json", ".md")) and os.path.isdir(os.path.join(top, name)):
                yield from _walk(top, name, NODES)

    def node_paths(self) -> list[str]:
        """Every sidecar, in a stable order."""
        return self._listed(NODES)

    def read_node(self, path: str) -> StoredNode | Problem:
        """One node; where it cannot be read, what is wrong with it."""
        stored = self._read_node_once(path)
        for _ in range(_READ_ATTEMPTS):
            if isinstance(stored, StoredNode) and stored.hash_holds:
                break
            # Perhaps a writer is between two steps: the body is in its place, the sidecar's next bytes lie staged.
            staged = staged_bytes(os.path.join(self.folder, RECOVERY), path)
            again = self._read_node_once(path, staged)
            if again == stored:
                break
            stored = again
        if isinstance(stored, StoredNode) and b"<<<<<<<" in stored.body_data and not stored.hash_holds:
            # What a merge left open says neither side. A text that was saved with such lines is what it is.
            line = conflict_line(stored.body_data)
            return conflict(path.removesuffix(".json") + ".md", line) if line else stored
        return stored

    def _read_node_once(self, path: str, data: bytes | None = None) -> StoredNode | Problem:
        try:
            data = self.read(path) if data is None else data
        except OSError as error:
            return unreadable(path, error)
        node = decoded_node(path, data)
        if isinstance(node, Problem):
            return node
        # The body lies beside the sidecar under the same name, whatever `body_path` claims.
        body_path = path.removesuffix(".json") + ".md"
        try:
            body_data = self.read(body_path)
            body = body_text(body_data)
        except FileNotFoundError:
            return Problem(
                code="ObjectBodyMissing",
                message=f"{node.id} has no body file.",
                path=body_path,
                hint=f"Restore it with `git restore {FOLDER}/{body_path}`, or delete the sidecar too.",
            )
        except OSError as error:
            return unreadable(body_path, error)
        except UnicodeDecodeError as error:
            return not_text(body_path, error)
        stored = StoredNode(node=node, body=body, path=path, data=data, body_data=body_data)
        stamps = self.stamps().get(path)
        if not stamps:
            return stored
        from quire.layers.graph.stamps import stamped_fields

        node = msgspec.convert(stamped_fields(decode_object(data), body, stamps), type(node))
        return msgspec.structs.replace(stored, node=node, stamps=stamps)

    def nodes(self) -> tuple[list[StoredNode], list[Problem]]:
        """Every node that can be read, and what is wrong with the others."""
        found: list[StoredNode] = []
        problems: list[Problem] = []
        for path in self.node_paths():
            stored = self.read_node(path)
            if isinstance(stored, Problem):
                problems.append(stored)
            else:
                found.append(stored)
        return found, problems

    # -- relations --------------------------------------------------------------------------

    def relation_paths(self) -> list[str]:
        return self._listed(RELATIONS)

    def read_relation(self, path: str) -> StoredRelation | Problem:
        try:
            data = self.read(path)
        except OSError as error:
            return unreadable(path, error)
        return decoded_relation(path, data)

    def relations(self) -> tuple[list[StoredRelation], list[Problem]]:
        found: list[StoredRelation] = []
        problems: list[Problem] = []
        for path in self.relation_paths():
            stored = self.read_relation(path)
            if isinstance(stored, Problem):
                problems.append(stored)
            else:
                found.append(stored)
        return found, problems

    def find_relation(self, source: str, predicate: str, target: str) -> StoredRelation | str:
        """The relation between two nodes, or the path where a new one goes."""
        stem = relation_stem(source, predicate, target, hex_digest)
        for number in range(1, 1000):
            path = f"{RELATIONS}/{stem}.json" if number == 1 else f"{RELATIONS}/{stem}-{number}.json"
            if not os.path.lexists(os.path.join(self.folder, path)):
                return path
            stored = self.read_relation(path)
            if isinstance(stored, StoredRelation):
                relation = stored.relation
                if (relation.source, relation.predicate, relation.target) == (source, predicate, target):
                    return stored
        raise InvalidStore(f"Too many relations are named `{stem}`.", hint="Run `memory check`.")

    def deletion_of(self, node_id: str) -> Event | None:
        """The event that deleted a node which is no longer there."""
        last = None
        for _, _, event in self.events():
            if not isinstance(event, Problem) and event.id == node_id:
                last = event
        return last if last is not None and last.event == "memory.deleted" else None

    def relations_touching(self, node_id: str) -> list[StoredRelation]:
        """Relations from or to a node. Names say which files to open; a cut name is always opened."""
        name = node_id.replace(".", "-", 1).replace("_", "-")
        found = []
        for path in self.relation_paths():
            if name not in path and len(path) < 150:
                continue
            stored = self.read_relation(path)
            if isinstance(stored, StoredRelation) and node_id in (
                stored.relation.source,
                stored.relation.target,
            ):
                found.append(stored)
        return found

    # -- events -----------------------------------------------------------------------------

    def stamps(self) -> dict[str, list[Stamps]]:
        """By sidecar, what saves on branches made of it; read again only after a fragment came or went."""
        changed = stamp_of_fragments(self.root, f"{FOLDER}/{EVENTS}")
        if changed != self._stamps[0]:
            from quire.layers.graph.stamps import pending_stamps

            self._stamps = (changed, pending_stamps(logged for path in self.fragments() for logged in self._log(path)))
        return self._stamps[1]

    def fragments(self) -> list[str]:
        """The files that hold events of branches."""
        return [path.removeprefix(f"{FOLDER}/") for path in fragments_of(self.root, f"{FOLDER}/{EVENTS}")]

    def events(self) -> Iterator[LoggedEvent]:
        """The lines of the event log and its fragments, good and bad; none of a file that cannot be read."""
        for path in (EVENTS, *self.fragments()):
            yield from self._log(path)

    def _log(self, path: str) -> Iterator[LoggedEvent]:
        try:
            data = self.read(path)
        except OSError:
            return
        yield from logged_events(path, data)

    def events_size(self) -> int:
        try:
            return os.stat(os.path.join(self.folder, EVENTS)).st_size
        except FileNotFoundError:
            return 0

    # -- reading ----------------------------------------------------------------------------

    def read(self, relative: str, plain: set[str] | None = None) -> bytes:
        """A file's bytes. No link is followed, neither the file itself nor a folder on the way to it."""
        return read_inside(self.root, f"{FOLDER}/{relative}", plain=plain)

    def _listed(self, folder: str) -> list[str]:
        top = os.path.join(self.folder, folder)
        if os.path.islink(top) or not os.path.isdir(top):
            return []
        return sorted(path for path in _walk(self.folder, folder, "") if path.endswith(".json"))


def _walk(base: str, folder: str, prefix: str) -> Iterator[str]:
    """Files below a folder, links not followed, dot files and names that are not text left out."""
    shown = f"{prefix}/{folder}" if prefix else folder
    try:
        with os.scandir(os.path.join(base, folder)) as entries:
            found = list(entries)
    except OSError:
        return
    for entry in found:
        if entry.name.startswith(".") or not is_text(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name.endswith(".json"):
                yield f"{shown}/{entry.name}"  # in the place of a file: every reader reports it
            yield from _walk(os.path.join(base, folder), entry.name, shown)
        else:
            yield f"{shown}/{entry.name}"
