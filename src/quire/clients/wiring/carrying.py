"""Carrying a plan out: the file is found, read, planned, and written only if it is still what was read."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable

import msgspec

from quire.clients.wiring.diffs import unified
from quire.clients.wiring.manifest import Manifest, Manifests, Passage, make_manifest
from quire.clients.wiring.planning import Outcome, Plan
from quire.clients.wiring.types import FileDone, Scope, Status, Surroundings
from quire.files import disk
from quire.files.digests import sha256
from quire.files.durable_write import ensure_folder, sweep_temporaries, write_file
from quire.files.paths import escaping_part, follow_inside, read_bytes
from quire.files.world import World
from quire.guard.secrets import find_secrets
from quire.model.errors import Conflict, QuireError

_TRIES = 3
_CLOSED = (".git", ".memory")
"""Where no client keeps anything: a link that leads there was made by somebody who wants it written to."""
_TEMPORARY = re.compile(r"\.quire-\d+-.+\.tmp")

Planning = Callable[[bytes | None, Manifest | None], Plan | None]


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a file and of the parts in it; no file, where there was nothing to do."""

    file: FileDone | None = None
    outcomes: dict[tuple[str, str], Outcome] = {}
    fault: Outcome | None = None
    """What kept the whole file from being changed; then it stands for every part of it."""


class Carrier:
    """One run over the files of a scope."""

    def __init__(self, scope: Scope, around: Surroundings, world: World, manifests: Manifests, dry_run: bool) -> None:
        self.scope = scope
        self.around = around
        self.world = world
        self.manifests = manifests
        self.dry_run = dry_run

    def carry(
        self, path: str, shown: str, asked: tuple[str, ...], clients: tuple[str, ...], planning: Planning
    ) -> Carried:
        """Plan one file and change it: asked for by some clients, and from then on there for `clients`.

        What is wrong with it is told, and stops nothing else.
        """
        for attempt in range(_TRIES):
            try:
                return self._carry(path, shown, asked, clients, planning)
            except Conflict as error:
                if attempt == _TRIES - 1:
                    return _fault(shown, self.scope, asked, "failed", error.message, error.hint or "")
            except ValueError as error:
                reason = f"{error}".rstrip(".")
                hint = "Mend the file by hand, then run the command again. It was not touched."
                return _fault(shown, self.scope, asked, "unreadable", reason, hint)
            except _Refused as error:
                return _fault(shown, self.scope, asked, "refused", error.reason, error.hint)
            except QuireError as error:
                return _fault(shown, self.scope, asked, "failed", error.message, error.hint or "")
            except OSError as error:
                reason = f"it cannot be used ({error.strerror or error})"
                return _fault(shown, self.scope, asked, "unreadable", reason, "Check who owns it, and what it is.")
        raise AssertionError("unreachable")

    def sweep(self, folders: Iterable[str]) -> None:
        """Take away what writers that died left in these folders."""
        for folder in folders:
            with contextlib.suppress(OSError, QuireError, _Refused):
                sweep_temporaries(folder if folder == self.around.root else self._real(folder))

    def _carry(
        self, path: str, shown: str, asked: tuple[str, ...], clients: tuple[str, ...], planning: Planning
    ) -> Carried:
        real = self._real(path)
        current = _read(real)
        key = self.key(path)
        known = self.manifests.get(key)
        plan = planning(current, known)
        if plan is None:
            return Carried()
        status = _status(current, plan.after)
        if status != "unchanged" and current is not None and not os.stat(real).st_mode & stat.S_IWUSR:
            raise _Refused("it is read-only", "Make it writable, then run the command again.")
        done = FileDone(
            path=shown,
            scope=self.scope,
            status=status,
            clients=asked,
            diff=unified(current, plan.after, shown) if self.dry_run else "",
        )
        if not plan.is_left:
            manifest = self._manifest(key, known, plan, clients, current)
            if not self.dry_run:
                self._write(path, real, current, plan, manifest, known)
        return Carried(file=done, outcomes=dict(plan.outcomes))

    def _manifest(
        self, key: str, known: Manifest | None, plan: Plan, clients: tuple[str, ...], current: bytes | None
    ) -> Manifest | None:
        """What is to be known of the file from now on; nothing, where it is as it was before us."""
        if not clients or plan.after is None or plan.after == plan.base:
            return None
        manifest = make_manifest(key, self.scope, clients, plan.base, plan.after)
        taken = "\n".join(splice.removed for splice in manifest.splices)
        if any(finding.certain for finding in find_secrets(taken)):
            hint = "Take it out by hand, then run the command again."
            raise _Refused("what would be replaced holds a secret, which would be kept in the record", hint)
        earlier = None
        is_before = known is not None and current is not None and current != plan.after
        # A record that was not believed tells of another base.
        if known and is_before and current and sha256(current) == known.after and known.before == manifest.before:
            earlier = Passage(before=known.before, after=known.after, splices=known.splices)
        return msgspec.structs.replace(
            manifest,
            made=tuple(sorted(plan.made)),
            made_folders=known.made_folders if known else (),
            earlier=earlier,
        )

    def _write(
        self, path: str, real: str, current: bytes | None, plan: Plan, manifest: Manifest | None, known: Manifest | None
    ) -> None:
        key = self.key(path)
        was_own = self.manifests.vouches(known)
        if plan.after is None or manifest is None:
            # The file first: until the record goes, it says that the file may be as it was.
            if plan.after != current:
                _replace(real, current, plan.after, self.world)
            if known is not None:
                self._let_go(known)
            return
        folders = _missing_folders(os.path.dirname(real))
        if folders:
            shown = tuple(self.key(folder) for folder in folders)
            manifest = msgspec.structs.replace(manifest, made_folders=tuple(sorted({*manifest.made_folders, *shown})))
        if plan.after == current:
            # Where only somebody else's text differs, the record that is there is as good, and git sees no change.
            if known is None or known.earlier is not None or known.clients != manifest.clients:
                self.manifests.put(msgspec.structs.replace(manifest, earlier=None), is_own=True)
            return
        try:
            self.manifests.put(manifest, is_own=True)
            ensure_folder(os.path.dirname(real))
            _replace(real, current, plan.after, self.world)
        except BaseException:
            with contextlib.suppress(OSError, QuireError):
                # What is in its place already keeps the record that tells the way back.
                if _read(real) != plan.after:
                    _remove_folders(folders)
                    self._put_back(key, known, was_own)
            raise
        if manifest.earlier is not None:
            self.manifests.put(msgspec.structs.replace(manifest, earlier=None), is_own=True)

    def _let_go(self, known: Manifest) -> None:
        """The record of a file that is as it was goes, and with it the folders that came with the file, if empty."""
        top = self.around.root
        own = [os.path.join(top, folder) for folder in known.made_folders if self._is_above(folder, known.path)]
        left = {self.key(folder) for folder in _remove_folders(own)}
        for other in self.manifests.all() if left else ():
            inherited = {folder for folder in left if other.path != known.path and self._is_above(folder, other.path)}
            if not inherited <= {*other.made_folders}:
                folders = tuple(sorted({*other.made_folders, *inherited}))
                changed = msgspec.structs.replace(other, made_folders=folders)
                self.manifests.put(changed, is_own=self.manifests.vouches(other))
        self.manifests.remove(known.path)

    def _is_above(self, folder: str, path: str) -> bool:
        """Whether a folder leads to a file. A record is a file like any other, and a repository may bring its own."""
        if self.scope == "user":
            return os.path.isabs(folder) and os.path.realpath(path).startswith(os.path.join(folder, ""))
        return escaping_part(folder) is None and path.startswith(os.path.join(folder, ""))

    def _put_back(self, key: str, known: Manifest | None, was_own: bool) -> None:
        if known is None:
            self.manifests.remove(key)
        else:
            self.manifests.put(known, is_own=was_own)

    def _real(self, path: str) -> str:
        if self.scope == "user":
            return os.path.realpath(path)
        real = follow_inside(self.around.root, os.path.relpath(path, self.around.root))
        first = os.path.relpath(real, os.path.realpath(self.around.root)).split(os.sep)[0]
        if first in _CLOSED:
            raise _Refused(f"it is a link into `{first}`", "Replace the link by a file of its own.")
        return real

    def key(self, path: str) -> str:
        """A path as the record has it: of a project without the project's own place."""
        if self.scope == "user":
            return path
        top = (
            self.around.root
            if path.startswith(os.path.join(self.around.root, ""))
            else os.path.realpath(self.around.root)
        )
        return os.path.relpath(path, top)


class _Refused(Exception):
    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def _remove_folders(folders: list[str]) -> list[str]:
    """Folders that are empty go, the inner ones first; those that are not are returned."""
    left = []
    for folder in sorted(folders, key=len, reverse=True):
        if os.path.islink(folder) or not os.path.isdir(folder):
            continue
        try:
            _sweep(folder)
            if os.listdir(folder):
                left.append(folder)
            else:
                disk.remove_folder(folder)
        except OSError:
            left.append(folder)
    return left


def _sweep(folder: str) -> None:
    """What a writer that was killed left in a folder that came with us. We hold the lock: it is nobody's any more."""
    for name in os.listdir(folder):
        if _TEMPORARY.fullmatch(name):
            disk.remove(os.path.join(folder, name))


def _replace(real: str, current: bytes | None, after: bytes | None, world: World) -> None:
    if after is not None:
        write_file(real, after, world.token(), expects=current)
        return
    if _read(real) != current:
        raise Conflict(f"`{os.path.basename(real)}` was changed by somebody else.", hint="Run it again.")
    disk.remove(real)
    disk.sync_folder(os.path.dirname(real))


def _read(real: str) -> bytes | None:
    try:
        return read_bytes(real)
    except FileNotFoundError:
        return None


def _missing_folders(folder: str) -> list[str]:
    found: list[str] = []
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found


def _status(current: bytes | None, after: bytes | None) -> Status:
    if current == after:
        return "unchanged"
    return "created" if current is None else "removed" if after is None else "updated"


def _fault(shown: str, scope: Scope, clients: tuple[str, ...], status: Status, reason: str, hint: str) -> Carried:
    file = FileDone(path=shown, scope=scope, status=status, clients=clients, reason=reason, hint=hint)
    return Carried(file=file, fault=Outcome(status, reason))
