"""The front door: a project's memory, opened once, asked and told through this one class.

Every surface calls only this. Methods share their names with the commands and the tools; each returns a
value that the surface prints. Rooms are loaded when a method needs them, so that a small command
stays a small process. A process that lives for one question opens only the part of `Project` that answers it, in the
same way: what a part can do, it does as the whole does.
"""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.project.acting import Acting
    from quire.project.answering import Answering
    from quire.project.asking import Asking
    from quire.project.beginning_here import BeginningHere, FirstAnswer, FirstOffers
    from quire.project.collecting import Collected, Collecting
    from quire.project.doctoring import Doctored, Doctoring, Mended
    from quire.project.importing import FoundSource, ImportedHosts, Importing
    from quire.project.inspecting import Inspecting, Looked
    from quire.project.integrating import Integrating
    from quire.project.keeping import Keeping
    from quire.project.mending import Mending, Repaired, Repairs, RepairSeen, TakenBack
    from quire.project.presence import memory_root
    from quire.project.profile_overview import ProfileOverview
    from quire.project.purging import Purged, Purging
    from quire.project.recalling import FactAsking
    from quire.project.reviewing import Added, Reviewing, Settled, Shown
    from quire.project.spooling import ENDING, note_session
    from quire.project.undoing import Acted
    from quire.project.whole import Project
    from quire.project.working import WorkingMemory

__all__ = [
    "ENDING",
    "Acted",
    "Acting",
    "Added",
    "Answering",
    "Asking",
    "BeginningHere",
    "Collected",
    "Collecting",
    "Doctored",
    "Doctoring",
    "FactAsking",
    "FirstAnswer",
    "FirstOffers",
    "FoundSource",
    "ImportedHosts",
    "Importing",
    "Inspecting",
    "Integrating",
    "Keeping",
    "Looked",
    "Mended",
    "Mending",
    "ProfileOverview",
    "Project",
    "Purged",
    "Purging",
    "RepairSeen",
    "Repaired",
    "Repairs",
    "Reviewing",
    "Settled",
    "Shown",
    "TakenBack",
    "WorkingMemory",
    "memory_root",
    "note_session",
]

# Which module holds what.
_HOMES = {
    "ENDING": "spooling",
    "Acted": "undoing",
    "Acting": "acting",
    "Added": "reviewing",
    "Answering": "answering",
    "Asking": "asking",
    "BeginningHere": "beginning_here",
    "Collected": "collecting",
    "Collecting": "collecting",
    "Doctored": "doctoring",
    "Doctoring": "doctoring",
    "FactAsking": "recalling",
    "FirstAnswer": "beginning_here",
    "FirstOffers": "beginning_here",
    "FoundSource": "importing",
    "ImportedHosts": "importing",
    "Importing": "importing",
    "Inspecting": "inspecting",
    "Integrating": "integrating",
    "Keeping": "keeping",
    "Looked": "inspecting",
    "Mended": "doctoring",
    "Mending": "mending",
    "ProfileOverview": "profile_overview",
    "Project": "whole",
    "Purged": "purging",
    "Purging": "purging",
    "RepairSeen": "mending",
    "Repaired": "mending",
    "Repairs": "mending",
    "Reviewing": "reviewing",
    "Settled": "reviewing",
    "Shown": "reviewing",
    "TakenBack": "mending",
    "WorkingMemory": "working",
    "memory_root": "presence",
    "note_session": "spooling",
}

__getattr__ = loader(__name__, _HOMES)
