"""The whole state of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model.records import Problem
from quire.project import Project
from quire.verbs.facts.faded import faded_facts

if TYPE_CHECKING:
    from quire.upkeep.status import Status


def status(project: Project) -> Status:
    from quire.upkeep.status import memory_status

    project.ready()
    return project.with_index(lambda index: memory_status(project.graph, project.git, index))


def status_warnings(project: Project, found: Status) -> list[Problem]:
    """What a look at the whole should not pass over: faded facts, files without the map, facts not imported."""
    from quire.layers.facts.originals import not_imported
    from quire.upkeep.guidance import missing_maps

    faded = faded_facts(project) if found.facts else ()
    return [*faded, *missing_maps(project.root), *not_imported(project.root)]
