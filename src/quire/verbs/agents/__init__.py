"""Verbs for agents: hooks, what they are sent, wiring, the end of a session."""
