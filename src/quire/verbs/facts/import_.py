"""`memory facts import`: import another file of facts."""

from __future__ import annotations

from typing import Annotated

from quire.layers.facts.normalize import take_in
from quire.layers.facts.store import fold_facts, read_all, replace_file
from quire.model.errors import InputError
from quire.project import Project
from quire.verbs.facts.normalize import with_whole_file
from quire.verbs.facts.options import DryRun
from quire.verbs.inbox.rejected_texts import left_out, sift_lines
from quire.verbs.verb import Arguments, Input, Lines, Result, Verb

_FILE_BYTES = 512 * 1024 * 1024


class Import(Arguments, frozen=True, kw_only=True):
    data: Annotated[bytes, Input(what="facts", word="file", most=_FILE_BYTES)]
    source: str = "the input"
    dry_run: DryRun = False


class Imported(Result, kw_only=True):
    dry_run: bool
    source: str
    lines: int
    added: int
    known: int
    refused: int
    """Lines with a credential in them."""
    set_aside: int
    """Lines that could not be read."""


def import_facts(project: Project, given: Import) -> Imported:
    """Import the new lines of another file of facts, such as one of the original program."""

    def work() -> Imported:
        if not given.dry_run:
            fold_facts(project.root, project.world)
        ours = read_all(project.root)
        rejections = project.rejections()
        allowed, rejected = (given.data, 0) if rejections is None else sift_lines(given.data, rejections)
        found = take_in(ours, allowed, given.source)
        if not found.lines and not rejected:
            raise InputError(
                f"`{given.source}` holds no facts.",
                hint="Name a file with one JSON object on each line, such as facts.jsonl.",
                details={"field": "file"},
            )
        if found.added and not given.dry_run:
            replace_file(project.root, project.world, found.data, ours)
        return Imported(
            dry_run=given.dry_run,
            source=given.source,
            lines=found.lines + rejected,
            added=found.added,
            known=found.lines - found.added - found.refused,
            refused=found.refused,
            set_aside=found.set_aside,
            warnings=[*found.problems, *left_out(rejected)],
        )

    return with_whole_file(project, "import facts", work, dry_run=given.dry_run)


def lines(done: Imported) -> Lines:
    verb = "Would import" if done.dry_run else "Imported"
    yield f"{verb} {done.added} of {done.lines} records; {done.known} were here already."
    if done.set_aside:
        yield f"Left out, because they could not be read: {done.set_aside}."
    if done.refused:
        yield f"Left out, because they hold a credential: {done.refused}."


VERB = Verb(
    takes=Import,
    run=import_facts,
    lines=lines,
    writes=True,
    examples="Example:\n  memory facts import ../old-clone/ai/memory/facts.jsonl\n",
)
