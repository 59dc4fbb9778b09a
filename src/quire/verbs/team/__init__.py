"""Verbs for work in a team: merges, and what branches disagree on."""
