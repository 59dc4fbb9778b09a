"""Verbs that maintain an installation: check, repair, purge, export, doctor, init."""
