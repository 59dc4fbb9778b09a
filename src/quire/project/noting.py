"""Notes: what somebody jots down for later, on this machine alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.layers.facts.layout import FOLDER
from quire.model import InputError, Problem
from quire.project.fact_results import FactStored
from quire.project.facts import FactKeeping

if TYPE_CHECKING:
    from quire.layers.facts import Note

__all__ = ["Noting"]


class Noting(FactKeeping):
    """The list of notes, and the way from a note to a fact."""

    def note(self, text: str) -> int:
        """Jot something down for later; how many notes wait."""
        from quire.files import write_access
        from quire.layers.facts import add_note

        self._ready()
        rejections = self._rejections()
        if rejections is not None:
            rejections.refuse({"text": text})
        with write_access(self.root, FOLDER, self.world, "add a note"):
            return add_note(self.root, text.strip(), self._local_time(), self.world.token())

    def notes(self) -> tuple[list[Note], list[Problem]]:
        """The notes that wait."""
        from quire.layers.facts import read_notes

        self._ready()
        problems: list[Problem] = []
        return read_notes(self.root, problems), problems

    def notes_done(self, numbers: Sequence[int] | None) -> list[Note]:
        """Take notes off the list: these, or all of them."""
        from quire.files import write_access
        from quire.layers.facts import clear_notes, remove_notes

        self._ready()
        with write_access(self.root, FOLDER, self.world, "change the notes"):
            at, token = self._local_time(), self.world.token()
            if numbers is None:
                return clear_notes(self.root, at, token)
            return remove_notes(self.root, numbers, at, token)

    def notes_undo(self) -> list[Note]:
        """Put back what was taken off the list last."""
        from quire.files import write_access
        from quire.layers.facts import restore_notes

        self._ready()
        with write_access(self.root, FOLDER, self.world, "change the notes"):
            return restore_notes(self.root, self.world.token())

    def notes_promote(self, number: int, section: str) -> FactStored:
        """Make a fact of a note, and take the note off the list."""
        from quire.layers.facts import section_named

        section_named(section)
        found = {note.number: note for note in self.notes()[0]}
        if number not in found:
            raise InputError(
                f"There is no note {number}; there are {len(found)}.",
                hint="`memory notes` shows them with their numbers.",
                details={"field": "number"},
            )
        stored = self.memory_store(section, found[number].text, source="note")
        self.notes_done([number])
        return stored

    def _local_time(self) -> str:
        return self.world.now().astimezone().strftime("%Y-%m-%d %H:%M")
