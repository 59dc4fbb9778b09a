"""The index's source for the graph: files with stamps, their records and edges."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from quire.files.fragments import stamp_of_fragments
from quire.files.freshness import stamp_at, stamp_of
from quire.files.layout import RECOVERY
from quire.files.paths import is_text, storage_failed
from quire.files.transaction import is_interrupted
from quire.files.world import World
from quire.files.write_access import LockedFolder, standing_still
from quire.layers.graph.codec import logged_events
from quire.layers.graph.layout import EVENT_FRAGMENTS, EVENTS, FOLDER, NODES, RELATIONS, body_of, sidecar_of
from quire.layers.graph.stamps import pending_stamps
from quire.layers.graph.store import GraphStore
from quire.layers.graph.stored import StoredNode, StoredRelation, decoded_node, decoded_relation
from quire.model.contested import disagreement
from quire.model.records import Edge, Problem, Record
from quire.model.seals import is_seal
from quire.model.text import plain_newlines
from quire.model.vocabulary import LayerName


class GraphSource:
    """Stamps are cheap (one look at each file, none is opened); reading is done for named files only."""

    layer: LayerName = "graph"

    def __init__(self, store: GraphStore, world: World | None = None) -> None:
        self._store = store
        self._world = world
        self.base = store.folder

    def folder_stamps(self) -> dict[str, int]:
        """When each folder last gained or lost a name: unchanged, unless someone replaced a file."""
        found = dict(self._folders())
        fragments = stamp_of_fragments(self._store.root, f"{FOLDER}/{EVENTS}")
        return {**found, EVENT_FRAGMENTS: fragments} if fragments else found

    def moment(self) -> str | None:
        """How long the log is, to which every save adds, and how the folders look; None in the middle of a save."""
        if is_interrupted(os.path.join(self._store.folder, RECOVERY)):
            return None
        return f"{self._store.events_size()} {self.folder_stamps()} {self._store.fragments()}"

    def still(self) -> contextlib.AbstractContextManager[None]:
        """Savers wait meanwhile; who was given no world asks nobody to wait."""
        if self._world is None:
            return contextlib.nullcontext()
        return standing_still(self._world, [LockedFolder(self._store.root, FOLDER)])

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        """Sidecars and relations (all of them, or those named) with time and size, the body's beside the sidecar's."""
        if paths is not None:
            return self._with_pending({path: stamp for path in paths if (stamp := self._stamp(path))})
        found: dict[str, str] = {}
        bodies: dict[str, str] = {}
        for folder, _ in self._folders():
            self._look(folder, found, bodies)
        for path, stamp in bodies.items():
            sidecar = sidecar_of(path)
            if sidecar in found:
                found[sidecar] += f"+{stamp}"
        return self._with_pending(found)

    def _with_pending(self, found: dict[str, str]) -> dict[str, str]:
        """A node is another one, too, when an event of a branch carries stamps for it."""
        for path, stamps in self._store.stamps().items():
            if path in found:
                found[path] += "".join(f"+{stamp.updated_at}" for stamp in stamps)
        return found

    def _look(self, folder: str, found: dict[str, str], bodies: dict[str, str]) -> None:
        """Note the stamps of a folder's files. This is done thousands of times for every question."""
        with self._opened(folder) as entries:
            for entry in entries:
                name = entry.name
                kept = found if name.endswith(".json") else bodies if name.endswith(".md") else None
                if kept is None or name.startswith(".") or not is_text(name):
                    continue
                try:
                    stat = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                kept[f"{folder}/{name}"] = stamp_of(stat)

    def _stamp(self, path: str) -> str:
        stamp, beside = (stamp_at(os.path.join(self._store.folder, name)) for name in (path, body_of(path)))
        return f"{stamp}+{beside}" if stamp and beside else stamp

    def indexed_files(self, files: Iterable[str]) -> list[str]:
        """Of files written below the project, the sidecars and relations they belong to."""
        names = {sidecar_of(file.removeprefix(f"{FOLDER}/")) for file in files if file.startswith(f"{FOLDER}/")}
        if any(name.startswith(f"{EVENT_FRAGMENTS}/") for name in names):
            names |= self._store.stamps().keys()
        return sorted(name for name in names if name.startswith((f"{NODES}/", f"{RELATIONS}/")))

    def read(self, paths: Iterable[str]) -> Iterator[Record | Edge | Problem]:
        for path in paths:
            if path.startswith(f"{NODES}/"):
                stored = self._store.read_node(path)
                found: Record | Edge | Problem = node_record(stored) if isinstance(stored, StoredNode) else stored
            else:
                relation = self._store.read_relation(path)
                found = relation_edge(relation) if isinstance(relation, StoredRelation) else relation
            # A file that vanished since it was listed is not a damaged one.
            if isinstance(found, Problem) and found.code == "CanonicalFileMissing":
                continue
            if isinstance(found, Problem) and found.path != path:
                # Of its body: told under the file that is read again, or it would be told for ever.
                said = f"Its body, `{found.path}`: {found.message}"
                found = msgspec.structs.replace(found, path=path, message=said)
            yield found

    def _folders(self) -> Iterator[tuple[str, int]]:
        pending = [NODES, RELATIONS]
        while pending:
            folder = pending.pop()
            path = os.path.join(self._store.folder, folder)
            try:
                stat = os.stat(path, follow_symlinks=False)
            except OSError:
                continue
            if not os.path.isdir(path) or os.path.islink(path):
                continue
            yield folder, stat.st_mtime_ns
            if stat.st_nlink == 2:
                continue  # no subfolders: see GraphStore
            with self._opened(folder) as entries:
                pending += sorted(
                    f"{folder}/{entry.name}"
                    for entry in entries
                    if is_text(entry.name) and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
                )

    @contextlib.contextmanager
    def _opened(self, folder: str) -> Iterator[Iterable[os.DirEntry[str]]]:
        """What lies in a folder: nothing, where it vanished since it was listed."""
        path = os.path.join(self._store.folder, folder)
        descriptor = -1
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            # By its number, the folder is found once, and not again with every file in it.
            with os.scandir(descriptor) as entries:
                yield entries
        except FileNotFoundError:
            if descriptor < 0:
                yield ()
        except OSError as error:
            raise storage_failed(error, "search the memory", self._store.root) from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def items_in(files: Mapping[str, bytes]) -> Iterator[Record | Edge | Problem]:
    """What these contents of sidecars, bodies and relations hold; a node without its body has an empty text.

    Fragments of the event log among them say what branches made of nodes.
    """
    fragments = [path for path in files if path.startswith(f"{EVENT_FRAGMENTS}/")]
    pending = pending_stamps(logged for path in sorted(fragments) for logged in logged_events(path, files[path]))
    for path, data in files.items():
        if path.startswith(f"{RELATIONS}/") and path.endswith(".json"):
            relation = decoded_relation(path, data)
            yield relation_edge(relation) if isinstance(relation, StoredRelation) else relation
        elif path.startswith(f"{NODES}/") and path.endswith(".json"):
            node = decoded_node(path, data)
            body_data = files.get(body_of(path), b"")
            if isinstance(node, Problem):
                yield node
                continue
            body = plain_newlines(body_data.decode("utf-8", "replace"))
            stored = StoredNode(node=node, body=body, path=path, data=data, body_data=body_data)
            yield node_record(stored.stamped(pending.get(path, ())))


def node_record(stored: StoredNode) -> Record:
    node = stored.node
    return Record(
        ref=node.id,
        layer="graph",
        kind=node.type,
        title=node.title,
        text=stored.body,
        status=node.status,
        path=stored.path,
        stage=node.stage or None,
        created_at=node.created_at,
        updated_at=node.updated_at,
        tags=tuple(node.tags),
        anchors=tuple(node.anchors),
        origin=node.source.kind if node.source else "",
        seen=tuple(item.id for item in node.evidence if is_seal(item.kind, item.id)),
        contested=_contested(stored),
        commit=(node.source.commit or "") if node.source else "",
    )


def _contested(stored: StoredNode) -> tuple[str, ...]:
    if b'"contested"' not in stored.data and b"memory:contested" not in stored.body_data:
        return ()
    from quire.layers.graph.merge import contested_in

    files = {stored.path: stored.data, body_of(stored.path): stored.body_data}
    return tuple(disagreement(one) for path, data in files.items() for one in contested_in(f"{FOLDER}/{path}", data))


def relation_edge(stored: StoredRelation) -> Edge:
    relation = stored.relation
    return Edge(
        ref=relation.id,
        source=relation.source,
        predicate=relation.predicate,
        target=relation.target,
        status=relation.status,
        path=stored.path,
        confidence=relation.confidence or None,
    )
