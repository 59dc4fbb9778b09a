"""What may become of a file: other bytes in it, or something else in its place."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from typing import Any

__all__ = ["BYTES", "SHAPES", "damaged", "put", "swapped"]

Change = Callable[[bytes, str, str], bytes | None]
"""New bytes of the old ones, of the form of the file and the key of its version; None where it makes no sense."""
DEEP = 100_000


def _inside(text: bytes) -> Change:
    """Something that stands in an object of the file, beside everything that was there."""

    def change(data: bytes, form: str, _version: str) -> bytes | None:
        place = data.find(b"{")
        if form not in ("json", "lines") or place < 0:
            return None
        comma = b"," if data[place + 1 :].lstrip()[:1] != b"}" else b""
        return data[: place + 1] + text + comma + data[place + 1 :]

    return change


def _whole(text: bytes) -> Change:
    return lambda _data, _form, _version: text


def _lines(before: bytes, between: bytes, after: bytes) -> Change:
    """Marks of a merge around the middle of a file: one side, perhaps what both began with, the other side."""

    def change(data: bytes, _form: str, _version: str) -> bytes | None:
        lines = data.splitlines(keepends=True)
        if not lines:
            return None
        begin, end = len(lines) // 3, max(len(lines) // 3 + 1, 2 * len(lines) // 3)
        side = b"".join(lines[begin:end])
        side += b"" if side.endswith(b"\n") else b"\n"
        marked = before + side + between.replace(b"@", side) + b"=======\n" + side[::-1].strip() + b"\n" + after
        return b"".join(lines[:begin]) + marked + b"".join(lines[end:])

    return change


def _newer(data: bytes, form: str, version: str) -> bytes | None:
    if form != "json" or not version:
        return None
    fields = json.loads(data)
    fields[version] = "9.9" if isinstance(fields.get(version), str) else 99
    return json.dumps(fields, indent=2).encode() + b"\n"


def _twice(data: bytes, form: str, _version: str) -> bytes | None:
    """The first key of the first object once more, and it says something else."""
    place = data.find(b"{")
    if form not in ("json", "lines") or place < 0 or data[place + 1 :].lstrip()[:1] != b'"':
        return None
    key = data[place + 1 :].lstrip().split(b'"')[1]
    return data[: place + 1] + b'"' + key + b'": "said otherwise",' + data[place + 1 :]


def swapped(value: Any) -> Any:
    """A value of another type."""
    return {str: 7, int: "x", float: "x", bool: "x", list: {"a": 1}, dict: [1, "b"], type(None): [None]}[type(value)]


def _swapped(data: bytes, form: str, _version: str) -> bytes | None:
    if form == "json":
        fields = json.loads(data)
        if isinstance(fields, dict):
            return json.dumps({name: swapped(value) for name, value in fields.items()}).encode()
    return None


def _swapped_below(data: bytes, form: str, version: str) -> bytes | None:
    """What stands at the top is as it was; everything below it is of another type."""
    if form != "json" or not data.lstrip().startswith((b"{", b"[")):
        return None

    def below(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: swapped(item) for name, item in value.items()}
        return [swapped(item) for item in value] if isinstance(value, list) else value

    fields = json.loads(data)
    if isinstance(fields, list):
        return json.dumps(below(fields)).encode()
    return json.dumps({name: below(value) for name, value in fields.items()}).encode()


BYTES: dict[str, Change] = {
    "half": lambda data, _form, _version: data[: len(data) // 2],
    "empty": _whole(b""),
    "blank": _whole(b" \n\n"),
    "zeros": lambda data, _form, _version: b"\0" * len(data),
    "zeros at the end": lambda data, _form, _version: data[: len(data) // 2] + b"\0" * (len(data) - len(data) // 2),
    "not utf-8": lambda data, _form, _version: data[: len(data) // 2] + b"\xff\xfe" + data[len(data) // 2 :],
    "utf-16": lambda data, _form, _version: data.decode("utf-8", "replace").encode("utf-16"),
    "byte order mark": lambda data, _form, _version: b"\xef\xbb\xbf" + data,
    "windows line ends": lambda data, _form, _version: data.replace(b"\n", b"\r\n") if b"\n" in data else None,
    "conflict": _lines(b"<<<<<<< HEAD\n", b"", b">>>>>>> side\n"),
    "conflict of three": _lines(b"<<<<<<< HEAD\n", b"||||||| 1234567\n@", b">>>>>>> side\n"),
    "another type": lambda _data, form, _version: {"json": b"[7]\n", "lines": b"[]\nnull\n7\n"}.get(form),
    "null": _whole(b"null\n"),
    "deep": _whole(b"[" * DEEP),
    "deep and closed": _whole(b'{"a":' * DEEP + b"1" + b"}" * DEEP),
    "deep inside": _inside(b'"odd": ' + b"[" * DEEP + b"]" * DEEP),
    "long number": _inside(b'"odd": 1' + b"0" * 5_000),
    "no number": _inside(b'"odd": NaN'),
    "endless number": _inside(b'"odd": -Infinity'),
    "large exponent": _inside(b'"odd": 1e999'),
    "half a character": _inside(b'"odd": "\\ud800"'),
    "key twice": _twice,
    "other types": _swapped,
    "other types below": _swapped_below,
    "newer": _newer,
}


def _folder(path: str, _outside: str) -> None:
    os.unlink(path)
    os.mkdir(path)
    with open(os.path.join(path, "inside"), "wb") as file:
        file.write(b"x")


def _link(path: str, outside: str) -> None:
    shutil.copyfile(path, outside)
    os.unlink(path)
    os.symlink(outside, path)


def _dangling(path: str, outside: str) -> None:
    os.unlink(path)
    os.symlink(f"{outside}-nothing", path)


def _pipe(path: str, _outside: str) -> None:
    os.unlink(path)
    os.mkfifo(path)


def _socket(path: str, _outside: str) -> None:
    os.unlink(path)
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.basename(path))
    finally:
        os.chdir(here)


def _hard_link(path: str, outside: str) -> None:
    shutil.copyfile(path, outside)
    os.unlink(path)
    os.link(outside, path)


def _huge(path: str, _outside: str) -> None:
    with open(path, "r+b") as file:
        file.truncate(1_100 * 1024 * 1024)


def _gone(path: str, _outside: str) -> None:
    os.unlink(path)


SHAPES: dict[str, Callable[[str, str], None]] = {
    "folder": _folder,
    "link out": _link,
    "dangling link": _dangling,
    "pipe": _pipe,
    "socket": _socket,
    "hard link": _hard_link,
    "huge": _huge,
    "gone": _gone,
}


def damaged(damage: str, data: bytes, form: str, version: str) -> bytes | None:
    """The bytes after this damage; None where it is none for such a file."""
    found = BYTES[damage](data, form, version)
    return None if found == data else found


def put(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
