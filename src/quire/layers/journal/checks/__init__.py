"""Checks of a journal, one module per part; each yields findings."""
