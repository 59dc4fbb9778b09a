"""Match anchors against paths: a file, a folder, or a glob with picomatch's rules.

A plain anchor covers the file of that name and everything below the folder of that name. A glob covers what picomatch
(dot: true) would match; `src/*` is the direct children only. Three things go beyond that:

- An anchor with glob characters also covers its literal path and what lies below it: `app/[slug]` is a real folder.
- A glob with a slash at its end means folders: `packages/*/` covers everything below each package, and no file beside.
- A glob that cannot be used (see `pattern_fault`) covers its literal path and no more.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property, lru_cache
from itertools import islice, repeat
from operator import le
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.anchors.glob_matcher import Matcher

_MARKS = re.compile(r"[*?(\[{]")
_PLAIN = re.compile(r"[A-Za-z0-9_][\w /-]*/", re.ASCII)
"""Folders that a glob begins with, and every match of it, too."""


def is_glob(anchor: str) -> bool:
    """Whether picomatch's scanner calls it a glob. It stops early, so that `{a}/*` is a plain path."""
    text = anchor.rstrip("/")
    if not _MARKS.search(text):
        return False
    start = 0
    # A backslash cannot be stored in an anchor; one that has it is taken as it is.
    for at, char in enumerate("" if "\\" in text else text):
        if char in "*?(" or (char in "+@!" and text.startswith("(", at + 1)):
            return True
        if char == "[":
            return "]" in text[at + 1 :]
        if char == "{":
            return _splits(text, at)
        if char == "!" and at == start:
            start += 1
        elif char == "/" and at == start + 1 and text[at - 1] == ".":
            start += 2
    return False


def _splits(text: str, at: int) -> bool:
    """Whether the braces that open here hold a comma or a range."""
    depth = 1
    at += 1
    while at < len(text):
        if text[at] == "{":
            depth += 1
            at += 1
            continue
        if text[at] == ".":
            at += 1
            if text.startswith(".", at):
                return True
        if text.startswith(",", at):
            return True
        if text.startswith("}", at):
            depth -= 1
            if not depth:
                return False
        at += 1
    return False


def pattern_fault(anchor: str) -> str | None:
    """Why a glob can only be taken for its literal path, as a clause; None when it can be used."""
    matcher = _matcher(anchor) if is_glob(anchor) else None
    return matcher if isinstance(matcher, str) else None


def static_prefix(anchor: str) -> str:
    """The file or folder that every match is or lies below; empty for the root."""
    name = anchor.rstrip("/")
    matcher = _matcher(anchor) if is_glob(anchor) else None
    if matcher is None or isinstance(matcher, str):
        return name
    return matcher.folder


def covers(anchor: str, path: str) -> bool:
    """Whether an anchor covers one file."""
    name = anchor.rstrip("/")
    if path == name or (name and path.startswith(f"{name}/")):
        return True
    matcher = _matcher(anchor) if is_glob(anchor) else None
    if matcher is None or isinstance(matcher, str):
        return False
    return path.startswith(matcher.prefix) and matcher.matches(path)


@lru_cache(maxsize=4096)
def _matcher(anchor: str) -> Matcher | str:
    """What matches a glob anchor, or why nothing can."""
    from quire.anchors.glob_matcher import Matcher
    from quire.anchors.glob_nodes import GlobFault
    from quire.anchors.glob_parser import read

    try:
        return Matcher(read(anchor))
    except GlobFault as fault:
        return str(fault)


class Files:
    """Sorted paths, so that an anchor is looked up instead of compared with each path.

    Paths that come in another order are sorted; positions count in `paths`.
    """

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths if all(map(le, paths, islice(paths, 1, None))) else sorted(paths)
        self._matched: dict[str, list[int]] = {}

    def at(self, anchor: str) -> range | list[int]:
        """The positions of the covered paths, ascending."""
        literal = self._named(anchor.rstrip("/"))
        # To compile a pattern takes longer than to see that no path begins as it does.
        plain = _PLAIN.match(anchor)
        is_possible = is_glob(anchor) and (plain is None or self._beginning(plain[0]))
        matcher = _matcher(anchor) if is_possible else None
        if matcher is None or isinstance(matcher, str):
            return literal
        if anchor not in self._matched:
            found = matcher.among(self.paths, self._beginning(matcher.prefix), self._most)
            self._matched[anchor] = sorted({*found, *literal}) if literal else found
        return self._matched[anchor]

    @cached_property
    def _most(self) -> tuple[int, int]:
        return max(map(len, self.paths), default=0), max(map(str.count, self.paths, repeat("/")), default=0)

    def _beginning(self, prefix: str) -> range:
        """The paths that begin with a text, as far as order tells."""
        low = bisect_left(self.paths, prefix)
        last = prefix[-1:]
        if not last or last == "\U0010ffff":
            return range(low, len(self.paths))
        return range(low, bisect_left(self.paths, prefix[:-1] + chr(ord(last) + 1), low))

    def _named(self, name: str) -> range | list[int]:
        """The file of this name and what lies below the folder of this name; `a-b` stands between `a` and `a/b`."""
        if not name:
            return range(0)
        low = bisect_left(self.paths, name)
        file = range(low, bisect_left(self.paths, f"{name}\0", low))
        folder = self._beginning(f"{name}/")
        return [*file, *folder] if file and folder else file or folder
