"""Run all checks of a journal, for `memory journal validate` and `memory check`; reads only, never raises.

Nothing ends the check: what needs the state is left out where there is none, and everything else is still looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from datetime import datetime

import msgspec

from quire.files import file_lock
from quire.files.freshness import stamp_at
from quire.files.layout import RECOVERY
from quire.files.paths import names_in
from quire.layers.journal.checks.archive import archived_ids, check_archive, read_archive
from quire.layers.journal.checks.checkpoints import check_checkpoints, check_latest, look_at_checkpoints
from quire.layers.journal.checks.findings import failed
from quire.layers.journal.checks.history import check_history, check_log
from quire.layers.journal.checks.leftovers import check_automation, check_leftovers
from quire.layers.journal.checks.pages import check_pages
from quire.layers.journal.checks.sources import check_registry, check_sources
from quire.layers.journal.checks.state import (
    check_baseline,
    check_bundle_paths,
    check_config,
    check_coverage,
    check_state,
)
from quire.layers.journal.layout import EVENTS, FOLDER, LOCAL, PAGES_DUE, SOURCE_TYPES, STATE
from quire.layers.journal.store import are_pages_due, events_in_fragments
from quire.model.records import Problem

_LOOKS = 20


def check_journal(
    root: str,
    now: datetime,
    *,
    is_alive: Callable[[int], bool] | None = None,
    types: Collection[str] | None = SOURCE_TYPES,
    home: str = "",
) -> list[Problem]:
    """Everything that was looked at, in the order of the files; the memory is sound if nothing is an error.

    `is_alive` says whether a process runs; `types` are the kinds of sources that can be imported;
    `home` is the user's folder.
    """
    for _ in range(_LOOKS):
        before = _stamps(root)
        found = _validate(root, now, is_alive, types, home)
        if _stamps(root) == before:
            break  # else someone wrote meanwhile, and half of what was seen is of another memory than the rest
    return found


def _stamps(root: str) -> list[str]:
    """How the files look that are written first and last."""
    names = (STATE, EVENTS, f"{LOCAL}/{PAGES_DUE}")
    found = [stamp_at(os.path.join(root, FOLDER, *name.split("/"))) for name in names]
    return [*found, *names_in(os.path.join(root, FOLDER, RECOVERY))]


def _validate(
    root: str,
    now: datetime,
    is_alive: Callable[[int], bool] | None,
    types: Collection[str] | None,
    home: str,
) -> list[Problem]:
    unusable = _folder_finding(root)
    if unusable is not None:
        return [unusable]
    state, found = check_state(root)
    config, more = check_config(root)
    found += more
    archive = read_archive(root)
    history, more = check_log(root)
    found += more
    if history is not None:
        found += check_history(history, config, state, archived_ids(archive), events_in_fragments(root))
    registry, more = check_registry(root)
    found += more
    if registry is not None:
        found += check_sources(registry, state, types, root, home)
    looked = look_at_checkpoints(root)
    found += check_checkpoints(root, looked)
    if state is not None:
        found += check_latest(state, looked)
        found.append(check_coverage(state, sum(1 for one in looked if not one.fault)))
        due = are_pages_due(root)
        pages = check_pages(root, state)
        found += _patiently(pages) if due or are_pages_due(root) else pages
        found += check_bundle_paths(root, state.bundle)
        found.append(check_baseline(state.bundle, now))
    found += check_automation(root, is_alive or file_lock.is_alive)
    active = frozenset(event.id for event in history.events) if history is not None else frozenset()
    found += check_archive(root, archive, config, active, now)
    return [*found, *check_leftovers(root)]


def _patiently(pages: list[Problem]) -> list[Problem]:
    """What is not as it should be and is about to be written is no fault."""
    return [msgspec.structs.replace(one, severity="warning") if one.severity == "error" else one for one in pages]


def _folder_finding(root: str) -> Problem | None:
    """Why there is nothing to look at."""
    path = os.path.join(root, FOLDER)
    if not os.path.lexists(path):
        hint = "`memory journal init` creates one."
        return failed("state:missing", f"There is no journal here: `{FOLDER}/{STATE}` is missing.", FOLDER, hint)
    if os.path.islink(path):
        said = f"`{FOLDER}` is a symbolic link; nothing is read or written through it."
        return failed("journal:folder", said, FOLDER, "Replace the link with a real folder.")
    if not os.path.isdir(path):
        return failed("journal:folder", f"`{FOLDER}` is not a folder.", FOLDER, "Move it away.")
    return None
