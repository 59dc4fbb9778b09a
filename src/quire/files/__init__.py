"""Durable writes, transactions, locks, JSON and TOML edits, marked sections, git, discovery, containment."""
