"""Parse a client's hook payload field by field: an invalid field is ignored, the others are used."""

from __future__ import annotations

import os

import msgspec

PAYLOAD_BYTES = 4 * 1024 * 1024
"""A tool's arguments hold whole files, and nothing that is meant for us is longer."""
_LINE_CHARS = 1_000
_PATH_CHARS = 4_096
_LIST_MOST = 500
_BOM = b"\xef\xbb\xbf"
# Fields are left as bytes until someone asks for them: the text of a whole file is skipped and never built.
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])

Fields = dict[str, msgspec.Raw]


def decode(payload: bytes) -> Fields:
    """The fields of a payload. Raises ValueError with a sentence where it has none."""
    if len(payload) > PAYLOAD_BYTES:
        raise ValueError(f"The hook's payload is larger than {PAYLOAD_BYTES // (1024 * 1024)} MiB.")
    payload = payload.removeprefix(_BOM).strip()
    if not payload:
        raise ValueError("The hook was given no payload on standard input.")
    if not payload.startswith(b"{"):
        raise ValueError("The hook's payload is not a JSON object.")
    try:
        return _FIELDS.decode(payload)
    except (ValueError, RecursionError):
        return _repaired(payload)


def _repaired(payload: bytes) -> Fields:
    """The fields of a payload with half characters in it, as clients send them where they cut a text."""
    # Rare, so that nobody else waits for it.
    import json

    try:
        said = json.loads(payload.decode("utf-8", "replace"), strict=False, parse_constant=lambda _: None)
        return _FIELDS.decode(json.dumps(said, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ValueError("The hook's payload is not a JSON object that can be read.") from None


def words(fields: Fields, *names: str) -> str:
    """The first of these fields that is a text, whole."""
    for name in names:
        if name in fields and (said := _text(fields[name])):
            return said
    return ""


def line(fields: Fields, *names: str) -> str:
    """The first of these fields that is a word or a short line: an id, a name, a reason."""
    for name in names:
        said = words(fields, name).strip()
        if said and len(said) <= _LINE_CHARS and said.isprintable():
            return said
    return ""


def flag(fields: Fields, name: str) -> bool:
    """Whether a field is there and true."""
    return name in fields and bytes(fields[name]) == b"true"


def path(fields: Fields, *names: str) -> str:
    """The first absolute path in these fields, or in the lists that they hold."""
    for name in names:
        for said in texts(fields, name):
            if os.path.isabs(said) and _is_path(said):
                return said
    return ""


def texts(fields: Fields, name: str) -> list[str]:
    """The texts of a field that holds one or several."""
    if name not in fields:
        return []
    raw = fields[name]
    if said := _text(raw):
        return [said]
    try:
        return [said for entry in _LIST.decode(raw)[:_LIST_MOST] if (said := _text(entry))]
    except (ValueError, RecursionError):
        return []


def inner(fields: Fields, name: str) -> Fields:
    """The fields of an object in a field, or of one that was written into it as a text."""
    if name not in fields:
        return {}
    try:
        return _FIELDS.decode(_text(fields[name]).encode() or fields[name])
    except (ValueError, RecursionError):
        return {}


def paths_of(said: list[str]) -> list[str]:
    """Those that can be paths."""
    return [each for each in said if _is_path(each)]


def _is_path(said: str) -> bool:
    return bool(said.strip()) and len(said) <= _PATH_CHARS and "\n" not in said and "\0" not in said


def _text(raw: msgspec.Raw) -> str:
    """The text of a field; "" where it is not text."""
    try:
        return _TEXT.decode(raw).replace("\0", "")
    except ValueError:
        return ""
