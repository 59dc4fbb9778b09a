"""An answer for a model: everything recalled stands between marks, with its origin, its verdict and what it tries.

Outside the marks stands only what this program says itself: the heading, headings of parts, counts, hints. Every part
is placed whole or not at all, so that no mark is ever opened and left open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.guard.effects import flags_of, shown_flags
from quire.model.records import origin_shown
from quire.model.tokens import count_tokens
from quire.retrieval.answer import Answer, Hit
from quire.retrieval.render import (
    FIRST_SHARE,
    LINKS_SHARE,
    NAMES,
    NOTHING,
    OTHER_SHARE,
    POSSIBLE_TITLE,
    UNSURE,
    by_tier,
    closest_line,
    cut_body,
    heading_line,
    link_line,
    name_of,
    names_many_files,
    possible_line,
    state_of,
    told_lines,
    withheld_line,
)

if TYPE_CHECKING:
    from quire.guard.framing import Fence

_FOOTER = 24
_REST = "… cut to fit: `inspect_memory` has the rest.\n"
_HINT = "\nTry other words, a file as `path`, or `status_memory` for the overview.\n"


class _Row(msgspec.Struct, frozen=True):
    """One line of a part, and the flags of what it shows."""

    line: str
    flags: tuple[str, ...]


class _Part(msgspec.Struct, frozen=True):
    """Lines that stand together between one pair of marks, under a heading."""

    title: str
    rows: list[_Row]


def render_fenced(answer: Answer, budget: int, fence: Fence) -> None:
    """Fill in the answer's text, what of it found room, and what its records try."""
    answer.flags = {hit.record.ref: flags for hit in answer.hits if (flags := _flags(hit))}
    pieces = [fence.inside(heading_line(answer, budget)), f"{fence.notice()}\n"]
    if by_tier(answer)[0]:
        _place_answer(answer, budget, fence, pieces)
    else:
        _place_nothing(answer, budget, fence, pieces)
    # Only a budget that has no room for more than the heading gets here with too much, and then nothing is marked.
    while count_tokens("".join(pieces)) > budget and len(pieces) > 1:
        pieces.pop()
        answer.truncated = True
    answer.markdown = "".join(pieces)
    answer.tokens = count_tokens(answer.markdown)


def _place_answer(answer: Answer, budget: int, fence: Fence, pieces: list[str]) -> None:
    left = budget - count_tokens("".join(pieces)) - _FOOTER
    parts = _linked(answer)
    links = min(sum(count_tokens(_text(part, part.rows, fence)) for part in parts), budget // LINKS_SHARE)
    many = names_many_files(answer)
    answers, possible = by_tier(answer)
    for number, hit in enumerate(answers):
        # The best hit comes before everything that is merely connected to it.
        room = left if not answer.shown else left - links
        share = int(budget * (FIRST_SHARE if number == 0 else OTHER_SHARE))
        text, whole = _item(hit, min(room, share), many, fence, answer.flags.get(hit.record.ref, ()))
        answer.truncated = answer.truncated or not whole
        if text:
            pieces.append(text)
            answer.shown.append(hit.record.ref)
            left -= count_tokens(text)
    for part in (_uncertain(possible), *parts):
        text, whole = _fitting(part, left, fence)
        answer.truncated = answer.truncated or not whole
        pieces.append(text)
        left -= count_tokens(text)
    for part in _left_out(answer):
        text, _ = _fitting(part, left, fence)
        pieces.append(text)
        left -= count_tokens(text)
    pieces.append(_footer(answer))


def _place_nothing(answer: Answer, budget: int, fence: Fence, pieces: list[str]) -> None:
    _, possible = by_tier(answer)
    pieces.append(f"\n{UNSURE if possible else NOTHING}\n")
    left = budget - count_tokens("".join(pieces)) - count_tokens(_HINT)
    gone = [_Row(withheld_line(item), flags_of(item.title)) for item in answer.withheld[:NAMES]]
    for part in (_uncertain(possible), _Part("\nNo longer current (`everything` shows them):\n", gone)):
        text, whole = _fitting(part, left, fence)
        answer.truncated = answer.truncated or not whole
        pieces.append(text)
        left -= count_tokens(text)
    pieces.append(_HINT)


def _item(hit: Hit, room: int, many_files: bool, fence: Fence, flags: tuple[str, ...]) -> tuple[str, bool]:
    """One record between its marks, and whether it is whole: cut at a sentence, or nothing where not one fits."""
    record = hit.record

    def marked(text: str, after: str = "") -> str:
        verdict = hit.verdict.verdict if hit.verdict else ""
        origin = origin_shown(record.origin or record.layer, reviewed=hit.reviewed is not False)
        return (
            f"\n{fence.wrap(text, ref=record.ref, origin=origin, verdict=verdict, flags=shown_flags(flags))}\n{after}"
        )

    head = fence.inside(f"{name_of(hit)}  [{state_of(hit, with_verdict=False)}]\n{told_lines(hit, many_files)}")
    body = fence.inside(record.text.strip())
    whole = marked(head + body)
    if count_tokens(whole) <= room:
        return whole, True
    # A letter stands in for the body, so that the line break before it counts too.
    kept = cut_body(body, room - count_tokens(marked(f"{head}x", _REST)), count_tokens)
    text = marked(head + kept, _REST) if kept else ""
    return text if count_tokens(text) <= room else "", False


def _uncertain(possible: list[Hit]) -> _Part:
    return _Part(POSSIBLE_TITLE, [_Row(possible_line(hit), _flags(hit)) for hit in possible])


def _linked(answer: Answer) -> list[_Part]:
    named = (("Connected", answer.connected), ("Open questions", answer.open_questions))
    return [
        _Part(f"\n## {title}\n", [_Row(link_line(link), flags_of(link.record.title)) for link in links])
        for title, links in named
        if links
    ]


def _left_out(answer: Answer) -> list[_Part]:
    """The names of what is not shown: they were given by whoever wrote it."""
    missing = [hit for hit in by_tier(answer)[0] if hit.record.ref not in answer.shown]
    return [
        _Part(
            "\n## Did not fit\n",
            [_Row(closest_line(hit), answer.flags.get(hit.record.ref, ())) for hit in missing[:NAMES]],
        ),
        _Part(
            "\n## Withheld\n",
            [_Row(withheld_line(item), flags_of(item.title)) for item in answer.withheld[:NAMES]],
        ),
    ]


def _fitting(part: _Part, room: int, fence: Fence) -> tuple[str, bool]:
    """The part with the lines that fit, and whether these are all; nothing where none does."""
    kept: list[_Row] = []
    for row in part.rows:
        if count_tokens(_text(part, [*kept, row], fence)) <= room:
            kept.append(row)
    return _text(part, kept, fence) if kept else "", len(kept) == len(part.rows)


def _text(part: _Part, rows: list[_Row], fence: Fence) -> str:
    flags = sorted({flag for row in rows for flag in row.flags})
    return f"{part.title}{fence.wrap(''.join(row.line for row in rows), flags=shown_flags(flags))}\n"


def _footer(answer: Answer) -> str:
    """How much was left out and why."""
    missing = len(by_tier(answer)[0]) - len(answer.shown)
    notes = []
    if missing:
        notes.append(f"{missing} more did not fit")
    if answer.beyond:
        notes.append(f"{answer.beyond} more with a higher `limit`")
    if answer.truncated and not notes:
        notes.append("cut to fit")
    if answer.withheld:
        notes.append(f"{len(answer.withheld)} withheld")
    return f"\n---\n{'; '.join(notes)}\n" if notes else ""


def _flags(hit: Hit) -> tuple[str, ...]:
    record = hit.record
    return flags_of("\n".join((record.title, record.section, record.text, *record.anchors)))
