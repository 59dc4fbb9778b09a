"""Fit records into the text that a hook sends to an agent, and report for each whether it was included.

Whoever passes on says what is offered, in the order in which it matters. A line stands whole or not at all; the fate
of every offer is noted, so that there can be a receipt for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from quire.model.records import Record
from quire.model.text import cut, first_sentence, one_line
from quire.model.tokens import count_tokens
from quire.model.verdicts import Verdict
from quire.retrieval.answer import NOT_REVIEWED
from quire.retrieval.page import BudgetPage, PageLine, line_cost

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary

Outcome = Literal["included", "trimmed", "withheld"]
_CALM = ("fresh", "unanchored")
_TITLE_CHARS = 120
_SAID_CHARS = 220
UNREVIEWED_CHARS = 100


class OfferedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that may be included."""

    line: str
    ref: str = ""
    """The record that it tells of; empty for a line about the memory itself."""
    why: str = ""
    withheld: str = ""
    """Why it must not be told; it only gets a receipt then."""
    verdict: str = ""


class LineGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of one kind below a heading."""

    title: str
    offers: Sequence[OfferedLine]
    most: int = 100
    """So many at most, however much room there is."""


class LineFate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a line was included, trimmed or withheld, and why."""

    ref: str
    outcome: Outcome
    why: str = ""
    tokens: int = 0
    verdict: str = ""


class Injection(msgspec.Struct, kw_only=True):
    """The text that is sent, and the outcome for every record considered."""

    text: str = ""
    tokens: int = 0
    budget: int = 0
    considered: int = 0
    fates: list[LineFate] = []


def record_line(record: Record, verdict: Verdict | None = None, *, marks: Sequence[str] = (), changes: str = "") -> str:
    """A record on one line, with its ref and what is known of its truth; nothing in it breaks out of the line.

    `marks` say more of it: where it comes from, what following it would do; `changes` what the verdict does not.
    """
    states = (record.stage, verdict.verdict if verdict else "", *marks)
    state = ", ".join(part for part in states if part and part != "fresh")
    title = cut(one_line(record.title), _TITLE_CHARS)
    first = one_line(next((line for line in record.text.splitlines() if line.strip()), ""))
    bare, begin = title.rstrip("…. "), first.rstrip(". ")
    if bare and begin and (begin.startswith(bare) or bare.startswith(begin)):
        # The title is how the text begins, or the text no more than the title.
        title, body = cut(first, _SAID_CHARS) if len(begin) > len(bare) else title, ""
    else:
        said = cut(one_line(first_sentence(record.text)), _SAID_CHARS)
        title, body = (said, "") if bare in said else (title, f": {said}" if said else "")
    because = cut(one_line(changes or verdict.because), 240 if changes else 160) if verdict else ""
    because = because if verdict and verdict.verdict not in _CALM else ""
    doubt = f" ({because})" if because else ""
    return f"- `{record.ref}`{f' [{one_line(state)}]' if state else ''} {title}{body}{doubt}"


def unreviewed_line(record: Record, *, marks: Sequence[str] = (), silent: bool = False) -> str:
    """One line for an unreviewed record: its ref and its beginning; with `silent` the ref alone."""
    said = ""
    if not silent:
        title, first = one_line(record.title), one_line(first_sentence(record.text))
        is_same = first.startswith(title.rstrip("…. "))
        said = f" {cut(first if is_same else f'{title}: {first}' if first else title, UNREVIEWED_CHARS)}"
    return f"- `{record.ref}` [{one_line(', '.join(filter(None, (NOT_REVIEWED, *marks))))}]{said}"


def fit_groups(
    head: str,
    shelves: Sequence[LineGroup],
    *,
    tokens: int,
    chars: int,
    fence: Boundary,
    foot: Iterable[str] = (),
) -> Injection:
    """Render the head, as many lines of the groups as fit, and the foot; empty if there are no lines.

    Groups come in the order of their importance, all between one pair of marks.
    """
    head = f"{fence.inside(head)} {fence.notice()}"
    feet = [fence.inside(line) for line in foot]
    begin, end = fence.wrap("").split("\n")
    around = (head, begin, end, *feet)
    page: BudgetPage[PageLine] = BudgetPage(
        tokens - count_tokens("\n".join(around)) - 2, chars - sum(len(line) + 1 for line in around)
    )
    done = Injection(budget=tokens)
    seen: set[str] = set()
    for shelf in shelves:
        heading = f"\n{shelf.title}" if shelf.title else ""
        for offer in shelf.offers:
            if offer.ref and offer.ref in seen:
                continue
            seen.add(offer.ref)
            done.considered += 1
            done.fates.append(_place(page, shelf, heading, offer, fence))
    if page.lines or feet:
        below = {line.heading: [one.text for one in page.below(line.heading)] for line in page.lines}
        parts = [text for heading, lines in below.items() for text in (heading, *lines)]
        told = [begin, "\n".join(parts).strip("\n"), end] if parts else []
        done.text = "\n".join((head, *told, *feet))
        done.tokens = count_tokens(done.text)
    return done


def _place(page: BudgetPage[PageLine], shelf: LineGroup, heading: str, offer: OfferedLine, fence: Boundary) -> LineFate:
    """Add the line of an offer to the page where it may be sent and fits; what became of it."""
    fate = LineFate(ref=offer.ref, outcome="withheld", why=offer.withheld, verdict=offer.verdict)
    if offer.withheld:
        return fate
    text = fence.inside(offer.line)
    line = PageLine(heading=heading, text=text, cost=line_cost(text))
    is_full = len(page.below(heading)) >= shelf.most
    if is_full or not page.add(line):
        why = f"only {shelf.most} of these are sent" if is_full else "no room"
        return msgspec.structs.replace(fate, outcome="trimmed", why=why)
    return msgspec.structs.replace(fate, outcome="included", why=offer.why, tokens=line.cost)
