"""Plan a purge: where a text stands in a layer's files, and the files without it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import stat
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from quire.files.digests import sha256
from quire.files.layout import INDEX, LOCAL, LOCK
from quire.files.paths import read_inside_or_none
from quire.files.transaction import FileUpdate, is_interrupted
from quire.guard.secrets import secret_values
from quire.layers.table import layers_in
from quire.model.ids import slugify
from quire.upkeep.purge.forms import PURGED, SHORTEST, Forms
from quire.upkeep.repair.leftovers import REPAIRS

_BYTES = 2 * 1024 * 1024 * 1024
_ARCHIVES = (".tar", ".tar.gz")
_UNREADABLE = (tarfile.TarError, OSError, EOFError, zlib.error)
_REJECTED = "rejected/"
_OF_CLIENTS = "integrations/"
_NAMED = "its file name contains the text; save the record under another title and remove this one"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A file in which the text stands."""

    path: str
    count: int
    action: str = "replaced"
    """replaced; removed, where the file would be of no use without it; or left, with the reason."""
    reason: str = ""


class PurgePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done in one folder; the paths of the changes are below it."""

    folder: str
    changes: tuple[FileUpdate, ...] = ()
    places: tuple[Place, ...] = ()


def plan_purge(root: str, folder: str, text: str) -> PurgePlan:
    """The files of this folder without the text; digests that held before hold afterwards."""
    forms = Forms(text)
    before: dict[str, bytes] = {}
    after: dict[str, bytes | None] = {}
    places: list[Place] = []
    for path in _files(os.path.join(root, folder)):
        shown = f"{folder}/{path}"
        if _is_named(folder, path, forms):
            places.append(Place(path=shown, count=1, action="left", reason=_NAMED))
        data = read_inside_or_none(root, shown, _BYTES)
        if data is None:
            places.append(Place(path=shown, count=0, action="left", reason="it cannot be read"))
            continue
        before[path] = data
        place, now = _without(folder, path, data, forms)
        if place is not None:
            places.append(place)
        if now != data:
            after[path] = now
    after |= _rehashed(folder, before, after)
    changes = [FileUpdate(path=path, data=data, planned=sha256(before[path])) for path, data in after.items()]
    return PurgePlan(folder=folder, changes=tuple(changes), places=tuple(places))


def _rehashed(folder: str, before: dict[str, bytes], after: dict[str, bytes | None]) -> dict[str, bytes | None]:
    """What else changes, because digests are made of what changes."""
    found: dict[str, bytes | None] = {}
    for layer in layers_in(folder):
        found |= layer.rehash(before, after | found)
    return found


def _is_named(folder: str, path: str, forms: Forms) -> bool:
    """Whether a file is named after the text: as it is, or as a title becomes the name of a node."""
    name = os.path.basename(path)
    if not any(layer.is_named_by_title(path) for layer in layers_in(folder)):
        return forms.is_in(name)
    slug = slugify(forms.text, lambda _: "")
    return forms.is_in(name) or (len(slug) >= SHORTEST and slug in name)


def texts_below(root: str, folders: Iterable[str], text: str, names: Iterable[str]) -> list[Place]:
    """Files of the project's own, by their names, that hold the text; they are not ours to change."""
    forms, found = Forms(text), []
    for name in names:
        data = read_inside_or_none(root, name, _BYTES)
        if data is not None and forms.count(data) and not name.startswith(tuple(f"{folder}/" for folder in folders)):
            found.append(Place(path=name, count=forms.count(data), action="left", reason="it is a file of yours"))
    return found


def secrets_below(root: str, folder: str) -> list[str]:
    """The certain secrets in the files of a folder, as they were told."""
    found: dict[str, None] = {}
    for path in _files(os.path.join(root, folder)):
        data = read_inside_or_none(root, f"{folder}/{path}", _BYTES) or b""
        members = [(path, data)]
        if path.endswith(_ARCHIVES):
            with contextlib.suppress(*_UNREADABLE):
                members = _all_members(data)
        for name, content in members:
            found |= dict.fromkeys(_secrets_in(content.decode("utf-8", "replace"), name))
    return list(found)


def _secrets_in(text: str, path: str) -> Iterator[str]:
    if not path.endswith((".json", ".jsonl")):
        yield from _secrets_of(text)
        return
    # As a whole, for what its name gives away; then text by text, for what is escaped.
    yield from (value for value in _secrets_of(text) if "\\" not in value)
    if "\\" in text:
        for line in text.split("\n") if path.endswith(".jsonl") else [text]:
            try:
                yield from (value for told in _texts(json.loads(line)) for value in _secrets_of(told))
            except (ValueError, RecursionError):
                continue


def _secrets_of(text: str) -> Iterator[str]:
    """A look ends after so many; so it is repeated without those."""
    while found := [value for value in secret_values(text) if len(value) >= SHORTEST and PURGED not in value]:
        yield from found
        for value in found:
            text = text.replace(value, PURGED)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _without(folder: str, path: str, data: bytes, forms: Forms) -> tuple[Place | None, bytes | None]:
    shown = f"{folder}/{path}"
    is_copy = path.startswith(f"{LOCAL}/{REPAIRS}/")
    if path.endswith(_ARCHIVES):
        try:
            count, rewritten = _archive_without(path, data, forms)
        except _UNREADABLE:
            said = "it is an unreadable archive; remove it if it may hold the text"
            return Place(path=shown, count=0, action="left", reason=said), data
        if not count:
            return None, data
        if is_copy:
            return Place(path=shown, count=count, action="removed", reason="a copy of files as they were"), None
        return Place(path=shown, count=count), rewritten
    now = forms.without(data, shown)
    if now == data:
        return None, data
    count = max(forms.count(data), 1)
    if path.startswith(_OF_CLIENTS):
        said = "it holds the earlier content of a client's file; `memory integrate --remove` needs it"
        return Place(path=shown, count=count, action="left", reason=said), data
    if path.startswith(_REJECTED):
        return Place(path=shown, count=count, action="removed", reason="the rejected text is allowed again"), None
    if is_copy:
        return Place(path=shown, count=count, action="removed", reason="a copy of files as they were"), None
    return Place(path=shown, count=count), now


def _archive_without(path: str, data: bytes, forms: Forms) -> tuple[int, bytes]:
    """How often it stands in an archive, and the archive without it; digests that held there hold."""
    before = dict(_members(data))
    counts: dict[str, int] = {}
    after: dict[str, bytes | None] = {}
    for name, was in before.items():
        if name.endswith(_ARCHIVES):  # the copy of a repair, in the archive of a reset
            count, now = _archive_without(name, was, forms)
        else:
            count, now = forms.count(was), forms.without(was, f".backup/{name}")
        if now != was:
            after[name], counts[name] = now, max(count, 1)
    for top in {name.partition("/")[0] for name in after}:
        inside = len(top) + 1
        below = {name[inside:]: was for name, was in before.items() if name.startswith(f"{top}/")}
        changed = {name[inside:]: now for name, now in after.items() if name.startswith(f"{top}/")}
        after |= {f"{top}/{name}": now for name, now in _rehashed(top, below, changed).items()}
    total = sum(counts.values())
    return total, _rewritten(path, data, after) if total else data


def _members(data: bytes) -> list[tuple[str, bytes]]:
    """The plain files of an archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as held:
        opened = ((member.name, held.extractfile(member)) for member in held.getmembers() if member.isfile())
        return [(name, content.read()) for name, content in opened if content is not None]


def _all_members(data: bytes) -> list[tuple[str, bytes]]:
    """The same, with what is in archives among them."""
    nested = ((name, content, name.endswith(_ARCHIVES)) for name, content in _members(data))
    return [one for name, content, is_one in nested for one in (_all_members(content) if is_one else [(name, content)])]


def _rewritten(path: str, data: bytes, after: dict[str, bytes | None]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data)) as held, _new_archive(path, buffer) as written:
        for member in held.getmembers():
            content = held.extractfile(member) if member.isfile() else None
            if content is None:
                written.addfile(member)
                continue
            now = after.get(member.name) or content.read()
            member.size = len(now)
            written.addfile(member, io.BytesIO(now))
    return buffer.getvalue()


def _new_archive(path: str, buffer: io.BytesIO) -> tarfile.TarFile:
    if path.endswith(".gz"):
        return tarfile.open(fileobj=buffer, mode="w:gz")
    return tarfile.open(fileobj=buffer, mode="w")


def _files(top: str) -> Iterator[str]:
    """Every plain file below a folder, but for the index and the lock; links are not followed."""
    if os.path.islink(top) or is_interrupted(os.path.join(top, "recovery")):
        return
    for folder, folders, files in os.walk(top):
        below = os.path.relpath(folder, top)
        plain = (name for name in folders if name != INDEX and not os.path.islink(os.path.join(folder, name)))
        folders[:] = sorted(plain)
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name != LOCK and not os.path.islink(path) and stat.S_ISREG(os.stat(path).st_mode):
                yield name if below == "." else f"{below}/{name}".replace(os.sep, "/")
