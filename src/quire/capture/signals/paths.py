"""Key paths: the files of the repository that a session changed, spoke of, or read more than once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from msgspec import Struct

KEPT = 2_000
"""So many files are counted at the same time."""
PATH_CHARS = 300
_ENOUGH = 3
"""Where so many files were changed or spoken of, those that were only read say nothing."""
_EDITS = re.compile(r"write|edit|patch|create|replace|update|delete|remove|rename|move|insert|str_replace", re.I)
_LINE = re.compile(r"(?::\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)$")
_KNOWN = (
    "astro bat c cc cfg cjs clj cmake conf cpp cs css csv cue dart env ex exs fs gd go gradle graphql h hcl hpp hs html"
    " ini ipynb java js json jsonc jsx kt kts less lock lua md mdx mjs ml mm nix php pl pm prisma proto ps1 py pyi r rb"
    " rs rst sass scala scss sh sql svelte swift tex tf tfvars toml ts tsx txt vue xml yaml yml zig"
)
_EXTENSIONS = frozenset(_KNOWN.split())
_NAMED = re.compile(
    r"(?<![\w/.:~@$%{-])((?:[\w.@+-]{1,80}/){1,12}[\w.@+-]{0,80}[\w+-]\.\w{1,12}"
    r"|[\w@+-][\w.@+-]{0,80}\.\w{1,12})(?::\d+(?:[:-]\d+)?)?(?![\w/(-]|\.\w)"
)
_CHANGING = re.compile(
    r"(?:^|&&|;|\|)\s*(?:git (?:rm|mv|add)|rm|mv|cp|touch|sed -i\S*|tee)\s+((?:[^\s;&|<>]+\s*){1,12})"
    r"|>{1,2}\s*([\w./@+-]+)"
)
_OUTSIDE = ("..", "~", "…", "/", "$", "-")
_NOT_OURS = frozenset(
    (".git", "node_modules", ".venv", "venv", "__pycache__", ".memory", ".agent-memory", ".specstory")
)


def is_edit(tool: str) -> bool:
    """Whether a tool changes files, by its name."""
    return bool(_EDITS.search(tool))


class _Count(Struct):
    edits: int = 0
    named: int = 0
    reads: int = 0
    first: int = 0


class Paths:
    """Which files a session was about, as far as it was heard."""

    def __init__(self, root: str = "") -> None:
        self._root = os.path.normpath(root) if root else ""
        self._counts: dict[str, _Count] = {}
        self._bare: dict[str, int] = {}
        self._seen = 0

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
        """Files that somebody names."""
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
        ranked = sorted(
            (
                (path, count)
                for path, count in self._counts.items()
                if count.edits or (not edited and (count.named or count.reads >= reads))
            ),
            key=lambda item: (
                not item[1].edits,
                not item[1].named,
                -item[1].edits,
                -item[1].named,
                -item[1].reads,
                item[1].first,
            ),
        )
        return [path for path, _ in ranked[: max(0, most)]]

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
        count = self._counts.get(path)
        if count is None:
            if len(self._counts) >= KEPT:
                self._forget()
            self._seen += 1
            count = self._counts[path] = _Count(first=self._seen)
        return count

    def _forget(self) -> None:
        """Make room: a tenth of the files goes, the least touched and oldest."""
        ranked = sorted(self._counts, key=lambda path: (self._weight(path), self._counts[path].first))
        for path in ranked[: KEPT // 10]:
            del self._counts[path]

    def _weight(self, path: str) -> int:
        count = self._counts[path]
        return 100 * count.edits + 10 * count.named + count.reads

    def _inner(self, path: str) -> str:
        """A path as the repository knows it; empty where it leads out of it, or to nobody's work."""
        if not path or len(path) > PATH_CHARS or "://" in path or not path.isprintable():
            return ""
        path = _LINE.sub("", path.replace("\\", "/"))
        if self._root and path.startswith(self._root + "/"):
            path = path[len(self._root) + 1 :]
        path = os.path.normpath(path)
        if path == "." or path.startswith(_OUTSIDE) or re.match(r"[A-Za-z]:", path):
            return ""
        return "" if _NOT_OURS & set(path.split("/")) else path


def _has_extension(path: str) -> bool:
    name = path.rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    if not stem and not name.startswith("."):
        return False
    return extension.lower() in _EXTENSIONS or ("/" in path and extension.isalnum() and not extension[:1].isdigit())
