"""The whole project: everything that can be asked of it and told to it, in one class."""

from __future__ import annotations

from quire.project.acting import Acting
from quire.project.doctoring import Doctoring
from quire.project.exporting import Exporting
from quire.project.ingesting import Ingesting
from quire.project.journal_integrating import JournalIntegrating
from quire.project.pulsing import Pulsing
from quire.project.purging import Purging
from quire.project.viewing import Viewing
from quire.project.viewing_health import ViewingHealth
from quire.project.viewing_records import ViewingRecords


class Project(
    Acting,
    ViewingRecords,
    ViewingHealth,
    Viewing,
    Pulsing,
    JournalIntegrating,
    Doctoring,
    Purging,
    Exporting,
    Ingesting,
):
    """One project as seen from a folder of it."""
