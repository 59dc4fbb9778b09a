"""The profile: who works here and how, in `.ai-state/memory.json`."""
