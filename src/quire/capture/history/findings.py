"""The types of what a history says: a finding with its evidence, and the wish of whoever asks."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quire.inbox.proposals import Into, ProposalEvidence

KINDS = {
    "decision": "commits that say why something was done so",
    "fix": "fixes whose message explains the trap",
    "revert": "changes that were taken back, and why",
    "comment": "comments in the code: HACK, XXX, WORKAROUND, NOTE",
    "changelog": "what the list of changes calls breaking or deprecated",
    "together": "files that change together",
    "people": "who knows which folder",
}
"""Where a finding comes from, with a line for people."""
LIMIT = 30
ORIGIN = "git:"


class Wish(Struct, frozen=True, kw_only=True):
    """What is asked of a history."""

    limit: int = LIMIT
    since: str = ""
    kinds: tuple[str, ...] = tuple(KINDS)


class HistoryFinding(Struct, frozen=True, kw_only=True):
    """Something that may become a record."""

    source: str
    """One of `KINDS`."""
    origin: str
    """Where it comes from, the same in every clone: `git:<commit>`, `git:comment:<path>:<digest>`, …"""
    title: str
    body: str
    evidence: tuple[ProposalEvidence, ...]
    strength: float
    living: float
    commits: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """The files that it is about, the telling ones first."""
    lines: dict[str, frozenset[str]] = {}
    """Of these files the lines that it is about, where they are known."""
    also: tuple[str, ...] = ()
    """Origins of others that say the same and were joined to it."""

    @property
    def score(self) -> float:
        return self.strength * self.living

    @property
    def into(self) -> Into:
        return "facts" if self.source == "people" else "graph"

    @property
    def kind(self) -> str:
        return {"decision": "decision", "people": "fact"}.get(self.source, "gotcha")

    def fields(self, anchors: list[str]) -> dict[str, Any]:
        """The fields of the record."""
        if self.into == "facts":
            return {"section": "Architecture", "content": self.body, "tags": ["history"]}
        made: dict[str, Any] = {"kind": self.kind, "title": self.title, "body": self.body, "tags": ["history"]}
        if self.commits:
            made["evidence"] = [{"kind": "commit", "id": name} for name in self.commits]
        return {**made, "anchors": anchors} if anchors else made
