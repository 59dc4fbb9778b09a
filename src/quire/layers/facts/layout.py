"""Names and limits of the facts: file, sections, statuses, relations, profiles, sizes."""

from __future__ import annotations

from typing import Literal, get_args

FOLDER = ".memory"
FILE = "facts.jsonl"
"""Merged by git with `merge=union`."""
FRAGMENTS = "facts.d"
"""Lines that were written on other branches than the default one, a file for each write."""
PATH = f"{FOLDER}/{FILE}"

SECTIONS = (
    "Architecture",
    "Decisions",
    "Constraints",
    "Known Issues",
    "Patterns & Conventions",
    "Specs",
    "Recent Work",
)
SPECS = "Specs"
RECENT_WORK = "Recent Work"

ACTIVE = "active"
ARCHIVED = "archived"
SUPERSEDED = "superseded"
DORMANT = "dormant"
PENDING = "pending"
STATUSES = (ACTIVE, ARCHIVED, SUPERSEDED, DORMANT, PENDING)
STATUS_RANK = {ACTIVE: 0, DORMANT: 2, ARCHIVED: 3, SUPERSEDED: 4}
"""Between two lines of one version, the one that puts the fact further away holds. What is not listed ranks 1:
above active, since a status nobody knows must not be outvoted by one that shows the fact."""
OTHER_RANK = 1

REPLACES = "replaces"
RELATIONS = ("depends_on", "contradicts", "enables", REPLACES, "motivated_by")
LifecycleKind = Literal[
    "design-decision",
    "design-constraint",
    "design-question",
    "openspec-archive",
    "openspec-assess",
    "cleave-outcome",
    "cleave-bug-fix",
]
"""What a design document can tell of: what was decided, what limits, what is open, what came of it."""
LIFECYCLE_KINDS: tuple[str, ...] = get_args(LifecycleKind)
DEFAULT_MIND = "default"
OTHER_DEFAULT = "primensus"
"""What some writers of such files call the mind that holds everything."""

CONTENT_CHARS = 8_000
"""A new fact is one atom of knowledge. Longer ones of other writers are kept, and said to be long."""
ID_CHARS = 160
FILE_BYTES = 512 * 1024 * 1024
"""A larger file is not read."""
LINE_BYTES = 1024 * 1024
"""A longer line is set aside unread."""
VERSION_MOST = 2**53 - 1
"""The largest number that every JSON reader holds exactly. Above it nothing could ever win, so it is no version."""
