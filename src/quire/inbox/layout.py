"""Paths of the inbox: proposals are machine-local, rejections belong to the project."""

from __future__ import annotations

FOLDER = ".memory"
FILE = "inbox.jsonl"
"""Below the folder's `local/`."""
REJECTED = "rejected"
"""One file for each value that was rejected: two branches never meet in one."""
