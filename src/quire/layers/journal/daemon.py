"""Paths and files of the automation: process, lock, last runs, log.

Only `latest-run.json`, `daemon.json` and the lock are shared with other programs. The runs and the log are for this
machine; nothing of them may stop a run, so a file that cannot be used counts as empty.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from quire.files import disk
from quire.files.durable_write import ensure_folder, write_file
from quire.files.json_files import json_value
from quire.files.local_files import ensure_local, place_of, read_local, write_local
from quire.files.paths import inside
from quire.layers.journal.canonical import file_bytes
from quire.layers.journal.documents import RecordT, parse_document, read_daemon, read_daemon_lock, read_run, value_of
from quire.layers.journal.layout import AUTOMATION, DAEMON, DAEMON_LOCK, FOLDER, LATEST_RUN
from quire.layers.journal.store import held_file
from quire.layers.journal.types import Count, Daemon, DaemonLock, Run
from quire.model.errors import QuireError
from quire.model.text import cut

RUNS = "runs.jsonl"
LOG = "daemon.log"
OLDER_LOG = "daemon.log.1"
RUN_LOCK = "run.lock"
"""These four are in the folder of this machine."""
RUNS_KEPT = 20
LOG_BYTES = 256 * 1024
_RUNS_BYTES = 64 * 1024
_SAID_CHARS = 300
_SAID = 5


class RunNote(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A run in one line. Runs in a row that found nothing to do are one note that counts them."""

    started_at: str
    finished_at: str
    status: str
    imported: Count = 0
    failed_sessions: Count = 0
    recalled_events: Count = 0
    archived_events: Count = 0
    archived_checkpoints: Count = 0
    expired_batches: Count = 0
    errors: tuple[str, ...] = ()
    warnings: int = 0
    times: int = 1


# -- runs -----------------------------------------------------------------------------------------


def latest_run(root: str) -> Run | None:
    """The last run that was noted for others; None where there is none, or none that can be read."""
    return _read(root, LATEST_RUN, read_run)


def write_run(root: str, run: Run, token: str) -> None:
    ensure_automation(root)
    write_file(inside(root, f"{FOLDER}/{LATEST_RUN}"), file_bytes(value_of(run)), token)


def note_of(run: Run) -> RunNote:
    results = run.import_sync.results
    return RunNote(
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        imported=sum(result.imported_count for result in results),
        failed_sessions=sum(result.failed_count for result in results),
        recalled_events=run.recall.raw_event_count if run.recall.attempted else 0,
        archived_events=run.prune.archived_event_count,
        archived_checkpoints=run.prune.archived_checkpoint_count,
        expired_batches=run.prune.expired_archive_batch_count,
        errors=tuple(cut(text, _SAID_CHARS) for text in run.errors[:_SAID]),
        warnings=len(run.warnings),
    )


def read_runs(root: str) -> list[RunNote]:
    """The last runs, oldest first."""
    return _folded(_notes(read_local(root, FOLDER, RUNS).data or b""))[-RUNS_KEPT:]


def add_run(root: str, note: RunNote, token: str) -> None:
    """One line more; now and then the file is written anew with the last ones. The caller is alone with it."""
    found = read_local(root, FOLDER, RUNS)
    line = msgspec.json.encode(note) + b"\n"
    if found.problem is None and len(found.data or b"") + len(line) <= _RUNS_BYTES:
        ensure_local(root, FOLDER, token)
        disk.append_lightly(inside(root, place_of(FOLDER, RUNS)), line)
        return
    kept = _folded([*_notes(found.data or b""), note])[-RUNS_KEPT:]
    write_local(root, found, b"".join(msgspec.json.encode(item) + b"\n" for item in kept), token)


def _notes(data: bytes) -> list[RunNote]:
    found = (json_value(line, RunNote) for line in data.splitlines())
    return [note for note in found if note is not None]


def _folded(notes: Iterable[RunNote]) -> list[RunNote]:
    found: list[RunNote] = []
    for note in notes:
        before = found[-1] if found else None
        if before is not None and _is_quiet(before) and _is_quiet(note) and before.warnings == note.warnings:
            times = before.times + note.times
            found[-1] = msgspec.structs.replace(note, started_at=before.started_at, times=times)
        else:
            found.append(note)
    return found


def _is_quiet(note: RunNote) -> bool:
    done = (note.imported, note.archived_events, note.archived_checkpoints, note.expired_batches, note.failed_sessions)
    return note.status == "idle" and not any(done)


# -- the process that keeps the memory ------------------------------------------------------------


def ensure_automation(root: str) -> None:
    """Its folder, which may be no link."""
    ensure_folder(inside(root, f"{FOLDER}/{AUTOMATION}"))


def lock_path(root: str) -> str:
    return os.path.join(root, FOLDER, *DAEMON_LOCK.split("/"))


def daemon_path(root: str) -> str:
    return os.path.join(root, FOLDER, *DAEMON.split("/"))


def lock_bytes(pid: int, created_at: str) -> bytes:
    return file_bytes(value_of(DaemonLock(pid=pid, created_at=created_at)))


def parsed_lock(data: bytes) -> DaemonLock | None:
    with contextlib.suppress(QuireError):
        return read_daemon_lock(parse_document(data, f"{FOLDER}/{DAEMON_LOCK}"))
    return None


def read_keeper(root: str) -> Daemon | None:
    """How the process described itself; None where it did not, or nobody can read it."""
    return _read(root, DAEMON, read_daemon)


def read_lock(root: str) -> DaemonLock | None:
    """What the file of the lock says, whether or not anybody holds it."""
    return _read(root, DAEMON_LOCK, read_daemon_lock)


def _read(root: str, name: str, read: Callable[[Any], RecordT]) -> RecordT | None:
    """The record in a file of the automation; None where there is none that can be used."""
    with contextlib.suppress(QuireError):
        data = held_file(root, name)
        return read(parse_document(data, f"{FOLDER}/{name}")) if data is not None else None
    return None


def write_keeper(root: str, keeper: Daemon, token: str) -> None:
    write_file(inside(root, f"{FOLDER}/{DAEMON}"), file_bytes(value_of(keeper)), token)


def remove_keeper(root: str) -> None:
    with contextlib.suppress(OSError):
        disk.remove(daemon_path(root))


def has_files(root: str) -> bool:
    """Whether a process has left anything that says it is there."""
    return any(map(os.path.lexists, (lock_path(root), daemon_path(root))))


# -- its log --------------------------------------------------------------------------------------


def log_line(root: str, at: str, text: str) -> None:
    """A line for whoever wonders what happened. A log that cannot be written keeps nobody from anything."""
    with contextlib.suppress(QuireError, OSError):
        path = inside(root, place_of(FOLDER, LOG))
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path, follow_symlinks=False).st_size > LOG_BYTES:
                disk.rename(path, inside(root, place_of(FOLDER, OLDER_LOG)))
        said = " ".join(text.split())
        disk.append_lightly(path, f"{at} {cut(said, 4 * _SAID_CHARS)}\n".encode("utf-8", "replace"))


def last_logged(root: str) -> Sequence[str]:
    """The last line of the log, if there is one."""
    data = read_local(root, FOLDER, LOG).data or b""
    return data[-8192:].decode("utf-8", "replace").splitlines()[-1:]
