"""Which records may be told unasked, and as what line: the same for every event at which something is told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from quire.model import Record
from quire.project.asking import Asking

if TYPE_CHECKING:
    from quire.inbox import Rejections
    from quire.index import Index
    from quire.model import Verdict
    from quire.retrieval import Offered

_FLAGGED = "it reads like an order to a model"
_REJECTED = "it says what was rejected"
_TOLD = "it was told in this session already"

Judged = tuple[Record, "Verdict | None", str]
"""A record, its verdict where somebody was asked, and why it is offered."""

__all__ = ["Handing", "Judged", "safe_line"]


class Handing(Asking):
    """Lines for records, or the reason why there is none."""

    def _handed_lines(
        self,
        index: Index,
        records: Sequence[Judged],
        *,
        told: Collection[str] = (),
    ) -> list[Offered]:
        """Lines for records; those that must not be told say why."""
        from quire.retrieval import Offered, told_line
        from quire.upkeep import flagged_records

        flags = flagged_records(index, [record for record, _, _ in records])
        rejections = self._rejections()
        offers = []
        for record, verdict, why in records:
            withheld = _TOLD if record.ref in told else _FLAGGED if flags.get(record.ref) else ""
            if not withheld and _is_rejected(rejections, record):
                withheld = _REJECTED
            offers.append(
                Offered(
                    line=told_line(record, verdict),
                    ref=record.ref,
                    why=why,
                    withheld=withheld,
                    verdict=verdict.verdict if verdict else "",
                )
            )
        return offers


def _is_rejected(rejections: Rejections | None, record: Record) -> bool:
    return rejections is not None and any(rejections.match(text) for text in (record.title, record.text) if text)


def safe_line(text: str) -> str:
    """A line without anything that a reader could be deceived by."""
    from quire.guard import make_safe

    return make_safe(text)
