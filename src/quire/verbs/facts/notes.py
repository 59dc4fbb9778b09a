"""`memory notes` and its verbs: what somebody jotted down for later, on this machine alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from quire.layers.facts.layout import FOLDER
from quire.model.errors import InputError, UsageError
from quire.model.records import Problem
from quire.model.times import timestamp
from quire.project import Project, note_record
from quire.verbs.facts.results import FactView
from quire.verbs.verb import Arguments, Line, Result, Verb, Word

if TYPE_CHECKING:
    from quire.layers.facts.notes import QuickNote
    from quire.verbs.facts.store import Stored

_LOCK = "settling.lock"
"""Beside notes and proposals: the memory's own lock is taken for each record that is made of one."""


class ShowNotes(Arguments, frozen=True, kw_only=True):
    pass


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


def notes(project: Project) -> tuple[list[QuickNote], list[Problem]]:
    """The notes that wait."""
    from quire.layers.facts.notes import read_notes

    project.ready()
    problems: list[Problem] = []
    return read_notes(project.root, problems), problems


def notes_done(project: Project, numbers: Sequence[int] | None) -> list[QuickNote]:
    """Take notes off the list: these, or all of them."""
    from quire.files.write_access import write_access
    from quire.layers.facts.notes import clear_notes, remove_notes

    project.ready()
    with write_access(project.root, FOLDER, project.world, "change the notes"):
        at, token = _local_time(project), project.world.token()
        if numbers is None:
            return clear_notes(project.root, at, token)
        return remove_notes(project.root, numbers, at, token)


def notes_undo(project: Project) -> list[QuickNote]:
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


def _numbered(project: Project, number: int) -> QuickNote:
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
    from quire.verbs.facts.store import Store, store

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


# -- the verbs ----------------------------------------------------------------------------


def show_notes(project: Project, _given: Arguments) -> NoteList:
    """Show the notes that wait, take them off the list, or make facts of them."""
    found, problems = notes(project)
    return NoteList(notes=found, pending=len(found), warnings=problems)


def done(project: Project, given: DoneNotes) -> NoteList:
    """Take these notes off the list."""
    return _changed(project, notes_done(project, [_number(text) for text in given.numbers]))


def clear(project: Project, _given: ShowNotes) -> NoteList:
    """Take all notes off the list. `memory notes undo` brings them back."""
    return _changed(project, notes_done(project, None))


def undo(project: Project, _given: ShowNotes) -> NoteList:
    """Bring back what was taken off the list last."""
    return _changed(project, notes_undo(project), nothing="There is nothing to bring back.")


def _changed(project: Project, changed: list[QuickNote], nothing: str = "No notes wait.") -> NoteList:
    left, problems = notes(project)
    return NoteList(notes=changed, pending=len(left), warnings=problems, nothing=nothing)


def promote(project: Project, given: PromoteNote) -> PromotedNote:
    """Make a fact of a note, in SECTION, and take it off the list."""
    stored = notes_promote(project, _number(given.number), given.section)
    return PromotedNote(action=stored.action, fact=stored.fact, warnings=stored.warnings)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"`{text[:40]}` is no number of a note.", hint="`memory notes` shows them.") from None


def lines(found: NoteList) -> Iterator[Line]:
    from quire.guard.effects import effects_of, words_of

    if not found.notes:
        yield 'No notes wait. `memory note "text"` keeps one for later.'
    for note in found.notes:
        text = note.text.replace("\n", "\n     ")
        effects = effects_of(note.text)
        flagged = f" (flagged: {words_of(effects)})" if effects else ""
        yield f"{note.number:3}. [{note.at}]{flagged} {text}"


def _changed_lines(verb: str, changed: NoteList) -> Iterator[Line]:
    if not changed.notes:
        yield changed.nothing
        return
    yield f"{verb}: {len(changed.notes)}. {changed.pending} wait."
    for note in changed.notes:
        yield "  " + note.text.replace("\n", "\n     ")


def _promoted_lines(done: PromotedNote) -> Iterator[Line]:
    lead = "Stored in" if done.action == "stored" else "Known already in"
    yield f"{lead} {done.fact.section}: {done.fact.content}"
    yield f"  {done.fact.ref}"


def _changing(verb: str, takes: type[Arguments], run: Any, example: str) -> Verb:
    return Verb(
        takes=takes, run=run, lines=partial(_changed_lines, verb), examples=f"Example:\n  {example}\n", writes=True
    )


VERB = Verb(
    takes=ShowNotes,
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
CLEAR = _changing("Cleared", ShowNotes, clear, "memory notes clear")
UNDO = _changing("Brought back", ShowNotes, undo, "memory notes undo")
PROMOTE = Verb(
    takes=PromoteNote,
    run=promote,
    lines=_promoted_lines,
    examples='Example:\n  memory notes promote 1 "Known Issues"\n',
    writes=True,
)
