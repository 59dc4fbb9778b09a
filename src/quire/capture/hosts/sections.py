"""Turn the sections of a document into proposals, one for each rule, decision, gotcha, question or step.

Only what means nothing apart stays together: the steps of a procedure, a listing, the prose of a description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from quire.capture.hosts.documents import DocumentPart, HostDocument
from quire.capture.hosts.items import TextItem, is_lead, lead_of, with_leads
from quire.capture.hosts.proposal_collector import ProposalCollector, plain, slug, title_and_body
from quire.capture.hosts.topics import (
    ARCHITECTURE,
    PATTERNS,
    Place,
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

WHOLE_CHARS = 1_200
"""A fact of this length is still one that someone reads; a longer listing becomes several."""
_KINDS: dict[Place, str] = {"decision": "decision", "gotcha": "gotcha", "question": "question"}
_TROUBLE = re.compile(r"(?:\*\*|__)(?:issue|problem|symptom|error|question|q)s?:?(?:\*\*|__)[ \t]*:?[ \t]*", re.I)
_ANSWER = re.compile(r"[ \t]*(?:\*\*|__)(?:solution|fix|cause|answer|workaround|resolution|a)s?:?(?:\*\*|__)", re.I)
# The other program's own upkeep is no step of the project.
_UPKEEP = re.compile(r"\bmemory[- ]bank\b", re.I)
_FEW_WORDS = 3
_MANY_WORDS = 12
_KEY_WORDS = 6
_LEAD_WORDS = 8
"""Up to so many words before a colon stand for a heading; a longer sentence is ended by the points below it."""
_LABEL_WORDS = 4
_TITLES_SHOWN = 3
# A point that names something and says what it is, or only names it.
_ENTRY = re.compile(r"`[^`]+`[^.!?]*[.]?$|(?:\*\*|__)?[\w@./-]+(?:\*\*|__)?[ \t]*[:–—-][ \t]")
_PROCEDURE = re.compile(
    r"\bsteps?\b|\bhow to\b|\bprocedures?\b|\bprocess\b|\bworkflows?\b|\bchecklists?\b|\bsetup\b|\bset up\b|\binstall|"
    r"\breleas|\bdeploy|\bflows?\b|\bgetting started\b|\bquick ?start|\badding\b|\bbefore\b|\bto add\b|\bcycle\b",
    re.I,
)


class _Rule(Struct, frozen=True):
    """What one proposal says: one item of a section, or several that mean nothing apart."""

    items: list[TextItem]
    lead: str = ""
    """The words in bold, or before a colon, that it stands below."""


class Manner(Struct, frozen=True, kw_only=True):
    """How the facts of a document are worded."""

    title: str = ""
    """The document's: said where a section has no heading."""
    prefix: str = ""
    """The folder or the subject that the document is about: the first of the headings above every fact."""
    suffix: str = ""
    """The files that it is for, said behind every fact."""
    default: str = PATTERNS
    intro: str = ""
    """The section of prose before the first heading, which says what the project is."""


def propose_facts(gathering: ProposalCollector, parts: tuple[DocumentPart, ...], manner: Manner) -> None:
    """Each rule as a fact, and what the headings or the items themselves call decisions, traps, questions, steps."""
    for part in parts:
        is_intro = manner.intro and not part.titles and all(item.form == "text" for item in part.items)
        subject = subject_of(part.titles, manner.title, manner.intro if is_intro else manner.default)
        items = worth_keeping(
            gathering, part, manner.title, is_passed_over=subject.place == "none", is_fact=subject.place == "fact"
        )
        if subject.place != "fact":
            if items:
                propose_items(gathering, subject.place, part, items)
            continue
        titles = part.titles or ((manner.title,) if manner.title != manner.prefix else ())
        above = () if is_remembered(titles) else (manner.prefix, *titles)
        rest = [item for item in items if not _by_its_label(gathering, item)]
        for rule in _rules(rest, titles, is_described=subject.section == ARCHITECTURE):
            said = _said((*above, rule.lead), rule.items, manner.suffix)
            gathering.fact(subject.section, said, rule.items, above[-1:])


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
        if kind == "decision" and (is_order(item.text) or item.text.startswith("|")):
            gathering.fact(PATTERNS, _said(part.titles[-1:], [item]), [item], part.titles[-1:])
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


def _rules(items: list[TextItem], titles: tuple[str, ...] = (), *, is_described: bool = False) -> Iterator[_Rule]:
    """The items one by one, but for those that mean nothing apart."""
    above = ""
    for group in _groups(items, is_described=is_described):
        if len(group) == 1 and group[0].form == "text" and _leads(group[0].text):
            above = plain(group[0].text).rstrip(" .:：")
            continue
        intro = plain(group[0].text).rstrip(" :：") if group[0].form != group[-1].form == "point" else ""
        points = group[1:] if intro else group
        is_heading = bool(intro) and len(intro.split()) <= _LEAD_WORDS
        lead = " › ".join(filter(None, (above, intro if is_heading else "")))
        if len(group) == 1 and group[0].text.endswith((":", "：")):
            continue  # what it leads to stands below another heading
        if (intro and not is_heading) or points[0].form != "point":
            yield from (_Rule(pack, lead) for pack in _packed(group))
        elif _belongs_together(points, (*titles, lead), is_described=is_described):
            yield from (_Rule(pack, lead) for pack in _packed(points))
        else:
            yield from (_Rule([item], lead) for item in points)


def _groups(items: list[TextItem], *, is_described: bool) -> Iterator[list[TextItem]]:
    """Lists with the words that lead to them, and what stands between: paragraphs together where they describe."""
    group: list[TextItem] = []
    for item in items:
        last = group[-1] if group else None
        goes_on = last is not None and (
            (item.form == "point" and (last.form == "point" or _introduces(last.text)))
            or (item.form == last.form == "text" and is_described and not _leads(item.text))
            or (item.form == "code" and last.form == "text")
        )
        if group and (not goes_on or (last is not None and _leads(last.text))):
            yield group
            group = []
        if item.form == "point" and len(group) > 1 and group[-1].form != "point":
            # Of several paragraphs the last one leads to the list.
            yield group[:-1]
            group = group[-1:]
        group.append(item)
    if group:
        yield group


def _introduces(text: str) -> bool:
    """Whether a line leads to the points below it: it ends with a colon, or is a heading without marks."""
    return text.endswith((":", "：")) or (len(text.split()) <= _LABEL_WORDS and text[-1].isalnum())


def _belongs_together(points: list[TextItem], titles: tuple[str, ...], *, is_described: bool) -> bool:
    """Whether points are the steps of a procedure, or a listing of names, files or commands."""
    if all(item.is_step for item in points):
        return any(_PROCEDURE.search(title) for title in titles[-2:])
    entries = sum(_ENTRY.match(item.text) is not None or len(item.text.split()) <= _FEW_WORDS for item in points)
    return (is_described or is_about_commands(titles)) and 2 * entries > len(points) > 1


def _said(titles: tuple[str, ...], items: list[TextItem], suffix: str = "") -> str:
    """What a rule says, with the headings that it stands below behind it; before a list or code alone."""
    heading = " › ".join([name for name in titles if name][-_TITLES_SHOWN:])
    body = _listed(items)
    if body.startswith(("- ", "```", "~~~", "|")):
        note = f"\n({suffix})" if suffix else ""
        return f"{heading or 'Rules'}:\n{body}{note}"
    lead, rest = lead_of(body)
    if lead and rest:
        body = f"{plain(lead)}:\n{rest}" if rest.startswith(("- ", "```", "~~~", "|")) else f"{plain(lead)}: {rest}"
    note = "; ".join(filter(None, (heading, suffix)))
    gap = "\n" if "\n" in body else " "
    return f"{body}{gap}({note})" if note else body


def _listed(items: list[TextItem]) -> str:
    if len(items) == 1 and items[0].form == "point":
        return items[0].text
    return "\n".join(item.shown for item in items)


def _packed(items: list[TextItem]) -> list[list[TextItem]]:
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
            room = WHOLE_CHARS - size
    return packs


def propose_preferences(gathering: ProposalCollector, document: HostDocument) -> None:
    """Entries of the profile: what a person wants in all projects, or alone."""
    taken: dict[str, int] = {}
    for part in document.parts:
        heading = () if is_remembered(part.titles) else part.titles[-1:]
        items = worth_keeping(gathering, part, is_passed_over=subject_of(part.titles).place == "none")
        for rule in _rules(items, part.titles):
            words = plain(rule.items[0].text)
            category = category_of(part.titles if heading else (words,))
            key = slug(" ".join(words.split()[:_KEY_WORDS])) or slug(" ".join(heading)) or "preferences"
            taken[f"{category}.{key}"] = number = taken.get(f"{category}.{key}", 0) + 1
            key = key if number == 1 else f"{key}_{number}"
            gathering.entry(category, key, _said((*heading, rule.lead), rule.items), rule.items, heading)
