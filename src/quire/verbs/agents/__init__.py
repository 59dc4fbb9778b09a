"""Verbs for agents: hooks, briefs, connecting clients, ended sessions."""
