"""What hosts of agents already know: their instructions, rules, notes and records, read into proposals."""
