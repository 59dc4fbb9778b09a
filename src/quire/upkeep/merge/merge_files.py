"""Merge all files of the memory at once, and write the result all or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

import msgspec

from quire.files.digests import sha256
from quire.files.durable_write import ensure_folder, write_file
from quire.files.paths import read_if_there
from quire.files.transaction import Append, FileUpdate, apply_changes
from quire.layers.protocol import MEMORY_HOME, Home, Layer, Site
from quire.layers.table import HOMES, layer_named, layer_of_file, layers_in
from quire.model.contested import Choice, ContestedField
from quire.model.errors import Conflict, QuireError
from quire.model.records import Edge, Problem, Record

Files = Mapping[str, bytes]
"""Contents of files by their paths from the project's root."""
Logged = Sequence[Append | FileUpdate]
"""Events, for the log or for a fragment of it."""


class MergedPath(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge makes of one file."""

    path: str
    before: bytes | None
    after: bytes | None
    contested: tuple[ContestedField, ...] = ()
    why_not: str = ""
    """Why it could not be merged; then it stays as it is."""


class RecordChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Refs of records by what becomes of them."""

    added: list[str]
    changed: list[str]
    contested: list[str]
    dropped: list[str]


def merge_files(base: Files, ours: Files, theirs: Files) -> list[MergedPath]:
    """What becomes of every file that their side changed; a record that one side deleted and one changed is kept."""
    found: dict[str, MergedPath] = {}
    for path in sorted({*base, *ours, *theirs}):
        was, mine, yours = base.get(path), ours.get(path), theirs.get(path)
        layer = layer_of_file(path)
        if layer is None or yours in (was, mine):
            continue
        kept = _kept(layer, path, base, ours, theirs)
        if kept is None:
            found[path] = _merged(layer, path, was, mine, yours)
        else:
            found |= {one.path: one for one in kept}
    changed = (one for one in found.values() if one.after != one.before or one.why_not or one.contested)
    return _with_digests(ours, list(changed))


def _merged(layer: Layer, path: str, was: bytes | None, mine: bytes | None, yours: bytes | None) -> MergedPath:
    try:
        merged = layer.merge(path, was, mine, yours)
    except (QuireError, ValueError) as error:
        reason = error.message if isinstance(error, QuireError) else str(error)
        return MergedPath(path=path, before=mine, after=mine, why_not=reason)
    if merged is not None:
        return MergedPath(path=path, before=mine, after=merged.data, contested=merged.contested)
    if mine == was or mine is None or yours is None:
        # What one side changed; and what it changed while the other removed it.
        return MergedPath(path=path, before=mine, after=yours if mine in (was, None) else mine)
    return MergedPath(path=path, before=mine, after=mine, why_not="both sides changed it, and it is not a record")


def _kept(layer: Layer, path: str, base: Files, ours: Files, theirs: Files) -> list[MergedPath] | None:
    """The files of a record that one side removed and the other changed."""
    group = layer.read_together(path)
    for gone, other in ((ours, theirs), (theirs, ours)):
        is_gone = any(name in base for name in group) and not any(name in gone for name in group)
        if is_gone and any(name in other and other[name] != base.get(name) for name in group):
            after = {name: layer.deleted_elsewhere(name, other[name]) for name in group if name in other}
            return [
                MergedPath(
                    path=name, before=ours.get(name), after=data, contested=tuple(layer.contested_in(name, data))
                )
                for name, data in after.items()
            ]
    return None


def _with_digests(ours: Files, merged: list[MergedPath]) -> list[MergedPath]:
    """The same with digests that hold, also where a text and its digest stand in two files."""
    after = {one.path: one.after for one in merged if one.after is not None}
    whole = {
        other: data
        for path in after
        if (layer := layer_of_file(path))
        for other in layer.read_together(path)
        if (data := after.get(other, ours.get(other))) is not None
    }
    digests: dict[str, bytes] = {}
    for home in HOMES:
        inner = {path.removeprefix(f"{home.folder}/"): data for path, data in whole.items() if home.holds(path)}
        for layer in layers_in(home.folder):
            digests |= {f"{home.folder}/{path}": data for path, data in layer.rehash(inner, inner).items()}
    known = {one.path for one in merged}
    found = [msgspec.structs.replace(one, after=digests.get(one.path, one.after)) for one in merged]
    beside = (path for path in digests if path not in known)
    return [*found, *(MergedPath(path=path, before=ours[path], after=digests[path]) for path in beside)]


def merged_settled(files: Files, choices: Mapping[str, Sequence[Choice]], ours: Files) -> list[MergedPath]:
    """What becomes of files when contested fields are settled; `ours` are the files beside them, too."""
    found: list[MergedPath] = []
    for path, data in files.items():
        layer = layer_of_file(path)
        assert layer is not None
        after = layer.settled(path, data, choices[path])
        gone = layer.read_together(path) if after is None else ()
        found.append(MergedPath(path=path, before=data, after=after))
        found += [
            MergedPath(path=name, before=ours[name], after=None) for name in gone if name in ours and name != path
        ]
    return _with_digests(ours, found)


def record_changes(ours: Files, merged: Sequence[MergedPath]) -> RecordChanges:
    """What becomes of the records, by their refs."""
    after = {**ours, **{one.path: one.after for one in merged if one.after is not None}}
    layers = {one.path: layer for one in merged if (layer := layer_of_file(one.path))}
    paths = {other for path, layer in layers.items() for other in layer.read_together(path)}
    # A fragment alone does not say what becomes of a record: others may come before it.
    paths |= {path for layer in set(layers.values()) for path in after if layer.is_fragment(path)}
    gone = {one.path for one in merged if one.after is None}
    old = _records({path: ours[path] for path in paths if path in ours})
    new = _records({path: after[path] for path in paths if path in after and path not in gone})
    contested = {ref for ref, record in new.items() if record.contested and record != old.get(ref)}
    return RecordChanges(
        added=sorted(new.keys() - old.keys() - contested),
        changed=sorted(ref for ref in new.keys() & old.keys() if new[ref] != old[ref] and ref not in contested),
        contested=sorted(contested),
        dropped=sorted(old.keys() - new.keys()),
    )


def problems_in(files: Files) -> list[Problem]:
    """What keeps records in these files from being read."""
    return [item for item in items_in(files) if isinstance(item, Problem)]


def _records(files: Files) -> dict[str, Record]:
    return {item.ref: item for item in items_in(files) if isinstance(item, Record)}


def items_in(files: Files) -> Iterator[Record | Edge | Problem]:
    """The records, relations and problems that the layers find in these files."""
    by_layer: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        layer = layer_of_file(path)
        if layer is not None:
            by_layer.setdefault(layer.name, {})[path] = data
    for name, held in by_layer.items():
        yield from layer_named(name).records_in(held)


def write_merged(
    site: Site, merged: Sequence[MergedPath], operation: str, logged: Callable[[], Logged] | None = None
) -> list[str]:
    """Write what a merge made, if the files are still what it was made of: all of a folder, or nothing.

    `logged` are the events that are added to the memory's log with it.
    """
    changes = [one for one in merged if one.after != one.before and not one.why_not]
    homes = [home for home in HOMES if any(home.holds(one.path) for one in changes)]
    with ExitStack() as locks:
        for home in homes:
            ensure_folder(home.path(site.root))
            locks.enter_context(layers_in(home.folder)[0].access(site, operation))
        for one in changes:
            if read_if_there(os.path.join(site.root, one.path)) != one.before:
                raise Conflict(f"`{one.path}` was changed meanwhile; nothing was written.", hint="Run it again.")
        for home in homes:
            _write_home(site, home, changes, logged() if logged and home is MEMORY_HOME else [])
    return [one.path for one in changes if any(home.holds(one.path) for home in homes)]


def _write_home(site: Site, home: Home, changes: Sequence[MergedPath], logged: Logged) -> None:
    updates = [
        FileUpdate(
            path=one.path.removeprefix(f"{home.folder}/"),
            data=one.after,
            planned=None if one.before is None else sha256(one.before),
        )
        for one in changes
        if home.holds(one.path)
    ]
    folder = home.path(site.root)
    updates += [one for one in logged if isinstance(one, FileUpdate)]
    appends = [one for one in logged if isinstance(one, Append)]
    apply_changes(folder, updates, appends, site.world.token(), whole=True)
    for layer in layers_in(home.folder):
        layer.write_pages(site)


def write_shared(site: Site, merged: Sequence[MergedPath]) -> list[str]:
    """Write files that lie outside of the memory's folders."""
    changes = [one for one in merged if one.after is not None and not one.why_not]
    for one in changes:
        write_file(os.path.join(site.root, one.path), one.after or b"", site.world.token(), one.before)
    return [one.path for one in changes]


def not_merged(merged: Sequence[MergedPath]) -> list[Problem]:
    """A warning for each file that stays as it is."""
    return [
        Problem(
            code="FileNotMerged",
            severity="warning",
            path=one.path,
            message=f"It stays as it is: {one.why_not}",
            hint="Merge it by hand.",
        )
        for one in merged
        if one.why_not
    ]
