"""Compile a pattern on its first use: most texts need few of them, and each command pays for what it imports."""

import functools
import re


@functools.cache
def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled pattern, made once."""
    return re.compile(source, flags)
