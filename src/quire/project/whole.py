"""The whole project: everything that can be asked of it and told to it, in one class."""

from __future__ import annotations

from quire.project.doctoring import Doctoring
from quire.project.exporting import Exporting
from quire.project.ingesting import Ingesting
from quire.project.inspecting import Inspecting
from quire.project.journal_integrating import JournalIntegrating

__all__ = ["Project"]


class Project(JournalIntegrating, Doctoring, Exporting, Ingesting, Inspecting):
    """One project as seen from a folder of it."""
