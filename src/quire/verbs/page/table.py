"""The table of views, by the path that the page requests."""

from __future__ import annotations

from quire.verbs.page import health_views, record_views, views
from quire.verbs.page.page_view import PageView

VIEWS = {
    "": PageView(views.ViewSummary, views.view_summary),
    "today": PageView(views.ViewToday, views.view_today),
    "map": PageView(views.ViewMap, views.view_map),
    "records": PageView(views.ViewRecords, views.view_records),
    "record": PageView(record_views.ViewRecord, record_views.view_record, has_body=True),
    "history": PageView(record_views.ViewHistory, record_views.view_history),
    "diff": PageView(record_views.ViewDiff, record_views.view_diff),
    "graph": PageView(views.ViewGraph, views.view_graph),
    "search": PageView(views.SearchPage, views.search_page),
    "timeline": PageView(health_views.ViewTimeline, health_views.view_timeline),
    "inbox": PageView(views.ViewInbox, views.view_inbox),
    "health/anchors": PageView(health_views.ViewAnchorHealth, health_views.view_anchor_health),
    "health/coverage": PageView(health_views.ViewCoverage, health_views.view_coverage),
    "health/review": PageView(health_views.ViewReview, health_views.view_review),
    "health/receipts": PageView(health_views.ViewReceipts, health_views.view_receipts),
    "health/files": PageView(health_views.ViewFiles, health_views.view_files),
}
