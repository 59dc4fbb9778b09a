"""What the parsers of all formats share: they read one record after the other and keep little in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.capture.transcripts.lenient_json import label, moment
from quire.capture.transcripts.tools import Calls, call_of
from quire.capture.transcripts.types import PATH_CHARS, KnownPlaces, SessionFile, Turn


class Parser:
    """Turns from records, in their order. What it remembers is bounded, however long the transcript is."""

    def __init__(self, session: SessionFile, places: KnownPlaces) -> None:
        self.session = session
        self.places = places
        self.cwd = ""
        """Where the session ran last; what its calls name is meant from there."""
        self.title = session.title
        self._calls = Calls()
        self._is_subagent = False

    def turns(self, record: dict[str, Any]) -> Iterator[Turn]:
        """What a record says. Texts and paths are as they stand there."""
        raise NotImplementedError

    def noted(self, cwd: Any, title: Any = "") -> None:
        if isinstance(cwd, str) and 0 < len(cwd) <= PATH_CHARS:
            self.cwd = cwd
        self.title = label(title) or self.title

    def turn(self, role: str, text: str, at: Any, **more: Any) -> Turn:
        return Turn(role=role, text=text, at=moment(at), is_subagent=self._is_subagent, **more)

    def called(self, name: str, tool: str, arguments: dict[str, Any], at: Any) -> Iterator[Turn]:
        """A call, which is remembered until its answer comes."""
        call = call_of(label(tool), arguments)
        self._calls.note(name or tool, call)
        if not call.own:
            yield self.turn("assistant", call.command, at, tool=call.tool, paths=call.paths)

    def answered(self, name: str, text: str, at: Any, *, failed: bool, tool: str = "") -> Iterator[Turn]:
        """The answer to a call."""
        call = self._calls.answered(name or tool)
        named = call.tool or label(tool)
        if not call.own and (text or named):
            yield self.turn("tool", text, at, tool=named, is_error=failed)
