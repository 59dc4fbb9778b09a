"""Key paths: the files of the repository that a session changed, spoke of, or read more than once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice

from msgspec import Struct

from quire.capture.signals.cues import pattern, words

KEPT = 2_000
"""So many files are counted at the same time."""
PATH_CHARS = 300
_ENOUGH = 3
"""Where so many files were changed or spoken of, those that were only read say nothing."""
_EDITS = pattern("edit_tool", re.I)
_LINE = re.compile(r"(?::\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)$")
_NAMED, _CHANGING = pattern("named_file"), pattern("changed_file")
_OUTSIDE = ("..", "~", "…", "/", "$", "-")


def is_edit(tool: str) -> bool:
    """Whether a tool changes files, by its name."""
    return bool(_EDITS.search(tool))


class _Count(Struct):
    edits: int = 0
    named: int = 0
    reads: int = 0

    def rank(self) -> tuple[bool, bool, int, int, int]:
        return self.edits > 0, self.named > 0, self.edits, self.named, self.reads


class Paths:
    """Which files a session was about, as far as it was heard."""

    def __init__(self, root: str = "") -> None:
        self._root = os.path.normpath(root) if root else ""
        self._counts: dict[str, _Count] = {}
        self._bare: dict[str, int] = {}

    def called(self, tool: str, command: str, paths: Iterable[str]) -> None:
        """A call of a tool: what it was told to touch."""
        changes = is_edit(tool)
        for path in paths:
            if found := self._inner(path):
                count = self._count(found)
                count.edits += changes
                count.reads += not changes
        for changed, written in _CHANGING.findall(command[:4_000]):
            for word in (*changed.split(), written):
                if (found := self._inner(word.strip("'\""))) and _has_extension(found):
                    self._count(found).edits += 1

    def said(self, text: str) -> None:
        """Files that someone names."""
        for found in _NAMED.finditer(text):
            name = _LINE.sub("", found[1])
            if "/" in name:
                if (path := self._inner(name)) and _has_extension(path):
                    self._count(path).named += 1
            elif _has_extension(name) and len(self._bare) < KEPT:
                # Names of methods look like names of files; between backticks and with an extension they are files.
                is_code = text[found.start() - 1 : found.start()] == "`" == text[found.end() : found.end() + 1]
                self._bare[name] = self._bare.get(name, 0) + (1 if is_code else 0)

    def found(self, most: int, *, edited: bool = False) -> list[str]:
        """Changed files first, then those that were spoken of, then what was read again; the most frequent first. With
        `edited` the changed ones alone."""
        self._resolve()
        work = sum(1 for count in self._counts.values() if count.edits or count.named)
        reads = 2 if work < _ENOUGH else KEPT**2
        ranked = sorted(self._counts.items(), key=lambda item: item[1].rank(), reverse=True)
        wanted = (one for one, count in ranked if count.edits or (not edited and (count.named or count.reads >= reads)))
        return list(islice(wanted, max(0, most)))

    def _resolve(self) -> None:
        """A name without its folder means the file of that name; where there is none, a file at the top."""
        by_name: dict[str, list[str]] = {}
        for path in self._counts:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        for name, times in self._bare.items():
            known = by_name.get(name, [])
            if len(known) == 1:
                self._counts[known[0]].named += 1
            elif not known and times:
                self._count(name).named += times
        self._bare.clear()

    def _count(self, path: str) -> _Count:
        if path not in self._counts and len(self._counts) >= KEPT:
            # To make room a tenth of the files goes, the least touched and oldest.
            for old in sorted(self._counts, key=lambda one: self._counts[one].rank())[: KEPT // 10]:
                del self._counts[old]
        return self._counts.setdefault(path, _Count())

    def _inner(self, path: str) -> str:
        """A path as the repository knows it; empty where it leads out of it, or to nobody's work."""
        if not path or len(path) > PATH_CHARS or "://" in path or not path.isprintable():
            return ""
        path = _LINE.sub("", path.replace("\\", "/"))
        path = os.path.normpath(path.removeprefix(f"{self._root}/") if self._root else path)
        is_outside = path == "." or path.startswith(_OUTSIDE) or re.match(r"[A-Za-z]:", path)
        return "" if is_outside or words("not_ours") & set(path.split("/")) else path


def _has_extension(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    extension = name.rpartition(".")[2] if "." in name else ""
    return extension.lower() in words("extensions") or bool(folder and extension.isalnum() and extension[0] > "9")
