"""`memory note` and `memory notes`: take quick notes, show them, finish them, or make facts of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

from quire.files.local_lock import local_lock
from quire.files.paths import storage_failed
from quire.files.write_access import write_access
from quire.guard.admission import effect_warnings
from quire.layers.facts.layout import FOLDER
from quire.layers.facts.notes import QuickNote, add_note, clear_notes, read_notes, remove_notes, restore_notes
from quire.model.errors import InputError, UsageError
from quire.model.records import Problem, note_record
from quire.model.text import counted
from quire.project import Project
from quire.verbs.facts.results import FactView
from quire.verbs.reviewed import note_records_reviewed
from quire.verbs.verb import Arguments, Lines, Result, Verb, Word

if TYPE_CHECKING:
    from quire.verbs.facts.store import Stored


_LOCK = "settling.lock"
"""Beside notes and proposals: the memory's own lock is taken for each record that is made of one."""


class DoneNotes(Arguments, frozen=True, kw_only=True):
    numbers: Annotated[list[str], Word()]


class PromoteNote(Arguments, frozen=True, kw_only=True):
    number: Annotated[str, Word()]
    section: Annotated[str, Word()]


class NoteList(Result, kw_only=True):
    """Notes that wait, or that were taken off the list or brought back."""

    notes: list[QuickNote]
    pending: int
    """How many wait now."""


class PromotedNote(Result, kw_only=True):
    action: str
    fact: FactView


def show_notes(project: Project, _given: Arguments) -> NoteList:
    """Show your notes, remove them, or turn them into facts."""
    project.ready()
    problems: list[Problem] = []
    found = read_notes(project.root, problems)
    return NoteList(notes=found, pending=len(found), warnings=problems)


def done(project: Project, given: DoneNotes) -> NoteList:
    """Remove these notes from the list."""
    numbers = [_number(text) for text in given.numbers]
    return _changed(project, lambda token: remove_notes(project.root, numbers, local_time(project), token))


def clear(project: Project, _given: Arguments) -> NoteList:
    """Remove all notes from the list. `memory notes undo` restores them."""
    return _changed(project, lambda token: clear_notes(project.root, local_time(project), token))


def undo(project: Project, _given: Arguments) -> NoteList:
    """Restore the notes that were removed last."""
    return _changed(project, lambda token: restore_notes(project.root, token), "Nothing to undo.")


def _changed(project: Project, change: Callable[[str], list[QuickNote]], nothing: str = "No notes.") -> NoteList:
    project.ready()
    with write_access(project.root, FOLDER, project.world, "change the notes"):
        changed = change(project.world.token())
    left = show_notes(project, Arguments())
    return NoteList(notes=changed, pending=left.pending, warnings=left.warnings, nothing=nothing)


def promote(project: Project, given: PromoteNote) -> PromotedNote:
    """Turn a note into a fact in SECTION, and remove the note."""
    from quire.layers.facts.drafts import section_named

    number = _number(given.number)
    section_named(given.section)
    _numbered(project, number)
    with settling_lock(project, "promote a note"):
        stored = _promoted(project, number, given.section)
    return PromotedNote(action=stored.action, fact=stored.fact, warnings=stored.warnings)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"`{text[:40]}` is not the number of a note.", hint="`memory notes` shows them.") from None


def _numbered(project: Project, number: int) -> QuickNote:
    found = {note.number: note for note in show_notes(project, Arguments()).notes}
    if number not in found:
        raise InputError(
            f"There is no note {number}; there are {len(found)}.",
            hint="`memory notes` shows them with their numbers.",
            details={"field": "number"},
        )
    return found[number]


def _promoted(project: Project, number: int, section: str) -> Stored:
    from quire.verbs.facts.store import Store, store

    note = _numbered(project, number)
    stored = store(project, Store(section=section, content=note.text, source="note"))
    with write_access(project.root, FOLDER, project.world, "change the notes"):
        # Others may have changed the list meanwhile: it is this note that goes, whatever its number is now.
        same = [item.number for item in read_notes(project.root) if (item.at, item.text) == (note.at, note.text)]
        nearest = sorted(same, key=lambda found: abs(found - number))[:1]
        remove_notes(project.root, nearest, local_time(project), project.world.token())
    return stored


@contextlib.contextmanager
def settling_lock(project: Project, operation: str) -> Iterator[None]:
    """One word at a time on what waits: a note or a proposal becomes a record once, whoever else is at it."""
    with contextlib.ExitStack() as stack:
        try:
            seconds = project.world.lock_seconds
            stack.enter_context(local_lock(project.root, FOLDER, _LOCK, operation, project.world, seconds, keep=False))
        except OSError as error:
            raise storage_failed(error, operation, project.root) from error
        yield


def local_time(project: Project) -> str:
    return project.world.now().astimezone().strftime("%Y-%m-%d %H:%M")


def lines(found: NoteList) -> Lines:
    from quire.guard.effects import effects_of, words_of

    if not found.notes:
        yield 'No notes. `memory note "text"` keeps one for later.'
    for note in found.notes:
        text = note.text.replace("\n", "\n     ")
        effects = effects_of(note.text)
        flagged = f" (flagged: {words_of(effects)})" if effects else ""
        yield f"{note.number:3}. [{note.at}]{flagged} {text}"


def _changed_lines(verb: str, changed: NoteList) -> Lines:
    if not changed.notes:
        yield changed.nothing
        return
    yield f"{verb}: {counted(len(changed.notes), 'note')}. {changed.pending} left."
    for note in changed.notes:
        yield "  " + note.text.replace("\n", "\n     ")


def _promoted_lines(done: PromotedNote) -> Lines:
    lead = "Stored in" if done.action == "stored" else "Known already in"
    yield f"{lead} {done.fact.section}: {done.fact.content}"
    yield f"  {done.fact.ref}"


def _changing(verb: str, takes: type[Arguments], run: Callable[..., NoteList], example: str) -> Verb:
    return Verb(
        takes=takes, run=run, lines=partial(_changed_lines, verb), examples=f"Example:\n  {example}\n", writes=True
    )


VERB = Verb(
    run=show_notes,
    lines=lines,
    alone=True,
    examples="""Examples:
  memory notes
  memory notes done 2
  memory notes promote 1 "Known Issues"
""",
)
DONE = _changing("Done", DoneNotes, done, "memory notes done 2 3")
CLEAR = _changing("Cleared", Arguments, clear, "memory notes clear")
UNDO = _changing("Restored", Arguments, undo, "memory notes undo")
PROMOTE = Verb(
    takes=PromoteNote,
    run=promote,
    lines=_promoted_lines,
    examples='Example:\n  memory notes promote 1 "Known Issues"\n',
    writes=True,
)


class TakeNote(Arguments, frozen=True, kw_only=True):
    words: Annotated[list[str], Word(required=False, stdin="the note")] = []


class Noted(Result, kw_only=True):
    noted: str
    pending: int
    """How many wait now."""


def take_note(project: Project, given: TakeNote) -> Noted | NoteList:
    """Write down something for later.

    Notes stay on this machine, in .memory/local/notes.md. Without a text, shows the notes; `-` reads the text from
    standard input.
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


def noted_lines(done: Noted | NoteList) -> Lines:
    if isinstance(done, NoteList):
        yield from lines(done)
    else:
        yield f"Noted. ({counted(done.pending, 'note')})"


NOTE = Verb(
    takes=TakeNote,
    run=take_note,
    lines=noted_lines,
    writes=True,
    examples="""Examples:
  memory note "look at the flaky upload test"
  memory notes
""",
)
