"""What held before brought back: the memory of a checkpoint, a batch of the archive, a state that was damaged."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.journal.layout import FOLDER, SECTION_KEYS, STATE
from quire.model.errors import Conflict, InvalidStore, NotInitialized, QuireError
from quire.model.records import Problem
from quire.project.journal_making import JournalMaking
from quire.project.journal_results import RestoredState

if TYPE_CHECKING:
    from quire.layers.journal.store import Journal, Writing


class JournalRestoring(JournalMaking):
    """Restore: nothing that held is lost by it."""

    def journal_restore(self, name: str, *, dry_run: bool = False, diffs: bool = False) -> RestoredState:
        """Bring back the memory of a checkpoint, or a batch of the archive. What held before has a checkpoint first."""
        from quire.layers.journal.archiving import find_batches
        from quire.layers.journal.layout import BATCH_PREFIX
        from quire.layers.journal.store import checkpoint_ids

        self._journal_ready()
        if name.startswith(BATCH_PREFIX):
            return self._return_batch(name, dry_run=dry_run)
        try:
            journal = self._journal()
        except (InvalidStore, NotInitialized):
            if not checkpoint_ids(self.root) and not find_batches(self.root):
                raise
            return self._rebuild_state(name, dry_run=dry_run)
        if dry_run:
            return self._restoring(journal, name, diffs)[0]
        self._checkpoint(name)  # before anything is written: it may not be there
        with self._journal_locked("restore"):
            from quire.layers.journal.store import commit, open_journal

            fresh = open_journal(self.root)
            saved = self._unsaved(fresh)
            if saved is not None:
                commit(fresh, saved, self.world)
                fresh = open_journal(self.root)
            result, writing = self._restoring(fresh, name, diffs)
            result.saved_as = saved.checkpoint.id if saved and saved.checkpoint else None
            if writing is not None:
                commit(fresh, writing, self.world)
                result.applied = True
            result.warnings += self._write_due_pages()
        self._prepare_journal()
        return result

    def _unsaved(self, journal: Journal) -> Writing | None:
        """A checkpoint of the memory as it is, where the latest one holds something else."""
        from quire.layers.journal.canonical import content_hash
        from quire.layers.journal.store import load_checkpoint
        from quire.layers.journal.writings import write_bundle

        latest = journal.latest_checkpoint
        try:
            held = load_checkpoint(self.root, latest).bundle_hash if latest else None
        except QuireError:
            held = None
        if held == content_hash(journal.state.bundle):
            return None
        writing = write_bundle(
            journal,
            journal.state.bundle,
            command="update",
            now=self._time(),
            summary="what held before a restore",
        )
        # The checkpoint keeps what held, whatever it said; the event would say it anew.
        return msgspec.structs.replace(writing, events=self._sifted_events(list(writing.events))[0])

    def _restoring(self, journal: Journal, name: str, diffs: bool) -> tuple[RestoredState, Writing | None]:
        from quire.layers.journal.bundle_diff import diff_bundles, diff_text, diff_value
        from quire.layers.journal.writings import write_bundle

        checkpoint = self._checkpoint(name)
        result = RestoredState(restored=name)
        bundle = self._sifted(checkpoint.bundle, result.warnings)
        diff = self._sifted_diff(diff_bundles(journal.state.bundle, bundle))
        said = diff_text(diff_value(diff))
        result.changed_sections, result.summary = list(diff.changed_sections), said
        if diff.is_empty:
            result.changed = False
            return result, None
        writing = write_bundle(
            journal,
            bundle,
            command="restore",
            now=self._time(),
            summary=f"restored {name}: {said}",
        )
        if writing.state is not None and writing.checkpoint is not None:
            result.planned = self._journal_planned(writing.state, diffs=diffs)
            result.checkpoint, result.event = writing.checkpoint.id, writing.events[0].id
        return result, writing

    def _checkpoint(self, name: str) -> Any:
        """A checkpoint, be it active or archived."""
        from quire.layers.journal.archiving import find_batches
        from quire.layers.journal.layout import BATCH_CHECKPOINTS
        from quire.layers.journal.store import load_checkpoint
        from quire.model.errors import NotFound

        name = name.removeprefix("checkpoint:")
        try:
            return load_checkpoint(self.root, name)
        except NotFound:
            for batch in find_batches(self.root):
                if batch.manifest and name in batch.manifest.archived_checkpoint_ids:
                    return load_checkpoint(self.root, name, f"{batch.path}/{BATCH_CHECKPOINTS}")
            raise

    def _return_batch(self, name: str, *, dry_run: bool) -> RestoredState:
        from quire.layers.journal.archiving import plan_return, sweep_batches

        def plan(journal: Journal) -> tuple[RestoredState, Writing | None]:
            writing, events, checkpoints = plan_return(journal, name)
            result = RestoredState(
                restored=name, applied=not dry_run, events_returned=events, checkpoints_returned=checkpoints
            )
            return result, None if dry_run else writing

        if dry_run:
            return plan(self._journal())[0]
        result = self._journal_change("restore", plan)
        sweep_batches(self.root)
        return result

    def _rebuild_state(self, name: str, *, dry_run: bool) -> RestoredState:
        """A state made from a checkpoint, where there is none that can be used. The damaged one is kept."""
        from quire.files.digests import sha256
        from quire.files.transaction import Change
        from quire.layers.journal.canonical import file_bytes
        from quire.layers.journal.documents import value_of
        from quire.layers.journal.store import Writing, commit, held_file, open_journal
        from quire.model.times import stamp

        result = RestoredState(restored=name, changed_sections=list(SECTION_KEYS), summary=f"state made from {name}")
        self._checkpoint(name)
        if dry_run:
            return result
        with self._journal_locked("restore"):
            with contextlib.suppress(InvalidStore, NotInitialized):
                open_journal(self.root)
                raise Conflict(
                    "The state was mended by somebody else meanwhile.",
                    hint="Run the command again; nothing was written.",
                )
            journal = self._from_checkpoint(name, result.warnings)
            data = held_file(self.root, STATE)
            changes = []
            if data is not None:
                aside = f"local/state-{stamp(self.world.now())}-{self.world.token()[:8]}.damaged"
                changes.append(Change(path=aside, data=data, planned=None))
                result.kept_aside = f"{FOLDER}/{aside}"
            planned = None if data is None else sha256(data)
            changes.append(Change(path=STATE, data=file_bytes(value_of(journal.state)), planned=planned))
            commit(journal, Writing(changes=changes, pages=True), self.world)
            result.applied = True
            result.warnings += self._write_due_pages()
        return result

    def _from_checkpoint(self, name: str, warnings: list[Problem]) -> Journal:
        """The journal as it is, with the state that a checkpoint and the history together tell."""
        from quire.layers.journal.documents import new_state
        from quire.layers.journal.store import Journal, checkpoint_ids, load_config, load_history, load_sources
        from quire.layers.journal.types import Cursor, Cursors, Maintenance
        from quire.layers.journal.writings import local_provider

        checkpoint = self._checkpoint(name)
        history, (registry, _) = load_history(self.root), load_sources(self.root)
        cursor = Cursor(last_recalled_at=checkpoint.created_at, last_recalled_event_id=checkpoint.event_id)
        cursor = cursor if checkpoint.event_id else Cursor()
        names = checkpoint_ids(self.root)
        state = new_state(
            self._sifted(checkpoint.bundle, warnings),
            provider=local_provider(),
            generated_at=self._time(),
            maintenance=Maintenance(
                last_recalled_at=cursor.last_recalled_at,
                last_recalled_event_id=cursor.last_recalled_event_id,
                latest_checkpoint_id=names[-1] if names else None,
                history_event_count=len(history.events),
                import_source_count=len(registry.entries),
                recall_cursors=Cursors(all=cursor),
            ),
        )
        return Journal(
            root=self.root,
            state=state,
            history=history,
            registry=registry,
            config=load_config(self.root),
            checkpoints=tuple(names),
        )
