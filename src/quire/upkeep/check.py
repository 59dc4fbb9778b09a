"""One answer to "is the memory sound?": the layers' files, git's conflicts, dead anchors, the product map."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from quire.files.git import Git
from quire.files.git_history import attributes
from quire.files.write_access import (
    LOCAL,
)
from quire.files.write_access import (
    LOCK as MEMORY_LOCK,
)
from quire.index.catalog import Index
from quire.layers.facts.checks import check_facts
from quire.layers.facts.layout import FILE
from quire.layers.graph.checks import check_graph
from quire.layers.graph.layout import FOLDER
from quire.layers.graph.store import GraphStore
from quire.layers.journal.checks.journal import check_journal
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import IGNORED as JOURNAL_IGNORED
from quire.layers.journal.repair_files import who_repairs_journal
from quire.layers.journal.source import JournalSource
from quire.layers.profile.checks import check_profile
from quire.layers.profile.layout import (
    BACKUP,
    LOCK,
)
from quire.layers.profile.layout import FILE as PROFILE_FILE
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.profile.places import Places
from quire.layers.profile.records import entry_of
from quire.model.errors import GitRequired
from quire.model.records import Problem, Record
from quire.model.text import cut
from quire.model.vocabulary import LIVE_STATUSES, LayerName
from quire.upkeep.anchors import dead_anchors
from quire.upkeep.guidance import map_problems, open_conflicts
from quire.upkeep.ignore import ENTRIES
from quire.upkeep.product_map import render_map
from quire.upkeep.repair.leftovers import around_problems, leftover_problems
from quire.upkeep.repair.local_state import local_problems
from quire.upkeep.repair.plan import planned_journal_repair
from quire.upkeep.repair.who_repairs import with_who_repairs

if TYPE_CHECKING:
    from quire.inbox.rejections import Rejections

PROFILE_PATH = f"{PROFILE_FOLDER}/{PROFILE_FILE}"
_LIVE: tuple[tuple[LayerName, str, tuple[str, ...]], ...] = (
    ("graph", FOLDER, tuple(LIVE_STATUSES)),
    ("facts", FOLDER, ("active", "pending")),
    ("profile", PROFILE_FOLDER, ("active",)),
    ("journal", JOURNAL_FOLDER, ("active",)),
)
"""Where records that still say something are kept, and by which status they are known."""


class Checked(msgspec.Struct, kw_only=True):
    """The findings; `valid` means that there is no error."""

    valid: bool
    errors: list[Problem]
    warnings: list[Problem]
    files_checked: int


def check_memory(
    store: GraphStore,
    git: Git,
    index: Index,
    places: Places,
    now: datetime,
    home: str,
    rejections: Rejections | None = None,
    alike: Callable[[Index], list[Problem]] | None = None,
) -> Checked:
    """Look at every layer that is here; a project may have a profile alone.

    `alike` finds records that say nearly the same, or the opposite.
    """
    with _keeping_everything():
        return _checked(store, git, index, places, now, home, rejections, alike)


@contextlib.contextmanager
def _keeping_everything() -> Iterator[None]:
    """What a check reads it keeps to its end: to look through it again and again for what is not needed costs a fifth.

    Only cycles wait until afterwards, and a check makes none.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _checked(
    store: GraphStore,
    git: Git,
    index: Index,
    places: Places,
    now: datetime,
    home: str,
    rejections: Rejections | None,
    alike: Callable[[Index], list[Problem]] | None,
) -> Checked:
    has_memory = os.path.lexists(store.folder)
    problems = [_below_memory(problem) for problem in check_graph(store)] if has_memory else []
    problems += check_facts(store.root)
    problems += _git_and_facts(store.root, git)
    problems += check_profile(places)
    problems += _git_and_profile(store.root, git)
    problems += _journal(store.root, git, now, home)
    problems += _git_and_memory(store.root, git)
    problems += local_problems(store.root) if has_memory else []
    for folder in (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER):
        problems += leftover_problems(store.root, folder, now)
    problems += around_problems(store.root, git, now)
    problems += _unmerged(git)
    problems += open_conflicts(store.root) if has_memory else []
    problems += _rejected(index, rejections) if rejections is not None else []
    problems += alike(index) if alike is not None else []
    if has_memory and not any(problem.severity == "error" for problem in problems):
        problems += _dead(store, git, index)
        problems += map_problems(store.root, render_map(index, store.root, git))
    problems = with_who_repairs(store, git, problems, now)
    errors = [problem for problem in problems if problem.severity == "error"]
    warnings = [problem for problem in problems if problem.severity != "error"]
    count = len(store.node_paths()) + len(store.relation_paths())
    count += sum(os.path.isfile(path) for path in (places.shared_path, places.private_path))
    count += len(JournalSource(store.root).stamps())
    return Checked(valid=not errors, errors=errors, warnings=warnings, files_checked=count)


def _git_and_facts(root: str, git: Git) -> list[Problem]:
    """Whether git keeps the facts, and merges them line by line."""
    path = f"{FOLDER}/{FILE}"
    if not os.path.isfile(os.path.join(root, path)) or not git.available:
        return []
    try:
        merged = attributes(git, [path], ["merge"]).get(path, {}).get("merge")
        ignored = not git.staged([path]) and path not in git.untracked([path])
    except GitRequired:
        return []
    found = []
    if merged != "union":
        said = "Git does not merge this file line by line: two branches that store facts will conflict."
        hint = f"Store any fact, or put `{FILE} merge=union text eol=lf` into {FOLDER}/.gitattributes."
        found.append(Problem(code="MergeAttributeMissing", severity="warning", path=path, message=said, hint=hint))
    if ignored:
        said = "Git ignores this file: the facts stay on this machine."
        hint = "Take the rule that matches it out of .gitignore; `git check-ignore -v` names it."
        found.append(Problem(code="FactsIgnored", severity="warning", path=path, message=said, hint=hint))
    return found


def _git_and_profile(root: str, git: Git) -> list[Problem]:
    """Whether git would take up what belongs to this machine alone."""
    kept = [f"{PROFILE_FOLDER}/{name}" for name in (LOCK, BACKUP, LOCAL)]
    return _not_ignored(root, git, kept, "remembering anything", code="ProfileNotIgnored")


def _git_and_memory(root: str, git: Git) -> list[Problem]:
    # The lock is there for moments only, and who looks may hold it.
    kept = [path.rstrip("/") for path in ENTRIES if not path.endswith(f"/{MEMORY_LOCK}")]
    return _not_ignored(root, git, kept, "`memory init`", code="MemoryNotIgnored")


def _not_ignored(root: str, git: Git, kept: list[str], otherwise: str, *, code: str) -> list[Problem]:
    """What git tracks is for a person to take out of it; what it would take up is kept from it by a line."""
    kept = [path for path in kept if os.path.lexists(os.path.join(root, path))]
    if not kept or not git.available:
        return []
    try:
        tracked, seen = list(git.staged(kept)), git.untracked(kept)
    except GitRequired:
        return []
    said = "Git sees this file, which belongs to this machine alone."
    found = [
        Problem(
            code=code,
            severity="warning",
            path=path,
            message=said,
            hint=f"`git rm --cached {path}` takes it out of git, and leaves it here.",
            mend="person",
        )
        for path in tracked
    ]
    hint = f"`memory check --repair` adds the lines to .gitignore; so does {otherwise}."
    return found + [
        Problem(code=code, severity="warning", path=path, message=said, hint=hint, mend="repair") for path in seen
    ]


def _journal(root: str, git: Git, now: datetime, home: str) -> list[Problem]:
    """What `memory journal validate` would say, but for what is well; and what git sees of this machine's own."""
    if not os.path.isdir(os.path.join(root, JOURNAL_FOLDER)):
        return []
    findings = [finding for finding in check_journal(root, now, home=home) if finding.level != "pass"]
    mending = planned_journal_repair(root, git, now) if findings else None
    found = [
        Problem(
            code="JournalFault",
            severity="error" if finding.level == "fail" else "warning",
            path=finding.path,
            line=finding.line,
            message=f"{finding.code}: {finding.message}",
            hint=finding.hint,
            mend=who_repairs_journal(finding, mending) if mending is not None else "",
        )
        for finding in findings
    ]
    kept = [path.rstrip("/") for path in JOURNAL_IGNORED]
    return found + _not_ignored(root, git, kept, "`memory journal update`", code="JournalNotIgnored")


def _rejected(index: Index, rejections: Rejections) -> list[Problem]:
    """What says a value that was rejected since it was written, and rejections that cannot be read."""
    found = list(rejections.problems)
    for layer, folder, statuses in _LIVE:
        for record in sorted(index.records(layer), key=lambda record: record.ref):
            if record.status not in statuses or (layer == "journal" and record.kind != "bundle"):
                continue
            item = next(filter(None, map(rejections.match, _texts_of(record))), None)
            if item is not None:
                found.append(
                    Problem(
                        code="RejectedValueStored",
                        severity="warning",
                        path=f"{folder}/{record.path}",
                        message=f"`{record.ref}` says what was rejected: “{cut(item.value, 200)}”.",
                        hint=f"{_retired(record)} If it is right after all, `memory inbox lift {item.id}` allows it.",
                    )
                )
    return found


def _texts_of(record: Record) -> list[str]:
    """What a record says, as it was written."""
    if record.layer == "profile":
        return [entry_of(record).value]
    if record.layer == "journal":
        return [record.title, record.text, *record.text.split("\n")]
    return [record.title, record.text, f"{record.title}\n{record.text}"]


def _retired(record: Record) -> str:
    """How a record is retired that must not be written any more."""
    name = record.ref.partition(":")[2]
    if record.layer == "facts" and record.kind == "fact":
        return f"`memory facts archive {name}` puts it away."
    if record.layer == "profile":
        return f"`memory profile forget {' '.join(name.split('.', 1))}` takes it out."
    if record.layer == "journal":
        return "`memory journal update` writes the memory without it."
    if record.layer == "graph":
        return "Save it with other words, or retire it: `stale`, `supersede` or `delete` in a save."
    return "Take it out of the file by hand."


def _below_memory(problem: Problem) -> Problem:
    return msgspec.structs.replace(problem, path=f"{FOLDER}/{problem.path}")


def _joined(path: str) -> str:
    """Files of lines need nobody to choose: both sides stay, and a repair takes out the marks."""
    return "; `memory check --repair` joins both sides of such a file" if path.endswith(".jsonl") else ""


def _unmerged(git: Git) -> list[Problem]:
    try:
        paths = git.unmerged([FOLDER, PROFILE_PATH, JOURNAL_FOLDER])
    except GitRequired:
        return []
    return [
        Problem(
            code="MemoryConflictDetected",
            path=path,
            message="Git holds this file as unmerged.",
            hint=f"Resolve it, then `git add {path}`{_joined(path)}.",
        )
        for path in paths
    ]


def _dead(store: GraphStore, git: Git, index: Index) -> list[Problem]:
    records = [record for record in index.records("graph") if record.status in LIVE_STATUSES and record.stage != "dead"]
    dead = dead_anchors(store.root, git, (anchor for record in records for anchor in record.anchors))
    return [
        Problem(
            code="AnchorOrphaned",
            severity="warning",
            path=f"{FOLDER}/{record.path}",
            field="/anchors",
            message=f"`{record.ref}`: the anchor `{anchor}` matches no file.",
            hint="Save the node with the anchor's new place (`memory sync` says where it went), or retire the node.",
        )
        for record in sorted(records, key=lambda record: record.ref)
        for anchor in record.anchors
        if anchor in dead
    ]
