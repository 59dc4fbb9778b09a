"""What other programs already know of this project: found, looked at, and handed to the inbox."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.model import InputError, Problem, cut, timestamp
from quire.project.reviewing import Reviewing

if TYPE_CHECKING:
    from quire.capture.hosts import HostRead, HostSource
    from quire.inbox import Proposal

__all__ = ["FoundSource", "ImportedHosts", "Importing"]


class FoundSource(msgspec.Struct, frozen=True, kw_only=True):
    """One file of another program, and what it would add."""

    source: HostSource
    items: int
    """What it says that could be a record."""
    new: int
    """As much of it as neither a record nor a proposal says yet, and nobody rejected."""
    skipped: int
    problems: tuple[Problem, ...]


class ImportedHosts(msgspec.Struct, kw_only=True):
    """What came of an import."""

    sources: list[FoundSource]
    proposals: list[Proposal] = []
    """The new ones, in the order of the files."""
    known: int = 0
    rejected: int = 0
    dry_run: bool = False
    warnings: list[Problem] = []


class Importing(Reviewing):
    """Reading what hosts know. Their files are never written."""

    def import_hosts(
        self,
        kinds: Sequence[str] = (),
        *,
        paths: Sequence[str] = (),
        as_kind: str | None = None,
        dry_run: bool = False,
    ) -> ImportedHosts:
        """Propose what these kinds of sources say, or all that are found, or the files at `paths`.

        With `dry_run` nothing is written. A second time, only what is new since is proposed.
        """
        self._ready()
        sources = self._named_sources(paths, as_kind) if paths else self._found_sources(kinds)
        reads = [self._read_source(source) for source in sources]
        # What two files say is proposed once, as the first of them says it.
        fresh = {item.id: item for read in reversed(reads) for item in reversed(read.proposals)}
        ordered = [item for read in reads for item in read.proposals if fresh.get(item.id) is item]
        added = self.inbox_add(ordered, dry_run=dry_run)
        new = {item.id for item in added.added}
        return ImportedHosts(
            sources=[_found(read, fresh, new) for read in reads],
            proposals=added.added,
            known=added.known + sum(len(read.proposals) for read in reads) - len(ordered),
            rejected=added.rejected,
            dry_run=dry_run,
            warnings=[*(problem for read in reads for problem in read.problems), *_many(len(reads)), *added.warnings],
        )

    def _read_source(self, source: HostSource) -> HostRead:
        from quire.capture.hosts import read_host

        return read_host(source, self.root, self.world.home, timestamp(self.world.now()))

    def _found_sources(self, kinds: Sequence[str]) -> list[HostSource]:
        from quire.capture.hosts import find_hosts

        return find_hosts(self.root, self.world.home, self.world.env, kinds)

    def _named_sources(self, paths: Sequence[str], as_kind: str | None) -> list[HostSource]:
        """Files that were named: those that are found anyway by their own kind, others as the kind that was said."""
        from quire.capture.hosts import KINDS

        if as_kind is not None and as_kind not in KINDS:
            raise InputError(
                f"`{cut(as_kind, 40)}` is no kind of source.",
                hint=f"It is one of {', '.join(KINDS)}.",
                details={"field": "as", "allowed": list(KINDS)},
            )
        known = {os.path.realpath(source.path): source for source in self._found_sources(())}
        named = []
        for path in paths:
            full = os.path.realpath(os.path.join(self.world.cwd, path))
            if full in known and as_kind is None:
                named.append(known[full])
            elif as_kind is None:
                raise InputError(
                    f"`{cut(path, 200)}` is none of the files that are found by themselves.",
                    hint=f"Say what it is with --as: {', '.join(KINDS)}.",
                    details={"field": "paths"},
                )
            elif not os.path.isfile(full):
                raise InputError(
                    f"`{cut(path, 200)}` is no file that can be read.",
                    hint="Name a file; of a folder, name its files.",
                    details={"field": "paths"},
                )
            else:
                named.append(self._named_source(as_kind, full))
        return named

    def _named_source(self, kind: str, path: str) -> HostSource:
        from quire.capture.hosts import HostSource

        shown = self._shown(path)
        # What lies in the project is about it; what lies elsewhere may be about the person.
        is_here = path.startswith(os.path.realpath(self.root) + os.sep)
        size = os.path.getsize(path)
        return HostSource(kind=kind, path=path, shown=shown, scope="project" if is_here else "user", size=size)

    def _shown(self, path: str) -> str:
        for folder, lead in ((os.path.realpath(self.root), ""), (os.path.realpath(self.world.home or "/"), "~/")):
            if folder != "/" and path.startswith(folder + os.sep):
                return lead + os.path.relpath(path, folder)
        return os.path.basename(path)


def _found(read: HostRead, fresh: Mapping[str, Proposal], new: Collection[str]) -> FoundSource:
    return FoundSource(
        source=read.source,
        items=len(read.proposals),
        new=sum(item.id in new and fresh[item.id] is item for item in read.proposals),
        skipped=read.skipped,
        problems=read.problems,
    )


def _many(files: int) -> list[Problem]:
    """That there may be more files than were looked at."""
    from quire.capture.hosts import FILES_MOST

    if files < FILES_MOST:
        return []
    return [
        Problem(
            code="HostFilesMany",
            severity="warning",
            message=f"{FILES_MOST} files are looked at in one go; what is beyond them was left out.",
            hint="Name kinds one at a time, or the files that are left: memory import --as KIND PATH…",
        )
    ]
