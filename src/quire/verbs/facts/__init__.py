"""Verbs of the facts: store, recall, archive, working memory, sessions, notes."""
