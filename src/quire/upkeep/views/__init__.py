"""Views of the page, computed from records: lists, one record and its history, charts over time."""
