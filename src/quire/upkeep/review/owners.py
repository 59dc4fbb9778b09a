"""Read the owners of files from CODEOWNERS, by the rules of GitHub or of GitLab."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from quire.model.records import Problem

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where the file may lie; the first that is there counts."""
_SECTION = re.compile(r"\^?\[(?P<name>[^\]]+)\](?:\[\d*\])?(?P<owners>(?:\s.*)?)")
_OWNER = re.compile(r"@{1,2}[\w.][\w./-]*|[^\s@]+@[^\s@]+\.[^\s@]+")
_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_TOKEN = re.compile(r"\\.|(?P<any>\*+|\?)|\[(?P<of>[!^]?[^\]/]+)\]|.", re.DOTALL)
_BYTES = 3 * 1024 * 1024
_MOST = 50_000
_TOLD = 5


class _Rule(msgspec.Struct, frozen=True):
    pattern: str
    owners: tuple[str, ...]
    section: str
    excludes: bool


class CodeOwners(msgspec.Struct, frozen=True):
    """The rules of a file."""

    path: str = ""
    rules: tuple[_Rule, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_gitlab: bool = False

    def of(self, file: str) -> tuple[str, ...]:
        """The owners of a file: of each section those of the last rule that matches it; GitHub has one section."""
        found: dict[str, tuple[str, ...]] = {}
        excluded: set[str] = set()
        for rule in reversed(self.rules):
            section = rule.section.casefold()
            if section in excluded or (section in found and not rule.excludes):
                continue
            if _pattern(rule.pattern, self.is_gitlab).fullmatch(file):
                if rule.excludes:
                    # What a section leaves out stays out, whatever stands before or behind it.
                    excluded.add(section)
                    found.pop(section, None)
                else:
                    found[section] = rule.owners
        return tuple(dict.fromkeys(owner for owners in reversed(found.values()) for owner in owners))


def read_owners(path: str, data: bytes) -> CodeOwners:
    """Read a file of rules; lines that cannot be understood are reported, and the others count."""
    if len(data) > _BYTES or b"\0" in data:
        reason = "it is not text" if b"\0" in data else f"it is larger than {_BYTES // 1024 // 1024} MB"
        return CodeOwners(path, (), (_problem(path, None, f"The owners cannot be read: {reason}."),))
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        return CodeOwners(path, (), (_problem(path, None, f"The owners cannot be read: {error.reason}."),))
    is_gitlab = not path.startswith(".github/") and (
        path.startswith(".gitlab/") or any(_SECTION.fullmatch(line.strip()) for line in lines)
    )
    rules: list[_Rule] = []
    problems: list[Problem] = []
    section, usual = "", tuple[str, ...]()
    for number, line in enumerate(lines[:_MOST], 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        heading = _SECTION.fullmatch(text) if is_gitlab else None
        if heading:
            section, usual = heading["name"].strip(), _owners(_words(heading["owners"]))[0]
            continue
        words = _words(text) or [text]
        rule, fault = _rule(words, section, usual, is_gitlab=is_gitlab)
        if rule is not None:
            rules.append(rule)
        if fault and len(problems) < _TOLD:
            problems.append(_problem(path, number, fault))
    return CodeOwners(path, tuple(rules), tuple(problems), is_gitlab)


def _rule(words: list[str], section: str, usual: tuple[str, ...], *, is_gitlab: bool) -> tuple[_Rule | None, str]:
    """A line's rule, and what is wrong with it."""
    pattern, *rest = words
    excludes = is_gitlab and pattern.startswith("!")
    if not is_gitlab and (pattern.startswith("!") or "[" in pattern):
        return None, "The pattern holds `!` or `[`, which GitHub does not know; the line is skipped."
    owners, strange = _owners(rest)
    fault = f"`{strange[0][:60]}` is not an owner: an owner is @name, @group/name or an address." if strange else ""
    if strange and not is_gitlab:
        return None, f"{fault} The line is skipped, as on GitHub."
    named = owners if rest else usual
    return _Rule(pattern.removeprefix("!") if excludes else pattern, named, section, excludes), fault


def _words(text: str) -> list[str]:
    """The words of a line: a backslash takes a space or a `#` for what it is, and a bare `#` begins a remark."""
    words = []
    for found in _WORD.finditer(text):
        if found.group().startswith("#"):
            break
        words.append(found.group())
    return words


def _owners(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The words that are owners, and those that are none."""
    owners = tuple(word for word in words if _OWNER.fullmatch(word))
    return owners, [word for word in words if word not in owners]


def _problem(path: str, line: int | None, message: str) -> Problem:
    return Problem(code="OwnersUnreadable", severity="warning", path=path, line=line, message=message)


@lru_cache(maxsize=4096)
def _pattern(pattern: str, is_gitlab: bool) -> re.Pattern[str]:
    """The paths that a pattern covers.

    On GitHub as in .gitignore, but that `docs/*` covers no file of a deeper folder, and a slash within a pattern ties
    it to the root. On GitLab only a slash at the beginning does, and only one at the end, or a lone `*`, means
    everything below.
    """
    body = pattern.strip("/")
    if not body:
        return re.compile(".*" if pattern else "(?!)", re.DOTALL)
    *folders, last = body.split("/")
    is_tied = pattern.startswith("/") or (bool(folders) and not is_gitlab)
    path = "".join("(?:[^/]+/)*" if folder == "**" else f"{_piece(folder, is_gitlab)}/" for folder in folders)
    ends = "(?:/.*)?" if not is_gitlab or body == "*" else ""
    children = "" if last == "*" and "/" in pattern else ends
    below = "/.*" if pattern.endswith("/") else children
    root = "" if is_tied else "(?:.*/)?"
    is_any = last == "**" and not is_gitlab
    try:
        return re.compile(root + path + (".*" if is_any else _piece(last, is_gitlab)) + below, re.DOTALL)
    except re.error:
        return re.compile("(?!)")  # a range that runs backwards covers nothing


def _piece(piece: str, is_gitlab: bool) -> str:
    """One name of a path: a star stands for any part of it, what a backslash precedes for itself."""
    return "".join(_token(found, is_gitlab) for found in _TOKEN.finditer(piece))


def _token(found: re.Match[str], is_gitlab: bool) -> str:
    text = found.group()
    if found["any"]:
        return "[^/]" if text == "?" else "[^/]*"
    if found["of"] and is_gitlab:
        negated = "^" if text[1] in "!^" else ""
        return f"(?!/)[{negated}{re.escape(found['of'].lstrip('!^')).replace(chr(92) + '-', '-')}]"
    return re.escape(text[1:] if text[0] == "\\" and len(text) > 1 else text)
