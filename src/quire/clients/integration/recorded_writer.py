"""Write files and record their earlier content, so that the change can be undone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

import msgspec

from quire.clients.integration.file_plan import FilePlan
from quire.clients.integration.file_writer import FileWriter, LeftAlone, WrittenFile, replace_file
from quire.clients.integration.manifest import Manifest, Manifests, Passage, make_manifest
from quire.clients.integration.types import Scope, Surroundings
from quire.files import disk
from quire.files.digests import sha256
from quire.files.durable_write import ensure_folder, writer_of
from quire.files.paths import escaping_part, read_if_there
from quire.files.world import World
from quire.guard.secrets import find_secrets
from quire.model.errors import QuireError

Planning = Callable[[bytes | None, Manifest | None], FilePlan | None]


class RecordedWriter(FileWriter):
    """Writes files of one scope, and keeps a record of each."""

    def __init__(self, scope: Scope, around: Surroundings, world: World, manifests: Manifests, dry_run: bool) -> None:
        super().__init__(scope, around, world, dry_run=dry_run)
        self.manifests = manifests

    def record(
        self, path: str, shown: str, asked: tuple[str, ...], clients: tuple[str, ...], planning: Planning
    ) -> WrittenFile:
        """Plan one file and change it: asked for by some clients, and from then on there for `clients`."""
        key = self.key(path)

        def plan(current: bytes | None) -> FilePlan | None:
            return planning(current, self.manifests.get(key))

        def apply(real: str, current: bytes | None, plan: FilePlan) -> None:
            known = self.manifests.get(key)
            manifest = self._manifest(key, known, plan, clients, current)
            if not self.dry_run:
                self._write_recorded(key, real, current, plan, manifest, known)

        return self.write(path, shown, asked, plan, apply)

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

    def _manifest(
        self, key: str, known: Manifest | None, plan: FilePlan, clients: tuple[str, ...], current: bytes | None
    ) -> Manifest | None:
        """What is to be known of the file from now on; nothing, where it is as it was before us."""
        if not clients or plan.after is None or plan.after == plan.base:
            return None
        manifest = make_manifest(key, self.scope, clients, plan.base, plan.after)
        taken = "\n".join(splice.removed for splice in manifest.splices)
        if any(finding.certain for finding in find_secrets(taken)):
            hint = "Remove it by hand, then run the command again."
            raise LeftAlone("the text to replace holds a secret, which would be kept in the record", hint)
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

    def _write_recorded(
        self,
        key: str,
        real: str,
        current: bytes | None,
        plan: FilePlan,
        manifest: Manifest | None,
        known: Manifest | None,
    ) -> None:
        was_own = self.manifests.vouches(known)
        if plan.after is None or manifest is None:
            # The file first: until the record goes, it says that the file may be as it was.
            if plan.after != current:
                replace_file(real, current, plan.after, self.world)
            if known is not None:
                self._let_go(known)
            return
        folders = _missing_folders(os.path.dirname(real))
        if folders:
            shown = tuple(self.key(folder) for folder in folders)
            manifest = msgspec.structs.replace(manifest, made_folders=tuple(sorted({*manifest.made_folders, *shown})))
        if plan.after == current:
            # Where only someone else's text differs, the record that is there is as good, and git sees no change.
            if known is None or known.earlier is not None or known.clients != manifest.clients:
                self.manifests.put(msgspec.structs.replace(manifest, earlier=None), is_own=True)
            return
        try:
            self.manifests.put(manifest, is_own=True)
            ensure_folder(os.path.dirname(real))
            replace_file(real, current, plan.after, self.world)
        except BaseException:
            with contextlib.suppress(OSError, QuireError):
                # What is in its place already keeps the record that tells the way back.
                if read_if_there(real) != plan.after:
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
        if writer_of(name) is not None:
            disk.remove(os.path.join(folder, name))


def _missing_folders(folder: str) -> list[str]:
    found: list[str] = []
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found
