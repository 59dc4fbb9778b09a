"""The journal kept by itself: the process that runs its cycles, started, found, stopped.

Whether it runs, the kernel's lock says, and nothing else: a file with a process id proves nothing. What is to be
started is the caller's to say, since only a surface knows its own commands.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.journal.layout import FOLDER, LOCAL
from quire.model.errors import Conflict, QuireError
from quire.model.records import Problem
from quire.project import Project
from quire.verbs.journal.automation_cycle import journal_is_there
from quire.verbs.journal.journal_state import prepare_journal

if TYPE_CHECKING:
    from quire.files import daemons
    from quire.layers.journal.types import Daemon, DaemonLock
    from quire.verbs.journal.automation_daemon import Bounds

_START_SECONDS = 10.0
_STOP_SECONDS = 10.0
_KILL_SECONDS = 5.0
_PAUSE_SECONDS = 0.02
_SHOWN_RUNS = 5
_SILENT_SECONDS = 180.0


class StartedKeeper(msgspec.Struct, frozen=True, kw_only=True):
    pid: int
    started: bool = True
    """False where it ran already."""


class StoppedKeeper(msgspec.Struct, frozen=True, kw_only=True):
    pid: int | None
    stopped: bool
    """False where none ran; then `pid` is the one that had left its files behind, if any."""
    killed: bool = False


class AutomationState(msgspec.Struct, kw_only=True):
    """Whether a process keeps the journal, and how its cycles went."""

    running: bool
    pid: int | None = None
    started_at: str | None = None
    last_heartbeat_at: str | None = None
    heartbeat_age_seconds: float | None = None
    interval_minutes: float | None = None
    provider: str | None = None
    next_run_at: str | None = None
    ends_at: str | None = None
    other_program: bool = False
    """Another program's process keeps it."""
    elsewhere: bool = False
    """It runs in a container, or on another machine: its number means nothing here."""
    stale_pid: int | None = None
    """A process that does not run any more, but left its files."""
    last_run: dict[str, Any] | None = None
    runs: list[dict[str, Any]] = []
    """The last ones, newest first."""
    last_log: str | None = None
    warnings: list[Problem] = []


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """Who keeps the journal."""

    pid: int
    kernel: bool
    """Whether it holds the kernel's lock, as ours do."""
    is_here: bool = True
    """Whether the process of this number is really it. One in a container has another number outside."""
    keeper: Daemon | None = None


# -- asked ------------------------------------------------------------------------------


def journal_automation(project: Project, *, runs: int = _SHOWN_RUNS) -> AutomationState:
    """Whether a process keeps the journal, since when, what it did and when it does it again."""
    from quire.layers.journal import daemon
    from quire.layers.journal.documents import value_of
    from quire.layers.journal.numbered_ids import moment_of

    journal_is_there(project)
    found = _found_keeper(project)
    keeper = found.keeper if found is not None else None
    last = daemon.latest_run(project.root)
    logged = daemon.last_logged(project.root)
    state = AutomationState(
        running=found is not None,
        pid=found.pid if found is not None else None,
        other_program=found is not None and not found.kernel,
        elsewhere=found is not None and not found.is_here,
        stale_pid=_stale_keeper(project) if found is None else None,
        last_run=value_of(last) if last is not None else None,
        runs=[msgspec.to_builtins(note) for note in reversed(daemon.read_runs(project.root)[-runs:])],
        last_log=logged[-1] if logged else None,
    )
    if keeper is not None:
        _describe_keeper(state, keeper)
        then = moment_of(keeper.last_heartbeat_at)
        if then is not None:
            state.heartbeat_age_seconds = max(0.0, (project.world.now() - then).total_seconds())
    if (state.heartbeat_age_seconds or 0.0) > _SILENT_SECONDS:
        state.warnings.append(
            Problem(
                code="JournalKeeperSilent",
                severity="warning",
                message=f"Process {state.pid} has given no sign of life for {state.heartbeat_age_seconds:.0f} s.",
                hint="`memory journal automate stop` and `start` put another in its place.",
            )
        )
    return state


def _describe_keeper(state: AutomationState, keeper: Daemon) -> None:
    from quire.verbs.journal.automation_daemon import LAST, NEXT

    state.started_at = keeper.started_at
    state.last_heartbeat_at = keeper.last_heartbeat_at
    state.interval_minutes = float(keeper.interval_minutes)
    state.provider = keeper.provider
    state.next_run_at = _text(keeper.extra.get(NEXT))
    state.ends_at = _text(keeper.extra.get(LAST))


# -- started ----------------------------------------------------------------------------


def journal_start(project: Project, command: Sequence[str], *, seconds: float = _START_SECONDS) -> StartedKeeper:
    """Start the process that keeps the journal: `command`, which has to call `journal_keep`."""
    done = journal_ensure_running(project, command, seconds=seconds)
    if not done.started:
        raise Conflict(
            f"The automation of this journal is running already (pid={done.pid}).",
            hint="`memory journal automate status` shows it, `memory journal automate stop` ends it.",
            details={"pid": done.pid},
        )
    return done


def journal_ensure_running(
    project: Project, command: Sequence[str], *, seconds: float = _START_SECONDS
) -> StartedKeeper:
    """Start it unless it runs."""
    from quire.files import daemons
    from quire.files.local_files import ensure_local
    from quire.layers.journal import daemon
    from quire.layers.journal.store import load_config

    journal_is_there(project)
    found = _found_keeper(project)
    if found is not None:
        return StartedKeeper(pid=found.pid, started=False)
    load_config(project.root)  # one that cannot be read is told now, and not in a log
    try:
        daemon.ensure_automation(project.root)
        ensure_local(project.root, FOLDER, project.world.token())
        prepare_journal(project)
        child = daemons.Child(command, cwd=project.root, env=project.world.env)
    except OSError as error:
        from quire.files.paths import storage_failed

        raise storage_failed(error, "start the automation", project.root) from error
    return _awaited_keeper(project, child, seconds)


def _awaited_keeper(project: Project, child: daemons.Child, seconds: float) -> StartedKeeper:
    """Wait until it gives a sign of life. What gives none in time is ended, so that nothing runs unseen."""
    until = monotonic() + seconds
    while monotonic() < until:
        found = _found_keeper(project)
        if found is not None and found.pid == child.pid and found.keeper is not None:
            child.let_go()
            return StartedKeeper(pid=child.pid)
        if child.code is not None:
            said = child.last_line
            child.end()
            if found is not None and found.pid != child.pid:
                return StartedKeeper(pid=found.pid, started=False)  # somebody else was faster
            raise _not_started(project, f"it ended with {child.code}", said)
        project.world.sleep(_PAUSE_SECONDS)
    said = child.last_line
    child.end(1.0)
    _clear_keeper(project)
    raise _not_started(project, f"it gave no sign of life within {seconds:.0f} s, and was stopped", said)


def _not_started(project: Project, how: str, said: str) -> QuireError:
    from quire.layers.journal import daemon

    logged = daemon.last_logged(project.root)
    why = said.removeprefix("error: ") or (logged[-1] if logged else "")
    return QuireError(
        f"The automation could not be started: {how}." + (f" It said: {why}" if why else ""),
        hint=f"`{FOLDER}/{LOCAL}/{daemon.LOG}` may tell more. `memory journal automate run-once` needs no process.",
    )


def journal_keep(project: Project, cycle: Sequence[str], bounds: Bounds | None = None) -> str:
    """Be the process that keeps the journal; why it ended. `cycle` is the command that runs one cycle."""
    from quire.files.paths import storage_failed
    from quire.verbs.journal import automation_daemon

    journal_is_there(project)
    try:
        return automation_daemon.Keeper(project.root, project.world, cycle, bounds or automation_daemon.Bounds()).run()
    except OSError as error:
        raise storage_failed(error, "keep the journal", project.root) from error


# -- stopped ----------------------------------------------------------------------------


def journal_stop(project: Project) -> StoppedKeeper:
    """End the process that keeps the journal. No other process is ever sent a signal."""
    journal_is_there(project)
    found = _found_keeper(project)
    if found is None:
        stale = _stale_keeper(project)
        _clear_keeper(project)
        return StoppedKeeper(pid=stale, stopped=False)
    if not found.kernel:
        raise Conflict(
            f"Process {found.pid}, which keeps this journal, was started by another program.",
            hint=f"Stop it with that program, or with `kill {found.pid}`.",
            details={"pid": found.pid},
        )
    if not found.is_here:
        raise Conflict(
            f"Process {found.pid} here is not the one that keeps this journal.",
            hint="That one may run in a container, or on another machine that shares the disk: stop it there.",
            details={"pid": found.pid},
        )
    killed = not _keeper_ended(project, found, signal.SIGTERM, _STOP_SECONDS)
    if killed and not _keeper_ended(project, found, signal.SIGKILL, _KILL_SECONDS):
        raise Conflict(
            f"Process {found.pid} does not end.",
            hint="It may wait for a disk that does not answer. Try again later.",
            details={"pid": found.pid},
        )
    _clear_keeper(project)
    return StoppedKeeper(pid=found.pid, stopped=True, killed=killed)


def _keeper_ended(project: Project, found: _Found, number: int, seconds: float) -> bool:
    """Whether it is gone within so many seconds of a signal."""
    from quire.files import daemons

    try:
        daemons.send_signal(found.pid, number, _is_still_keeper(project, found))
    except PermissionError:
        raise Conflict(
            f"Process {found.pid}, which keeps this journal, belongs to another user.",
            hint="That user has to stop it.",
            details={"pid": found.pid},
        ) from None
    until = monotonic() + seconds
    while _is_still_keeper(project, found)():
        if monotonic() >= until:
            return False
        project.world.sleep(_PAUSE_SECONDS)
    return True


def _is_still_keeper(project: Project, found: _Found) -> Callable[[], bool]:
    def is_still() -> bool:
        lock = _lock_holder(project)
        return lock is not None and lock.pid == found.pid

    return is_still


# -- who it is --------------------------------------------------------------------------


def _found_keeper(project: Project) -> _Found | None:
    """The process that keeps the journal, if one does."""
    from quire.layers.journal import daemon
    from quire.verbs.journal.automation_daemon import is_another_programs

    keeper = daemon.read_keeper(project.root)
    lock = _lock_holder(project)
    if lock is None:
        for named in (_unheld_keeper_lock(project), keeper):
            if named is not None and is_another_programs(named.pid, project.world):
                is_its = keeper is not None and keeper.pid == named.pid
                return _Found(pid=int(named.pid), kernel=False, keeper=keeper if is_its else None)
        return None
    if keeper is not None and keeper.pid != lock.pid:
        keeper = None
    return _Found(pid=int(lock.pid), kernel=True, is_here=_is_keeper_here(project, lock, keeper), keeper=keeper)


def _is_keeper_here(project: Project, lock: DaemonLock, keeper: Daemon | None) -> bool:
    from quire.files import daemons
    from quire.layers.journal.layout import PROCESS_START

    if not daemons.is_process_id(lock.pid):
        return False
    mark = keeper.extra.get(PROCESS_START) if keeper is not None else None
    if mark:
        return daemons.process_mark(int(lock.pid), project.world.env) == str(mark)
    return "automate" in (daemons.command_line(int(lock.pid), project.world.env) or ())


def _lock_holder(project: Project) -> DaemonLock | None:
    """What the holder of the kernel's lock says of itself; None where nobody holds it."""
    from quire.files import daemons
    from quire.layers.journal import daemon

    until = monotonic() + 1.0
    while True:
        data = daemons.holder_of(daemon.lock_path(project.root))
        if data is None:
            return None
        found = daemon.parsed_lock(data)
        if found is not None:
            return found
        if monotonic() > until:  # it has just been taken: who took it says so at once
            raise Conflict(
                "The lock of this journal's automation is held by a process that does not say which it is.",
                hint=f"`lsof {FOLDER}/automation/daemon.lock` may tell.",
            )
        project.world.sleep(_PAUSE_SECONDS)


def _unheld_keeper_lock(project: Project) -> DaemonLock | None:
    from quire.layers.journal import daemon
    from quire.layers.journal.layout import DAEMON_LOCK
    from quire.layers.journal.store import held_file

    with contextlib.suppress(QuireError):
        data = held_file(project.root, DAEMON_LOCK)
        return daemon.parsed_lock(data) if data is not None else None
    return None


def _stale_keeper(project: Project) -> int | None:
    from quire.layers.journal import daemon

    named = _unheld_keeper_lock(project) or daemon.read_keeper(project.root)
    return int(named.pid) if named is not None else None


def _clear_keeper(project: Project) -> None:
    """What a process that does not run any more has left; only while nobody holds the lock."""
    from quire.files import daemons
    from quire.layers.journal import daemon
    from quire.verbs.journal.automation_daemon import is_another_programs

    if not daemon.has_files(project.root):
        return

    def is_respected(data: bytes) -> bool:
        found = daemon.parsed_lock(data)
        return found is not None and is_another_programs(found.pid, project.world)

    with contextlib.suppress(OSError):
        lock = daemons.hold(daemon.lock_path(project.root), is_respected, project.world.sleep)
        if lock is not None:
            try:
                daemon.remove_keeper(project.root)
            finally:
                lock.release()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
