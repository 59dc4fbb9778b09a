"""Verdicts: whether a record still matches the code it is anchored to, and why."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

State = Literal["fresh", "changed", "moved", "orphaned", "unanchored", "unverifiable"]
VERDICTS: tuple[str, ...] = get_args(State)
# Of several anchors, the one that most needs a look decides.
_GRAVITY: tuple[State, ...] = ("orphaned", "moved", "changed", "unverifiable", "fresh")


class AnchorVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One anchor: what became of it since the record was last saved or confirmed."""

    anchor: str
    verdict: State
    because: str = ""
    """A clause that says why, for people."""
    files: tuple[str, ...] = ()
    """Files that changed, at most as many as are worth showing."""
    files_count: int = 0
    dirty: tuple[str, ...] = ()
    """Those of them whose change is not committed."""
    commit: str = ""
    """The newest commit that caused it."""
    commits: tuple[str, ...] = ()
    """The commits that changed a symbol, newest first, at most as many as are worth showing."""
    commits_count: int = 0
    first_commit: str = ""
    """The first of them: since then it is not what was seen."""
    to: tuple[str, ...] = ()
    """Where it went: anchors that would hold again."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record's verdict, and that of each of its anchors."""

    verdict: State
    because: str = ""
    since: str = ""
    """The commit that was current when the record was last saved or confirmed."""
    anchors: tuple[AnchorVerdict, ...] = ()

    @property
    def needs_a_look(self) -> bool:
        return self.verdict in ("changed", "moved", "orphaned")


def overall(anchors: tuple[AnchorVerdict, ...], since: str) -> Verdict:
    """The verdict on the whole record."""
    state = next(state for state in _GRAVITY if any(anchor.verdict == state for anchor in anchors))
    because = next((anchor.because for anchor in anchors if anchor.verdict == state), "")
    return Verdict(verdict=state, because=because, since=since, anchors=anchors)
