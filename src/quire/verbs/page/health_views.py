"""Views of the memory's health: timeline, drift, coverage, receipts, files."""

from __future__ import annotations

import msgspec

from quire.clients.receipt_totals import ReceiptHealth, sum_receipts
from quire.clients.receipts import read_receipts
from quire.index.catalog import Index
from quire.model import limits
from quire.model.errors import GitRequired, InputError
from quire.model.vocabulary import LIVE_STATUSES
from quire.project import Project
from quire.upkeep.change_set import span_to_review
from quire.upkeep.review.engine import review_change
from quire.upkeep.review.findings import CODES, ReviewFinding
from quire.upkeep.views.drift import AnchorHealth, anchor_health
from quire.upkeep.views.file_states import FileHealth, file_health, without_private
from quire.upkeep.views.items import is_judged
from quire.upkeep.views.landscape import CoverageHealth, coverage_health
from quire.upkeep.views.timeline import Timeline, timeline_of
from quire.verbs.page.page_view import PageArguments, ready_to_view, verify_for_page

_MARKS_MOST = 20_000
_NODES_MOST = 20_000
_RECEIPTS_MOST = 1_000
_FINDINGS_MOST = 200


class ViewTimeline(PageArguments, frozen=True):
    limit: int = 3_000


def view_timeline(project: Project, given: ViewTimeline) -> Timeline:
    """What happened when, as at most so many marks; the newest of every lane."""
    limits.within(given.limit, "limit", 1, _MARKS_MOST)
    ready_to_view(project)
    return project.with_index(lambda index: timeline_of(index, project.graph, project.git, given.limit))


class ViewAnchorHealth(PageArguments, frozen=True):
    pass


def view_anchor_health(project: Project, _: ViewAnchorHealth) -> AnchorHealth:
    """How many nodes still hold of the code, how that came about, and which have waited longest for a look."""

    def work(index: Index) -> AnchorHealth:
        judged = [record for record in index.records("graph", statuses=LIVE_STATUSES) if is_judged(record)]
        verdicts = verify_for_page(project, index)(judged)
        return anchor_health(judged, verdicts, project.git, project.world.now())

    ready_to_view(project)
    return project.with_index(work)


class ViewCoverage(PageArguments, frozen=True):
    limit: int = 1_500


def view_coverage(project: Project, given: ViewCoverage) -> CoverageHealth:
    """The code, and what of it live features cover, as a tree of at most so many nodes."""

    def work(index: Index) -> CoverageHealth:
        found = index.records("graph", kind="feature", statuses=LIVE_STATUSES)
        features = [record for record in found if is_judged(record) and record.anchors]
        verdicts = verify_for_page(project, index)(features)
        return coverage_health(project.root, project.git, features, verdicts, given.limit)

    limits.within(given.limit, "limit", 1, _NODES_MOST)
    ready_to_view(project)
    return project.with_index(work)


class ViewReview(PageArguments, frozen=True):
    branch: str = ""


class ReviewedBranch(msgspec.Struct, frozen=True, kw_only=True):
    """What a branch means for the records; `reason` says why nothing can be said of it."""

    change: str = ""
    outcome: str = "not checked"
    reason: str = ""
    files: int = 0
    records: int = 0
    findings: tuple[ReviewFinding, ...] = ()
    more: int = 0
    """Findings that are not shown."""
    titles: dict[str, str] = {}
    """What each code means."""


def view_review(project: Project, given: ViewReview) -> ReviewedBranch:
    """The review of a branch, or of the current one, as `memory review` gives it; a finding is no error here."""
    ready_to_view(project)
    try:
        span = span_to_review(project.git, None, staged=False, branch=given.branch)
        found = review_change(project, span)
    except (InputError, GitRequired) as error:
        return ReviewedBranch(reason=error.message)
    return ReviewedBranch(
        change=found.change,
        outcome=found.outcome,
        reason=found.not_checked,
        files=found.files,
        records=found.records,
        findings=tuple(found.findings[:_FINDINGS_MOST]),
        more=max(0, len(found.findings) - _FINDINGS_MOST),
        titles={code: CODES[code].title for code in found.counts()},
    )


class ViewReceipts(PageArguments, frozen=True):
    limit: int = 50
    private: bool = True


def view_receipts(project: Project, given: ViewReceipts) -> ReceiptHealth:
    """What agents were sent by hooks on this machine, summed up; the newest receipts one by one.

    Receipts are nobody else's business: without `private` there are none.
    """

    def work(index: Index) -> ReceiptHealth:
        def title_of(ref: str) -> str:
            record = index.find(ref)
            return (record.title or record.text) if record else ""

        return sum_receipts(read_receipts(project.root) if given.private else [], given.limit, title_of)

    limits.within(given.limit, "limit", 1, _RECEIPTS_MOST)
    ready_to_view(project)
    return project.with_index(work)


class ViewFiles(PageArguments, frozen=True):
    private: bool = True


def view_files(project: Project, given: ViewFiles) -> FileHealth:
    """The files of every layer, whether git keeps them, what is wrong with them; and the index."""

    def work(index: Index) -> FileHealth:
        found = file_health(project.root, project.git, index, project.index_folder())
        return found if given.private else without_private(found, index)

    ready_to_view(project)
    return project.with_index(work)
