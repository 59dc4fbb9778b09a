"""The index's source for the facts: one file with a stamp, its records and edges."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from quire.files.fragments import fragments_of, stamp_of_fragments
from quire.files.freshness import stamp_at
from quire.files.paths import PASSING, read_inside, storage_failed
from quire.layers.facts.layout import DEFAULT_MIND, FILE, FILE_BYTES, FOLDER, PATH
from quire.model.errors import InvalidStore
from quire.model.records import Edge, Problem, Record, RecordSummary
from quire.model.sources import IndexSource
from quire.model.vocabulary import LayerName

if TYPE_CHECKING:
    from quire.layers.facts.resolve import Resolved

_TOLD = 20
"""How many bad lines are reported one by one; `memory check` names all."""


class FactsOverview(msgspec.Struct, frozen=True):
    """What a change must know of the file as a whole."""

    version: int = 0
    """The highest of the file; the next change takes one more."""
    mind: str = DEFAULT_MIND
    """Whose facts are meant where no mind is named."""
    has_facts: bool = False
    """Whether the default mind has any: then it is the one that is meant, whatever else comes."""
    parked: int = 0
    """Connections that lead to something that is not there yet."""

    def summary(self) -> RecordSummary:
        return RecordSummary(msgspec.msgpack.encode(self))


def overview_of(value: bytes | None) -> FactsOverview:
    return FactsOverview() if value is None else msgspec.msgpack.decode(value, type=FactsOverview)


def stamp_now(root: str) -> str:
    """What the file and its fragments look like; empty where there are none."""
    stamp = stamp_at(os.path.join(root, PATH))
    fragments = fragments_of(root, PATH)
    return f"{stamp}+{stamp_of_fragments(root, PATH)}+{len(fragments)}" if fragments else stamp


def read_fragments(root: str) -> bytes:
    """The lines of all fragments, one fragment after the other."""
    found = []
    for path in fragments_of(root, PATH):
        with contextlib.suppress(FileNotFoundError):
            data = read_inside(root, path, FILE_BYTES)
            found.append(data if not data or data.endswith(b"\n") else data + b"\n")
    return b"".join(found)


def with_fragments(data: bytes, fragments: bytes) -> bytes:
    """The file's bytes with the lines of the fragments behind them."""
    return data + (b"\n" if fragments and data and not data.endswith(b"\n") else b"") + fragments


def refuse_unreadable(root: str) -> None:
    """What is not a regular file holds facts that nobody can see; it must not pass for an empty one."""
    try:
        found = os.stat(os.path.join(root, FOLDER, FILE), follow_symlinks=False)
    except OSError:
        return
    fault = None
    if not stat.S_ISREG(found.st_mode):
        fault = "is not a regular file"
    elif found.st_size > FILE_BYTES:
        fault = f"is larger than {FILE_BYTES:,} bytes"
    if fault:
        raise InvalidStore(
            f"`{FOLDER}/{FILE}` {fault}.", hint="Replace it with a regular file, or move it away. Nothing was changed."
        )


class FactSource(IndexSource):
    """One file: it is read whole when someone else changed it, and not at all after a change of ours."""

    layer: LayerName = "facts"

    def __init__(self, root: str) -> None:
        self._root = self.base = root

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        stamp = stamp_now(self._root)
        return {FILE: stamp} if stamp and (paths is None or FILE in paths) else {}

    def read(self, paths: Iterable[str]) -> Iterator[Record | Edge | Problem | RecordSummary]:
        if FILE not in list(paths):
            yield FactsOverview().summary()
            return
        from quire.layers.facts.lines import read_lines
        from quire.layers.facts.resolve import resolve_reading

        try:
            fragments = read_fragments(self._root)
            is_there = not fragments or os.path.lexists(os.path.join(self._root, PATH))
            data = read_inside(self._root, PATH, FILE_BYTES) if is_there else b""
            data = with_fragments(data, fragments)
        except FileNotFoundError:
            yield FactsOverview().summary()
            return
        except OSError as error:
            if error.errno in PASSING:
                # Nothing is wrong with the file: it must not pass for an empty one, neither now nor in the index.
                raise storage_failed(error, f"read `{FOLDER}/{FILE}`", self._root) from error
            reason = (error.strerror or str(error)).lower()
            yield Problem(code="CanonicalFileUnsafe", path=FILE, message=f"It cannot be read: {reason}.")
            yield FactsOverview().summary()
            return
        reading = read_lines(data)
        for line in reading.aside[:_TOLD]:
            said = f"Line {line.number:,}: {line.problem.message}"
            yield Problem(code=line.problem.code, path=FILE, message=said, line=line.number)
        yield from _items(resolve_reading(reading))


def items_in(data: bytes) -> Iterator[Record | Edge]:
    """What the lines of a file hold, wherever it comes from; a line that cannot be read is passed over."""
    from quire.layers.facts.lines import read_lines
    from quire.layers.facts.resolve import resolve_reading

    for item in _items(resolve_reading(read_lines(data))):
        if not isinstance(item, RecordSummary):
            yield item


def _items(resolved: Resolved) -> Iterator[Record | Edge | RecordSummary]:
    from quire.layers.facts.records import (
        FactWithTwins,
        connection_edge,
        episode_record,
        fact_record,
        fact_ref,
        replaces_edge,
    )
    from quire.layers.facts.types import Fact

    home = resolved.home
    told = any(fact.mind == DEFAULT_MIND for fact in resolved.facts.values())
    yield FactsOverview(resolved.version, home, told, len(resolved.parked)).summary()
    twins: dict[str, list[Fact]] = {}
    for name, stands in resolved.aliases.items():
        twins.setdefault(stands, []).append(resolved.twins[name])
    for name, fact in resolved.facts.items():
        yield fact_record(FactWithTwins(fact, tuple(twins.get(name, ()))), home)
    for episode in resolved.episodes.values():
        yield episode_record(episode, home)
    for link in resolved.connections.values():
        source, target = (fact_ref(end) if end in resolved.facts else end for end in (link.source, link.target))
        yield connection_edge(link.connection, source, target)
    for old, replacing in resolved.replacements.items():
        for new in replacing:
            if old in resolved.facts:
                yield replaces_edge(new, old)
