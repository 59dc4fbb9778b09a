"""Render the lines of one record in an answer: name, state, notes, body cut to fit."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable

from quire.guard.hostile_text import safe_line
from quire.model.records import Record
from quire.model.text import cut, first_sentence
from quire.retrieval.answer import NOT_REVIEWED, Answer, ConnectedRecord, Hit

# Scripts without spaces put none after their full stops either.
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s|$)|[。！？]|\n\n")
_LEAST = 12
_CALM = ("fresh", "unanchored")
_SAID_CHARS = 220
NAMES = 5


def heading_line(answer: Answer, budget: int) -> str:
    return f'# Memory: "{cut(safe_line(answer.heading), min(200, budget // 3))}"\n'


def name_of(hit: Hit) -> str:
    """The title of a record, or its section where the title only repeats the beginning of the text."""
    record = hit.record
    repeats = bool(record.section) and record.text.startswith(record.title.rstrip("…"))
    return safe_line(record.section if repeats else record.title)


def body_of(hit: Hit) -> str:
    """The text of a record; empty where the name already says all of it."""
    body = hit.record.text.strip()
    return "" if body.rstrip(".") == name_of(hit).rstrip(".") else body


def state_of(hit: Hit, *, with_verdict: bool = True) -> str:
    """Status, stage, verdict, review state and date of a record, separated by commas."""
    record = hit.record
    verdict = hit.verdict.verdict if hit.verdict and with_verdict else ""
    faded = "faded" if hit.faded else ""
    flagged = flagged_words(hit.effects)
    doubt = NOT_REVIEWED if hit.reviewed is False else ""
    parts = (record.status, record.stage, faded, verdict, doubt, flagged, last_said(record))
    return ", ".join(part for part in parts if part)


def flagged_words(effects: tuple[str, ...]) -> str:
    """The effects that following a record could have, in words."""
    if not effects:
        return ""
    from quire.guard.effects import words_of

    return f"flagged: {words_of(effects)}"


def last_said(record: Record) -> str:
    """The day of the last change of a record; empty if unknown."""
    return max(record.updated_at[:10], record.since[:10]) or record.created_at[:10]


def told_lines(hit: Hit, many_files: bool) -> str:
    """One line for each: doubtful verdict, disagreement, amendment, session, governed files, anchors."""
    lines = ""
    if hit.verdict and hit.verdict.verdict not in _CALM:
        lines += f"{hit.verdict.verdict}: {safe_line(hit.verdict.because)}\n"
    for disagreement in hit.record.contested:
        lines += f"branches disagree on {safe_line(disagreement)}\n"
    if hit.amended_by:
        lines += f"amended by {safe_line(hit.amended_by)}, which is later\n"
    if hit.session:
        lines += f"said in session {safe_line(hit.session)}\n"
    if hit.files and many_files:
        lines += f"governs: {_files(hit.files)}\n"
    if hit.record.anchors:
        lines += f"anchors: {', '.join(safe_line(anchor) for anchor in hit.record.anchors)}\n"
    return lines


def _files(files: tuple[str, ...]) -> str:
    shown = ", ".join(safe_line(file) for file in files[:NAMES])
    return f"{shown} and {len(files) - NAMES} more" if len(files) > NAMES else shown


def possible_line(hit: Hit) -> str:
    """A record that may answer, on one line; its title is left out where its text begins with it."""
    record = hit.record
    said = cut(first_sentence(record.text), _SAID_CHARS)
    name = "" if said.startswith(record.title.rstrip("…. ")) else record.title
    text = ": ".join(part for part in (name, said) if part)
    return f"- {safe_line(f'{record.ref} — {text} [{state_of(hit)}]')}\n"


def link_line(link: ConnectedRecord) -> str:
    return f"- {safe_line(link.record.ref)} — {safe_line(link.record.title)} ({safe_line(link.sentence)})\n"


def closest_line(hit: Hit) -> str:
    return f"- {safe_line(f'{hit.record.ref} — {hit.record.title}')}\n"


def cut_body(body: str, tokens: int, cost: Callable[[str], int]) -> str:
    """Cut a text after the last whole sentence that fits into `tokens`."""
    if tokens < _LEAST:
        return ""
    ends = [found.end() for found in _SENTENCE_ENDS.finditer(body)]
    fitting = bisect.bisect_right(ends, tokens, key=lambda end: cost(body[:end]))
    return body[: ends[fitting - 1]].rstrip() if fitting else ""
