"""Open and write the journal and choose its provider: shared by the verbs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

import msgspec

from quire.layers.journal.bundle_diff import BundleDiff
from quire.layers.journal.canonical import file_bytes
from quire.layers.journal.documents import parse_document, read_state, value_of
from quire.layers.journal.layout import ALL_FOLDERS, FOLDER, IGNORED, LOCAL_PROVIDER, PREFERENCES, PROJECTIONS, STATE
from quire.layers.journal.store import Journal, Writing, commit, held_file, journal_access, open_journal
from quire.layers.journal.types import Bundle, JournalEvent, SessionSource, State
from quire.model.errors import InputError, InvalidStore, not_one_of
from quire.model.records import Problem
from quire.model.times import time_text
from quire.model.untyped import with_texts
from quire.project import Project
from quire.verbs.inbox.rejected_texts import left_out, quiet_diff, sift_bundle, sift_event
from quire.verbs.journal.journal_lines import FileChange, SourceState

if TYPE_CHECKING:
    from quire.capture.providers.ask import ProviderAnswer as ModelAnswer
    from quire.capture.providers.requests import Task
    from quire.layers.journal.pages import PlannedFile

Result = TypeVar("Result")
_NOTES = {"state": "the memory itself", "entry": "the section for agents in it", "page": "a page made from the memory"}


def journal_is_there(project: Project) -> None:
    """There is a journal of our version; a damaged one is for the run to tell of."""
    project.recover()
    with contextlib.suppress(InvalidStore):
        data = held_file(project.root, STATE)
        if data is None:
            open_journal(project.root)  # which says what is missing
        else:
            read_state(parse_document(data, f"{FOLDER}/{STATE}"))


def read_journal(project: Project) -> Journal:
    """The journal as it is now."""
    project.recover()
    return open_journal(project.root)


def journal_locked(project: Project, operation: str) -> AbstractContextManager[None]:
    return journal_access(project.root, project.world, operation)


def change_journal(
    project: Project, operation: str, plan: Callable[[Journal], tuple[Result, Writing | None]]
) -> Result:
    """Plan a change against the fresh journal and write it, all under the lock; then the pages."""
    with journal_locked(project, operation):
        journal = open_journal(project.root)
        result, writing = plan(journal)
        if writing is not None:
            commit(journal, writing, project.world)
            problems = write_due_pages(project)
            warnings = getattr(result, "warnings", None)
            if isinstance(warnings, list):
                warnings += problems
    if writing is not None:
        prepare_journal(project)
    return result


def write_due_pages(project: Project) -> list[Problem]:
    """The caller holds the lock."""
    from quire.layers.journal.pages import write_due_pages

    return write_due_pages(project.root, project.world)


def prepare_journal(project: Project) -> None:
    """Git leaves alone what belongs to this machine."""
    from quire.upkeep.ignore import hide_generated

    hide_generated(project, IGNORED)


def journal_time(project: Project) -> str:
    return time_text(project.world.now())


# -- what was rejected --------------------------------------------------------------------


def sift_rejected(project: Project, bundle: Bundle, warnings: list[Problem]) -> Bundle:
    """A bundle as it may be written: without what was rejected. What was left out is reported."""
    rejections = project.rejections()
    if rejections is None:
        return bundle
    bundle, number = sift_bundle(bundle, rejections)
    warnings += left_out(number)
    return bundle


def sift_rejected_events(project: Project, events: list[JournalEvent]) -> tuple[list[JournalEvent], int]:
    """Events without what was rejected, and how much that was."""
    rejections = project.rejections()
    if rejections is None:
        return events, 0
    found = [sift_event(event, rejections) for event in events]
    return [event for event, _ in found], sum(number for _, number in found)


def sift_rejected_diff(project: Project, diff: BundleDiff) -> BundleDiff:
    """A diff as it may be written: what went because it was rejected is not named."""
    rejections = project.rejections()
    return diff if rejections is None else quiet_diff(diff, rejections)


# -- providers --------------------------------------------------------------------------


def provider_name(wanted: str | None, configured: str = "auto") -> str:
    """Who makes the proposals: ours, unless someone asked for another by name."""
    name = wanted or configured
    if name not in PREFERENCES:
        raise not_one_of(f"Unknown provider `{name[:40]}`.", "provider", PREFERENCES)
    return LOCAL_PROVIDER if name == "auto" else name


def is_model(wanted: str | None) -> bool:
    """Whether that provider is a model: to ask it costs something, and it never answers the same twice."""
    return provider_name(wanted) != LOCAL_PROVIDER


def ask_model(project: Project, task: Task, provider: str) -> ModelAnswer:
    """The validated answer of a model. It costs something, and the ceiling of the day is looked at first."""
    from quire.capture.providers.ask import ask
    from quire.capture.providers.settings import read_settings
    from quire.guard.hostile_text import make_safe

    answer = ask(task, provider=provider, settings=read_settings(project.world), world=project.world, root=project.root)
    # What a model wrote may hold characters that are not what they seem.
    return msgspec.structs.replace(answer, value=with_texts(answer.value, make_safe))


def model_warnings(answer: ModelAnswer) -> list[Problem]:
    return [Problem(code="JournalProviderNote", severity="warning", message=text) for text in answer.warnings]


# -- showing ----------------------------------------------------------------------------


def plan_journal(project: Project, after: State, *, diffs: bool = False, agreed: bool = True) -> list[FileChange]:
    """Every file that a new state means, as it is on the disk and as it would be."""
    held = held_file(project.root, STATE)
    state = _file_change(f"{FOLDER}/{STATE}", held, file_bytes(value_of(after)), "state", diffs)
    return [state, *_pages_planned(project, after, diffs, agreed)]


def _pages_planned(project: Project, state: State, diffs: bool, agreed: bool) -> list[FileChange]:
    from quire.layers.journal.pages import planned_pages

    return [
        _page_change(page, "page" if page.path.startswith(f"{PROJECTIONS}/") else "entry", diffs)
        for page in planned_pages(project.root, state, entry=agreed)
    ]


def plan_pages(project: Project, state: State, diffs: bool, agreed: bool) -> list[FileChange]:
    """The pages that are missing or of another bundle, where the memory itself stays as it is."""
    from quire.layers.journal.checks.pages import pages_to_write

    wanted = set(pages_to_write(project.root, state, entry=agreed))
    if not wanted:
        return []
    return [item for item in _pages_planned(project, state, diffs, agreed) if item.path in wanted]


def _page_change(page: PlannedFile, note: str, diffs: bool) -> FileChange:
    from quire.layers.journal.entry_block import entry_marker

    found = _file_change(page.path, page.before, page.after, note, diffs)
    if note == "entry" and page.before is not None and entry_marker(page.before) is None:
        return FileChange(kind="PATCH", path=found.path, note=found.note, diff=found.diff)
    return found


def _file_change(path: str, before: bytes | None, after: bytes, note: str, diffs: bool) -> FileChange:
    from quire.layers.journal.line_diff import diff_lines, shortened

    kind = "CREATE" if before is None else "OVERWRITE"
    text = None
    if diffs:
        old, new = ((data or b"").decode("utf-8", "replace") for data in (before, after))
        made = diff_lines(old, new, path)
        text = shortened(made) if made else None
    return FileChange(kind=kind, path=path, note=_NOTES[note], diff=text)


def source_state(project: Project, source: SessionSource) -> SourceState:
    path = source_place(project, source)
    return SourceState(
        id=source.id,
        type=source.type,
        path=source.path,
        last_synced_at=source.last_synced_at,
        last_sync_status=source.last_sync_status,
        last_sync_error=source.last_sync_error,
        last_imported_count=source.last_imported_count,
        exists=bool(path) and os.path.lexists(path),
        all_folders=source.extra.get(ALL_FOLDERS) is True,
    )


def source_place(project: Project, source: SessionSource) -> str:
    """Where a source is on this machine; empty where nobody can tell."""
    from quire.capture.transcripts.places import source_path

    with contextlib.suppress(InputError):
        return source_path(source.path, cwd=project.root, home=project.world.home)
    return ""
