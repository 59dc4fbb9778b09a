"""Names and limits of the profile: files, categories, statuses, relations, sources, sizes."""

from __future__ import annotations

from quire.files.layout import LOCAL, RECOVERY

FOLDER = ".ai-state"
FILE = "memory.json"
PATH = f"{FOLDER}/{FILE}"
FRAGMENTS = f"{FOLDER}/memory.d"
"""What other branches than the default one add to the document, until it is folded."""
LOCK = "memory.lock"
"""Shared with other programs that write the same document; empty, and never removed."""
PRIVATE = f"{LOCAL}/{FILE}"
"""The twin of the document that git never sees."""
SETTING = f"{LOCAL}/private.json"
"""Whether the private categories have a document of their own, and where."""
BACKUP = "memory.backup.json"
"""The document as it was before the last entry was removed from it."""
FORGOTTEN = f"{LOCAL}/forgotten.jsonl"
MIGRATION_PREFIX = "memory.pre-migration-"
HOME_FOLDER = "profile"
"""Below the memory's own folder in the user's home: a private document that all projects share."""
IGNORED = (
    f"{FOLDER}/{LOCAL}/",
    f"{FOLDER}/{RECOVERY}/",
    f"{FOLDER}/{LOCK}",
    f"{FOLDER}/{BACKUP}",
    f"{FOLDER}/{MIGRATION_PREFIX}*.json",
)
"""What git is to leave alone."""

VERSION = "1.2"
MIGRATED = ("1.0", "1.1")
"""Older versions, which are brought up to ours step by step."""
READABLE = ("1.3", "2.0")
"""Newer ones that can be read as they are, and are never written to."""

USER, ASSISTANT, PROJECT, RELATIONSHIPS, TOOLS, LEARNINGS = CATEGORIES = (
    "user",
    "assistant",
    "project",
    "relationships",
    "tools",
    "learnings",
)
PRIVATE_CATEGORIES = (USER, RELATIONSHIPS)
"""What `private` keeps out of the shared document."""
NAME = "name"
"""The one entry that must be there: what the assistant is called."""

ACTIVE, ARCHIVED, SUPERSEDED = STATUSES = ("active", "archived", "superseded")
SUPERSEDES, ELABORATES, CONTRADICTS, RELATED, DEPENDS = RELATIONS = (
    "supersedes",
    "elaborates",
    "contradicts",
    "related-to",
    "depends-on",
)
SESSION, STATED, INFERRED, CODEBASE = SOURCES = ("session", "user-stated", "inferred", "codebase")

READ_FIELDS = ("access_count", "last_accessed")
"""What changes when an entry is only read."""

IMPORTANCE = 5
IMPORTANCE_LEAST, IMPORTANCE_MOST = 1, 10
KEY_CHARS = 128
TAG_CHARS = 49
VALUE_CHARS = 100_000
LONG_VALUE_CHARS = 500
"""Longer values are kept and said to be long: several entries serve better."""
DETAIL_CHARS = 2_000
FILE_BYTES = 256 * 1024 * 1024
"""A larger document is not read."""
