"""Paths of this machine's session files, below `local/` in the memory folder."""

from __future__ import annotations

FOLDER = ".memory"
ENDED = "ended.jsonl"
"""Sessions that ended, or paused, and were not read yet."""
READ_MARKS = "collected.json"
RECEIPTS = "receipts.jsonl"
OLD_RECEIPTS = "receipts-old.jsonl"
LOG = "hooks.log"
OLD_LOG = "hooks-old.log"
