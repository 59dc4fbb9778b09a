"""Record what we wrote outside the memory's folders: one small file each, enough to undo it exactly.

Those of a project lie in `.memory/integrations/` and are committed with it, so that anyone can take the wiring back;
those of a user lie in the same folder of `$MEMORY_HOME`. Such a file is written before the file that it tells of, with
the states before and after: whichever of the two a crash leaves, the way back is known.

A record of a project comes with the repository, whoever wrote it there. So it is believed only as far as the way back
takes out what is ours. What stood in our place before is put back where this user replaced it on this machine: of that,
a note lies with the user's own records.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable

import msgspec

from quire.clients.integration.types import Scope
from quire.files import disk
from quire.files.byte_edits import ByteEdit, find_edits, undo_edits
from quire.files.digests import hex_digest, sha256
from quire.files.durable_write import ensure_folder, write_file
from quire.files.json_files import pretty
from quire.files.local_files import ASIDE
from quire.files.paths import PASSING, read_bytes, storage_failed
from quire.files.world import World
from quire.model.errors import UnsupportedVersion
from quire.model.records import Problem

FOLDER = "integrations"
VERSION = 1
_NOTE = ".own"
_START = re.compile(rb"<!-- (memory(?::map)?):start -->")


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """One way from a file as it was to the file as we wrote it. A digest of None means that there was no file."""

    before: str | None
    after: str
    splices: tuple[ByteEdit, ...] = ()


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What we wrote to one file, and for whom."""

    version: int
    path: str
    scope: Scope
    clients: tuple[str, ...]
    before: str | None
    after: str
    splices: tuple[ByteEdit, ...] = ()
    """How to get from the one to the other; not needed where there was no file."""
    made: tuple[tuple[str, ...], ...] = ()
    """Keys that the file has only since then."""
    made_folders: tuple[str, ...] = ()
    earlier: Passage | None = None
    """What the file was before the change that is under way; gone when it is made."""


class Manifests:
    """The manifests of one scope, by the path of the file that each tells of."""

    def __init__(self, folder: str, world: World, *, private: bool) -> None:
        self.folder = folder
        self.world = world
        self.private = private
        self.problems: list[Problem] = []
        self._newer: list[UnsupportedVersion] = []
        self._spoiled: set[str] = set()
        self._found = self._read_all()

    def vouches(self, manifest: Manifest | None) -> bool:
        """Whether this user wrote a record on this machine; any other may say whatever it likes."""
        return manifest is not None and (self.private or os.path.isfile(self._note(manifest)))

    def refuse_newer(self) -> None:
        """Whoever changes something must know all of what was written; whoever looks need not."""
        for error in self._newer:
            raise error

    def get(self, path: str) -> Manifest | None:
        return self._found.get(path)

    def all(self) -> list[Manifest]:
        return list(self._found.values())

    def put(self, manifest: Manifest, *, is_own: bool = False) -> None:
        """Keep a record; `is_own` where it was made here, or was vouched for as it was before."""
        ensure_folder(self.folder)
        if self.private and os.stat(self.folder).st_mode & 0o077:
            # What was replaced in a user's files is nobody else's business.
            disk.set_mode(self.folder, 0o700)
        known = self._found.get(manifest.path)
        if is_own and not self.private and _brings_back(manifest):
            # A home that takes no note is no reason to stop: the record still holds what was replaced.
            with contextlib.suppress(OSError):
                ensure_folder(os.path.dirname(self._note(manifest)))
                write_file(self._note(manifest), f"{self._file(manifest.path)}\n".encode(), self.world.token())
        file = self._file(manifest.path)
        if os.path.islink(file):
            # A repository can bring one, and writing keeps links: it would lead to any file of the user.
            disk.remove(file)
        elif file in self._spoiled and not os.path.lexists(file + ASIDE):
            disk.rename(file, file + ASIDE)
        write_file(file, pretty(msgspec.to_builtins(manifest)), self.world.token())
        self._found[manifest.path] = manifest
        if known is not None and known != manifest:
            self._forget(known)

    def remove(self, path: str) -> None:
        known = self._found.pop(path, None)
        if known is not None:
            disk.remove(self._file(path))
            disk.sync_folder(self.folder)
            self._forget(known)

    def tidy(self) -> None:
        """Without records there is not a folder for them."""
        if not self._found and not os.path.islink(self.folder):
            with contextlib.suppress(OSError):
                disk.remove_folder(self.folder)

    def _file(self, path: str) -> str:
        shown = os.path.basename(path) if os.path.isabs(path) else path
        name = re.sub(r"[^A-Za-z0-9]+", "-", shown).strip("-")[-60:]
        return os.path.join(self.folder, f"{name}-{hex_digest(path)[:8]}.json")

    def _note(self, manifest: Manifest) -> str:
        said = f"{os.path.realpath(self.folder)}\n{pretty(msgspec.to_builtins(manifest)).decode()}"
        return os.path.join(self.world.memory_home, FOLDER, f"{hex_digest(said)}{_NOTE}")

    def _forget(self, manifest: Manifest) -> None:
        if not self.private and _brings_back(manifest):
            with contextlib.suppress(OSError):
                disk.remove(self._note(manifest))

    def _read_all(self) -> dict[str, Manifest]:
        found: dict[str, Manifest] = {}
        if os.path.islink(self.folder) or not os.path.isdir(self.folder):
            return found
        for name in sorted(os.listdir(self.folder)):
            if name.startswith(".") or not name.endswith(".json"):
                continue
            file = os.path.join(self.folder, name)
            try:
                manifest = _read(file)
            except UnsupportedVersion as error:
                self._newer.append(error)
                self.problems.append(_unused(file, str(error), error.hint or "", code="LocalStateNewer"))
                continue
            except (OSError, ValueError, RecursionError) as error:
                if isinstance(error, OSError) and error.errno in PASSING:
                    # Nothing is wrong with it, and without it the way back would be a guess.
                    raise storage_failed(error, f"read `{FOLDER}/{name}`", self.folder) from error
                hint = "Restore it with git, or remove it and run `memory integrate` again."
                why = f"It cannot be read ({error});"
                self.problems.append(_unused(file, why, hint, code="IntegrationRecordDamaged"))
                self._spoiled.add(file)
                continue
            if self._file(manifest.path) == file:
                found[manifest.path] = manifest
        return found


def make_manifest(path: str, scope: Scope, clients: tuple[str, ...], base: bytes | None, after: bytes) -> Manifest:
    """The record of a change, with the way back."""
    return Manifest(
        version=VERSION,
        path=path,
        scope=scope,
        clients=clients,
        before=None if base is None else sha256(base),
        after=sha256(after),
        splices=() if base is None else find_edits(base, after),
    )


def known_base(
    manifest: Manifest | None, current: bytes | None, agrees: Callable[[bytes | None], bool] | None = None
) -> tuple[bytes | None, bool]:
    """The file as it was before us, and whether it is certain: only where nobody else wrote to it since.

    `agrees` says whether the way back does no more than to take out what is ours; by default, marked sections.
    """
    believed = agrees or (lambda base: _words_of_others(base) == _words_of_others(current))
    if manifest is None:
        return None, False
    digest = None if current is None else sha256(current)
    for passage in (manifest, manifest.earlier):
        if passage is None:
            continue
        if digest == passage.before:
            return current, True
        if current is None or digest != passage.after:
            continue
        if passage.before is None and believed(None):
            return None, True
        with contextlib.suppress(ValueError):
            base = undo_edits(current, passage.splices)
            if sha256(base) == passage.before and believed(base):
                return base, True
    return None, False


def _words_of_others(data: bytes | None) -> list[bytes]:
    """What stands outside of our sections. One that has no end is none, and is looked for no further."""
    held, words, at, endless = data or b"", list[bytes](), 0, set[bytes]()
    for start in _START.finditer(held):
        end = b"<!-- " + start[1] + b":end -->"
        if start.start() < at or end in endless:
            continue
        found = held.find(end, start.end())
        if found < 0:
            endless.add(end)
            continue
        words += held[at : start.start()].split()
        at = found + len(end)
    return words + held[at:].split()


def _brings_back(manifest: Manifest) -> bool:
    """Whether the way back has words in it, and not only blanks and brackets."""
    passages = (manifest, manifest.earlier) if manifest.earlier else (manifest,)
    return any(re.search(r"\w", splice.removed) for passage in passages for splice in passage.splices)


def _read(file: str) -> Manifest:
    data = read_bytes(file)
    version = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("version")
    if version is not None and bytes(version).strip().isdigit() and int(bytes(version)) > VERSION:
        raise UnsupportedVersion(
            f"`{os.path.basename(file)}` was written by a newer version of Quire.",
            hint="Update Quire, then run the command again.",
            details={"path": file},
        )
    return msgspec.json.decode(data, type=Manifest)


def _unused(file: str, why: str, hint: str, *, code: str) -> Problem:
    path = os.path.join(FOLDER, os.path.basename(file))
    said = f"{why} Quire now recognises its own text only by its form."
    return Problem(code=code, severity="warning", path=path, message=said, hint=hint)
