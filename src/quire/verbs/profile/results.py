"""Results and lines of entries and links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from quire.guard.effects import effects_of, flags_of, words_of
from quire.layers.profile.layout import ACTIVE, IMPORTANCE
from quire.model.records import origin_shown
from quire.model.text import counted, cut, one_line
from quire.model.verdicts import Verdict
from quire.verbs.verb import Line, Recalled, View

_SHOWN_CHARS = 300
_READ_OUT_CHARS = 2_000
_SUMMARY_CHARS = 120
_ENTRIES, _ENTRIES_CHARS = 200, 200_000
"""More is not given whole in one answer of a tool."""
_WORD = re.compile(r"[\w.-]+")


class EntryView(View, kw_only=True):
    """An entry as it is reported; what was read since the last change counts."""

    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = (
        *("id", "kind", "title", "source", "access_count", "last_accessed"),
        *("scores", "entry"),
    )

    ref: str
    id: str
    """`category.key`"""
    category: str
    key: str
    kind: str = "entry"
    title: str
    value: str
    status: str = ACTIVE
    importance: int = IMPORTANCE
    confidence: float | None
    tags: tuple[str, ...]
    source: dict[str, str | None]
    created_at: str
    updated_at: str
    access_count: int
    last_accessed: str | None
    links: tuple[dict[str, str], ...]
    private: bool = False
    score: float | None = None
    tier: str | None = None
    """Whether it answers a question or may do so: `answer`, `possible`."""
    verdict: Verdict | None = None
    reviewed: bool | None = None
    """Whether a person has looked at it as it is now; None where nobody was asked."""
    why: str = ""
    scores: dict[str, float] = {}
    entry: dict[str, Any] = {}
    """Every field as it is stored."""

    def origin_for_tools(self) -> str:
        return origin_shown(self.source["type"] or "profile", reviewed=self.reviewed is not False)


def fitting(views: Sequence[EntryView]) -> Sequence[EntryView]:
    """The first entries, as many as a tool's answer can hold; at least one."""
    room = _ENTRIES_CHARS
    for number, view in enumerate(views[:_ENTRIES]):
        room -= len(view.value)
        if room < 0 and number:
            return views[:number]
    return views[:_ENTRIES]


def stored_fields(view: EntryView) -> dict[str, Any]:
    """How an entry is called, who said it and whether it is private, and the entry as documents hold it."""
    flags = flags_of("\n".join(map(str, view.entry.values())))
    return {
        "ref": view.ref,
        "origin": view.origin_for_tools(),
        **({"private": True} if view.private else {}),
        "entry": view.entry,
        **({"flags": list(flags)} if flags else {}),
    }


class EntryLink(msgspec.Struct, frozen=True, kw_only=True):
    RECALLED: ClassVar[tuple[str, ...]] = ("entry_summary",)

    source: str
    target: str
    relation: str
    entry_summary: str
    """What the other entry says; empty where it is gone."""
    status: str = ""


def recalled(view: EntryView, text: str, lead: str = "", *, most: int = 0) -> Recalled:
    """A text of an entry, with what its marks say."""
    verdict = view.verdict.verdict if view.verdict else "unanchored"
    origin = view.origin_for_tools()
    return Recalled(text=text, ref=view.ref, origin=origin, verdict=verdict, lead=lead, most=most)


def entry_lines(views: Iterable[EntryView], *, found: bool = False) -> Iterator[Recalled]:
    """One entry on each line, with its name, how much it counts and its tags; numbered where they were searched for."""
    for place, view in enumerate(views, start=1):
        notes = []
        if found:
            notes += ["match" if view.tier == "answer" else "possible", view.updated_at[:10]]
            notes += ["not reviewed"] if view.reviewed is False else []
        if view.status != ACTIVE:
            notes.append(view.status)
        if view.importance != IMPORTANCE:
            notes.append(f"importance {view.importance}")
        if view.confidence is not None:
            notes.append(f"{view.confidence:.0%} sure")
        if effects := effects_of(view.value):
            notes.append(f"flagged: {words_of(effects)}")
        said = f" ({', '.join(notes)})" if notes else ""
        tags = f"  [{', '.join(view.tags)}]" if view.tags else ""
        # Of what was searched for, enough to tell them apart; `recall` of one shows it whole.
        value = (cut(view.value, _SHOWN_CHARS) if found else view.value).replace("\n", "\n     ")
        lead = f"{place}. " if found else "  "
        yield recalled(view, f"{view.id}{said}: {value}{tags}", lead, most=_READ_OUT_CHARS)


def whole_entry(view: EntryView, *, links: bool = True) -> Recalled:
    """One entry in full."""
    lines = [f"{view.ref}  [{view.status}, importance {view.importance}]"]
    if view.confidence is not None:
        lines.append(f"confidence: {view.confidence}")
    if view.tags:
        lines.append(f"tags: {', '.join(view.tags)}")
    detail = f", {view.source['detail']}" if view.source["detail"] else ""
    lines.append(f"source: {view.source['type']}{detail}")
    last = f", last {view.last_accessed}" if view.last_accessed else ""
    times = [f"{word} {at}" for word, at in (("created", view.created_at), ("updated", view.updated_at)) if at]
    lines.append(", ".join([*times, f"read {counted(view.access_count, 'time')}{last}"]))
    if view.links and links:
        named = [f"{link['relation']} {link['target']}" for link in view.links]
        lines.append(f"links: {', '.join(named)}")
    if effects := effects_of(view.value):
        lines.append(f"flagged: {words_of(effects)}")
    if view.private:
        lines.append("private: it is not in the shared document")
    return recalled(view, "\n".join((*lines, "", view.value)))


def link_lines(outgoing: Iterable[EntryLink], incoming: Iterable[EntryLink]) -> Iterator[Recalled]:
    """What an entry is linked to, and what is linked to it."""
    for link in outgoing:
        yield Recalled(text=f"  {link.relation} {link.target}{_said(link)}", origin="profile")
    for link in incoming:
        yield Recalled(text=f"  {link.source} {link.relation} this{_said(link)}", origin="profile")


def _said(link: EntryLink) -> str:
    if not link.status:
        return " (not here)"
    status = "" if link.status == ACTIVE else f" ({link.status})"
    return f"{status}: {cut(one_line(link.entry_summary), _SUMMARY_CHARS)}"


def line_naming(text: str, names: Iterable[str]) -> Line:
    """A line of ours that names something; recalled where one of the names is more than a word."""
    return text if all(map(_WORD.fullmatch, names)) else Recalled(text=text, origin="profile")
