"""Find and read what other programs know of this project, and put it into the inbox."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.capture.hosts.entire import read_checkpoints
from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.hosts.types import FILES_MOST, KINDS, HostRead, HostSource
from quire.files.digests import blob_id
from quire.files.paths import read_inside
from quire.inbox.proposals import Proposal, value_digest
from quire.inbox.store import count_pending, read_inbox
from quire.layers.facts.originals import not_imported
from quire.layers.graph.source import node_record
from quire.layers.graph.stored import StoredNode
from quire.model.errors import InputError, not_one_of
from quire.model.ids import is_id
from quire.model.records import Problem
from quire.model.seals import parse_seal
from quire.model.text import cut
from quire.model.times import timestamp
from quire.project import Project
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.history_import import HISTORY, read_repository
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.proposal_records import is_from
from quire.verbs.inbox.results import Settled, proposal_fields
from quire.verbs.verb import Result

if TYPE_CHECKING:
    from quire.capture.history.findings import Wish
    from quire.index.catalog import Index


class FoundSource(msgspec.Struct, frozen=True, kw_only=True):
    """One file of another program, and what it would add."""

    source: HostSource
    items: int
    """What it says that could be a record."""
    new: int
    """As much of it as neither a record nor a proposal says yet, and nobody rejected."""
    skipped: int
    problems: tuple[Problem, ...]


class ImportedHosts(Result, kw_only=True):
    """What came of an import."""

    sources: list[FoundSource]
    proposals: list[Proposal] = []
    """The new ones, in the order of the files."""
    waiting: list[Proposal] = []
    """All that wait of these sources, also from earlier; none of a dry run."""
    known: int = 0
    rejected: int = 0
    dry_run: bool = False
    accepted: Settled | None = None
    """What became of those that wait, where they were to be accepted at once."""
    looks: bool = False
    """Whether no source was named, so that it only says what there is."""
    unread: list[str] = []
    """Kinds of sources that are here and were not read, since nobody named them and reading them takes a while."""
    absent: list[str] = []
    """Kinds that were named and of which nothing is here."""
    previews: bool = False
    """Whether each proposal is to be shown."""

    def is_incomplete(self) -> bool:
        return self.accepted is not None and self.accepted.is_incomplete()

    def fields(self) -> dict[str, Any]:
        sources = [
            {
                "kind": found.source.kind,
                "path": found.source.shown,
                "scope": found.source.scope,
                "items": found.items,
                "new": found.new,
                "skipped": found.skipped,
            }
            for found in self.sources
        ]
        return {
            "sources": sources,
            "results": [proposal_fields(item) for item in self.proposals],
            "waiting": [item.id for item in self.waiting],
            "unread": self.unread,
            "known": self.known,
            "rejected": self.rejected,
            "dry_run": self.dry_run,
            **({"accepted": self.accepted.fields()} if self.accepted else {}),
        }


def import_hosts(
    project: Project,
    kinds: Sequence[str] = (),
    *,
    paths: Sequence[str] = (),
    as_kind: str | None = None,
    wish: Wish | None = None,
    dry_run: bool = False,
) -> ImportedHosts:
    """Propose what these kinds of sources say, or all that are found, or the files at `paths`.

    With `dry_run` nothing is written. A second time, only what is new since is proposed. The history of the
    repository is read by the `wish`; without one it is only named.
    """
    project.ready()
    found = _named_sources(project, paths, as_kind) if paths else found_host_sources(project, kinds)
    sources = [source for source in found if wish is not None or source.kind != HISTORY]
    reads, same = _beside_records(project, [read_host_source(project, source, wish) for source in sources])
    # What two files say is proposed once, as the first of them says it.
    fresh = {item.id: item for read in reversed(reads) for item in reversed(read.proposals)}
    ordered = [item for read in reads for item in read.proposals if fresh.get(item.id) is item]
    alone = {item.origin for read in reads if read.is_one_record for item in read.proposals}
    added = inbox_add(project, (item for item in ordered if item.id not in same), dry_run=dry_run, replacing=alone)
    new = {item.id for item in added.added}
    return ImportedHosts(
        sources=[found_in_source(read, fresh, new) for read in reads],
        proposals=added.added,
        waiting=[] if dry_run else _pending_from(project, {item.origin for item in ordered}),
        known=added.known + len(same) + sum(len(read.proposals) + read.known for read in reads) - len(ordered),
        rejected=added.rejected,
        dry_run=dry_run,
        absent=[kind for kind in kinds if kind not in {source.kind for source in found}],
        unread=list(dict.fromkeys(source.kind for source in found if source not in sources)),
        warnings=[
            *(problem for read in reads for problem in read.problems),
            *_many(len(reads)),
            *added.warnings,
            *([] if paths or kinds else not_imported(project.root)),
        ],
    )


def accept_imported(project: Project, done: ImportedHosts) -> Settled:
    """Make records of all that waits of an import, but for what its own source calls undecided."""
    undecided = [item for item in done.waiting if item.standing == "open"]
    decided = [item.id for item in done.waiting if item.standing != "open"]
    settled = accept(project, ChosenProposals(ids=decided)) if decided else Settled(left=count_pending(project.root))
    settled.undecided = undecided
    return settled


def _pending_from(project: Project, origins: Collection[str]) -> list[Proposal]:
    return [item for item in read_inbox(project.root).pending if item.origin in origins]


def _beside_records(project: Project, reads: list[HostRead]) -> tuple[list[HostRead], set[str]]:
    """The same, where a file that is one record has that record already: what it says now is a change of it.

    With the ids of those that say nothing new: the record says the same, or someone looked at the file as it is
    now when it was last saved or confirmed.
    """
    single = {read.source.shown: read for read in reads if read.is_one_record and read.proposals}
    if not single:
        return reads, set()
    anchored = project.with_index(lambda index: _by_anchor(index, single))
    after, same = [], set()
    for read in reads:
        shown = read.source.shown
        held = _record_of(project, read.proposals[0], anchored.get(shown, ())) if shown in single else None
        if held is not None:
            item = msgspec.structs.replace(read.proposals[0], updates=held.node.id)
            read = msgspec.structs.replace(read, proposals=(item,))
            same |= {item.id} if _says_the_same(held, item) or _was_seen(project, held, read.source) else set()
        after.append(read)
    return after, same


def _record_of(project: Project, item: Proposal, refs: Sequence[str]) -> StoredNode | None:
    """The record that was made of the file that a proposal comes from."""
    named = [*refs, str(item.fields.get("id", ""))]
    found = (project.graph.find_node(ref) for ref in dict.fromkeys(named) if is_id(ref))
    return next((node for node in found if node is not None and is_from(node, item)), None)


def _was_seen(project: Project, held: StoredNode, source: HostSource) -> bool:
    """Whether a record's file is what it was when someone last saved or confirmed the record."""
    seals = filter(None, map(parse_seal, node_record(held).seen))
    digest = next((seal.digest for seal in seals if (seal.anchor, seal.how) == (source.shown, "blob")), "")
    try:
        return bool(digest) and blob_id(read_inside(project.root, source.shown, source.size), digest) == digest
    except (OSError, ValueError):
        return False


def read_host_source(project: Project, source: HostSource, wish: Wish | None = None) -> HostRead:
    if source.kind == HISTORY and wish is not None:
        return read_repository(project, source, wish)
    if source.kind == "entire":
        return read_checkpoints(source, project.git, timestamp(project.world.now()))
    return read_host(source, project.root, project.world.home, timestamp(project.world.now()))


def found_host_sources(project: Project, kinds: Sequence[str]) -> list[HostSource]:
    return find_hosts(project.root, project.world.home, project.world.env, kinds)


def _named_sources(project: Project, paths: Sequence[str], as_kind: str | None) -> list[HostSource]:
    """Files that were named: those that are found anyway by their own kind, others as the kind that was said."""
    if as_kind is not None and as_kind not in KINDS:
        raise not_one_of(f"Unknown kind of source `{cut(as_kind, 40)}`.", "as", KINDS)
    known = {os.path.realpath(source.path): source for source in found_host_sources(project, ())}
    named = []
    for path in paths:
        full = os.path.realpath(os.path.join(project.world.cwd, path))
        if full in known and as_kind is None:
            named.append(known[full])
        elif as_kind is None:
            raise InputError(
                f"`{cut(path, 200)}` is not a file that import recognises.",
                hint=f"Name its kind with --as: {', '.join(KINDS)}.",
                details={"field": "paths"},
            )
        elif not os.path.isfile(full):
            shown, is_there = cut(path, 200), os.path.exists(full)
            raise InputError(
                f"`{shown}` cannot be read as a file." if is_there else f"There is no file `{shown}`.",
                hint="Name a file, not a folder." if is_there else "Check its path.",
                details={"field": "paths"},
            )
        else:
            named.append(_named_source(project, as_kind, full))
    return named


def _named_source(project: Project, kind: str, path: str) -> HostSource:
    shown = _shown(project, path)
    # What lies in the project is about it; what lies elsewhere may be about the person.
    is_here = path.startswith(os.path.realpath(project.root) + os.sep)
    size = os.path.getsize(path)
    return HostSource(kind=kind, path=path, shown=shown, scope="project" if is_here else "user", size=size)


def _shown(project: Project, path: str) -> str:
    for folder, lead in ((os.path.realpath(project.root), ""), (os.path.realpath(project.world.home or "/"), "~/")):
        if folder != "/" and path.startswith(folder + os.sep):
            return lead + os.path.relpath(path, folder)
    return os.path.basename(path)


def _by_anchor(index: Index, paths: Collection[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for record in index.records_anchored():
        for anchor in record.anchors if record.layer == "graph" else ():
            if anchor in paths:
                found.setdefault(anchor, []).append(record.ref)
    return found


def _says_the_same(held: StoredNode, item: Proposal) -> bool:
    said = ((held.node.title, item.fields.get("title")), (held.body, item.fields.get("body")))
    return all(value_digest(before) == value_digest(str(after)) for before, after in said)


def found_in_source(read: HostRead, fresh: Mapping[str, Proposal], new: Collection[str]) -> FoundSource:
    """What a source would add: of what two of them say, only what the first of them says is `fresh`."""
    return FoundSource(
        source=read.source,
        items=len(read.proposals) + read.known,
        new=sum(item.id in new and fresh[item.id] is item for item in read.proposals),
        skipped=read.skipped,
        problems=read.problems,
    )


def _many(files: int) -> list[Problem]:
    """That there may be more files than were looked at."""
    if files < FILES_MOST:
        return []
    return [
        Problem(
            code="HostFilesMany",
            severity="warning",
            message=f"One run reads {FILES_MOST} files; the rest were left out.",
            hint="Name one kind at a time, or the remaining files: memory import --as KIND PATH…",
        )
    ]
