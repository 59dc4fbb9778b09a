"""Notes: what somebody jots down for later, on this machine alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from quire.layers.facts.layout import FOLDER
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.times import timestamp
from quire.project import Project, note_record
from quire.verbs.facts.store import Store, Stored, store

if TYPE_CHECKING:
    from quire.layers.facts.notes import Note

_LOCK = "settling.lock"
"""Beside notes and proposals: the memory's own lock is taken for each record that is made of one."""


def note(project: Project, text: str) -> int:
    """Jot something down for later; how many notes wait."""
    from quire.files.write_access import write_access
    from quire.layers.facts.notes import add_note

    project.ready()
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse({"text": text})
    with write_access(project.root, FOLDER, project.world, "add a note"):
        count = add_note(project.root, text.strip(), _local_time(project), project.world.token())
    if project.by_person:
        project.note_records_reviewed([note_record(0, text.strip())])
    return count


def notes(project: Project) -> tuple[list[Note], list[Problem]]:
    """The notes that wait."""
    from quire.layers.facts.notes import read_notes

    project.ready()
    problems: list[Problem] = []
    return read_notes(project.root, problems), problems


def notes_done(project: Project, numbers: Sequence[int] | None) -> list[Note]:
    """Take notes off the list: these, or all of them."""
    from quire.files.write_access import write_access
    from quire.layers.facts.notes import clear_notes, remove_notes

    project.ready()
    with write_access(project.root, FOLDER, project.world, "change the notes"):
        at, token = _local_time(project), project.world.token()
        if numbers is None:
            return clear_notes(project.root, at, token)
        return remove_notes(project.root, numbers, at, token)


def notes_undo(project: Project) -> list[Note]:
    """Put back what was taken off the list last."""
    from quire.files.write_access import write_access
    from quire.layers.facts.notes import restore_notes

    project.ready()
    with write_access(project.root, FOLDER, project.world, "change the notes"):
        return restore_notes(project.root, project.world.token())


def notes_promote(project: Project, number: int, section: str) -> Stored:
    """Make a fact of a note, and take the note off the list."""
    from quire.layers.facts.drafts import section_named

    section_named(section)
    _numbered(project, number)
    with settling_lock(project, "promote a note"):
        return _promoted(project, number, section)


def _numbered(project: Project, number: int) -> Note:
    found = {note.number: note for note in notes(project)[0]}
    if number not in found:
        raise InputError(
            f"There is no note {number}; there are {len(found)}.",
            hint="`memory notes` shows them with their numbers.",
            details={"field": "number"},
        )
    return found[number]


def _promoted(project: Project, number: int, section: str) -> Stored:
    from quire.files.write_access import write_access
    from quire.layers.facts.notes import read_notes, remove_notes

    note = _numbered(project, number)
    stored = store(project, Store(section=section, content=note.text, source="note"))
    with write_access(project.root, FOLDER, project.world, "change the notes"):
        # Others may have changed the list meanwhile: it is this note that goes, whatever its number is by now.
        same = [item.number for item in read_notes(project.root) if (item.at, item.text) == (note.at, note.text)]
        nearest = sorted(same, key=lambda found: abs(found - number))[:1]
        remove_notes(project.root, nearest, _local_time(project), project.world.token())
    return stored


@contextlib.contextmanager
def settling_lock(project: Project, operation: str) -> Iterator[None]:
    """One word at a time on what waits: a note or a proposal becomes a record once, whoever else is at it."""
    from quire.files.file_lock import Holder, held
    from quire.files.local_files import ensure_local, place_of
    from quire.files.paths import inside, storage_failed

    holder = Holder(pid=project.world.pid, operation=operation, created_at=timestamp(project.world.now()))
    with contextlib.ExitStack() as stack:
        try:
            ensure_local(project.root, FOLDER, project.world.token())
            path = inside(project.root, place_of(FOLDER, _LOCK))
            stack.enter_context(held(path, holder, project.world.lock_seconds, project.world.sleep))
        except OSError as error:
            raise storage_failed(error, operation, project.root) from error
        yield


def _local_time(project: Project) -> str:
    return project.world.now().astimezone().strftime("%Y-%m-%d %H:%M")
