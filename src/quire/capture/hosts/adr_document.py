"""One architecture decision record: its title, status and parts, as Nygard's form and the versions of MADR write them.

# 2. Retries run in the worker
## Status
Accepted
Supersedes [1. Retries in the API](0001-retries-in-the-api.md)
## Context
## Decision
## Consequences
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from quire.capture.front_matter import FrontMatter, read_front_matter
from quire.capture.markdown import Section, fields_of, sections_of
from quire.model.ids import title_from_slug
from quire.model.text import one_line

CONTEXT, DECISION, CONSEQUENCES, OPTIONS, STATUS = "Context", "Decision", "Consequences", "Considered", "Status"
_TOPIC_WORDS = {
    CONTEXT: "context|context and problem statement|problem|problem statement|background|issue|motivation|summary|"
    "context and problem|problem description|context and background",
    DECISION: "decision|decisions|decision outcome|outcome|solution|resolution|proposal|proposed solution|rationale|"
    "reasoning|justification|chosen option|our decision|the decision|decision and rationale|argument",
    CONSEQUENCES: "consequences|positive consequences|negative consequences|consequences of the decision|implications|"
    "results|impact|trade-offs|tradeoffs|positive|negative|risks|confirmation|validation",
    OPTIONS: "considered options|options considered|options|alternatives|alternatives considered|"
    "considered alternatives",
    STATUS: "status|state",
}
_TOPICS = {word: topic for topic, words in _TOPIC_WORDS.items() for word in words.split("|")}
_NUMBER = re.compile(
    r"(?i)^\s*(?:architecture decision(?: record)?\s*:?\s*)?"
    r"(?:\[?(?:ADR|MADR|decision|RFC)[-_ #]?\d+\]?\s*[-–—:.|]*\s+|\[?\d+\]?\s*[-–—:.)|]+\s+"
    r"|\[?0\d{1,4}\]?\s+|ADR\s*[-–—:]\s*)"
)
_FILE_NUMBER = re.compile(r"(?i)^(?:adr[-_]?)?(?:\d{4}-?\d{2}-?\d{2}(?:[-_. ]+|$))?(?:\d+(?=[-_. ]))?[-_. ]*")
_HEAD_LINE = re.compile(r"(?i)^\s*(?:[-*+]\s+)?[*_]{0,2}(status|state|tags)[*_]{0,2}\s*:\s*[*_]{0,2}(.+)$")
_HEAD_ROW = re.compile(r"(?i)^\s*\|\s*[*_]{0,2}(status|state|tags)[*_]{0,2}\s*\|([^|]{1,300})\|")
_COMMENT = re.compile(r"<!(?=--).*?(?:-->|\Z)", re.S)
_BLANKS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_HEADING_MARK = re.compile(r"^[^\w]*(?:\d+[.)]\s*)?")
_PLACEHOLDER = re.compile(r"^[\[{<]|\{(?:short )?title|\[short title|^(?:title|short title)$", re.I)
_SUPERSEDES = re.compile(r"(?i)\b(?:supersedes|supercedes|replaces)\b:?\s*(.+)")
_REPLACED_BY = re.compile(r"(?i)\b(?:superseded|superceded|replaced|reverted|obsoleted)\b.{0,60}?\bby\b:?\s*(.+)")
_AMENDS = re.compile(r"(?i)\b(?:amends|clarifies|extends|complements|refines|amended by|related to)\b:?\s*(.+)")
_LINKED = re.compile(r"\]\(([^()\s]{1,300}\.md)(?:#[^()\s]{0,300})?\)|\b([\w.-]{1,120}\.md)\b")
_NUMBERED = re.compile(r"(?i)(?:\b(?:ADR|MADR|decision|record)s?[-_ #]*|#|^\W*)(\d{1,5})\b")
_NAMED_MOST = 10
# What a status begins with that says that the decision holds. Whatever else it begins with, a person has to say it.
_HELD = (
    "accepted|approved|adopted|agreed(?: upon)?|implemented|active|decided|final|finali[sz]ed|ratified|confirmed"
    "|enacted|completed?|done|in (?:force|effect|use)|effective|current|valid|resolved|endorsed|amended|updated"
    "|clarified|live|stable|verified|published"
)
_HOLDS = re.compile(rf"^[\W\d_]*(?:{_HELD})\b")
_HOLDS_ONLY = re.compile(rf"^[\W\d_]*(?:{_HELD})[\W\d_]*$")
# What no longer holds, or never did.
_ENDED = (
    "superseded|superceded|deprecated|rejected|obsoleted?|withdrawn|retired|replaced|abandoned|declined|reverted|revoked"
    "|rescinded|repealed|cancell?ed|discarded|dismissed|dropped|overturned|overruled|undone|rolled back|archived"
    "|expired|outdated|invalid(?:ated)?|voided|removed|no longer|not (?:accepted|approved|adopted|decided|implemented)"
    "|denied|refused|historic(?:al)?|stale"
)
_OVER = re.compile(rf"^[\W\d_]*(?:{_ENDED})\b|(?<!partially )(?<!partly )\b(?:{_ENDED}) by\b")
_OVER_INSIDE = re.compile(rf"(?<!partially )(?<!partly )(?<!\ba )(?<!\ban )(?<!\bthe )\b(?:{_ENDED})\b")
# What holds on a condition, or for the time being, is decided by nobody yet.
_OPEN_INSIDE = re.compile(
    r"\b(?:but|unless|until|pending|proposed|drafts?|discuss(?:ed|ion)|(?:in|under|for) review|subject to|trial"
    r"|(?:provisional|tentative|conditional)(?:ly)?|experiment(?:al)?)\b"
)
_IN_PROSE = re.compile(r"(?i)\b(supersedes|replaces|amends) (?:ADR|decision)[-_ #]?\d{1,5}\b")

Standing = Literal["holds", "open", "over"]


class AdrDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a record says; `parts` by topic, as they are written there."""

    title: str
    line: int
    """Where the title stands."""
    status: str
    """As it is written; empty where none is given, or where it says no more than that the decision holds."""
    standing: Standing
    """Whether the decision holds by its status, is still open or of an unknown word, or holds no longer."""
    parts: dict[str, str]
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    """File names or numbers of others."""
    replaced_by: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()


def read_adr_document(text: str, path: str) -> AdrDocument | None:
    """The record in a document; None where it is no record, or an empty form of one."""
    head = read_front_matter(text, path)
    sections = sections_of(head.body, head.body_line)
    parts = _parts(head, sections) or _bold_parts(head)
    title, line = _title(head, sections, path)
    if not title or _PLACEHOLDER.search(title) or not (DECISION in parts or (CONTEXT in parts and len(parts) > 1)):
        return None
    said = _head_lines(sections)
    # It may be said in several places, and the last that was written counts, whichever that is.
    given = (head.text("status"), said.get("status", ""), parts.pop(STATUS, ""))
    states = [state.strip("*_` ") for state in given]
    status = "\n\n".join(dict.fromkeys(filter(None, states)))
    tags = head.texts("tags") or said.get("tags", "").replace(",", " ").split()
    links = "\n".join([status, said.get("links", "")])
    links += "".join(f"\n{found.group()}" for text in parts.values() for found in _IN_PROSE.finditer(_unlinked(text)))
    links += "".join(f"\n{name} {', '.join(head.texts(name))}" for name in ("supersedes", "replaces", "amends"))
    return AdrDocument(
        title=title,
        line=line,
        status="" if all(map(_says_only_that_it_holds, states)) else status,
        standing=standing_of(states),
        parts=parts,
        tags=tuple(tags),
        supersedes=_named(_SUPERSEDES, links),
        replaced_by=_named(_REPLACED_BY, status),
        amends=_named(_AMENDS, links),
    )


def title_of(text: str, path: str) -> str:
    """The title of a record, without its number."""
    head = read_front_matter(text, path)
    return _title(head, sections_of(head.body, head.body_line), path)[0]


def _title(head: FrontMatter, sections: list[Section], path: str) -> tuple[str, int]:
    first = next(
        (section for section in sections if section.level == 1 and section.title and not _topic(section)), None
    )
    given = _uncommented(first.title).strip() if first else head.text("title")
    if not given:
        stem = os.path.splitext(os.path.basename(path))[0]
        given = title_from_slug(_FILE_NUMBER.sub("", stem).replace("_", "-")).capitalize()
    return _NUMBER.sub("", given, count=1).strip(" *_") or given, first.line if first else 1


def number_of(path: str) -> int | None:
    """The number in the name of a record's file, behind its date where it has one."""
    name = re.sub(r"^\d{4}-\d{2}-\d{2}[-_. ]+", "", os.path.basename(path))
    found = re.match(r"(?i)(?:adr[-_]?)?0*(\d{1,5})(?=[-_. ])", name)
    return int(found[1]) if found else None


# -- the status -----------------------------------------------------------------------------------


def standing_of(states: Iterable[str]) -> Standing:
    """What states together come to: nothing holds that one of them takes back or leaves open."""
    found = [_standing_of(one_line(_unlinked(state)).lower()) for state in states if state.strip()]
    return "over" if "over" in found else "open" if "open" in found else "holds"


def _standing_of(status: str) -> Standing:
    # A form that lists what may be chosen was never filled in.
    if "|" in status:
        return "open"
    if _OVER.search(status):
        return "over"
    is_held = _HOLDS.match(status) and not _OVER_INSIDE.search(status) and not _OPEN_INSIDE.search(status)
    return "holds" if is_held else "open"


def _says_only_that_it_holds(status: str) -> bool:
    return not status.strip() or _HOLDS_ONLY.match(one_line(status).lower()) is not None


# -- parts ----------------------------------------------------------------------------------------


def _parts(head: FrontMatter, sections: list[Section]) -> dict[str, str]:
    """The texts below the headings that everybody writes; what is deeper belongs to what it stands in."""
    raw = head.body.split("\n")
    ends = [section.line for section in sections[1:]] + [head.body_line + len(raw)]
    found: dict[str, list[str]] = {}
    topic, depth = "", 0
    for section, end in zip(sections, ends, strict=True):
        begin = section.line - head.body_line
        text = _clean("\n".join(raw[begin + (section.level > 0) : end - head.body_line]))
        named = _topic(section)
        if named:
            topic, depth = named, section.level if not topic or section.level <= depth else depth
        elif section.level <= depth:
            topic, depth = "", 0
        elif topic and section.level:
            text = f"{section.title}: {text}" if text else ""
        if topic and text:
            found.setdefault(topic, []).append(text)
    return {name: "\n\n".join(texts) for name, texts in found.items()}


def _topic(section: Section) -> str:
    return _TOPICS.get(_HEADING_MARK.sub("", _uncommented(section.title).lower()).rstrip(": "), "")


def _bold_parts(head: FrontMatter) -> dict[str, str]:
    """The parts of a record that has names in bold instead of headings."""
    found: dict[str, str] = {}
    for name, text in fields_of(_clean(head.body).split("\n")).items():
        topic = _TOPICS.get(name, "")
        if topic and text:
            found[topic] = f"{found[topic]}\n\n{text}" if topic in found else text
    return found


def _clean(text: str) -> str:
    return _BLANKS.sub("\n\n", _uncommented(text)).strip()


def _uncommented(text: str) -> str:
    """The text without comments; one that has no end goes on to the end."""
    return _COMMENT.sub("", text)


def _head_lines(sections: list[Section]) -> dict[str, str]:
    """What stands between the title and the first part: `Status: …`, in a list, in bold or in a table."""
    found: dict[str, str] = {}
    links = []
    for section in sections:
        if section.level > 1 or _topic(section):
            break
        for line in _clean("\n".join(section.lines)).split("\n"):
            named = _HEAD_LINE.match(line) or _HEAD_ROW.match(line)
            if named:
                found.setdefault("tags" if named[1].lower() == "tags" else "status", named[2].strip())
            else:
                links.append(line)
    return {**found, "links": "\n".join(links)}


# -- values ---------------------------------------------------------------------------------------


def _unlinked(text: str) -> str:
    return re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", text)


def _named(says: re.Pattern[str], text: str) -> tuple[str, ...]:
    """The records that lines of this kind name: by file where there is one, else by number."""
    found: dict[str, None] = {}
    for line in text.split("\n"):
        match = says.search(line)
        if match:
            files = [linked or bare for linked, bare in _LINKED.findall(match[1])]
            found.update(dict.fromkeys(files or _NUMBERED.findall(match[1])))
    return tuple(found)[:_NAMED_MOST]
