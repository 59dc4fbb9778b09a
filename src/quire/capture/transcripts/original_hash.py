"""The hashes by which the original program knew a transcript, so that none is imported twice.

It hashed a text: every record in canonical form, then the first texts that stand in them, of Codex the name of the
thread; of all that not more than a certain length. A session may have grown since it was imported, so every beginning
of the file is hashed that it may have consisted of.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from quire.capture.transcripts.lenient_json import object_in
from quire.capture.transcripts.lines import lines_of, open_session
from quire.capture.transcripts.types import SessionFile
from quire.files.freshness import stamp_of
from quire.layers.journal.canonical import canonical_text, content_hash, decode_json
from quire.model.untyped import as_dict, as_text

MOST_BYTES = 8 * 1024 * 1024
"""Of a larger file this much is read, where so much is needed at all."""
_CODEX = "codex-local"
_TYPES = ("claude-local", _CODEX)
_UNITS = 16_000
_CUT_MARK = "...[truncated]"
_SNIPPETS = 32
_BEGINNINGS = 500
"""So many beginnings are hashed, and the whole. Only a file of very short records has more."""
_INDEX = "session_index.jsonl"
_INDEXED = ("archived_sessions", "sessions")
_INDEX_ABOVE = 8
"""A folder is looked for at most this far above a session."""
_INDEX_LINE_BYTES = 64 * 1024
_NAMINGS = 16
# What JavaScript trims. Python's own notion of space is wider in one place and narrower in another.
_SPACE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANKS = re.compile(r"[ \t]+")
_PLACE = re.compile(r"0|[1-9][0-9]{0,9}")
_PLACE_MOST = 2**32 - 2


def original_content_hashes(session: SessionFile, *, most_bytes: int = MOST_BYTES) -> dict[str, int]:
    """The hashes that a session has or had, each with the offset where the shortest beginning that has it ends.

    The original program saw nothing behind that offset, even where the file was longer already. A file that cannot be
    read has no hash; a line that is no JSON has none either, nor has what follows it.
    """
    found: dict[str, int] = {}
    if session.source_type not in _TYPES:
        return found
    talk = _Talk(thread=os.path.basename(session.path).partition(".jsonl")[0])
    try:
        names = _names_of(session)
        for count, (record, end) in enumerate(_records(session.path, most_bytes), start=1):
            talk.add(record, end)
            if count <= _BEGINNINGS:
                _note(found, talk, names)
            if talk.units >= _UNITS:
                # Whatever follows is cut off, so it changes nothing.
                break
        _note(found, talk, names)
    except (OSError, ValueError):
        # A path that no file can have is a ValueError.
        return found
    return found


class _Talk(Struct):
    """What was read so far, and where it ends."""

    thread: str
    """The first id that a record gives; until then the name of the file."""
    is_named: bool = False
    text: str = ""
    units: int = 0
    snippets: dict[str, str] = field(default_factory=dict)
    """The first texts, each with how it is written."""
    end: int = 0

    def add(self, record: Any, end: int) -> None:
        text = _tidy(canonical_text(record))
        self.text = f"{self.text}\n{text}" if self.text else text
        self.units = len(_utf16(self.text)) // 2
        self.end = end
        if not self.is_named and (thread := as_text(as_dict(as_dict(record).get("payload")).get("id"))):
            self.thread, self.is_named = thread, True
        if len(self.snippets) < _SNIPPETS:
            for snippet in _texts(record):
                self.snippets.setdefault(snippet, _tidy(snippet))
                if len(self.snippets) == _SNIPPETS:
                    break

    def payload(self, naming: str) -> str:
        snippets = "\n".join(self.snippets.values())
        text = f"{self.text}\n\nTEXT_SNIPPETS:\n{snippets}{naming}".strip(_SPACE)
        units = _utf16(text)
        if len(units) <= _UNITS * 2:
            return text
        # The cut may go through a character: half of it stays, as JavaScript has it.
        return units[: _UNITS * 2].decode("utf-16-le", "surrogatepass") + _CUT_MARK


def _note(found: dict[str, int], talk: _Talk, names: dict[str, tuple[str, ...]]) -> None:
    if not talk.snippets:
        return
    # Whether the thread had its name when it was imported, and which one, nobody knows any more.
    for naming in ("", *names.get(talk.thread, ())):
        found.setdefault(content_hash({"payload": talk.payload(naming)}), talk.end)


def _records(path: str, most_bytes: int) -> Iterator[tuple[Any, int]]:
    """What stands on the lines up to the first one that is no JSON, and where each line ends."""
    with open_session(path) as stream:
        for line in lines_of(stream, most=most_bytes):
            if line.data is None or line.end > most_bytes:
                return
            text = line.data.decode("utf-8", "replace").strip(_SPACE)
            if not text:
                continue
            try:
                record = decode_json(text.encode("utf-8"))
            except ValueError:
                return
            yield record, line.end


def _texts(value: Any) -> Iterator[str]:
    """All texts within a value, in the order in which JavaScript goes through it."""
    if isinstance(value, str):
        if text := value.strip(_SPACE):
            yield text
    elif isinstance(value, dict):
        for key in sorted(value, key=_place):
            yield from _texts(value[key])
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _place(key: str) -> int:
    """Keys that look like places of an array come first there, by their number; the others stay as they were."""
    place = int(key) if _PLACE.fullmatch(key) else _PLACE_MOST + 1
    return min(place, _PLACE_MOST + 1)


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip(_SPACE) for line in _BLANKS.sub(" ", text).split("\n"))


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


# -- the names of threads -------------------------------------------------------------------------


def _names_of(session: SessionFile) -> dict[str, tuple[str, ...]]:
    """What the index beside the sessions adds to each of them, by their ids."""
    for path in _indexes(session.path) if session.source_type == _CODEX else ():
        try:
            return _namings(path, stamp_of(os.lstat(path)))
        except OSError:
            continue
    return {}


def _indexes(path: str) -> Iterator[str]:
    """Where an index of a session can lie: beside the folder of all sessions."""
    folder = os.path.dirname(path)
    for _ in range(_INDEX_ABOVE):
        above, name = os.path.split(folder)
        if name in _INDEXED:
            yield os.path.join(above, _INDEX)
        folder = above


@functools.lru_cache(maxsize=4)
def _namings(path: str, _stamp: str) -> dict[str, tuple[str, ...]]:
    """All that an index says or said of each thread: it is only appended to. Read once for all its sessions."""
    found: dict[str, list[str]] = {}
    with open_session(path) as stream:
        for line in lines_of(stream, most=_INDEX_LINE_BYTES):
            if line.end > MOST_BYTES:
                break
            record = object_in(line.data) or {}
            told = {"THREAD_NAME": as_text(record.get("thread_name")), "UPDATED_AT": as_text(record.get("updated_at"))}
            lines = [_tidy(f"{name}: {text}") for name, text in told.items() if text]
            thread = as_text(record.get("id"))
            if thread and lines:
                found.setdefault(thread, []).append("\n".join(("\n\nEXTRA:", *lines)))
    # The newest are the likeliest.
    return {thread: tuple(dict.fromkeys(reversed(told)))[:_NAMINGS] for thread, told in found.items()}
