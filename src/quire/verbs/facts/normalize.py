"""`memory facts normalize`: rewrite a merged file of facts to its normal form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from quire.files.digests import blob_id
from quire.files.write_access import write_access
from quire.layers.facts.layout import FILE, FOLDER
from quire.layers.facts.normalize import normal_file
from quire.layers.facts.store import fold_facts, read_all, replace_file
from quire.model.errors import GitRequired
from quire.model.text import counted
from quire.project import Project
from quire.verbs.facts.fact_file import facts_ready, prepare_facts
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb

Done = TypeVar("Done")


class Normalize(Arguments, frozen=True, kw_only=True):
    write: Annotated[bool, Option(help="Do it.")] = False


class Normalized(Result, kw_only=True):
    dry_run: bool
    changed: bool
    lines_before: int
    lines_after: int
    facts: int
    removed: int
    kept_aside: int
    conflicts: int
    contradictions: int
    uncommitted: bool
    diff: str = ""


def normalize(project: Project, given: Normalize) -> Normalized:
    """Rewrite a merged file of facts: sorted, without duplicate lines, nothing lost.

    Shows what would change; --write does it.
    """

    def work() -> Normalized:
        if given.write:
            fold_facts(project.root, project.world)
        data = read_all(project.root)
        normal = normal_file(data)
        if normal.data != data and given.write:
            replace_file(project.root, project.world, normal.data, data)
        return Normalized(
            dry_run=not given.write,
            changed=normal.data != data,
            lines_before=normal.lines_before,
            lines_after=normal.lines_after,
            facts=len(normal.resolved.facts),
            removed=normal.lines_before - normal.lines_after,
            kept_aside=len(normal.resolved.aside),
            conflicts=len(normal.resolved.conflicts),
            contradictions=len(normal.resolved.contradictions),
            uncommitted=_is_uncommitted(project, data),
            diff=normal.diff,
        )

    return with_whole_file(project, "normalize the facts", work, dry_run=not given.write)


def with_whole_file(project: Project, operation: str, work: Callable[[], Done], *, dry_run: bool) -> Done:
    """Work on the file as a whole, under the lock unless nothing is written."""
    facts_ready(project)
    if dry_run:
        return work()
    with write_access(project.root, FOLDER, project.world, operation):
        done = work()
        prepare_facts(project)
        return done


def _is_uncommitted(project: Project, data: bytes) -> bool:
    """Whether git could not bring these bytes back."""
    name = f"{FOLDER}/{FILE}"
    try:
        blobs = [*project.git.committed([name]).values(), *project.git.staged([name]).values()]
    except GitRequired:
        return True
    return not any(blob_id(data, blob.id) == blob.id for blob in blobs)


def lines(done: Normalized) -> Lines:
    if not done.changed:
        yield f"The file is already normalized: {counted(done.lines_after, 'line')}, {counted(done.facts, 'fact')}."
        return
    verb = "Would rewrite" if done.dry_run else "Rewrote"
    facts = counted(done.facts, "fact")
    yield f"{verb} {counted(done.lines_before, 'line')} as {done.lines_after}; {facts}, none lost."
    if done.kept_aside:
        yield f"{counted(done.kept_aside, 'line')} could not be read and stay at the end; `memory check` shows why."
    if done.conflicts or done.contradictions:
        things, contradictions = counted(done.conflicts, "thing"), counted(done.contradictions, "contradiction")
        yield f"Other versions of {things} stay; {contradictions}."
    if done.dry_run:
        if done.diff:
            yield done.diff
        if done.uncommitted:
            yield "The file has uncommitted changes. Commit them first, so that git can restore them."
        yield "--write does it."


VERB = Verb(
    takes=Normalize,
    run=normalize,
    lines=lines,
    writes=True,
    examples="Examples:\n  memory facts normalize\n  memory facts normalize --write\n",
)
