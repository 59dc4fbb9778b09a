"""Verbs for proposals: import from other programs, review, accept, reject."""
