"""Tool calls of a session: the command, the files it names, its result."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from quire.capture.transcripts.lenient_json import object_in
from quire.capture.transcripts.machine_text import is_own_call, is_own_script
from quire.capture.transcripts.types import PATH_CHARS, PATHS
from quire.model.untyped import as_dict, as_text

OPEN_CALLS = 512
"""So many calls are remembered until their answers come."""
_ID_CHARS = 200
_COMMANDS = ("command", "cmd", "script")
_PATHS = (
    *("file_path", "filePath", "notebook_path", "absolute_path", "target_file", "path", "dir_path", "filename"),
    *("file", "paths", "files"),
)
_PLANS = ("plan", "query", "prompt", "description")
_SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/env")
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.M)
_PATCH_CHARS = 1_000_000
_EXIT = re.compile(r"(?:exit(?:ed)?(?: with)?(?: code| status)?|\"exit_code\")[: ]{1,2}(\d{1,10})", re.I)
_EXIT_CHARS = 400


class TranscriptCall(Struct, frozen=True):
    """A tool that is called: with which command, about which files, and whether it is one of ours."""

    tool: str
    command: str = ""
    paths: tuple[str, ...] = ()
    own: bool = False


class Calls:
    """The calls whose answers may still come, by their ids; the oldest go first."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, TranscriptCall] = OrderedDict()

    def note(self, name: str, call: TranscriptCall) -> None:
        # Without its command and its files, which may be long and are reported already.
        self._open[name[:_ID_CHARS]] = TranscriptCall(call.tool, own=call.own)
        self._open.move_to_end(name[:_ID_CHARS])
        if len(self._open) > OPEN_CALLS:
            self._open.popitem(last=False)

    def answered(self, name: str) -> TranscriptCall:
        """The call that an answer belongs to. It stays: some tools answer in parts."""
        return self._open.get(name[:_ID_CHARS]) or TranscriptCall("")


def call_of(tool: str, arguments: dict[str, Any]) -> TranscriptCall:
    command = _command(arguments)
    paths = tuple(named_paths(arguments, command))
    own = is_own_call(tool, command, paths) or is_own_script(as_text(arguments.get("script")))
    return TranscriptCall(tool, command or _said(arguments), paths, own)


def arguments_of(value: Any) -> dict[str, Any]:
    """The arguments of a call: an object, or a text that holds one. Any other text is a script or a patch."""
    if isinstance(value, str):
        found = object_in(value.encode("utf-8", "replace"))
        return {"script": value} if found is None else found
    return as_dict(value)


def _command(arguments: dict[str, Any]) -> str:
    for name in _COMMANDS:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            parts = [part for part in value if isinstance(part, str)]
            # A shell that is handed its line as one argument: the line is the command.
            is_shell = len(parts) > 2 and parts[0] in _SHELLS and parts[-2].startswith("-")
            return parts[-1] if is_shell else " ".join(parts)
    return ""


def _said(arguments: dict[str, Any]) -> str:
    """What a call says in words, where it runs no command: a plan, a question, a task for another agent."""
    return next((text for name in _PLANS if (text := as_text(arguments.get(name)))), "")


def named_paths(arguments: dict[str, Any], command: str = "") -> Iterator[str]:
    """The files that a call names, each once."""
    seen: set[str] = set()
    for path in _named(arguments, command):
        if path and len(path) <= PATH_CHARS and "\n" not in path and path not in seen:
            seen.add(path)
            yield path
            if len(seen) == PATHS:
                return


def _named(arguments: dict[str, Any], command: str) -> Iterator[str]:
    for name in _PATHS:
        value = arguments.get(name)
        for item in value if isinstance(value, list) else (value,):
            yield as_text(item) or as_text(as_dict(item).get("path")) or as_text(as_dict(item).get("file_path"))
    for text in (command, as_text(arguments.get("patch")), as_text(arguments.get("input"))):
        if "*** " in text:
            yield from (found[1].strip() for found in _PATCHED.finditer(text[:_PATCH_CHARS]))


def failed_by_code(text: str) -> bool:
    """Whether an answer says that its program ended with another code than zero."""
    found = _EXIT.search(text[:_EXIT_CHARS])
    return found is not None and found[1].strip("0") != ""
