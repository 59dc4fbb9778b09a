"""Check the registry of sources and the places they point to.

A path that is not there is a warning, where the original program fails: the paths are those of one machine, and on
every other one that has the same repository the memory would be red.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator

from quire.layers.journal.checks.findings import (
    REPAIRS_IT,
    RESTORES,
    TOLD,
    document_at,
    failed,
    listing,
    passed,
    warned,
)
from quire.layers.journal.layout import FOLDER, SOURCES
from quire.layers.journal.sources import SourceRegistry, read_sources, with_added
from quire.layers.journal.store import added_sources, stored_sources
from quire.layers.journal.types import SessionSource, State
from quire.model.errors import QuireError
from quire.model.records import Problem

_SOURCES = f"{FOLDER}/{SOURCES}"


def check_registry(root: str) -> tuple[SourceRegistry | None, list[Problem]]:
    """The registry, where it can be used."""
    value, fault, said = document_at(root, SOURCES)
    if fault == "missing":
        return None, [failed("sources:missing", said, _SOURCES, f"{RESTORES} {REPAIRS_IT}")]
    if fault:
        return None, [failed("sources:read", said, _SOURCES, RESTORES)]
    try:
        added = added_sources(root)
        said = "Lines that cannot be read: {:,}. They say which sources a branch added."
        counts = [(path, count) for path, (_, count) in added.items() if count]
        unread = [warned("sources:fragment", said.format(count), path, RESTORES) for path, count in counts]
        return with_added(read_sources(value), [change for changes, _ in added.values() for change in changes]), unread
    except QuireError as error:
        return None, [failed("sources:schema", error.message, _SOURCES, RESTORES)]


def check_sources(
    registry: SourceRegistry, state: State | None, types: Collection[str] | None, root: str, home: str
) -> list[Problem]:
    """`types` are the kinds of sources that can be imported; None where that is not to be judged."""
    found = [_unread(" ".join(entry.faults)) for entry in registry.unread[:TOLD]]
    if len(registry.unread) > TOLD:
        found.append(_unread(f"{len(registry.unread) - TOLD:,} more entries are not sources."))
    if not found:
        found.append(passed("sources:schema", f"All {len(registry.sources):,} sources can be read.", _SOURCES))
    if state is not None:
        found.append(_count(registry, state, root))
    twice = [name for name, number in Counter(source.id for source in registry.sources).items() if number > 1]
    if twice:
        said = f"More than one source has the id: {listing(twice)}. Only the first of each can be used."
        found.append(warned("sources:duplicate", said, _SOURCES, "Give the others different ids."))
    return [*found, *(finding for source in registry.sources for finding in _source(source, types, root, home))]


def _unread(said: str) -> Problem:
    return failed("sources:schema", said, _SOURCES, "It is kept; correct or remove it by hand.")


def accepted_sources(registry: SourceRegistry, count: float, root: str) -> bool:
    """Whether the state counts right: an entry that cannot be read may have been counted or not, those in fragments
    are counted once they are folded."""
    held = stored_sources(root)[0] if added_sources(root) else registry
    return count in range(len(held.sources), len(held.entries) + 1)


def _count(registry: SourceRegistry, state: State, root: str) -> Problem:
    count = state.maintenance.import_source_count
    if accepted_sources(registry, count, root):
        return passed("sources:count", "The state has the right number of sources.", _SOURCES)
    said = f"The state counts {count:,} sources; there are {len(registry.entries):,}."
    return failed("sources:count", said, _SOURCES, REPAIRS_IT)


def _is_there(path: str, root: str, home: str) -> bool:
    """Whether a path leads to something on this machine; one below `~` does not where nobody knows whose that is."""
    if path == "~" or path.startswith("~/"):
        return bool(home) and os.path.exists(os.path.join(home, path[2:]))
    return os.path.exists(os.path.join(root, path))


def _source(source: SessionSource, types: Collection[str] | None, root: str, home: str) -> Iterator[Problem]:
    name = source.id
    if types is not None:
        if source.type in types:
            yield passed(f"sources:type:{name}", f"The source `{name}` is of a kind that can be imported.", _SOURCES)
        else:
            said = f"The source `{name}` is of the kind `{source.type}`, which cannot be imported."
            yield failed(f"sources:type:{name}", said, _SOURCES, f"The kinds are: {', '.join(types)}.")
    if _is_there(source.path, root, home):
        yield passed(f"sources:path:{name}", f"The path of the source `{name}` exists.", _SOURCES)
    else:
        said = f"The path of the source `{name}` is not on this machine: {source.path}"
        yield warned(f"sources:path:{name}", said, _SOURCES, "Its imported sessions are kept.")
    if source.last_sync_status == "failed":
        said = f"The last import from the source `{name}` failed: {source.last_sync_error or 'no reason recorded'}"
        yield warned(f"sources:sync:{name}", said, _SOURCES, "Earlier imports are kept. Run the import again.")
    else:
        yield passed(f"sources:sync:{name}", f"The last import from the source `{name}` did not fail.", _SOURCES)
