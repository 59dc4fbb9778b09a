"""The table of views, by the path that the page requests."""

from __future__ import annotations

from quire.verbs.page.health_views import (
    ViewAnchorHealth,
    ViewCoverage,
    ViewFiles,
    ViewReceipts,
    ViewReview,
    ViewTimeline,
    view_anchor_health,
    view_coverage,
    view_files,
    view_receipts,
    view_review,
    view_timeline,
)
from quire.verbs.page.page_view import PageView
from quire.verbs.page.record_views import ViewDiff, ViewHistory, ViewRecord, view_diff, view_history, view_record
from quire.verbs.page.views import (
    SearchPage,
    ViewGraph,
    ViewInbox,
    ViewMap,
    ViewRecords,
    ViewSummary,
    ViewToday,
    search_page,
    view_graph,
    view_inbox,
    view_map,
    view_records,
    view_summary,
    view_today,
)

VIEWS = {
    "": PageView(ViewSummary, view_summary),
    "today": PageView(ViewToday, view_today),
    "map": PageView(ViewMap, view_map),
    "records": PageView(ViewRecords, view_records),
    "record": PageView(ViewRecord, view_record, has_body=True),
    "history": PageView(ViewHistory, view_history),
    "diff": PageView(ViewDiff, view_diff),
    "graph": PageView(ViewGraph, view_graph),
    "search": PageView(SearchPage, search_page),
    "timeline": PageView(ViewTimeline, view_timeline),
    "inbox": PageView(ViewInbox, view_inbox),
    "health/anchors": PageView(ViewAnchorHealth, view_anchor_health),
    "health/coverage": PageView(ViewCoverage, view_coverage),
    "health/review": PageView(ViewReview, view_review),
    "health/receipts": PageView(ViewReceipts, view_receipts),
    "health/files": PageView(ViewFiles, view_files),
}
