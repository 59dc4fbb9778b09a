"""`memory note`: write a note for later."""

from __future__ import annotations

from typing import Annotated

from quire.files.write_access import write_access
from quire.guard.admission import effect_warnings
from quire.layers.facts.layout import FOLDER
from quire.layers.facts.notes import add_note
from quire.model.records import note_record
from quire.project import Project
from quire.verbs.facts.notes import NoteList, local_time, show_notes
from quire.verbs.facts.notes import lines as list_lines
from quire.verbs.reviewed import note_records_reviewed
from quire.verbs.verb import Arguments, Lines, Result, Verb, Word


class TakeNote(Arguments, frozen=True, kw_only=True):
    words: Annotated[list[str], Word(required=False, stdin="the note")] = []


class Noted(Result, kw_only=True):
    noted: str
    pending: int
    """How many wait now."""


def take_note(project: Project, given: TakeNote) -> Noted | NoteList:
    """Jot something down for later, without leaving what you are doing.

    Notes stay on this machine, in .memory/local/notes.md. Without a text, shows them; with `-` it is read from standard
    input.
    """
    if not given.words:
        return show_notes(project, Arguments())
    text = " ".join(given.words)
    project.ready()
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse({"text": text})
    with write_access(project.root, FOLDER, project.world, "add a note"):
        count = add_note(project.root, text.strip(), local_time(project), project.world.token())
    if project.by_person:
        note_records_reviewed(project, [note_record(0, text.strip())])
    return Noted(noted=text.strip(), pending=count, warnings=effect_warnings(text, "text"))


def lines(done: Noted | NoteList) -> Lines:
    if isinstance(done, NoteList):
        yield from list_lines(done)
    else:
        yield f"Noted. ({done.pending} {'entry' if done.pending == 1 else 'entries'})"


VERB = Verb(
    takes=TakeNote,
    run=take_note,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory note "look at the flaky upload test"
  memory notes
""",
)
