"""What a repair would do, layer by layer: the changes of each layer's folder are one transaction.

Planned is only what a check named. What git holds as unmerged is left alone, with all that would be mended with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from quire.files.digests import sha256
from quire.files.git import Git
from quire.files.paths import follow_inside, read_bytes
from quire.files.transaction import Change
from quire.layers.facts.repair import plan_fact_repair
from quire.layers.graph.layout import EVENTS, FOLDER
from quire.layers.graph.repair import plan_graph_repair
from quire.layers.graph.store import GraphStore
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import LOCAL, PAGES_DUE
from quire.layers.journal.repair import Mending, plan_journal_repair
from quire.layers.journal.repair_files import repaired_files
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.model.errors import GitRequired, QuireError
from quire.model.records import Mend, Problem
from quire.upkeep.guidance import stale_maps
from quire.upkeep.ignore import with_ignored
from quire.upkeep.repair.leftovers import plan_leftovers, plan_leftovers_around
from quire.upkeep.repair.local_state import plan_local_state

Part = Literal["memory", "profile", "journal", "around"]
PARTS: dict[Part, str] = {"memory": FOLDER, "profile": PROFILE_FOLDER, "journal": JOURNAL_FOLDER}
"""The layers' folders, in the order in which they are mended."""
NOT_IGNORED = ("JournalNotIgnored", "MemoryNotIgnored", "ProfileNotIgnored")
MAP_STALE = "ProductMapStale"
REPAIR = "repair"
_IGNORE = ".gitignore"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done in one layer's folder, and around it."""

    part: Part
    folder: str
    mends: tuple[Mend, ...] = ()
    changes: tuple[Change, ...] = ()
    """Below the folder: all of them or none."""
    around: tuple[Change, ...] = ()
    """Below the project, after the others, each by itself: they are made from the memory, or only added to."""

    @property
    def passing(self) -> tuple[str, ...]:
        """What is gone again when all is done: the note that pages are due."""
        return (f"{LOCAL}/{PAGES_DUE}",) if self.part == "journal" else ()

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.around


def plan_memory(store: GraphStore, git: Git, problems: Iterable[Problem], now: datetime) -> Plan:
    """The graph, the facts, the inbox, and what writers left in their folder."""
    root, found = store.root, list(problems)
    if os.path.islink(store.folder) or not os.path.isdir(store.folder):
        return Plan(part="memory", folder=FOLDER)
    untouched = {path.removeprefix(f"{FOLDER}/") for path in unmerged_below(git, FOLDER)} | _kept_by_git(store, git)
    below = [
        msgspec.structs.replace(problem, path=problem.path.removeprefix(f"{FOLDER}/"))
        for problem in found
        if problem.path.startswith(f"{FOLDER}/")
    ]
    graph, changes = plan_graph_repair(store, below, untouched)
    mends = [msgspec.structs.replace(mend, path=f"{FOLDER}/{mend.path}") for mend in graph]
    for more, other in (
        plan_fact_repair(root, found, untouched),
        plan_local_state(root, FOLDER, found),
        plan_leftovers(root, FOLDER, now),
    ):
        mends += more
        changes += other
    return Plan(part="memory", folder=FOLDER, mends=tuple(mends), changes=tuple(changes))


def plan_profile(root: str, problems: Iterable[Problem], now: datetime) -> Plan:
    """What writers left, and what can be set aside; the documents themselves are for a person."""
    found = list(problems)
    mends, changes = plan_local_state(root, PROFILE_FOLDER, found)
    more, other = plan_leftovers(root, PROFILE_FOLDER, now)
    return Plan(part="profile", folder=PROFILE_FOLDER, mends=(*mends, *more), changes=(*changes, *other))


def plan_journal(root: str, git: Git, now: datetime) -> Plan:
    """What follows from the rest of the journal, the pages that are made of it, and what writers left."""
    mends, changes = plan_leftovers(root, JOURNAL_FOLDER, now)
    mending = planned_journal_repair(root, git, now)
    inner, pages = repaired_files(mending)
    mends += [Mend(code="JournalFault", path=JOURNAL_FOLDER, message=said) for said in mending.said]
    return Plan(
        part="journal",
        folder=JOURNAL_FOLDER,
        mends=tuple(mends),
        changes=(*changes, *inner),
        around=tuple(pages),
    )


def planned_journal_repair(root: str, git: Git, now: datetime) -> Mending:
    """How the journal would be mended; not at all while git holds one of its files as unmerged."""
    if os.path.islink(os.path.join(root, JOURNAL_FOLDER)) or unmerged_below(git, JOURNAL_FOLDER):
        return Mending()
    try:
        mending = plan_journal_repair(root, now)
        repaired_files(mending)
    except (QuireError, OSError, ValueError):
        return Mending()
    return mending


def plan_around(
    root: str,
    git: Git,
    folder: str,
    problems: Iterable[Problem],
    map_text: str | None,
    ignored: Sequence[str],
    now: datetime,
) -> Plan:
    """What the project's own files lack of us: lines of .gitignore, the map as it is now; and what was left there."""
    mends, changes = plan_leftovers_around(root, git, now)
    lacking = [problem for problem in problems if problem.code in NOT_IGNORED and problem.mend == REPAIR]
    if lacking:
        path = follow_inside(root, _IGNORE)
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            data = None
        after = with_ignored(data or b"", ignored)
        if after != (data or b""):
            changes.append(_around(root, path, data, after))
            said = "Lines in .gitignore keep it out of git."
            mends += [Mend(code=problem.code, path=problem.path, message=said) for problem in lacking]
    if map_text is not None:
        for path, before, after in stale_maps(root, map_text):
            changes.append(_around(root, path, before, after))
            mends.append(Mend(code=MAP_STALE, path=changes[-1].path, message="The product map is written anew."))
    return Plan(part="around", folder=folder, mends=tuple(mends), around=tuple(changes))


def _around(root: str, path: str, before: bytes | None, after: bytes) -> Change:
    real = os.path.relpath(path, os.path.realpath(root)).replace(os.sep, "/")
    return Change(path=real, data=after, planned=None if before is None else sha256(before))


def unmerged_below(git: Git, folder: str) -> list[str]:
    """What a merge left in conflict."""
    try:
        return git.unmerged([folder]) if git.available else []
    except GitRequired:
        return []


def _kept_by_git(store: GraphStore, git: Git) -> set[str]:
    """A log that is missing here and that git has: a new one in its place would go for it in the next commit."""
    path = f"{FOLDER}/{EVENTS}"
    if os.path.lexists(os.path.join(store.root, path)) or not git.available:
        return set()
    try:
        return {EVENTS} if git.staged([path]) else set()
    except GitRequired:
        return set()
