"""Verbs that look after an installation: repair, purge, export, doctor, the first run."""
