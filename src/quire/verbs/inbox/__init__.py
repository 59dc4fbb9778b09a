"""Verbs over proposals: import from other programs, review, accept, reject."""
