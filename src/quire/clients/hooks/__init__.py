"""Hooks of coding agents: what they say at an event, what they are answered, and how much of it they take."""
