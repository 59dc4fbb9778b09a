"""Undo actions: restore files byte for byte, unless someone has changed them since."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager

import msgspec

from quire.files.branches import writes_fragments
from quire.files.digests import sha256
from quire.files.fragments import new_fragment
from quire.files.transaction import FileUpdate, apply_changes
from quire.files.undo_recorder import RecordedChange, UndoRecorder, record_changes
from quire.layers.graph.layout import EVENT_FRAGMENTS, EVENTS, FOLDER
from quire.layers.graph.lock import write_access
from quire.layers.graph.save import apply_with_events
from quire.layers.graph.source import GraphSource
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.profile.layout import HOME_FOLDER
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.sources import Written
from quire.model.text import cut
from quire.model.times import timestamp
from quire.project import Project
from quire.upkeep.undo_plan import UndoStep, events_back, refuse_rejected, refuse_torn, steps_back
from quire.verbs.graph.save import after_save
from quire.verbs.profile.document import profile_locked

UNDO, REDO = "undo", "redo"
_UNDONE, _AGAIN = "Undone: ", "Done again: "
_IGNORE = ".gitignore"
_TASK_CHARS = 100


class Acted(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to a record, and what it takes to undo it."""

    action: str
    """confirm, stale, supersede, edit, accept, reject, undo, redo"""
    ref: str
    """The record; empty where there is none yet, or no more."""
    title: str
    message: str
    """A sentence: "Marked stale: Retry queue"."""
    at: str
    warnings: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    """What was written, from the project's root."""
    changes: tuple[RecordedChange, ...] = ()
    """Empty where nothing changed, or where it cannot be undone."""


def undo_acted(project: Project, acted: Acted) -> Acted:
    """Put back what an action changed, all or nothing; refused where someone changed it since."""
    project.ready()
    groups = _groups(project, acted.changes)
    if not acted.changes or sum(map(len, groups.values())) < len(acted.changes):
        raise InputError("Nothing to undo.", hint="Correct it with another action.")
    for folder, noted in groups.items():
        _planned_back(project, folder, noted)  # all that can be refused is refused before anything is written
    source = GraphSource(project.graph, project.world)
    stamps = source.folder_stamps()
    again = acted.action == UNDO
    told = acted.message.removeprefix(_AGAIN).removeprefix(_UNDONE)
    task = f"{REDO if again else UNDO} ({told.partition(':')[0].lower()})"
    # The map belongs to it: nobody may see the one without the other.
    locked = (
        _right_to_undo(project, _memory_folder(project))
        if _memory_folder(project) in groups
        else contextlib.nullcontext()
    )
    with record_changes() as notes, locked:
        for folder in sorted(groups, key=lambda name: name == _memory_folder(project)):
            _put_back(project, folder, groups[folder], cut(task, _TASK_CHARS))
        files = [f"{FOLDER}/{path}" for path, _ in groups.get(_memory_folder(project), ())]
        # What a fragment said of a node is only seen by a look at all of them.
        known = {} if any(file.startswith(f"{FOLDER}/{EVENT_FRAGMENTS}/") for file in files) else stamps
        warnings = after_save(project, Written("graph", known, source.indexed_files(files)), files)
    message = f"{_AGAIN if again else _UNDONE}{told}"
    done = note_action(project, REDO if again else UNDO, acted.ref, acted.title, message, notes, warnings)
    if done.changes or notes.is_lost:
        return done
    return msgspec.structs.replace(done, message=f"Nothing changed, it already was as before: {acted.title}")


# -- what was noted -----------------------------------------------------------------------


def note_action(
    project: Project,
    action: str,
    ref: str,
    title: str,
    message: str,
    notes: UndoRecorder,
    warnings: Iterable[Problem] = (),
) -> Acted:
    """The account of something that was done while it was noted."""
    found = tuple(item for item in notes.changes if _home_of(project, item) is not None)
    told = list(warnings)
    if notes.is_lost:
        said = "Not every changed file could be copied, so this cannot be undone here."
        hint = f"`git diff {FOLDER}` shows it; git can restore what was committed."
        told.append(Problem(code="NotUndoable", severity="warning", message=said, hint=hint))
    return Acted(
        action=action,
        ref=ref,
        title=title,
        message=message,
        at=timestamp(project.world.now()),
        warnings=tuple(told),
        files=tuple(sorted({_told_where(project, item) for item in notes.changes})),
        changes=found,
    )


def _told_where(project: Project, noted: RecordedChange) -> str:
    real, root = os.path.realpath(noted.place), os.path.realpath(project.root)
    return os.path.relpath(real, root) if real.startswith(root + os.sep) else os.path.basename(real)


def _memory_folder(project: Project) -> str:
    return os.path.join(project.root, FOLDER)


def _home_of(project: Project, noted: RecordedChange) -> tuple[str, str] | None:
    """The folder of the layer that a change belongs to, and its path there; None for what no undo puts back.

    The log only grows; the map is rendered anew; what git is reported our folders stays right.
    """
    real = os.path.realpath(noted.place)
    at_home = os.path.join(project.profile_places().home, HOME_FOLDER) if project.profile_places().home else ""
    for folder in filter(None, (_memory_folder(project), os.path.join(project.root, PROFILE_FOLDER), at_home)):
        base = os.path.realpath(folder)
        if real.startswith(base + os.sep):
            path = os.path.relpath(real, base).replace(os.sep, "/")
            is_left = os.path.basename(path) == _IGNORE or (folder == _memory_folder(project) and path == EVENTS)
            return None if is_left else (folder, path)
    return None


def _groups(project: Project, changes: Iterable[RecordedChange]) -> dict[str, list[tuple[str, RecordedChange]]]:
    found: dict[str, list[tuple[str, RecordedChange]]] = {}
    for noted in changes:
        home = _home_of(project, noted)
        if home is not None:
            found.setdefault(home[0], []).append((home[1], noted))
    return found


# -- putting back -------------------------------------------------------------------------


def _put_back(project: Project, folder: str, noted: list[tuple[str, RecordedChange]], task: str) -> None:
    """Put the files of one layer back: planned on what is there once nobody else can write."""
    with _right_to_undo(project, folder):
        steps = _planned_back(project, folder, noted)
        changes = [
            FileUpdate(path=step.path, data=step.data, planned=None if step.now is None else sha256(step.now))
            for step in steps
        ]
        log = b""
        if folder == _memory_folder(project):
            log = events_back(project.graph, steps, task, timestamp(project.world.now()))
        if changes and log:
            where = new_fragment(EVENTS, project.world) if writes_fragments(project) else EVENTS
            apply_with_events(project.graph, project.world, changes, log, where)
        elif changes:
            apply_changes(folder, changes, [], project.world.token(), whole=True)


def _right_to_undo(project: Project, folder: str) -> AbstractContextManager[object]:
    if folder == _memory_folder(project):
        return write_access(project.graph, project.world, UNDO)
    return profile_locked(project, UNDO)


def _planned_back(project: Project, folder: str, noted: list[tuple[str, RecordedChange]]) -> list[UndoStep]:
    steps = steps_back(folder, noted)
    if folder == _memory_folder(project):
        refuse_torn(project.graph, steps)
        rejections = project.rejections()
        if rejections is not None:
            refuse_rejected(project.graph, steps, rejections)
    return steps
