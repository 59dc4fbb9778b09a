"""Answer a question from the journal without a model: quoted evidence with its sources.

Nothing is written that is not in the evidence: its sentences are quoted, each on a line with the name of its source.
Where the evidence does not cover the question, the answer says so and names what came nearest.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

import msgspec

from quire.guard.hostile_text import safe_line
from quire.index.catalog import Index
from quire.index.search import Filter
from quire.layers.journal.question import Mode, query_mode, since_when, sought_text, topic_text
from quire.model.records import Problem
from quire.model.text import cut
from quire.model.times import instant, timestamp
from quire.retrieval.journal.evidence import Citation, JournalEvidence, citation_of
from quire.retrieval.journal.lists import latest_changes, step_evidence, trap_evidence
from quire.retrieval.journal.matches import JournalMatch, JournalMatcher, has_answer, named_in
from quire.retrieval.journal.quotes import Quoted, quoted, shown_words

Scope = Literal["state", "history", "all"]
_ACTIVE, _ARCHIVED = "active", "archived"
_KINDS = {"state": ("bundle", "checkpoint"), "history": ("event",), "all": ("bundle", "event", "checkpoint")}
LIMIT = 8
NOT_ENOUGH = "The memory does not hold enough evidence to answer this."
_NOTHING = "Nothing in the memory was found for this question."
_NO_WORDS = "The question holds no word to search for."
_WEAK = "The results match the question too little; an answer would be a guess."
_NEAREST = 2
_TOLD = 8
_CONTENT_CHARS = 2_000
_TELLING = {"next": "next steps", "traps": "traps", "changes": "changes"}


class ShortlistItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A piece of evidence as a model sees it."""

    citation: Citation
    category: str
    content: str
    created_at: str | None
    tags: tuple[str, ...]


class JournalAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, the reason for it, and its citations."""

    mode: Mode
    answer: str
    why: str
    citations: tuple[Citation, ...]
    sufficient: bool
    shortlist: tuple[ShortlistItem, ...]
    """What could answer, the best first: those that are cited, and others."""
    warnings: tuple[Problem, ...] = ()
    """What else there is and could not be read."""


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """All matches, and those that answer."""

    listed: list[JournalMatch]
    good: list[JournalMatch]
    why: str = ""
    """Why there is no answer, where there is none."""


def answer_journal(
    index: Index,
    question: str,
    *,
    scope: Scope = "all",
    archived: bool = False,
    now: datetime,
    limit: int = LIMIT,
    mode: Mode | None = None,
) -> JournalAnswer:
    """Answer a question from the journal; `yesterday` is counted from `now`."""
    question = unicodedata.normalize("NFC", question.encode("utf-8", "replace").decode())
    kind = mode or query_mode(question)
    statuses = (_ACTIVE, _ARCHIVED) if archived else (_ACTIVE,)
    allowed = Filter(layers=("journal",), kinds=_KINDS[scope], statuses=statuses)
    asked = _Asked(index, question, allowed, limit, archived)
    found = asked.answer() if kind == "answer" else asked.changes(now) if kind == "changes" else asked.list_of(kind)
    said = quoted(found.good, kind) if found.good and not found.why else Quoted("", (), "")
    cited = said.used if said.used else found.listed[: min(_NEAREST, limit)]
    return JournalAnswer(
        mode=kind,
        answer=said.text or NOT_ENOUGH,
        why=said.why if said.used else found.why or _NOTHING,
        citations=tuple(citation_of(match.evidence) for match in cited),
        sufficient=bool(said.used),
        shortlist=tuple(_listed(match.evidence) for match in found.listed[:limit]),
    )


def shortlist_value(answer: JournalAnswer) -> list[dict[str, Any]]:
    """The shortlist as JSON objects, for the prompt of a model."""
    value: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(answer.shortlist))
    flat = ({**item, **item["citation"]} for item in value)
    return [{name: item[name] for name in sorted(item) if name not in ("citation", "ref")} for item in flat]


def cited_from(answer: JournalAnswer, named: Iterable[tuple[str, str]]) -> tuple[Citation, ...]:
    """The citations of a model, given by type and id, as the shortlist has them; others are left out."""
    wanted = set(named)
    cited = (item.citation for item in answer.shortlist)
    return tuple(item for item in cited if (item.source_type, item.source_id) in wanted)


def _listed(evidence: JournalEvidence) -> ShortlistItem:
    return ShortlistItem(
        citation=citation_of(evidence),
        category=evidence.category,
        content=cut("\n".join(filter(None, map(safe_line, evidence.lines))), _CONTENT_CHARS),
        created_at=evidence.record.created_at or None,
        tags=evidence.tags,
    )


class _Asked:
    """One question and where it may look."""

    def __init__(self, index: Index, question: str, allowed: Filter, limit: int, everything: bool) -> None:
        self._index, self._question, self._allowed = index, question, allowed
        self._limit, self._everything = limit, everything

    def answer(self) -> _Found:
        """By relevance alone."""
        matching = self._matching(sought_text(self._question))
        matches = [matching.split_focus(match) for match in matching.best(self._allowed, self._everything)]
        good = [match for match in matches if has_answer(match)]
        if good:
            # Those that answer come first: one that only matches well in part must not stand before them.
            others = [match for match in matches if not has_answer(match)]
            return _Found(listed=[*good, *others], good=good[: self._limit])
        if not matching.wanted.stems:
            return _Found(listed=matches, good=[], why=_NO_WORDS)
        return _Found(listed=matches, good=[], why=_missing(matching, matches))

    def changes(self, now: datetime) -> _Found:
        """By age, within the topic."""
        since = since_when(self._question, now)
        moment, rest = since.moment, since.rest
        for record in named_in(self._index, self._question, msgspec.structs.replace(self._allowed, kinds=())):
            moment, rest = instant(record.created_at) or moment, rest.replace(record.ref.partition(":")[2], " ")
        matching = self._matching(topic_text(self._question, rest))

        def latest(matching: JournalMatcher, since: datetime | None) -> list[JournalMatch]:
            return latest_changes(
                self._index, matching, self._allowed, self._limit, since=since, everything=self._everything
            )

        found = latest(matching, moment)
        if found:
            return _Found(listed=found, good=found)
        about = _about(matching)
        after = f" since {timestamp(moment)}" if moment else ""
        nearest = latest(matching, None) or latest(self._matching(""), None)
        return _Found(listed=nearest, good=[], why=f"No changes{about}{after} are recorded." if nearest else "")

    def list_of(self, mode: Mode) -> _Found:
        """Next steps or traps; the best match first where there is a topic."""
        collect = step_evidence if mode == "next" else trap_evidence
        matching = self._matching(topic_text(self._question))
        best: dict[str, JournalMatch] = {}
        if matching.wanted.stems:
            best = {match.evidence.record.ref: match for match in matching.best(self._allowed, self._everything)}
        on_topic = [match.evidence.record for match in best.values()]
        everything = collect(self._index, self._allowed, on_topic)
        if not matching.wanted.stems:
            found = [matching.judged(evidence) for evidence in everything[: self._limit]]
            return _Found(listed=found, good=found, why=_none_of(mode, not found))
        judged = [_weighed(matching, evidence, best) for evidence in everything]
        good = sorted(filter(has_answer, judged), key=lambda match: -round(match.score, 2))
        if good:
            return _Found(listed=good[: self._limit], good=good[: self._limit])
        nearest = sorted(judged, key=lambda match: -match.score)
        about = _none_of(mode, not everything) or f"No {_TELLING[mode]}{_about(matching)} are recorded."
        return _Found(listed=nearest[: self._limit], good=[], why=about)

    def _matching(self, text: str) -> JournalMatcher:
        return JournalMatcher(self._index, self._question, text)


def _weighed(matching: JournalMatcher, evidence: JournalEvidence, best: dict[str, JournalMatch]) -> JournalMatch:
    """Of a record that is nothing else, what the engine said of it; of an event, only what its own lines say."""
    known = best.get(evidence.record.ref)
    if known is None or evidence.category not in ("gotcha", "next-step"):
        return matching.judged(evidence, known.score if known else 0.0)
    return matching.judged(evidence, known.score, known.nearness)


def _none_of(mode: Mode, is_empty: bool) -> str:
    return f"No {_TELLING[mode]} are recorded." if is_empty else ""


def _about(matching: JournalMatcher) -> str:
    words = shown_words(list(matching.wanted.stems))
    return f" about {words}" if words else ""


def _missing(matching: JournalMatcher, matches: list[JournalMatch]) -> str:
    """Why what was found is not enough."""
    if not matches:
        return _NOTHING
    held = {word for match in matches[:_NEAREST] for word in match.found}
    lacking = [word for word in matching.wanted.stems if word not in held][:_TOLD]
    return f"{_WEAK} It does not say: {shown_words(lacking)}." if held and lacking else _WEAK
