"""`memory export`: write the whole memory as one document for people, programs or another server."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Annotated

from quire.files import disk
from quire.files.durable_write import ensure_folder, write_file
from quire.files.paths import escaping_part, storage_failed
from quire.guard.hostile_text import escape_controls
from quire.index.catalog import Index
from quire.layers.graph.layout import FOLDER
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.profile.records import entry_of
from quire.model.errors import InputError, NotInitialized, StorageFailed, UsageError, not_one_of
from quire.model.records import Problem, Record
from quire.model.text import counted, cut
from quire.model.times import timestamp
from quire.model.vocabulary import LAYER_NAMES
from quire.project import Project
from quire.upkeep.export import Holdings, gather_holdings, judge_holdings
from quire.upkeep.export_formats import EXPORT_FORMATS, ExportText, render_export
from quire.upkeep.export_okf import render_okf
from quire.verbs.ask.answers import ONLY_LAYERS, unreadable_files
from quire.verbs.verb import Arguments, Aside, LaidOut, Lines, Option, Output, Result, Verb

_CLOSED = (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER, ".git")
"""Folders that hold what is true; a file of ours in them would be taken for a part of it."""

_LEFT_OUT = {
    "not_current": ("not current", "--all"),
    "events": ("of the journal's history", "--all"),
    "private": ("private", "--private"),
}
_STDOUT = "-"
_PAGE_MARK = "quire-export.txt"
"""What names the files of an exported page, so that another can take its place."""


class Export(Arguments, frozen=True, kw_only=True):
    output_format: Annotated[
        str,
        Option(
            name="--format",
            metavar="FORMAT",
            choices=("markdown", "json", "mcp", "okf"),
            help="The form of the text.",
            show_default=True,
        ),
    ] = "markdown"
    layers: Annotated[list[str], ONLY_LAYERS] = []
    everything: Annotated[bool, Option(name="--all", help="Include retired records and the journal's history.")] = False
    private: Annotated[bool, Option(help="Include the private records of the profile.")] = False
    output: Annotated[
        str | None, Option(metavar="FILE", help="Write to this file; with okf, to this folder.", is_path=True)
    ] = None
    force: Annotated[bool, Option(help="Replace an existing file.")] = False


class Exported(Result, kw_only=True):
    format: str
    text: str | None
    """None where a file holds it."""
    records: int
    edges: int
    left_out: dict[str, int]
    """How many records were left out because they are `private`, `events`, or `not_current`."""
    path: str | None = None


def export(project: Project, given: Export) -> Exported:
    """Print the whole memory: for people, for programs, or for another server.

    markdown is one document to read; json has every record and relation with its fields; mcp is the file of the
    reference memory server for MCP; okf is a folder with a Markdown file for each record, in the Open Knowledge Format.
    Retired records, the journal's history and private records are left out unless you ask for them.
    """
    _known("format", given.output_format, EXPORT_FORMATS)
    for layer in given.layers:
        _known("layer", layer, LAYER_NAMES)
    project.ready_to_ask()
    is_folder = given.output_format == "okf"
    target = _folder(project, given) if is_folder else _target(project, given)

    def work(index: Index) -> tuple[Holdings, list[Problem]]:
        return _judged(project, index, given), unreadable_files(index)

    found, problems = project.with_index(work)
    made = ExportText(text="", edges=len(found.edges)) if is_folder else render_export(found, given.output_format)
    if target is not None and is_folder:
        write_page(project, target, render_okf(found), force=given.force)
    elif target is not None:
        _write_text(project, target, made.text, force=given.force)
    return Exported(
        format=given.output_format,
        text=None if target else made.text,
        records=len(found.records),
        edges=made.edges,
        left_out=found.left_out,
        path=target,
        warnings=problems,
    )


def _judged(project: Project, index: Index, given: Export) -> Holdings:
    layers = given.layers or LAYER_NAMES
    found = _holdings(project, index, layers, everything=given.everything, private=given.private)
    return found if given.output_format == "mcp" else judge_holdings(found, project.root, project.git)


def lines(done: Exported) -> Lines:
    if done.path:
        yield f"Wrote {done.path}: {counted(done.records, 'record')}, {counted(done.edges, 'relation')}."
    elif done.text and done.format == "markdown":
        yield LaidOut(text=done.text.rstrip("\n"))
    elif done.text:
        # Nothing in it that a terminal would act on, wherever the pipe ends; and JSON stays JSON.
        yield Output(text=escape_controls(done.text).rstrip("\n"))
    if not done.records:
        yield Aside(text="Nothing to export.")
    left = [
        f"{count:,} {said} ({option})" for name, (said, option) in _LEFT_OUT.items() if (count := done.left_out[name])
    ]
    if left:
        yield Aside(text=f"Left out: {', '.join(left)}.")


def _holdings(project: Project, index: Index, layers: Sequence[str], *, everything: bool, private: bool) -> Holdings:
    about = Holdings(project=_called(project), exported_at=timestamp(project.world.now()))

    def is_private(record: Record) -> bool:
        return entry_of(record).is_private

    return gather_holdings(index, about, layers, is_private, everything=everything, private=private)


def _called(project: Project) -> dict[str, str]:
    """What the project is called; the folder's name where no graph says it."""
    try:
        found = project.graph.config().project
    except NotInitialized:
        return {"id": "", "name": os.path.basename(project.root)}
    return {"id": found.id, "name": found.name}


def _open_place(project: Project, output: str, what: str) -> str:
    """Where a name leads, links followed; refused where no export belongs."""
    named = os.path.join(project.world.cwd, output)
    target = os.path.realpath(named)
    if _is_closed(project, named) or _is_closed(project, target):
        raise _refused(
            output,
            f"is inside {', '.join(_CLOSED[:-1])} or {_CLOSED[-1]}, which no export belongs into",
            f"Name a {what} elsewhere.",
        )
    return target


# -- the file ---------------------------------------------------------------------------


def _target(project: Project, given: Export) -> str | None:
    """The file to write, a link followed; refused before any work where it could not be written."""
    output, force = given.output, given.force
    if output in (None, _STDOUT):
        return None
    if not output.strip() or "\0" in output:
        raise _refused(output, "is not a file name", "Give the name of the file to write.")
    named = os.path.join(project.world.cwd, output)
    target = _open_place(project, output, "file")
    if os.path.isdir(target):
        raise _refused(output, "is a folder", "Name a file in it.")
    if not os.path.isdir(os.path.dirname(target)):
        raise _refused(output, "is in a folder that does not exist", "Create the folder first.")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise _refused(output, "is not a regular file", "Leave --output out to have it printed.")
    if os.path.lexists(named) and not force:
        raise _refused(output, "already exists", "--force replaces it.")
    return target


# -- a folder ---------------------------------------------------------------------------


def _folder(project: Project, given: Export) -> str:
    if given.output in (None, _STDOUT):
        raise UsageError("okf is a folder of files.", hint="memory export --format okf --output FOLDER")
    return page_target(project, given.output, force=given.force)


def page_target(project: Project, output: str, *, force: bool) -> str:
    """The folder to write a page into; refused before any work where it could not be written."""
    if not output.strip() or "\0" in output:
        raise _refused(output, "is not a folder name", "Name the folder to write.")
    project.ready_to_ask()
    target = _open_place(project, output, "folder")
    if not os.path.isdir(os.path.dirname(target)):
        raise _refused(output, "is in a folder that does not exist", "Create that folder first.")
    if os.path.lexists(target) and not os.path.isdir(target):
        raise _refused(output, "is a file", "Name a folder.")
    if os.path.isdir(target) and os.listdir(target):
        if not os.path.isfile(os.path.join(target, _PAGE_MARK)):
            raise _refused(output, "is a folder that is not empty", "Name a new one.")
        if not force:
            raise _refused(output, "already holds an export", "--force replaces it.")
    return target


def write_page(project: Project, target: str, files: Mapping[str, bytes], *, force: bool) -> str:
    """Write these files into the folder, all of them or none; with `force`, in the place of an earlier export."""
    token = project.world.token()
    new, old = f"{target}.new-{token}", f"{target}.old-{token}"
    named = {**files, _PAGE_MARK: "".join(f"{name}\n" for name in sorted(files)).encode()}
    try:
        for name, data in named.items():
            path = os.path.join(new, *name.split("/"))
            ensure_folder(os.path.dirname(path))
            disk.create(path, data)
        if os.path.isdir(target) and force:
            disk.rename(target, old)
        disk.rename(new, target)
        disk.sync_folder(os.path.dirname(target))
    except OSError as error:
        with contextlib.suppress(OSError):
            if os.path.isdir(old) and not os.path.lexists(target):
                disk.rename(old, target)  # none of them: what was there stands there again
        _clear_page(new)
        raise storage_failed(error, f"write `{os.path.basename(target)}`") from error
    left = _clear_page(old)
    if left:
        # What someone else put there is not ours to remove.
        raise StorageFailed(
            f"The export is written. The earlier export held files that it did not write; they are kept in {old}.",
            hint="Check what is in it, then remove it.",
            details={"path": old},
        )
    return target


def _is_closed(project: Project, path: str) -> bool:
    """Whether a path leads into a folder that is no place for it: of this project, or of another one."""
    whole, root = os.path.normpath(path), os.path.realpath(project.root)
    # What lies above the project says nothing: it may well be kept below such a folder itself.
    inner = os.path.relpath(whole, root) if whole.startswith(root + os.sep) else whole
    return any(part.casefold() in _CLOSED for part in inner.split(os.sep))


def _write_text(project: Project, target: str, text: str, *, force: bool) -> None:
    try:
        write_file(target, text.encode("utf-8"), project.world.token(), ... if force else None)
    except OSError as error:
        raise storage_failed(error, f"write `{os.path.basename(target)}`") from error


def _clear_page(folder: str) -> bool:
    """Remove an export, as far as it is one; whether something is left."""
    if not os.path.isdir(folder):
        return False
    try:
        with open(os.path.join(folder, _PAGE_MARK), encoding="utf-8") as file:
            named = [*file.read().splitlines(), _PAGE_MARK]
    except (OSError, UnicodeDecodeError):
        found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
        named = [os.path.relpath(path, folder) for path in found]
    with contextlib.suppress(OSError):
        for name in named:
            path = os.path.join(folder, *name.split("/"))
            # A folder in it may be a link of someone else's by now, and lead elsewhere.
            is_inside = os.path.realpath(path) == os.path.join(os.path.realpath(folder), *name.split("/"))
            if escaping_part(name) is None and is_inside and os.path.isfile(path):
                disk.remove(path)
        for place, _, _ in os.walk(folder, topdown=False):
            disk.remove_folder(place)
    return os.path.isdir(folder)


def _known(field: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise not_one_of(f"Unknown {field} `{cut(value, 40)}`.", field, allowed)


def _refused(output: str, reason: str, hint: str) -> InputError:
    return InputError(f"`{cut(output, 200)}` {reason}.", hint=hint, details={"field": "output"})


VERB = Verb(
    takes=Export,
    run=export,
    lines=lines,
    examples="""Examples:
  memory export > memory.md
  memory export --format json --all --output memory.json
  memory export --layer graph,facts --output handbook.md --force
  memory export --format mcp > memory.jsonl
  memory export --format okf --output knowledge/
""",
)
