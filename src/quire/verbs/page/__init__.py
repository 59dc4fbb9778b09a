"""Views and actions of the local page."""
