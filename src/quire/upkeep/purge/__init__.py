"""Remove a text from every file of ours: find where it stands, and write the files without it."""
