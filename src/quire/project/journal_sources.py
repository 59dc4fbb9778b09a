"""Where sessions come from: `add`, `sources`, `remove`, and which of them may be read on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.layers.journal.layout import ALL_FOLDERS
from quire.model import limits
from quire.model.errors import Conflict, InputError, NotFound
from quire.project.journal_recalling import JournalRecalling
from quire.project.journal_results import AddedSource, SourceState

if TYPE_CHECKING:
    from quire.layers.journal.store import Journal, Writing
    from quire.layers.journal.types import Source


class JournalSources(JournalRecalling):
    """The registry of sources."""

    def journal_sources(self) -> list[SourceState]:
        """The sources there are."""
        return [self._source_state(source) for source in self._journal().registry.sources]

    def journal_add(
        self, kind: str, path: str, *, name: str | None = None, all_folders: bool = False, dry_run: bool = False
    ) -> AddedSource:
        """Register a folder, or a file, that an agent keeps sessions in.

        Of a folder with the sessions of many projects, those of this one count; with `all_folders`, all of them.
        """
        from msgspec.structs import replace

        from quire.capture.transcripts.places import source_path
        from quire.files.paths import is_text
        from quire.guard.admission import refuse_secret
        from quire.layers.journal.layout import (
            SOURCE_TYPES,
        )
        from quire.layers.journal.sources import source_id, with_source
        from quire.layers.journal.store import Writing
        from quire.layers.journal.types import Source
        from quire.layers.journal.writings import counted_maintenance

        if kind not in SOURCE_TYPES:
            raise InputError(
                f"`{kind[:40]}` is no type of source.",
                hint=f"It is one of {', '.join(SOURCE_TYPES)}.",
                details={"field": "type", "allowed": list(SOURCE_TYPES)},
            )
        if len(name or "") > limits.ID_CHARS:
            raise InputError(
                f"The name is {len(name or ''):,} characters long; the limit is {limits.ID_CHARS}.",
                hint="Give it a shorter one.",
                details={"field": "name", "limit": limits.ID_CHARS},
            )
        place = source_path(path, cwd=self.world.cwd, home=self.world.home)
        if not is_text(place):
            raise InputError("The path is not UTF-8 text.", hint="Rename the folder.", details={"field": "path"})
        if not os.path.exists(place):
            raise NotFound(
                f"There is nothing at `{path[:200]}`.",
                hint="Name the folder in which the agent keeps its sessions, or one session's file.",
                details={"field": "path"},
            )
        stored = self._portable(place)
        wanted = source_id(kind, place, name or "")
        for field, text in (("path", stored), ("name", name or "")):
            refuse_secret(text, field)

        def plan(journal: Journal) -> tuple[AddedSource, Writing | None]:
            if journal.registry.find(wanted) is not None:
                raise Conflict(
                    f"There is a source `{wanted}` already.",
                    hint="Give this one a name with --name, or remove the other with `memory journal remove`.",
                    details={"id": wanted},
                )
            now = self._time()
            extra = {ALL_FOLDERS: True} if all_folders else {}
            source = Source(id=wanted, type=kind, path=stored, created_at=now, updated_at=now, extra=extra)
            registry = with_source(journal.registry, source)
            maintenance = replace(counted_maintenance(journal), import_source_count=len(registry.entries))
            added = AddedSource(source=self._source_state(source), sources=len(registry.sources), dry_run=dry_run)
            writing = Writing(registry=registry, state=replace(journal.state, maintenance=maintenance))
            return added, None if dry_run else writing

        if dry_run:
            return plan(self._journal())[0]
        added = self._changed("add a source", plan)
        self._agree(added.source.id)
        return added

    def _agree(self, name: str) -> None:
        """Whoever names a source on this machine agrees to have it read."""
        from quire.capture.trusted_sources import agree_to
        from quire.layers.journal.store import load_sources

        source = load_sources(self.root)[0].find(name)
        if source is not None and not self._is_agreed(source):
            agree_to(self.root, source, self.world)

    def _is_agreed(self, source: Source) -> bool:
        from quire.capture.trusted_sources import is_agreed

        return is_agreed(self.root, source, self._source_place(source) or source.path, self.world)

    def journal_remove(self, name: str, *, dry_run: bool = False) -> AddedSource:
        """Forget a source. What was imported from it stays."""
        from msgspec.structs import replace

        from quire.layers.journal.sources import without_source
        from quire.layers.journal.store import Writing
        from quire.layers.journal.writings import counted_maintenance

        def plan(journal: Journal) -> tuple[AddedSource, Writing | None]:
            source = journal.registry.find(name)
            if source is None:
                raise self._no_source(name, journal)
            registry = without_source(journal.registry, name)
            maintenance = replace(counted_maintenance(journal), import_source_count=len(registry.entries))
            done = AddedSource(
                source=self._source_state(source), sources=len(registry.sources), removed=True, dry_run=dry_run
            )
            writing = Writing(registry=registry, state=replace(journal.state, maintenance=maintenance))
            return done, None if dry_run else writing

        return plan(self._journal())[0] if dry_run else self._changed("remove a source", plan)

    def _changed(self, operation: str, plan: Callable[[Journal], tuple[AddedSource, Writing | None]]) -> AddedSource:
        self._journal()
        return self._journal_change(operation, plan)

    def _portable(self, place: str) -> str:
        """A path as others can use it too: below the home folder as `~`, below the project relative."""
        home = self.world.home.rstrip("/")
        if place == self.root or place.startswith(self.root + "/"):
            return os.path.relpath(place, self.root)
        if home and (place == home or place.startswith(home + "/")):
            return "~" + place[len(home) :]
        return place

    def _no_source(self, name: str, journal: Journal) -> NotFound:
        known = ", ".join(source.id for source in journal.registry.sources)
        return NotFound(
            f"There is no source `{name[:80]}`.",
            hint=f"There is {known}." if known else "`memory journal add` registers one.",
            details={"id": name[:80]},
        )
