"""Read the commits that led to where we are: who, when, and the message, whatever it is encoded in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from msgspec import Struct

from quire.capture.history.cues import is_bot
from quire.capture.history.messages import Told, told_by
from quire.files.git import Git
from quire.files.git_history import read_blobs
from quire.model.text import plain_newlines

COMMITS_MOST = 50_000
"""So many of the newest commits are looked at."""
_CHUNK = 2_000
_EACH, _TOGETHER = 64 * 1024, 64 * 1024 * 1024
_PERSON = re.compile(r"([^<]*)<([^<>]*)>\s*(-?\d+)")
_REVERTS = re.compile(r"[Tt]his reverts (?:commit|merge request commit) ([0-9a-f]{7,64})")

Tell = Callable[[int, int, str], None]


class PastCommit(Struct, frozen=True, kw_only=True):
    """One commit and what its message tells; the message itself would take too much room."""

    id: str
    parents: tuple[str, ...]
    author: str
    email: str
    day: str
    told: Told | None
    """What its message tells, if it says something."""
    reverted: tuple[str, ...] = ()
    """The beginnings of the ids of the commits that it takes back."""

    @property
    def is_merge(self) -> bool:
        return len(self.parents) > 1


def commit_ids(git: Git, since: str) -> list[str]:
    """The commits up to here, newest first; none before the first one."""
    if git.head() is None:
        return []
    # As a number: git takes a date that it does not understand for today.
    after = [f"--max-age={int(datetime.fromisoformat(f'{since}T00:00:00Z').timestamp())}"] if since else []
    return git.run("rev-list", f"--max-count={COMMITS_MOST}", *after, "HEAD", "--").decode().split()


def read_commits(git: Git, ids: list[str], tell: Tell | None = None) -> Iterator[PastCommit]:
    """Those that people made, in the order of their ids. Messages beyond 64 KiB are left out."""
    for start in range(0, len(ids), _CHUNK):
        part = ids[start : start + _CHUNK]
        found = read_blobs(git, part, each=_EACH, together=_TOGETHER, kind="commit")
        for commit in (_parsed(name, found[name]) for name in part if name in found):
            if commit is not None and not is_bot(commit.author, commit.email):
                yield commit
        if tell is not None:
            tell(start + len(part), len(ids), "Reading the history")


def _parsed(name: str, data: bytes) -> PastCommit | None:
    head, _, message = data.partition(b"\n\n")
    fields: dict[str, list[bytes]] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        fields.setdefault(key.decode("ascii", "replace"), []).append(value)
    named = fields.get("encoding", [b""])[0].decode("ascii", "replace")
    text = plain_newlines(_decoded(message, named))
    person = _PERSON.match(_decoded(fields.get("author", [b""])[0], named))
    if person is None:
        return None
    return PastCommit(
        id=name,
        parents=tuple(value.decode("ascii", "replace") for value in fields.get("parent", [])),
        author=person[1].strip(),
        email=person[2].strip().lower(),
        day=_day(int(person[3])),
        told=told_by(text),
        reverted=tuple(_REVERTS.findall(text)),
    )


def _decoded(data: bytes, named: str) -> str:
    """As UTF-8, else as the commit itself says, else as Latin-1, which reads everything."""
    for encoding in ("utf-8", named):
        try:
            return data.decode(encoding) if encoding else data.decode("latin-1")
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""
