"""Implements `Layer` for the graph."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files.json_files import json_value
from quire.files.paths import read_or_none
from quire.files.transaction import FileUpdate
from quire.files.write_access import recover_folder
from quire.layers.graph.codec import Anchored, logged_events
from quire.layers.graph.layout import BACKUP, EVENT_FRAGMENTS, EVENTS, FOLDER, NODES, RELATIONS, body_of, sidecar_of
from quire.layers.graph.store import GraphStore
from quire.layers.graph.stored import StoredNode
from quire.layers.protocol import MEMORY_HOME, Holding, Layer, Repair, Site, Storage
from quire.model.contested import BODY, Choice, ContestedField, MergedFile
from quire.model.errors import GitRequired, InvalidStore, NotInitialized, QuireError
from quire.model.records import Edge, Problem, Record
from quire.model.sources import IndexSource
from quire.model.vocabulary import (
    CREATABLE_KINDS,
    KINDS,
    LIVE_STATUSES,
    OTHER_STATUSES,
    PREDICATES,
    QUESTION_STATUSES,
    SHOWN_STAGES,
    STAGES,
)

if TYPE_CHECKING:
    from quire.layers.record_details import RecordDetails

_LISTED = {NODES: "changed_memory_ids", RELATIONS: "changed_relation_ids"}
"""By folder, the name under which a diff lists what changed in it."""


_WORDS = {
    "kinds": CREATABLE_KINDS,
    "stages": STAGES,
    "statuses": OTHER_STATUSES,
    "question_statuses": QUESTION_STATUSES,
    "predicates": PREDICATES,
}


class GraphLayer(Layer):
    """The product: nodes, relations, the log of events."""

    name = "graph"
    heading = "Product"
    home = MEMORY_HOME
    tracked = (FOLDER,)
    logs = (f"{FOLDER}/{EVENTS}",)
    live = tuple(LIVE_STATUSES)
    kinds = KINDS
    words = _WORDS
    sections = (*SHOWN_STAGES, "dead")
    changed_lists = tuple(_LISTED.values())

    # -- the files ------------------------------------------------------------------------

    def source(self, site: Site) -> IndexSource:
        from quire.layers.graph.source import GraphSource

        return GraphSource(GraphStore(site.root), site.world)

    def access(self, site: Site, operation: str) -> AbstractContextManager[None]:
        from quire.layers.graph.lock import write_access

        return write_access(GraphStore(site.root), site.world, operation)

    def recover(self, site: Site) -> None:
        """Of storage of another version nothing is read or written."""
        store = GraphStore(site.root)
        # A configuration that is missing or damaged is for each command to judge.
        with contextlib.suppress(InvalidStore, NotInitialized):
            store.config()
        recover_folder(site.root, FOLDER, site.world, written=(BACKUP,))

    def storage(self, site: Site) -> Storage | None:
        if not os.path.lexists(os.path.join(site.root, FOLDER)):
            return None
        try:
            config = GraphStore(site.root).config()
        except NotInitialized as error:
            return Storage(message=error.message, state="warning", hint=error.hint or "")
        except (QuireError, OSError) as error:
            hint = error.hint if isinstance(error, QuireError) else ""
            return Storage(message=f"{error}", state="error", hint=hint or "")
        return Storage(message=f"{FOLDER}, storage version {config.version}")

    def refuse_other_version(self, site: Site) -> None:
        if self.home.exists(site.root):
            GraphStore(site.root).config()

    # -- check and repair -----------------------------------------------------------------

    def check(self, site: Site) -> Iterable[Problem]:
        from quire.layers.graph.checks import check_graph

        store = GraphStore(site.root)
        if not os.path.lexists(store.folder):
            return []
        return [msgspec.structs.replace(found, path=f"{FOLDER}/{found.path}") for found in check_graph(store)]

    def count_files(self, site: Site) -> int:
        store = GraphStore(site.root)
        return len(store.node_paths()) + len(store.relation_paths())

    def repair(self, site: Site, problems: Sequence[Problem], unmerged: Collection[str]) -> Repair:
        from quire.layers.graph.repair import plan_graph_repair

        below = [
            msgspec.structs.replace(problem, path=problem.path.removeprefix(f"{FOLDER}/"))
            for problem in problems
            if problem.path.startswith(f"{FOLDER}/")
        ]
        untouched = {path.removeprefix(f"{FOLDER}/") for path in unmerged} | _kept_by_git(site)
        fixes, changes = plan_graph_repair(GraphStore(site.root), below, untouched)
        placed = (msgspec.structs.replace(fix, path=f"{FOLDER}/{fix.path}") for fix in fixes)
        return Repair(fixes=tuple(placed), changes=tuple[FileUpdate, ...](changes))

    # -- merges -----------------------------------------------------------------------------

    def fold(self, site: Site) -> list[str]:
        from quire.layers.graph.fold import fold_events

        return fold_events(GraphStore(site.root), site.world)

    def merge(self, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
        from quire.layers.graph.merge import merge_file
        from quire.layers.graph.merge_beside import merge_beside

        return merge_file(path, base, ours, theirs) or merge_beside(path, base, ours, theirs)

    def contested_in(self, path: str, data: bytes) -> list[ContestedField]:
        from quire.layers.graph.merge import contested_in

        return contested_in(path, data)

    def settled(self, path: str, data: bytes, choices: Sequence[Choice]) -> bytes | None:
        from quire.layers.graph.merge import settled

        return settled(path, data, choices)

    def value_in(self, record: Record, field: ContestedField, side: bytes, now: bytes) -> Any:
        if field.field != BODY:
            return super().value_in(record, field, side, now)
        from quire.layers.graph.merge_body import chosen

        return chosen(now.decode(), side.decode())

    def both_of(self, field: ContestedField, now: bytes) -> Any:
        if field.field != BODY:
            return super().both_of(field, now)
        from quire.layers.graph.merge_body import both

        return both(now.decode())

    def deleted_elsewhere(self, path: str, data: bytes) -> bytes:
        from quire.layers.graph.merge import deleted_elsewhere

        return deleted_elsewhere(path, data)

    # -- purge ------------------------------------------------------------------------------

    def rehash(self, before: Mapping[str, bytes], after: Mapping[str, bytes | None]) -> dict[str, bytes]:
        from quire.layers.graph.rehash import rehash_graph

        return rehash_graph(before, after)

    def is_named_by_title(self, path: str) -> bool:
        return path.startswith((f"{NODES}/", f"{RELATIONS}/"))

    # -- records ----------------------------------------------------------------------------

    def changed(self, site: Site, path: str, before: bytes | None, after: bytes | None) -> Mapping[str, Sequence[str]]:
        """The id of a node or a relation; a body's stands in the sidecar beside it."""
        from quire.layers.record_parts import fields_of

        listed = _LISTED.get(path.removeprefix(f"{FOLDER}/").partition("/")[0])
        data = before if after is None else after
        if listed is None:
            return {}
        if path.endswith(".md"):
            data = read_or_none(os.path.join(site.root, path.removesuffix(".md") + ".json"))
        found = fields_of(data).get("id")
        return {listed: [found]} if isinstance(found, str) else {}

    def holding(self, record: Record) -> Holding:
        from quire.layers.record_parts import whole_file

        sidecar = f"{FOLDER}/{record.path}"
        return Holding(paths=(sidecar, f"{sidecar.removesuffix('.json')}.md"), part=whole_file, shared=False)

    def is_fragment(self, path: str) -> bool:
        return path.endswith(".jsonl") and path.startswith(f"{FOLDER}/{EVENT_FRAGMENTS}/")

    def files_in_fragment(self, data: bytes) -> Sequence[str]:
        from quire.layers.graph.stamps import pending_stamps

        return [f"{FOLDER}/{path}" for path in pending_stamps(logged_events("", data))]

    def has_anchors(self, path: str) -> bool:
        return path.endswith(".json") and path.startswith(f"{FOLDER}/{NODES}/")

    def anchors_in(self, data: bytes) -> Sequence[str] | None:
        found = json_value(data.removeprefix(b"\xef\xbb\xbf"), Anchored)
        if found is None:
            return None
        return found.anchors if found.status in LIVE_STATUSES else ()

    def read_together(self, path: str) -> tuple[str, ...]:
        if path.startswith(f"{FOLDER}/{NODES}/") and path.endswith((".json", ".md")):
            return sidecar_of(path), body_of(sidecar_of(path))
        return (path,)

    def records_in(self, files: Mapping[str, bytes]) -> Iterable[Record | Edge | Problem]:
        from quire.layers.graph.source import items_in

        return items_in({path.removeprefix(f"{FOLDER}/"): data for path, data in files.items()})

    def says_the_same(self, record: Record, now: bytes | None, then: Sequence[bytes]) -> bool:
        from quire.layers.record_parts import fields_of

        sidecar, body = then
        text = body.decode("utf-8", "replace").replace("\r\n", "\n").strip()
        return fields_of(sidecar).get("title") == record.title and text == record.text.strip()

    def details(self, site: Site, record: Record, weight: float) -> RecordDetails:
        from quire.layers.graph.details import node_details
        from quire.layers.graph.inspect import inspect_node

        store = GraphStore(site.root)
        stored = store.read_node(record.path)
        # It was moved or damaged since the index looked: whoever finds it says what is wrong.
        return node_details(stored if isinstance(stored, StoredNode) else inspect_node(store, record.ref).node)

    def how_to_retire(self, record: Record) -> str:
        return "Save it with another text, or retire it: `stale`, `supersede` or `delete` in a save."


def _kept_by_git(site: Site) -> set[str]:
    """A log that is missing here and that git has: a new one in its place would go for it in the next commit."""
    path = f"{FOLDER}/{EVENTS}"
    if os.path.lexists(os.path.join(site.root, path)) or not site.git.available:
        return set()
    try:
        return {EVENTS} if site.git.staged([path]) else set()
    except GitRequired:
        return set()
