"""One kind of file, damaged in one way, and everything that may then be wrong.

The tables say who answers from a kind of file, who need not name what became of it, and why.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from kinds_catalogue import KINDS, Space, read_all
from kinds_damage import BYTES, SHAPES, damaged, put
from kinds_judge import Judged, concerned, glance, judge, survey

__all__ = ["ANEW", "HURTS", "OTHERS", "READ_THROUGH", "UNHEARD", "Trial"]

HURTS: dict[str, set[str]] = {
    "config": {"graph", "facts", "inbox", "notes", "profile", "journal"},
    "facts": {"facts"},
    "notes": {"notes"},
    "profile": {"profile"},
    "private": {"profile"},
    "state": {"journal"},
    "settings": {"journal"},
    "sources": {"journal"},
    "history": {"journal"},
    "inbox": {"inbox"},
    "registry": {"machine"},
}
"""Who answers from a kind of file, and so may say that it cannot, or say something else. Of `config` only another
version stops everything: then the whole memory is another program's."""

READ_THROUGH = {"times of reading", "readings", "index", "run lock", "profile lock", "hook lock", "pages due"}
"""What reading itself writes to."""

UNHEARD: dict[str, str] = {
    "sync marker": "without one everything is verified, as in a first sync",
    "edits kept": "copies for a person; nothing reads them",
    "git rules": "they are git's to read; what is missing in them is told where git is",
    "own ignore": "written anew whenever something is kept beside it",
    "times of reading": "counts for nothing but an order",
    "readings": "counts for nothing but an order",
    "notes": "text of a person, shown as it is",
    "notes done": "text of a person, shown as it is",
    "session": "set aside, and begun anew, by the next word of its session",
    "compaction": "copies for a person; nothing reads them",
    "profile backup": "a copy for a person; nothing reads it",
    "migrated": "a copy for a person; nothing reads it",
    "profile lock": "its content means nothing",
    "run lock": "its content means nothing",
    "hook lock": "its content means nothing",
    "runs": "what ran last on this machine; a line that cannot be read is passed over",
    "latest run": "what ran last on this machine",
    "keeper": "what a process says of itself; one that cannot be read says nothing",
    "log of the keeper": "text, shown as it is",
    "log of hooks": "text, shown as it is",
    "spool": "told by who reads it next: see `test_a_pointer_that_was_cut_off`",
    "ingested": "which state of the documents was taken in; without it they are read again, and nothing changes",
    "collected": "how far sessions were read; without it they are read again, and what they say is known",
    "receipts": "what was handed over; a line that cannot be read is passed over",
    "reviewed": "what a person has looked at; a line that cannot be read counts for nothing",
    "imports": "how far sessions were read; told by `journal validate`",
    "transcript": "the client's own; told by who reads it",
    "note of wiring": "without it, what was replaced is not put back",
    "client's JSON": "the user's own; who wires it says that it cannot be read",
    "client's TOML": "the user's own; who wires it says that it cannot be read",
    "client's text": "the user's own text",
    "page": "text made from the state; validate says that it differs",
    "map": "text of the user with a section of ours",
    "body": "text; check says that it was edited",
    "index": "made again",
    "agreed sources": "a source that is not agreed to is not read, and naming it again says why",
    "profile at home": "named by who needs it, as `~/…`",
}
"""Kinds that no check has to name, and why that does no harm. All others are named, or mean what they meant."""

HARMLESS = {
    ("events", "empty"),
    ("events", "long number"),
    ("events", "large exponent"),
    ("facts", "empty"),
    ("facts", "blank"),
    ("inbox", "empty"),
    ("inbox", "blank"),
    ("forgotten", "blank"),
    ("forgotten", "empty"),
    ("history", "empty"),
    ("providers", "dangling link"),
    ("spending", "dangling link"),
    ("schema", "other types"),
    ("schema", "other types below"),
}
"""Nothing that anybody could object to: a log without lines is one, a field of others may hold any number, and what a
schema says is not ours to judge."""

ANEW = {
    *("index", "run lock", "profile lock", "hook lock", "own ignore", "page", "map", "latest run", "keeper", "runs"),
    *("pages due", "git rules", "sync marker", "readings", "times of reading", "note of wiring"),
}
"""What is made from other files, or means something only for a moment, and so may be written anew."""

OTHERS = {
    *("client's JSON", "client's TOML", "client's text", "note of wiring", "record at home"),
    *("providers", "spending"),
}
"""Files in a user's home, or of other programs: where they are links, that is how the user keeps them."""


class Trial:
    """One kind, damaged in one way."""

    def __init__(self, space: Space, kind: str, damage: str = "", data: bytes | None = None) -> None:
        self.space, self.kind, self.damage, self.data = space, kind, damage, data
        self.told = KINDS[kind]
        self.path = space.path(kind)
        self.outside = Path(space.folder).with_name("outside")

    def begin(self) -> bool:
        """Do the damage, if it is one for such a file."""
        self.space.restore()
        self.outside.unlink(missing_ok=True)
        whole = self.space.whole[self.space.paths[self.kind]]
        if self.data is not None:
            put(self.path, self.data)
        elif self.damage in BYTES:
            data = damaged(self.damage, whole, self.told.form, self.told.version)
            if data is None:
                return False
            put(self.path, data)
        else:
            SHAPES[self.damage](self.path, str(self.outside))
        return True

    def look(self) -> bytes:
        """What is there now, and of which kind it is."""
        if not os.path.lexists(self.path):
            return b"nothing"
        found = os.lstat(self.path)
        if not stat.S_ISREG(found.st_mode):
            return stat.filemode(found.st_mode)[:1].encode()
        return Path(self.path).read_bytes() if found.st_size < 1 << 22 else f"{found.st_size} bytes".encode()

    def wrong(self) -> Iterator[str]:
        """Everything that is not as promised."""
        reading, writing = concerned(self.told.place)
        before, far = self.look(), self._far()
        is_harmless = self._is_harmless()
        found = judge(self.space, reading)
        yield from self._of_verbs(found)
        if self.look() != before and self.kind not in READ_THROUGH:
            yield "reading changed it"
        if not is_harmless and not found.names(self._shown()):
            yield f"nobody names {self._shown()}, and it means something else"
        lost = survey(self.space)
        yield from (f"{name} suffers: {said}" for name, said in lost.items() if name not in HURTS.get(self.kind, ()))
        yield from self._of_verbs(judge(self.space, writing))
        if self._far() != far and not (self.kind in OTHERS or self.damage == "hard link"):
            yield "what lies outside was changed"
        if self.damage == "newer":
            if self.look() != before:
                yield "a newer one was written to"
        elif self.damage != "gone" and not (is_harmless and self._is_readable()) and not self._is_kept(before):
            yield "what could not be read is gone"

    def wrong_at_a_glance(self, *, is_read: bool = True) -> Iterator[str]:
        """The same by a few verbs that read, for damages that are many; `is_read` where it has to be found."""
        before = self.look()
        found = judge(self.space, glance(self.told.place))
        yield from self._of_verbs(found)
        if self.look() != before and self.kind not in READ_THROUGH:
            yield "reading changed it"
        if is_read and not found.names(self._shown()) and not self._is_harmless():
            yield f"nobody names {self._shown()}, and it means something else"
        lost = survey(self.space, set(HURTS.get(self.kind, ())))
        yield from (f"{name} suffers: {said}" for name, said in lost.items())

    def _of_verbs(self, found: Judged) -> Iterator[str]:
        yield from (f"{name} crashed: {said}" for name, said in found.crashed.items())

    def _is_harmless(self) -> bool:
        """It need not be named: by its kind, or because everything means what it meant."""
        if self.kind in UNHEARD or self.damage in ("gone", "hard link", "windows line ends"):
            return True
        if (self.kind, self.damage) in HARMLESS:
            return True
        return self.space.asked(self.told.place) == self.space.means(self.told.place)

    def _is_readable(self) -> bool:
        """Nothing in it was passed over: who writes it anew may leave out what is nobody's."""
        return self.kind not in UNHEARD or self.damage in ("long number", "large exponent", "other types below")

    def _shown(self) -> str:
        """How it is called by who names it."""
        shown = self.space.paths[self.kind].partition("/")[2]
        if "/archive/prune-" in shown:
            return shown.split("/archive/")[0] + "/archive/" + shown.split("/archive/")[1].split("/")[0]
        return os.path.basename(shown) if self.told.place in ("machine", "wiring") else shown

    def _far(self) -> bytes | None:
        return self.outside.read_bytes() if self.outside.exists() else None

    def _is_kept(self, before: bytes) -> bool:
        """Still there, or with more behind it, or beside its place."""
        now = self.look()
        if self.damage == "huge" and now.endswith(b" bytes"):
            return int(now.split()[0]) >= int(before.split()[0])
        if self.damage in (*SHAPES, "huge") and os.path.lexists(f"{self.path}.damaged"):
            return True
        # A record that is a link is no record of ours: a repository brought it, and it would lead to any file.
        if self.kind == "record of wiring" and self.damage in ("link out", "dangling link"):
            return True
        if now == before or self.kind in ANEW or (self.kind in OTHERS and self.damage == "link out"):
            return True
        # The same content in a plain file is written to as ever; empty bytes are kept in all others.
        if self.damage in ("hard link", "byte order mark", "windows line ends", "empty", "blank", "key twice"):
            return True
        rest = before.rstrip(b"\n")
        return now.startswith(rest) or any(data.startswith(rest) for data in read_all(self.space.folder).values())
