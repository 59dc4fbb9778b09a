"""The whole project: everything that can be asked of it and told to it, in one class."""

from __future__ import annotations

from quire.project.capturing import Capturing
from quire.project.exporting import Exporting
from quire.project.ingesting import Ingesting
from quire.project.inspecting import Inspecting
from quire.project.journal_automation import JournalAutomation
from quire.project.keeping import Keeping
from quire.project.noting import Noting
from quire.project.profile_overview import ProfileOverview

__all__ = ["Project"]


class Project(Keeping, Exporting, Ingesting, Capturing, Noting, ProfileOverview, Inspecting, JournalAutomation):
    """One project as seen from a folder of it."""
