"""Sessions of Claude Code: one line per message, with the lines of its subagents, its titles and its compactions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from quire.capture.message import Message, text_of, tool_calls, tool_results
from quire.capture.transcripts.file_walk import (
    FoundFile,
    file_at,
    files_below,
    folders_in,
    pass_over,
    pass_over_unread,
    sessions_in,
)
from quire.capture.transcripts.lenient_json import label, moment
from quire.capture.transcripts.lines import first_records
from quire.capture.transcripts.parser import Parser
from quire.capture.transcripts.places import belongs
from quire.capture.transcripts.types import Known, SessionFile, Skipped, Turn
from quire.model.untyped import as_dict, as_text

TYPE = "claude-local"
_SUFFIX = ".jsonl"
_HISTORY = "history.jsonl"
_ENCODED_CHARS = 200
"""A longer folder name is cut there, and a hash follows."""
_ENCODED = re.compile(r"-|[A-Za-z]--")
"""How the name of a folder begins that stands for an absolute path."""
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "tool": "tool", "system": "system"}
_SUBAGENTS = f"{os.sep}subagents{os.sep}"

# -- finding --------------------------------------------------------------------------------------


def sessions(path: str, root: str, skipped: list[Skipped], known: Known = frozenset()) -> Iterator[SessionFile]:
    """The sessions of a home folder of Claude, of one project's folder in it, or of one file.

    Those that are `known` by their name and their stamp are not opened.
    """
    for found, is_sure in _candidates(path, root, skipped):
        yield from sessions_in([found], partial(_session, root=root, is_sure=is_sure, known=known), skipped)


def _candidates(path: str, root: str, skipped: list[Skipped]) -> Iterator[tuple[FoundFile, bool]]:
    """The files, and whether the folder they lie in says that they belong to the repository."""
    if not os.path.isdir(path):
        found = file_at(path, skipped)
        if found:
            yield found, True
        return
    history, projects, transcripts = (os.path.join(path, name) for name in (_HISTORY, "projects", "transcripts"))
    if not any(map(os.path.lexists, (history, projects, transcripts))):
        for found in files_below(path, _is_wanted, skipped):
            yield found, True
        return
    if os.path.lexists(history) and (found := file_at(history, skipped)):
        yield found, True
    for folder in _real(projects, skipped):
        for project in folders_in(folder, skipped):
            match = _folder_matches(project, root)
            if match is not None:
                for found in files_below(project, _is_wanted, skipped):
                    yield found, match
    for folder in _real(transcripts, skipped):
        for found in files_below(folder, _is_wanted, skipped):
            yield found, True


def _real(folder: str, skipped: list[Skipped]) -> Iterator[str]:
    if os.path.islink(folder):
        pass_over(skipped, folder, "it is a symbolic link")
    elif os.path.isdir(folder):
        yield folder


def _is_wanted(name: str) -> bool:
    return name.endswith(_SUFFIX)


def encoded_folder(path: str) -> str:
    """The name that a project's folder has in Claude's home."""
    # Every UTF-16 unit counts by itself.
    return re.sub(r"[^a-zA-Z0-9]", lambda found: "-" if found[0] < "\U00010000" else "--", path)


def _folder_matches(folder: str, root: str) -> bool | None:
    """Whether a project's folder is the repository's: True or, where only the sessions can tell, False; None if not."""
    if not root:
        return True
    name, unsure = os.path.basename(folder), None
    for top in (root, os.path.realpath(root)):
        code = encoded_folder(top)
        if name == code:
            return True
        # A folder below the repository, or one beside it whose name begins like it; or a name that was cut.
        if name.startswith(f"{code}-") or (len(code) > _ENCODED_CHARS and name.startswith(code[:_ENCODED_CHARS])):
            unsure = False
    return False if unsure is None and _is_told_inside(folder, root) else unsure


def _is_told_inside(folder: str, root: str) -> bool:
    """Whether a folder whose name says something else may hold sessions of the repository, by what they say.

    Where the name is the client's for another folder, the first session speaks for all; else each is asked.
    """
    if not _ENCODED.match(os.path.basename(folder)):
        return True
    first = next(files_below(folder, _is_wanted, []), None)
    try:
        return first is not None and _session(first, root, is_sure=False) is not None
    except OSError as error:
        pass_over_unread([], folder, error)
        return False


def _session(found: FoundFile, root: str, is_sure: bool, known: Known = frozenset()) -> SessionFile | None:
    """What the beginning of a file tells about its session; None where it ran somewhere else."""
    stem = os.path.basename(found.path).removesuffix(_SUFFIX)
    if (stem, found.stamp) in known:
        return found.session(TYPE, stem)
    cwd = at = title = ""
    for record in first_records(found.path):
        cwd = cwd or as_text(record.get("cwd"))
        at = at or moment(record.get("timestamp"))
        title = _title(record) or title
        if cwd and at:
            break
    if root and (not belongs(cwd, root) if cwd else not is_sure):
        return None
    return found.session(TYPE, stem, at, title)


def _title(record: dict[str, Any]) -> str:
    return label(record.get(_TITLES.get(as_text(record.get("type")), "")))


# -- reading --------------------------------------------------------------------------------------


class ClaudeParser(Parser):
    """Messages as Claude Code writes them, plain ones with a role and a content, and the list of what was typed."""

    def turns(self, record: dict[str, Any]) -> Iterator[Turn]:
        self.noted(record.get("cwd"), _title(record))
        kind = as_text(record.get("type"))
        self._is_subagent = record.get("isSidechain") is True or _SUBAGENTS in self.session.path
        if "display" in record and not kind:
            yield from self._typed(record)
        elif record.get("isMeta") is True:
            return
        elif kind in ("tool_use", "tool_result"):
            yield from self._plain_tool(record, kind)
        elif kind == "attachment":
            yield from self._attached(record)
        elif kind == "system":
            yield from self._told(record)
        else:
            message = as_dict(record.get("message")) or record
            role = _ROLES.get(kind) or ("" if kind else _ROLES.get(as_text(message.get("role")), ""))
            if role:
                yield from self._message(record, message, role)

    def _message(self, record: dict[str, Any], raw: dict[str, Any], role: str) -> Iterator[Turn]:
        at, text = record.get("timestamp"), text_of(raw.get("content"))
        message = Message(role, text, raw)
        if record.get("isCompactSummary") is True:
            yield self.turn("system", text, at, is_summary=True)
            return
        for result in tool_results(message):
            yield from self.answered(result.id, result.text, at, failed=result.failed)
        failed = record.get("isApiErrorMessage") is True
        if text and role != "tool":
            yield self.turn("system" if failed else role, text, at, is_error=failed)
        if role == "assistant":
            for call in tool_calls(message):
                yield from self.called(call.id, call.name, call.arguments, at)

    def _typed(self, record: dict[str, Any]) -> Iterator[Turn]:
        """A line of what was typed in all projects; those of other repositories are not ours to read."""
        project, root = as_text(record.get("project")), self.places.root
        if not root or (project and belongs(project, root)):
            yield Turn(role="user", text=as_text(record["display"]), at=moment(record.get("timestamp")))

    def _plain_tool(self, record: dict[str, Any], kind: str) -> Iterator[Turn]:
        name, tool = as_text(record.get("id")) or as_text(record.get("tool_use_id")), as_text(record.get("tool_name"))
        at = record.get("timestamp")
        if kind == "tool_use":
            yield from self.called(name, tool, as_dict(record.get("tool_input")), at)
            return
        output = record.get("tool_output", record.get("content"))
        text = text_of(output) or as_text(as_dict(output).get("text")) or text_of(as_dict(output).get("content"))
        yield from self.answered(name, text, at, failed=record.get("is_error") is True, tool=tool)

    def _attached(self, record: dict[str, Any]) -> Iterator[Turn]:
        """Of what is attached to a message only a prompt that was typed while the agent worked is said by anybody."""
        attached = as_dict(record.get("attachment"))
        if attached.get("type") == "queued_command" and attached.get("commandMode", "prompt") == "prompt":
            yield self.turn("user", text_of(attached.get("prompt")), record.get("timestamp"))

    def _told(self, record: dict[str, Any]) -> Iterator[Turn]:
        if record.get("subtype") not in ("compact_boundary", "microcompact_boundary", "local_command"):
            failed = record.get("level") == "error"
            yield self.turn("system", as_text(record.get("content")), record.get("timestamp"), is_error=failed)
