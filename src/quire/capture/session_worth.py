"""Look whether a session said something that should last, so that its agent may be asked for it."""

from __future__ import annotations

import os

from quire.capture.transcripts.lines import COMPRESSED, open_session
from quire.capture.transcripts.types import SessionFile
from quire.model.errors import QuireError

LOOK_BYTES = 1024 * 1024
"""A hook has seconds: of a longer session only the end is heard."""
_LINES = ("claude-local", "codex-local")
"""Sessions that can be read from their middle; others are documents, which are read whole or not at all."""


def says_something_lasting(session: SessionFile, root: str, home: str) -> bool:
    """Whether a decision, a gotcha or a standing rule is heard in a session, or in its last part."""
    from quire.capture.signals.confirmed import confirmed
    from quire.capture.signals.extraction import Listener
    from quire.capture.signals.standing_rules import standing_rules
    from quire.capture.transcripts.read_session import read

    listener = Listener(root)
    try:
        offset = _beginning(session)
        if offset < 0:
            return False
        for turn in read(session, offset, root=root, home=home):
            if not turn.is_subagent:
                listener.hear(turn)
    except (QuireError, OSError, ValueError, RecursionError, MemoryError):
        return False
    found = listener.found()
    kept = (confirmed(found["decisions"] + found["gotchas"], listener.talk), standing_rules(listener.talk))
    return any(True for kind in kept for _ in kind)


def _beginning(session: SessionFile) -> int:
    """The line to begin at; -1 for what is too long and cannot be read from its middle."""
    size = os.path.getsize(session.path)
    if size <= LOOK_BYTES:
        return 0
    if session.source_type not in _LINES or session.path.endswith(COMPRESSED):
        return -1
    with open_session(session.path, size - LOOK_BYTES) as file:
        return size - LOOK_BYTES + len(file.readline())
