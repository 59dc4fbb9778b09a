"""Verdicts for views: those that a process which stays alive has at hand, the others as everybody gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.project import Project

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.upkeep.views.record_list import Verify
    from quire.upkeep.views.shared_verdicts import KnownVerdicts


def new_verdicts() -> KnownVerdicts:
    """What such a process hands to every project that it opens, as long as nothing changes."""
    from quire.upkeep.views.shared_verdicts import KnownVerdicts

    return KnownVerdicts()


def verify_for_page(project: Project, index: Index) -> Verify:
    from quire.upkeep.verdicts import Verdicts

    verify = Verdicts(project.root, project.git, index)
    return verify if project.known_verdicts is None else project.known_verdicts.sharing(verify)
