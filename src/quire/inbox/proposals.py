"""Types of proposals: records that nobody has approved yet, with origin and evidence.

Hooks and importers make proposals, never records. Two proposals that say the same are one, whatever case, spaces and
punctuation they are written with: `value_digest` tells.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec

from quire.files.digests import hex_digest
from quire.model.errors import InputError
from quire.model.text import cut

Into = Literal["graph", "facts", "profile", "notes", "episodes"]
By = Literal["user", "agent", "file"]
Status = Literal["pending", "accepted", "rejected", "withdrawn"]
Standing = Literal["", "open", "over"]
"""What the source itself says of it: it holds, is not decided yet, or holds no longer."""
BY: tuple[By, ...] = ("user", "agent", "file")
TEXT_CHARS = 4_000
QUOTE_CHARS = 400
_PREFIX = "in-"
_ID_CHARS = 10
_LEAST = 4
_Named = TypeVar("_Named")
_GAPS = re.compile(
    r"(?:[\s.,;:!?…\"'`´’‘“”„«»()\[\]{}*_–—→。，、；：！？]|(?<![-=])[-=]+>|^[ \t]*(?:#{1,6}|>)(?=\s)|-(?!\d))+", re.M
)
"""What separates words and says nothing, arrows and marks of Markdown among it; signs such as `<` or `+` do."""


class ProposalEvidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a proposal rests on: who said what, where and when."""

    quote: str
    by: By
    where: str = ""
    """Such as `CLAUDE.md:14`, or `claude session 3f2a…, turn 12`: for people."""
    at: str = ""


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that may be made.

    `fields` are those of the record, as the layer takes them when someone saves it: of the graph those of a node in a
    save intent (`kind`, `title`, `body`, `stage`, `anchors`, `tags`, `related` …), of the facts `section`, `content`,
    `confidence`, `tags`, of the profile `category`, `key`, `value`, `tags`, of the notes `text`, of the episodes
    `title`, `summary` and `session_id`.
    """

    id: str
    into: Into
    kind: str
    """What it is called when it is shown: decision, gotcha, feature, question, fact, preference, next step, session."""
    text: str
    """What it says, in one text: what is compared, and what a rejection remembers."""
    fields: dict[str, Any]
    origin: str
    """The place it came from, the same each time: `session:claude:3f2a…`, `file:docs/adr/0001-….md`, `file:~/…`."""
    by: By
    evidence: tuple[ProposalEvidence, ...] = ()
    proposed_at: str = ""
    status: Status = "pending"
    settled_at: str = ""
    ref: str = ""
    """The record that was made of it."""
    reason: str = ""
    """Why it was rejected."""
    standing: Standing = ""
    """What is not decided yet is accepted by its id alone; what holds no longer becomes a record that is retired."""
    said: str = ""
    """The words of its source for that."""
    replaced_by: str = ""
    """The record that is valid instead, if it is there."""
    updates: str = ""
    """The record that it changes: its source was edited since. Empty for a new record."""

    @property
    def source(self) -> str:
        """The source that it came from, by which proposals are grouped: `git`, `session`, `docs/adr/`, `CLAUDE.md`."""
        kind, _, place = self.origin.partition(":")
        folder, slash, name = place.rpartition("/")
        return kind if kind != "file" else folder + slash or name


def value_digest(text: str) -> str:
    """Digest of a normalised text: equal for texts that say the same."""
    folded = _GAPS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return hex_digest(folded)[:32]


def by_beginning(items: Mapping[str, _Named], name: str) -> _Named | None:
    """The one whose id this is, or begins with this; None where none does. An error where several do."""
    bare = name.strip().removeprefix(_PREFIX)
    if f"{_PREFIX}{bare}" in items:
        return items[f"{_PREFIX}{bare}"]
    near = [key for key in items if len(bare) >= _LEAST and key.removeprefix(_PREFIX).startswith(bare)]
    if len(near) > 1:
        raise InputError(
            f"`{cut(name, 40)}` could be any of {', '.join(near[:5])}.",
            hint="Give a longer part of the id.",
            details={"field": "id"},
        )
    return items[near[0]] if near else None


def proposal_id(text: str) -> str:
    return f"{_PREFIX}{value_digest(text)[:_ID_CHARS]}"


def propose(
    into: Into,
    kind: str,
    text: str,
    fields: dict[str, Any],
    *,
    origin: str,
    by: By,
    evidence: tuple[ProposalEvidence, ...] = (),
    proposed_at: str = "",
    standing: Standing = "",
    said: str = "",
    replaced_by: str = "",
) -> Proposal:
    """A new proposal; its id follows from what it says."""
    return Proposal(
        id=proposal_id(text),
        into=into,
        kind=kind,
        text=text,
        fields=fields,
        origin=origin,
        by=by,
        evidence=evidence,
        proposed_at=proposed_at,
        standing=standing,
        said=said,
        replaced_by=replaced_by,
    )
