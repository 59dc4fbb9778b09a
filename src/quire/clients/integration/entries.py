"""Write our MCP server entry into a client's configuration, as JSON with comments or as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quire.clients.integration.types import KeyPath, Made, Seen
from quire.files.jsonc_edit import remove_member, set_member
from quire.files.jsonc_parser import read_jsonc
from quire.files.toml_edit import (
    remove_table,
    set_table,
)
from quire.files.toml_scanner import (
    read_toml,
)

MISSING: Final = object()


def text_of(data: bytes | None) -> str:
    """The text of a file, with its mark of byte order; empty where there is none."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text (byte {error.start + 1})") from error


def read_document(data: bytes | None) -> dict[str, Any]:
    """The object that a JSON file with comments holds; an empty file holds an empty one."""
    text = text_of(data)
    value = read_jsonc(text) if text.removeprefix("\ufeff").strip() else {}
    if not isinstance(value, dict):
        raise ValueError("it holds no object")
    return value


def find_member(value: Any, path: KeyPath) -> Any:
    """What stands at a path of keys, or MISSING. ValueError where something other than an object is on the way."""
    for count, name in enumerate(path):
        if not isinstance(value, dict):
            raise ValueError(f"`{'.'.join(path[:count])}` is not an object")
        if name not in value:
            return MISSING
        value = value[name]
    return value


def has_path(value: Any, path: KeyPath) -> bool:
    return find_member(value, path) is not MISSING


_SERVERS = ("memory-mcp", "quire-memory")
_MODULE = "quire.surfaces.mcp"
_NEEDED = ("tools",)
"""What an entry must have beside its command, where a client asks for it; everything else is the user's to change."""


class JsonServer:
    """An entry in a JSON file: `path` leads to it, `start` is what a new file begins with."""

    def __init__(self, path: KeyPath, entry: Mapping[str, Any], start: str = "") -> None:
        self.path = path
        self.entry = dict(entry)
        self.start = start

    def look(self, data: bytes | None) -> Seen:
        return _seen(find_member(read_document(data), self.path), self.entry)

    def keys(self, data: bytes | None) -> Made:
        value = read_document(data)
        paths = (self.path[: count + 1] for count in range(len(self.path)))
        return frozenset(path for path in paths if has_path(value, path))

    def apply(self, data: bytes | None, force: bool) -> bytes:
        text = text_of(data) if data is not None else self.start
        found = find_member(read_document(text.encode()), self.path)
        seen = _seen(found, self.entry)
        if seen.state == "missing" or (seen.foreign and force):
            return set_member(text, self.path, self.entry).encode()
        if seen.state == "changed" and not seen.foreign:
            for name, value in _repaired(found, self.entry).items():
                text = set_member(text, (*self.path, name), value)
        return text.encode()

    def strip(self, data: bytes, made: Made | None) -> bytes:
        text = text_of(data)
        found = find_member(read_document(data), self.path)
        if found is not MISSING and (found == self.entry if made is None else self.path in made):
            text = remove_member(text, self.path)
            for count in range(len(self.path) - 1, 0, -1):
                text = pruned(text, self.path[:count], made)
        return text.encode()

    def is_void(self, data: bytes) -> bool:
        return set(read_document(data)) <= {"$schema"}


class TomlServer:
    """A table in a TOML file."""

    def __init__(self, names: KeyPath, fields: Mapping[str, Any]) -> None:
        self.names = names
        self.fields = dict(fields)

    def look(self, data: bytes | None) -> Seen:
        return _seen(self._find(data), self.fields)

    def keys(self, data: bytes | None) -> Made:
        return frozenset() if self._find(data) is MISSING else frozenset([self.names])

    def apply(self, data: bytes | None, force: bool) -> bytes:
        text = text_of(data)
        seen = self.look(data)
        if seen.foreign and force:
            text = remove_table(text, self.names)
        if seen.state == "missing" or (seen.foreign and force):
            return set_table(text, self.names, self.fields).encode()
        if seen.state == "changed" and not seen.foreign:
            return set_table(text, self.names, _repaired(self._find(data), self.fields)).encode()
        return text.encode()

    def strip(self, data: bytes, made: Made | None) -> bytes:
        found = self._find(data)
        if found is not MISSING and (found == self.fields if made is None else self.names in made):
            return remove_table(text_of(data), self.names).encode()
        return data

    def is_void(self, data: bytes) -> bool:
        return not text_of(data).removeprefix("\ufeff").strip()

    def _find(self, data: bytes | None) -> Any:
        return find_member(read_toml(text_of(data).removeprefix("\ufeff")), self.names)


def pruned(text: str, path: KeyPath, made: Made | None) -> str:
    """Without a container that is empty now, if it came with us."""
    found = find_member(read_document(text.encode()), path)
    if found in ({}, []) and (made is None or path in made):
        return remove_member(text, path)
    return text


def _seen(found: Any, entry: Mapping[str, Any]) -> Seen:
    if found is MISSING:
        return Seen("missing")
    if isinstance(found, dict) and "command" not in found and isinstance(found.get("url", found.get("httpUrl")), str):
        # Someone reaches the server over HTTP, as the guides show it: nothing is missing, and nothing is ours.
        return Seen("present")
    if not _runs_server(found):
        return Seen("changed", foreign=True)
    same = not _repaired(found, entry)
    return Seen("present" if same else "changed", ours=found == entry)


def _runs_server(found: Any) -> bool:
    words = _words(found)
    return bool(words) and (words[0].replace("\\", "/").rpartition("/")[2] in _SERVERS or _MODULE in words)


def _repaired(found: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an entry that have to be set: the program that is started, and what the client insists on."""
    fields = {name: value for name, value in entry.items() if name in _NEEDED and name not in found}
    wanted, words = _program(entry), _words(found)
    rest = words[len(_program(found)) :]
    if words[: len(wanted)] == wanted:
        return fields
    line = [*wanted, *rest]
    if isinstance(entry["command"], list):
        return {**fields, "command": line}
    more = {"args": line[1:]} if line[1:] != found.get("args", []) else {}
    return {**fields, "command": line[0], **more}


def _program(entry: Any) -> list[str]:
    """The beginning of a command line, as far as it says which program runs; what follows is the user's."""
    words = _words(entry)
    return words[: words.index(_MODULE) + 1] if _MODULE in words else words[:1]


def _words(entry: Any) -> list[str]:
    """The command line of an entry, in whichever of the two forms it is said."""
    if not isinstance(entry, dict):
        return []
    command, more = entry.get("command"), entry.get("args", [])
    words = [*(command if isinstance(command, list) else [command]), *(more if isinstance(more, list) else [])]
    return words if all(isinstance(word, str) for word in words) else []
