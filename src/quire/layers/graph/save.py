"""Save an intent: parse, plan, write all or nothing, report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quire.files.fragments import new_fragment
from quire.files.git import Git
from quire.files.transaction import Append, FileUpdate, apply_changes, update_of
from quire.files.world import World
from quire.layers.graph.codec import encode_event, node_decoder
from quire.layers.graph.drafts import NodeDraft
from quire.layers.graph.inspect import found_elsewhere
from quire.layers.graph.intent import ParsedIntent, read_intent, refuse
from quire.layers.graph.layout import EVENTS, FOLDER
from quire.layers.graph.lock import write_access
from quire.layers.graph.plan import plan_save
from quire.layers.graph.plan_state import Planning
from quire.layers.graph.recovery import RecoveryCopy, keep_dirty_files
from quire.layers.graph.source import node_record
from quire.layers.graph.stamps import STAMPS, seals_in, stamps_of
from quire.layers.graph.store import GraphStore
from quire.layers.graph.stored import StoredNode
from quire.layers.graph.types import Event
from quire.model.errors import Conflict
from quire.model.records import Problem, Record
from quire.model.times import timestamp
from quire.model.vocabulary import Actor

_ATTEMPTS = 3


class PlannedNode(msgspec.Struct, frozen=True):
    """A node as it would be, and the nodes that it is tied to then, or that are retired by the same save."""

    record: Record
    settled: frozenset[str]


class Saved(msgspec.Struct, kw_only=True):
    """What a save did, or with `dry_run` would do."""

    dry_run: bool
    task: str
    memory_created: list[str] = []
    memory_updated: list[str] = []
    memory_marked_stale: list[str] = []
    memory_superseded: list[str] = []
    memory_deleted: list[str] = []
    memory_confirmed: list[str] = []
    relations_created: list[str] = []
    relations_updated: list[str] = []
    relations_deleted: list[str] = []
    unchanged: list[str] = []
    files_changed: list[str] = []
    recovery_files: list[RecoveryCopy] = []
    events_appended: int = 0
    warnings: list[Problem] = []
    planned: list[PlannedNode] = []
    """Of a dry run: the nodes that it would create or update."""

    @property
    def changed(self) -> bool:
        return self.events_appended > 0


class _Write(msgspec.Struct):
    """The files, events and report lines that a plan comes down to."""

    report: Saved
    log: str
    """Where the events go: the log, or a new fragment of it."""
    changes: list[FileUpdate]
    events: list[Event]
    edited: set[str]
    """Bodies that a person changed since they were last saved."""


def save_intent(
    store: GraphStore,
    world: World,
    git: Git,
    value: Any,
    *,
    actor: Actor,
    dry_run: bool = False,
    read: Mapping[str, tuple[bytes, bytes]] | None = None,
    apart: bool = False,
) -> Saved:
    """Carry out a save intent. Every problem is reported at once, and then nothing is written.

    `read` are nodes by their ids, as the bytes of their two files: refused where one of them is another now. With
    `apart` nothing is written that a save on every branch writes.
    """
    draft = read_intent(value)
    now = timestamp(world.now())
    log = new_fragment(EVENTS, world) if apart else EVENTS
    if dry_run:
        return _resolve(store, git, draft, actor, now, log, dry_run=True).report
    with write_access(store, world, "save"):
        store.config()
        for attempt in range(1, _ATTEMPTS + 1):
            _refuse_if_read_otherwise(store, read or {})
            write = _resolve(store, git, draft, actor, now, log, dry_run=False)
            try:
                _apply(store, world, git, write, now)
                break
            except Conflict:
                # Someone edited a file between our reading and our writing: plan again on what is there now.
                if attempt == _ATTEMPTS:
                    raise
    return write.report


def _refuse_if_read_otherwise(store: GraphStore, read: Mapping[str, tuple[bytes, bytes]]) -> None:
    for name, files in read.items():
        found = store.find_node(name) or found_elsewhere(store, name)
        if found is None or (found.data, found.body_data) != files:
            raise Conflict(
                f"`{name}` changed since you began to edit it. Nothing was written.",
                hint="Reload it and make your edit again.",
                details={"id": name},
            )


def _resolve(
    store: GraphStore, git: Git, draft: ParsedIntent, actor: Actor, now: str, log: str, *, dry_run: bool
) -> _Write:
    plan = plan_save(store, draft, actor, now)
    if plan.problems:
        raise refuse(plan.problems)
    _seal(store, git, plan, draft)
    write = _Write(Saved(dry_run=dry_run, task=plan.task, warnings=plan.warnings), log, [], [], set())
    taken: set[str] = set()
    for node in plan.nodes.values():
        _write_node(store, plan, node, write, taken)
    _write_relations(plan, write)
    write.report.unchanged += plan.already
    if dry_run:
        write.report.planned = _planned(plan, write.report)
    write.report.events_appended = len(write.events)
    write.report.files_changed = sorted(f"{FOLDER}/{change.path}" for change in write.changes)
    if write.events:
        write.report.files_changed = sorted([*write.report.files_changed, f"{FOLDER}/{log}"])
    return write


def _planned(plan: Planning, report: Saved) -> list[PlannedNode]:
    retired = {*report.memory_marked_stale, *report.memory_superseded, *report.memory_deleted}
    ties = [(source, target) for (source, _, target), tie in plan.relations.items() if not tie.removed]
    found = []
    for node_id in (*report.memory_created, *report.memory_updated):
        node = plan.nodes[node_id]
        data, body = node.encode(plan.now), node.body.encode()
        stored = StoredNode(node=node_decoder().decode(data), body=node.body, path=node.path, data=data, body_data=body)
        tied = {end for ends in ties if node_id in ends for end in ends}
        found.append(PlannedNode(node_record(stored), frozenset(retired | tied)))
    return found


def _seal(store: GraphStore, git: Git, plan: Planning, draft: ParsedIntent) -> None:
    """Bind what this save says to the code as it is now."""
    nodes = [node for node in plan.nodes.values() if not node.removed and node.needs_seal]
    anchored = [node for node in nodes if node.fields.get("anchors")]
    for node in nodes:
        if node not in anchored and seals_in(node.fields):
            node.seal((), "", plan.actor)
    if not anchored:
        return
    from quire.anchors.sealing import Sealer

    lost: list[Problem] = []
    sealer = Sealer(store.root, git, (anchor for node in anchored for anchor in node.fields["anchors"]))
    for node in anchored:
        sealed = sealer.seal(node.fields["anchors"])
        if node.confirmed:
            lost += [_not_there(draft, node.id, anchor) for anchor in sealed.lost]
        node.seal(sealed.seals, sealed.commit, plan.actor)
        for anchor, why in sealed.unmatched:
            said = f"`{node.id}`: the anchor `{anchor}` cannot be checked: {why}"
            hint = "Correct it if it is a typing mistake. If the code does not exist yet, keep it."
            plan.warn("AnchorUnmatched", "anchors", said, hint)
    if lost:
        raise refuse(lost)


def _not_there(draft: ParsedIntent, node_id: str, anchor: str) -> Problem:
    number = next(number for number, item in enumerate(draft.intent.confirm) if item.id == node_id)
    return Problem(
        code="AnchorUnmatched",
        field=draft.place("confirm", number, "id"),
        message=f"`{node_id}` cannot be confirmed: its anchor `{anchor}` matches no code",
        hint="Save it with a new anchor (`memory sync` proposes one if it can), or mark it stale.",
    )


def _write_node(store: GraphStore, plan: Planning, node: NodeDraft, write: _Write, taken: set[str]) -> None:
    stored, report = node.stored, write.report
    if stored is not None and not stored.hash_holds:
        write.edited.add(node.body_path)
    if node.removed and stored:
        write.events += node.events(plan.actor, plan.task, plan.now)
        report.memory_deleted.append(node.id)
        for path, data in ((node.path, stored.data), (node.body_path, stored.body_data)):
            write.changes.append(update_of(path, data, None))
        return
    if not node.changed_fields:
        if node.id not in report.unchanged:
            report.unchanged.append(node.id)
        return
    if stored is None:
        node.path = store.new_node_path(node.id, taken)
        taken.add(node.path)
    events = node.events(plan.actor, plan.task, plan.now)
    for event in events:
        _lists(report)[event.event].append(node.id)
    if node.confirmed:
        report.memory_confirmed.append(node.id)
    before, body_before = (stored.data, stored.body_data) if stored else (None, None)
    if stored is None or node.body != stored.body:
        write.changes.append(update_of(node.body_path, body_before, node.body.encode()))
    apart = write.log != EVENTS and stored is not None and bool(events)
    data = node.encode(plan.now, apart=apart)
    if stored is None or data != stored.data or not apart:
        write.changes.append(update_of(node.path, before, data))
    if apart:
        payload = {**(events[-1].payload or {}), STAMPS: stamps_of(node.path, node.fields)}
        events[-1] = msgspec.structs.replace(events[-1], payload=payload)
    write.events += events


def _write_relations(plan: Planning, write: _Write) -> None:
    for draft in plan.relations.values():
        if not draft.changed:
            continue
        if draft.removed and draft.stored is None:
            continue
        event = draft.event(plan.actor, plan.task, plan.now)
        write.events.append(event)
        _lists(write.report)[event.event].append(draft.id)
        data = None if draft.removed else draft.encode(plan.now)
        write.changes.append(update_of(draft.path, draft.stored.data if draft.stored else None, data))


def _lists(report: Saved) -> dict[str, list[str]]:
    return {
        "memory.created": report.memory_created,
        "memory.updated": report.memory_updated,
        "memory.marked_stale": report.memory_marked_stale,
        "memory.superseded": report.memory_superseded,
        "relation.created": report.relations_created,
        "relation.updated": report.relations_updated,
        "relation.deleted": report.relations_deleted,
    }


def _apply(store: GraphStore, world: World, git: Git, write: _Write, now: str) -> None:
    if not write.changes and not write.events:
        return
    overwritten = {change.path: change.data is None for change in write.changes if change.planned is not None}
    write.report.recovery_files = keep_dirty_files(store, git, overwritten, write.edited, now)
    apply_with_events(store, world, write.changes, b"".join(map(encode_event, write.events)), write.log)


def apply_with_events(store: GraphStore, world: World, changes: list[FileUpdate], events: bytes, log: str) -> None:
    """Change files and log it, all or nothing; `log` is the event log, or a fragment that does not exist yet."""
    appends = [Append(path=log, data=events, size=store.events_size())] if events and log == EVENTS else []
    if events and log != EVENTS:
        changes = [*changes, FileUpdate(path=log, data=events, planned=None)]
    apply_changes(store.folder, changes, appends, world.token(), whole=True)
