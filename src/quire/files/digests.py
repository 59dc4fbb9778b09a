"""Digests of bytes: our own, and git blob ids.

`hashlib` brings a whole cryptographic library along, which takes longer to load than to hash a few texts. So what is
small is hashed by the interpreter's own code, as its `random` does it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from typing import Any

from quire.files.paths import open_regular

_CHUNK = 1 << 20
_SMALL_BYTES = 16 * 1024
_BUILT_IN = {"sha256": ("_sha2", "_sha256"), "sha1": ("_sha1",)}
"""The interpreter's own modules: since Python 3.12, and before."""
_EMPTY = ("e69de29bb2d1d6434b", "473a0f4c3be8a93681")
"""What git's ids of nothing begin with, by either hash."""


def digest_of(data: bytes) -> bytes:
    """SHA-256."""
    digest: bytes = _hash("sha256", data).digest()
    return digest


def hex_digest(text: str) -> str:
    return digest_of(text.encode("utf-8", "surrogatepass")).hex()


def sha256(data: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    return f"sha256:{digest_of(data).hex()}"


def blob_id(data: bytes, like: str) -> str:
    """The id git gives these bytes, by the hash whose length `like` has."""
    body = b"blob %d\0" % len(data) + data
    found: str = _hash("sha256" if len(like) == 64 else "sha1", body).hexdigest()
    return found


def _hash(kind: str, data: bytes) -> Any:
    own = _built_in(kind) if len(data) <= _SMALL_BYTES and "hashlib" not in sys.modules else None
    if own is not None:
        return own(data)
    import hashlib

    return hashlib.new(kind, data, usedforsecurity=False)


@cache
def _built_in(kind: str) -> Any:
    """The interpreter's own function for a hash; None where it was built without."""
    for name in _BUILT_IN[kind]:
        try:
            return getattr(import_module(name), kind)
        except ImportError:
            continue
    return None


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
