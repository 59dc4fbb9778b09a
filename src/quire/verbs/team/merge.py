"""`memory merge`: what merging the memory of another branch would do, and with --apply its result."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from quire.model.errors import Conflict
from quire.model.text import counted
from quire.project import Project
from quire.upkeep.merge.conflicts import merge_conflicts
from quire.upkeep.merge.merge_files import not_merged, write_merged
from quire.upkeep.merge.revision import merge_revision
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb, Word


class MergeArguments(Arguments, frozen=True, kw_only=True):
    revision: Annotated[Annotated[str, Meta(min_length=1, max_length=500)], Word(name="rev", is_path=True)]
    apply: Annotated[bool, Option(help="Write the merged files into the work tree; commit nothing.")] = False


class MergeDone(Result, kw_only=True):
    """Records by what becomes of them, and the files."""

    commit: str
    base: str
    applied: bool
    added: list[str]
    changed: list[str]
    contested: list[str]
    dropped: list[str]
    files: list[str]
    """Files that are written, or would be."""


def merge(project: Project, given: MergeArguments) -> MergeDone:
    """Show what merging the memory of REV would do: records added, changed, contested, dropped.

    It compares the files here with REV and their common ancestor, and changes nothing. --apply writes the
    merged files of the memory into the work tree, all or none, and leaves the code and git alone.
    """
    project.ready_to_ask()
    for left in merge_conflicts(project):
        raise Conflict(
            f"`{left.path}` has an unresolved merge; nothing was merged.",
            hint="`memory resolve` merges it by record. Finish that merge first.",
        )
    found = merge_revision(project, given.revision)
    files = [one.path for one in found.merged if one.after != one.before]
    if given.apply:
        files = write_merged(project, found.merged, "merge")
        project.with_index(lambda _: None)
    return MergeDone(
        commit=found.commit,
        base=found.base,
        applied=given.apply,
        **msgspec.structs.asdict(found.records),
        files=files,
        warnings=[*found.warnings, *not_merged(found.merged)],
    )


def lines(done: MergeDone) -> Lines:
    if not done.files:
        yield "Nothing to merge: the memory has all of it."
        return
    for name in ("added", "changed", "contested", "dropped"):
        refs: list[str] = getattr(done, name)
        if refs:
            yield f"{name.capitalize()}: {', '.join(refs)}"
    yield f"{'Wrote' if done.applied else 'Would write'} {counted(len(done.files), 'file')}:"
    yield from (f"  {path}" for path in done.files)
    if done.contested:
        yield "`memory resolve` settles what is contested."
    if not done.applied:
        yield "`--apply` writes it."


VERB = Verb(
    takes=MergeArguments,
    run=merge,
    lines=lines,
    writes=True,
    examples="Example:\n  memory merge feature/retries\n  memory merge origin/main --apply\n",
)
