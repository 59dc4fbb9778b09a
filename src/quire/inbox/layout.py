"""Where the inbox lies: proposals with this machine, rejections with the project."""

from __future__ import annotations

FOLDER = ".memory"
FILE = "inbox.jsonl"
"""Below the folder's `local/`."""
REJECTED = "rejected"
"""One file for each value that was rejected: two branches never meet in one."""
