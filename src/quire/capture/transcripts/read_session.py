"""Read the turns of a session once, from the beginning or from where an earlier read stopped.

A session of lines is read with one line in memory, from any offset that an earlier reading gave. Documents are
rewritten by their programs, so they are read as a whole each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from quire.capture.transcripts.lenient_json import object_in
from quire.capture.transcripts.lines import Tally, TranscriptLine, lines_of, next_bytes, open_session
from quire.capture.transcripts.machine_text import without_additions, without_own
from quire.capture.transcripts.parser import Parser
from quire.capture.transcripts.places import shown_path, shown_text
from quire.capture.transcripts.redaction import kept_result, kept_text, redacted
from quire.capture.transcripts.types import KnownPlaces, SessionFile, Turn
from quire.files.paths import storage_failed

WINDOW_BYTES = 8 * 1024 * 1024
"""Before an offset, this much is looked through for calls whose answers come after it."""
_HEAD_BYTES = 256 * 1024

Records = Callable[[SessionFile, Tally], Iterator[dict[str, Any]]]


def read(
    session: SessionFile, offset: int = 0, *, root: str = "", home: str = "", content_hash: str = ""
) -> SessionReader:
    """The turns of a session. To go on where a reading ended, give its `next_offset` and its `content_hash`."""
    return SessionReader(session, offset, KnownPlaces(root, home), content_hash)


class SessionReader:
    """The turns of a session, one after the other; and what was found on the way, when all were read.

    What is counted belongs to this reading. `next_offset` and `content_hash` belong together: they stand behind the
    last line whose turns were all handed out, so a reading that is given up can be gone on with.
    """

    def __init__(self, session: SessionFile, offset: int, places: KnownPlaces, content_hash: str) -> None:
        self.session = session
        self.next_offset = max(0, offset)
        self.content_hash = content_hash if self.next_offset else ""
        """Each turn's hash includes that of the turns before it; empty where there is none."""
        self.turns = 0
        self.first_at = self.last_at = ""
        self.restarted = False
        """The file is not the one that the offset is from: everything was read anew."""
        self._tally = Tally()
        self._places = places
        self._parser, records = _format(session, places)
        self._source = self._from_records(records) if records else self._from_lines()

    def __iter__(self) -> Iterator[Turn]:
        return self

    def __next__(self) -> Turn:
        try:
            return next(self._source)
        except OSError as error:
            raise storage_failed(error, "read the session") from None

    @property
    def lines(self) -> int:
        return self._tally.lines

    @property
    def bad_lines(self) -> int:
        return self._tally.bad_lines

    @property
    def long_lines(self) -> int:
        return self._tally.long_lines

    @property
    def torn(self) -> bool:
        return self._tally.torn

    @property
    def title(self) -> str:
        """What the session is called at its end."""
        return redacted(self._parser.title)[0]

    # -- where records come from ----------------------------------------------------------------

    def _from_records(self, records: Records) -> Iterator[Turn]:
        self.next_offset, self.content_hash = 0, ""
        for record in records(self.session, self._tally):
            yield from self._handed_out(self._parser.turns(record), 0)

    def _from_lines(self) -> Iterator[Turn]:
        if self.next_offset and not self._is_at_a_line(self.next_offset):
            self.restarted, self.next_offset, self.content_hash = True, 0, ""
        self._look_back(self.next_offset)
        with open_session(self.session.path, self.next_offset) as stream:
            for line in lines_of(stream, self.next_offset):
                yield from self._from_line(line)

    def _from_line(self, line: TranscriptLine) -> Iterator[Turn]:
        if line.data is not None and not line.data.strip():
            self.next_offset = line.end
            return
        record = self._tally.record(line)
        if record is not None:
            yield from self._handed_out(self._parser.turns(record), line.end)
        elif line.ended:
            self.next_offset = line.end
        # A torn line is not passed: the next reading finds it whole.

    def _is_at_a_line(self, offset: int) -> bool:
        """Whether a line begins or ends there; if not, the file was rewritten since."""
        with open_session(self.session.path, offset - 1) as stream:
            first = next_bytes(stream, 1)
            around = first + next_bytes(stream, 1)
        return around[:1] == b"\n" or (len(around) == 1 or around[1:] in (b"\n", b"\r"))

    def _look_back(self, offset: int) -> None:
        """Learn what the lines from here on need to know: where the session runs, and which calls are open."""
        start = max(0, offset - WINDOW_BYTES)
        if start:
            self._learn(0, min(_HEAD_BYTES, start))
        if offset:
            self._learn(start, offset)

    def _learn(self, start: int, end: int) -> None:
        with open_session(self.session.path, start) as stream:
            for line in lines_of(stream, start):
                if line.start >= end:
                    return
                for _ in self._parser.turns(object_in(line.data) or {}):
                    pass

    # -- what becomes of turns ------------------------------------------------------------------

    def _handed_out(self, found: Iterator[Turn], end: int) -> Iterator[Turn]:
        """Turns that belong together; with the last of them, everything up to their end is done."""
        turns = [turn for raw in found if (turn := self._kept(raw)) is not None]
        digest = self.content_hash
        for turn in turns:
            digest = _chained(digest, turn)
        for number, turn in enumerate(turns, start=1):
            self.turns += 1
            self.first_at = self.first_at or turn.at
            self.last_at = turn.at or self.last_at
            if number == len(turns):
                self.next_offset, self.content_hash = end, digest
            yield turn
        if not turns:
            self.next_offset = end

    def _kept(self, turn: Turn) -> Turn | None:
        """A turn without what nobody said and what nobody may know; None where nothing is left."""
        text, echoed = without_own(without_additions(turn.text, turn.role))
        text = kept_result(text) if turn.tool or turn.role == "tool" else kept_text(text)
        text = shown_text(redacted(text)[0], self._places)
        shown = (shown_path(path, self._places, self._parser.cwd) for path in turn.paths)
        paths = tuple(dict.fromkeys(path for path in shown if path and not redacted(path)[1]))
        if not text and not paths and (not turn.tool or echoed):
            return None
        return msgspec.structs.replace(turn, text=text, paths=paths)


def _chained(digest: str, turn: Turn) -> str:
    # Of what is kept, secrets already left out: a hash of a short secret can be guessed.
    return hashlib.sha256(digest.encode() + msgspec.json.encode(turn)).hexdigest()


def _format(session: SessionFile, places: KnownPlaces) -> tuple[Parser, Records | None]:
    """What reads the records of a session and, where they are no lines, what finds them."""
    if session.source_type == "claude-local":
        from quire.capture.transcripts.claude import ClaudeParser

        return ClaudeParser(session, places), None
    if session.source_type == "codex-local":
        from quire.capture.transcripts.codex import CodexParser

        return CodexParser(session, places), None
    if session.source_type == "gemini-local":
        from quire.capture.transcripts import gemini

        return gemini.GeminiParser(session, places), gemini.records
    if session.source_type == "opencode-local":
        from quire.capture.transcripts import opencode

        return opencode.OpencodeParser(session, places), opencode.records
    from quire.capture.transcripts import exports

    return exports.ExportParser(session, places), exports.records
