"""Make proposals from structured sources, and map their words to sections and kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from quire.capture.hosts.safe_text import Guard
from quire.capture.hosts.structured_files import read_source, unread
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.files.digests import hex_digest
from quire.guard.hostile_text import find_hostile
from quire.inbox.proposals import QUOTE_CHARS, TEXT_CHARS, Into, Proposal, ProposalEvidence, Standing, propose
from quire.model import limits
from quire.model.ids import slugify
from quire.model.records import Problem
from quire.model.text import cut, one_line, plain_newlines, trim

BODY_CHARS = 2_000
GROUP_CHARS = 480
SHORT_CHARS = 160
KEY_CHARS = 60
TAG_CHARS = 40
_MORE = " … (shortened)"
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_NOT_TAG = re.compile(r"[^\w.+#-]+")
_SECTION_WORDS = {
    "Decisions": "decision choice rationale adr tradeoff",
    "Known Issues": "bug issue problem gotcha pitfall warning caveat risk error incident limitation defect blocker",
    "Patterns & Conventions": "convention pattern practice rule style principle guideline standard workflow process "
    "tip technique preference howto command policy lesson insight learning best-practice",
    "Constraints": "constraint requirement limit quota sla compliance",
    "Specs": "spec specification feature story usecase use-case contract api endpoint schema",
    "Recent Work": "session progress status event milestone release changelog log update",
}
_SECTIONS = {word: section for section, words in _SECTION_WORDS.items() for word in words.split()}
_GOTCHAS = ("gotcha", "pitfall", "trap", "warning", "caveat", "issue", "bug", "known-issue", "risk")


class Atom(msgspec.Struct, frozen=True):
    """One thing that a source says, and the line where it does."""

    text: str
    line: int


class StructuredCollector:
    """What one source came to so far."""

    def __init__(self, source: HostSource, now: str) -> None:
        self.source = source
        self.guard = Guard(source.shown)
        self.skipped = 0
        self._now = now
        self._proposals: dict[str, Proposal] = {}
        """By id: what a source says twice is proposed once."""

    def read(self, *, is_one_record: bool = False) -> HostRead:
        return HostRead(
            source=self.source,
            proposals=tuple(self._proposals.values()),
            problems=self.guard.problems,
            skipped=self.skipped,
            is_one_record=is_one_record,
        )

    def may_pass(self, text: str, line: int, *, spread: bool = False) -> bool:
        """Whether a text may be proposed; why not is reported. `spread`: it goes over lines from `line` on."""
        return self.guard.passed(text, line, spread=spread) is not None

    def fact(self, section: str, content: str, tags: Iterable[str], line: int, **state: Any) -> None:
        """A fact; one that is too long becomes several, at its paragraphs."""
        for piece in _pieces(content):
            fields = {"section": section, "content": piece, "tags": _tags(tags)}
            self._add("facts", "fact", piece, fields, line, **state)

    def node(
        self,
        kind: str,
        title: str,
        body: str,
        line: int,
        *,
        quote: str = "",
        standing: Standing = "",
        said: str = "",
        replaced_by: str = "",
        **more: Any,
    ) -> None:
        """A node of the graph. `more` are fields of it; those that are empty are left out."""
        title = cut(one_line(title), limits.TITLE_CHARS)
        body = shortened(body or sentence(title), BODY_CHARS)
        fields: dict[str, Any] = {"kind": kind, "title": title, "body": body}
        if "tags" in more:
            more["tags"] = _tags(more["tags"])
        fields |= {name: value for name, value in more.items() if value}
        text = body if one_line(body).startswith(title.rstrip("…")) else f"{title}\n\n{body}"
        state = {"standing": standing, "said": said, "replaced_by": replaced_by}
        self._add("graph", kind, text, fields, line, quote or body, **state)

    def entry(self, category: str, value: str, tags: Iterable[str], line: int) -> None:
        """An entry of the profile; its key is made of its first words."""
        value = shortened(value, TEXT_CHARS)
        key = cut_slug(slugify(value, hex_digest), KEY_CHARS)
        fields = {"category": category, "key": key, "value": value, "tags": sorted(set(_tags(tags)))}
        self._add("profile", "preference", value, fields, line)

    def note(self, text: str, line: int) -> None:
        """A next step."""
        text = shortened(text, TEXT_CHARS)
        self._add("notes", "next step", text, {"text": text}, line)

    def _add(
        self, into: Into, kind: str, text: str, fields: dict[str, Any], line: int, quote: str = "", **state: Any
    ) -> None:
        # What is joined may be what its parts are not.
        if self.may_pass(text, line):
            shown = self.source.shown
            proposal = file_proposal(into, kind, text, fields, shown, line, quote or text, self._now, **state)
            self._proposals.setdefault(proposal.id, proposal)


def begun(source: HostSource, places: KnownPlaces, now: str) -> tuple[StructuredCollector, bytes]:
    """A source that was opened, and what is in it; nothing where it cannot be read, which is reported."""
    found = StructuredCollector(source, now)
    data = read_source(source, places)
    if isinstance(data, Problem):
        found.guard.tell(data)
        data = b""
    return found, data


def begun_text(source: HostSource, places: KnownPlaces, now: str) -> tuple[StructuredCollector, str]:
    """The same of a source that is a text, with line feeds alone."""
    found, data = begun(source, places, now)
    try:
        return found, plain_newlines(data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError:
        found.guard.tell(unread(source, "it is not UTF-8 text"))
        return found, ""


def file_proposal(
    into: Into, kind: str, text: str, fields: dict[str, Any], shown: str, line: int, quote: str, now: str, **state: Any
) -> Proposal:
    """A proposal that rests on a line of a file."""
    said = ProposalEvidence(quote=cut(one_line(quote), QUOTE_CHARS), by="file", where=f"{shown}:{line}")
    return propose(
        into, kind, text, fields, origin=f"file:{shown}", by="file", evidence=(said,), proposed_at=now, **state
    )


# -- words ----------------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """A text of a foreign value, with line feeds alone; empty where it is none."""
    return trim(plain_newlines(value)) if isinstance(value, str) else ""


def word_of(text: str) -> str:
    """A category, type or label as it is compared: `Known Issues` is `known-issue`."""
    word = re.sub(r"[\s_]+", "-", text.strip().lower())
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def section_for(word: str) -> str:
    """The section of the facts that a category or a type belongs to."""
    word = word_of(word)
    last = word.rpartition("-")[2]
    return _SECTIONS.get(word) or _SECTIONS.get(last) or "Architecture"


def is_gotcha(word: str) -> bool:
    return word_of(word) in _GOTCHAS


def tag_of(text: str) -> str:
    """A tag that every layer takes; empty where nothing is left of it."""
    return _NOT_TAG.sub("-", text.strip().lower().replace("_", "-")).strip("-.#")[:TAG_CHARS].strip("-")


def _tags(tags: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(tag for tag in map(tag_of, tags) if tag and not find_hostile(tag)))[:8]


def node_id(kind: str, title: str) -> str:
    return f"{kind}.{slugify(title, hex_digest)}"


def cut_slug(slug: str, most: int) -> str:
    """A slug of whole words."""
    if len(slug) <= most:
        return slug
    end = slug[: most + 1].rfind("-")
    return slug[: end if end > 0 else most].strip("-")


# -- texts ----------------------------------------------------------------------------------------


def sentence(text: str) -> str:
    """A text with an end."""
    text = text.rstrip()
    return text if text[-1:] in ".!?…:;`)»”" and text else f"{text}."


def grouped(atoms: Sequence[Atom]) -> list[list[Atom]]:
    """Short ones together, as many as make one readable fact; a long one stays alone."""
    groups: list[list[Atom]] = []
    open_group: list[Atom] = []
    for atom in atoms:
        if len(atom.text) > SHORT_CHARS:
            groups.append([atom])
            continue
        if open_group and sum(len(item.text) + 2 for item in open_group) + len(atom.text) <= GROUP_CHARS:
            open_group.append(atom)
        else:
            open_group = [atom]
            groups.append(open_group)
    return groups


def joined(texts: Sequence[str]) -> str:
    """Several texts as sentences one after the other."""
    return texts[0] if len(texts) == 1 else " ".join(map(sentence, texts))


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def shortened(text: str, most: int) -> str:
    """At most so many characters: whole paragraphs, or else whole sentences, and a sign that there was more."""
    if len(text) <= most:
        return text
    room = most - len(_MORE)
    for mark in ("\n\n", "\n", ". "):
        end = text.rfind(mark, 0, room + 1)
        if end > room // 2:
            break
    else:
        mark, end = "", room
    kept = text[: end + (mark == ". ")]
    if kept.count("```") % 2:
        # Code without its end would take in whatever is shown behind it.
        kept = kept[: kept.rfind("```")]
    return kept.rstrip() + _MORE


def _pieces(text: str) -> list[str]:
    """The text in parts that are no longer than a proposal may be."""
    if len(text) <= TEXT_CHARS:
        return [text] if text.strip() else []
    pieces: list[str] = []
    for paragraph in _PARAGRAPHS.split(text):
        if pieces and len(pieces[-1]) + len(paragraph) + 2 <= TEXT_CHARS:
            pieces[-1] += f"\n\n{paragraph}"
        elif paragraph.strip():
            pieces.append(shortened(paragraph, TEXT_CHARS))
    return pieces
