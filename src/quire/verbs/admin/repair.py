"""Repair the memory's files layer by layer, without loss, and undo a repair byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial

from quire.layers.protocol import Home
from quire.layers.table import HOMES, layers_in
from quire.model.errors import Conflict, QuireError
from quire.model.records import Problem, as_warning
from quire.project import Project
from quire.upkeep.check import Checked
from quire.upkeep.doctor import ignored_entries
from quire.upkeep.repair.apply import apply_plan, changed_since, put_back, refuse_changed
from quire.upkeep.repair.copies import (
    KEPT,
    RepairCopy,
    find_kept,
    named_repair,
    new_name,
    place_of_copies,
    prune_copies,
    remove_copies,
)
from quire.upkeep.repair.differences import Difference, differences_of
from quire.upkeep.repair.leftovers import LEFTOVERS
from quire.upkeep.repair.plan import MAP_STALE, NOT_IGNORED, REPAIR, RepairPlan, plan_around, plan_home
from quire.verbs.admin.check import check_files, check_unrecovered
from quire.verbs.admin.repair_results import Repaired, RepairSeen, RepairsKept, RepairUndone
from quire.verbs.ask.product_map import product_map

_OPERATION = "repair"
_ATTEMPTS = 3


def repair(project: Project, *, dry_run: bool = False) -> Repaired:
    """Repair what can be repaired without losing anything; then check again. Files are copied first."""
    found = check_files(project)
    if not any(problem.fixed_by == REPAIR for problem in _all(found)):
        return Repaired(checked=found, dry_run=dry_run)
    if dry_run:
        return _rehearsed_repair(project, found)
    return _repaired(project, found)


def _rehearsed_repair(project: Project, found: Checked) -> Repaired:
    plans = list(_plans(project, found))
    return Repaired(
        dry_run=True,
        fixes=tuple(fix for plan in plans for fix in plan.fixes),
        files=tuple(file for plan in plans for file in differences_of(project.root, plan)),
        checked=found,
    )


def _repaired(project: Project, found: Checked) -> Repaired:
    name = new_name(project.root, project.world)
    kept: list[RepairCopy] = []
    warnings: list[Problem] = []
    for home in [home for home in _homes(project) if not _plan_of(project, home, found).is_empty]:
        _repair_part(project, name, home.folder, partial(_plan_of, project, home), kept, warnings)
    found = check_files(project)
    if _plan_around(project, found) is not None:
        _repair_part(project, name, _homes(project)[0].folder, partial(_plan_around, project), kept, warnings)
        found = check_files(project)
    pruned = _pruned(project, warnings) if kept else []
    return Repaired(
        name=name if kept else None,
        fixes=tuple(fix for part in kept for fix in part.fixes),
        files=tuple(file for part in kept for file in _files_of(part)),
        copies=tuple(map(_archive_of, kept)),
        pruned=tuple(pruned),
        warnings=warnings,
        checked=found,
    )


def _repair_part(
    project: Project,
    name: str,
    folder: str,
    plan: Callable[[Checked], RepairPlan | None],
    kept: list[RepairCopy],
    warnings: list[Problem],
) -> None:
    """Plan on what is there once nobody else can write, and do it; planned again where someone was faster."""
    try:
        with repair_access(project, folder):
            for attempt in range(1, _ATTEMPTS + 1):
                planned = plan(check_unrecovered(project))
                if planned is None or planned.is_empty:
                    return
                try:
                    part, problems = apply_plan(project, planned, name)
                except Conflict:
                    if attempt == _ATTEMPTS:
                        raise
                    continue
                kept.append(part)
                warnings += problems
                return
    except QuireError as error:
        warnings.append(as_warning(error))


def _homes(project: Project) -> list[Home]:
    return [home for home in HOMES if home.exists(project.root)]


def _plans(project: Project, found: Checked) -> Iterator[RepairPlan]:
    for home in _homes(project):
        yield _plan_of(project, home, found)
    around = _plan_around(project, found)
    if around is not None:
        yield around


def _plan_of(project: Project, home: Home, found: Checked) -> RepairPlan:
    return plan_home(project, home, _all(found))


def _plan_around(project: Project, found: Checked) -> RepairPlan | None:
    """The map, the lines of .gitignore, what writers left; None where all is as it should be."""
    codes = {problem.code for problem in _all(found) if problem.fixed_by == REPAIR}
    if not codes & {MAP_STALE, LEFTOVERS, *NOT_IGNORED}:
        return None
    home = _homes(project)[0].folder
    map_text = product_map(project) if MAP_STALE in codes else None
    ignored, now = ignored_entries(project.root), project.world.now()
    plan = plan_around(project.root, project.git, home, _all(found), map_text, ignored, now)
    return None if plan.is_empty else plan


def repair_access(project: Project, folder: str) -> AbstractContextManager[None]:
    return layers_in(folder)[0].access(project, _OPERATION)


# -- what is kept -------------------------------------------------------------------------


def repairs_kept(project: Project) -> RepairsKept:
    """The repairs that can be taken back, and what stands in the way."""
    project.recover()
    names: dict[str, list[RepairCopy]] = {}
    for part in find_kept(project.root):
        names.setdefault(part.name, []).append(part)
    return RepairsKept(
        most=KEPT,
        repairs=tuple(
            RepairSeen(
                name=name,
                at=parts[0].at,
                fixes=tuple(fix for part in parts[::-1] for fix in part.fixes),
                files=sum(len(part.files) for part in parts),
                copies=tuple(map(_archive_of, parts[::-1])),
                changed_since=tuple(dict.fromkeys(path for _, path in changed_since(project.root, parts))),
            )
            for name, parts in names.items()
        ),
    )


def undo_repair(project: Project, name: str = "") -> RepairUndone:
    """Put back the files as they were before the last repair, or the one that is named; all of them, or none."""
    project.recover()
    parts = named_repair(find_kept(project.root), name)
    refuse_changed(project.root, parts)  # all that can be refused is refused before anything is written
    files: list[str] = []
    for part in parts:
        with repair_access(project, part.folder):
            files += put_back(project.root, part, parts, project.world)
    for part in parts:
        with repair_access(project, part.folder):
            remove_copies(project.root, part)
    return RepairUndone(name=parts[0].name, files=tuple(sorted(set(files))))


def _pruned(project: Project, warnings: list[Problem]) -> list[str]:
    gone: set[str] = set()
    for folder in [home.folder for home in _homes(project)]:
        try:
            with repair_access(project, folder):
                gone.update(prune_copies(project.root, folder))
        except (QuireError, OSError) as error:
            warnings.append(
                as_warning(error)
                if isinstance(error, QuireError)
                else Problem(code="MemoryStorageFailed", severity="warning", message=str(error))
            )
    return sorted(gone)


def _all(found: Checked) -> list[Problem]:
    return [*found.errors, *found.warnings]


def _archive_of(part: RepairCopy) -> str:
    return f"{place_of_copies(part.folder, part.name)}/{part.part}.tar"


def _files_of(part: RepairCopy) -> Iterable[Difference]:
    for file in part.files:
        action = "removed" if file.after is None else "created" if file.before is None else "changed"
        yield Difference(path=file.path, action=action)
