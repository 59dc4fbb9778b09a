"""What anchors lead to: files, folders, globs and symbols, and whether they are still what was seen."""
