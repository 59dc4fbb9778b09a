"""Lay out an answer for a model: recalled text stands between marks, with origin, verdict and flags.

Outside the marks stands only what this program says itself: the heading, headings of parts, counts, hints. Every part
is placed whole or not at all, so that no mark is ever opened and left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.guard.effects import flags_of, shown_flags
from quire.model.records import origin_shown
from quire.model.tokens import count_tokens
from quire.retrieval.answer import Answer, Hit
from quire.retrieval.answer_lines import (
    NAMES,
    body_of,
    closest_line,
    cut_body,
    heading_line,
    name_of,
    state_of,
    told_lines,
)
from quire.retrieval.render import AnswerPart, AnswerRow, Layout, footer, not_shown, said_by, withheld_rows

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary

_REST = "… cut to fit: `inspect_memory` has the rest.\n"


class FencedLayout(Layout):
    """The Markdown form of an answer for a model."""

    gap = "\n"
    hint = "\nTry other words, a file as `path`, or `status_memory` for the overview.\n"
    everything = "`everything`"

    def __init__(self, fence: Boundary) -> None:
        self._fence = fence

    def opening(self, answer: Answer, budget: int) -> list[str]:
        answer.flags = {hit.record.ref: flags for hit in answer.hits if (flags := flags_of(said_by(hit)))}
        return [self._fence.inside(heading_line(answer, budget)), f"{self._fence.notice()}\n"]

    def item(self, hit: Hit, room: int, many_files: bool) -> tuple[str, bool]:
        record, fence = hit.record, self._fence
        verdict = hit.verdict.verdict if hit.verdict else ""
        origin = origin_shown(record.origin or record.layer, reviewed=hit.reviewed is not False)
        flags = shown_flags(flags_of(said_by(hit)))

        def marked(text: str, after: str = "") -> str:
            return f"\n{fence.wrap(text, ref=record.ref, origin=origin, verdict=verdict, flags=flags)}\n{after}"

        head = fence.inside(f"{name_of(hit)}  [{state_of(hit, with_verdict=False)}]\n{told_lines(hit, many_files)}")
        body = fence.inside(body_of(hit))
        whole = marked(head + body)
        if count_tokens(whole) <= room:
            return whole, True
        # A letter stands in for the body, so that the line break before it counts too.
        kept = cut_body(body, room - count_tokens(marked(f"{head}x", _REST)), count_tokens)
        text = marked(head + kept, _REST) if kept else ""
        return text if count_tokens(text) <= room else "", False

    def flags(self, _said: str) -> tuple[str, ...]:
        return flags_of(_said)

    def text(self, part: AnswerPart, rows: Sequence[AnswerRow]) -> str:
        flags = sorted({flag for row in rows for flag in row.flags})
        return f"{part.title}{self._fence.wrap(''.join(row.line for row in rows), flags=shown_flags(flags))}\n"

    def fitting(self, part: AnswerPart, room: int) -> tuple[list[AnswerRow], int]:
        kept: list[AnswerRow] = []
        for row in part.rows:
            if count_tokens(self.text(part, [*kept, row])) <= room:
                kept.append(row)
        return kept, count_tokens(self.text(part, kept)) if kept else 0

    def ending(self, answer: Answer, room: int) -> list[str]:
        """The names of what is not shown, between marks: whoever wrote the records chose them; then the counts."""
        missing = not_shown(answer)
        rows = [AnswerRow(closest_line(hit), answer.flags.get(hit.record.ref, ())) for hit in missing[:NAMES]]
        pieces = []
        for part in (
            AnswerPart("\n## Did not fit\n", rows),
            AnswerPart("\n## Withheld\n", withheld_rows(answer, self)),
        ):
            kept, cost = self.fitting(part, room)
            pieces += [self.text(part, kept)] if kept else []
            room -= cost
        left_out = f"{len(missing)} more did not fit" if missing else ""
        return [*pieces, footer(answer, left_out, "`limit`", f"{len(answer.withheld)} withheld")]

    def shortened(self, pieces: list[str]) -> list[str]:
        """The pieces without the last one: a budget with no room for more than the heading gets no marks at all."""
        return pieces[:-1]
