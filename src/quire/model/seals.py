"""Seals: digests of a record's anchors at the last review, stored as evidence in the record.

A seal is evidence of kind `file` with the id `<anchor>@<how>:<digest>`. It binds the record to the content that was
seen, committed or not: `blob` to one file's content by git's own id, `tree` to all files of a folder or a glob,
`symbol` to one definition without its formatting and comments.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

How = Literal["blob", "tree", "symbol"]
_SEAL = r"(?s)(?P<anchor>.+)@(?P<how>blob|tree|symbol):(?P<digest>[0-9a-f]{32,64})"

ABSENT = "0" * 32
"""The digest of nothing: an anchor that matched no file, or a file that was deleted, when it was seen."""
UNREAD = "f" * 32
"""The digest of what could not be read when someone looked."""


class Seal(msgspec.Struct, frozen=True):
    """An anchor, or a file below one, and the digest of what was there."""

    anchor: str
    how: How
    digest: str

    @property
    def id(self) -> str:
        return f"{self.anchor}@{self.how}:{self.digest}"


def parse_seal(text: str) -> Seal | None:
    found = re.fullmatch(_SEAL, text)
    return Seal(found["anchor"], found["how"], found["digest"]) if found else None  # type: ignore[arg-type]


def is_seal(kind: object, text: object) -> bool:
    """Whether a piece of evidence is a seal."""
    return kind == "file" and isinstance(text, str) and re.fullmatch(_SEAL, text) is not None


def is_absent(seal: Seal) -> bool:
    return seal.digest.startswith(ABSENT)
