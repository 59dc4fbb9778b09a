"""Merge files of the project that we write a part of: instruction files, pages of the journal, servers for agents.

Sections and pages are made anew from the memory by the next write on the default branch. So they are no reason for a
conflict: one side's stand till then, the same one whichever side is ours. What people wrote is merged as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from quire.files.json_files import parse_strict, pretty
from quire.layers.merge_record import one_sided, same
from quire.layers.table import LAYERS
from quire.model.errors import InvalidJson

_SERVERS = ".mcp.json"
_TEXTS = ("AGENTS.md", "CLAUDE.md")
_PAGES = tuple(f"{layer.page_folder}/*.md" for layer in LAYERS if layer.page_folder)
SHARED = (*_TEXTS, _SERVERS, *_PAGES)
PLACES = tuple(pattern.removesuffix("/*.md") for pattern in SHARED)
"""The files, and the folders of pages."""
_SECTIONS = (
    re.compile(rb"<!-- memory:map:start -->.*?<!-- memory:map:end -->", re.DOTALL),
    re.compile(rb"<!-- agent-memory:entry [^\n]* start -->.*?<!-- agent-memory:entry end -->", re.DOTALL),
)


def merge_shared(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """The whole file where nothing of it is anybody's own; None where a merge of texts is right."""
    if path == _SERVERS:
        return _merge_servers(base, ours, theirs)
    if any(fnmatchcase(path, pattern) for pattern in _PAGES):
        data, is_settled = one_sided(base, ours, theirs)
        return data if is_settled else max(ours, theirs)
    return None


def with_one_section(path: str, versions: Sequence[bytes]) -> list[bytes]:
    """Base, ours and theirs with the same sections in them; what else they say is as it was."""
    found = list(versions)
    if path in _TEXTS:
        for section in _SECTIONS:
            held = [section.findall(data) for data in found]
            if all(len(one) == 1 for one in held[1:]):
                base = held[0][0] if held[0] else None
                data, is_settled = one_sided(base, held[1][0], held[2][0])
                chosen = (data if is_settled else max(held[1][0], held[2][0])) or b""
                found = [section.sub(_always(chosen), data) for data in found]
    return found


def _always(text: bytes) -> Callable[[re.Match[bytes]], bytes]:
    return lambda _: text


def _merge_servers(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """By key; None where both sides changed one key, or a side is no JSON."""
    try:
        values = [parse_strict(data.decode() or "{}", _SERVERS) for data in (base, ours, theirs)]
        return pretty(_by_key(*values))
    except (InvalidJson, ValueError):
        return None


def _by_key(base: Any, ours: Any, theirs: Any) -> Any:
    if same(ours, theirs) or same(base, theirs):
        return ours
    if same(base, ours):
        return theirs
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        raise ValueError("both sides changed it")
    known = base if isinstance(base, dict) else {}
    names = [*known, *sorted({**ours, **theirs}.keys() - known.keys())]
    found = {name: _by_key(known.get(name), ours.get(name), theirs.get(name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}
