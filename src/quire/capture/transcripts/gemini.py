"""Sessions of the Gemini CLI: recorded chats as lines or as one document, and the conversations a person saved.

A recorded chat is a log of what the program holds: a message is written again whenever it grows, and taken back when
the user goes back. So the file is looked through first, and only what holds at its end is read.
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
    sessions_in,
)
from quire.capture.transcripts.lenient_json import decoded, label, moment, object_in
from quire.capture.transcripts.lines import Tally, lines_of, open_session, read_whole
from quire.capture.transcripts.parser import Parser
from quire.capture.transcripts.places import belongs
from quire.capture.transcripts.types import WHOLE_BYTES, SessionFile, Skipped, Turn
from quire.files.digests import hex_digest
from quire.files.paths import names_in
from quire.model.untyped import as_dict, as_list, as_text

_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_TOLD = ("info", "warning", "error")
_SNAPSHOT = "<state_snapshot>"
"""How the text begins that takes the place of a compacted conversation."""


class GeminiParser(Parser):
    """Messages of recorded chats, and those that the model is sent, which saved conversations hold."""

    def turns(self, record: dict[str, Any]) -> Iterator[Turn]:
        kind = as_text(record.get("type")) or as_text(record.get("role"))
        if not kind:
            self._begin(record)
        elif kind in _TOLD:
            text = _text(record.get("content"))
            yield self.turn("system", text, record.get("timestamp"), is_error=kind == "error")
        elif kind in _ROLES:
            yield from self._message(record, _ROLES[kind])

    def _begin(self, record: dict[str, Any]) -> None:
        self.noted("", record.get("summary"))
        if record.get("kind") == "subagent":
            self._is_subagent = True

    def _message(self, record: dict[str, Any], role: str) -> Iterator[Turn]:
        at = record.get("timestamp")
        content = record.get("parts") if "parts" in record else record.get("displayContent") or record.get("content")
        for answer in _parts(content, "functionResponse"):
            text, failed = _answer(answer.get("response"))
            name, tool = as_text(answer.get("id")), as_text(answer.get("name"))
            yield from self.answered(name, text, at, failed=failed, tool=tool)
        text = _text(content)
        if text.lstrip().startswith(_SNAPSHOT):
            yield self.turn("system", text, at, is_summary=True)
        elif text:
            yield self.turn(role, text, at)
        for call in _parts(content, "functionCall"):
            yield from self._call(call, at)
        for call in map(as_dict, as_list(record.get("toolCalls"))):
            when = call.get("timestamp") or at
            yield from self._call(call, when)
            if call.get("status") in ("success", "error", "cancelled"):
                text, failed = _result_text(call)
                name, tool = as_text(call.get("id")), as_text(call.get("name"))
                yield from self.answered(name, text, when, failed=failed, tool=tool)

    def _call(self, call: dict[str, Any], at: Any) -> Iterator[Turn]:
        name, tool = as_text(call.get("id")), as_text(call.get("name"))
        yield from self.called(name, tool, as_dict(call.get("args")), at)


def _parts(content: Any, key: str) -> Iterator[dict[str, Any]]:
    for part in content if isinstance(content, list) else (content,):
        found = as_dict(as_dict(part).get(key))
        if found:
            yield found


def _text(content: Any) -> str:
    """The texts of a content, which is a text, a part, or a list of both. Thoughts are not said."""
    parts = content if isinstance(content, list) else [content]
    texts = (
        as_text(part) or ("" if as_dict(part).get("thought") else as_text(as_dict(part).get("text"))) for part in parts
    )
    return "\n".join(text for text in texts if text)


def _answer(response: Any) -> tuple[str, bool]:
    told = as_dict(response)
    error = as_text(told.get("error"))
    return (error, True) if error else (as_text(told.get("output")) or as_text(response), False)


def _result_text(call: dict[str, Any]) -> tuple[str, bool]:
    answers = [_answer(part.get("response")) for part in _parts(call.get("result"), "functionResponse")]
    text = "\n".join(text for text, _ in answers if text) or _text(call.get("result"))
    failed = call.get("status") == "error" or any(failed for _, failed in answers)
    return text or as_text(call.get("resultDisplay")), failed


TYPE = "gemini-local"
MESSAGES_MOST = 200_000
_CHATS = "chats"
_HEAD_BYTES = 8_192
_OWNER = ".project_root"
_FIELD = re.compile(r'"(sessionId|projectHash|startTime)"\s*:\s*"([^"\\\n]{1,200})"')
_HASH = re.compile(r"[0-9a-f]{64}")

# -- finding --------------------------------------------------------------------------------------


def sessions(path: str, root: str, skipped: list[Skipped]) -> Iterator[SessionFile]:
    """The sessions of a home folder of Gemini, of its folder of projects, of one project's folder, or of one file."""
    return sessions_in(_candidates(path, root, skipped), lambda found: _session(found, root), skipped)


def _candidates(path: str, root: str, skipped: list[Skipped]) -> Iterator[FoundFile]:
    if not os.path.isdir(path):
        found = file_at(path, skipped)
        if found:
            yield found
        return
    tmp = os.path.join(path, "tmp")
    top = tmp if os.path.isdir(tmp) and not os.path.islink(tmp) else path
    if os.path.basename(top) == _CHATS or os.path.isdir(os.path.join(top, _CHATS)):
        yield from _in_project(top, skipped)
        return
    for project in folders_in(top, skipped):
        if not root or _is_project_of(project, root):
            yield from _in_project(project, skipped)


def _is_project_of(folder: str, root: str) -> bool:
    """Whether a project's folder may be the repository's: it is named by a hash of its path, or says whose it is."""
    name = os.path.basename(folder)
    if _HASH.fullmatch(name):
        return name in (hex_digest(root), hex_digest(os.path.realpath(root)))
    try:
        with open_session(os.path.join(folder, _OWNER)) as stream:
            owner = stream.read(4_096).decode("utf-8", "replace").strip()
    except OSError as error:
        pass_over_unread([], folder, error)
        return True
    return belongs(owner, root)


def _in_project(folder: str, skipped: list[Skipped]) -> Iterator[FoundFile]:
    chats = folder if os.path.basename(folder) == _CHATS else os.path.join(folder, _CHATS)
    recorded = False
    if os.path.isdir(chats) and not os.path.islink(chats):
        for found in files_below(chats, _is_chat, skipped):
            recorded = True
            if not _is_document(found.path):
                yield found
            elif found.size > WHOLE_BYTES:
                pass_over(skipped, found.path, f"it is larger than {WHOLE_BYTES:,} bytes")
            # A chat that is gone on with is copied from a document into lines; then the document is the past.
            elif not os.path.lexists(found.path + "l"):
                yield found
    if chats == folder:
        return
    for path in _saved(folder):
        saved = file_at(path, skipped, most=WHOLE_BYTES)
        if saved:
            yield saved
    # Points to restore hold the whole talk before each change; they matter only where no chat was recorded.
    points = os.path.join(folder, "checkpoints")
    if not recorded and os.path.isdir(points) and not os.path.islink(points):
        yield from files_below(points, _is_document, skipped, most=WHOLE_BYTES)


def _is_chat(name: str) -> bool:
    return name.endswith((".json", ".jsonl"))


def _is_document(name: str) -> bool:
    return name.endswith(".json")


def _saved(folder: str) -> list[str]:
    names = names_in(folder)
    return [os.path.join(folder, name) for name in names if name.startswith("checkpoint") and name.endswith(".json")]


def _session(found: FoundFile, root: str) -> SessionFile | None:
    with open_session(found.path) as stream:
        head = stream.read(_HEAD_BYTES).decode("utf-8", "replace")
    told: dict[str, str] = {}
    for field in _FIELD.finditer(head):
        told.setdefault(field[1], field[2])
    project = told.get("projectHash", "")
    if root and _HASH.fullmatch(project) and project not in (hex_digest(root), hex_digest(os.path.realpath(root))):
        return None
    stem = os.path.basename(found.path).rpartition(".")[0]
    return found.session(TYPE, label(told.get("sessionId")) or stem, moment(told.get("startTime")))


# -- reading --------------------------------------------------------------------------------------


def records(session: SessionFile, tally: Tally) -> Iterator[dict[str, Any]]:
    """The messages that hold at the end of a session, after what is said about it."""
    if session.path.endswith(".jsonl"):
        yield from _live_messages(session.path, tally)
        return
    tally.lines += 1
    try:
        value = decoded(read_whole(session.path, WHOLE_BYTES))
    except ValueError:
        tally.bad_lines += 1
        return
    document = as_dict(value)
    if document:
        yield {name: document[name] for name in ("kind", "summary", "sessionId") if name in document}
    for key in ("messages", "clientHistory", "history"):
        if isinstance(document.get(key), list):
            value = document[key]
            break
    for message in as_list(value):
        if isinstance(message, dict):
            yield message


def _live_messages(path: str, tally: Tally) -> Iterator[dict[str, Any]]:
    """Looked through once for what holds, in order, by its place in the file; then only that is read."""
    live: dict[str, tuple[int, int, int]] = {}
    about: dict[str, Any] = {}
    with open_session(path) as stream:
        for line in lines_of(stream):
            if line.data is not None and not line.data.strip():
                continue
            record = tally.record(line)
            if record is not None:
                about.update(_about(record))
                _apply(record, live, line.start, line.end)
            if len(live) >= MESSAGES_MOST:
                break
    yield about
    # Several messages may stand on one line, which is read once for all of them.
    last_place, last = -1, {}
    with open_session(path) as stream:
        for start, end, number in live.values():
            if start != last_place:
                stream.seek(start)
                # What was readable a moment ago may be overwritten now.
                last_place, last = start, object_in(stream.read(end - start)) or {}
            written = as_list(as_dict(last.get("$set")).get("messages"))
            yield last if number < 0 else as_dict(written[number]) if number < len(written) else {}


def _about(record: dict[str, Any]) -> dict[str, Any]:
    told = as_dict(record.get("$set")) or ({} if "id" in record else record)
    return {name: told[name] for name in ("kind", "summary", "sessionId") if name in told}


def _apply(record: dict[str, Any], live: dict[str, tuple[int, int, int]], start: int, end: int) -> None:
    """What a line changes about which messages hold."""
    back = record.get("$rewindTo")
    written = as_dict(record.get("$set")).get("messages")
    if isinstance(back, str):
        # Everything from that message on; and all of them, where it is not known.
        while live and live.popitem()[0] != back:
            pass
    elif isinstance(written, list):
        live.clear()
        for number, message in enumerate(written):
            live[as_text(as_dict(message).get("id")) or f"{start}.{number}"] = (start, end, number)
    elif isinstance(record.get("id"), str) and "type" in record:
        live[record["id"]] = (start, end, -1)
