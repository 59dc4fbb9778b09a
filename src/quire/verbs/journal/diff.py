"""`memory journal diff`: show what changed between two checkpoints."""

from __future__ import annotations

from typing import Annotated, Any

from quire.layers.journal.bundle_diff import diff_bundles, diff_text, diff_value
from quire.project import Project
from quire.verbs.journal.checkpoints import as_state, journal_checkpoint, page_diffs
from quire.verbs.journal.journal_lines import FileChange, file_diff_lines, told
from quire.verbs.journal.journal_state import read_journal
from quire.verbs.journal.recorded_lines import difference_lines
from quire.verbs.verb import Arguments, Lines, Result, Verb, Word

_STATE = "state"


class JournalDiff(Arguments, frozen=True, kw_only=True):
    before: Annotated[str, Word()]
    after: Annotated[str, Word(required=False)] = _STATE


class JournalDifference(Result, kw_only=True):
    before: str
    after: str
    same: bool
    changed_sections: list[str]
    diff: dict[str, Any]
    summary: str
    files: list[FileChange]


def journal_diff(project: Project, given: JournalDiff) -> JournalDifference:
    """Show what changed between two earlier states of the journal.

    With one state, compare it with the journal as it is. The pages are compared line by line.
    """
    state = read_journal(project).state
    before, after = (
        state if name == _STATE else as_state(state, journal_checkpoint(project, name))
        for name in (given.before, given.after)
    )
    diff = diff_bundles(before.bundle, after.bundle)
    value = diff_value(diff)
    return JournalDifference(
        before=given.before.removeprefix("checkpoint:"),
        after=given.after.removeprefix("checkpoint:"),
        same=diff.is_empty,
        changed_sections=list(diff.changed_sections),
        diff=value,
        summary=diff_text(value),
        files=page_diffs(before, after),
    )


def lines(found: JournalDifference) -> Lines:
    yield told(f"From {found.before} to {found.after}: {found.summary}")
    if not found.same:
        yield from file_diff_lines(found.files)


def recorded_lines(found: JournalDifference) -> Lines:
    said, *rest = lines(found)
    yield said
    if not found.same:
        yield from difference_lines(found.diff)
    yield from rest


VERB = Verb(
    takes=JournalDiff,
    run=journal_diff,
    lines=lines,
    recorded_lines=recorded_lines,
    examples="Examples:\n  memory journal diff chk-000001\n  memory journal diff chk-000001 chk-000003\n",
)
