"""Write the journal's pages and the entry block.

The file with the block belongs to the user: only the block in it is ours. Which file it is, the bundle says, and a
bundle may have been written by anybody; so a path that leads out of the project, or to something that is no document,
is not taken.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct

from quire.files import disk
from quire.files.durable_write import ensure_folder, write_file
from quire.files.local_files import read_object, remove_local
from quire.files.paths import escaping_part, follow_inside, inside, is_text, read_if_there, storage_failed
from quire.files.world import World
from quire.layers.journal.bundles import entry_file
from quire.layers.journal.documents import parse_document, read_state
from quire.layers.journal.entry_block import entry_marker, place_entry, remove_entry, render_entry
from quire.layers.journal.layout import ENTRY_FILES, FILE_BYTES, FOLDER, PAGES_DUE, STATE
from quire.layers.journal.projections import Projection, render_projections
from quire.layers.journal.store import held_file
from quire.layers.journal.types import Bundle, State
from quire.model.errors import Conflict, OutsideProject, QuireError
from quire.model.records import Problem, warning_at
from quire.model.untyped import as_list

_DOCUMENTS = (".md", ".markdown", ".mdc", ".txt", ".rst")
_ATTEMPTS = 5


class PlannedFile(Struct, frozen=True):
    """A file as it is and as it will be."""

    path: str
    before: bytes | None
    after: bytes


def chosen_entry(root: str, bundle: Bundle) -> str:
    """The file for the entry block: the one that the bundle names, if it may be written to."""
    wanted = entry_file(bundle)
    if _may_hold_entry(root, wanted):
        return wanted
    return next((name for name in ENTRY_FILES if os.path.isfile(os.path.join(root, name))), ENTRY_FILES[0])


def _may_hold_entry(root: str, path: str) -> bool:
    if escaping_part(path) or not path.lower().endswith(_DOCUMENTS) or not is_text(path):
        return False
    if any(part.startswith(".git") or part == FOLDER for part in path.split("/")):
        return False
    with contextlib.suppress(OutsideProject):
        real = follow_inside(root, path)
        inner = os.path.relpath(real, os.path.realpath(root)).split(os.sep)
        return not any(part.startswith(".git") for part in inner) and (
            os.path.isfile(real) or not os.path.lexists(real)
        )
    return False


def holds_entry(root: str, path: str) -> bool:
    """Whether a file of the project has an entry block, be it an old one."""
    return _may_hold_entry(root, path) and entry_marker(_followed(root, path) or b"") is not None


def _entry_place(root: str, state: State, formerly: Iterable[str], entry: bool) -> str:
    """The file for the block: where a person agreed, the chosen one; else one that has a block, or none."""
    chosen = chosen_entry(root, state.bundle)
    if entry:
        return chosen
    known = dict.fromkeys((chosen, *formerly, *ENTRY_FILES))
    return next((name for name in known if name and holds_entry(root, name)), "")


def planned_pages(root: str, state: State, *, entry: bool = True) -> list[PlannedFile]:
    """All pages and, as the last, the file with the entry block if it is written, as this state would have them."""
    try:
        return [plan() for plan in _plans(root, state, _entry_place(root, state, (), entry))]
    except OSError as error:
        raise storage_failed(error, "read a page", root) from error


def _plans(root: str, state: State, place: str) -> list[Callable[[], PlannedFile]]:
    """Each looks at its file when it is called."""
    pages: list[Callable[[], PlannedFile]] = [partial(_planned_page, root, page) for page in render_projections(state)]
    return [*pages, partial(_entry, root, state, place)] if place else pages


def _planned_page(root: str, page: Projection) -> PlannedFile:
    return PlannedFile(
        page.path, read_if_there(inside(root, page.path), FILE_BYTES), page.text.encode("utf-8", "surrogatepass")
    )


def _entry(root: str, state: State, place: str) -> PlannedFile:
    before = _followed(root, place)
    return PlannedFile(place, before, place_entry(before, render_entry(state.bundle_hash)))


def write_pages(root: str, state: State, world: World, formerly: Iterable[str] = (), *, entry: bool = True) -> None:
    """Write what is not as it should be. `formerly` may hold an earlier entry block.

    Without `entry` the block is brought up to date where there is one, and put nowhere else.
    """
    formerly = list(formerly)
    place = _entry_place(root, state, formerly, entry)
    for plan in _plans(root, state, place):
        _write_page(root, plan, world)
    if place == chosen_entry(root, state.bundle):
        for name, before, rest in earlier_entries(root, state, formerly):
            _take_out(root, name, before, rest, world)


def earlier_entries(root: str, state: State, formerly: Iterable[str] = ()) -> list[tuple[str, bytes, bytes]]:
    """Files that still hold an entry block and are no longer the one for it: as they are, and without the block."""
    entry = chosen_entry(root, state.bundle)
    found = []
    for name in dict.fromkeys((*formerly, *ENTRY_FILES)):
        if not name or name == entry or not _may_hold_entry(root, name):
            continue
        data = _followed(root, name)
        if data is None or follow_inside(root, name) == follow_inside(root, entry) or entry_marker(data) is None:
            continue
        rest = remove_entry(data)
        if rest != data:
            found.append((name, data, rest))
    return found


def _write_page(root: str, plan: Callable[[], PlannedFile], world: World) -> None:
    """Write a file that is not as it should be.

    The file with the block is the user's, who may be saving it just now: then it is looked at again.
    """
    for attempt in range(_ATTEMPTS):
        file = plan()
        if file.before == file.after:
            return
        is_link = os.path.islink(os.path.join(root, file.path))
        path = follow_inside(root, file.path) if is_link else inside(root, file.path)
        ensure_folder(os.path.dirname(path))
        try:
            write_file(path, file.after, world.token(), file.before)
            return
        except Conflict:
            if attempt == _ATTEMPTS - 1:
                raise


def _take_out(root: str, name: str, before: bytes, rest: bytes, world: World) -> None:
    """Remove the block from a file that no longer is the one for it; a file that held nothing else goes."""
    real = follow_inside(root, name)
    if rest.strip():
        write_file(real, rest, world.token(), before)
    else:
        disk.remove(real)
        disk.sync_folder(os.path.dirname(real))


def write_due_pages(root: str, world: World) -> list[Problem]:
    """Write the pages if they are due. The caller holds the lock. What is in the way is reported, and stays due."""
    due = read_object(root, FOLDER, PAGES_DUE)
    if due.data is None and due.problem is None:
        return []
    data = held_file(root, STATE)
    try:
        if data is None:
            return []
        formerly = [name for name in as_list(due.fields.get("formerly")) if isinstance(name, str)]
        state = read_state(parse_document(data, f"{FOLDER}/{STATE}"))
        write_pages(root, state, world, formerly, entry=due.fields.get("entry") is True)
        remove_local(root, due)
    except (QuireError, OSError, ValueError) as error:
        said = error.message if isinstance(error, QuireError) else str(error)
        said = f"The memory is written, but its pages could not be: {said.removesuffix('.')}."
        return [warning_at("JournalPagesNotWritten", "", said, "Fix the cause; the next command writes them.")]
    return _without_entry(root, state)


def _without_entry(root: str, state: State) -> list[Problem]:
    if _entry_place(root, state, (), entry=False):
        return []
    path = chosen_entry(root, state.bundle)
    said = f"`{path}` has no block that points to the memory; it was not changed."
    return [warning_at("JournalEntryNotWritten", path, said, "`memory journal update --yes` adds it.")]


def _followed(root: str, path: str) -> bytes | None:
    return read_if_there(follow_inside(root, path), FILE_BYTES)
