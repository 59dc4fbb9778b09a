"""`memory fold`: take what branches wrote into the files of the default branch."""

from __future__ import annotations

from typing import Annotated

from quire.files.branches import branch_settings, current_branch, default_branch_name, writes_fragments, writes_map
from quire.layers.graph.lock import write_access
from quire.layers.table import LAYERS
from quire.model.errors import InputError
from quire.model.records import Problem
from quire.model.text import counted
from quire.project import Project
from quire.upkeep.guidance import refresh_map
from quire.verbs.ask.product_map import product_map
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb


class Fold(Arguments, frozen=True, kw_only=True):
    here: Annotated[bool, Option(help="Fold on this branch, even if it is not the default branch.")] = False
    dry_run: Annotated[bool, Option(help="Show what would be folded, write nothing.")] = False


class Folded(Result, kw_only=True):
    dry_run: bool
    fragments: list[str] = []
    """Files of branches that were taken in, or would be."""
    files_changed: list[str] = []
    """Everything that was written, from the project's root."""


def fold(project: Project, given: Fold) -> Folded:
    """Move what branches wrote into the files of the default branch, and write the product map.

    On other branches each write creates separate files in `.memory/events.d/` and `.memory/facts.d/`, so that branches
    do not conflict. The next write on the default branch also folds them. Folding twice changes nothing.
    """
    project.ready_to_ask()
    fragments = [path for layer in LAYERS for path in layer.fragments(project)]
    done = Folded(dry_run=given.dry_run, fragments=fragments)
    if given.dry_run:
        return done
    if fragments and not given.here:
        _refuse_elsewhere(project)
    for layer in LAYERS:
        if layer.fragments(project) or (layer.page_folder and layer.home.exists(project.root)):
            with layer.access(project, "fold"):
                done.files_changed += layer.fold(project)
    written, done.warnings = _refreshed_map(project)
    done.files_changed += written
    left = {path for layer in LAYERS for path in layer.fragments(project)}
    done.fragments = [path for path in fragments if path not in left]
    done.warnings += [_unreadable(path) for path in sorted(left.intersection(fragments))]
    return done


def _refuse_elsewhere(project: Project) -> None:
    if not writes_fragments(project):
        return
    branch = current_branch(project.git, project.world.env)
    default = branch_settings(project.root).default_branch or default_branch_name(project.git)
    raise InputError(
        f"{f'`{branch}`' if branch else 'HEAD is detached: it'} is not the default branch (`{default}`). Nothing was "
        "folded.",
        hint=f"After the merge, run `memory fold` on `{default}`. `--here` folds on this branch.",
        details={"branch": branch, "default_branch": default},
    )


def _refreshed_map(project: Project) -> tuple[list[str], list[Problem]]:
    if not project.graph.exists() or not writes_map(project):
        return [], []
    with write_access(project.graph, project.world, "refresh the map"):
        return refresh_map(project.root, project.world, product_map(project))


def _unreadable(path: str) -> Problem:
    return Problem(
        code="FragmentNotFolded",
        severity="warning",
        path=path,
        message="It stays: a line of it, or a record that it changes, cannot be read.",
        hint="`memory check` shows which.",
    )


def lines(done: Folded) -> Lines:
    if not done.fragments:
        yield "Nothing to fold."
    else:
        verb = "Would fold" if done.dry_run else "Folded"
        yield f"{verb} {counted(len(done.fragments), 'file')} of branches."
    for path in done.files_changed:
        if path not in done.fragments:
            yield f"  {path}"


VERB = Verb(
    takes=Fold,
    run=fold,
    lines=lines,
    writes=True,
    examples="Example:\n  memory fold\n  memory fold --dry-run\n",
)
