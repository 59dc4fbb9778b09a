"""The index's source for the profile: both documents under one stamp, and their entries."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files.fragments import fragments_of
from quire.files.paths import PASSING, read_inside, storage_failed
from quire.layers.profile.layout import CATEGORIES, FILE, FILE_BYTES, MIGRATED, PATH, READABLE
from quire.layers.profile.places import ProfilePlaces, stamp_now
from quire.model.errors import InvalidStore, QuireError, StorageFailed, UnsupportedVersion
from quire.model.records import Edge, Problem, Record, RecordSummary
from quire.model.sources import IndexSource
from quire.model.vocabulary import LayerName

if TYPE_CHECKING:
    from quire.layers.profile.document import ProfileDocument
    from quire.layers.profile.entries import Entry

_BEHIND = b'\n{"name":'
_TOLD = 20
"""How many bad entries are reported one by one; `memory check` names all."""


class ProfileOverview(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation must know of the documents as a whole."""

    version: str = ""
    """Of the shared document; empty where there is none."""
    private_version: str = ""
    session_count: int = 0
    size: int = 0
    """Bytes of both documents."""
    shadowed: tuple[str, ...] = ()
    """Entries of the shared document that the private one has, too: those count."""
    unread: int = 0
    """What stands in the place of entries, and cannot be read as one."""
    fault: tuple[str, str, str] | None = None
    """Code, sentence and hint: why a document cannot be used at all."""

    @property
    def is_older(self) -> bool:
        """Whether a document is to be brought up to our version."""
        return self.version in MIGRATED or self.private_version in MIGRATED

    @property
    def is_read_only(self) -> bool:
        """Whether a document has a newer version, which is never written to."""
        return self.version in READABLE or self.private_version in READABLE

    def summary(self) -> RecordSummary:
        return RecordSummary(msgspec.msgpack.encode(self))

    def error(self) -> QuireError | None:
        if self.fault is None:
            return None
        code, message, hint = self.fault
        return (UnsupportedVersion if code == UnsupportedVersion.code else InvalidStore)(message, hint=hint)


def overview_of(value: bytes | None) -> ProfileOverview:
    return ProfileOverview() if value is None else msgspec.msgpack.decode(value, type=ProfileOverview)


def read_document(root: str, path: str, where: str) -> ProfileDocument | None:
    """The document in a file; None where there is no file. InvalidStore, UnsupportedVersion where it cannot be used.

    What branches added to the shared one is read with it.
    """
    from quire.layers.fragment_records import held_changes

    fragments = held_changes(root, PATH, FILE_BYTES) if path == PATH and fragments_of(root, PATH) else {}
    document = _read_file(root, path, where)
    if fragments:
        from quire.layers.profile.document import empty_document

        document = document or empty_document(where)
        document.take_in({name: changes for name, (changes, _) in fragments.items()})
    return document


def _read_file(root: str, path: str, where: str) -> ProfileDocument | None:
    try:
        data = read_inside(root, path, FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in PASSING:
            # Nothing is wrong with the document, and the index must not remember that there is.
            raise storage_failed(error, f"read `{where}`", root) from error
        reason = (error.strerror or str(error)).lower()
        raise InvalidStore(
            f"`{where}` cannot be read: {reason}.", hint="Replace it with a regular file; it was not changed."
        ) from error
    from quire.layers.profile.document import parse_document

    return parse_document(data, where)


class ProfileSource(IndexSource):
    """Both documents: read whole when someone else changed one of them, and not at all after a change of ours."""

    layer: LayerName = "profile"

    def __init__(self, places: ProfilePlaces) -> None:
        self._places = places
        self.base = ""

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        stamp = stamp_now(self._places)
        return {FILE: stamp} if stamp and (paths is None or FILE in paths) else {}

    def read(self, paths: Iterable[str]) -> Iterator[Record | Edge | Problem | RecordSummary]:
        if FILE not in list(paths):
            yield ProfileOverview().summary()
            return
        from quire.layers.profile.records import entry_edges, entry_record

        places = self._places
        documents: list[ProfileDocument | None] = []
        fault = None
        for place in places.documents:
            try:
                documents.append(read_document(*place))
            except StorageFailed:
                raise
            except QuireError as error:
                documents.append(None)
                fault = fault or (error.code, error.message, error.hint or "")
                yield Problem(code=error.code, path=FILE, message=error.message)
        shared, private = (*documents, None)[:2]
        found = seen_entries(shared, private)
        yield ProfileOverview(
            version=shared.version if shared else "",
            private_version=private.version if private else "",
            session_count=shared.session_count if shared else 0,
            size=sum(len(document.data) for document in (shared, private) if document),
            shadowed=tuple(found.shadowed),
            unread=len(found.unread),
            fault=fault,
        ).summary()
        for said in found.unread[:_TOLD]:
            yield Problem(code="ProfileEntryInvalid", path=FILE, message=said)
        for entry in found.entries:
            yield entry_record(entry)
            yield from entry_edges(entry)


def items_in(data: bytes | None, where: str, fragments: Mapping[str, bytes]) -> Iterator[Record | Edge | Problem]:
    """What a document and its fragments hold, wherever they come from."""
    from quire.layers.fragment_records import read_changes
    from quire.layers.profile.document import empty_document, parse_document
    from quire.layers.profile.records import entry_edges, entry_record

    try:
        document = empty_document(where) if data is None else parse_document(data, where)
        document.take_in({path: read_changes(held)[0] for path, held in sorted(fragments.items())})
        found = seen_entries(document, None)
    except QuireError as error:
        yield Problem(code=error.code, path=FILE, message=error.message)
        return
    for entry in found.entries:
        yield entry_record(entry)
        yield from entry_edges(entry)


def entry_in(data: bytes, category: str, key: str) -> dict[str, Any] | None:
    """An entry in the bytes of a document, behind which fragments may stand; their lines are not indented."""
    from quire.layers.fragment_records import read_changes, taken_in
    from quire.layers.profile.merge import ENTRY_RULES
    from quire.layers.record_parts import value_at

    document, mark, lines = data.partition(_BEHIND)
    found = value_at(document, "memories", category, key)
    entry = found if isinstance(found, dict) else None
    changes = [change for change in read_changes(mark + lines)[0] if change.name == (category, key)]
    name = (category, key)
    return taken_in({name: entry} if entry else {}, changes, ENTRY_RULES)[name] if changes else entry


def document_order(places: ProfilePlaces) -> dict[str, int]:
    """Where each entry stands, by its ref: the six categories first, each in the order of its document."""
    from quire.layers.profile.entries import name_of
    from quire.layers.profile.records import entry_ref

    found: dict[str, dict[str, None]] = {name: {} for name in CATEGORIES}
    for place in places.documents:
        with contextlib.suppress(QuireError):
            document = read_document(*place)
            for category in document.categories() if document else ():
                keys = document.keys(category) if document else []
                found.setdefault(category, {}).update(dict.fromkeys(keys))
    refs = (entry_ref(name_of(category, key)) for category, keys in found.items() for key in keys)
    return {ref: place for place, ref in enumerate(refs)}


class ProfileContent(msgspec.Struct):
    """What both documents hold together."""

    entries: list[Entry]
    shadowed: list[str]
    unread: list[str]


def seen_entries(shared: ProfileDocument | None, private: ProfileDocument | None) -> ProfileContent:
    """Every entry once: the shared document's in its order, then the private one's, which count where both have one."""
    found: dict[tuple[str, str], Entry] = {}
    seen = ProfileContent([], [], [])
    for document, is_private in ((shared, False), (private, True)):
        for item in document.read(is_private=is_private) if document else ():
            if isinstance(item, str):
                seen.unread.append(f"{document.where}: {item}" if document else item)
                continue
            if (item.category, item.key) in found:
                seen.shadowed.append(item.name)
            found[item.category, item.key] = item
    seen.entries = list(found.values())
    return seen
