"""The spool of ended sessions: a hook adds a line at once; a later command reads the session.

A line is a pointer to the session's own file. Whoever reads the spool moves the file away first. A hook that was just
adding to it holds it in place meanwhile (`held_in_place`), so that no pointer is lost between the two.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

import msgspec

from quire.clients.lines import ENDED, FOLDER, add_line, read_lines
from quire.files import disk
from quire.files.json_files import json_value
from quire.files.local_files import ASIDE, ensure_local, held_in_place, is_at_rest, place_of, read_local
from quire.files.paths import inside, names_in
from quire.model.records import Problem

MOST_BYTES = 1024 * 1024
_TAKEN = "ended-"
_END = ".jsonl"
_TRIES = 20


class Ended(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session that ended, or said something for the last time."""

    client: str
    session: str
    transcript: str = ""
    at: str = ""
    event: str = ""
    """`session-end`, or what else was heard of it last."""
    summary: str = ""
    """What a compaction made of it, where the client told."""


class SpooledSessions(msgspec.Struct, frozen=True):
    """What waited, the latest word of each session; and the files that it was taken from and that are whole."""

    sessions: list[Ended]
    names: list[str]
    damaged: tuple[str, ...] = ()
    """Those of them with lines that nobody could read."""

    def problems(self) -> list[Problem]:
        """That some of it could not be read."""
        if not self.damaged:
            return []
        said = "Some lines could not be read; the sessions they name were skipped."
        hint = f"The first such file is kept as `{ENDED}{ASIDE}`; `memory journal sync` finds sessions on its own."
        path = place_of(FOLDER, ENDED)
        return [Problem(code="LocalStateDamaged", severity="warning", path=path, message=said, hint=hint)]

    def done(self, root: str) -> None:
        """It was worked through. The first file with lines that nobody could read is kept."""
        aside = inside(root, place_of(FOLDER, ENDED + ASIDE))
        for name in self.names:
            path = inside(root, place_of(FOLDER, name))
            with contextlib.suppress(FileNotFoundError):
                if name in self.damaged and not os.path.lexists(aside):
                    disk.rename(path, aside)
                else:
                    disk.remove(path)


def note_ended(root: str, ended: Ended, token: str) -> bool:
    """Add a pointer; whether there was room."""
    if not os.path.isdir(os.path.join(root, FOLDER)):
        return False
    path = inside(root, place_of(FOLDER, ENDED))
    if not os.path.exists(path):
        ensure_local(root, FOLDER, token)
    line = msgspec.json.encode(ended)
    for _ in range(_TRIES):
        with held_in_place(path), contextlib.suppress(FileNotFoundError):
            before = os.stat(path, follow_symlinks=False)
            if not add_line(root, ENDED, line, token, most=MOST_BYTES):
                return False
            # Taken away meanwhile, it may have been read before the line was in it; to say a thing twice does no harm.
            if os.path.samestat(before, os.stat(path, follow_symlinks=False)):
                return True
    return add_line(root, ENDED, line, token, most=MOST_BYTES)


def has_ended(root: str) -> bool:
    """Whether anything waits: a look at the folder alone."""
    return bool(_names(root))


def take_ended(root: str, token: str) -> SpooledSessions:
    """Everything that waits, also what an earlier reader took and did not finish."""
    here = inside(root, place_of(FOLDER, ENDED))
    with contextlib.suppress(FileNotFoundError):
        # What is not a regular file holds no sessions, and stays where it is.
        if stat.S_ISREG(os.lstat(here).st_mode):
            disk.rename(here, inside(root, place_of(FOLDER, f"{_TAKEN}{token[:12]}{_END}")))
    names = [name for name in _names(root) if name != ENDED]
    # Asked before they are read: what is added to one after that is not seen, so that it stays for the next time.
    whole = [name for name in names if _is_whole(inside(root, place_of(FOLDER, name)))]
    return SpooledSessions(_latest(root, names), whole, tuple(name for name in whole if _unread(root, name)))


def waiting_sessions(root: str) -> list[Ended]:
    """What waits, the latest word of each session; nothing is taken."""
    return sorted(_latest(root, _names(root)), key=lambda item: item.at)


def _is_whole(path: str) -> bool:
    """Whether nobody adds to a file any more."""
    try:
        return is_at_rest(path)
    except OSError:
        return False  # gone, or nothing of ours


def _names(root: str) -> list[str]:
    """The files of the spool: the one that is added to, and those that were taken."""
    names = names_in(os.path.join(root, place_of(FOLDER, "")))
    return [name for name in names if name == ENDED or (name.startswith(_TAKEN) and name.endswith(_END))]


def _unread(root: str, name: str) -> int:
    """How many lines of a file name no session; a file that cannot be read counts as one."""
    if read_local(root, FOLDER, name).problem is not None:
        return 1
    return sum(_ended_in(line) is None for line in read_lines(root, name))


def _ended_in(line: bytes) -> Ended | None:
    """The session that a line names; a line that is not UTF-8 anywhere names none."""
    try:
        return json_value(line.decode(), Ended)
    except UnicodeDecodeError:
        return None


def _latest(root: str, names: Iterable[str]) -> list[Ended]:
    found: dict[tuple[str, str], Ended] = {}
    for line in read_lines(root, *names):
        item = _ended_in(line)
        if item is None:
            continue
        before = found.get((item.client, item.session))
        if item.session and (before is None or before.at <= item.at):
            summary = item.summary or (before.summary if before else "")
            found[item.client, item.session] = msgspec.structs.replace(item, summary=summary)
    return list(found.values())
