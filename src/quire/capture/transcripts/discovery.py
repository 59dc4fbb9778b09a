"""Which sessions a source holds: of each agent its own folders and formats, distinguished by the type of the source."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from quire.capture.transcripts.redaction import redacted
from quire.capture.transcripts.types import Known, SessionFile, Skipped
from quire.layers.journal.layout import SOURCE_TYPES
from quire.model.errors import InputError, NotFound


class Discovery:
    """The sessions of a source, one after the other; with what was passed over, when all were read."""

    def __init__(self, source_type: str, path: str, root: str, known: Known) -> None:
        self.skipped: list[Skipped] = []
        self._top = path if os.path.isdir(path) else os.path.dirname(path)
        self._names: set[str] = set()
        self._sessions = _sessions(source_type, path, root, self.skipped, known)

    def __iter__(self) -> Iterator[SessionFile]:
        return self

    def __next__(self) -> SessionFile:
        session = next(self._sessions)
        name = session.external_id
        if name in self._names:
            # Two files of one name are two sessions; the second is known by its place too.
            place = os.path.relpath(session.path, self._top).rpartition(".")[0]
            name = f"{name}@{place}"
        self._names.add(name)
        return msgspec.structs.replace(session, external_id=name, title=redacted(session.title)[0])


def discover(source_type: str, path: str, *, root: str = "", known: Known = frozenset()) -> Discovery:
    """The sessions at an absolute path, those of one repository where `root` names it and the format tells.

    Of those that are `known`, no more may be told than that they are there.
    """
    if source_type not in SOURCE_TYPES:
        raise InputError(
            f"`{source_type[:80]}` is not a source type.",
            hint=f"Use one of {', '.join(SOURCE_TYPES)}.",
            details={"field": "type", "allowed": list(SOURCE_TYPES)},
        )
    if not os.path.isabs(path):
        raise InputError("The path of a source is absolute.", hint="Give the whole path.", details={"field": "path"})
    # The place that a person names may be a link, as in many home folders. What lies in it may not.
    real = os.path.realpath(path)
    if not os.path.lexists(real):
        raise NotFound(
            f"There is nothing at `{path[:500]}`.",
            hint="Give the folder where the agent keeps its sessions, or one session's file.",
            details={"field": "path", "path": path[:500]},
        )
    return Discovery(source_type, real, root, known)


def _sessions(source_type: str, path: str, root: str, skipped: list[Skipped], known: Known) -> Iterator[SessionFile]:
    """Each format is loaded when it is asked for."""
    if source_type == "claude-local":
        from quire.capture.transcripts import claude

        return claude.sessions(path, root, skipped, known)
    if source_type == "codex-local":
        from quire.capture.transcripts import codex

        return codex.sessions(path, root, skipped)
    if source_type == "gemini-local":
        from quire.capture.transcripts import gemini

        return gemini.sessions(path, root, skipped)
    if source_type == "opencode-local":
        from quire.capture.transcripts import opencode

        return opencode.sessions(path, root, skipped)
    from quire.capture.transcripts import exports

    return exports.sessions(source_type, path, skipped)
