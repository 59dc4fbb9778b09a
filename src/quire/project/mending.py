"""Repairing the memory's files: what loses nothing is mended, layer by layer, and can be taken back byte for byte."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from quire.layers.graph.layout import FOLDER
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.model.errors import Conflict, QuireError
from quire.model.records import Mend, Problem
from quire.project.keeping import Keeping
from quire.project.rooms import as_warning

if TYPE_CHECKING:
    from quire.upkeep.check import Checked
    from quire.upkeep.repair.copies import Kept
    from quire.upkeep.repair.differences import Difference
    from quire.upkeep.repair.plan import Plan

_OPERATION = "repair"
_ATTEMPTS = 3


class Repaired(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair did, or would do."""

    name: str = ""
    """By which it can be taken back; empty where nothing was done."""
    dry_run: bool = False
    mends: tuple[Mend, ...] = ()
    files: tuple[Difference, ...] = ()
    """What changed, or would; only a dry run tells the differences."""
    copies: tuple[str, ...] = ()
    """Where the files are as they were."""
    pruned: tuple[str, ...] = ()
    """Repairs that can no longer be taken back: their copies made room."""
    warnings: tuple[Problem, ...] = ()
    """What kept a layer from being mended."""
    checked: Checked
    """How the memory is now."""


class RepairSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A repair that is kept."""

    name: str
    at: str
    mends: tuple[Mend, ...]
    files: int
    copies: tuple[str, ...]
    changed_since: tuple[str, ...] = ()
    """Files that somebody changed: while there are any, it is not taken back."""


class Repairs(msgspec.Struct, frozen=True, kw_only=True):
    """The repairs that are kept, the newest first."""

    repairs: tuple[RepairSeen, ...] = ()
    most: int


class TakenBack(msgspec.Struct, frozen=True, kw_only=True):
    """A repair that was taken back, and which files are as they were."""

    name: str
    files: tuple[str, ...] = ()


class Mending(Keeping):
    """Repair, and undo of a repair."""

    def repair(self, *, dry_run: bool = False) -> Repaired:
        """Mend what can be mended without losing anything; then check again. Files are copied first."""
        from quire.upkeep.repair.plan import REPAIR

        found = self.check()
        if not any(problem.mend == REPAIR for problem in _all(found)):
            return Repaired(checked=found, dry_run=dry_run)
        if dry_run:
            return self._rehearsed_repair(found)
        return self._repaired(found)

    def _rehearsed_repair(self, found: Checked) -> Repaired:
        from quire.upkeep.repair.differences import differences_of

        plans = [plan for _, plan in self._plans(found)]
        return Repaired(
            dry_run=True,
            mends=tuple(mend for plan in plans for mend in plan.mends),
            files=tuple(file for plan in plans for file in differences_of(self.root, plan)),
            checked=found,
        )

    def _repaired(self, found: Checked) -> Repaired:
        from quire.upkeep.repair.copies import new_name

        name = new_name(self.root, self.world)
        kept: list[Kept] = []
        warnings: list[Problem] = []
        wanted = [folder for folder, plan in self._plans(found) if plan.part != "around" and not plan.is_empty]
        for folder in wanted:
            self._mend_part(name, folder, partial(self._plan_of, folder), kept, warnings)
        found = self.check()
        if self._plan_around(found) is not None:
            home = next(filter(self._has_folder, (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER)))
            self._mend_part(name, home, self._plan_around, kept, warnings)
            found = self.check()
        pruned = self._pruned(warnings) if kept else []
        return Repaired(
            name=name if kept else "",
            mends=tuple(mend for part in kept for mend in part.mends),
            files=tuple(file for part in kept for file in _files_of(part)),
            copies=tuple(map(_archive_of, kept)),
            pruned=tuple(pruned),
            warnings=tuple(warnings),
            checked=found,
        )

    def _mend_part(
        self,
        name: str,
        folder: str,
        plan: Callable[[Checked], Plan | None],
        kept: list[Kept],
        warnings: list[Problem],
    ) -> None:
        """Plan on what is there once nobody else can write, and do it; planned again where somebody was faster."""
        from quire.upkeep.repair.apply import apply_plan

        try:
            with self._right_to_repair(folder):
                for attempt in range(1, _ATTEMPTS + 1):
                    planned = plan(self._checked())
                    if planned is None or planned.is_empty:
                        return
                    try:
                        part, problems = apply_plan(self.root, planned, name, self.world)
                    except Conflict:
                        if attempt == _ATTEMPTS:
                            raise
                        continue
                    kept.append(part)
                    warnings += problems
                    return
        except QuireError as error:
            warnings.append(as_warning(error))

    def _plans(self, found: Checked) -> Iterator[tuple[str, Plan]]:
        for folder in (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER):
            if self._has_folder(folder):
                yield folder, self._plan_of(folder, found)
        around = self._plan_around(found)
        if around is not None:
            yield around.folder, around

    def _plan_of(self, folder: str, found: Checked) -> Plan:
        from quire.upkeep.repair.plan import plan_journal, plan_memory, plan_profile

        now = self.world.now()
        if folder == FOLDER:
            return plan_memory(self.graph, self.git, _all(found), now)
        if folder == PROFILE_FOLDER:
            return plan_profile(self.root, _all(found), now)
        return plan_journal(self.root, self.git, now)

    def _plan_around(self, found: Checked) -> Plan | None:
        """The map, the lines of .gitignore, what writers left; None where all is as it should be."""
        from quire.upkeep.doctor import ignored_entries
        from quire.upkeep.repair.leftovers import LEFTOVERS
        from quire.upkeep.repair.plan import MAP_STALE, NOT_IGNORED, REPAIR, plan_around

        codes = {problem.code for problem in _all(found) if problem.mend == REPAIR}
        if not codes & {MAP_STALE, LEFTOVERS, *NOT_IGNORED}:
            return None
        home = next(filter(self._has_folder, (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER)))
        map_text = self._map() if MAP_STALE in codes else None
        ignored, now = ignored_entries(self.root), self.world.now()
        plan = plan_around(self.root, self.git, home, _all(found), map_text, ignored, now)
        return None if plan.is_empty else plan

    def _has_folder(self, folder: str) -> bool:
        path = os.path.join(self.root, folder)
        return os.path.isdir(path) and not os.path.islink(path)

    @contextlib.contextmanager
    def _right_to_repair(self, folder: str) -> Iterator[None]:
        from quire.layers.graph.writing import write_access

        if folder == FOLDER:
            with write_access(self.graph, self.world, _OPERATION):
                yield
        elif folder == PROFILE_FOLDER:
            from quire.layers.profile.store import profile_access

            with profile_access(self._places(), self.world, _OPERATION):
                yield
        else:
            with self._journal_locked(_OPERATION):
                yield

    # -- what is kept -------------------------------------------------------------------------

    def repairs(self) -> Repairs:
        """The repairs that can be taken back, and what stands in the way."""
        from quire.upkeep.repair.apply import changed_since
        from quire.upkeep.repair.copies import KEPT, find_kept

        self._settle()
        names: dict[str, list[Kept]] = {}
        for part in find_kept(self.root):
            names.setdefault(part.name, []).append(part)
        return Repairs(
            most=KEPT,
            repairs=tuple(
                RepairSeen(
                    name=name,
                    at=parts[0].at,
                    mends=tuple(mend for part in parts[::-1] for mend in part.mends),
                    files=sum(len(part.files) for part in parts),
                    copies=tuple(map(_archive_of, parts[::-1])),
                    changed_since=tuple(dict.fromkeys(path for _, path in changed_since(self.root, parts))),
                )
                for name, parts in names.items()
            ),
        )

    def undo_repair(self, name: str = "") -> TakenBack:
        """Put back the files as they were before the last repair, or the one that is named; all of them, or none."""
        from quire.upkeep.repair.apply import put_back, refuse_changed
        from quire.upkeep.repair.copies import find_kept, named_repair, remove_copies

        self._settle()
        parts = named_repair(find_kept(self.root), name)
        refuse_changed(self.root, parts)  # all that can be refused is refused before anything is written
        files: list[str] = []
        for part in parts:
            with self._right_to_repair(part.folder):
                files += put_back(self.root, part, parts, self.world)
        for part in parts:
            with self._right_to_repair(part.folder):
                remove_copies(self.root, part)
        return TakenBack(name=parts[0].name, files=tuple(sorted(set(files))))

    def _pruned(self, warnings: list[Problem]) -> list[str]:
        from quire.upkeep.repair.copies import prune_copies

        gone: set[str] = set()
        for folder in filter(self._has_folder, (FOLDER, PROFILE_FOLDER, JOURNAL_FOLDER)):
            try:
                with self._right_to_repair(folder):
                    gone.update(prune_copies(self.root, folder))
            except (QuireError, OSError) as error:
                warnings.append(
                    as_warning(error)
                    if isinstance(error, QuireError)
                    else Problem(code="MemoryStorageFailed", severity="warning", message=str(error))
                )
        return sorted(gone)


def _all(found: Checked) -> list[Problem]:
    return [*found.errors, *found.warnings]


def _archive_of(part: Kept) -> str:
    from quire.upkeep.repair.copies import place_of_copies

    return f"{place_of_copies(part.folder, part.name)}/{part.part}.tar"


def _files_of(part: Kept) -> Iterable[Difference]:
    from quire.upkeep.repair.differences import Difference

    for file in part.files:
        action = "removed" if file.after is None else "created" if file.before is None else "changed"
        yield Difference(path=file.path, action=action)
