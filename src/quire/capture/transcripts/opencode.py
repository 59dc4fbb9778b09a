"""Sessions of opencode: a file about each session, one per message, and one per part of a message.

Since 1.2 they are rows of a database instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from quire.capture.transcripts.file_walk import (
    FoundFile,
    file_at,
    files_below,
    folders_in,
    pass_over,
    pass_over_unread,
)
from quire.capture.transcripts.lenient_json import label, moment, object_in
from quire.capture.transcripts.lines import Tally, read_whole
from quire.capture.transcripts.parser import Parser
from quire.capture.transcripts.places import belongs
from quire.capture.transcripts.types import SessionFile, Skipped, Turn
from quire.model.untyped import as_dict, as_list, as_text

TYPE = "opencode-local"
PIECE_BYTES = 16 * 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_DATABASE = "opencode.db"
_DATABASE_SUFFIX = ".db"


def is_database(path: str) -> bool:
    """Whether a path is called like a database, which holds many sessions."""
    return path.endswith(_DATABASE_SUFFIX)


def is_name(text: str) -> bool:
    """Whether a text can be the id of a session, a message or a part."""
    return _NAME.fullmatch(text) is not None


# -- finding --------------------------------------------------------------------------------------


def sessions(path: str, root: str, skipped: list[Skipped]) -> Iterator[SessionFile]:
    """The sessions of opencode's data folder, or of the storage in it, or of its database, or of one session's file."""
    if os.path.isdir(path):
        yield from _sessions_in(path, root, skipped)
    elif is_database(path):
        from quire.capture.transcripts.opencode_database import database_sessions

        yield from database_sessions(path, root, skipped)
    else:
        found = file_at(path, skipped, most=PIECE_BYTES)
        session = _session(found, root, skipped) if found else None
        if session:
            yield session


def _sessions_in(folder: str, root: str, skipped: list[Skipped]) -> Iterator[SessionFile]:
    inner = os.path.join(folder, "storage")
    storage = inner if os.path.isdir(inner) and not os.path.islink(inner) else folder
    database, known = os.path.join(folder, _DATABASE), set()
    if os.path.lexists(database):
        from quire.capture.transcripts.opencode_database import database_sessions

        for session in database_sessions(database, root, skipped):
            known.add(session.external_id)
            yield session
    top = os.path.join(storage, "session")
    for project in folders_in(top, skipped) if os.path.isdir(top) and not os.path.islink(top) else ():
        for found in files_below(project, _is_wanted, skipped, most=PIECE_BYTES):
            told = _session(found, root, skipped)
            # The program took its files over into the database and writes them no more.
            if told and told.external_id not in known:
                yield told


def _is_wanted(name: str) -> bool:
    return name.endswith(".json")


def _session(found: FoundFile, root: str, skipped: list[Skipped]) -> SessionFile | None:
    about = _document(found.path) or {}
    name = as_text(about.get("id"))
    if not is_name(name):
        pass_over(skipped, found.path, "it is not about a session")
        return None
    folder = as_text(about.get("directory"))
    if root and folder and not belongs(folder, root):
        return None
    return SessionFile(
        source_type=TYPE,
        external_id=name,
        path=found.path,
        started_at=moment(as_dict(about.get("time")).get("created")),
        title=label(about.get("title")),
        stamp=_stamp(found, name),
    )


def _storage(path: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(path)))


def _stamp(found: FoundFile, name: str) -> str:
    """Of the file and of the folders that grow: a new message or part need not touch the file about the session."""
    messages = os.path.join(_storage(found.path), "message", name)
    times = [_changed(messages)]
    last = max(_names(messages), default="")
    if last:
        times.append(_changed(os.path.join(_storage(found.path), "part", last)))
    return ".".join([found.stamp, *map(str, times)])


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _names(folder: str) -> list[str]:
    """The ids in a folder, which sort by time."""
    if os.path.islink(folder):
        return []
    try:
        listed = os.listdir(folder)
    except OSError as error:
        pass_over_unread([], folder, error)
        return []
    stems = (name.removesuffix(".json") for name in listed if name.endswith(".json"))
    return sorted(stem for stem in stems if is_name(stem))


# -- reading --------------------------------------------------------------------------------------


def records(session: SessionFile, tally: Tally) -> Iterator[dict[str, Any]]:
    """What is reported about the session, then each message with its parts."""
    if is_database(session.path):
        from quire.capture.transcripts.opencode_database import database_records

        yield from database_records(session, tally)
        return
    storage = _storage(session.path)
    yield tally.piece(_document(session.path))
    folder = os.path.join(storage, "message", session.external_id.partition("@")[0])
    for name in _names(folder):
        message = tally.piece(_document(os.path.join(folder, f"{name}.json")))
        parts = os.path.join(storage, "part", name)
        if message:
            pieces = (tally.piece(_document(os.path.join(parts, f"{part}.json"))) for part in _names(parts))
            yield {"message": message, "parts": [piece for piece in pieces if piece]}


def _document(path: str) -> dict[str, Any] | None:
    try:
        return object_in(read_whole(path, PIECE_BYTES))
    except OSError as error:
        pass_over_unread([], path, error)
        return None


class OpencodeParser(Parser):
    def turns(self, record: dict[str, Any]) -> Iterator[Turn]:
        message = as_dict(record.get("message"))
        if not message:
            self.noted(record.get("directory"), record.get("title"))
            if as_text(record.get("parentID")):
                self._is_subagent = True
            return
        at = as_dict(message.get("time")).get("created")
        self.noted(as_dict(message.get("path")).get("cwd"))
        parts = [as_dict(part) for part in as_list(record.get("parts"))]
        if message.get("role") == "user":
            yield from self._asked(parts, at)
        elif message.get("role") == "assistant":
            is_summary = message.get("summary") is True
            for part in parts:
                yield from self._part(part, at, is_summary=is_summary)
            error = as_dict(message.get("error"))
            said = as_text(as_dict(error.get("data")).get("message")) or as_text(error.get("name"))
            if said:
                yield self.turn("system", said, at, is_error=True)

    def _asked(self, parts: list[dict[str, Any]], at: Any) -> Iterator[Turn]:
        texts = [as_text(part.get("text")) for part in parts if part.get("type") == "text" and not _is_added(part)]
        files = [as_text(as_dict(part.get("source")).get("path")) for part in parts if part.get("type") == "file"]
        if any(texts):
            yield self.turn("user", "\n".join(filter(None, texts)), at, paths=tuple(filter(None, files)))

    def _part(self, part: dict[str, Any], at: Any, *, is_summary: bool) -> Iterator[Turn]:
        kind = part.get("type")
        if kind == "text" and not _is_added(part):
            role = "system" if is_summary else "assistant"
            yield self.turn(role, as_text(part.get("text")), at, is_summary=is_summary)
        elif kind == "tool":
            state, name = as_dict(part.get("state")), as_text(part.get("callID"))
            when = as_dict(state.get("time")).get("start") or at
            tool = as_text(part.get("tool"))
            yield from self.called(name, tool, as_dict(state.get("input")), when)
            if state.get("status") in ("completed", "error"):
                failed = state.get("status") == "error"
                text = as_text(state.get("error" if failed else "output"))
                yield from self.answered(name, text, when, failed=failed, tool=tool)


def _is_added(part: dict[str, Any]) -> bool:
    """Whether the program wrote a text itself, or does not send it to the model."""
    return part.get("synthetic") is True or part.get("ignored") is True
