"""Every project on this machine: what looks across repositories, beside the front door of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.files.world import World, real_world
from quire.model.errors import QuireError
from quire.project import Project
from quire.upkeep.projects import ProjectRegistry
from quire.upkeep.status import ProjectRow

if TYPE_CHECKING:
    from quire.upkeep.projects import Registered
    from quire.upkeep.reset import Reset


class Machine:
    """The projects that the registry knows."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world or real_world()
        self._registry = ProjectRegistry(self.world)

    @property
    def registry_path(self) -> str:
        """Where the list of projects is kept."""
        return self._registry.path

    def projects(self) -> list[Registered]:
        self._registry.refuse_newer()
        return self._registry.projects()

    def add(self, root: str) -> Registered:
        return self._registry.add(root)

    def remove(self, name: str) -> Registered:
        return self._registry.remove(name)

    def prune(self) -> list[Registered]:
        return self._registry.prune()

    def status(self) -> list[ProjectRow]:
        """Every registered project, the most recently active first."""
        from quire.verbs.ask.status import status as status_of

        rows = []
        for entry in self.projects():
            try:
                other = Project(entry.project_root, self.world)
                rows.append(ProjectRow(entry=entry, status=status_of(other), error=None))
            except QuireError as error:
                rows.append(ProjectRow(entry=entry, status=None, error=error))
        return sorted(rows, key=lambda row: (row.status.last_activity or "") if row.status else "", reverse=True)

    def reset(self, *, destroy: bool = False) -> tuple[list[Reset], list[tuple[str, QuireError]]]:
        """Reset every registered project; those that could not be, with the reason."""
        from quire.verbs.graph.changes import reset as reset_of

        done: list[Reset] = []
        failed: list[tuple[str, QuireError]] = []
        for entry in self.projects():
            try:
                done.append(reset_of(Project(entry.project_root, self.world), destroy=destroy))
            except QuireError as error:
                failed.append((entry.project_root, error))
        return done, failed
