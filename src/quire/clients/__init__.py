"""The programs that agents run in: their hooks, their sessions, their configuration."""
