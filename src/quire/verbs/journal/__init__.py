"""Verbs of the journal: init, import of sessions, recall, query, restore, automation."""
