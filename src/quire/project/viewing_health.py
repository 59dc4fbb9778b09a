"""What people look at to see how the memory fares: what happened when, what drifted, what is covered, what was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model import limits
from quire.model.words import LIVE_STATUSES
from quire.project.judging import Judging

if TYPE_CHECKING:
    from quire.clients.receipt_sums import ReceiptHealth
    from quire.index.catalog import Index
    from quire.upkeep.views.drift import AnchorHealth
    from quire.upkeep.views.file_states import FileHealth
    from quire.upkeep.views.landscape import CoverageHealth
    from quire.upkeep.views.timeline import Timeline

_MARKS_MOST = 20_000
_NODES_MOST = 20_000
_RECEIPTS_MOST = 1_000


class ViewingHealth(Judging):
    """Views of the memory as a whole. Nothing is written but the index."""

    def view_timeline(self, limit: int = 3_000) -> Timeline:
        """What happened when, as at most so many marks; the newest of every lane."""
        from quire.upkeep.views.timeline import timeline_of

        limits.within(limit, "limit", 1, _MARKS_MOST)
        self._ready_to_look()
        return self._with_index(lambda index: timeline_of(index, self.graph, self.git, limit))

    def view_anchor_health(self) -> AnchorHealth:
        """How many nodes still hold of the code, how that came about, and which have waited longest for a look."""
        from quire.upkeep.views.drift import anchor_health
        from quire.upkeep.views.items import is_judged

        def work(index: Index) -> AnchorHealth:
            judged = [record for record in index.records("graph", statuses=LIVE_STATUSES) if is_judged(record)]
            verdicts = self._verify(index)(judged)
            return anchor_health(judged, verdicts, self.git, self.world.now())

        self._ready_to_look()
        return self._with_index(work)

    def view_coverage(self, limit: int = 1_500) -> CoverageHealth:
        """The code, and what of it live features cover, as a tree of at most so many nodes."""
        from quire.upkeep.views.items import is_judged
        from quire.upkeep.views.landscape import coverage_health

        def work(index: Index) -> CoverageHealth:
            found = index.records("graph", kind="feature", statuses=LIVE_STATUSES)
            features = [record for record in found if is_judged(record) and record.anchors]
            verdicts = self._verify(index)(features)
            return coverage_health(self.root, self.git, features, verdicts, limit)

        limits.within(limit, "limit", 1, _NODES_MOST)
        self._ready_to_look()
        return self._with_index(work)

    def view_receipts(self, limit: int = 50, *, private: bool = True) -> ReceiptHealth:
        """What agents were told unasked on this machine, summed up; the newest receipts one by one.

        Receipts are nobody else's business: without `private` there are none.
        """
        from quire.clients.receipt_sums import sum_receipts
        from quire.clients.receipts import read_receipts

        def work(index: Index) -> ReceiptHealth:
            def title_of(ref: str) -> str:
                record = index.find(ref)
                return (record.title or record.text) if record else ""

            return sum_receipts(read_receipts(self.root) if private else [], limit, title_of)

        limits.within(limit, "limit", 1, _RECEIPTS_MOST)
        self._ready_to_look()
        return self._with_index(work)

    def view_files(self) -> FileHealth:
        """The files of every layer, whether git keeps them, what is wrong with them; and the index."""
        from quire.upkeep.views.file_states import file_health

        self._ready_to_look()
        return self._with_index(lambda index: file_health(self.root, self.git, index, self._index_folder()))
