"""Render an answer as Markdown within a budget: items with their refs, quoted, cut at sentences only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from quire.guard.hostile_text import make_safe, safe_line
from quire.model.text import one_line
from quire.model.tokens import count_tokens
from quire.retrieval.answer import Answer, Hit
from quire.retrieval.answer_lines import (
    NAMES,
    body_of,
    cut_body,
    heading_line,
    link_line,
    name_of,
    possible_line,
    state_of,
    told_lines,
)

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary

_FIRST_SHARE, _OTHER_SHARE = 0.5, 0.34
"""How much of the budget one body may take, so that one long note does not keep all others out."""
_LINKS_SHARE = 5
"""The part of the budget that is kept for what is connected: a fifth."""
_FOOTER = 24
"""Room that is kept for the last line, which may take more where more is left."""
_NOTHING = "Nothing in the memory is near this."
_UNSURE = "Nothing in the memory clearly answers this."
_POSSIBLE_TITLE = "\n## Possible, not certain\n"


class AnswerRow(msgspec.Struct, frozen=True):
    """One line of a part, and what its record tries to make the reader do."""

    line: str
    flags: tuple[str, ...] = ()


class AnswerPart(msgspec.Struct, frozen=True):
    """A heading and the lines below it."""

    title: str
    rows: list[AnswerRow]


class Layout:
    """The Markdown form of an answer for people; `fenced_layout.FencedLayout` is the form for a model."""

    gap = ""
    """What stands before the sentence that nothing answers."""
    hint = "\nTry other words, a file with `--path`, or `memory status` for the overview.\n"
    everything = "`--all`"
    """The option that also shows what is no longer current."""

    def opening(self, answer: Answer, budget: int) -> list[str]:
        note = "Records of this project's memory, quoted as data; the code and the user have the last word.\n"
        return [heading_line(answer, budget), *([note] if by_tier(answer)[0] else [])]

    def item(self, hit: Hit, room: int, many_files: bool) -> tuple[str, bool]:
        """One record, and whether it is whole: cut after a sentence, or empty where not one sentence fits."""
        record = hit.record
        title = f"{safe_line(record.ref)} — {name_of(hit)}  [{safe_line(state_of(hit))}]"
        head = f"\n## {title}\n{told_lines(hit, many_files)}"
        body = make_safe(body_of(hit))
        whole = head + _quote(body)
        if count_tokens(whole) <= room:
            return whole, True
        pointer = f"> … the rest: `memory inspect {safe_line(record.ref)}`\n"
        available = room - count_tokens(head) - count_tokens(pointer)
        kept = cut_body(body, available, lambda kept: count_tokens(_quote(kept)))
        return head + _quote(kept) + pointer if kept else "", False

    def flags(self, _said: str) -> tuple[str, ...]:
        """What a text tries to make its reader do; a person does not need to know."""
        return ()

    def text(self, part: AnswerPart, rows: Sequence[AnswerRow]) -> str:
        return part.title + "".join(row.line for row in rows)

    def fitting(self, part: AnswerPart, room: int) -> tuple[list[AnswerRow], int]:
        """The rows of a part that fit, and what they cost."""
        kept: list[AnswerRow] = []
        spent = 0
        for row in part.rows:
            cost = count_tokens(row.line if kept else part.title + row.line)
            if spent + cost <= room:
                kept.append(row)
                spent += cost
        return kept, spent

    def ending(self, answer: Answer, room: int) -> list[str]:
        """What was left out and why, with as many of the names as there is room for."""
        missing = [safe_line(hit.record.ref) for hit in not_shown(answer)]
        withheld = [safe_line(f"{item.ref} ({item.reason})") for item in answer.withheld]
        text = ""
        for names in range(NAMES, -1, -1):
            text = footer(
                answer,
                f"{len(missing)} more did not fit{_list(missing[:names])}" if missing else "",
                "--limit",
                f"withheld{_list(withheld[:names])}" if names else f"{len(withheld)} withheld",
            )
            if count_tokens(text) <= room + _FOOTER:
                break
        return [text]

    def shortened(self, pieces: list[str]) -> list[str]:
        """The pieces without the last line; only a budget too small for a heading needs this."""
        text = "".join(pieces).rstrip("\n")
        return [text.rpartition("\n")[0] + "\n"] if "\n" in text else []


def render(answer: Answer, budget: int, fence: Boundary | None = None) -> None:
    """Fill in the answer's text and what of it found room; with a fence, everything recalled stands inside it."""
    layout = Layout() if fence is None else _fenced_layout(fence)
    pieces = layout.opening(answer, budget)
    answers, possible = by_tier(answer)
    parts = [
        AnswerPart(_POSSIBLE_TITLE, [AnswerRow(possible_line(hit), layout.flags(said_by(hit))) for hit in possible])
    ]
    if answers:
        left = budget - count_tokens("".join(pieces)) - _FOOTER
        linked = _linked(answer, layout)
        left = _place_items(answer, answers, budget, left, linked, layout, pieces)
        left = _place_parts(answer, [*parts, *linked], left, layout, pieces)
        pieces += layout.ending(answer, left)
    else:
        pieces.append(f"{layout.gap}{_UNSURE if possible else _NOTHING}\n")
        left = budget - count_tokens("".join(pieces)) - count_tokens(layout.hint)
        parts.append(
            AnswerPart(f"\nNo longer current ({layout.everything} shows them):\n", withheld_rows(answer, layout))
        )
        _place_parts(answer, parts, left, layout, pieces)
        pieces.append(layout.hint)
    while count_tokens("".join(pieces)) > budget and (shorter := layout.shortened(pieces)):
        pieces = shorter
        answer.truncated = True
    answer.markdown = "".join(pieces)
    answer.tokens = count_tokens(answer.markdown)


def _fenced_layout(fence: Boundary) -> Layout:
    from quire.retrieval.fenced_layout import FencedLayout

    return FencedLayout(fence)


def _place_items(
    answer: Answer,
    answers: list[Hit],
    budget: int,
    left: int,
    linked: list[AnswerPart],
    layout: Layout,
    pieces: list[str],
) -> int:
    """Add the records that answer; the tokens that are left."""
    links = min(sum(count_tokens(layout.text(part, part.rows)) for part in linked), budget // _LINKS_SHARE)
    many = _names_many_files(answer)
    for number, hit in enumerate(answers):
        # The best hit comes before everything that is merely connected to it.
        room = left if not answer.shown else left - links
        share = int(budget * (_FIRST_SHARE if number == 0 else _OTHER_SHARE))
        text, whole = layout.item(hit, min(room, share), many)
        answer.truncated = answer.truncated or not whole
        if text:
            pieces.append(text)
            answer.shown.append(hit.record.ref)
            left -= count_tokens(text)
    return left


def _place_parts(answer: Answer, parts: Iterable[AnswerPart], left: int, layout: Layout, pieces: list[str]) -> int:
    """Add the lines that fit; the tokens that are left."""
    for part in parts:
        rows, cost = layout.fitting(part, left)
        answer.truncated = answer.truncated or len(rows) < len(part.rows)
        if rows:
            pieces.append(layout.text(part, rows))
            left -= cost
    return left


def withheld_rows(answer: Answer, layout: Layout) -> list[AnswerRow]:
    """The names of records that match and are no longer current, with the reason."""
    return [
        AnswerRow(f"- {safe_line(f'{item.ref} — {one_line(item.title)}: {item.reason}')}\n", layout.flags(item.title))
        for item in answer.withheld[:NAMES]
    ]


def not_shown(answer: Answer) -> list[Hit]:
    """The answers that found no room in the text."""
    return [hit for hit in by_tier(answer)[0] if hit.record.ref not in answer.shown]


def said_by(hit: Hit) -> str:
    """Everything that a record says, its title and anchors included."""
    record = hit.record
    return "\n".join((record.title, record.section, record.text, *record.anchors))


def footer(answer: Answer, missing: str, limit: str, withheld: str) -> str:
    """The last line: how much was left out and why. `limit` is the option that shows more."""
    notes = [missing] if missing else []
    if answer.beyond:
        notes.append(f"{answer.beyond} more with a higher {limit}")
    if answer.truncated and not notes:
        notes.append("cut to fit")
    if answer.withheld:
        notes.append(withheld)
    return f"\n---\n{'; '.join(notes)}\n" if notes else ""


def by_tier(answer: Answer) -> tuple[list[Hit], list[Hit]]:
    """The answers, and what is merely possible."""
    answers = [hit for hit in answer.hits if hit.tier == "answer"]
    return answers, [hit for hit in answer.hits if hit.tier != "answer"]


def _names_many_files(answer: Answer) -> bool:
    """Whether it must be said of each record which of the files it governs."""
    return len({file for hit in answer.hits for file in hit.files}) > 1


def _linked(answer: Answer, layout: Layout) -> list[AnswerPart]:
    named = (("Connected", answer.connected), ("Open questions", answer.open_questions))
    return [
        AnswerPart(f"\n## {title}\n", [AnswerRow(link_line(link), layout.flags(link.record.title)) for link in links])
        for title, links in named
        if links
    ]


def _list(names: list[str]) -> str:
    return f": {', '.join(names)}" if names else ""


def _quote(text: str) -> str:
    """Every line marked as quoted, so that nothing in it reads as part of the answer's own structure."""
    return "".join(f"> {line}".rstrip() + "\n" for line in text.split("\n")) if text else ""
