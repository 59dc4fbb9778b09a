"""How the journal comes to be and is brought up to date: `init`, `update`, `restore`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from quire.layers.journal.layout import BACKUP, FOLDER, LOCAL_PROVIDER, SECTION_KEYS, STATE
from quire.model import Conflict, InputError, InvalidStore, NotInitialized, QuireError, UnsupportedVersion
from quire.project.journal_requests import bundle_request
from quire.project.journal_results import Refreshed, RestoredState
from quire.project.journal_rooms import JournalRooms

if TYPE_CHECKING:
    from quire.capture.repository import Scan, Validation
    from quire.layers.journal import Bundle, Journal, Provider, Writing

_VALIDATION_SECONDS = 600.0
_SUMMARY_LINES = 5
_KEPT_IN_PLACE = ("automation", "local", "recovery", BACKUP, ".lock")

Progress = Callable[[str], None]
"""Called with what is being done."""

__all__ = ["JournalMaking"]


class JournalMaking(JournalRooms):
    """Operations that write the bundle as a whole."""

    # -- init -------------------------------------------------------------------------------

    def journal_init(
        self,
        *,
        provider: str | None = None,
        validate: bool = False,
        replace: bool = False,
        dry_run: bool = False,
        diffs: bool = False,
        progress: Progress | None = None,
    ) -> Refreshed:
        """Make the journal. One that is there is only replaced if that was said, and kept as a backup."""
        self._journal_ready()
        there = self._journal_entries()
        if there and not replace and not dry_run:
            raise self._refuse_init()
        name = self._provider_name(provider)
        made = self._made(name, None, validate and not dry_run, progress)
        result, bundle, validations, who = made
        result.planned = self._journal_planned(None, self._first_state(bundle, who), diffs=diffs)
        if dry_run:
            return result
        with self._journal_locked("init"):
            there = self._journal_entries()
            if there and not replace:
                raise self._refuse_init()
            result.backup = self._write_first(bundle, who, validations, there)
            result.warnings += self._write_due_pages()
        self._prepare_journal()
        result.applied, result.checkpoint, result.event = True, "chk-000001", "evt-000001"
        result.changed_sections = list(SECTION_KEYS)
        return result

    def _journal_entries(self) -> list[str]:
        """What of a journal is there, but for what belongs to this machine."""
        try:
            names = os.listdir(os.path.join(self.root, FOLDER))
        except OSError:
            return []
        return sorted(name for name in names if name not in _KEPT_IN_PLACE)

    def _refuse_init(self) -> QuireError:
        from quire.layers.journal import open_journal

        try:
            journal = open_journal(self.root)
        except UnsupportedVersion as error:
            return error
        except (InvalidStore, NotInitialized) as error:
            error.hint = (
                f"{error.hint or ''} `agent-memory init --yes` makes it anew and keeps what is there as a backup."
            ).strip()
            return error
        number = len(journal.history.events)
        return Conflict(
            f"There is a journal here already: {number:,} events, {len(journal.checkpoints):,} checkpoints.",
            hint="`agent-memory update` brings it up to date. `agent-memory init --yes` starts over; what is there is "
            "kept as a backup.",
            details={"path": FOLDER, "events": number, "checkpoints": len(journal.checkpoints)},
        )

    def _write_first(
        self, bundle: Bundle, who: Provider, validations: Sequence[Validation], there: list[str]
    ) -> str | None:
        """The first state, in the place of whatever is there, which is copied aside; one transaction."""
        from quire.files import Change, ensure_folder
        from quire.layers.journal import History, Journal, Registry, commit, config_bytes, read_config, write_bundle
        from quire.layers.journal.layout import (
            ATTRIBUTES,
            ATTRIBUTES_TEXT,
            CHECKPOINTS,
            CONFIG,
            SOURCES,
            default_config,
        )

        place, changes = self._set_aside(there)
        journal = Journal(
            root=self.root,
            state=self._first_state(bundle, who),
            history=History(),
            registry=Registry(),
            config=read_config(),
            checkpoints=(),
        )
        writing = write_bundle(
            journal,
            bundle,
            command="init",
            now=self._time(),
            provider=who,
            validations=[(one.command, one.summary) for one in validations],
        )
        ensure_folder(os.path.join(self.root, FOLDER, *CHECKPOINTS.split("/")))
        first = _as_changes(writing, journal)
        wanted = {
            **first,
            CONFIG: config_bytes(default_config()),
            SOURCES: b"[]\n",
            ATTRIBUTES: ATTRIBUTES_TEXT,
        }
        planned = {change.path: change for change in changes}
        for path, data in wanted.items():
            held = planned.get(path)
            planned[path] = Change(path=path, data=data, planned=held.planned if held else None)
        from quire.layers.journal import Writing

        commit(journal, Writing(changes=list(planned.values()), pages=True), self.world)
        return place and f"{FOLDER}/{place}"

    def _set_aside(self, there: list[str]) -> tuple[str | None, list[Any]]:
        """Changes that copy everything to a backup and take it away; where the backup is, below the journal."""
        from quire.files import Change, read_bytes, sha256
        from quire.layers.journal.layout import EVENTS_BYTES
        from quire.model import stamp

        if not there:
            return None, []
        place = f"{BACKUP}/init-{stamp(self.world.now())}-{self.world.token()[:8]}"
        top = os.path.join(self.root, FOLDER)
        changes = []
        for name in there:
            path = os.path.join(top, name)
            inner = [path] if not os.path.isdir(path) or os.path.islink(path) else _files_below(path)
            for file in inner:
                relative = os.path.relpath(file, top)
                try:
                    data = read_bytes(file, EVENTS_BYTES)
                except OSError as error:
                    raise InvalidStore(
                        f"`{FOLDER}/{relative}` cannot be copied: {(error.strerror or str(error)).lower()}.",
                        hint="Move it away, and run the command again; nothing was changed.",
                    ) from error
                changes.append(Change(path=f"{place}/{relative}", data=data, planned=None))
                changes.append(Change(path=relative, data=None, planned=sha256(data)))
        return place, changes

    def _first_state(self, bundle: Bundle, who: Provider) -> Any:
        from quire.layers.journal import Maintenance, new_state

        return new_state(bundle, provider=who, generated_at=self._time(), maintenance=Maintenance())

    # -- update -----------------------------------------------------------------------------

    def journal_update(
        self,
        *,
        provider: str | None = None,
        validate: bool = False,
        dry_run: bool = False,
        diffs: bool = False,
        progress: Progress | None = None,
    ) -> Refreshed:
        """Look at the project again and write what changed; what sessions told is kept."""
        from quire.layers.journal import diff_bundles, diff_text, diff_value, write_bundle

        journal = self._journal()
        name = self._provider_name(provider)
        result, bundle, validations, who = self._made(name, journal.state.bundle, validate and not dry_run, progress)
        before = journal.state.bundle_hash

        def plan(fresh: Journal) -> tuple[Refreshed, Writing | None]:
            nonlocal bundle
            if fresh.state.bundle_hash != before and name == LOCAL_PROVIDER:
                # Somebody wrote while we looked: what they wrote is where we start from.
                bundle = self._made(name, fresh.state.bundle, False, None, validations)[1]
            elif fresh.state.bundle_hash != before:
                raise _overtaken()
            diff = diff_bundles(fresh.state.bundle, bundle)
            result.changed_sections = list(diff.changed_sections)
            result.summary = diff_text(diff_value(diff))
            if diff.is_empty:
                result.changed = False
                return result, None
            writing = write_bundle(
                fresh,
                bundle,
                command="update",
                now=self._time(),
                provider=who,
                summary=result.summary,
                validations=[(one.command, one.summary) for one in validations],
                archived=self._archived_checkpoints(),
            )
            if writing.state is not None:
                result.planned = self._journal_planned(fresh.state, writing.state, diffs=diffs)
            if dry_run:
                return result, None
            result.applied = True
            result.checkpoint = writing.checkpoint.id if writing.checkpoint else None
            result.event = writing.events[0].id
            return result, writing

        return plan(journal)[0] if dry_run else self._journal_change("update", plan)

    def _made(
        self,
        provider: str,
        previous: Bundle | None,
        validate: bool,
        progress: Progress | None,
        known: Sequence[Validation] = (),
    ) -> tuple[Refreshed, Bundle, Sequence[Validation], Provider]:
        """A bundle of the project as it is now, and who made it."""
        from quire.capture.repository import build_bundle, scan_repository
        from quire.layers.journal import Provider, bundle_faults, local_provider

        tell = progress or (lambda _: None)
        tell("Looking at the project")
        scan = scan_repository(self.root, self.git)
        bundle = build_bundle(scan, self.git, previous=previous)
        validations = list(known)
        if validate:
            validations = self._run_validations(bundle, tell)
            bundle = build_bundle(scan, self.git, previous=previous, validations=validations)
        result = self._looked(scan, provider, "init" if previous is None else "update")
        result.validations = [
            {"label": one.label, "command": one.command, "status": one.status, "summary": one.summary}
            for one in validations
        ]
        who = local_provider()
        if provider != LOCAL_PROVIDER:
            tell(f"Asking {provider}")
            request = bundle_request(self.root, scan, bundle, previous, result.validations)
            answer = self._asked_model("bundle", request, provider)
            bundle = answer.value
            result.cost_usd = answer.cost_usd
            result.warnings += self._model_warnings(answer)
            who = Provider(name=provider, binary=provider)
        faults = bundle_faults(bundle)
        if faults:
            raise InputError(f"The proposal cannot be used: {' '.join(faults[:5])}", hint="Nothing was written.")
        return result, bundle, validations, who

    def _looked(self, scan: Scan, provider: str, command: str) -> Refreshed:
        return Refreshed(
            command=command,
            project=scan.project_name,
            root=self.root,
            signals=list(scan.project_signals),
            package_manager=scan.package_manager,
            workspace_manager=scan.workspace_manager,
            provider=provider,
        )

    def _run_validations(self, bundle: Bundle, tell: Progress) -> list[Validation]:
        """Run the commands that tell whether the project is well: no shell, a time limit, nothing on stdin."""
        from quire.capture.repository import Validation
        from quire.files import run_program
        from quire.layers.journal import objects_at, shown, texts_at

        found = []
        for item in objects_at(bundle, "validationCommands"):
            argv = texts_at(item, "command")
            line = " ".join(argv)
            tell(f"Running {line}")
            done = run_program(argv, cwd=self.root, env=dict(self.world.env), seconds=_VALIDATION_SECONDS)
            status = "unavailable" if done.missing else "passed" if done.code == 0 else "failed"
            said = done.missing or _last_lines(done.out) or _last_lines(done.err) or f"exit code {done.code}"
            if done.timed_out:
                said = f"Stopped after {_VALIDATION_SECONDS:.0f} seconds."
            found.append(
                Validation(
                    label=shown(item, "label"), command=line, status=status, summary=_kept(said), at=self._time()
                )
            )
        return found

    def journal_validation_commands(self) -> list[str]:
        """What `--validate` would run."""
        from quire.capture.repository import build_bundle, scan_repository
        from quire.layers.journal import objects_at, texts_at

        bundle = build_bundle(scan_repository(self.root, self.git), self.git)
        return [" ".join(texts_at(item, "command")) for item in objects_at(bundle, "validationCommands")]

    # -- restore ----------------------------------------------------------------------------

    def journal_restore(self, name: str, *, dry_run: bool = False, diffs: bool = False) -> RestoredState:
        """Bring back the memory of a checkpoint, or a batch of the archive. What held before has a checkpoint first."""
        from quire.layers.journal.layout import BATCH_PREFIX

        self._journal_ready()
        if name.startswith(BATCH_PREFIX):
            return self._return_batch(name, dry_run=dry_run)
        try:
            journal = self._journal()
        except (InvalidStore, NotInitialized):
            return self._rebuild_state(name, dry_run=dry_run)
        if dry_run:
            return self._restoring(journal, name, diffs)[0]
        result = RestoredState(restored=name)
        with self._journal_locked("restore"):
            from quire.layers.journal import commit, open_journal

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
        from quire.layers.journal import content_hash, load_checkpoint, write_bundle

        latest = journal.latest_checkpoint
        try:
            held = load_checkpoint(self.root, latest).bundle_hash if latest else None
        except QuireError:
            held = None
        if held == content_hash(journal.state.bundle):
            return None
        return write_bundle(
            journal,
            journal.state.bundle,
            command="update",
            now=self._time(),
            summary="what held before a restore",
            archived=self._archived_checkpoints(),
        )

    def _restoring(self, journal: Journal, name: str, diffs: bool) -> tuple[RestoredState, Writing | None]:
        from quire.layers.journal import diff_bundles, diff_text, diff_value, write_bundle

        checkpoint = self._checkpoint(name)
        diff = diff_bundles(journal.state.bundle, checkpoint.bundle)
        said = diff_text(diff_value(diff))
        result = RestoredState(restored=name, changed_sections=list(diff.changed_sections), summary=said)
        if diff.is_empty:
            result.changed = False
            return result, None
        writing = write_bundle(
            journal,
            checkpoint.bundle,
            command="restore",
            now=self._time(),
            summary=f"restored {name}: {said}",
            archived=self._archived_checkpoints(),
        )
        if writing.state is not None and writing.checkpoint is not None:
            result.planned = self._journal_planned(journal.state, writing.state, diffs=diffs)
            result.checkpoint, result.event = writing.checkpoint.id, writing.events[0].id
        return result, writing

    def _checkpoint(self, name: str) -> Any:
        """A checkpoint, be it active or archived."""
        from quire.layers.journal import find_batches, load_checkpoint
        from quire.layers.journal.layout import BATCH_CHECKPOINTS
        from quire.model import NotFound

        name = name.removeprefix("checkpoint:")
        try:
            return load_checkpoint(self.root, name)
        except NotFound:
            for batch in find_batches(self.root):
                if batch.manifest and name in batch.manifest.archived_checkpoint_ids:
                    return load_checkpoint(self.root, name, f"{batch.path}/{BATCH_CHECKPOINTS}")
            raise

    def _return_batch(self, name: str, *, dry_run: bool) -> RestoredState:
        from quire.layers.journal import plan_return, sweep_batches

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
        from quire.files import Change, sha256
        from quire.layers.journal import (
            Cursor,
            Cursors,
            Journal,
            Maintenance,
            Writing,
            checkpoint_ids,
            commit,
            file_bytes,
            held_file,
            load_config,
            load_history,
            load_sources,
            local_provider,
            new_state,
            value_of,
        )
        from quire.model import stamp

        checkpoint = self._checkpoint(name)
        history, (registry, _) = load_history(self.root), load_sources(self.root)
        cursor = Cursor(last_recalled_at=checkpoint.created_at, last_recalled_event_id=checkpoint.event_id)
        cursor = cursor if checkpoint.event_id else Cursor()
        names = checkpoint_ids(self.root)
        state = new_state(
            checkpoint.bundle,
            provider=local_provider(),
            generated_at=self._time(),
            maintenance=Maintenance(
                last_recalled_at=cursor.last_recalled_at,
                last_recalled_event_id=cursor.last_recalled_event_id,
                latest_checkpoint_id=names[-1] if names else None,
                history_event_count=len(history.events),
                import_source_count=len(registry.sources),
                recall_cursors=Cursors(all=cursor),
            ),
        )
        result = RestoredState(restored=name, changed_sections=list(SECTION_KEYS), summary=f"state made from {name}")
        if dry_run:
            return result
        with self._journal_locked("restore"):
            data = held_file(self.root, STATE)
            changes = []
            if data is not None:
                aside = f"local/state-{stamp(self.world.now())}-{self.world.token()[:8]}.damaged"
                changes.append(Change(path=aside, data=data, planned=None))
                result.kept_aside = f"{FOLDER}/{aside}"
            planned = None if data is None else sha256(data)
            changes.append(Change(path=STATE, data=file_bytes(value_of(state)), planned=planned))
            journal = Journal(
                root=self.root,
                state=state,
                history=history,
                registry=registry,
                config=load_config(self.root),
                checkpoints=tuple(names),
            )
            commit(journal, Writing(changes=changes, pages=True), self.world)
            result.applied = True
            result.warnings += self._write_due_pages()
        return result


def _overtaken() -> Conflict:
    return Conflict(
        "The journal was changed by somebody else while the proposal was made.",
        hint="Run the command again; nothing was written.",
    )


def _files_below(path: str) -> list[str]:
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)


def _as_changes(writing: Writing, journal: Journal) -> dict[str, bytes]:
    """The files of a first writing, by their paths."""
    from quire.layers.journal import appended_bytes, checkpoint_path, file_bytes, value_of
    from quire.layers.journal.layout import EVENTS

    found = {EVENTS: appended_bytes(journal.history, writing.events)}
    if writing.state is not None and writing.checkpoint is not None:
        found[STATE] = file_bytes(value_of(writing.state))
        found[checkpoint_path(writing.checkpoint.id)] = file_bytes(value_of(writing.checkpoint))
    return found


def _last_lines(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return " | ".join(lines[-_SUMMARY_LINES:])


def _kept(text: str) -> str:
    """What a command printed, as it may stand in a file that others read."""
    from quire.capture.transcripts import redacted
    from quire.guard import make_safe
    from quire.model import cut

    return cut(make_safe(redacted(text)[0]), 500) or "nothing was printed"
