"""Whether the files of a layer can be worked with, and of which version they are."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Literal

import msgspec

from quire.files.paths import read_bytes


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """What `memory doctor` says of the files of one layer."""

    message: str
    state: Literal["ok", "warning", "error"] = "ok"
    hint: str = ""


def document_storage(root: str, path: str, key: str, known: Collection[object]) -> Storage | None:
    """The storage of a layer whose version stands in a JSON document; None where there is no such file."""
    if not os.path.lexists(os.path.join(root, path)):
        return None
    try:
        fields = msgspec.json.decode(read_bytes(os.path.join(root, path)), type=dict[str, msgspec.Raw])
        version = msgspec.json.decode(fields[key]) if key in fields else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        hint = f"`memory check` says where; `git restore {path}` brings back a committed one."
        return Storage(message=f"{path} cannot be read ({error}).", state="error", hint=hint)
    if version not in known:
        said = f"{path} has the version {version!r}, which is not known."
        return Storage(message=said, state="error", hint="Update Quire.")
    return Storage(message=f"{path}, version {version}" if version is not None else path)
