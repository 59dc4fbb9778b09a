"""Verbs over the profile: remember, recall, forget, link, show."""
