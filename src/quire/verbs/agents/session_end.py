"""Read ended sessions and put what they propose into the inbox."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from quire.files.local_files import LOCAL_VERSION, write_local
from quire.files.local_lock import alone
from quire.files.paths import storage_failed
from quire.layers.graph.layout import FOLDER
from quire.model.errors import QuireError
from quire.model.records import Problem, as_warning
from quire.model.times import instant, timestamp
from quire.project import Project
from quire.verbs.facts.ingest import take_in_documents
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.inbox.add import inbox_add
from quire.verbs.journal.automate_run_once import Cycle
from quire.verbs.journal.automation_cycle import SETTLED_SECONDS, run_cycle
from quire.verbs.journal.journal_state import read_journal
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.verb import Result

if TYPE_CHECKING:
    from quire.capture.session_proposals import Account
    from quire.clients.spool import Ended

_SETTLED = timedelta(minutes=10)
"""A session that did not say that it ended counts as ended after so long."""
_LOCK = "collect.lock"
_LOCAL_PROVIDER = "local"


class UnreadSession(msgspec.Struct, frozen=True):
    """A session that could not be read."""

    session: str
    reason: str


class Collected(Result, kw_only=True):
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
    busy: bool = False
    """Another process is doing it."""
    failed: list[UnreadSession] = []

    def is_incomplete(self) -> bool:
        return bool(self.failed)


def collect_sessions(project: Project, *, running: bool = True) -> Collected:
    """Read the sessions that waited; without `running`, not those that may still be going on.

    Each is noted as read before the next one is begun, and one that cannot be read keeps no other from it.
    """
    from quire.clients.spool import take_ended

    project.ready()
    project.with_index(lambda _: None)  # a hook may have had no time to make it
    with _only_collector(project) as is_alone:
        if not is_alone:
            return Collected(busy=True)
        done = Collected()
        taken = take_ended(project.root, project.world.token())
        for ended in taken.sessions:
            if running or session_is_over(project, ended):
                _collect(project, ended, done)
            else:
                _wait_on(project, ended)
                done.waiting += 1
        with contextlib.suppress(OSError):
            taken.done(project.root)
        done.warnings += taken.problems()
        if taken.sessions and project.has_journal():
            _collect_journal(project, done, running)
        _ingest_changed(project, done)
        return done


def journal_run_once(
    project: Project, *, settled_seconds: float = SETTLED_SECONDS, background: bool = False, ended: str = ""
) -> Cycle:
    """A cycle of the journal; before it, the sessions that hooks noted are read."""
    from quire.clients.spool import has_ended

    if has_ended(project.root):
        # A journal needs no graph, and a cycle is not held up by what only waits for a look.
        with contextlib.suppress(QuireError, OSError):
            collect_sessions(project, running=False)
    return run_cycle(project, settled_seconds=settled_seconds, background=background, ended=ended)


@contextlib.contextmanager
def _only_collector(project: Project) -> Iterator[bool]:
    with contextlib.ExitStack() as stack:
        try:
            is_alone = stack.enter_context(alone(project.root, FOLDER, _LOCK, "collect", project.world))
        except OSError as error:
            raise storage_failed(error, "read the sessions that ended", project.root) from error
        yield is_alone


def session_is_over(project: Project, ended: Ended) -> bool:
    heard = instant(ended.at)
    return ended.event == "session-end" or heard is None or project.world.now() - heard >= _SETTLED


def _wait_on(project: Project, ended: Ended) -> None:
    from quire.clients.spool import note_ended

    note_ended(project.root, ended, project.world.token())


def _collect(project: Project, ended: Ended, done: Collected) -> None:
    """Read one session from where it was left, and hand in what it leaves."""
    from quire.capture.session_proposals import find_session, propose_session, with_summary
    from quire.clients.read_marks import ReadMark, read_marks, write_marks

    name = f"{ended.client} {ended.session[:8]}"
    key = f"{ended.client}:{ended.session}"
    found, marks = read_marks(project.root)
    before = marks.get(key, ReadMark())
    try:
        session = find_session(
            ended.client,
            ended.transcript,
            ended.session,
            root=project.root,
            home=project.world.home,
            env=project.world.env,
        )
        if session is None and _is_missing(ended.transcript):
            return
        if session is None:
            done.failed.append(UnreadSession(name, "its file is not where this client keeps sessions"))
            return
        read = propose_session(
            session,
            client=ended.client,
            root=project.root,
            home=project.world.home,
            now=timestamp(project.world.now()),
            offset=before.offset,
            content_hash=before.hash,
            counted=(before.turns, before.tool_calls),
        )
        told = read.account
        if told is not None:
            done.episodes += _leave_episode(project, told, ended.at)
        added = inbox_add(project, [with_summary(item, ended.summary) for item in read.proposals])
    except (QuireError, OSError, ValueError, RecursionError, MemoryError) as error:
        reason = error.message if isinstance(error, QuireError) else str(error)[:200]
        done.failed.append(UnreadSession(name, reason))
        if isinstance(error, QuireError | OSError):
            _wait_on(project, ended)  # the disk, or another writer: the next time may do
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
    marks[key] = ReadMark(read.next_offset, read.content_hash, timestamp(project.world.now()), *counts)
    write_marks(project.root, found, marks, project.world.token())


def _leave_episode(project: Project, told: Account, heard: str) -> int:
    """Write the episode of a session: figures, and the user's first words unless they were rejected."""
    ended_at = next(filter(instant, (told.ended_at, heard)), None)
    rejections = project.rejections()
    title = rejections.without(told.title) if rejections is not None and told.title else told.title
    _, episodes = record_session(
        project,
        NoteSession(
            session_id=told.session_id,
            turns=told.turns,
            tool_calls=told.tool_calls,
            title=title,
            files=list(told.files),
            started_at=told.started_at if instant(told.started_at) else None,
            ended_at=ended_at,
            close=True,
        ),
    )
    return len(episodes)


def _ingest_changed(project: Project, done: Collected) -> None:
    """Take in what design documents decided, where one of them was changed since the last time."""
    from quire.capture.design_documents import documents_stamp, ingested

    found, stamp = ingested(project.root), documents_stamp(project.root)
    if found.fields.get("stamp", "") == stamp:
        return
    try:
        taken = take_in_documents(project, unattended=True)
        done.ingested = sum(taken.counts.get(name, 0) for name in ("store", "supersede", "pend"))
        value = {"version": LOCAL_VERSION, "stamp": stamp}
        write_local(project.root, found, msgspec.json.encode(value) + b"\n", project.world.token())
    except QuireError as error:
        done.warnings.append(as_warning(error))


def _collect_journal(project: Project, done: Collected, running: bool) -> None:
    """Where there is a journal with sources, it takes the sessions in as well; by rules, no model is asked."""
    try:
        if read_journal(project).registry.sources:
            settled = 0.0 if running else _SETTLED.total_seconds()
            synced = import_sessions(project, provider=_LOCAL_PROVIDER, settled_seconds=settled)
            done.imported = synced.imported
    except QuireError as error:
        done.warnings.append(as_warning(error))


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
