"""Sessions of Codex: one line per item with a time, a type and a payload; older ones have the items alone.

What is said stands there twice, as an event and as an item of the model's history; it is taken once.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from quire.capture.message import text_of
from quire.capture.transcripts.file_walk import (
    FoundFile,
    file_at,
    files_at,
    pass_over,
    pass_over_unread,
    sessions_in,
)
from quire.capture.transcripts.lenient_json import label, moment, object_in
from quire.capture.transcripts.lines import COMPRESSED, can_unpack, first_records, lines_of, open_session
from quire.capture.transcripts.parser import Parser
from quire.capture.transcripts.places import belongs
from quire.capture.transcripts.tools import arguments_of, failed_by_code
from quire.capture.transcripts.types import SessionFile, Skipped, Turn
from quire.model.untyped import as_dict, as_text

TYPE = "codex-local"
_SUFFIX = ".jsonl"
_INDEX = "session_index.jsonl"
_NAMES_MOST = 100_000
_RECENT = 32
"""So many texts are remembered until their second copy comes."""
_ID = re.compile(r"([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$", re.I)
_CWD = re.compile(r"<cwd>([^<\n]{1,1024})</cwd>|Current working directory: ([^\n]{1,1024})")
_WHAT = {"user_message": "user", "agent_message": "assistant"}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "mcp_call", "web_search_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output", "mcp_call_output")

# -- finding --------------------------------------------------------------------------------------


def sessions(path: str, root: str, skipped: list[Skipped]) -> Iterator[SessionFile]:
    """The sessions of a home folder of Codex, of any folder of them, or of one file."""
    names: dict[str, str] = {}
    if os.path.isdir(path):
        names = _thread_names(path, skipped)
    files = _readable(_candidates(path, skipped), skipped)
    return sessions_in(files, lambda found: _session(found, root, names), skipped)


def _readable(files: Iterable[FoundFile], skipped: list[Skipped]) -> Iterator[FoundFile]:
    """Those that are not packed, or that can be unpacked."""
    for found in files:
        if found.path.endswith(COMPRESSED):
            if os.path.lexists(found.path.removesuffix(COMPRESSED)):
                continue
            if not can_unpack():
                pass_over(skipped, found.path, "it is compressed, and no reader of zstd is installed")
                continue
        yield found


def _candidates(path: str, skipped: list[Skipped]) -> Iterator[FoundFile]:
    folders = [folder for name in ("archived_sessions", "sessions") if _is_folder(folder := os.path.join(path, name))]
    for folder in folders or [path]:
        yield from files_at(folder, _is_wanted, skipped)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_wanted(name: str) -> bool:
    return name.removesuffix(COMPRESSED).endswith(_SUFFIX) and name != _INDEX


def _thread_names(path: str, skipped: list[Skipped]) -> dict[str, str]:
    """The names of threads by their ids. The index only grows: the last name is the one that holds."""
    index = os.path.join(path, _INDEX)
    names: dict[str, str] = {}
    if not os.path.lexists(index) or not file_at(index, skipped):
        return names
    try:
        with open_session(index) as stream:
            for line in lines_of(stream):
                record = object_in(line.data) or {}
                name, thread = label(record.get("thread_name")), as_text(record.get("id"))
                if name and thread and (thread in names or len(names) < _NAMES_MOST):
                    names[thread] = name
    except OSError as error:
        pass_over_unread(skipped, index, error)
    return names


def _session(found: FoundFile, root: str, names: dict[str, str]) -> SessionFile | None:
    stem = os.path.basename(found.path).removesuffix(COMPRESSED).removesuffix(_SUFFIX)
    name = cwd = at = ""
    for record in first_records(found.path):
        at = at or moment(record.get("timestamp"))
        meta = _meta(record)
        name = name or as_text(meta.get("id")) or as_text(meta.get("session_id"))
        cwd = cwd or as_text(meta.get("cwd")) or _cwd_in(record)
        if name and cwd and at:
            break
    if root and cwd and not belongs(cwd, root):
        return None
    told = _ID.search(stem)
    name = label(name) or (told[1] if told else stem)
    return found.session(TYPE, name, at, names.get(name, ""))


def _meta(record: dict[str, Any]) -> dict[str, Any]:
    """What a line says about its session. In the oldest files it is a first line without a type."""
    if record.get("type") == "session_meta":
        meta = as_dict(record.get("payload"))
        return {**as_dict(meta.get("meta")), **meta}
    return record if "type" not in record and "record_type" not in record and "id" in record else {}


def _cwd_in(record: dict[str, Any]) -> str:
    """The folder as the model was told it, where nothing else names it."""
    item = as_dict(record.get("payload")) or record
    if record.get("type") == "turn_context":
        return as_text(item.get("cwd"))
    found = _CWD.search(text_of(item.get("content"))) if item.get("type") == "message" else None
    return (found[1] or found[2]).strip() if found else ""


# -- reading --------------------------------------------------------------------------------------


class CodexParser(Parser):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._known: deque[tuple[str, int, str]] = deque(maxlen=_RECENT)
        """What was said lately as one of the two copies: by whom, what its text comes to, as which."""

    def turns(self, record: dict[str, Any]) -> Iterator[Turn]:
        kind, at = as_text(record.get("type")), record.get("timestamp")
        payload = as_dict(record.get("payload"))
        meta = _meta(record)
        if meta:
            self._begin(meta)
        elif kind == "turn_context":
            self.noted(payload.get("cwd"))
        elif kind == "compacted":
            yield self.turn("system", as_text(payload.get("message")), at, is_summary=True)
        elif kind == "event_msg":
            yield from self._event(payload, at)
        elif kind == "response_item":
            yield from self._item(payload, at)
        elif not payload:
            yield from self._item(record, at)

    def _begin(self, meta: dict[str, Any]) -> None:
        self.noted(meta.get("cwd"))
        source = meta.get("source")
        if meta.get("thread_source") == "subagent" or source == "subagent" or "subagent" in as_dict(source):
            self._is_subagent = True

    def _event(self, payload: dict[str, Any], at: Any) -> Iterator[Turn]:
        kind = as_text(payload.get("type"))
        if kind in _WHAT:
            yield from self._said(_WHAT[kind], as_text(payload.get("message")), at, "event")
        elif kind == "error":
            yield Turn(role="system", text=as_text(payload.get("message")), at=moment(at), is_error=True)

    def _item(self, item: dict[str, Any], at: Any) -> Iterator[Turn]:
        kind = as_text(item.get("type"))
        if kind == "message":
            yield from self._message(item, at)
        elif kind in _CALLS:
            yield from self._call(item, kind, at)
        elif kind in _ANSWERS:
            text, failed = _answer(item.get("output"))
            yield from self.answered(as_text(item.get("call_id")), text, at, failed=failed)

    def _message(self, item: dict[str, Any], at: Any) -> Iterator[Turn]:
        content = item.get("content")
        role = as_text(item.get("role"))
        if not role:
            first = as_dict(content[0]) if isinstance(content, list) and content else {}
            role = "assistant" if first.get("type") == "output_text" else "user"
        # What developers and systems say is how the program instructs its model.
        if role in ("user", "assistant"):
            yield from self._said(role, text_of(content), at, "item")

    def _said(self, role: str, text: str, at: Any, copy: str) -> Iterator[Turn]:
        text = text.strip()
        other = (role, hash(text), "item" if copy == "event" else "event")
        if other in self._known:
            self._known.remove(other)
        elif text:
            self._known.append((role, hash(text), copy))
            yield self.turn(role, text, at)

    def _call(self, item: dict[str, Any], kind: str, at: Any) -> Iterator[Turn]:
        tool = as_text(item.get("name")) or kind.removesuffix("_call")
        if kind in ("local_shell_call", "web_search_call"):
            arguments = as_dict(item.get("action"))
        else:
            arguments = arguments_of(item.get("arguments", item.get("input")))
        script = as_text(arguments.get("script"))
        if "*** Begin Patch" in script[:200]:
            arguments = {"patch": script}
        space = as_text(item.get("namespace"))
        tool = f"{space}__{tool}" if space else tool
        yield from self.called(as_text(item.get("call_id")), tool, arguments, at)


def _answer(output: Any) -> tuple[str, bool]:
    """What a tool answered, and whether it failed. Some answers are JSON within a text."""
    if isinstance(output, str) and output.startswith("{"):
        inner = object_in(output.encode("utf-8", "replace"))
        if inner and isinstance(inner.get("output"), str):
            output = inner
    if isinstance(output, dict):
        code = as_dict(output.get("metadata")).get("exit_code", 0)
        text = as_text(output.get("output")) or text_of(output.get("content"))
        return text, output.get("success") is False or code not in (0, None)
    text = text_of(output)
    return text, failed_by_code(text)
