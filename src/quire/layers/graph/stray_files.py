"""Find files in the memory folder that belong to nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from quire.files.durable_write import writer_of
from quire.files.paths import is_text, read_bytes
from quire.guard.admission import stored_secrets
from quire.layers.graph.damage import restore_hint
from quire.layers.graph.layout import (
    CONFIG,
    EVENT_FRAGMENTS,
    EVENTS,
    GENERATED,
    NODES,
    OTHERS,
    RELATIONS,
    SCHEMA,
    SYNC_STATE,
)
from quire.model.records import Problem, warning_at
from quire.model.text import spelled

_KNOWN_TOP = frozenset(
    (CONFIG, NODES, RELATIONS, SCHEMA, EVENTS, EVENT_FRAGMENTS, SYNC_STATE, ".gitattributes", ".gitignore")
).union(OTHERS, GENERATED)


def stray_files(memory: str) -> Iterator[Problem]:
    """What lies in the memory folder and no command reads."""
    for name in sorted(os.listdir(memory)) if os.path.isdir(memory) else ():
        if name not in _KNOWN_TOP and writer_of(name) is None:
            yield warning_at("StrayFile", spelled(name), "Not part of the memory.", "Move it elsewhere or remove it.")
    for top in (NODES, RELATIONS):
        if os.path.islink(os.path.join(memory, top)):
            continue
        for folder, _, files in os.walk(os.path.join(memory, top)):
            inner = os.path.relpath(folder, memory)
            named = frozenset(files)
            for name in sorted(files):
                if name.endswith(".json") and name.isascii() and inner.isascii() and not name.startswith("."):
                    continue  # it was read with the nodes or the relations
                yield from _stray(f"{inner}/{name}", os.path.join(folder, name), top, named)


def _stray(path: str, full: str, top: str, named: frozenset[str]) -> Iterator[Problem]:
    base = os.path.basename(path)
    if not is_text(path):
        yield warning_at("StrayFile", spelled(path), "Its name is not UTF-8 text: no command reads it.", "Rename it.")
    elif writer_of(base) is not None:
        return  # of a writer of ours: those of dead ones are counted by who sweeps them
    elif base.startswith("."):
        yield warning_at("StrayFile", path, "Left over from an interrupted program.", "Remove it.")
    elif path.endswith(".md") and top == NODES:
        beside = base.removesuffix(".md") + ".json"
        if beside not in named and not os.path.lexists(os.path.join(os.path.dirname(full), beside)):
            hint = restore_hint(path.removesuffix(".md") + ".json")
            yield warning_at("OrphanBody", path, "A body without a sidecar: no command shows it.", hint)
            with contextlib.suppress(OSError, UnicodeDecodeError):  # it is committed all the same
                yield from stored_secrets(path, read_bytes(full).decode("utf-8"))
    elif not path.endswith(".json"):
        yield warning_at("StrayFile", path, "Not part of the memory.", "Move it elsewhere or remove it.")
