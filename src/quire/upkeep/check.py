"""Check the memory: files of the layers, merge conflicts, dead anchors, the product map."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from quire.files.branches import writes_map
from quire.files.git_history import unmerged_below
from quire.files.layout import MEMORY
from quire.inbox.store import read_inbox
from quire.index.catalog import Index
from quire.layers.protocol import Home, Site
from quire.layers.table import HOMES, LAYERS, layer_named, tracked_paths
from quire.model.errors import GitRequired
from quire.model.records import Problem
from quire.model.text import cut
from quire.upkeep.anchors import dead_anchors
from quire.upkeep.guidance import map_problems, open_conflicts
from quire.upkeep.product_map import render_map
from quire.upkeep.repair.leftovers import around_problems, leftover_problems
from quire.upkeep.repair.plan import with_who_repairs
from quire.upkeep.views.items import is_current

if TYPE_CHECKING:
    from quire.inbox.rejections import Rejections


class Checked(msgspec.Struct, kw_only=True):
    """The findings; `valid` means that there is no error."""

    valid: bool
    errors: list[Problem]
    warnings: list[Problem]
    files_checked: int


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


@_keeping_everything()
def check_memory(
    site: Site, index: Index, rejections: Rejections | None, alike: Callable[[Index], list[Problem]] | None = None
) -> Checked:
    """Look at every layer that is here; a project may have a profile alone.

    `alike` finds records that say nearly the same, or the opposite.
    """
    root, now = site.root, site.world.now()
    has_memory = os.path.lexists(os.path.join(root, MEMORY))
    problems = [problem for layer in LAYERS for problem in layer.check(site)]
    # What is a stray to one layer may be the file of another.
    files = {path for layer in LAYERS for path in layer.tracked}
    problems = [problem for problem in problems if problem.code != "StrayFile" or problem.path not in files]
    problems += [problem for home in HOMES for problem in _not_ignored(site, home)]
    problems += read_inbox(root).problems if has_memory else []
    problems += [problem for home in HOMES for problem in leftover_problems(root, home.folder, now)]
    problems += around_problems(root, site.git, now)
    problems += _unmerged(site)
    problems += open_conflicts(root) if has_memory else []
    problems += _rejected(index, rejections) if rejections is not None else []
    problems += [
        Problem(
            code="RecordContested",
            severity="warning",
            path=f"{layer_named(record.layer).home.folder}/{record.path}",
            message=f"Branches disagree on `{record.ref}`: {cut(said, 200)}.",
            hint=f"`memory resolve {record.ref}` settles it.",
        )
        for record in index.records_contested()
        for said in record.contested
    ]
    problems += alike(index) if alike is not None else []
    if has_memory and not any(problem.severity == "error" for problem in problems):
        problems += _dead(site, index)
        problems += map_problems(root, render_map(index, root, site.git)) if writes_map(site) else []
    problems = with_who_repairs(site, problems)
    errors = [problem for problem in problems if problem.severity == "error"]
    warnings = [problem for problem in problems if problem.severity != "error"]
    count = sum(layer.count_files(site) for layer in LAYERS)
    return Checked(valid=not errors, errors=errors, warnings=warnings, files_checked=count)


def _not_ignored(site: Site, home: Home) -> list[Problem]:
    """What git tracks is for a person to take out of it; what it would take up is kept from it by a line."""
    kept = [path for path in home.untracked if os.path.lexists(os.path.join(site.root, path))]
    if not kept or not site.git.available:
        return []
    try:
        tracked, seen = list(site.git.staged(kept)), site.git.untracked(kept)
    except GitRequired:
        return []
    said = "Git does not ignore this file, which belongs to this machine only."
    found = [
        Problem(
            code=home.code,
            severity="warning",
            path=path,
            message=said,
            hint=f"`git rm --cached {path}` removes it from git and keeps it here.",
            fixed_by="person",
        )
        for path in tracked
    ]
    hint = f"`memory check --repair` adds the lines to .gitignore; so does {home.ignored_by}."
    return found + [
        Problem(code=home.code, severity="warning", path=path, message=said, hint=hint, fixed_by="repair")
        for path in seen
    ]


def _rejected(index: Index, rejections: Rejections) -> list[Problem]:
    """What says a value that was rejected since it was written, and rejections that cannot be read."""
    found = list(rejections.problems)
    for layer in LAYERS:
        for record in sorted(index.records(layer.name), key=lambda record: record.ref):
            if record.status not in layer.live:
                continue
            item = next(filter(None, map(rejections.match, layer.says(record))), None)
            if item is not None:
                allowing = f"If it is right, allow it with `memory inbox lift {item.id}`."
                found.append(
                    Problem(
                        code="RejectedValueStored",
                        severity="warning",
                        path=f"{layer.home.folder}/{record.path}",
                        message=f"`{record.ref}` says what was rejected: “{cut(item.value, 200)}”.",
                        hint=f"{layer.how_to_retire(record)} {allowing}",
                    )
                )
    return found


def _unmerged(site: Site) -> list[Problem]:
    return [
        Problem(
            code="MemoryConflictDetected",
            path=path,
            message="This file has an unresolved merge.",
            hint=f"`memory resolve` merges it by record; then `git add {path}`.",
        )
        for path in unmerged_below(site.git, *tracked_paths())
    ]


def _dead(site: Site, index: Index) -> list[Problem]:
    records = [record for record in index.records("graph") if is_current(record)]
    dead = dead_anchors(site.root, site.git, (anchor for record in records for anchor in record.anchors))
    return [
        Problem(
            code="AnchorOrphaned",
            severity="warning",
            path=f"{MEMORY}/{record.path}",
            field="/anchors",
            message=f"`{record.ref}`: the anchor `{anchor}` matches no file.",
            hint="Save the record with the new anchor (`memory sync` shows where the code went), or retire the record.",
        )
        for record in sorted(records, key=lambda record: record.ref)
        for anchor in record.anchors
        if anchor in dead
    ]
