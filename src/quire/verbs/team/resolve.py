"""`memory resolve`: settle what branches disagree on, and merge files that a merge left in conflict."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from quire.files.branches import writes_fragments
from quire.files.fragments import new_fragment
from quire.files.paths import read_if_there
from quire.files.transaction import Append, FileUpdate
from quire.layers.graph.inspect import node_meant
from quire.layers.graph.layout import EVENTS, FOLDER
from quire.layers.table import layer_named, layer_of_file
from quire.model.contested import BODY, RECORD, Choice, ContestedField, value_shown
from quire.model.errors import InputError, NotFound, UsageError
from quire.model.records import Record
from quire.model.times import timestamp
from quire.project import Project
from quire.upkeep.merge.conflicts import merge_conflicts, shared_conflicts, sides_before
from quire.upkeep.merge.merge_files import (
    Logged,
    MergedPath,
    merged_settled,
    not_merged,
    problems_in,
    write_merged,
    write_shared,
)
from quire.upkeep.undo_plan import UndoStep, events_back
from quire.verbs.ask.inspect import full_ref
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Verb, Word

Way = Literal["ours", "theirs", "both", "edit"]
_SHOWN = 400
_SIDES = 20
"""Of so many fields the sides are looked up in the history."""
_VALUE_CHARS = 200_000


class Resolve(Arguments, frozen=True, kw_only=True):
    ref: Annotated[Annotated[str, Meta(max_length=500)] | None, Word(required=False)] = None
    ours: Annotated[bool, Option(help="Take what this branch said before the merge.")] = False
    theirs: Annotated[bool, Option(help="Take what the other branch said.")] = False
    both: Annotated[bool, Option(help="Take all of it: of a text both versions, of a list the items of both.")] = False
    edit: Annotated[bool, Option(help="Write the value in your editor.")] = False
    value: Annotated[
        Annotated[str, Meta(max_length=_VALUE_CHARS)] | None,
        Option(metavar="TEXT", help="Take this value; JSON where the field is not text."),
    ] = None
    field: Annotated[
        Annotated[str, Meta(max_length=200)] | None,
        Option(metavar="NAME", help="Only this field; needed with --edit and --value where several are contested."),
    ] = None
    dry_run: Annotated[bool, Option(help="Show what would change, write nothing.")] = False


class SettledField(msgspec.Struct, frozen=True, kw_only=True):
    ref: str
    field: str
    value: Any


class FieldsResolved(Result, kw_only=True):
    dry_run: bool
    merged: list[str] = []
    """Files that were in conflict."""
    settled: list[SettledField] = []
    contested: list[ContestedField] = []
    """What is still to be settled."""
    files_changed: list[str] = []


def resolve(project: Project, given: Resolve) -> FieldsResolved:
    """Settle what branches disagree on.

    First it merges, by record, the memory's files that git left in conflict; nothing is lost. It also settles the
    sections that Quire writes into other files, such as `AGENTS.md`. REF names a record to settle. Without REF, it
    lists what is contested, and asks about it on a terminal. It leaves `git add` to you.
    """
    ways: list[Way] = [way for way in _WAYS if getattr(given, way)]
    if len(ways) + (given.value is not None) > 1:
        raise UsageError("Give only one way to settle it.", hint="Choose --ours, --theirs, --both or --edit.")
    if "edit" in ways:
        raise UsageError("--edit needs a terminal.", hint="Give the value with --value.")
    project.ready_to_ask()
    shared, conflicts = shared_conflicts(project), merge_conflicts(project)
    done = FieldsResolved(dry_run=given.dry_run, merged=[one.path for one in (*conflicts, *shared) if not one.why_not])
    done.warnings = not_merged([*conflicts, *shared])
    if not given.dry_run:
        # First the pages: they are written anew where they are of another state than the merged one.
        done.files_changed = [*write_shared(project, shared), *write_merged(project, conflicts, "resolve")]
    if not given.dry_run:
        done.files_changed += _folded(project)
    found = contested_here(project, given.ref, given.field)
    if given.dry_run:
        done.contested += [field for one in conflicts for field in one.contested]
    if ways or given.value is not None:
        _settle(project, given, ways[0] if ways else None, found, done)
    else:
        done.contested += [_with_sides(project, *one) for one in found[:_SIDES]]
        done.contested += [field for _, field in found[_SIDES:]]
    return done


def _folded(project: Project) -> list[str]:
    """What branches added to one document and disagree on stands in no file as contested until it is folded."""
    records = project.with_index(lambda index: index.records_contested())
    found: list[str] = []
    for layer in {layer_named(record.layer) for record in records if not fields_contested(project, record)}:
        if layer.fragments(project):
            with layer.access(project, "resolve"):
                found += layer.fold(project)
    return found


_WAYS: tuple[Way, ...] = ("ours", "theirs", "both", "edit")


def contested_here(
    project: Project, ref: str | None = None, name: str | None = None
) -> list[tuple[Record, ContestedField]]:
    """The contested fields of all records, or of one."""
    records = project.with_index(lambda index: index.records_contested()) if ref is None else [_record(project, ref)]
    found = [(record, field) for record in records for field in fields_contested(project, record, name)]
    if ref is not None and not found:
        raise InputError(f"Branches do not disagree on `{ref}`.", hint="`memory resolve` lists what they disagree on.")
    return found


def fields_contested(project: Project, record: Record, name: str | None = None) -> list[ContestedField]:
    """The contested fields of a record, as its files have them."""
    layer = layer_named(record.layer)
    return [
        msgspec.structs.replace(field, ref=record.ref)
        for path in layer.holding(record).paths
        for field in layer.contested_in(path, _read(project, path))
        if field.ref in (record.ref, path) and name in (None, field.field)
    ]


def _record(project: Project, ref: str) -> Record:
    wanted = full_ref(ref)
    record = project.with_index(lambda index: index.find(wanted))
    if record is None and not any(mark in ref for mark in ".:"):
        found = node_meant(project.graph, ref.strip())
        record = project.with_index(lambda index: index.find(found))
    if record is None:
        raise NotFound(f"`{ref[:200]}` is not in the memory.", hint="`memory resolve` lists what is contested.")
    return record


def _settle(
    project: Project, given: Resolve, way: Way | None, found: list[tuple[Record, ContestedField]], done: FieldsResolved
) -> None:
    """Choose a value for each field, then write all files."""
    if given.value is not None and len(found) != 1:
        raise UsageError("--value settles one field.", hint="Name the record, and the field with --field.")
    choices: dict[str, list[Choice]] = {}
    at = timestamp(project.world.now())
    for record, field in found:
        value = _value(project, record, field, way) if given.value is None else _admitted(project, field, given.value)
        choices.setdefault(field.path, []).append(Choice(ref=record.ref, field=field.field, value=value, at=at))
        done.settled.append(SettledField(ref=record.ref, field=field.field, value=value))
    held = {path: _read(project, path) for path in choices}
    beside = [other for path in choices for other in _together(path) if other not in held]
    files = {**held, **{path: _read(project, path) for path in beside}}
    merged = merged_settled(held, choices, files)
    if given.value is not None:
        gone = {one.path for one in merged if one.after is None}
        after = {**files, **{one.path: one.after for one in merged if one.after is not None}}
        _refuse_unreadable(given.value, files, {path: data for path, data in after.items() if path not in gone})
    if not given.dry_run:
        done.files_changed += write_merged(project, merged, "resolve", lambda: _logged(project, merged, at))
    else:
        done.files_changed += [one.path for one in merged]


def _refuse_unreadable(value: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """A value with which the record could not be read any more."""
    known = problems_in(before)
    for problem in problems_in(after):
        if problem not in known:
            raise InputError(f"`{value[:80]}` does not fit: {problem.message}", hint="Nothing was written.")


def _logged(project: Project, merged: list[MergedPath], at: str) -> Logged:
    """The events that tell what became of nodes and relations."""
    pairs = [(one, one.path.removeprefix(f"{FOLDER}/")) for one in merged if one.after != one.before]
    steps = [UndoStep(path, one.before, one.after) for one, path in pairs if path != one.path]
    events = events_back(project.graph, steps, "resolve", at)
    if not events:
        return []
    if writes_fragments(project):
        return [FileUpdate(path=new_fragment(EVENTS, project.world), data=events, planned=None)]
    return [Append(path=EVENTS, data=events, size=project.graph.events_size())]


def _read(project: Project, path: str) -> bytes:
    return read_if_there(os.path.join(project.root, path)) or b""


def _together(path: str) -> tuple[str, ...]:
    layer = layer_of_file(path)
    return layer.read_together(path) if layer else ()


def as_given(field: ContestedField, value: Any) -> str:
    """A value as --value takes it."""
    return value if _is_text(field) and isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_text(field: ContestedField) -> bool:
    return field.field != RECORD and all(isinstance(value, str) or value is None for value in field.values)


def _admitted(project: Project, field: ContestedField, text: str) -> Any:
    """A value that a person gave, as it is stored: what may not be written by other commands may not be here."""
    from quire.guard.admission import admit, refuse_secret

    refuse_secret(text, field.field)
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse({field.field: text})
    if _is_text(field):
        is_gone = text == "null" and None in field.values
        return None if is_gone else admit(text, field.field, most=_VALUE_CHARS)[0]
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError as error:
        raise UsageError(f"--value is not JSON ({error}).", hint=f"`{field.field}` is not text.") from None


def _value(project: Project, record: Record, field: ContestedField, way: Way | None) -> Any:
    now = _read(project, field.path)
    if way == "both":
        value = layer_named(record.layer).both_of(field, now)
        if value is None:
            raise InputError(
                f"`{field.field}` of `{record.ref}` takes one value.", hint="Choose --ours, --theirs or --value."
            )
        return value

    sides = _value_of_sides(project, record, field, now)
    if sides is None:
        raise InputError(
            "The history here does not say which value is of which branch.", hint="Give the value with --value."
        )
    value = sides[way != "ours"]
    if field.field != BODY and value not in field.values:
        raise InputError(
            f"`{record.ref}` had another `{field.field}` on that side since.", hint="Give the value with --value."
        )
    return value


def _value_of_sides(project: Project, record: Record, field: ContestedField, now: bytes) -> tuple[Any, Any] | None:
    """What this branch said before the merge, and what the other one said; None where the history does not tell."""
    layer = layer_named(record.layer)

    def is_contested(data: bytes) -> bool:
        return any(
            one.ref in (record.ref, field.path) and one.field == field.field
            for one in layer.contested_in(field.path, data)
        )

    sides = sides_before(project, field.path, is_contested)
    if sides is None:
        return None
    ours, theirs = (layer.value_in(record, field, side, now) if side is not None else None for side in sides)
    return ours, theirs


def _with_sides(project: Project, record: Record, field: ContestedField) -> ContestedField:
    found = _value_of_sides(project, record, field, _read(project, field.path))
    if found is None or found[0] == found[1]:
        return field
    names = ("ours" if value == found[0] else "theirs" if value == found[1] else "" for value in field.values)
    return msgspec.structs.replace(field, sides=tuple(names))


def lines(done: FieldsResolved) -> Lines:
    would = "Would merge" if done.dry_run else "Merged"
    for path in done.merged:
        yield f"{would} {path}"
    for field in done.settled:
        yield Recalled(text=f"{field.ref}  {field.field}: {value_shown(field.value)}", ref=field.ref, origin="memory")
    for contested in done.contested:
        yield from contested_lines(contested)
    if done.contested:
        yield "`memory resolve REF --ours` (or --theirs, --both, --edit) settles it; `--dry-run` shows the value."
    elif not done.settled and not done.merged:
        yield "Branches disagree on nothing."
    if done.files_changed and not done.dry_run:
        yield from (f"Wrote {path}" for path in done.files_changed if path not in done.merged)
        yield "`git add` these files."


def contested_lines(field: ContestedField) -> Lines:
    """The record, the field, and its values, each on a line."""
    yield f"{field.ref}  {field.field}"
    for number, value in enumerate(reversed(field.values), start=1):
        side = f"{field.sides[-number]}: " if field.sides and field.sides[-number] else ""
        yield Recalled(text=f"  [{number}] {side}{value_shown(value, _SHOWN)}", ref=field.ref, origin="memory")


VERB = Verb(
    takes=Resolve,
    run=resolve,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory resolve
  memory resolve feature.retry-queue --ours
  memory resolve decision.queue --field title --value "The queue"
""",
)
