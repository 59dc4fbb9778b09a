"""Notes: what somebody jots down for later, on this machine alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from quire.layers.facts.layout import FOLDER
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.times import timestamp
from quire.project.fact_results import FactStored
from quire.project.facts import FactKeeping
from quire.project.rooms import note_record

if TYPE_CHECKING:
    from quire.layers.facts.notes import Note

_LOCK = "settling.lock"
"""Beside notes and proposals: the memory's own lock is taken for each record that is made of one."""


class Noting(FactKeeping):
    """The list of notes, and the way from a note to a fact."""

    def note(self, text: str) -> int:
        """Jot something down for later; how many notes wait."""
        from quire.files.writing import write_access
        from quire.layers.facts.notes import add_note

        self._ready()
        rejections = self._rejections()
        if rejections is not None:
            rejections.refuse({"text": text})
        with write_access(self.root, FOLDER, self.world, "add a note"):
            count = add_note(self.root, text.strip(), self._local_time(), self.world.token())
        if self.by_person:
            self._note_looked_at([note_record(0, text.strip())])
        return count

    def notes(self) -> tuple[list[Note], list[Problem]]:
        """The notes that wait."""
        from quire.layers.facts.notes import read_notes

        self._ready()
        problems: list[Problem] = []
        return read_notes(self.root, problems), problems

    def notes_done(self, numbers: Sequence[int] | None) -> list[Note]:
        """Take notes off the list: these, or all of them."""
        from quire.files.writing import write_access
        from quire.layers.facts.notes import clear_notes, remove_notes

        self._ready()
        with write_access(self.root, FOLDER, self.world, "change the notes"):
            at, token = self._local_time(), self.world.token()
            if numbers is None:
                return clear_notes(self.root, at, token)
            return remove_notes(self.root, numbers, at, token)

    def notes_undo(self) -> list[Note]:
        """Put back what was taken off the list last."""
        from quire.files.writing import write_access
        from quire.layers.facts.notes import restore_notes

        self._ready()
        with write_access(self.root, FOLDER, self.world, "change the notes"):
            return restore_notes(self.root, self.world.token())

    def notes_promote(self, number: int, section: str) -> FactStored:
        """Make a fact of a note, and take the note off the list."""
        from quire.layers.facts.drafts import section_named

        section_named(section)
        self._numbered(number)
        with self._settling("promote a note"):
            return self._promoted(number, section)

    def _numbered(self, number: int) -> Note:
        found = {note.number: note for note in self.notes()[0]}
        if number not in found:
            raise InputError(
                f"There is no note {number}; there are {len(found)}.",
                hint="`memory notes` shows them with their numbers.",
                details={"field": "number"},
            )
        return found[number]

    def _promoted(self, number: int, section: str) -> FactStored:
        from quire.files.writing import write_access
        from quire.layers.facts.notes import read_notes, remove_notes

        note = self._numbered(number)
        stored = self.memory_store(section, note.text, source="note")
        with write_access(self.root, FOLDER, self.world, "change the notes"):
            # Others may have changed the list meanwhile: it is this note that goes, whatever its number is by now.
            same = [item.number for item in read_notes(self.root) if (item.at, item.text) == (note.at, note.text)]
            nearest = sorted(same, key=lambda found: abs(found - number))[:1]
            remove_notes(self.root, nearest, self._local_time(), self.world.token())
        return stored

    @contextlib.contextmanager
    def _settling(self, operation: str) -> Iterator[None]:
        """One word at a time on what waits: a note or a proposal becomes a record once, whoever else is at it."""
        from quire.files.local import ensure_local, place_of
        from quire.files.lock import Holder, held
        from quire.files.paths import inside, storage_failed

        holder = Holder(pid=self.world.pid, operation=operation, created_at=timestamp(self.world.now()))
        with contextlib.ExitStack() as stack:
            try:
                ensure_local(self.root, FOLDER, self.world.token())
                path = inside(self.root, place_of(FOLDER, _LOCK))
                stack.enter_context(held(path, holder, self.world.lock_seconds, self.world.sleep))
            except OSError as error:
                raise storage_failed(error, operation, self.root) from error
            yield

    def _local_time(self) -> str:
        return self.world.now().astimezone().strftime("%Y-%m-%d %H:%M")
