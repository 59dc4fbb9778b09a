"""The front door: a project's memory, opened once, asked and told through this one class.

Every surface calls only this. Methods share their names with the commands and the tools; each returns a
value that the surface prints. Rooms are loaded when a method needs them, so that a small command
stays a small process.
"""

from __future__ import annotations

import os

from quire.files import World, find_root, real_world
from quire.layers.graph.layout import CONFIG, FOLDER
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import STATE as JOURNAL_STATE
from quire.layers.profile.layout import FILE as PROFILE_FILE
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.project.capturing import Capturing
from quire.project.ingesting import Ingesting
from quire.project.inspecting import Inspecting, Looked
from quire.project.journal_automation import JournalAutomation
from quire.project.keeping import Keeping
from quire.project.noting import Noting
from quire.project.profile_overview import ProfileOverview

__all__ = ["Looked", "Project"]


_MARKERS = (f"{FOLDER}/{CONFIG}", f"{PROFILE_FOLDER}/{PROFILE_FILE}", f"{JOURNAL_FOLDER}/{JOURNAL_STATE}")
"""What tells that there is a memory: of the graph and the facts, of people, of sessions."""


class Project(Keeping, Ingesting, Capturing, Noting, ProfileOverview, Inspecting, JournalAutomation):
    """One project as seen from a folder of it."""

    @classmethod
    def open(cls, start: str | None = None, world: World | None = None) -> Project:
        """The project that holds `start`, or the current folder."""
        world = world or real_world()
        where = os.path.join(world.cwd, start) if start else world.cwd
        return cls(find_root(where, *_MARKERS), world)

    def initialized(self) -> bool:
        """Whether any layer of a memory is here."""
        return any(os.path.isfile(os.path.join(self.root, *marker.split("/"))) for marker in _MARKERS)
