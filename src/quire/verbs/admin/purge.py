"""`memory purge`: remove a text from every layer's files, local state, index, pages and map."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import msgspec

from quire.files.durable_write import write_file
from quire.files.layout import INDEX, MEMORY
from quire.files.transaction import apply_changes
from quire.files.write_access import LockedFolder, write_access
from quire.index.database import discard_database
from quire.layers.protocol import MEMORY_HOME
from quire.layers.table import HOMES, LAYERS
from quire.model.errors import Conflict, InputError, UsageError
from quire.model.text import counted
from quire.project import Project
from quire.upkeep.guidance import stale_maps
from quire.upkeep.purge.forms import PURGED, SHORTEST
from quire.upkeep.purge.plan import Place, plan_purge, secrets_below, texts_below
from quire.verbs.admin.repair import repair_access
from quire.verbs.ask.product_map import product_map
from quire.verbs.verb import Arguments, Lines, Option, Result, Styled, Verb, Word

_ATTEMPTS = 3
_SHOWN = 40


class Purge(Arguments, frozen=True, kw_only=True):
    text: Annotated[str | None, Word(required=False, stdin="The text", unless="secrets", secret=True)] = None
    secrets: Annotated[bool, Option(help="Every secret that `memory check` reports as certain.")] = False
    yes: Annotated[bool, Option(help="Do not ask.")] = False
    dry_run: Annotated[bool, Option(help="Show where it is, change nothing.")] = False


class Purged(Result, kw_only=True):
    """Where a text stood, and where it still does. The texts themselves are not in it."""

    dry_run: bool = False
    texts: int
    """How many texts were looked for; none where no secret was found."""
    places: tuple[Place, ...] = ()
    left: tuple[Place, ...] = ()
    """Files that hold it and are not ours to change."""
    has_history: bool = False
    """Whether git may have it in earlier commits."""


def purge_memory(project: Project, given: Purge) -> Purged:
    """Remove a text from every file of the memory, including backups. This cannot be undone.

    Use it for text that should never have been written down. The command reads the text from standard input or asks
    for it, because shells remember command lines. [purged] replaces it in records, facts, profile, journal, inbox,
    notes, logs, backups and recovery copies; digests are recomputed, repair copies that hold it are removed, and the
    index is rebuilt. Copies in git history are listed; rewriting history is up to you. Always
    replace a secret that was written down.
    """
    if not given.dry_run and not given.yes:
        raise UsageError(
            "A purge asks before it changes anything, and this is not a terminal.",
            hint="Repeat the command with --yes or --dry-run.",
        )
    texts = [] if given.text is None else [given.text]
    return purge(project, texts, secrets=given.secrets, dry_run=given.dry_run)


def purge(project: Project, texts: Sequence[str] = (), *, secrets: bool = False, dry_run: bool = False) -> Purged:
    """Take these texts, or every certain secret, out of every file of ours."""
    project.recover()
    folders = [home.folder for home in HOMES if home.exists(project.root)]
    wanted = list(dict.fromkeys(map(_admitted, texts)))
    if secrets:
        wanted += [value for folder in folders for value in secrets_below(project.root, folder)]
        wanted += [value for place in _outside(project) for value in secrets_below(place.root, place.folder)]
    wanted = sorted(dict.fromkeys(wanted), key=len, reverse=True)
    # All that can be refused is refused before anything is written.
    places = [place for text in wanted for place in _stands(project, folders, text)]
    # Also where no file has it: what was taken out by hand, or by a purge that was killed, may be in the index.
    if not dry_run and wanted:
        _refuse_unfit(project, folders)
        for folder in folders:
            _purge_folder(project, folder, wanted)
        _purge_outside(project, wanted)
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
    found = [place for folder in folders for place in plan_purge(project.root, folder, text).places]
    for outside in _outside(project):
        for place in plan_purge(outside.root, outside.folder, text).places:
            told = _told_place(project, os.path.join(outside.root, place.path))
            found.append(msgspec.structs.replace(place, path=told))
    return found


def _outside(project: Project) -> list[LockedFolder]:
    """Folders outside of the project that hold files of ours: such as private entries in the user's home."""
    return [place for layer in LAYERS if (place := layer.outside(project)) is not None]


def _told_place(project: Project, path: str) -> str:
    home = project.world.home
    return f"~/{os.path.relpath(path, home)}" if home and path.startswith(f"{home}/") else path


def _refuse_unfit(project: Project, folders: Sequence[str]) -> None:
    """Storage of another version, and files that a merge left open, are not written to."""
    for layer in LAYERS:
        layer.refuse_other_version(project)
    for path in project.git.unmerged(list(folders)) if project.git.available else ():
        raise Conflict(
            f"`{path}` has an unresolved merge; nothing was purged.",
            hint=f"`memory resolve` merges it by record. Then `git add {path}`, and purge again.",
        )


def _purge_folder(project: Project, folder: str, texts: Sequence[str]) -> None:
    with repair_access(project, folder):
        top = os.path.join(project.root, folder)
        for text in texts:
            for attempt in range(1, _ATTEMPTS + 1):
                changes = plan_purge(project.root, folder, text).changes
                try:
                    if changes:
                        apply_changes(top, list(changes), [], project.world.token(), whole=True)
                    break
                except Conflict:
                    if attempt == _ATTEMPTS:
                        raise


def _purge_outside(project: Project, texts: Sequence[str]) -> None:
    for place in _outside(project):
        with write_access(place.root, place.folder, project.world, "purge", lock=place.lock):
            for text in texts:
                for change in plan_purge(place.root, place.folder, text).changes:
                    if change.data is not None:
                        write_file(os.path.join(place.path, change.path), change.data, project.world.token())


def _made_anew(project: Project) -> None:
    """What is made of the files: the index, as a new file; the map; the pages."""
    # A layer that was there before the memory's folder had an index of its own.
    own = (f"{layer.home.folder}/{layer.index}" for layer in LAYERS if layer.index)
    for folder in (f"{MEMORY}/{INDEX}", *own):
        names = folder.split("/")
        paths = [os.path.join(project.root, *names[: count + 1]) for count in range(len(names))]
        if os.path.isdir(paths[-1]) and not any(map(os.path.islink, paths)):
            discard_database(paths[-1])
    if MEMORY_HOME.exists(project.root):
        for path, _, after in stale_maps(project.root, product_map(project)):
            write_file(path, after, project.world.token())
    for layer in LAYERS:
        layer.remake(project)


def _left(project: Project, folders: Sequence[str], text: str, *, pages: bool) -> list[Place]:
    """What stands outside of our folders. Pages are made anew, so that they only count afterwards."""
    names = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "README.md"]
    names += [page for layer in LAYERS for page in layer.pages] if pages else []
    return texts_below(project.root, folders, text, names)


def _admitted(text: str) -> str:
    found = text.strip("\r\n")
    if len(found) < SHORTEST:
        raise InputError(
            f"A text of fewer than {SHORTEST} characters is not purged: it would be found in too many places.",
            hint="Give a longer part of the text.",
        )
    if found in PURGED * len(found):
        raise InputError(f"`{PURGED}` is the replacement for a purged text.", hint="Nothing to remove.")
    return found


def lines(done: Purged) -> Lines:
    if not done.places and not done.left:
        yield "No secret was found." if not done.texts else "The text is in no file of the memory."
        return
    total = sum(place.count for place in done.places)
    if done.places:
        verb = "It stands there" if done.dry_run else "Taken out"
        yield f"{verb} {counted(total, 'time')}, in {counted(len(done.places), 'file')}:"
    for place in done.places[:_SHOWN]:
        action = "" if place.action == "replaced" else f" ({'goes' if done.dry_run else 'removed'}: {place.reason})"
        yield f"  {place.path}: {counted(place.count, 'time')}{action}"
    if len(done.places) > _SHOWN:
        yield f"  and {len(done.places) - _SHOWN:,} more"
    for place in done.left:
        yield Styled(text=f"  {place.path}: not changed: {place.reason}", style="yellow")
    if done.places and not done.dry_run:
        yield ""
        yield "Replace the credential where it is used: anyone who had the files may have it."
        if done.has_history:
            yield (
                "Git history still holds it. To remove it there, put the text into a file outside the repository "
                "and run:"
            )
            yield "  git filter-repo --replace-text FILE"
        yield "This does not reach other clones, other branches, or your agents' sessions."


VERB = Verb(
    takes=Purge,
    run=purge_memory,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory purge                          asks for the text (not shown), lists where it is, asks again
  memory purge --secrets --dry-run      where the secrets are that `memory check` reports
  memory purge --yes < text.txt         a text from a file, without its last line end
""",
)
