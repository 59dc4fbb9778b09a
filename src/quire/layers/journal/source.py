"""The index's source for the journal: state, history, checkpoints and archive, each file with a stamp."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from quire.files.digests import hex_digest
from quire.files.fragments import fragments_of, stamp_of_fragments
from quire.files.freshness import stamp_at
from quire.files.paths import is_text, names_in
from quire.layers.journal.layout import (
    ARCHIVE,
    BATCH_CHECKPOINTS,
    BATCH_EVENTS,
    BATCH_PREFIX,
    CHECKPOINTS,
    EVENTS,
    EVENTS_BYTES,
    FOLDER,
    LOG,
    STATE,
)
from quire.model.errors import QuireError
from quire.model.records import Edge, Problem, Record, RecordSummary
from quire.model.sources import IndexSource
from quire.model.vocabulary import LayerName

_TOLD = 20
"""How many bad lines are reported one by one; `memory check` names all."""


class JournalSource(IndexSource):
    """Every file is read when it changed; what stands in it as it stood before, the index keeps."""

    layer: LayerName = "journal"

    def __init__(self, root: str) -> None:
        self._root = self.base = root
        self._folder = os.path.join(root, FOLDER)

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        if not os.path.isdir(self._folder) or os.path.islink(self._folder):
            return {}
        wanted = self._paths() if paths is None else paths
        return {path: stamp for path in wanted if (stamp := self._stamp(path))}

    def _paths(self) -> Iterator[str]:
        yield STATE
        yield EVENTS
        yield from self._checkpoints(CHECKPOINTS)
        for batch in self._names(ARCHIVE):
            if batch.startswith(BATCH_PREFIX):
                yield f"{ARCHIVE}/{batch}/{BATCH_EVENTS}"
                yield from self._checkpoints(f"{ARCHIVE}/{batch}/{BATCH_CHECKPOINTS}")

    def _checkpoints(self, folder: str) -> Iterator[str]:
        return (f"{folder}/{name}" for name in self._names(folder) if name.endswith(".json"))

    def _names(self, folder: str) -> list[str]:
        """What lies in a folder; not names that are no text, which nothing can be kept under."""
        path = os.path.join(self._folder, folder)
        return [] if os.path.islink(path) else list(filter(is_text, names_in(path)))

    def _stamp(self, path: str) -> str:
        stamp = stamp_at(os.path.join(self._folder, path))
        if path != EVENTS or not fragments_of(self._root, LOG):
            return stamp
        return f"{stamp}+{stamp_of_fragments(self._root, LOG)}"

    def read(self, paths: Iterable[str]) -> Iterator[Record | Edge | Problem | RecordSummary]:
        for path in paths:
            try:
                yield from self._read(path)
            except QuireError as error:
                yield Problem(code=error.code, path=path, message=error.message)

    def _read(self, path: str) -> Iterator[Record | Problem]:
        from quire.layers.journal.store import held_file, held_log

        archived = path.startswith(f"{ARCHIVE}/")
        if path == STATE:
            yield from self._state(held_file(self._root, path) or b"")
        elif path == EVENTS:
            yield from self._events(path, held_log(self._root) or b"", archived)
        elif path.endswith(".jsonl"):
            yield from self._events(path, held_file(self._root, path, EVENTS_BYTES) or b"", archived)
        else:
            from quire.layers.journal.documents import parse_document, read_checkpoint
            from quire.layers.journal.records import checkpoint_record

            where = f"{FOLDER}/{path}"
            found = read_checkpoint(parse_document(held_file(self._root, path) or b"", where), where)
            yield checkpoint_record(found, path, archived=archived)

    def _state(self, data: bytes) -> Iterator[Record]:
        from quire.layers.journal.documents import parse_document, read_state
        from quire.layers.journal.records import bundle_records

        yield from bundle_records(read_state(parse_document(data, f"{FOLDER}/{STATE}")))

    def _events(self, path: str, data: bytes, archived: bool) -> Iterator[Record | Problem]:
        from quire.layers.journal.events import read_history
        from quire.layers.journal.records import event_record, event_ref

        history = read_history(data, path)
        for line in history.aside[:_TOLD]:
            if line.problem is not None:
                said = f"Line {line.number:,}: {line.problem.message}"
                yield Problem(code=line.problem.code, path=path, message=said, line=line.number)
        taken: set[str] = set()
        for line in history.lines:
            if line.event is None:
                continue
            ref = event_ref(line.event.id)
            if ref in taken:
                # Two branches may have given the same id to two events; both can be found.
                ref = f"{ref}~{hex_digest(line.raw.decode('utf-8', 'replace'))[:8]}"
            if ref not in taken:
                taken.add(ref)
                yield event_record(line.event, line.raw, path, ref, archived=archived)
