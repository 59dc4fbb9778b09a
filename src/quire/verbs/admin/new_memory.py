"""Create a new memory: the graph, and other layers where they are asked for."""

from __future__ import annotations

import contextlib
import os

from quire.capture.repository.manifests import declared_name
from quire.files.write_access import write_access
from quire.index.health import index_fault
from quire.layers.facts.originals import not_imported
from quire.layers.facts.store import create_file
from quire.layers.graph.layout import FOLDER, INDEX
from quire.layers.profile.layout import IGNORED
from quire.layers.profile.store import create_document, profile_access
from quire.model.errors import QuireError, not_one_of
from quire.model.records import Problem, as_warning
from quire.model.vocabulary import LAYER_NAMES
from quire.project import Project
from quire.upkeep.guidance import install_guidance
from quire.upkeep.ignore import ensure_ignored
from quire.upkeep.init import Initialized, initialize
from quire.upkeep.projects import ProjectRegistry
from quire.verbs.ask.product_map import product_map
from quire.verbs.journal.init import JournalInit, journal_entry_files, journal_init


def init_memory(
    project: Project,
    *,
    name: str | None = None,
    force: bool = False,
    guidance: bool = True,
    dry_run: bool = False,
    layers: tuple[str, ...] = (),
) -> Initialized:
    """Create the memory where there is none; bring guidance, map and schemas up to date where there is one."""
    _check_layers(layers)
    if not force:
        project.recover()
    declared = declared_name(project.root) if name is None else ""
    done = initialize(
        project.graph, project.git, project.world, name=name, force=force, dry_run=dry_run, declared=declared
    )
    if guidance:
        _install_guidance(project, done)
    if "facts" in layers:
        done.files_created += _create_facts(project, dry_run=dry_run)
    if "profile" in layers:
        done.files_created += _create_profile(project, dry_run=dry_run)
    if "journal" in layers:
        done.files_created += _create_journal(project, dry_run=dry_run)
    if not dry_run:
        done.warnings += [*_register(project), *not_imported(project.root)]
        done.index_built = index_fault(os.path.join(project.graph.folder, INDEX)) == ""
    return done


def _create_journal(project: Project, *, dry_run: bool) -> list[str]:
    """A journal made from the project as it is, where there is none."""
    if journal_entry_files(project):
        return []
    done = journal_init(project, JournalInit(dry_run=dry_run))
    return [file.path for file in done.planned if file.kind == "CREATE"]


def _create_facts(project: Project, *, dry_run: bool) -> list[str]:
    """An empty file of facts, where there is none, and how git merges it."""
    if dry_run:
        return create_file(project.root, project.world, dry_run=True)
    with write_access(project.root, FOLDER, project.world, "init"):
        return create_file(project.root, project.world)


def _create_profile(project: Project, *, dry_run: bool) -> list[str]:
    """An empty profile, where there is none."""
    if dry_run:
        return create_document(project.root, project.world, dry_run=True)
    with profile_access(project.profile_places(), project.world, "init"):
        created = create_document(project.root, project.world)
    if project.git.available:
        with contextlib.suppress(QuireError, OSError):
            ensure_ignored(project.root, project.world, IGNORED)
    return created


def _install_guidance(project: Project, done: Initialized) -> None:
    map_text = "…" if done.dry_run and done.created else product_map(project)
    done.guidance, problems = install_guidance(project.root, project.world, map_text, dry_run=done.dry_run)
    done.warnings += problems


def _register(project: Project) -> list[Problem]:
    """Note the project for the commands that look across repositories; a failure is a warning."""
    try:
        ProjectRegistry(project.world).add(project.root, source="auto")
    except QuireError as error:
        return [as_warning(error)]
    return []


def _check_layers(layers: tuple[str, ...]) -> None:
    for name in layers:
        if name not in LAYER_NAMES:
            hint = f"Allowed: {', '.join(LAYER_NAMES)}."
            raise not_one_of(f"Unknown layer `{name[:40]}`.", "with", LAYER_NAMES, hint)
