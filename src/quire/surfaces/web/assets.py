"""Load the built page into memory, so that no request path is ever used as a file name."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Mapping

import msgspec

from quire.model.errors import NotInitialized

FOLDER = "static"
INDEX = "index.html"
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
NAMES = ("app.js", "icon.svg", INDEX, "layout.js", "licences.txt", "style.css")


class Asset(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the page."""

    name: str
    kind: str
    data: bytes
    compressed: bytes
    mark: str
    """Another one for every content: whoever has that one needs no other."""


def static_folder() -> str:
    return os.path.join(os.path.dirname(__file__), FOLDER)


def read_assets() -> Mapping[str, Asset]:
    """Every file of the page by its name. An error where it was never built."""
    place = static_folder()
    found = {}
    for name in NAMES:
        try:
            with open(os.path.join(place, name), "rb") as file:
                data = file.read()
        except OSError:
            raise NotInitialized(
                "The page was not built when this copy of Quire was installed.",
                hint="Install it again where the npm registry can be reached (`pip install --force-reinstall .`); in a"
                " clone, `make viewer` builds it. Everything else works without it.",
                details={"missing": name},
            ) from None
        found[name] = Asset(
            name=name,
            kind=_TYPES[name.rpartition(".")[2]],
            data=data,
            compressed=gzip.compress(data, 9, mtime=0),
            mark=f'"{hashlib.sha256(data).hexdigest()[:20]}"',
        )
    return found
