"""Proposals of one file, as they are found: checked, kept short, each with the words it rests on.

What holds a credential, characters that deceive, or words that speak to a model about itself is not proposed; a problem
says where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from quire.capture.hosts.anchoring import anchors_for
from quire.capture.hosts.documents import Document
from quire.capture.hosts.items import Item, lead_of
from quire.guard import find_hostile, find_instructions, find_secrets, make_safe
from quire.inbox import QUOTE_CHARS, TEXT_CHARS, Evidence, Into, Proposal, propose
from quire.layers.profile.layout import KEY_CHARS, TAG_CHARS
from quire.model import Problem, cut, first_sentence, one_line

TITLE_CHARS = 80
PROPOSALS_MOST = 200
"""A file that says more is an archive, and nobody would look through it."""
_ITEMS_MOST = 5_000
_TAGS_MOST = 4
# Pages on how to set a project up are full of it, and a person looks at it before it is kept.
_SETUP = "download and run"
_NOT_KEY = re.compile(r"[^a-z0-9]+")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_WIKI = re.compile(r"\[\[([^\]\n|]*)(?:\|[^\]\n]*)?\]\]")
_MARKS = re.compile(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
_BREAKS = re.compile(r"\s+[–—]\s+|:\s+|;\s+|\s+->\s+|\s+→\s+|\.\s+|,?\s+(?:because|since|so that|due to)\s+")

__all__ = ["PROPOSALS_MOST", "TITLE_CHARS", "Gathering", "plain", "slug", "title_and_body"]


class Gathering:
    """What one document comes to."""

    def __init__(self, document: Document, root: str, now: str, globs: Iterable[str] = ()) -> None:
        self.document = document
        self.problems: list[Problem] = list(document.problems)
        self.skipped = 0
        self._root = root
        self._now = now
        self._globs = tuple(globs)
        self._found: dict[str, tuple[int, Proposal]] = {}
        self._items_left = _ITEMS_MOST
        # A rule may know a credential by what stands in the line before it.
        self._secret_lines = {found.line for found in find_secrets(document.text) if found.certain}

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """What was found, in the order of the document."""
        return tuple(proposal for _, proposal in sorted(self._found.values(), key=lambda found: found[0]))

    def admitted(self, items: Iterable[Item]) -> list[Item]:
        """The items that may be kept."""
        found: list[Item] = []
        for item in items:
            if self._items_left == 0 or len(self._found) >= PROPOSALS_MOST:
                self._stop(item.line)
                break
            self._items_left -= 1
            lines = range(item.line, item.last + 1)
            text = self._checked(item.text, item.line)
            if text and not self._secret_lines.intersection(lines):
                found.append(Item(item.form, item.line, text, item.last, item.mark))
            elif text:
                self._refuse("HostSecret", "It holds a credential", item.line)
        return found

    def fact(self, section: str, content: str, items: list[Item], tags: Iterable[str] = ()) -> None:
        content = self._short(content, items[0].line)
        fields: dict[str, Any] = {"section": section, "content": content, "tags": _tags(tags)}
        self._add("facts", "fact", content, fields, items)

    def node(self, kind: str, title: str, body: str, items: list[Item], **more: Any) -> None:
        """A node of the graph; `more` are further fields, such as a stage."""
        title, body = cut(title.rstrip(" .:;"), TITLE_CHARS), self._short(body, items[0].line)
        text = body if one_line(body).startswith(title.rstrip("…")) else f"{title}\n{body}"
        fields: dict[str, Any] = {"kind": kind, "title": title, "body": body, **more}
        anchors = anchors_for(f"{title}\n{body}", self._root, self._globs)
        if anchors:
            fields["anchors"] = anchors
        self._add("graph", kind, self._short(text, items[0].line), fields, items)

    def entry(self, category: str, key: str, value: str, items: list[Item], tags: Iterable[str] = ()) -> None:
        value = self._short(value, items[0].line)
        fields: dict[str, Any] = {"category": category, "key": key, "value": value, "tags": _tags(tags)}
        self._add("profile", "preference", value, fields, items)

    def note(self, text: str, items: list[Item]) -> None:
        text = self._short(text, items[0].line)
        self._add("notes", "next step", text, {"text": text}, items)

    def _add(self, into: Into, kind: str, text: str, fields: dict[str, Any], items: list[Item]) -> None:
        shown, line = self.document.shown, items[0].line
        # Titles, keys and tags come from headings, which no item was checked for.
        said = "\n".join([text, *(value for value in fields.values() if isinstance(value, str))])
        if not self._checked(said, line):
            return
        quote = cut(one_line(" ".join(item.text for item in items)), QUOTE_CHARS)
        evidence = Evidence(quote=quote, by="file", where=f"{shown}:{line}")
        made = propose(
            into,
            kind,
            text,
            fields,
            origin=f"file:{shown}",
            by="file",
            evidence=(evidence,),
            proposed_at=self._now,
        )
        if len(self._found) < PROPOSALS_MOST:
            self._found.setdefault(made.id, (line, made))
        else:
            self._stop(line)

    def _stop(self, line: int) -> None:
        said = f"It says more than {PROPOSALS_MOST} things; what stands from here on is left out."
        problem = Problem(code="HostFileLong", severity="warning", path=self.document.shown, line=line, message=said)
        if not any(known.code == problem.code for known in self.problems):
            self.problems.append(problem)

    def _checked(self, text: str, line: int) -> str:
        """The text as it may be kept; empty where it may not be."""
        for secret in find_secrets(text):
            if secret.certain:
                self._refuse("HostSecret", f"It holds a credential ({secret.rule}: {secret.masked})", line)
                return ""
        safe = make_safe(text)
        # Longer: something that nobody sees was written out.
        if find_hostile(text) or len(safe) > len(text):
            self._refuse("HostTextUnsafe", "It holds characters that deceive whoever reads it", line)
            return ""
        flags = [flag for flag in find_instructions(text) if flag != _SETUP]
        if flags:
            self._refuse("HostTextSteers", f"It tries to steer the model that reads it ({', '.join(flags)})", line)
            return ""
        return safe

    def _refuse(self, code: str, why: str, line: int) -> None:
        problem = Problem(
            code=code,
            severity="warning",
            path=self.document.shown,
            line=line,
            message=f"{why}; what stands there is not proposed.",
        )
        if not any(known.code == code and known.line == line for known in self.problems):
            self.problems.append(problem)

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
