"""Sessions of coding agents: where they lie, what was said in them, and what of it may be kept."""
