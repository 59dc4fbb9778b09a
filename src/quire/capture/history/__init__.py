"""What a repository's own history says: decisions, reverts, traps and habits, read from git alone."""
