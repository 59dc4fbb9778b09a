"""Plan a repair layer by layer, and say who repairs each problem.

Planned is only what a check named. What git holds as unmerged is left alone, with all that would be repaired with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import msgspec

from quire.files.digests import sha256
from quire.files.git import Git
from quire.files.git_history import unmerged_below
from quire.files.layout import LOCAL, MEMORY
from quire.files.local_files import ASIDE, LOCAL_BYTES
from quire.files.paths import follow_inside, read_if_there, read_inside_or_none
from quire.files.transaction import FileUpdate
from quire.inbox.store import sound_lines
from quire.layers.protocol import Home, Site
from quire.layers.table import HOMES, LAYERS, layers_in
from quire.model.records import Problem, RepairStep
from quire.upkeep.guidance import stale_maps
from quire.upkeep.ignore import with_ignored
from quire.upkeep.repair.leftovers import LEFTOVERS, plan_leftovers, plan_leftovers_around

PERSON, ITSELF = "person", "itself"

AROUND = "around"
"""The part of a repair that is made outside of the layers' folders."""
NOT_IGNORED = tuple(home.code for home in HOMES)
MAP_STALE = "ProductMapStale"
REPAIR = "repair"
_IGNORE = ".gitignore"


class RepairPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done in one folder of ours, and around it."""

    part: str
    folder: str
    fixes: tuple[RepairStep, ...] = ()
    changes: tuple[FileUpdate, ...] = ()
    """Below the folder: all of them or none."""
    around: tuple[FileUpdate, ...] = ()
    """Below the project, after the others, each by itself: they are made from the memory, or only added to."""
    passing: tuple[str, ...] = ()
    """What is gone again when all is done: such as the note that pages are due."""

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.around


def plan_home(site: Site, home: Home, problems: Iterable[Problem]) -> RepairPlan:
    """What the layers of one folder repair, what can be set aside there, and what writers left."""
    root, found = site.root, list(problems)
    if not home.exists(root):
        return RepairPlan(part=home.part, folder=home.folder)
    unmerged = unmerged_below(site.git, home.folder)
    repairs = [layer.repair(site, found, unmerged) for layer in layers_in(home.folder)]
    aside, set_aside = plan_local_state(root, home.folder, found)
    left, removed = plan_leftovers(root, home.folder, site.world.now())
    return RepairPlan(
        part=home.part,
        folder=home.folder,
        fixes=(*(fix for repair in repairs for fix in repair.fixes), *aside, *left),
        changes=(*(change for repair in repairs for change in repair.changes), *set_aside, *removed),
        around=tuple(change for repair in repairs for change in repair.pages),
        passing=tuple(path for repair in repairs for path in repair.passing),
    )


def plan_around(
    root: str,
    git: Git,
    folder: str,
    problems: Iterable[Problem],
    map_text: str | None,
    ignored: Sequence[str],
    now: datetime,
) -> RepairPlan:
    """What the project's own files lack of us: lines of .gitignore, the map as it is now; and what was left there."""
    fixes, changes = plan_leftovers_around(root, git, now)
    lacking = [problem for problem in problems if problem.code in NOT_IGNORED and problem.fixed_by == REPAIR]
    if lacking:
        path = follow_inside(root, _IGNORE)
        data = read_if_there(path)
        after = with_ignored(data or b"", ignored)
        if after != (data or b""):
            changes.append(_around(root, path, data, after))
            said = "Lines in .gitignore keep it out of git."
            fixes += [RepairStep(code=problem.code, path=problem.path, message=said) for problem in lacking]
    if map_text is not None:
        for path, before, after in stale_maps(root, map_text):
            changes.append(_around(root, path, before, after))
            fixes.append(RepairStep(code=MAP_STALE, path=changes[-1].path, message="The product map is rewritten."))
    return RepairPlan(part=AROUND, folder=folder, fixes=tuple(fixes), around=tuple(changes))


def _around(root: str, path: str, before: bytes | None, after: bytes) -> FileUpdate:
    real = os.path.relpath(path, os.path.realpath(root)).replace(os.sep, "/")
    return FileUpdate(path=real, data=after, planned=None if before is None else sha256(before))


def with_who_repairs(site: Site, problems: Sequence[Problem]) -> list[Problem]:
    """The problems, each with who repairs it. What has a name already keeps it."""
    unknown = [problem for problem in problems if not problem.fixed_by]
    if not unknown:
        return list(problems)
    # Of a folder of which no problem is open, nothing has to be planned.
    asked = [home for home in HOMES if any(problem.path.startswith(f"{home.folder}/") for problem in unknown)]
    plans = [plan_home(site, home, problems) for home in asked]
    repaired = {(fix.code, fix.path, fix.line, fix.field) for plan in plans for fix in plan.fixes}
    gone = {f"{plan.folder}/{change.path}" for plan in plans for change in plan.changes if change.data is None}

    def who(problem: Problem) -> str:
        place = (problem.code, problem.path, problem.line, problem.field)
        if place in repaired or problem.path in gone or problem.code in (LEFTOVERS, MAP_STALE):
            return REPAIR
        return ITSELF if repairs_itself(problem) else PERSON

    return [
        problem if problem.fixed_by else msgspec.structs.replace(problem, fixed_by=who(problem)) for problem in problems
    ]


CODE = "LocalStateDamaged"
_BYTES = 4 * LOCAL_BYTES


_SOUND: dict[str, Callable[[bytes], bytes]] = {
    f"{MEMORY}/{LOCAL}/inbox.jsonl": sound_lines,
    **{path: sound for layer in LAYERS for path, sound in layer.set_aside.items()},
}
"""What of a file goes on; a file of which nothing does is removed."""


def repairs_itself(problem: Problem) -> bool:
    return problem.code == CODE and any(problem.path in layer.sets_itself_aside for layer in LAYERS)


def plan_local_state(root: str, top: str, problems: Iterable[Problem]) -> tuple[list[RepairStep], list[FileUpdate]]:
    """Set aside what cannot be used, below the layer's folder."""
    fixes, changes = [], []
    for problem in problems:
        sound = _SOUND.get(problem.path)
        if problem.code != CODE or sound is None or not problem.path.startswith(f"{top}/"):
            continue
        data = read_inside_or_none(root, problem.path, _BYTES)
        if data is None:
            continue  # a link, a folder, a file of someone else
        aside = _free(root, problem.path + ASIDE)
        rest = sound(data) or None
        changes += [
            FileUpdate(path=aside.removeprefix(f"{top}/"), data=data, planned=None),
            FileUpdate(path=problem.path.removeprefix(f"{top}/"), data=rest, planned=sha256(data)),
        ]
        said = f"It is kept as {aside}; its readable part stays in use."
        fixes.append(RepairStep(code=CODE, path=problem.path, message=said))
    return fixes, changes


def _free(root: str, wanted: str) -> str:
    number, free = 1, wanted
    while os.path.lexists(os.path.join(root, free)):
        number += 1
        free = f"{wanted}-{number}"
    return free
