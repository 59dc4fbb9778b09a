"""Taking a text out of everything that is ours: files of every layer, what is kept beside them, index, pages, map."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.files.writing import (
    RECOVERY,
)
from quire.layers.graph.layout import (
    FOLDER,
    INDEX,
)
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import INDEX as JOURNAL_INDEX
from quire.layers.journal.layout import LOCAL as JOURNAL_LOCAL
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.profile.layout import HOME_FOLDER
from quire.model.errors import Conflict, InputError, QuireError
from quire.project.mending import Mending

if TYPE_CHECKING:
    from quire.upkeep.purge.plan import Place

_FOLDERS = (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER)
_ATTEMPTS = 3


class Purged(msgspec.Struct, frozen=True, kw_only=True):
    """Where a text stood, and where it still does."""

    dry_run: bool = False
    texts: int
    """How many texts were looked for; none where no secret was found."""
    places: tuple[Place, ...] = ()
    left: tuple[Place, ...] = ()
    """Files that hold it and are not ours to change."""
    has_history: bool = False
    """Whether git may have it in earlier commits."""


class Purging(Mending):
    """No trace of it is left: no copy, no backup, nothing to undo it by."""

    def purge(self, texts: Sequence[str] = (), *, secrets: bool = False, dry_run: bool = False) -> Purged:
        """Take these texts, or every certain secret, out of every file of ours."""
        from quire.upkeep.purge.plan import secrets_below

        self._settle()
        folders = [folder for folder in _FOLDERS if self._has_folder(folder)]
        wanted = list(dict.fromkeys(map(_admitted, texts)))
        if secrets:
            wanted += [value for folder in folders for value in secrets_below(self.root, folder)]
            wanted += secrets_below(self._places().home, HOME_FOLDER) if self._has_home() else []
        wanted = sorted(dict.fromkeys(wanted), key=len, reverse=True)
        # All that can be refused is refused before anything is written.
        places = [place for text in wanted for place in self._stands(folders, text)]
        # Also where no file has it: what was taken out by hand, or by a purge that was killed, may be in the index.
        if not dry_run and wanted:
            self._refuse_unfit(folders)
            for folder in folders:
                self._purge_folder(folder, wanted)
            self._purge_home(wanted)
            self._made_anew()
        left = [place for text in wanted for place in self._left(folders, text, pages=not dry_run)]
        return Purged(
            dry_run=dry_run,
            texts=len(wanted),
            places=tuple(place for place in places if place.action != "left"),
            left=tuple(dict.fromkeys((*(place for place in places if place.action == "left"), *left))),
            has_history=self.git.available,
        )

    def _stands(self, folders: Sequence[str], text: str) -> list[Place]:
        from quire.upkeep.purge.plan import plan_purge

        found = [place for folder in folders for place in plan_purge(self.root, folder, text).places]
        if self._has_home():
            home = self._places().home
            for place in plan_purge(home, HOME_FOLDER, text).places:
                found.append(msgspec.structs.replace(place, path=self._told_place(os.path.join(home, place.path))))
        return found

    def _has_home(self) -> bool:
        """Whether private entries of any project are in the user's home."""
        home = self._places().home
        return bool(home) and os.path.isdir(os.path.join(home, HOME_FOLDER))

    def _told_place(self, path: str) -> str:
        home = self.world.home
        return f"~/{os.path.relpath(path, home)}" if home and path.startswith(f"{home}/") else path

    def _refuse_unfit(self, folders: Sequence[str]) -> None:
        """Storage of another version, and files that a merge left open, are not written to."""
        if FOLDER in folders:
            self.graph.config()
        for path in self.git.unmerged(list(folders)) if self.git.available else ():
            raise Conflict(
                f"Git holds `{path}` as unmerged; nothing was purged.",
                hint=f"Resolve the conflict, `git add {path}`, and purge again.",
            )

    def _purge_folder(self, folder: str, texts: Sequence[str]) -> None:
        from quire.files.transaction import apply_changes
        from quire.upkeep.purge.plan import plan_purge

        with self._right_to_repair(folder):
            top = os.path.join(self.root, folder)
            for text in texts:
                for attempt in range(1, _ATTEMPTS + 1):
                    changes = plan_purge(self.root, folder, text).changes
                    try:
                        if changes:
                            recovery = os.path.join(top, RECOVERY)
                            apply_changes(top, recovery, list(changes), [], self.world.token(), whole=True)
                        break
                    except Conflict:
                        if attempt == _ATTEMPTS:
                            raise

    def _purge_home(self, texts: Sequence[str]) -> None:
        from quire.files.durable import write_file
        from quire.files.writing import write_access
        from quire.layers.profile.layout import LOCK
        from quire.upkeep.purge.plan import plan_purge

        if not self._has_home():
            return
        home = self._places().home
        with write_access(home, HOME_FOLDER, self.world, "purge", lock=LOCK):
            for text in texts:
                for change in plan_purge(home, HOME_FOLDER, text).changes:
                    if change.data is not None:
                        write_file(os.path.join(home, HOME_FOLDER, change.path), change.data, self.world.token())

    def _made_anew(self) -> None:
        """What is made of the files: the index, as a new file; the map; the pages."""
        from quire.files.durable import write_file
        from quire.index.database import discard_database
        from quire.upkeep.guidance import stale_maps

        # A journal that was there before the graph had an index of its own.
        for names in ((FOLDER, INDEX), (JOURNAL_FOLDER, JOURNAL_LOCAL, JOURNAL_INDEX)):
            paths = [os.path.join(self.root, *names[: count + 1]) for count in range(len(names))]
            if os.path.isdir(paths[-1]) and not any(map(os.path.islink, paths)):
                discard_database(paths[-1])
        if self._has_folder(FOLDER):
            for path, _, after in stale_maps(self.root, self._map()):
                write_file(path, after, self.world.token())
        if os.path.isdir(os.path.join(self.root, JOURNAL_FOLDER, JOURNAL_LOCAL)):
            from quire.layers.journal.pages import write_pages
            from quire.layers.journal.store import open_journal

            with contextlib.suppress(QuireError), self._right_to_repair(JOURNAL_FOLDER):
                write_pages(self.root, open_journal(self.root).state, self.world)

    def _left(self, folders: Sequence[str], text: str, *, pages: bool) -> list[Place]:
        """What stands outside of our folders. Pages are made anew, so that they only count afterwards."""
        from quire.layers.journal.layout import PROJECTION_FILES, PROJECTIONS
        from quire.upkeep.purge.plan import texts_below

        names = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "README.md"]
        names += [f"{PROJECTIONS}/{name}" for name in PROJECTION_FILES.values()] if pages else []
        return texts_below(self.root, folders, text, names)


def _admitted(text: str) -> str:
    from quire.upkeep.purge.forms import PURGED, SHORTEST

    found = text.strip("\r\n")
    if len(found) < SHORTEST:
        raise InputError(
            f"A text of fewer than {SHORTEST} characters is not purged: it would be found in too many places.",
            hint="Give it with more of what stands around it.",
        )
    if found in PURGED * len(found):
        raise InputError(f"`{PURGED}` is what takes the place of a text.", hint="There is nothing to take out.")
    return found
