"""The ground: durable writes and transactions, locks, JSON, marked sections, git, discovery, containment."""
