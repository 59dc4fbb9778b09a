"""Read, plan and write a client's file; write it only if it has not changed in between."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable

import msgspec

from quire.clients.integration.diffs import unified
from quire.clients.integration.file_plan import FilePlan, PartOutcome
from quire.clients.integration.types import FileDone, Scope, Status, Surroundings
from quire.files import disk
from quire.files.durable_write import ensure_folder, sweep_temporaries, write_file
from quire.files.paths import follow_inside, read_if_there
from quire.files.world import World
from quire.model.errors import Conflict, QuireError

BY_HAND = "Fix the file by hand, then run the command again. It was not changed."
_TRIES = 3
_CLOSED = (".git", ".memory")
"""Where no client keeps anything: a link that leads there was made by someone who wants it written to."""


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a file and of the parts in it; no file, where there was nothing to do."""

    file: FileDone | None = None
    outcomes: dict[tuple[str, str], PartOutcome] = {}
    fault: PartOutcome | None = None
    """What kept the whole file from being changed; then it stands for every part of it."""


class LeftAlone(Exception):
    """A file that is left alone: why, and what to do about it."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class FileWriter:
    """Writes files of one scope: the project's, or the user's own."""

    def __init__(self, scope: Scope, around: Surroundings, world: World, *, dry_run: bool = False) -> None:
        self.scope = scope
        self.around = around
        self.world = world
        self.dry_run = dry_run

    def read(self, path: str) -> bytes | None:
        """What a file holds; None where there is none."""
        return read_if_there(self._real(path))

    def write(
        self,
        path: str,
        shown: str,
        clients: tuple[str, ...],
        planning: Callable[[bytes | None], FilePlan | None],
        apply: Callable[[str, bytes | None, FilePlan], None] | None = None,
    ) -> WrittenFile:
        """Plan one file for these clients and change it, by default in no other way than by writing it.

        What is wrong with it is reported, and stops nothing else.
        """
        for attempt in range(_TRIES):
            try:
                return self._write(path, shown, clients, planning, apply or self._replace)
            except Conflict as error:
                if attempt == _TRIES - 1:
                    return self._fault(shown, clients, "failed", error.message, error.hint or "")
            except ValueError as error:
                return self._fault(shown, clients, "unreadable", f"{error}".rstrip("."), BY_HAND)
            except LeftAlone as error:
                return self._fault(shown, clients, "refused", error.reason, error.hint)
            except QuireError as error:
                return self._fault(shown, clients, "failed", error.message, error.hint or "")
            except OSError as error:
                reason = f"it cannot be used ({error.strerror or error})"
                return self._fault(shown, clients, "unreadable", reason, "Check its owner and its type.")
        raise AssertionError("unreachable")

    def sweep(self, folders: Iterable[str]) -> None:
        """Take away what writers that died left in these folders."""
        for folder in folders:
            with contextlib.suppress(OSError, QuireError, LeftAlone):
                sweep_temporaries(folder if folder == self.around.root else self._real(folder))

    def _write(
        self,
        path: str,
        shown: str,
        clients: tuple[str, ...],
        planning: Callable[[bytes | None], FilePlan | None],
        apply: Callable[[str, bytes | None, FilePlan], None],
    ) -> WrittenFile:
        real = self._real(path)
        current = read_if_there(real)
        plan = planning(current)
        if plan is None:
            return WrittenFile()
        status = _status(current, plan.after)
        if status != "unchanged" and current is not None and not os.stat(real).st_mode & stat.S_IWUSR:
            raise LeftAlone("it is read-only", "Make it writable, then run the command again.")
        done = FileDone(
            path=shown,
            scope=self.scope,
            status=status,
            clients=clients,
            diff=unified(current, plan.after, shown) if self.dry_run else "",
        )
        if not plan.is_left:
            apply(real, current, plan)
        return WrittenFile(file=done, outcomes=dict(plan.outcomes))

    def _replace(self, real: str, current: bytes | None, plan: FilePlan) -> None:
        if not self.dry_run and plan.after != current:
            ensure_folder(os.path.dirname(real))
            replace_file(real, current, plan.after, self.world)

    def _real(self, path: str) -> str:
        if self.scope == "user":
            return os.path.realpath(path)
        real = follow_inside(self.around.root, os.path.relpath(path, self.around.root))
        first = os.path.relpath(real, os.path.realpath(self.around.root)).split(os.sep)[0]
        if first in _CLOSED:
            raise LeftAlone(f"it is a link into `{first}`", "Replace the link with a regular file.")
        return real

    def _fault(self, shown: str, clients: tuple[str, ...], status: Status, reason: str, hint: str) -> WrittenFile:
        file = FileDone(path=shown, scope=self.scope, status=status, clients=clients, reason=reason, hint=hint)
        return WrittenFile(file=file, fault=PartOutcome(status, reason))


def replace_file(real: str, current: bytes | None, after: bytes | None, world: World) -> None:
    if after is not None:
        write_file(real, after, world.token(), expects=current)
        return
    if read_if_there(real) != current:
        raise Conflict(f"`{os.path.basename(real)}` was changed by another program.", hint="Run it again.")
    disk.remove(real)
    disk.sync_folder(os.path.dirname(real))


def _status(current: bytes | None, after: bytes | None) -> Status:
    if current == after:
        return "unchanged"
    return "created" if current is None else "removed" if after is None else "updated"
