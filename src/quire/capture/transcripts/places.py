"""Show paths without revealing the machine: relative to the repository, or to the home folder as `~`.

A transcript is full of absolute paths, and they name the person whose machine it was. What is kept of it goes into a
repository that others read.
"""

from __future__ import annotations

import functools
import os
import re

from quire.capture.transcripts.types import PATH_CHARS, KnownPlaces
from quire.files.paths import below
from quire.guard.hostile_text import make_safe
from quire.model.errors import InputError

_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)|\\\\")
_HOMES = re.compile(r"(?:/(?:home|Users)/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(?=/|$)", re.I)
_HOMES_IN_TEXT = re.compile(
    r"(?<![\w.~-])/(?:home|Users)/(?:[A-Za-z0-9][\w.@+-]{0,63}(?=/)|[A-Za-z0-9][\w@+-]{0,63}(?![\w@+/-]|\.\w))"
    r"|(?<![\w.~-])/root(?=/)"
    r"|(?<![A-Za-z])[A-Za-z]:(?:\\{1,2}|/)Users(?:\\{1,2}|/)[\w.@+ -]{1,64}(?=[\\/])"
)


def source_path(text: str, *, cwd: str, home: str) -> str:
    """The absolute path that a person means by what they typed."""
    if text == "~" or text.startswith("~/"):
        if not home:
            raise InputError("`~` cannot be resolved: no home folder is set.", hint="Give the whole path.")
        return os.path.normpath(os.path.join(home, text[2:]))
    if text.startswith("~"):
        raise InputError(
            f"`{text[:200]}` is in another user's home folder, which is not read.",
            hint="Give the whole path.",
            details={"field": "path"},
        )
    if not text.strip() or "\0" in text:
        raise InputError("The path is empty.", hint="Name a folder or a file.", details={"field": "path"})
    return os.path.normpath(os.path.join(cwd, text))


def belongs(cwd: str, root: str) -> bool:
    """Whether a session that ran in this folder is one of the repository."""
    return any(below(_tidy(cwd), top) is not None for top in _tops(root))


@functools.lru_cache(maxsize=8)
def _tops(root: str) -> tuple[str, ...]:
    """The repository by its name and by what the name leads to: a session may have written down either."""
    return tuple(dict.fromkeys((_tidy(root), _tidy(os.path.realpath(root))))) if root else ()


def _tidy(path: str) -> str:
    if _DRIVE.match(path):
        path = path.replace("\\", "/")
    return os.path.normpath(path) if path else ""


def shown_path(path: str, places: KnownPlaces, cwd: str = "") -> str:
    """A path as it may be told; empty where it is none. `cwd` is where the session ran."""
    if not path or len(path) > PATH_CHARS or "://" in path or not path.isprintable():
        return ""
    if path.startswith("~"):
        inner = os.path.normpath(path.partition("/")[2])
        return _last_part(inner) if inner.startswith("..") else "~" if inner == "." else f"~/{inner.lstrip('/')}"
    tidy, here = _tidy(path), _tidy(cwd)
    if not _is_absolute(tidy):
        if not tidy.startswith("..") and (not here or here in _tops(places.root)):
            return tidy
        tidy = os.path.normpath(os.path.join(here, tidy))
        if not _is_absolute(tidy):
            return _last_part(tidy)
    for top in (*_tops(places.root), *_clone(here, places)):
        if (rest := below(tidy, top)) is not None:
            return rest
    for top in _tops(places.home):
        if (rest := below(tidy, top)) is not None:
            return "~" if rest == "." else f"~/{rest}"
    home = _HOMES.match(tidy)
    return "~" + tidy[home.end() :] if home else _last_part(tidy)


def _clone(here: str, places: KnownPlaces) -> tuple[str, ...]:
    """Where the repository of a session from elsewhere is: in the folder it ran in, unless anything may lie there."""
    is_anywhere = here in ("", "/", *_tops(places.home)) or _HOMES.fullmatch(here) or belongs(here, places.root)
    return () if is_anywhere or not _is_absolute(here) else (here,)


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None


def _last_part(path: str) -> str:
    """Of a path that leads elsewhere only the name of the file is reported."""
    name = path.rstrip("/").rpartition("/")[2]
    return f"…/{make_safe(name)}" if name not in ("", "..") else "…"


def shown_text(text: str, places: KnownPlaces) -> str:
    """A text without the repository's place and without anybody's home folder."""
    if "/" not in text and "\\" not in text:
        return text
    for pattern, short in _shortenings(places):
        text = pattern.sub(short, text)
    return _HOMES_IN_TEXT.sub("~", text) if "/home/" in text or "sers" in text or "/root" in text else text


@functools.lru_cache(maxsize=8)
def _shortenings(places: KnownPlaces) -> tuple[tuple[re.Pattern[str], str], ...]:
    found: list[tuple[re.Pattern[str], str]] = []
    for tops, inside, alone in ((_tops(places.root), "", "."), (_tops(places.home), "~/", "~")):
        for top in tops:
            if len(top) > 1:
                begin = rf"(?<![\w.~-]){re.escape(top)}"
                found.append((re.compile(begin + r"/(?=[\w.@+-])"), inside))
                found.append((re.compile(begin + r"(?![\w.@+-])"), alone))
    return tuple(found)
