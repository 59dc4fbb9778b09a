"""Where what belongs to this machine's sessions lies, below the `local/` of the memory."""

from __future__ import annotations

FOLDER = ".memory"
ENDED = "ended.jsonl"
"""Sessions that ended, or paused, and were not read yet."""
READ_MARKS = "collected.json"
RECEIPTS = "receipts.jsonl"
OLD_RECEIPTS = "receipts-old.jsonl"
LOG = "hooks.log"
OLD_LOG = "hooks-old.log"
