"""Verdicts for views: those that a process which stays alive has at hand, the others as everybody gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.project.asking import Asking

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.upkeep.views.known import KnownVerdicts
    from quire.upkeep.views.listing import Verify


class Judging(Asking):
    """What views of many records have in common."""

    known: KnownVerdicts | None = None
    """Handed in by a process that stays alive, and knows when something changed on disk."""

    def new_verdicts(self) -> KnownVerdicts:
        """What such a process hands to every project that it opens, as long as nothing changes."""
        from quire.upkeep.views.known import KnownVerdicts

        return KnownVerdicts()

    def _verify(self, index: Index) -> Verify:
        from quire.upkeep.verdicts import Verdicts

        verify = Verdicts(self.root, self.git, index)
        return verify if self.known is None else self.known.sharing(verify)
