"""Define what a review can find: codes and their usual levels, one finding, all findings together."""

from __future__ import annotations

from typing import Literal

import msgspec

from quire.files.digests import hex_digest
from quire.model.config import ReviewLevel
from quire.model.records import Problem
from quire.model.text import cut, one_line

LEVELS: tuple[ReviewLevel, ...] = ("off", "note", "warn", "block")
"""From the mildest to the strictest."""


class Code(msgspec.Struct, frozen=True):
    """One kind of finding."""

    name: str
    """For programs, as rules are named."""
    title: str
    level: ReviewLevel
    """Unless the project says otherwise."""
    help: str


CODES: dict[str, Code] = {
    "M101": Code("record-governs-change", "Records about the changed code", "note", "Read it before you approve."),
    "M201": Code(
        "record-out-of-date",
        "Records that this change leaves out of date",
        "warn",
        "Look at the code: change the record, or `memory confirm` it.",
    ),
    "M202": Code(
        "anchor-moved",
        "Records whose code moved",
        "warn",
        "`memory confirm` moves the anchor to where the code is now.",
    ),
    "M203": Code(
        "anchor-orphaned",
        "Records whose code is gone",
        "warn",
        "Give the record another anchor, or retire it.",
    ),
    "M204": Code(
        "confirmed-without-a-look",
        "Records confirmed without a reason",
        "warn",
        "Give a reason: `memory confirm REF --reason`.",
    ),
    "M301": Code("record-added", "Records added", "note", "Is it right, and does it belong in the repository?"),
    "M302": Code("record-changed", "Records changed", "note", "Is the new wording right?"),
    "M303": Code("record-retired", "Records retired", "note", "Is it really done?"),
    "M401": Code("record-contested", "Records that branches disagree on", "warn", "`memory resolve` settles it."),
    "M402": Code(
        "rejected-value-back",
        "Rejected values that came back",
        "warn",
        "Remove it, or allow it again with `memory inbox lift`.",
    ),
    "M403": Code(
        "secret-in-record",
        "Secrets",
        "block",
        "Replace the credential, then `memory purge --secrets`; the branch's history keeps it until it is rewritten.",
    ),
}
"""By the code, in the order in which they are reported."""


def quoted(name: str) -> str:
    """A name within a sentence: on one line, and with no mark that could end it."""
    return f"`{cut(one_line(name), 200).replace('`', chr(39))}`"


class ReviewFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a reviewer should know."""

    code: str
    level: ReviewLevel = "note"
    message: str
    """In our own words, with names and paths; a sentence."""
    ref: str = ""
    kind: str = ""
    title: str = ""
    """The record's own words."""
    details: tuple[str, ...] = ()
    """What changed, which may repeat the record's own words."""
    anchor: str = ""
    to: tuple[str, ...] = ()
    """Anchors that would hold again."""
    path: str = ""
    line: int = 1
    owners: tuple[str, ...] = ()
    waived: str = ""
    """The reason that a commit gives for letting it pass."""

    @property
    def blocks(self) -> bool:
        return self.level == "block" and not self.waived

    @property
    def fingerprint(self) -> str:
        """The same for the same thing in a later look, wherever its line is then."""
        return hex_digest("\0".join((self.code, self.ref or self.path, self.anchor)))[:32]


class Waiver(msgspec.Struct, frozen=True):
    """A line of a commit that lets findings of a code pass."""

    code: str
    reason: str
    commit: str
    used: int = 0
    """How many findings it let pass."""


Outcome = Literal["passed", "blocked", "not checked"]


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """All that a review found, the strictest first, and what it looked at."""

    change: str
    base: str
    head: str
    files: int
    """How many files of the project differ."""
    records: int
    """How many records were looked at."""
    findings: list[ReviewFinding]
    nearby: list[str] = []
    """Records of which the change touched other parts of the code than what they speak of."""
    waivers: list[Waiver] = []
    not_checked: str = ""
    """Why nothing could be said; empty where records were read."""
    owners_from: str = ""
    """The file that names the owners."""
    warnings: list[Problem] = []

    @property
    def outcome(self) -> Outcome:
        if self.not_checked:
            return "not checked"
        return "blocked" if any(finding.blocks for finding in self.findings) else "passed"

    def counts(self) -> dict[str, int]:
        """How many findings of each code, in the order of the codes."""
        found = {code: sum(finding.code == code for finding in self.findings) for code in CODES}
        return {code: number for code, number in found.items() if number}
