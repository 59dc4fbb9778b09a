"""Taking a text out of every file of ours, without a trace: where it stands, and what the files are without it."""
