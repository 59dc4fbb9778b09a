"""Take a commit message apart: a title as a person would write it, and the paragraphs that say why."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from quire.capture.history.cues import cues_in, is_added, is_fix, is_noise, is_ordinary, strength, weight_of_type
from quire.capture.quotable_text import sentences
from quire.model.text import cut, headline, one_line

TITLE_CHARS = 100
BODY_CHARS = 900
_WORDS_LEAST, _TITLE_LEAST = 6, 2
_LINES_MOST = 400
_TYPE = re.compile(r"([A-Za-z]{2,12})(?:\(([^()\n]{0,60})\))?!?:\s+(?=\S)")
_SQUARE = re.compile(r"\[(?:[A-Za-z]{2,12}-?\d*|[\w./ -]{1,30})\]:?\s+(?=\S)")
_TICKET = re.compile(r"(?:\(?(?:[A-Z][A-Z0-9]{1,9}-\d+|(?:GH|gh)-\d+|#\d+)\)?[:,]?\s+(?:-\s+)?)+(?=\S)")
_EMOJI = re.compile(r"(?:(?::[a-z0-9_+-]{2,30}:|[\u2190-\u2bff\u3030\U0001f000-\U0001faff][\ufe0f\u200d]*)\s*)+")
_NUMBER = r"(?:[\w.-]+/[\w.-]+)?(?:#|GH-|gh-|!)\d+|[A-Z][A-Z0-9]{1,9}-\d+|https?://\S+"
_TAIL = re.compile(
    r"(?:[\s,;.–-]*[(\[]?"
    r"(?i:\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|issue|part of|for|from|via|re|in|by|PR)\b[:\s]*)?"
    rf"(?:{_NUMBER})(?:\s*(?:,|and|&)\s*(?:{_NUMBER}))*[)\]]?)+[\s.]*$"
)
_MERGE = re.compile(r"Merge (?:pull request|PR|branch|remote|tag|commit|changes|in|'|#)", re.I)
_TELLS_ALONE, _TELLS = frozenset(("reason",)), frozenset(("reason", "instead"))
_TELLS_FIX = frozenset(("reason", "instead", "trap"))
"""What a subject without a text, a decision and a trap must hold: that something was changed is no reason."""
_AREA = re.compile(r"[\w./,* -]{1,40}:\s+")
_BRANCH = re.compile(r"[\w.-]+/[\w./-]+\b|[\w]+(?:[-_][\w]+){2,}$")
_REVERT = re.compile(
    r"(?:(?:Revert|Reapply|Re-?land|Roll ?back)[:\s]+[\"“'](.+?)[\"”']|revert:\s+(.+))\s*(?:\(.*\))?$", re.I | re.S
)
_STANDARD = re.compile(
    r"This reverts (?:merge request )?(?:commit )?\S+(?:,? reversing\s+changes made to \S+)?\s*\.?", re.I
)
_BOX = re.compile(r"[-*+]\s+\[[ xX]?\]\s")
_LOG = re.compile(r"(?m)^(?:\* )?[^\n]{1,200}: \(\d+ commits?\)|^#? ?Conflicts:$")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,2}[.)])\s+")
_LATER = 0.9
_ORDINARY, _ADDED = 0.4, 0.8
_MANY = 3
_POINT_WEIGHT = 0.7
_POINT = "- "
_POINTS = re.compile(r"(?<![^\n])(- [^\n]*)\n(?=\n- )")
_HANGING = 6
"""A line of a paragraph or a point may be indented so far; further in stands code."""
_CODE = re.compile(r"\t| {4,}|(?:[$>|]|\w+\.\w+:\d+:|at \w|File \"|Traceback|goroutine |panic:|\+\+\+|@@)")
_HEADING = re.compile(r"(?:#{1,6}\s+.*|(?:={3,}|-{3,}|\*{3,}|_{3,})|\w[\w ]{0,30}:)$")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_TAG = re.compile(r"</?(?:details|summary|br|p|img|sup|sub|a|b|i|em|strong|h\d)\b[^<>\n]*>", re.I)
_ISSUE = re.compile(rf"(?<![\w/])\s*[(\[](?:(?:see|fixes|closes|refs?|cf\.?)\s+)?(?:{_NUMBER})[)\]]", re.I)


class Told(Struct, frozen=True, kw_only=True):
    """What a message tells, and how sure it is that this is worth keeping."""

    title: str
    body: str
    reason: str
    """The paragraph that says why: the quote."""
    strength: float
    is_fix: bool = False
    reverted: str = ""
    """The subject of the commit that it takes back, by its own words."""


def told_by(message: str) -> Told | None:
    """What a message says beside what was done; None where it gives no reason."""
    subject, text = _subject_and_text(message)
    revert = _REVERT.match(subject)
    kind = _TYPE.match(subject)
    weight = 1.0 if revert else _weight(subject, kind)
    if not weight:
        return None
    title = title_of(subject)
    fixes = is_fix(_AREA.sub("", title)) or bool(kind and is_fix(kind[1]))
    paragraphs = [
        part
        for part in _paragraphs(_STANDARD.sub("", text))
        if part.removeprefix(_POINT).casefold() != title.casefold()
    ]
    reason = _reason(paragraphs) or title
    cues = cues_in(reason)
    # "Instead of" in a subject says what was changed, and not why.
    tells = _TELLS_ALONE if reason == title else _TELLS_FIX if fixes or revert else _TELLS
    if not cues & tells or len(f"{title} {reason}".split()) < _WORDS_LEAST:
        return None
    is_point = reason.startswith(_POINT)
    # Of a squashed branch, a point is a commit of its own, and what comes after it is its text.
    is_one_of_many = is_point and sum(part.startswith(_POINT) for part in paragraphs) >= _MANY
    named = _point_before(paragraphs, reason)
    if is_one_of_many or named:
        body, point = reason.removeprefix(_POINT), named or reason
        title = title_of(_first(point)) if len(point) <= TITLE_CHARS or _is_poor(subject) else title
    else:
        body = _body(paragraphs, reason) if reason != title else ""
        title = title_of(_first(reason)) if _is_poor(subject) and reason != title else title
    if is_point:
        weight *= _POINT_WEIGHT
    return Told(
        title=title,
        body=body,
        reason=reason.removeprefix(_POINT),
        strength=weight * strength(cues, explained=len(list(sentences(body))) > 1),
        is_fix=fixes,
        reverted=title_of(revert[1] or revert[2]) if revert else "",
    )


def _reason(paragraphs: list[str]) -> str:
    """The paragraph that says why: most messages begin with what matters most."""
    worth = {number: strength(cues_in(part)) * _LATER**number for number, part in enumerate(paragraphs)}
    best = max(worth, key=lambda number: worth[number], default=0)
    return paragraphs[best] if worth.get(best) else ""


def _point_before(paragraphs: list[str], reason: str) -> str:
    """The point that a paragraph belongs to, where the whole text is points with their texts."""
    if not paragraphs or not paragraphs[0].startswith(_POINT) or reason.startswith(_POINT) or reason not in paragraphs:
        return ""
    return next(part for part in reversed(paragraphs[: paragraphs.index(reason)]) if part.startswith(_POINT))


def _first(text: str) -> str:
    return next(sentences(text), text).removeprefix(_POINT)


def title_of(subject: str) -> str:
    """A subject without its type, its ticket and its number."""
    text = given = one_line(subject)
    before = ""
    while before != text:
        before = text
        text = _EMOJI.sub("", text, count=1) if _EMOJI.match(text) else text
        kind = _TYPE.match(text)
        if kind and (kind[2] is not None or weight_of_type(kind[1]) is not None):
            text = text[kind.end() :]
        for mark in (_SQUARE, _TICKET):
            found = mark.match(text)
            text = text[found.end() :] if found else text
        text = _TAIL.sub("", text).strip() or text
    text = headline(text.rstrip(" .;,:"), TITLE_CHARS)
    first = text.split(" ")[0]
    # A name that the author wrote small stays so.
    return (
        text[:1].upper() + text[1:]
        if not given.startswith(text[:20]) and first.islower() and first.replace("'", "").isalpha()
        else text
    )


def _weight(subject: str, kind: re.Match[str] | None) -> float:
    """How much the form of a subject lets expect."""
    known = weight_of_type(kind[1]) if kind else None
    bare = title_of(subject)
    scope = weight_of_type(kind[2]) if kind and kind[2] else None
    form = _ORDINARY if is_ordinary(bare) or is_ordinary(subject) else _ADDED if is_added(bare) else 1.0
    return min(1.0 if known is None else known, 1.0 if scope is None else scope) * form


def _is_poor(subject: str) -> bool:
    """Whether a subject is the name of a branch, or next to nothing."""
    title = title_of(subject)
    return len(title.split()) < _TITLE_LEAST or bool(_BRANCH.match(subject)) or is_ordinary(title)


def _subject_and_text(message: str) -> tuple[str, str]:
    """The subject and the rest; of a merge what the pull request is called and says."""
    subject, _, text = _COMMENT.sub("", message[: _LINES_MOST * 100]).strip().partition("\n")
    if _MERGE.match(subject):
        subject, _, text = text.strip().partition("\n")
    # What git lists of a merge are the subjects of commits that are read anyway.
    if _LOG.match(subject):
        return "", ""
    text = _LOG.split(text, maxsplit=1)[0]
    return one_line(_ITEM.sub("", subject, count=1) if _ITEM.match(subject) else subject), _TAG.sub("", text)


def _paragraphs(text: str) -> Iterator[str]:
    """Prose and points of lists, each on one line; code, trailers, headings and answers of machines are left out."""
    held: list[str] = []
    fenced = is_point = False
    for line in [*text.split("\n")[:_LINES_MOST], ""]:
        bare = line.strip()
        is_fence = bare.startswith(("```", "~~~"))
        if _BOX.match(bare):
            bare = ""  # a template's list of what to think of
        item = None if _goes_on(bare, held, is_point) else _ITEM.match(bare)
        ends = not bare or is_fence or fenced or is_noise(bare) or bool(_HEADING.match(bare))
        if not ends and not item:
            ends = bool(_CODE.match(line)) and not (held and line.startswith(" ") and len(line) - len(bare) <= _HANGING)
        if (ends or item) and held:
            yield _paragraph(held, is_point)
            held = []
        fenced = fenced != is_fence
        if not ends:
            is_point = bool(item) if item or not held else is_point
            held.append(bare[item.end() if item else 0 :])


def _goes_on(bare: str, held: list[str], is_point: bool) -> bool:
    """Whether a dash at the beginning of a line is one within a sentence."""
    return bool(held) and not is_point and bare[2:3].islower() and held[-1][-1:] not in ".:!?;"


def _paragraph(lines: list[str], is_point: bool) -> str:
    said = _ISSUE.sub("", one_line(" ".join(lines)))
    if not is_point:
        return said
    return _POINT + (title_of(said) if len(said) < TITLE_CHARS else said)


def _body(paragraphs: list[str], reason: str) -> str:
    """The paragraph that says why, with as much as fits of what stands before it, then of what comes after."""
    first = last = paragraphs.index(reason)
    room = BODY_CHARS - len(reason)
    while first and len(paragraphs[first - 1]) < room:
        first -= 1
        room -= len(paragraphs[first]) + 2
    while last + 1 < len(paragraphs) and len(paragraphs[last + 1]) < room:
        last += 1
        room -= len(paragraphs[last]) + 2
    # Without the code that it announces, an announcement says nothing.
    kept = [_short(part) for part in paragraphs[first : last + 1] if part == reason or not part.endswith(":")]
    return _POINTS.sub(r"\1", "\n\n".join(kept))


def _short(reason: str) -> str:
    if len(reason) <= BODY_CHARS:
        return reason
    ends = [found.end() for found in re.finditer(r"[.!?](?=\s)", reason[:BODY_CHARS])]
    return reason[: ends[-1]] if ends and ends[-1] > BODY_CHARS // 3 else cut(reason, BODY_CHARS)
