"""Verbs of the profile: remember, recall, forget, link, show."""
