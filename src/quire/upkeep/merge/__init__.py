"""Merge the memory of branches: the driver that git calls, a merge to look at, conflicts that were left."""
