"""Verbs that change the product graph: init, save, confirm, sync, check."""
