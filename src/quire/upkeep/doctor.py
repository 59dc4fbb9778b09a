"""Check whether the storage of a project works: layers, git settings, unfinished work, index, lock, problems."""

from __future__ import annotations

import os
from collections import Counter

from quire.files.file_lock import Holder, is_alive
from quire.files.json_files import json_value
from quire.files.layout import LOCK, MEMORY, RECOVERY
from quire.files.local_files import is_at_rest
from quire.files.paths import read_bytes
from quire.files.transaction import is_interrupted, left_aside
from quire.index.health import index_fault
from quire.layers.protocol import Site
from quire.layers.table import HOMES, LAYERS
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.upkeep.check import Checked
from quire.upkeep.findings import Finding, State, finding
from quire.upkeep.ignore import ensure_ignored
from quire.upkeep.merge.git_setup import lacks_driver, names_rules
from quire.upkeep.repair.plan import NOT_IGNORED, REPAIR

_REPAIR = "--fix does it; so does the next command that writes."


# -- layers ---------------------------------------------------------------------------------


def look_at_layers(site: Site) -> list[Finding]:
    """Each layer that is here, and the version of its storage."""
    seen = ((layer.name, layer.storage(site)) for layer in LAYERS)
    return [
        finding("project", name, found.message, found.state, found.hint) for name, found in seen if found is not None
    ]


# -- git ------------------------------------------------------------------------------------


def ignored_entries(root: str) -> tuple[str, ...]:
    """The lines that .gitignore should have, by the layers that are here."""
    return tuple(entry for home in HOMES if os.path.isdir(home.path(root)) for entry in home.ignored)


def look_at_git(site: Site) -> list[Finding]:
    root, git, world = site.root, site.git, site.world
    if not git.available:
        hint = "`memory sync` and `memory diff` need it; everything else works without it."
        return [
            finding("project", "git", "This folder is not in a git repository, or git is not installed.", "note", hint)
        ]
    found = [finding("project", "git", "in use"), _merges(site)]
    try:
        lacks = ensure_ignored(root, world, ignored_entries(root), dry_run=True)
    except (QuireError, OSError) as error:
        return [
            *found,
            finding("project", "gitignore", f".gitignore cannot be used: {error}", "warning", "Check the file."),
        ]
    if not lacks:
        return [*found, finding("project", "gitignore", "Generated files are ignored.")]
    said = ".gitignore lacks lines that keep generated files out of git."
    return [
        *found,
        finding("project", "gitignore", said, "warning", "--fix adds them; so does `memory init`.", fixable=True),
    ]


def _merges(site: Site) -> Finding:
    """Whether git merges the memory by record in this clone."""
    hint = "`memory integrate git` sets this clone up."
    if lacks_driver(site):
        said = "Git merges the memory as text: this clone does not know the merge driver that its attributes name."
        return finding("project", "merges", said, "warning", hint)
    if names_rules(site.root):
        return finding("project", "merges", "Git merges the memory by record.")
    return finding("project", "merges", "Git merges the memory as text.", "note", hint)


# -- unfinished work ------------------------------------------------------------------------


def unfinished_folders(root: str) -> list[str]:
    """Folders in which a writer died in the middle."""
    return [home.folder for home in HOMES if is_interrupted(os.path.join(root, home.folder, RECOVERY))]


def look_at_transactions(root: str) -> list[Finding]:
    found = []
    unfinished = unfinished_folders(root)
    if unfinished:
        said = f"An interrupted change is left in {', '.join(unfinished)}."
        found.append(
            finding(
                "project", "transactions", said, "warning", f"It is completed from its copies. {_REPAIR}", fixable=True
            )
        )
    else:
        found.append(finding("project", "transactions", "No unfinished changes."))
    recoveries = [f"{home.folder}/{RECOVERY}" for home in HOMES]
    kept = [f"{place}/{name}" for place in recoveries for name in left_aside(os.path.join(root, place))]
    if kept:
        said = f"Interrupted changes that could not be completed: {', '.join(kept[:3])}{' …' if len(kept) > 3 else ''}"
        found.append(finding("project", "kept", said, "warning", "`memory docs recovery` explains what to do."))
    return found


def look_at_lock(root: str) -> list[Finding]:
    state, who = _lock(root)
    if state == "left":
        said = f"{MEMORY}/{LOCK} belongs to a process that no longer runs{who}."
        return [finding("project", "lock", said, "warning", f"Other programs may wait for it. {_REPAIR}", fixable=True)]
    if state == "held":
        return [
            finding("project", "lock", f"Another process is writing{who}.", "note", "Wait for it, then check again.")
        ]
    return [finding("project", "lock", "The lock is free.")]


def _lock(root: str) -> tuple[str, str]:
    """Whether the lock is free, held, or left by a dead writer; that stops nobody of ours, but other programs wait."""
    path = os.path.join(root, MEMORY, LOCK)
    try:
        data = read_bytes(path)
        is_free = is_at_rest(path)
    except OSError:
        return "free", ""
    holder = json_value(data, Holder)
    if holder is None:
        return ("left" if is_free else "held"), ""
    who = f" (process {holder.pid}, `{holder.operation[:40]}`)"
    is_foreign = not holder.kernel and is_alive(holder.pid)
    return ("held" if is_foreign or not is_free else "left"), who


# -- index and faults -----------------------------------------------------------------------


def look_at_index(folder: str | None) -> Finding:
    fault = index_fault(folder) if folder is not None else None
    if fault is None:
        return finding("project", "index", "No index yet; the next question builds it.")
    if not fault:
        return finding("project", "index", "usable")
    hint = "Nothing is lost: it is built from the files. --fix or `memory rebuild` rebuilds it."
    return finding("project", "index", f"The index is damaged: {fault}.", "warning", hint, fixable=True)


def told_check(checked: Checked) -> list[Finding]:
    """What `memory check` says, counted by code; but for missing lines of .gitignore, which have their own finding."""
    warnings = [one for one in checked.warnings if one.code not in NOT_IGNORED or one.fixed_by != REPAIR]
    if not checked.errors and not warnings:
        return [
            finding(
                "project",
                "check",
                f"{checked.files_checked:,} file{'' if checked.files_checked == 1 else 's'}, no fault",
            )
        ]
    found = []
    if checked.errors:
        found.append(_about_files("Errors", checked.errors, "error"))
    if warnings:
        found.append(_about_files("Warnings", warnings, "warning"))
    return found


def _about_files(title: str, problems: list[Problem], state: State) -> Finding:
    """Faults of one severity, and who repairs how many of them."""
    fixes = [problem.fixed_by for problem in problems]
    repaired, itself = fixes.count("repair"), fixes.count("itself")
    person = len(fixes) - repaired - itself
    hints = []
    if repaired:
        hints.append(f"--fix repairs {repaired:,} of them, as `memory check --repair` does; nothing is lost.")
    if itself:
        hints.append(f"{itself:,} {'is' if itself == 1 else 'are'} repaired by the next command that writes.")
    if person:
        hints.append(
            f"{person:,} {'needs' if person == 1 else 'need'} your decision: `memory check` shows where, and what to "
            "do."
        )
    return finding("project", "check", f"{title}: {_counted(problems)}", state, " ".join(hints), fixable=bool(repaired))


def _counted(problems: list[Problem]) -> str:
    counts = Counter(problem.code for problem in problems)
    return ", ".join(f"{code} ({count:,})" for code, count in sorted(counts.items()))
