"""How Claude Code and Codex are wired to the journal alone, as `agent-memory integrate` has always done it."""
