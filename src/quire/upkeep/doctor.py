"""Whether a project's storage can be worked with: its layers, git's rules, unfinished work, index, lock, faults."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from quire.files.file_lock import Holder, is_alive
from quire.files.git import Git
from quire.files.local_files import is_at_rest
from quire.files.paths import read_bytes
from quire.files.transaction import is_interrupted, left_aside
from quire.files.world import World
from quire.files.write_access import LOCK, RECOVERY
from quire.index.health import index_fault
from quire.layers.facts.layout import FILE as FACTS
from quire.layers.graph.layout import FOLDER
from quire.layers.graph.store import GraphStore
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import IGNORED as JOURNAL_IGNORED
from quire.layers.journal.layout import SCHEMA_VERSION as JOURNAL_VERSION
from quire.layers.journal.layout import STATE as JOURNAL_STATE
from quire.layers.profile.layout import FILE as PROFILE_FILE
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.profile.layout import IGNORED as PROFILE_IGNORED
from quire.layers.profile.layout import MIGRATED, READABLE
from quire.layers.profile.layout import VERSION as PROFILE_VERSION
from quire.model.errors import NotInitialized, QuireError
from quire.model.records import Problem
from quire.upkeep.check import Checked
from quire.upkeep.findings import Finding, State
from quire.upkeep.ignore import ENTRIES, ensure_ignored
from quire.upkeep.repair.plan import NOT_IGNORED, REPAIR

_FOLDERS = (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER)
_MEND = "--fix does it; so does the next command that writes."


def _about(name: str, message: str, state: State = "ok", hint: str = "", *, fixable: bool = False) -> Finding:
    return Finding(section="project", name=name, state=state, message=message, hint=hint, fixable=fixable)


# -- layers ---------------------------------------------------------------------------------


def look_at_layers(root: str) -> list[Finding]:
    """Each layer that is here, and the version of its storage."""
    found = [_graph(root)] if os.path.lexists(os.path.join(root, FOLDER)) else []
    if os.path.lexists(os.path.join(root, FOLDER, FACTS)):
        found.append(_about("facts", f"{FOLDER}/{FACTS}"))
    profile = f"{PROFILE_FOLDER}/{PROFILE_FILE}"
    if os.path.lexists(os.path.join(root, profile)):
        known = (PROFILE_VERSION, *MIGRATED, *READABLE)
        found.append(_document(root, "profile", profile, "schema_version", lambda version: version in known))
    journal = f"{JOURNAL_FOLDER}/{JOURNAL_STATE}"
    if os.path.lexists(os.path.join(root, journal)):
        found.append(
            _document(root, "journal", journal, "schemaVersion", lambda version: version in (None, JOURNAL_VERSION))
        )
    return found


def _graph(root: str) -> Finding:
    try:
        config = GraphStore(root).config()
    except NotInitialized as error:
        return _about("graph", error.message, "warning", error.hint or "")
    except (QuireError, OSError) as error:
        hint = error.hint if isinstance(error, QuireError) else ""
        return _about("graph", f"{error}", "error", hint or "")
    return _about("graph", f"{FOLDER}, storage version {config.version}")


def _document(root: str, name: str, path: str, key: str, is_known: Callable[[Any], bool]) -> Finding:
    try:
        fields = msgspec.json.decode(read_bytes(os.path.join(root, path)), type=dict[str, msgspec.Raw])
        version = msgspec.json.decode(fields[key]) if key in fields else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        hint = f"`memory check` says where; `git restore {path}` brings back a committed one."
        return _about(name, f"{path} cannot be read ({error}).", "error", hint)
    if not is_known(version):
        return _about(name, f"{path} has the version {version!r}, which is not known.", "error", "Update Quire.")
    return _about(name, f"{path}, version {version}" if version is not None else path)


# -- git ------------------------------------------------------------------------------------


def ignored_entries(root: str) -> tuple[str, ...]:
    """The lines that .gitignore should have, by the layers that are here."""
    return (
        *(ENTRIES if os.path.isdir(os.path.join(root, FOLDER)) else ()),
        *(PROFILE_IGNORED if os.path.isdir(os.path.join(root, PROFILE_FOLDER)) else ()),
        *(JOURNAL_IGNORED if os.path.isdir(os.path.join(root, JOURNAL_FOLDER)) else ()),
    )


def look_at_git(root: str, git: Git, world: World) -> list[Finding]:
    if not git.available:
        hint = "`memory sync` and `memory diff` need it; everything else works without."
        return [_about("git", "This folder is in no git repository, or git is not installed.", "note", hint)]
    found = [_about("git", "in use")]
    try:
        lacks = ensure_ignored(root, world, ignored_entries(root), dry_run=True)
    except (QuireError, OSError) as error:
        return [*found, _about("gitignore", f".gitignore cannot be used: {error}", "warning", "Look at the file.")]
    if not lacks:
        return [*found, _about("gitignore", "Generated files are ignored.")]
    said = ".gitignore lacks lines that keep generated files out of git."
    return [*found, _about("gitignore", said, "warning", "--fix adds them; so does `memory init`.", fixable=True)]


# -- unfinished work ------------------------------------------------------------------------


def unfinished_folders(root: str) -> list[str]:
    """Folders in which a writer died in the middle."""
    return [folder for folder in _FOLDERS if is_interrupted(os.path.join(root, folder, RECOVERY))]


def look_at_transactions(root: str) -> list[Finding]:
    found = []
    unfinished = unfinished_folders(root)
    if unfinished:
        said = f"A writer died in the middle of a change in {', '.join(unfinished)}."
        found.append(
            _about("transactions", said, "warning", f"It is completed from what is kept. {_MEND}", fixable=True)
        )
    else:
        found.append(_about("transactions", "No change is unfinished."))
    recoveries = [f"{folder}/{RECOVERY}" for folder in _FOLDERS]
    kept = [f"{place}/{name}" for place in recoveries for name in left_aside(os.path.join(root, place))]
    if kept:
        said = f"Changes that could not be completed are kept: {', '.join(kept[:3])}{' …' if len(kept) > 3 else ''}"
        found.append(_about("kept", said, "warning", "`memory docs recovery` says how to look at them."))
    return found


def look_at_lock(root: str) -> list[Finding]:
    state, who = _lock(root)
    if state == "left":
        said = f"{FOLDER}/{LOCK} was left by a process that is gone{who}."
        return [_about("lock", said, "warning", f"Quire does not mind it, other programs do. {_MEND}", fixable=True)]
    if state == "held":
        return [_about("lock", f"Somebody is writing now{who}.", "note", "Wait for it, and look again.")]
    return [_about("lock", "Nobody holds it.")]


def _lock(root: str) -> tuple[str, str]:
    """Whether the lock is free, held, or left by a dead writer; that stops nobody of ours, but other programs wait."""
    path = os.path.join(root, FOLDER, LOCK)
    try:
        data = read_bytes(path)
        is_free = is_at_rest(path)
    except OSError:
        return "free", ""
    try:
        holder = msgspec.json.decode(data, type=Holder)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ("left" if is_free else "held"), ""
    who = f" (process {holder.pid}, `{holder.operation[:40]}`)"
    is_foreign = not holder.kernel and is_alive(holder.pid)
    return ("held" if is_foreign or not is_free else "left"), who


# -- index and faults -----------------------------------------------------------------------


def look_at_index(folder: str | None) -> Finding:
    fault = index_fault(folder) if folder is not None else None
    if fault is None:
        return _about("index", "There is none yet; the next question makes it.")
    if not fault:
        return _about("index", "usable")
    hint = "Nothing is lost, it is made from the files. --fix does it; so does `memory rebuild`."
    return _about("index", f"The index is damaged: {fault}.", "warning", hint, fixable=True)


def told_check(checked: Checked) -> list[Finding]:
    """What `memory check` says, counted by code; but for lines that .gitignore lacks, which are told by themselves."""
    warnings = [one for one in checked.warnings if one.code not in NOT_IGNORED or one.mend != REPAIR]
    if not checked.errors and not warnings:
        return [_about("check", f"{checked.files_checked:,} file{'' if checked.files_checked == 1 else 's'}, no fault")]
    found = []
    if checked.errors:
        found.append(_about_files("Errors", checked.errors, "error"))
    if warnings:
        found.append(_about_files("Warnings", warnings, "warning"))
    return found


def _about_files(title: str, problems: list[Problem], state: State) -> Finding:
    """Faults of one severity, and who mends how many of them."""
    mends = [problem.mend for problem in problems]
    repaired, itself = mends.count("repair"), mends.count("itself")
    person = len(mends) - repaired - itself
    hints = []
    if repaired:
        hints.append(f"--fix mends {repaired:,} of them, as `memory check --repair` does; nothing is lost.")
    if itself:
        hints.append(f"{itself:,} {'is' if itself == 1 else 'are'} mended by the next command that writes.")
    if person:
        hints.append(
            f"{person:,} {'is' if person == 1 else 'are'} for you to decide: `memory check` says where, and what to do."
        )
    return _about("check", f"{title}: {_counted(problems)}", state, " ".join(hints), fixable=bool(repaired))


def _counted(problems: list[Problem]) -> str:
    counts: dict[str, int] = {}
    for problem in problems:
        counts[problem.code] = counts.get(problem.code, 0) + 1
    return ", ".join(f"{code} ({count:,})" for code, count in sorted(counts.items()))
