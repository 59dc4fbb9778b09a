"""Verbs over the facts: store, recall, archive, working memory, sessions, notes."""
