"""Find a checkpoint by name, and compare the memory with it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quire.layers.journal.bundle_diff import diff_bundles, diff_text, diff_value
from quire.layers.journal.layout import BATCH_CHECKPOINTS
from quire.layers.journal.projections import render_projections
from quire.layers.journal.store import load_checkpoint
from quire.layers.journal.types import Bundle, Checkpoint, State
from quire.model.errors import NotFound, QuireError
from quire.project import Project
from quire.verbs.journal.journal_lines import FileChange


def journal_checkpoint(project: Project, name: str) -> Checkpoint:
    """A checkpoint, be it active or archived."""
    from quire.layers.journal.archive import find_batches

    name = name.removeprefix("checkpoint:")
    try:
        return load_checkpoint(project.root, name)
    except NotFound:
        for batch in find_batches(project.root):
            if batch.manifest and name in batch.manifest.archived_checkpoint_ids:
                return load_checkpoint(project.root, name, f"{batch.path}/{BATCH_CHECKPOINTS}")
        raise


def difference_from(project: Project, name: str | None, bundle: Bundle) -> dict[str, Any] | None:
    """How a bundle differs from a checkpoint; None where there is no checkpoint."""
    if name is None:
        return None
    try:
        checkpoint = journal_checkpoint(project, name)
    except QuireError as error:
        return {"id": name, "error": error.message}
    value = diff_value(diff_bundles(checkpoint.bundle, bundle))
    return {"id": checkpoint.id, "createdAt": checkpoint.created_at, **value, "summary": diff_text(value)}


def as_state(state: State, checkpoint: Checkpoint) -> State:
    """A checkpoint in the form of a state."""
    return replace(
        state, bundle=checkpoint.bundle, bundle_hash=checkpoint.bundle_hash, generated_at=checkpoint.created_at
    )


def page_diffs(before: State, after: State) -> list[FileChange]:
    """The pages of one state against those of another, line by line."""
    from quire.layers.journal.line_diff import diff_lines, shortened

    found = []
    for old, new in zip(render_projections(before), render_projections(after), strict=True):
        # The first line only says from which bundle the page is.
        made = diff_lines(old.text.partition("\n")[2], new.text.partition("\n")[2], new.path)
        if made and new.file_id != "readme":
            found.append(FileChange(kind="DIFF", path=new.path, note="", diff=shortened(made)))
    return found
