"""Turn journal records into citable evidence: parts of the bundle, events and checkpoints."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Literal

import msgspec

from quire.guard.hostile_text import safe_line
from quire.layers.journal.bundles import shown, texts_at
from quire.layers.journal.canonical import decode_json
from quire.layers.journal.layout import PROJECTION_FILES, PROJECTIONS, SECTION_KEYS, TOOL_RUN
from quire.model.records import Record
from quire.model.text import cut
from quire.model.times import EPOCH, instant

SourceType = Literal["bundle", "event", "checkpoint"]
_PAGES = {
    "project": "project-map",
    "projectMap": "project-map",
    "currentFocus": "current-focus",
    "gotchas": "gotchas",
    "nextSteps": "next-steps",
}
_NUMBERED = {"gotchas": "gotcha", "next-steps": "next-step"}
_ACTIONS = ("validationSnapshot", "suggestedNextActions")
_SUMMARY_CHARS = 300
_LABEL = re.compile(r"^(?:Decision|Gotcha|Step|Check|Next|Risk): (?:(?:NEXT|DONE)[:：] ?)?")


class Citation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a part of an answer comes from."""

    source_type: SourceType
    source_id: str
    path_or_section: str
    summary: str
    projection_path: str | None
    ref: str
    """What it is called in the index."""


class JournalEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be cited, and what it says, a line each. The lines are as they are stored: nobody made them
    safe."""

    record: Record
    source_type: SourceType
    source_id: str
    path_or_section: str
    category: str
    summary: str
    lines: tuple[str, ...]
    tags: tuple[str, ...] = ()
    """The kinds of answers that it is meant for."""
    note: str = ""
    """What is to be said of it that it does not say itself."""

    @property
    def key(self) -> str:
        return f"{self.record.ref} {self.source_id}"


def projection_path(source_type: str, path_or_section: str) -> str | None:
    """The page on which a part of the bundle is shown; None for what is on no page."""
    top, _, rest = path_or_section.partition(".")
    page = _PAGES.get(rest.partition(".")[0])
    if source_type != "bundle" or top != "bundle" or page is None:
        return None
    return f"{PROJECTIONS}/{PROJECTION_FILES[page]}"


def citation_of(evidence: JournalEvidence) -> Citation:
    section = safe_line(evidence.path_or_section)
    return Citation(
        source_type=evidence.source_type,
        source_id=safe_line(evidence.source_id),
        path_or_section=section,
        summary=cut(safe_line(evidence.summary), _SUMMARY_CHARS) or safe_line(evidence.source_id),
        projection_path=projection_path(evidence.source_type, section),
        ref=evidence.record.ref,
    )


def unlabelled(text: str) -> str:
    """A line without the word that says what kind of line it is."""
    return _LABEL.sub("", text, count=1)


def is_tool_run(record: Record) -> bool:
    """Whether an event only says that the bundle was written, and repeats it."""
    return record.kind == "event" and record.section == TOOL_RUN


def age_key(record: Record) -> tuple[datetime, str]:
    """The later is the greater; of one moment, the one with the higher number."""
    name = record.ref.partition(":")[2]
    return instant(record.created_at) or EPOCH, f"{len(name):04d}{name}"


def evidence_of(record: Record) -> JournalEvidence:
    """A record as evidence, named as citations name it."""
    if record.kind == "bundle":
        return _bundle(record)
    source: SourceType = "event" if record.kind == "event" else "checkpoint"
    name = record.ref.partition(":")[2].partition("~")[0]
    lines = tuple(record.text.split("\n"))
    return JournalEvidence(
        record=record,
        source_type=source,
        source_id=name,
        path_or_section=f"{source}:{name}",
        category=source,
        summary=lines[0] or record.title,
        lines=lines,
        tags=_event_tags(lines) if source == "event" else ("changes",),
    )


def _bundle(record: Record) -> JournalEvidence:
    section = record.section
    value = bundle_value(record)
    place, name = f"bundle.{SECTION_KEYS.get(section, section)}", section
    tags: tuple[str, ...] = ("answer",)
    summary = record.title
    if section in _NUMBERED:
        name = f"{_NUMBERED[section]}-{bundle_number(record)}"
        summary = shown(value, "title") or record.title
        place = f"{place}.{summary}"
        tags = ("traps",) if section == "gotchas" else ("next",)
    elif section in ("project", "current-focus"):
        summary = shown(value, "summary") or record.title
        tags = ("answer", "changes", "next", "traps") if section == "current-focus" else tags
    elif section == "project-map":
        summary = next(iter(texts_at(value, "architectureNotes")), record.title)
    return JournalEvidence(
        record=record,
        source_type="bundle",
        source_id=name,
        path_or_section=place,
        category=_NUMBERED.get(section, section),
        summary=summary,
        lines=tuple(record.text.split("\n")),
        tags=tags,
    )


def bundle_value(record: Record) -> Any:
    """The part of the bundle behind a record."""
    held = decode_json(record.raw)
    return held.get("value") if isinstance(held, dict) else None


def actions_of(focus: JournalEvidence) -> list[JournalEvidence]:
    """What the current focus suggests to do, each by itself."""
    texts = texts_at(bundle_value(focus.record), *_ACTIONS)
    return [
        msgspec.structs.replace(
            focus,
            source_id=f"suggested-action-{number}",
            path_or_section=f"{focus.path_or_section}.{'.'.join(_ACTIONS)}.{number}",
            category="suggested-action",
            summary=text,
            lines=(text,),
            tags=("next",),
        )
        for number, text in enumerate(texts, start=1)
        if text.strip()
    ]


def _event_tags(lines: tuple[str, ...]) -> tuple[str, ...]:
    said = {line.partition(":")[0] for line in lines[1:]}
    return ("changes", *(("next",) if "Step" in said else ()), *(("traps",) if said & {"Gotcha", "Check"} else ()))


def bundle_number(record: Record) -> int:
    """The place of an item in its section, beginning with 1."""
    held = decode_json(record.raw)
    number = held.get("number") if isinstance(held, dict) else 0
    return number if isinstance(number, int) else 0


def is_list(evidence: JournalEvidence) -> bool:
    """Whether its lines only stand beside each other: what a memory held, or how a project is laid out."""
    return evidence.category in ("checkpoint", "project-map") or is_tool_run(evidence.record)
