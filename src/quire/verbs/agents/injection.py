"""Choose which records hooks may send, and as what line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from quire.model.records import Record, origin_shown
from quire.model.times import instant
from quire.verbs.reviewed import reviews

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary
    from quire.inbox.rejections import Rejections
    from quire.index.catalog import Index
    from quire.model.verdicts import Verdict
    from quire.project import Project
    from quire.retrieval.injection import OfferedLine

_FLAGGED = "it reads like an order to a model"
_REJECTED = "it says what was rejected"
_TOLD = "already sent in this session"
_UNREVIEWED = "nobody has reviewed it"

Judged = tuple[Record, "Verdict | None", str]
"""A record, its verdict where one was worked out, and why it is offered."""


class Trust(msgspec.Struct, frozen=True):
    """What may be sent in full: what a person has looked at, and what was written in the session that is asked for."""

    seen: frozenset[str]
    rule: str
    """Of everything else: `line`, `send` or `hold`."""
    began: datetime | None
    now: datetime

    def is_own(self, record: Record) -> bool:
        """Whether a record came to be what it is while the session ran: its own time, which must not lie ahead."""
        at = instant(record.updated_at)
        return self.began is not None and at is not None and self.began <= at <= self.now


def injected_lines(
    project: Project,
    index: Index,
    records: Sequence[Judged],
    trust: Trust,
    told: Collection[str] = (),
) -> list[OfferedLine]:
    """Lines for records; those that must not be sent say why. What nobody has reviewed is one short line."""
    from quire.guard.effects import words_of
    from quire.retrieval.injection import OfferedLine, record_line, unreviewed_line
    from quire.upkeep.order_flags import effects_in, flagged_records

    every = [record for record, _, _ in records]
    flags, effects = flagged_records(index, every), effects_in(index, every)
    rejections = project.rejections()
    changes = _changes(index, {record.ref: verdict for record, verdict, _ in records if verdict})
    offers = []
    for record, verdict, why in records:
        is_seen = record.ref in trust.seen
        is_full = is_seen or trust.rule == "send" or trust.is_own(record)
        withheld = _TOLD if record.ref in told else _FLAGGED if flags.get(record.ref) else ""
        if not withheld and _is_rejected(rejections, record):
            withheld = _REJECTED
        if not withheld and not is_full and trust.rule == "hold":
            withheld = _UNREVIEWED
        harm = words_of(effects.get(record.ref, ()))
        marks = (f"from {origin_shown(record.origin or record.layer, reviewed=is_seen)}", *filter(None, (harm,)))
        if is_full:
            marks = marks if is_seen else ("not reviewed", *marks)
            line = record_line(record, verdict, marks=marks, changes=changes.get(record.ref, ""))
        else:
            line = unreviewed_line(record, marks=marks, silent=bool(harm))
        offers.append(
            OfferedLine(
                line=line,
                ref=record.ref,
                why=why,
                withheld=withheld,
                verdict=verdict.verdict if verdict else "",
            )
        )
    return offers


def _changes(index: Index, verdicts: Mapping[str, Verdict]) -> dict[str, str]:
    """What is known already of the code behind records that are out of date: a hook has no time to find it out.

    The subject of a commit is anybody's text. One that reads like an order is left out, with all beside it.
    """
    from quire.guard.prompt_attacks import find_instructions
    from quire.upkeep.explained_changes import known_explanations

    found = {}
    for ref, changes in known_explanations(index, verdicts).items():
        said = next((f"`{one.anchor}`: {one.line()}" for one in changes if one.says_more), "")
        if said and not find_instructions(said):
            found[ref] = said
    return found


def trust_of(project: Project, index: Index, records: Sequence[Record], began: str) -> Trust:
    """What is known of these records, for a session that `began` then."""
    reviewed = reviews(project, index)
    seen = frozenset(reviewed(records))
    rule = "line" if all(record.ref in seen for record in records) else reviewed.settings().unreviewed
    return Trust(seen, rule, instant(began), project.world.now())


def new_fence(project: Project) -> Boundary:
    from quire.guard.boundary import make_boundary

    return make_boundary(project.world.token)


def _is_rejected(rejections: Rejections | None, record: Record) -> bool:
    return rejections is not None and any(rejections.match(text) for text in (record.title, record.text) if text)
