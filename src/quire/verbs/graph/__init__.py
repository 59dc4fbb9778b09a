"""Verbs that change the product graph: add, save, confirm, sync."""
