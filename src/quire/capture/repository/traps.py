"""Gotchas that a project's pages warn of: marked notes, and sections on pitfalls and troubleshooting.

A sentence goes where it belongs by its words: what happens, why, what to do instead. Where the page does not say one
of them, nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from quire.capture.markdown import Section, open_items
from quire.capture.quotable_text import sentences
from quire.capture.repository.clean_text import TITLE_CHARS, normal, plain, said
from quire.capture.repository.pages import DocumentPage
from quire.capture.repository.readme import Paragraph, paragraphs

TRAPS_MOST = 12
RISKS_MOST = 6
_NOTES_MOST = 3
_LOOKED_AT = 200
"""Of one page, no more are compared."""
_WORDS_MOST = 300
_LABELS = {"gotcha": 0, "pitfall": 0, "trap": 0, "beware": 0, "danger": 1, "caution": 1, "warning": 1, "attention": 1}
_LABELS |= {"important": 2, "note": 3}
_NOTE = 3
_NAMES = "|".join(_LABELS)
_ALERT = re.compile(rf"\[!({_NAMES})\]\s*", re.I)
_LABEL = re.compile(
    rf"(?:[⚠❗🚨️]\s*)*(?:\*\*|__)?({_NAMES})s?(?:\s*[:：!](?:\*\*|__)?|(?:\*\*|__)\s*[:：!–—-]?)\s*(?=\S)", re.I
)
_SIGN = re.compile(r"(?:⚠️?|❗️?|🚨)\s*")
_ADMONITION = re.compile(
    rf"(?:!!!|\?\?\?\+?|:::)\s*({_NAMES})\b[ \t]*(?:\[([^\]]*)\]|[\"']([^\"']*)[\"']|([^\[\"'\n]*))", re.I
)
_TRAP_SECTION = re.compile(
    r"(?:common |known |frequent )?(?:gotchas?|pitfalls?|traps?|caveats?|troubleshooting|mistakes|problems|errors|"
    r"things to watch)\b.*|watch out.*|.*\bpitfalls",
    re.I,
)
_RISK_SECTION = re.compile(
    r"(?:known |current )?(?:issues|limitations|bugs|risks|restrictions|shortcomings)\b.*|known gaps.*", re.I
)
_POINTER = re.compile(r"(?:^|(?<=[.!?] ))See \[[^\]\n]{1,100}\]\([^()\n]{1,200}\)\.?(?=\s|$)")
_CAUSE = re.compile(
    r"\b(?:because|due to|caused by|the (?:cause|reason) (?:is|was)|since)\b|因为|由于|weil\b|porque\b|parce que\b",
    re.I,
)
_PATH = re.compile(
    r"\b(?:instead|make sure|ensure|must|should|always|never|avoid|do not|don't|remember to|needs? to|have to|to fix|"
    r"work ?around|please|upgrade|downgrade)\b|^(?:use|run|set|add|remove|delete|keep|check|install|call|pass|"
    r"rebuild|restart|put|write|read|clear|commit|pin|export|enable|disable|start|stop|wait|give|unset|close|free)\b",
    re.I,
)
_SYMPTOM = re.compile(
    r"fail|error|crash|hang|break|broken|wrong|corrupt|\blos[et]|missing|slow|leak|stale|refus|n't\b|not work|cannot|"
    r"unexpected|silent|exception|time ?out|overwrit",
    re.I,
)


class Trap(Struct, frozen=True, kw_only=True):
    """A warning of a page. Fields of which the page says nothing are empty."""

    title: str
    symptom: str
    cause: str
    path: str
    page: str
    section: str
    rank: int


def find_traps(pages: Iterable[DocumentPage]) -> list[Trap]:
    """The traps, those that are called so before warnings and warnings before notes, each title once."""
    found: dict[str, Trap] = {}
    for page in pages:
        for trap in islice(_page_traps(page), _LOOKED_AT):
            found.setdefault(normal(trap.title), trap)
    ranked = sorted(found.values(), key=lambda trap: trap.rank)
    notes = [trap for trap in ranked if trap.rank == _NOTE][:_NOTES_MOST]
    return [*(trap for trap in ranked if trap.rank < _NOTE), *notes][:TRAPS_MOST]


def find_risks(pages: Iterable[DocumentPage]) -> list[str]:
    """What the pages list as known issues and limitations, each with its page."""
    found: list[str] = []
    for page in pages:
        for section in page.sections:
            if _RISK_SECTION.fullmatch(section.title.strip()):
                words = (said(item) for item in open_items(section.lines, nested=False))
                found += [f"{text} ({page.path})" for text in words if text]
    return list(dict.fromkeys(found))[:RISKS_MOST]


def _page_traps(page: DocumentPage) -> Iterator[Trap]:
    under, depth = False, 0
    for section in page.sections:
        if section.level and (not under or section.level <= depth):
            under = bool(_TRAP_SECTION.fullmatch(section.title.strip()))
            depth = section.level
            is_top = under
        else:
            is_top = False
        if under:
            yield from _listed(page, section) if is_top else _headed(page, section)
        for rank, title, text in _marked(section):
            trap = _trap(page, section, title, text, rank)
            if trap:
                yield trap


def _listed(page: DocumentPage, section: Section) -> Iterator[Trap]:
    """The items of a section on traps, each one of them."""
    for item in open_items(section.lines, nested=True):
        title, text = _titled(item)
        trap = _trap(page, section, title, text, 0)
        if trap:
            yield trap


def _headed(page: DocumentPage, section: Section) -> Iterator[Trap]:
    """A heading below a section on traps: the heading is what one sees, and the text says the rest."""
    text = " ".join(paragraph.text for paragraph in paragraphs(section.lines) if paragraph.kind != "table")
    found, cause, path = sorted_sentences(_POINTER.sub("", text))
    title = said(section.title, TITLE_CHARS).rstrip(".:")
    if title and text.strip():
        yield Trap(
            title=title,
            symptom=said(section.title),
            cause=cause or found,
            path=path,
            page=page.path,
            section=said(section.title, 80),
            rank=0,
        )


def _marked(section: Section) -> Iterator[tuple[int, str, str]]:
    """Notes with a mark or a label: their rank, their title if they have one, their text."""
    listed = list(paragraphs(section.lines))
    for number, paragraph in enumerate(listed):
        if paragraph.kind == "table":
            continue
        lines = paragraph.lines
        admonition = _ADMONITION.match(lines[0])
        if admonition:
            title = next((text for text in admonition.groups()[1:] if text), "")
            rest = [*lines[1:], *(listed[number + 1].lines if len(lines) == 1 and number + 1 < len(listed) else ())]
            yield _LABELS[admonition[1].lower()], title, " ".join(line for line in rest if not line.startswith(":::"))
            continue
        yield from _labelled(paragraph)


def _labelled(paragraph: Paragraph) -> Iterator[tuple[int, str, str]]:
    text = paragraph.text
    alert = _ALERT.match(text)
    label = alert or _LABEL.match(text)
    sign = _SIGN.match(text)
    if label:
        rest = text[label.end() :]
        yield _LABELS[label[1].lower()], "", rest
    elif sign:
        yield _LABELS["warning"], "", text[sign.end() :]


def _titled(item: str) -> tuple[str, str]:
    """An item that begins with a name in bold, or with one before a colon, has a title."""
    bold = re.match(r"\*\*([^*]{2,200})\*\*\s*[:：.–—-]*\s*(.*)", item, re.S)
    if bold:
        return bold[1].rstrip(" :."), bold[2]
    name, colon, rest = item.partition(": ")
    return (name, rest) if colon and 2 <= len(name) <= TITLE_CHARS and rest.strip() else ("", item)


def _trap(page: DocumentPage, section: Section, title: str, text: str, rank: int) -> Trap | None:
    symptom, cause, path = sorted_sentences(text)
    words = said(title, TITLE_CHARS) or said(next(iter(sentences(plain(text))), ""), TITLE_CHARS)
    if not words:
        return None
    if not symptom and title and _SYMPTOM.search(title):
        symptom = said(title)
    return Trap(
        title=words.rstrip(".:"),
        symptom=symptom,
        cause=cause,
        path=path,
        page=page.path,
        section=said(section.title, 80),
        rank=rank,
    )


def sorted_sentences(text: str) -> tuple[str, str, str]:
    """What happens, why, and what to do: the sentences of a text by their words. What fits nowhere is what happens."""
    held: dict[str, list[str]] = {"symptom": [], "cause": [], "path": [], "rest": []}
    for sentence in sentences(plain(text)):
        if _CAUSE.search(sentence):
            held["cause"].append(sentence)
        elif _PATH.search(sentence):
            held["path"].append(sentence)
        else:
            held["symptom" if _SYMPTOM.search(sentence) else "rest"].append(sentence)
    symptom = held["symptom"] or held["rest"]
    return tuple(said(" ".join(part), _WORDS_MOST) for part in (symptom, held["cause"], held["path"]))  # type: ignore[return-value]
