"""Verbs over the journal: init, import of sessions, recall, query, restore, automation."""
