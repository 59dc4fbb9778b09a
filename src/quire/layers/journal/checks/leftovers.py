"""Check the automation: its process, its last run, overdue work, files of writers that died."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from quire.files import daemons
from quire.files.layout import RECOVERY
from quire.files.local_files import read_object
from quire.files.paths import names_in
from quire.files.transaction import is_interrupted, left_aside
from quire.layers.journal.checks.findings import TOLD, document_at, listing, passed, warned
from quire.layers.journal.daemon import lock_path
from quire.layers.journal.documents import read_daemon, read_daemon_lock, read_run
from quire.layers.journal.layout import (
    ARCHIVE,
    CHECKPOINTS,
    DAEMON,
    DAEMON_LOCK,
    FILE_BYTES,
    FOLDER,
    IMPORTS,
    LATEST_RUN,
    LOCAL,
    PAGES_DUE,
    PROCESS_START,
)
from quire.layers.journal.store import are_pages_due
from quire.layers.journal.types import Count, Daemon, DaemonLock, Run
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import cut

_HALVES = (".tmp-", ".bak.")
_LISTED = ("", "history", CHECKPOINTS, ARCHIVE)
_TRANSACTION = "transaction-"
_KEPT = "unapplied-"
_PID_MOST = 2**31
RecordT = TypeVar("RecordT")


def check_automation(root: str, is_alive: Callable[[int], bool]) -> list[Problem]:
    """Only what is there is reported: a journal need not keep itself."""
    daemon, found = _held(root, DAEMON, "automation:daemon", read_daemon)
    if daemon is not None and PROCESS_START in daemon.extra and daemons.holder_of(lock_path(root)) is None:
        # Ours holds a lock of the kernel's for its life: a process of that number without it is someone else.
        is_alive = _nobody
    if daemon is not None:
        found.append(_daemon(daemon, is_alive))
    run, more = _held(root, LATEST_RUN, "automation:latest-run", read_run)
    found += more
    if run is not None:
        found.append(_run(run))
    lock, more = _held(root, DAEMON_LOCK, "automation:lock", read_daemon_lock)
    found += more
    if lock is not None:
        found.append(_lock(lock, is_alive))
    return found


def _held(root: str, name: str, code: str, read: Callable[[Any], RecordT]) -> tuple[RecordT | None, list[Problem]]:
    value, fault, said = document_at(root, name)
    if fault == "missing":
        return None, []
    try:
        if not fault:
            return read(value), []
    except QuireError as error:
        said = error.message
    return None, [warned(f"{code}:read", said, f"{FOLDER}/{name}", "The next run rewrites it.")]


def _daemon(daemon: Daemon, is_alive: Callable[[int], bool]) -> Problem:
    code, where = "automation:daemon", f"{FOLDER}/{DAEMON}"
    if _lives(daemon.pid, is_alive):
        return passed(code, f"The process {daemon.pid} keeps the memory.", where)
    said = f"The process {daemon.pid}, which kept the memory, no longer runs."
    return warned(f"{code}:stale", said, where, "`memory journal automate start` starts a new one.")


def _lock(lock: DaemonLock, is_alive: Callable[[int], bool]) -> Problem:
    code, where = "automation:lock", f"{FOLDER}/{DAEMON_LOCK}"
    if _lives(lock.pid, is_alive):
        return passed(code, f"The process {lock.pid} holds the lock of the automation.", where)
    said = f"The process {lock.pid}, which held the lock of the automation, no longer runs."
    return warned(f"{code}:stale", said, where, "The next one takes over the lock.")


def _run(run: Run) -> Problem:
    code, where = "automation:latest-run", f"{FOLDER}/{LATEST_RUN}"
    if run.status != "failed":
        return passed(code, f"The last run of the automation ended with `{run.status}`.", where)
    said = f"The last run of the automation failed: {'; '.join(run.errors) or 'no reason recorded'}"
    return warned(f"{code}:failed", said, where)


def _nobody(_: int) -> bool:
    return False


def _lives(pid: Count, is_alive: Callable[[int], bool]) -> bool:
    # Of 0 and of what is below it, the kernel thinks of whole groups of processes.
    return 0 < pid < _PID_MOST and pid == int(pid) and is_alive(int(pid))


def check_leftovers(root: str) -> list[Problem]:
    """What is due, and what lies where nobody looks any more."""
    return [*_due(root), *_recovery(root), *_halves(root)]


def _due(root: str) -> Iterator[Problem]:
    if are_pages_due(root):
        said = "The pages are not up to date with the memory."
        yield warned("pages:due", said, f"{FOLDER}/{LOCAL}/{PAGES_DUE}", "The next command that writes updates them.")
    for name in (IMPORTS, PAGES_DUE):
        problem = read_object(root, FOLDER, name, FILE_BYTES).problem
        if problem is not None:
            yield warned(f"local:{name.removesuffix('.json')}", problem.message, problem.path, problem.hint)


def _recovery(root: str) -> Iterator[Problem]:
    where = f"{FOLDER}/{RECOVERY}"
    path = os.path.join(root, where)
    if os.path.islink(path) or (os.path.lexists(path) and not os.path.isdir(path)):
        said = f"`{where}` is not a folder: nothing can be written."
        yield warned("recovery:read", said, where, "Move it away.")
        return
    if is_interrupted(path):
        said = "A change was interrupted."
        yield warned("recovery:interrupted", said, where, "The next command that writes completes it.")
    for name in left_aside(path)[:TOLD]:
        said = "An interrupted change could not be completed, because the files were changed in the meantime."
        hint = "Copy by hand what is missing, then remove the folder."
        yield warned(f"recovery:unapplied:{name}", said, f"{where}/{name}", hint)
    strays = [name for name in _names(path) if not name.startswith((_TRANSACTION, _KEPT))]
    if strays:
        said = f"Unknown files: {listing(strays)}."
        yield warned("recovery:stray", said, where, "Check them, then remove them.")


def _halves(root: str) -> Iterator[Problem]:
    """What a program that writes in place leaves when it dies; it may be the only copy."""
    for folder in _LISTED:
        where = f"{FOLDER}/{folder}".rstrip("/")
        names = [name for name in _names(os.path.join(root, where)) if any(mark in name for mark in _HALVES)]
        for name in names[:TOLD]:
            said = f"`{where}/{cut(name, 120)}` is left over from an interrupted program."
            hint = "It may hold data that the file beside it lost: compare them, then remove it."
            yield warned(f"files:leftover:{name}", said, f"{where}/{name}", hint)


def _names(path: str) -> list[str]:
    return [] if os.path.islink(path) else names_in(path)
