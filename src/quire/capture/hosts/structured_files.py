"""Find and read structured sources: contained, bounded, without exceptions for odd content."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import Any

from quire.capture.hosts.safe_text import Guard
from quire.capture.hosts.types import FILE_BYTES, FILES_MOST, HostSource, Scope
from quire.capture.transcripts.types import KnownPlaces
from quire.files.json_files import json_value
from quire.files.paths import inside, read_inside
from quire.model.anchors import OWN_FILES, OWN_FOLDERS, anchor_fault, normal_anchor
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import cut
from quire.model.untyped import as_dict

ANCHORS_MOST = 8
_NAMES_MOST = 200
_DEPTH_MOST = 6
_ENTRIES_MOST = 10_000
_FOREIGN = ("node_modules", "vendor")
_BAD_LINES_SHOWN = 5
_IN_TICKS = re.compile(r"`([^`\s]{2,200})`")
_BARE = re.compile(r"(?<![\w/.@:`-])(?:[\w.@-]{1,80}/){1,12}[\w.@-]{0,80}")
_LINK = re.compile(r"\]\(([^()\s]{2,300})\)")
_BEHIND = re.compile(r"(?:#.*|:\d[\d:-]*|::.*|\(\))$")
# A folder that holds nearly everything says nothing of where a claim belongs.
_WIDE = ("src/", "lib/", "app/", "apps/", "packages/", "docs/", "doc/", "test/", "tests/")

# -- finding --------------------------------------------------------------------------------------


def find_file(kind: str, base: str, relative: str, scope: Scope) -> HostSource | None:
    """A plain file below a folder as a source; None where none is there, or a link leads to it."""
    if not relative.isprintable():
        return None
    try:
        path = inside(base, relative)
        found = os.lstat(path)
    except (OSError, ValueError, QuireError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    shown = relative if scope == "project" else f"~/{relative}"
    return HostSource(kind=kind, path=path, shown=shown, scope=scope, size=found.st_size)


def markdown_below(base: str, folder: str) -> list[str]:
    """The Markdown files below a folder, as paths from `base`, in order. Hidden ones and links are left out."""
    found: list[str] = []
    waiting = [(folder, 0)]
    seen = 0
    while waiting and len(found) < FILES_MOST and seen < _ENTRIES_MOST:
        here, depth = waiting.pop()
        try:
            with os.scandir(inside(base, here) if here else base) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except (OSError, QuireError):
            continue
        seen += len(listed)
        folders = []
        for entry in listed:
            path = f"{here}/{entry.name}" if here else entry.name
            if entry.name.startswith(".") or not path.isprintable():
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH_MOST and entry.name not in _FOREIGN:
                    folders.append((path, depth + 1))
            elif entry.name.lower().endswith(".md") and entry.is_file(follow_symlinks=False):
                found.append(path)
        waiting += reversed(folders)
    return sorted(found[:FILES_MOST])


def read_config(base: str, relative: str) -> dict[str, Any]:
    """A small JSON object that says where something lies; empty where there is none that can be read."""
    try:
        return as_dict(json_value(read_inside(base, relative, FILE_BYTES)))
    except (OSError, ValueError):
        return {}


# -- reading --------------------------------------------------------------------------------------


def read_source(source: HostSource, places: KnownPlaces) -> bytes | Problem:
    """The bytes of a source, or why they were not read."""
    base = places.root if source.scope == "project" else places.home
    relative = os.path.relpath(source.path, base)
    if relative.split(os.sep)[0] == "..":
        return unread(source, "it is outside the project and the home folder")
    try:
        return read_inside(base, relative.replace(os.sep, "/"), FILE_BYTES)
    except OSError as error:
        return unread(source, (error.strerror or str(error)).lower())


def unread(source: HostSource, why: str, line: int | None = None) -> Problem:
    return Problem(
        code="HostUnread", message=f"It was not read: {why}.", path=source.shown, line=line, severity="warning"
    )


def json_lines(source: HostSource, data: bytes, guard: Guard) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one on each line, and where they stand. Of lines that are none, the first are
    reported."""
    bad = 0
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        found = json_value(line)
        if isinstance(found, dict):
            yield number, found
            continue
        bad += 1
        if bad <= _BAD_LINES_SHOWN:
            guard.tell(unread(source, "the line is not a JSON object", number))
    if bad > _BAD_LINES_SHOWN:
        guard.tell(unread(source, f"{bad - _BAD_LINES_SHOWN} more lines are not JSON objects"))


# -- code paths in a text -------------------------------------------------------------------------


def code_paths(text: str, root: str, folder: str = "") -> list[str]:
    """The files and folders of the project that a text names, as anchors. Links are read from `folder`."""
    named = [(found.start(), found[1], True) for found in _IN_TICKS.finditer(text)]
    named += [(found.start(), found.group(), False) for found in _BARE.finditer(text)]
    for found in _LINK.finditer(text):
        if "://" not in found[1] and not found[1].startswith(("/", "#")):
            bare = _BEHIND.sub("", found[1])
            named.append((found.start(), os.path.normpath(f"{folder}/{bare}" if folder else bare), True))
    anchors: dict[str, None] = {}
    for _, name, is_marked in sorted(named)[:_NAMES_MOST]:
        anchor = _anchor(name, root, is_marked=is_marked)
        if anchor:
            anchors[anchor] = None
        if len(anchors) == ANCHORS_MOST:
            break
    return list(anchors)


def _anchor(name: str, root: str, *, is_marked: bool) -> str:
    """What is there under a name; empty where nothing is, or it is no code."""
    name = _BEHIND.sub("", name).rstrip(".,;:")
    path = "" if anchor_fault(name) else normal_anchor(name).rstrip("/")
    if not path or not path.isprintable() or path in OWN_FILES or path.lower().endswith(".md"):
        return ""
    if path.split("/")[0] in (*OWN_FOLDERS, ".git"):
        return ""
    try:
        mode = os.lstat(inside(root, path)).st_mode
    except (OSError, ValueError, QuireError):
        return ""
    if stat.S_ISREG(mode):
        return path if "/" in path or (is_marked and not path.startswith(".")) else ""
    if stat.S_ISDIR(mode) and "/" in name and f"{path}/" not in _WIDE:
        return cut(f"{path}/", 1_000)
    return ""
