"""Turn the sections of a document into proposals: related items stay together, decisions and gotchas stand alone."""

from __future__ import annotations

import re

from msgspec import Struct

from quire.capture.hosts.documents import DocumentPart, HostDocument
from quire.capture.hosts.items import TextItem, is_lead, lead_of, with_leads
from quire.capture.hosts.proposal_collector import ProposalCollector, plain, slug, title_and_body
from quire.capture.hosts.topics import (
    PATTERNS,
    Place,
    Subject,
    category_of,
    is_about_commands,
    is_knowledge,
    is_order,
    is_remembered,
    is_telling,
    labelled,
    place_of,
    subject_of,
)
from quire.layers.profile.layout import LONG_VALUE_CHARS

WHOLE_CHARS = 1_200
"""A fact of this length is still one that somebody reads; sections beside each other are joined up to it."""
_KINDS: dict[Place, str] = {"decision": "decision", "gotcha": "gotcha", "question": "question"}
_TROUBLE = re.compile(r"(?:\*\*|__)(?:issue|problem|symptom|error|question|q)s?:?(?:\*\*|__)[ \t]*:?[ \t]*", re.I)
_ANSWER = re.compile(r"[ \t]*(?:\*\*|__)(?:solution|fix|cause|answer|workaround|resolution|a)s?:?(?:\*\*|__)", re.I)
# The other program's own upkeep is no step of the project.
_UPKEEP = re.compile(r"\bmemory[- ]bank\b", re.I)
_FEW_WORDS = 3
_MANY_WORDS = 12


class _Piece(Struct):
    """A section, or what of it is left for a fact."""

    subject: Subject
    titles: tuple[str, ...]
    items: list[TextItem]


class Manner(Struct, frozen=True, kw_only=True):
    """How the facts of a document are worded."""

    title: str = ""
    """The document's: said where a section has no heading."""
    prefix: str = ""
    """Said before every fact: the folder or the subject that the document is about."""
    suffix: str = ""
    """Said after every fact: the files that it is for."""
    default: str = PATTERNS
    intro: str = ""
    """The section of prose before the first heading, which says what the project is."""
    tags: tuple[str, ...] = ()


def propose_facts(gathering: ProposalCollector, parts: tuple[DocumentPart, ...], manner: Manner) -> None:
    """Facts, and what the headings or the items themselves call decisions, traps, questions or next steps."""
    pieces: list[_Piece] = []
    for part in parts:
        is_intro = manner.intro and not part.titles and all(item.form == "text" for item in part.items)
        subject = subject_of(part.titles, manner.title, manner.intro if is_intro else manner.default)
        items = worth_keeping(
            gathering, part, manner.title, is_passed_over=subject.place == "none", is_fact=subject.place == "fact"
        )
        if not items:
            continue
        if subject.place != "fact":
            propose_items(gathering, subject.place, part, items)
            continue
        rest = [item for item in items if not _by_its_label(gathering, item)]
        if is_remembered(part.titles):
            for item in rest:
                gathering.fact(subject.section, item.text + manner.suffix, [item], manner.tags)
        elif rest:
            pieces.append(_Piece(subject, part.titles, rest))
    for group in _joined(pieces):
        _propose_group(gathering, group, manner)


def worth_keeping(
    gathering: ProposalCollector,
    part: DocumentPart,
    title: str = "",
    *,
    is_passed_over: bool = False,
    is_fact: bool = False,
) -> list[TextItem]:
    """The items of a section that say something and may be kept. A section that has none is counted.

    The points of a fact stay together, however short some of them are.
    """
    if not part.items:
        return []
    found = [item for item in part.items if item.form == "code" or is_knowledge(item)]
    has_words = any(item.form != "code" for item in found) or is_about_commands(part.titles or (title,))
    if is_passed_over or not found or not has_words:
        gathering.skipped += 1
        return []
    return gathering.admitted(_whole(part.items) if is_fact else found)


def _whole(items: tuple[TextItem, ...]) -> list[TextItem]:
    """The items of a section of facts without those that say nothing, and without headings of nothing."""
    kept: list[TextItem] = []
    for item in reversed(items):
        if item.form == "text" and _leads(item.text):
            # Nothing follows it before the next one, or before the end.
            if kept and not (kept[-1].form == "text" and _leads(kept[-1].text)):
                kept.append(item)
        elif item.form == "code" or is_knowledge(item) or (item.form == "point" and is_telling(item)):
            kept.append(item)
    return kept[::-1]


def _leads(text: str) -> bool:
    return "\n" not in text and is_lead(text)


def propose_items(gathering: ProposalCollector, place: Place, part: DocumentPart, items: list[TextItem]) -> None:
    """One proposal for each item of a section on decisions, traps, questions or next steps."""
    whole = with_leads(tuple(items))
    points = [item for item in whole if item.form == "point" or (item.form == "text" and "\n- " in item.text)]
    if place == "next":
        _propose_steps(gathering, part, points or whole, is_one=any(map(_has_lead, part.items)))
        return
    kind = _KINDS[place]
    troubles = _troubles(items) if kind == "gotcha" else []
    for item in troubles:
        title = _ANSWER.split(item.text.split("\n")[0], maxsplit=1)[0]
        gathering.node(kind, plain(title), item.text, [item])
    if troubles:
        return
    if part.titles and place_of(part.titles[-1]) != place:
        # A section of its own below such a heading is one record, and its points are its reasons.
        gathering.node(kind, plain(part.titles[-1]), _listed(items), items, **_more(kind))
        return
    for item in whole:
        if item.mark == "done" or item.form == "code" or (points and item not in points and not _is_one(item)):
            continue
        if kind == "decision" and is_order(item.text):
            gathering.fact(PATTERNS, _said(_heading("", part.titles[-1:]), item.text), [item], part.titles[-1:])
            continue
        title, body = title_and_body(labelled(item.text)[1])
        gathering.node(kind, title, body, [item], **_more(kind))


def _propose_steps(gathering: ProposalCollector, part: DocumentPart, items: list[TextItem], *, is_one: bool) -> None:
    left = [item for item in items if item.mark != "done" and item.form != "code" and not _UPKEEP.search(item.text)]
    if is_one and left and part.titles and place_of(part.titles[-1]) != "next":
        # A task that is written out in a section of its own: its points mean nothing without it.
        gathering.note(plain(part.titles[-1]), left)
        return
    for item in left:
        gathering.note(plain(item.text.split("\n")[0]), [item])


def _has_lead(item: TextItem) -> bool:
    return item.form == "text" and bool(lead_of(item.text)[0])


def _troubles(items: list[TextItem]) -> list[TextItem]:
    """Paragraphs that begin with `**Issue**: …`, each with all that stands below it as one."""
    found: list[TextItem] = []
    for item in items:
        begins = _TROUBLE.match(item.text) if item.form != "code" else None
        if begins:
            found.append(TextItem("text", item.line, item.text[begins.end() :], item.last))
        elif found:
            last = found[-1]
            found[-1] = TextItem("text", last.line, f"{last.text}\n{item.shown}", item.last)
    return found


def _is_one(item: TextItem) -> bool:
    """Whether a paragraph among points is one of them, rather than words that lead to them."""
    return labelled(item.text)[0] in _KINDS or (len(item.text.split()) >= _MANY_WORDS and item.text[-1] not in ":：")


def _more(kind: str) -> dict[str, str]:
    return {"status": "open"} if kind == "question" else {}


def _by_its_label(gathering: ProposalCollector, item: TextItem) -> bool:
    """Whether an item calls itself something else than a fact, and was proposed as that."""
    place, rest = labelled(item.text)
    if place not in _KINDS or len(rest.split()) < _FEW_WORDS:
        return False
    title, body = title_and_body(rest)
    gathering.node(_KINDS[place], title, body, [item], **_more(_KINDS[place]))
    return True


def _joined(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Sections that follow each other, belong below one heading and to one place, and are short, as one."""
    groups: list[list[_Piece]] = []
    for piece in pieces:
        last = groups[-1] if groups else None
        if last and _is_beside(last[0], piece) and sum(map(_size, last)) + _size(piece) <= WHOLE_CHARS:
            last.append(piece)
        else:
            groups.append([piece])
    return groups


def _is_beside(one: _Piece, other: _Piece) -> bool:
    return one.titles[:1] == other.titles[:1] != () and one.subject == other.subject


def _size(piece: _Piece) -> int:
    return sum(len(item.shown) + 1 for item in piece.items) + len(piece.titles[-1:]) * 20


def _propose_group(gathering: ProposalCollector, group: list[_Piece], manner: Manner) -> None:
    section, titles = group[0].subject.section, group[0].titles
    if len(group) == 1:
        heading = _heading(manner.prefix, titles or ((manner.title,) if manner.title != manner.prefix else ()))
        for items in _packed(group[0].items, WHOLE_CHARS):
            said = _said(heading, _listed(items)) + manner.suffix
            gathering.fact(section, said, items, (*manner.tags, *titles[-1:]))
        return
    lines: list[str] = []
    for piece in group:
        inner = piece.titles[1:]
        lines += [f"{' › '.join(inner)}:"] if inner else []
        lines.append(_listed(piece.items))
    items = [item for piece in group for item in piece.items]
    said = _said(_heading(manner.prefix, titles[:1]), "\n".join(lines)) + manner.suffix
    gathering.fact(section, said, items, (*manner.tags, *titles[:1]))


def _heading(prefix: str, titles: tuple[str, ...]) -> str:
    return " › ".join(name for name in (prefix, *titles) if name)


def _said(heading: str, body: str) -> str:
    """A text below its heading; one line where it is one."""
    if not heading:
        # A fact loses the dash that it begins with.
        return f"Rules:\n{body}" if body.startswith("- ") else body
    return f"{heading}:\n{body}" if "\n" in body or body.startswith("- ") else f"{heading}: {body}"


def _listed(items: list[TextItem]) -> str:
    if len(items) == 1 and items[0].form == "point":
        return items[0].text
    return "\n".join(item.shown for item in items)


def _packed(items: list[TextItem], most: int) -> list[list[TextItem]]:
    """Items in their order, as many together as fit."""
    packs: list[list[TextItem]] = []
    room = 0
    for item in items:
        size = len(item.shown) + 1
        # Code explains what stands before it.
        if packs and (size <= room or item.form == "code"):
            packs[-1].append(item)
            room -= size
        else:
            packs.append([item])
            room = most - size
    return packs


def propose_preferences(gathering: ProposalCollector, document: HostDocument) -> None:
    """Entries of the profile: what a person wants in all projects, or alone."""
    taken: dict[str, int] = {}
    for part in document.parts:
        heading = () if is_remembered(part.titles) else part.titles[-1:]
        items = worth_keeping(gathering, part, is_passed_over=subject_of(part.titles).place == "none")
        # What an agent was asked to remember was asked for one by one.
        for pack in _packed(items, LONG_VALUE_CHARS if heading == part.titles[-1:] else 0):
            words = plain(pack[0].text)
            category = category_of(part.titles if heading else (words,))
            key = slug(heading[0] if heading else " ".join(words.split()[:6])) or "preferences"
            taken[f"{category}.{key}"] = number = taken.get(f"{category}.{key}", 0) + 1
            key = key if number == 1 else f"{key}_{number}"
            gathering.entry(category, key, _said(_heading("", heading), _listed(pack)), pack, heading)
