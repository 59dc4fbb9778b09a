"""Sessions that ended are read, and what they leave behind waits in the inbox."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.graph.layout import FOLDER
from quire.model.errors import LockBusy, QuireError
from quire.model.records import Problem
from quire.model.times import instant, timestamp
from quire.project.importing import Importing
from quire.project.ingesting import Ingesting
from quire.project.journal_automation import JournalAutomation
from quire.project.journal_cycles import SETTLED_SECONDS
from quire.project.rooms import as_warning
from quire.project.spooling import INGESTED

if TYPE_CHECKING:
    from quire.capture.proposing import Account
    from quire.clients.spool import Ended, Taken
    from quire.files.local import LocalFile
    from quire.inbox.proposals import Proposal
    from quire.project.journal_results import Cycle

_SETTLED = timedelta(minutes=10)
"""A session that did not say that it ended counts as ended after so long."""
_LOCK = "collect.lock"
_READ = "collected.json"
_KEPT = 2_000
_LOCAL_PROVIDER = "local"


class Collected(msgspec.Struct, kw_only=True):
    """What came of the sessions that waited."""

    sessions: int = 0
    episodes: int = 0
    """Episodes that were written of them, or changed."""
    ingested: int = 0
    """Facts that design documents left."""
    proposed: int = 0
    known: int = 0
    rejected: int = 0
    waiting: int = 0
    """Sessions that are still going on."""
    imported: int = 0
    """Sessions that the journal took in."""
    failed: list[tuple[str, str]] = []
    busy: bool = False
    """Somebody else is at it."""
    warnings: list[Problem] = []


class _Read(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a session was read."""

    offset: int = 0
    hash: str = ""
    at: str = ""
    turns: int = 0
    tool_calls: int = 0


class Collecting(Importing, Ingesting, JournalAutomation):
    """The work that hooks leave for later."""

    def collect_sessions(self, *, running: bool = True) -> Collected:
        """Read the sessions that waited; without `running`, not those that may still be going on.

        Each is noted as read before the next one is begun, and one that cannot be read keeps no other from it.
        """
        from quire.clients.spool import take_ended

        self._ready()
        self._with_index(lambda _: None)  # a hook may have had no time to make it
        with self._only_collector() as is_alone:
            if not is_alone:
                return Collected(busy=True)
            done = Collected()
            taken = take_ended(self.root, self.world.token())
            for ended in taken.sessions:
                if running or self._is_over(ended):
                    self._collect(ended, done)
                else:
                    self._wait_on(ended)
                    done.waiting += 1
            self._finish(taken)
            done.warnings += [_torn()] if taken.damaged else []
            if taken.sessions and self._has_journal():
                self._collect_journal(done, running)
            self._ingest_changed(done)
            return done

    def journal_run_once(
        self, *, settled_seconds: float = SETTLED_SECONDS, background: bool = False, ended: str = ""
    ) -> Cycle:
        """A cycle of the journal; before it, the sessions that hooks noted are read."""
        from quire.clients.spool import has_ended

        if has_ended(self.root):
            # A journal needs no graph, and a cycle is not held up by what only waits for a look.
            with contextlib.suppress(QuireError, OSError):
                self.collect_sessions(running=False)
        return super().journal_run_once(settled_seconds=settled_seconds, background=background, ended=ended)

    @contextlib.contextmanager
    def _only_collector(self) -> Iterator[bool]:
        from quire.files.local import ensure_local, place_of
        from quire.files.lock import Holder, held
        from quire.files.paths import inside, storage_failed

        ensure_local(self.root, FOLDER, self.world.token())
        holder = Holder(pid=self.world.pid, operation="collect", created_at=timestamp(self.world.now()))
        with contextlib.ExitStack() as stack:
            try:
                path = inside(self.root, place_of(FOLDER, _LOCK))
                stack.enter_context(held(path, holder, 0.0, self.world.sleep, keep=True))
            except LockBusy:
                yield False
                return
            except OSError as error:
                raise storage_failed(error, "read the sessions that ended", self.root) from error
            yield True

    def _is_over(self, ended: Ended) -> bool:
        heard = instant(ended.at)
        return ended.event == "session-end" or heard is None or self.world.now() - heard >= _SETTLED

    def _wait_on(self, ended: Ended) -> None:
        from quire.clients.spool import note_ended

        note_ended(self.root, ended, self.world.token())

    def _finish(self, taken: Taken) -> None:
        with contextlib.suppress(OSError):
            taken.done(self.root)

    def _collect(self, ended: Ended, done: Collected) -> None:
        """Read one session from where it was left, and hand in what it leaves."""
        from quire.capture.proposing import find_session, propose_session

        name = f"{ended.client} {ended.session[:8]}"
        key = f"{ended.client}:{ended.session}"
        found, notes = self._read_notes()
        before = notes.get(key, _Read())
        try:
            session = find_session(
                ended.client,
                ended.transcript,
                ended.session,
                root=self.root,
                home=self.world.home,
                env=self.world.env,
            )
            if session is None and _is_missing(ended.transcript):
                return
            if session is None:
                done.failed.append((name, "its file is not where this client keeps sessions"))
                return
            read = propose_session(
                session,
                client=ended.client,
                root=self.root,
                home=self.world.home,
                now=timestamp(self.world.now()),
                offset=before.offset,
                content_hash=before.hash,
                counted=(before.turns, before.tool_calls),
            )
            told = read.account
            if told is not None:
                done.episodes += self._leave_episode(told, ended.at)
            added = self.inbox_add([_told(item, ended.summary) for item in read.proposals])
        except (QuireError, OSError, ValueError, RecursionError, MemoryError) as error:
            done.failed.append((name, error.message if isinstance(error, QuireError) else str(error)[:200]))
            if isinstance(error, QuireError | OSError):
                self._wait_on(ended)  # the disk, or another writer: the next time may do
            return
        done.sessions += 1
        done.proposed += len(added.added)
        done.known += added.known
        done.rejected += added.rejected
        done.warnings += added.warnings
        done.warnings += [
            Problem(code="SessionNotWhole", severity="warning", message=f"{name}: {text}") for text in read.problems
        ]
        counts = (told.turns, told.tool_calls) if told else (before.turns, before.tool_calls)
        notes[key] = _Read(read.next_offset, read.content_hash, timestamp(self.world.now()), *counts)
        self._note_read(found, notes)

    def _leave_episode(self, told: Account, heard: str) -> int:
        """Write the episode of a session: figures, and the user's first words unless they were rejected."""
        ended_at = next(filter(instant, (told.ended_at, heard)), None)
        rejections = self._rejections()
        title = rejections.without(told.title) if rejections is not None and told.title else told.title
        _, episodes = self.memory_session(
            told.session_id,
            turns=told.turns,
            tool_calls=told.tool_calls,
            title=title,
            files=told.files,
            started_at=told.started_at if instant(told.started_at) else None,
            ended_at=ended_at,
            close=True,
        )
        return len(episodes)

    def _read_notes(self) -> tuple[LocalFile, dict[str, _Read]]:
        from quire.files.local import read_object

        found = read_object(self.root, FOLDER, _READ)
        notes = {}
        held = found.fields.get("sessions")
        for key, value in held.items() if isinstance(held, dict) else ():
            with contextlib.suppress(msgspec.ValidationError):
                notes[key] = msgspec.convert(value, _Read)
        return found, notes

    def _note_read(self, found: LocalFile, notes: dict[str, _Read]) -> None:
        from quire.files.local import LOCAL_VERSION, write_local

        latest = sorted(notes.items(), key=lambda item: item[1].at)[-_KEPT:]
        value: dict[str, Any] = {"version": LOCAL_VERSION, "sessions": dict(latest)}
        with contextlib.suppress(QuireError):
            write_local(self.root, found, msgspec.json.encode(value) + b"\n", self.world.token())

    def _ingest_changed(self, done: Collected) -> None:
        """Take in what design documents decided, where one of them was changed since the last time."""
        from quire.capture.design_documents import documents_stamp
        from quire.files.local import LOCAL_VERSION, read_object, write_local

        found, stamp = read_object(self.root, FOLDER, INGESTED), documents_stamp(self.root)
        if found.fields.get("stamp", "") == stamp:
            return
        try:
            taken = self.memory_ingest_lifecycle(unattended=True)
            done.ingested = sum(taken.counts.get(name, 0) for name in ("store", "supersede", "pend"))
            value = {"version": LOCAL_VERSION, "stamp": stamp}
            write_local(self.root, found, msgspec.json.encode(value) + b"\n", self.world.token())
        except QuireError as error:
            done.warnings.append(as_warning(error))

    def _collect_journal(self, done: Collected, running: bool) -> None:
        """Where there is a journal with sources, it takes the sessions in as well; by rules, no model is asked."""
        try:
            if self._journal().registry.sources:
                settled = 0.0 if running else _SETTLED.total_seconds()
                synced = self.journal_sync(everything=True, provider=_LOCAL_PROVIDER, settled_seconds=settled)
                done.imported = synced.imported
        except QuireError as error:
            done.warnings.append(as_warning(error))


def _torn() -> Problem:
    from quire.clients.layout import ENDED
    from quire.files.local import ASIDE, place_of

    return Problem(
        code="LocalStateDamaged",
        severity="warning",
        path=place_of(FOLDER, ENDED),
        message="It had lines that could not be read: sessions that they named are not read from here.",
        hint=f"The first such file is kept as `{ENDED}{ASIDE}`; `memory journal sync` finds sessions by itself.",
    )


def _is_missing(path: str) -> bool:
    """Whether a file was named and is not there: clients tell the end of sessions in which nothing was said."""
    if not path:
        return False
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False  # nobody can say
    return False


def _told(item: Proposal, summary: str) -> Proposal:
    """The proposal of an episode with the summary that its client made; not with one that may not be kept."""
    if item.into != "episodes" or not summary.strip():
        return item
    from quire.capture.transcripts.redaction import redacted
    from quire.guard.instructions import find_instructions
    from quire.guard.text import make_safe

    text, secrets = redacted(summary)
    if secrets or find_instructions(text):
        return item
    return msgspec.structs.replace(item, fields={**item.fields, "summary": make_safe(text.strip())})
