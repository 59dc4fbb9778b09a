"""Taking a text out of everything that is ours: files of every layer, what is kept beside them, index, pages, map."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.files.write_access import (
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
from quire.project import Project
from quire.verbs.admin.repair import has_folder, repair_access

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


def purge(project: Project, texts: Sequence[str] = (), *, secrets: bool = False, dry_run: bool = False) -> Purged:
    """Take these texts, or every certain secret, out of every file of ours."""
    from quire.upkeep.purge.plan import secrets_below

    project.recover()
    folders = [folder for folder in _FOLDERS if has_folder(project, folder)]
    wanted = list(dict.fromkeys(map(_admitted, texts)))
    if secrets:
        wanted += [value for folder in folders for value in secrets_below(project.root, folder)]
        wanted += secrets_below(project.profile_places().home, HOME_FOLDER) if _has_home(project) else []
    wanted = sorted(dict.fromkeys(wanted), key=len, reverse=True)
    # All that can be refused is refused before anything is written.
    places = [place for text in wanted for place in _stands(project, folders, text)]
    # Also where no file has it: what was taken out by hand, or by a purge that was killed, may be in the index.
    if not dry_run and wanted:
        _refuse_unfit(project, folders)
        for folder in folders:
            _purge_folder(project, folder, wanted)
        _purge_home(project, wanted)
        _made_anew(project)
    left = [place for text in wanted for place in _left(project, folders, text, pages=not dry_run)]
    return Purged(
        dry_run=dry_run,
        texts=len(wanted),
        places=tuple(place for place in places if place.action != "left"),
        left=tuple(dict.fromkeys((*(place for place in places if place.action == "left"), *left))),
        has_history=project.git.available,
    )


def _stands(project: Project, folders: Sequence[str], text: str) -> list[Place]:
    from quire.upkeep.purge.plan import plan_purge

    found = [place for folder in folders for place in plan_purge(project.root, folder, text).places]
    if _has_home(project):
        home = project.profile_places().home
        for place in plan_purge(home, HOME_FOLDER, text).places:
            found.append(msgspec.structs.replace(place, path=_told_place(project, os.path.join(home, place.path))))
    return found


def _has_home(project: Project) -> bool:
    """Whether private entries of any project are in the user's home."""
    home = project.profile_places().home
    return bool(home) and os.path.isdir(os.path.join(home, HOME_FOLDER))


def _told_place(project: Project, path: str) -> str:
    home = project.world.home
    return f"~/{os.path.relpath(path, home)}" if home and path.startswith(f"{home}/") else path


def _refuse_unfit(project: Project, folders: Sequence[str]) -> None:
    """Storage of another version, and files that a merge left open, are not written to."""
    if FOLDER in folders:
        project.graph.config()
    for path in project.git.unmerged(list(folders)) if project.git.available else ():
        raise Conflict(
            f"Git holds `{path}` as unmerged; nothing was purged.",
            hint=f"Resolve the conflict, `git add {path}`, and purge again.",
        )


def _purge_folder(project: Project, folder: str, texts: Sequence[str]) -> None:
    from quire.files.transaction import apply_changes
    from quire.upkeep.purge.plan import plan_purge

    with repair_access(project, folder):
        top = os.path.join(project.root, folder)
        for text in texts:
            for attempt in range(1, _ATTEMPTS + 1):
                changes = plan_purge(project.root, folder, text).changes
                try:
                    if changes:
                        recovery = os.path.join(top, RECOVERY)
                        apply_changes(top, recovery, list(changes), [], project.world.token(), whole=True)
                    break
                except Conflict:
                    if attempt == _ATTEMPTS:
                        raise


def _purge_home(project: Project, texts: Sequence[str]) -> None:
    from quire.files.durable_write import write_file
    from quire.files.write_access import write_access
    from quire.layers.profile.layout import LOCK
    from quire.upkeep.purge.plan import plan_purge

    if not _has_home(project):
        return
    home = project.profile_places().home
    with write_access(home, HOME_FOLDER, project.world, "purge", lock=LOCK):
        for text in texts:
            for change in plan_purge(home, HOME_FOLDER, text).changes:
                if change.data is not None:
                    write_file(os.path.join(home, HOME_FOLDER, change.path), change.data, project.world.token())


def _made_anew(project: Project) -> None:
    """What is made of the files: the index, as a new file; the map; the pages."""
    from quire.files.durable_write import write_file
    from quire.index.database import discard_database
    from quire.upkeep.guidance import stale_maps

    # A journal that was there before the graph had an index of its own.
    for names in ((FOLDER, INDEX), (JOURNAL_FOLDER, JOURNAL_LOCAL, JOURNAL_INDEX)):
        paths = [os.path.join(project.root, *names[: count + 1]) for count in range(len(names))]
        if os.path.isdir(paths[-1]) and not any(map(os.path.islink, paths)):
            discard_database(paths[-1])
    if has_folder(project, FOLDER):
        for path, _, after in stale_maps(project.root, project.product_map()):
            write_file(path, after, project.world.token())
    if os.path.isdir(os.path.join(project.root, JOURNAL_FOLDER, JOURNAL_LOCAL)):
        from quire.layers.journal.pages import write_pages
        from quire.layers.journal.store import open_journal

        with contextlib.suppress(QuireError), repair_access(project, JOURNAL_FOLDER):
            write_pages(project.root, open_journal(project.root).state, project.world)


def _left(project: Project, folders: Sequence[str], text: str, *, pages: bool) -> list[Place]:
    """What stands outside of our folders. Pages are made anew, so that they only count afterwards."""
    from quire.layers.journal.layout import PROJECTION_FILES, PROJECTIONS
    from quire.upkeep.purge.plan import texts_below

    names = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "README.md"]
    names += [f"{PROJECTIONS}/{name}" for name in PROJECTION_FILES.values()] if pages else []
    return texts_below(project.root, folders, text, names)


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
