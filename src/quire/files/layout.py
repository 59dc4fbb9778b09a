"""Name what stands in every folder of ours; a module of its own, so that who needs a name loads no lock."""

from __future__ import annotations

MEMORY = ".memory"
"""The folder that the graph, the facts, the inbox and the index share."""
CONFIG = "config.json"
"""In the memory's folder: what the project is called, and its settings."""
INDEX = "index"
BACKUP = ".backup"
"""Archives of what a reset removed, in the memory's folder."""
LOCK = ".lock"
RECOVERY = "recovery"
"""Where transactions are staged, and what they had to set aside is kept."""
LOCAL = "local"
"""What belongs to this machine and this user alone: pins, times of reading, notes, checkpoints. Git ignores it."""
