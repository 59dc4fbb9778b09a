"""Size limits. The error for a value that exceeds one names it."""

from __future__ import annotations

from quire.model.errors import InputError

INPUT_BYTES = 16 * 1024 * 1024
"""The whole of one save intent."""
FILE_BYTES = 32 * 1024 * 1024
"""One canonical file that we agree to read."""
BODY_CHARS = 200_000
TITLE_CHARS = 300
TASK_CHARS = 1_000
REASON_CHARS = 2_000
ID_CHARS = 160
SLUG_CHARS = 72
"""Where a slug made from a title is cut; an id given by hand may be longer."""
TAG_CHARS = 80
TAGS = 64
ANCHOR_CHARS = 1_024
ANCHORS = 256
EVIDENCE = 256
LOCATOR_CHARS = 2_048
ITEMS = 2_000
"""Entries in one array of a save intent."""
RELATION_STEM_CHARS = 200
"""A relation's file name, cut so that it stays legal everywhere."""
JSON_DEPTH = 64
RECOVERY_SETS = 50
"""How many recovery folders are kept."""
MAP_TOKENS = 900
START_TOKENS = 1_200
"""What a session starts with, the map included: enough to orient, not enough to drown."""
PROFILE_TOKENS = 1_000
"""What a session is reported the profile, where nothing else is asked for."""
QUESTION_CHARS = 4_000
"""More of a question than this is not read."""
BUDGET_LEAST, BUDGET_MOST = 100, 50_000
RESULTS_MOST = 100


def budget(tokens: int | None, usual: int) -> int:
    """How many tokens an answer may have; the usual number where none is named."""
    return within(usual if tokens is None else tokens, "budget", BUDGET_LEAST, BUDGET_MOST)


def within(number: int, name: str, least: int, most: int) -> int:
    """Return a number if it is in its range; raise an error if not."""
    if not least <= number <= most:
        raise InputError(
            f"The {name} must be a whole number from {least} to {most:,}, not {number}.",
            hint=f"Leave --{name} out for the usual one.",
            details={"field": name, "minimum": least, "maximum": most},
        )
    return number


def is_too_deep(value: object) -> bool:
    """Whether objects and lists are nested deeper than `JSON_DEPTH` levels."""
    level = [value]
    for _ in range(JSON_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
