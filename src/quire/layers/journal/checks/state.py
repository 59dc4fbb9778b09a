"""Check the state, the settings, and what the bundle claims about the project.

Two findings are milder than those of the original program. A check of the project that was never run passes,
and one that is long ago is a warning: a date must not make a healthy memory red. And so is a path of the bundle that is
gone: the code has moved on, and the memory is stale, not broken.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from quire.layers.journal.bundles import objects_at, shown, texts_at
from quire.layers.journal.canonical import content_hash
from quire.layers.journal.checks.findings import REPAIRS_IT, RESTORES, document_at, failed, listing, passed, warned
from quire.layers.journal.documents import read_state
from quire.layers.journal.layout import CONFIG, FOLDER, STATE
from quire.layers.journal.numbered_ids import moment_of
from quire.layers.journal.settings import JournalSettings, config_faults, read_config
from quire.layers.journal.store import checkpoint_ids, held_file
from quire.layers.journal.types import Bundle, State
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.untyped import at_path

_STATE, _CONFIG = f"{FOLDER}/{STATE}", f"{FOLDER}/{CONFIG}"
_FRESH_DAYS = 14
_KEY_CHARS = 24
_COVERED = 5
_COUNTED = 3
_PLACES = (("projectMap", "modules"), ("projectMap", "entrypoints"), ("projectMap", "denseSourceAreas"))
_LISTS = (("project", "keyPaths"), ("projectMap", "firstFilesToRead"))
_SILENT = ("", "none")


def check_state(root: str) -> tuple[State | None, list[Problem]]:
    """The state, where it can be used."""
    value, fault, said = document_at(root, STATE)
    if fault:
        return None, [failed(f"state:{fault}", said, _STATE, _brought_back(root))]
    try:
        state = read_state(value)
    except QuireError as error:
        return None, [failed("state:schema", error.message, _STATE, error.hint)]
    found = [passed("state:schema", f"`{_STATE}` has the shape of a state.", _STATE)]
    if content_hash(state.bundle) == state.bundle_hash:
        found.append(passed("state:bundle-hash", "The hash of the state matches its bundle.", _STATE))
    else:
        said = "The hash of the state does not match its bundle: another program changed the bundle."
        found.append(failed("state:bundle-hash", said, _STATE, REPAIRS_IT))
    return state, [*found, *_doubled(root)]


def _doubled(root: str) -> Iterator[Problem]:
    """Keys that stand in one object twice, as a merge may leave them: whoever reads the file takes the last."""
    import json

    seen: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen.extend(name for name, number in Counter(name for name, _ in pairs).items() if number > 1)
        return found

    with contextlib.suppress(QuireError, ValueError, RecursionError):
        json.loads(held_file(root, STATE) or b"{}", object_pairs_hook=once)
    if seen:
        # What is no ordinary key is not repeated: it may be a credential.
        names = "".join(f" `{name}`" for name in seen[:1] if name.isidentifier() and len(name) <= _KEY_CHARS)
        said = f"In `{_STATE}` a key{names} occurs twice in one object; the last one counts."
        yield warned("state:keys", said, _STATE, "Keep the right one; the next update rewrites the file.")


def _brought_back(root: str) -> str:
    if checkpoint_ids(root):
        return f"`memory journal restore` restores the state from a checkpoint; {RESTORES}"
    return f"{RESTORES} `memory journal init` creates a new one."


def check_config(root: str) -> tuple[JournalSettings, list[Problem]]:
    """The settings, or the defaults where the file cannot be used."""
    value, fault, said = document_at(root, CONFIG)
    if fault == "missing":
        return read_config(), [failed("config:missing", f"{said} The defaults hold.", _CONFIG, REPAIRS_IT)]
    if fault:
        return read_config(), [failed(f"config:{fault}", said, _CONFIG, RESTORES)]
    faults = config_faults(value)
    if faults:
        said = f"`{_CONFIG}` is not valid: {' '.join(faults)}"
        return read_config(), [failed("config:schema", said, _CONFIG, "Correct it.")]
    return read_config(value), [passed("config:schema", f"`{_CONFIG}` has the shape of the settings.", _CONFIG)]


def check_coverage(state: State, checkpoints: int) -> Problem:
    """Whether there is enough to answer questions from."""
    counted = (
        len(objects_at(state.bundle, "gotchas")),
        len(objects_at(state.bundle, "nextSteps")),
        int(min(max(state.maintenance.history_event_count, 0), _COUNTED)),
    )
    evidence = _COUNTED + sum(min(number, _COUNTED) for number in counted) + (checkpoints > 0)
    if evidence < _COVERED:
        said = "The journal holds little: few gotchas, next steps, events and checkpoints."
        return warned("query:coverage", said, _STATE, "`memory journal sync` and `memory journal recall` add more.")
    return passed("query:coverage", "The journal holds enough to answer questions.", _STATE)


def check_bundle_paths(root: str, bundle: Bundle) -> list[Problem]:
    """Which places the bundle names that are not there. Nothing outside the project is looked at."""
    named = dict.fromkeys(path for path in _named_paths(bundle) if path not in _SILENT)
    outside = [path for path in named if _leads_out(path)]
    gone = [path for path in named if path not in outside and not _is_there(root, path)]
    found = []
    if gone:
        said = f"The bundle names {len(gone):,} of {len(named):,} paths that are not there: {listing(gone)}."
        found.append(warned("bundle:paths", said, _STATE, "`memory journal update` reads the project again."))
    if outside:
        said = f"The bundle names paths outside the project, which were not checked: {listing(outside)}."
        found.append(warned("bundle:outside", said, _STATE, "`memory journal update` reads the project again."))
    return found or [passed("bundle:paths", f"All {len(named):,} paths that the bundle names are there.", _STATE)]


def _named_paths(bundle: Bundle) -> Iterator[str]:
    yield shown(bundle, "project", "recommendedEntryFile")
    for path in _LISTS:
        yield from texts_at(bundle, *path)
    for path in _PLACES:
        yield from (shown(item, "path") for item in objects_at(bundle, *path))


def _leads_out(path: str) -> bool:
    plain = path.replace("\\", "/")
    return plain.startswith(("/", "~")) or os.path.normpath(plain).split("/")[0] == ".."


def _is_there(root: str, path: str) -> bool:
    try:
        return os.path.lexists(os.path.join(root, path))
    except ValueError:
        return False


def check_baseline(bundle: Bundle, now: datetime) -> Problem:
    """Whether the project itself was checked, and when."""
    snapshot = at_path(bundle, "currentFocus", "validationSnapshot")
    at = shown(snapshot, "validatedAt")
    hint = "`memory journal update --validate` runs the project's own checks."
    if shown(snapshot, "status") == "not-run" or not at:
        said = "The project's own checks were not run for this memory; `update --validate` runs them."
        return passed("validation:baseline", said, _STATE)
    moment = moment_of(at)
    if moment is None:
        return warned(
            "validation:timestamp", f"`{at}`, when the project was checked, is not a valid time.", _STATE, hint
        )
    try:
        is_old = moment < now - timedelta(days=_FRESH_DAYS)
    except OverflowError:
        is_old = False
    if is_old:
        said = f"The project's own checks were last run more than {_FRESH_DAYS} days ago, on {at}."
        return warned("validation:freshness", said, _STATE, hint)
    return passed("validation:freshness", f"The project's own checks were run on {at}.", _STATE)
