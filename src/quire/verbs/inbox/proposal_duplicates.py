"""Compare proposals with records and with each other; limit how many are accepted at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.model.records import Problem
from quire.model.vocabulary import LIVE_STATUSES, LayerName

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal
    from quire.index.catalog import Index

_TEXTS = ("content", "value", "title", "body", "text")
_PACK = 100
_REVIEWED: tuple[LayerName, ...] = ("graph", "facts", "profile")
"""The journal holds what was said in sessions, which nobody had to approve."""


def inbox_full(left: int) -> list[Problem]:
    """That so many proposals found no room."""
    from quire.inbox.store import PENDING_MOST

    return [
        Problem(
            code="InboxFull",
            severity="warning",
            message=f"{left} more {'was' if left == 1 else 'were'} left out: {PENDING_MOST} proposals can be pending.",
            hint="Accept or reject some with `memory inbox`, then run this again.",
        )
    ]


def packs_of(items: list[Proposal]) -> Iterator[list[Proposal]]:
    """The proposals in their order, those for one layer many at once: each save looks at the whole of it."""
    for _, group in itertools.groupby(items, key=lambda item: item.into):
        same = list(group)
        yield from (same[start : start + _PACK] for start in range(0, len(same), _PACK))


def words_field(item: Proposal) -> str:
    """The field of the record that says what the proposal says."""
    return {"graph": "body", "facts": "content", "profile": "value", "notes": "text", "episodes": "summary"}[item.into]


def texts_of(item: Proposal) -> list[str]:
    """Everything that a proposal says in words."""
    return [item.text, *(str(item.fields[name]) for name in _TEXTS if isinstance(item.fields.get(name), str))]


def digests_of(item: Proposal) -> set[str]:
    """What tells that a record says this: its words. A title alone says too little."""
    from quire.inbox.proposals import value_digest

    said = item.fields.get(words_field(item))
    return {value_digest(text) for text in (item.text, said) if isinstance(text, str) and text.strip()}


def said_by_records(index: Index) -> set[str]:
    """What the records say that someone decided about, by digest; retired ones too."""
    from quire.inbox.proposals import value_digest

    found: set[str] = set()
    for layer in _REVIEWED:
        for record in index.records(layer):
            said = [record.text, record.title]
            if layer == "profile":
                # Its text begins with its key.
                said.append(record.text.removeprefix(f"{record.ref.rpartition('.')[2]}: "))
            found.update(value_digest(text) for text in said if text.strip())
    return found


def nodes_by_words(index: Index) -> dict[str, str]:
    """The nodes that hold, by the digest of what they say."""
    from quire.inbox.proposals import value_digest

    held = index.records("graph", statuses=LIVE_STATUSES)
    return {value_digest(record.text): record.ref for record in held if record.text.strip()}


def node_saying(item: Proposal, said: dict[str, str]) -> str:
    """The node that says a proposal already: accepted before, or saved by someone meanwhile."""
    return next((said[digest] for digest in sorted(digests_of(item)) if digest in said), "")
