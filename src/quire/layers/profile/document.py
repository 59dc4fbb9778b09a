"""A profile document: entries stay as they were written until someone changes one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from quire.files.json_files import decode_object, parse_strict, pretty
from quire.layers.fragment_records import BranchChange, change_of, taken_in
from quire.layers.profile.entries import Entry, read_entry
from quire.layers.profile.layout import CATEGORIES, MIGRATED, READABLE, VERSION
from quire.layers.profile.migration import steps
from quire.model.contested import IN_CONFLICT
from quire.model.errors import InvalidJson, InvalidStore, UnsupportedVersion
from quire.model.text import cut

_BY_HAND = "Correct it by hand, or restore an earlier version from git. It was not changed."
_BOM = b"\xef\xbb\xbf"
_MARK = b"\n<<<<<<<"
_MARKER = re.compile(rb"^(?:<{7}|>{7}|={7})(?: |\r?$)", re.M)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BYTE = re.compile(r"\(byte (\d+)\)")


class ProfileDocument:
    """What one file holds. `where` is how the file is called in messages."""

    def __init__(self, where: str, data: bytes, top: dict[str, msgspec.Raw], memories: dict[str, Any]) -> None:
        self.where = where
        self.data = data
        self.is_changed = False
        self._top = top
        self._memories = memories
        """Categories: their entries by key, or what stands there instead of entries, as it was written."""
        self._file_top = dict(top)
        self._file = {name: dict(held) if isinstance(held, dict) else held for name, held in memories.items()}
        """The same as the file has it, without what fragments say."""
        self._fragments: Mapping[str, Sequence[BranchChange]] = {}
        self._apart: dict[tuple[str, str], dict[str, Any] | None] = {}
        """The entries that fragments speak of, as they were read."""

    @property
    def version(self) -> str:
        return str(msgspec.json.decode(self._top["schema_version"]))

    @property
    def session_count(self) -> int:
        found = _value(self._top["session_count"]) if "session_count" in self._top else 0
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        return max(found, 0) if isinstance(found, int) and not isinstance(found, bool) else 0

    def set_session_count(self, count: int) -> None:
        self._top["session_count"] = _raw(count)
        self.is_changed = True

    def fields(self, category: str, key: str) -> dict[str, Any] | None:
        """An entry as it is stored; None where there is none, or nothing that can be read as one."""
        entries = self._memories.get(category)
        raw = entries.get(key) if isinstance(entries, dict) else None
        found = _value(raw) if raw is not None else None
        return found if isinstance(found, dict) else None

    def has(self, category: str, key: str) -> bool:
        """Whether anything stands there, readable or not."""
        entries = self._memories.get(category)
        return key in entries if isinstance(entries, dict) else False

    def put(self, category: str, key: str, fields: dict[str, Any]) -> None:
        entries = self._memories.setdefault(category, {})
        if not isinstance(entries, dict):
            raise InvalidStore(
                f"`{self.where}`: the category `{cut(category, 40)}` holds no records.",
                hint="Make it an object, or remove the category. Nothing was changed.",
            )
        if key in entries:
            _refuse_twice(bytes(entries[key]), self.where)
        entries[key] = _raw(fields)
        self.is_changed = True

    def take_in(self, fragments: Mapping[str, Sequence[BranchChange]]) -> None:
        """Read what branches added, by fragment, as if the file held it."""
        from quire.layers.profile.merge import ENTRY_RULES

        changes = [change for held in fragments.values() for change in held if len(change.name) == 2]
        held = {name: found for name in (change.name for change in changes) if (found := self.fields(*name[:2]))}
        for (category, key), fields in taken_in(held, changes, ENTRY_RULES).items():
            entries = self._memories.setdefault(category, {})
            if isinstance(entries, dict):
                self._apart[category, key] = fields
                entries.pop(key, None) if fields is None else entries.update({key: _raw(fields)})
        self._fragments = fragments

    def parted(self) -> tuple[bytes, list[BranchChange], list[str]]:
        """The file on another branch than the default one, and what goes beside it into a new fragment: entries that
        it does not hold, and those that fragments speak of; and fragments that still say what was removed."""
        from quire.layers.profile.merge import ENTRY_RULES

        memories: dict[str, Any] = {}
        new = set(self._apart)
        for category, entries in self._memories.items():
            begun = self._file.get(category, {})
            if isinstance(entries, dict) and isinstance(begun, dict):
                new |= {(category, key) for key in entries if key not in begun}
                kept = {key: self._kept(category, key) for key in begun}
                entries = {key: raw for key, raw in kept.items() if raw is not None}
                if not entries and category not in self._file:
                    continue
            memories[category] = entries
        pairs = [(name, self._apart.get(name), self.fields(*name)) for name in sorted(new)]
        changes = [change_of(name, was, now, ENTRY_RULES) for name, was, now in pairs if was != now]
        gone = {change.name for change in changes if change.now is None}
        stale = {path: held for path, held in self._fragments.items() if any(one.name in gone for one in held)}
        changes += [change for held in stale.values() for change in held if change.name not in gone]
        is_same = self.data and memories == self._file and self._top == self._file_top
        return self.data if is_same else self._rendered(memories), changes, list(stale)

    def _kept(self, category: str, key: str) -> Any:
        """An entry of the file as it is to be there; None where it was removed."""
        is_gone = not self.has(category, key) and self._apart.get((category, key), key) is not None
        if is_gone or (category, key) not in self._apart:
            return self._memories[category].get(key)
        return self._file[category][key]

    def clear(self, category: str) -> None:
        """A category without entries, whatever stood there."""
        self._memories[category] = {}
        self.is_changed = True

    def remove(self, category: str, key: str) -> None:
        del self._memories[category][key]
        self.is_changed = True

    def categories(self) -> list[str]:
        """The names of the categories in it, also of those nobody knows."""
        return [name for name, entries in self._memories.items() if isinstance(entries, dict)]

    def keys(self, category: str) -> list[str]:
        entries = self._memories.get(category)
        return list(entries) if isinstance(entries, dict) else []

    def unknown(self) -> list[str]:
        """What stands at the top, or in the place of a category, and is nothing we know."""
        known = ("schema_version", "session_count", "memories")
        found = [name for name in self._top if name not in known]
        return found + [name for name, entries in self._memories.items() if not isinstance(entries, dict)]

    def holding(self, text: str) -> list[tuple[str, str]]:
        """Where a text stands in an entry as a whole string: a first look, before anything is decoded."""
        wanted = msgspec.json.encode(text)
        return [
            (category, key)
            for category in self.categories()
            for key, raw in self._memories[category].items()
            if wanted in bytes(raw) or b"\\" in bytes(raw)
        ]

    def read(self, *, is_private: bool = False) -> Iterator[Entry | str]:
        """Every entry in the order of the document; for what cannot be read as one, a sentence that says so."""
        for category, entries in self._memories.items():
            if not isinstance(entries, dict):
                yield f"`{cut(category, 40)}`: it is not an object, so it holds no records."
                continue
            for key, raw in entries.items():
                fields = _value(raw)
                try:
                    if not isinstance(fields, dict):
                        raise ValueError("it is not an object")
                    yield read_entry(category, key, fields, is_private=is_private)
                except ValueError as error:
                    yield f"`{cut(category, 40)}.{cut(key, 80)}`: {error}."

    def render(self) -> bytes:
        """The document as it is written: two spaces, literal Unicode, one newline at the end, the order kept."""
        return self._rendered(self._memories)

    def _rendered(self, memories: dict[str, Any]) -> bytes:
        top: dict[str, Any] = {**self._top, "memories": memories}
        return pretty(_literal(top) if b"\\u" in self.data else top)

    def refuse_loss(self, *, thorough: bool = False) -> None:
        """Before a change: what would not survive it. A key that stands twice is read once.

        Where the document is as we write it, only entries that are changed could lose something, and each is looked at
        then; a thorough look is for when all of them will be.
        """
        if self.data and (thorough or self.render() != self.data):
            _refuse_twice(self.data, self.where)

    def migrations(self) -> list[tuple[str, bytes]]:
        """What to write to bring it up to our version: each older version as it was, then the document in ours."""
        if self.version not in MIGRATED:
            return []
        self.refuse_loss(thorough=True)
        try:
            later = steps(decode_object(self.data))
        except ValueError as error:
            raise _damaged(self.where, f"it cannot be migrated to version {VERSION}: {error}") from None
        return [(self.version, self.data), *((step["schema_version"], pretty(step)) for step in later)]

    @property
    def is_writable(self) -> bool:
        return self.version == VERSION

    def refuse_version(self) -> UnsupportedVersion:
        return _unsupported(self.where, self.version)


def empty_document(where: str) -> ProfileDocument:
    """A new document: all six categories, empty."""
    top = {"schema_version": _raw(VERSION), "session_count": _raw(0), "memories": _raw({})}
    return ProfileDocument(where, b"", top, {name: {} for name in CATEGORIES})


def parse_document(data: bytes, where: str) -> ProfileDocument:
    """A document that can at least be read: InvalidStore where it is damaged, UnsupportedVersion where unknown."""
    _refuse_damage(data, where)
    top = decoded(data, where)
    for name in ("schema_version", "memories"):
        if name not in top:
            raise _damaged(where, f"it has no `{name}`")
    version = _value(top["schema_version"])
    if not isinstance(version, str):
        shown = cut(bytes(top["schema_version"]).decode(), 40)
        raise UnsupportedVersion(
            f"`{where}`: `schema_version` is {shown}, which is not text.",
            hint=f'Versions are written as text, such as "{VERSION}". Nothing was changed.',
            details={"path": where, "supported": VERSION},
        )
    if version not in (VERSION, *MIGRATED, *READABLE):
        raise _unsupported(where, version)
    try:
        held = _OBJECT.decode(top["memories"])
    except (msgspec.MsgspecError, RecursionError):
        raise _damaged(where, "`memories` is not an object") from None
    memories: dict[str, Any] = {}
    for name, raw in held.items():
        try:
            memories[name] = _OBJECT.decode(raw)
        except (msgspec.MsgspecError, RecursionError):
            memories[name] = raw
    return ProfileDocument(where, data, top, memories)


def decoded(data: bytes, where: str) -> dict[str, msgspec.Raw]:
    """The fields of the top level; InvalidStore that says where it stops being JSON."""
    try:
        # Once as a whole: what the fields hold is otherwise looked at only when someone needs it.
        return _OBJECT.decode(data)
    except msgspec.ValidationError:
        raise _damaged(where, "the top level is not an object") from None
    except RecursionError:
        raise _damaged(where, "it is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _damaged(where, f"it is not JSON: {_reason(data, str(error))}") from None


def _refuse_damage(data: bytes, where: str) -> None:
    if not data or data.isspace():
        raise _damaged(where, "it is empty")
    if data.startswith(_BOM):
        raise _damaged(where, "it begins with a byte order mark (line 1, column 1)")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _damaged(where, f"it is not UTF-8 text: {_place(data, error.start)}") from None
    marker = _MARKER.search(data) if _MARK in data or data.startswith(_MARK[1:]) else None
    if marker is not None:
        raise _damaged(where, f"it holds merge conflict marks: {_place(data, marker.start())}", IN_CONFLICT)


def _reason(data: bytes, said: str) -> str:
    found = _BYTE.search(said)
    if found is None:
        return f"it ends too early, {_place(data, len(data))}"
    return f"{_place(data, int(found.group(1)))}"


def _place(data: bytes, at: int) -> str:
    line = data.count(b"\n", 0, at) + 1
    column = len(data[data.rfind(b"\n", 0, at) + 1 : at].decode("utf-8", "replace")) + 1
    return f"line {line:,}, column {column:,}"


def _damaged(where: str, reason: str, hint: str = _BY_HAND) -> InvalidStore:
    return InvalidStore(
        f"`{where}` cannot be used: {reason}.",
        hint=hint,
        details={"path": where},
    )


def _unsupported(where: str, version: str) -> UnsupportedVersion:
    shown = cut(version, 40)
    known = version in READABLE
    said = "It can be read and searched, but not changed." if known else "It is neither read nor written."
    return UnsupportedVersion(
        f"`{where}` has schema version `{shown}`; this program writes {VERSION}. {said}",
        hint=f"{_aside(where, shown)} starts a new document. The records of this one stay in it and are no longer "
        "read. To change this one, use a program of its version.",
        details={"path": where, "version": shown, "supported": VERSION},
    )


def _aside(where: str, version: str) -> str:
    """The command that puts a document out of the way, with its version in its name."""
    import shlex

    name = re.sub(r"[^\w.-]+", "-", version).strip("-.") or "other"
    aside = f"{where.removesuffix('.json')}-{name}.json"
    return f"`mv {shlex.quote(where)} {shlex.quote(aside)}`"


def _refuse_twice(data: bytes, where: str) -> None:
    try:
        parse_strict(data.decode("utf-8"), f"`{where}`", bounded=False)
    except InvalidJson as error:
        raise InvalidStore(
            error.message, hint="Nothing was changed. Correct it by hand.", details=error.details
        ) from None


def _literal(value: Any) -> Any:
    """With letters that someone wrote as numbers written as letters, where they can be."""
    if isinstance(value, dict):
        return {name: _literal(item) for name, item in value.items()}
    if b"\\u" in bytes(value):
        try:
            return _raw(msgspec.json.decode(value))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return value  # beside a number that is none for us, or half a character
    return value


def _value(raw: msgspec.Raw) -> Any:
    """What was written there; None where it is not text that can be read, such as half a character."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
