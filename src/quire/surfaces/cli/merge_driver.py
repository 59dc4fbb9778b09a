"""`memory merge-driver`: what git runs to merge one file of the memory."""

from __future__ import annotations

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, CliOption, Command, Session
from quire.surfaces.cli.output import aside

_EXAMPLES = """Examples:
  git config merge.quire.driver "quire merge-driver %O %A %B %L %P"
  quire merge-driver base.json ours.json theirs.json 7 .memory/memory/decisions/one-queue.json
"""


def run(
    session: Session,  # noqa: ARG001
    base: str,
    ours: str,
    theirs: str,
    marker_size: str | None = None,
    path: str | None = None,
    union: bool = False,
) -> int:
    """Merge one file of the memory; git calls this, not people.

    BASE, OURS and THEIRS are files; the result replaces OURS. PATH, from the top of the repository, tells the kind of
    file; MARKER_SIZE is the length of conflict marks. The exit code is 0 if git can continue, also if branches
    disagree: then all values are kept, and standard error names the record. With `git config quire.contested stop`, and
    where a text is left with conflict marks, it ends with 10. `memory integrate git` sets it up.
    """
    from quire.files.world import real_world
    from quire.model.contested import disagreement
    from quire.verbs.team.merge_driver import DriverFiles, drive

    if not (marker_size or "7").isdecimal():
        raise UsageError(f"MARKER_SIZE is a number, not `{(marker_size or '')[:40]}`.", hint="Git says it as %L.")
    files = DriverFiles(
        base=base, ours=ours, theirs=theirs, path=path or "", marker=int(marker_size or "7"), union=union
    )
    done = drive(real_world(), files)
    for field in done.contested:
        aside(f"Contested (`memory resolve` settles it): {field.ref}, {disagreement(field)}")
    return done.exit_code


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        CliOption(
            name="--union", into="union", help="For texts that Quire did not write, keep the lines of both sides."
        ),
    ),
    arguments=(
        Argument(name="base"),
        Argument(name="ours"),
        Argument(name="theirs"),
        Argument(name="marker_size", required=False),
        Argument(name="path", required=False),
    ),
    paths=("base", "ours", "theirs", "path"),
)
