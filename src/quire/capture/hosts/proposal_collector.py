"""Collect the proposals of one file: checked, shortened, each with the words it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from quire.capture.hosts.documents import HostDocument
from quire.capture.hosts.items import TextItem, lead_of
from quire.capture.hosts.safe_text import Guard
from quire.capture.hosts.structured_proposals import file_proposal
from quire.capture.hosts.text_anchors import anchors_for
from quire.capture.hosts.types import HostRead, HostSource
from quire.inbox.proposals import TEXT_CHARS, Into, Proposal
from quire.layers.profile.layout import KEY_CHARS, TAG_CHARS
from quire.model.records import Problem
from quire.model.text import cut, first_sentence, headline, one_line

TITLE_CHARS = 80
PROPOSALS_MOST = 200
"""A file that says more is an archive, and nobody would look through it."""
_ITEMS_MOST = 5_000
_TAGS_MOST = 4
_NOT_KEY = re.compile(r"[^a-z0-9]+")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_WIKI = re.compile(r"\[\[([^\]\n|]*)(?:\|[^\]\n]*)?\]\]")
_MARKS = re.compile(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
_BREAKS = re.compile(r"\s+[–—]\s+|:\s+|;\s+|\s+->\s+|\s+→\s+|\.\s+|,?\s+(?:because|since|so that|due to)\s+")


class ProposalCollector:
    """What one document comes to."""

    def __init__(self, document: HostDocument, root: str, now: str, globs: Iterable[str] = ()) -> None:
        self.document = document
        self.skipped = 0
        self._root = root
        self._now = now
        self._globs = tuple(globs)
        self._found: dict[str, tuple[int, Proposal]] = {}
        self._items_left = _ITEMS_MOST
        self._guard = Guard(document.shown, document.problems)
        self._guard.know(document.text)
        self._is_long = False

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """What was found, in the order of the document."""
        return tuple(proposal for _, proposal in sorted(self._found.values(), key=lambda found: found[0]))

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self._guard.problems

    def read(self, source: HostSource) -> HostRead:
        """What a source came to that is this one document."""
        return HostRead(source=source, proposals=self.proposals, problems=self.problems, skipped=self.skipped)

    def admitted(self, items: Iterable[TextItem]) -> list[TextItem]:
        """The items that may be kept."""
        found: list[TextItem] = []
        for item in items:
            if self._items_left == 0 or len(self._found) >= PROPOSALS_MOST:
                self._stop(item.line)
                break
            self._items_left -= 1
            text = self._guard.passed(item.text, item.line, item.last)
            if text:
                found.append(replace(item, text=text))
        return found

    def fact(self, section: str, content: str, items: list[TextItem], tags: Iterable[str] = ()) -> None:
        content = self._short(content, items[0].line)
        fields: dict[str, Any] = {"section": section, "content": content, "tags": _tags(tags)}
        self._add("facts", "fact", content, fields, items)

    def node(self, kind: str, title: str, body: str, items: list[TextItem], **more: Any) -> None:
        """A node of the graph; `more` are further fields, such as a stage."""
        title, body = headline(title.rstrip(" .:;"), TITLE_CHARS), self._short(body, items[0].line)
        text = body if one_line(body).startswith(title.rstrip("…")) else f"{title}\n{body}"
        fields: dict[str, Any] = {"kind": kind, "title": title, "body": body, **more}
        anchors = anchors_for(f"{title}\n{body}", self._root, self._globs)
        if anchors:
            fields["anchors"] = anchors
        self._add("graph", kind, self._short(text, items[0].line), fields, items)

    def entry(self, category: str, key: str, value: str, items: list[TextItem], tags: Iterable[str] = ()) -> None:
        value = self._short(value, items[0].line)
        fields: dict[str, Any] = {"category": category, "key": key, "value": value, "tags": _tags(tags)}
        self._add("profile", "preference", value, fields, items)

    def note(self, text: str, items: list[TextItem]) -> None:
        text = self._short(text, items[0].line)
        self._add("notes", "next step", text, {"text": text}, items)

    def _add(self, into: Into, kind: str, text: str, fields: dict[str, Any], items: list[TextItem]) -> None:
        shown, line = self.document.shown, items[0].line
        # Titles, keys and tags come from headings, which no item was checked for.
        said = "\n".join([text, *(value for value in fields.values() if isinstance(value, str))])
        if self._guard.passed(said, line) is None:
            return
        quote = " ".join(item.text for item in items)
        made = file_proposal(into, kind, text, fields, shown, line, quote, self._now)
        if len(self._found) < PROPOSALS_MOST:
            self._found.setdefault(made.id, (line, made))
        else:
            self._stop(line)

    def _stop(self, line: int) -> None:
        if self._is_long:
            return
        self._is_long = True
        said = f"It says more than {PROPOSALS_MOST} things; the rest is left out."
        problem = Problem(code="HostFileLong", severity="warning", path=self.document.shown, line=line, message=said)
        self._guard.tell(problem, first=True)

    def _short(self, text: str, line: int) -> str:
        if len(text) <= TEXT_CHARS:
            return text
        note = f"\n… (cut; all of it is in {self.document.shown}, from line {line})"
        return text[: TEXT_CHARS - len(note)].rstrip() + note


def title_and_body(text: str) -> tuple[str, str]:
    """The title that an item's text gives itself, and its body."""
    lead, rest = lead_of(text)
    if lead:
        if not rest:
            return plain(lead), f"{plain(lead)}."
        # A single point below it is a sentence.
        rest = rest.removeprefix("- ") if "\n" not in rest else rest
        return plain(lead), rest[:1].upper() + rest[1:] if rest[:1].islower() else rest
    title = plain(first_sentence(text.split("\n")[0])).rstrip(".")
    if len(title) > TITLE_CHARS:
        # A long sentence is cut where it draws breath.
        shorter = _BREAKS.split(title)[0]
        title = shorter if 15 <= len(shorter) <= TITLE_CHARS else title
    return cut(title, TITLE_CHARS), text


def plain(text: str) -> str:
    """A text on one line without the marks of Markdown; code keeps its marks."""
    return one_line(_MARKS.sub("", _WIKI.sub(r"\1", _LINK.sub(r"\1", text))))


def slug(text: str, joiner: str = "_", most: int = 48) -> str:
    """A name in lower-case ASCII letters and digits; empty where the text has none."""
    if not text.isascii():
        from anyascii import anyascii

        text = anyascii(text)
    parts = _NOT_KEY.sub(" ", text.lower()).split()
    while len(parts) > 1 and len(joiner.join(parts)) > most:
        parts.pop()
    return joiner.join(parts)[: min(most, KEY_CHARS)]


def _tags(tags: Iterable[str]) -> list[str]:
    found = dict.fromkeys(slug(tag, "-", 32)[:TAG_CHARS] for tag in tags)
    return [tag for tag in found if tag][:_TAGS_MOST]
