"""Digests of bytes: our own, and git blob ids.

`hashlib` brings a whole cryptographic library along, which a command that only asks does not need: it is loaded late.
"""

from __future__ import annotations

import os

from quire.files.paths import open_regular

_CHUNK = 1 << 20
_EMPTY = ("e69de29bb2d1d6434b", "473a0f4c3be8a93681")
"""What git's ids of nothing begin with, by either hash."""


def hex_digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256(data: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    import hashlib

    return "sha256:" + hashlib.sha256(data).hexdigest()


def blob_id(data: bytes, like: str) -> str:
    """The id git gives these bytes, by the hash whose length `like` has."""
    import hashlib

    body = b"blob %d\0" % len(data) + data
    if len(like) == 64:
        return hashlib.sha256(body).hexdigest()
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


def is_blob(data: bytes, blob: str) -> bool:
    """Whether these bytes are what git holds by this id; a checkout may have turned their line ends."""
    return blob_id(data, blob) == blob or blob_id(data.replace(b"\r\n", b"\n"), blob) == blob


def is_empty_blob(blob: str) -> bool:
    """Whether this is git's id of nothing, which is everywhere the same."""
    return blob.startswith(_EMPTY)


def hash_file(path: str, like: str) -> str:
    """The id git would give a regular file, read in parts: however large it is, it does not fill the memory."""
    import hashlib

    descriptor, found = open_regular(path)
    try:
        digest = hashlib.sha256() if len(like) == 64 else hashlib.sha1(usedforsecurity=False)
        digest.update(b"blob %d\0" % found.st_size)
        while chunk := os.read(descriptor, _CHUNK):
            digest.update(chunk)
        return digest.hexdigest()
    finally:
        os.close(descriptor)
