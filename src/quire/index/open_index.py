"""Open the index: refreshed, rebuilt if damaged, in memory if the folder is not writable."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import apsw

from quire.index.catalog import Index, Progress
from quire.index.database import discard_database, open_database, open_in_memory
from quire.model.errors import LockBusy
from quire.model.sources import IndexSource, Patch, Written

if TYPE_CHECKING:
    from quire.files.freshness import Freshness

Result = TypeVar("Result")


def open_index(
    folder: str | None,
    sources: Iterable[IndexSource],
    written: Written | Patch | None = None,
    freshness: Freshness | None = None,
    progress: Progress | None = None,
) -> Index:
    """The index in this folder, fresh. One that turns out to be damaged is thrown away and built again.

    Where there is not a folder for it, it is made in memory, and gone afterwards.
    """
    sources = list(sources)
    index = Index(_database(folder))
    index.progress = progress
    if folder is not None:
        index.freshness, index.place = freshness, folder
    try:
        index.bring_up(sources, written)
        return index
    except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError, apsw.CantOpenError):
        # Sound, but not ours to write to now: answer from an index of our own, in memory.
        index.close()
        index = Index(open_in_memory())
    except apsw.Error:
        index.close()
        _discard(folder)
        index = Index(_database(folder))
    index.progress = progress
    index.bring_up(sources, None)
    return index


def _database(folder: str | None) -> apsw.Connection:
    return open_in_memory() if folder is None else open_database(folder)


def _discard(folder: str | None) -> None:
    if folder is not None:
        discard_database(folder)


def with_index(
    folder: str | None,
    sources: Iterable[IndexSource],
    work: Callable[[Index], Result],
    written: Written | Patch | None = None,
    freshness: Freshness | None = None,
    progress: Progress | None = None,
    *,
    then: Callable[[Result], Patch | None] | None = None,
) -> Result:
    """Call `work` with a refreshed index; if it turns out to be damaged, rebuild it once and call again.

    `then` is called once with the result, and what it wrote is indexed; if that fails, the next reader does it.
    """
    sources = list(sources)
    index = open_index(folder, sources, written, freshness, progress)
    try:
        try:
            result = _asked(index, work)
        except apsw.Error:
            index.close()
            _discard(folder)
            index = open_index(folder, sources)
            result = _asked(index, work)
        patch = then(result) if then else None
        if patch is not None:
            with contextlib.suppress(apsw.Error):
                index.bring_up(sources, patch)
        return result
    finally:
        index.close()


def _asked(index: Index, work: Callable[[Index], Result]) -> Result:
    """Other processes write to the same index: of a change of theirs all is seen, or nothing."""
    with index.standing_still():
        return work(index)


def change_with_index(
    folder: str | None,
    sources: Iterable[IndexSource],
    plan: Callable[[Index], Result],
    write: Callable[[Result], Patch | None],
) -> Result:
    """Plan a change with a refreshed index, perhaps twice, then write it, never twice, and index it."""
    return with_index(folder, sources, plan, then=write)


def rebuild_index(
    folder: str,
    sources: Iterable[IndexSource],
    progress: Progress | None = None,
    *,
    semantic: str | None = None,
    taught: Progress | None = None,
) -> Index:
    """Rebuild the index from the files. Readers see the old one until the new one is complete.

    With the folder of the teacher in `semantic`, its vectors take the place of the static table's afterwards. An index
    that has some of them already is only brought up to date, so that one that was interrupted is continued.
    """
    sources = list(sources)
    if semantic is None:
        return _made_anew(folder, sources, progress)
    from quire.index.sentence_model import open_sentence_model

    teacher = open_sentence_model(semantic)
    begun = _has_space(folder, teacher.space)
    index = open_index(folder, sources) if begun else _made_anew(folder, sources, progress)
    try:
        index.teach(teacher, semantic, taught)
    except BaseException as error:
        index.close()
        if not (begun and isinstance(error, (apsw.CorruptError, apsw.NotADBError))):
            raise
        discard_database(folder)
        return rebuild_index(folder, sources, progress, semantic=semantic, taught=taught)
    return index


def _made_anew(folder: str, sources: list[IndexSource], progress: Progress | None) -> Index:
    index = Index(open_database(folder))
    try:
        index.make_anew(sources, progress)
    except (apsw.BusyError, apsw.LockedError) as error:
        index.close()
        raise LockBusy(
            "Another process is writing to the index.", hint="Try again in a moment; answers do not wait for it."
        ) from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
        index.close()
        discard_database(folder)
        index = Index(open_database(folder))
        index.make_anew(sources, progress)
    return index


def _has_space(folder: str, space: str) -> bool:
    index = Index(open_database(folder))
    try:
        return index.knows_space(space)
    except apsw.Error:
        return False
    finally:
        index.close()
