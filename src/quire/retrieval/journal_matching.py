"""How well the evidence of the journal matches a question: the one engine first, then what each line says.

The engine ranks whole records. A record of the journal tells of many things, and two kinds of them, the events of our
own runs and the checkpoints, repeat what others say; so the best single line counts, too, and of texts that match
alike the one that says it first-hand comes first. Relevance decides all the same: no source outweighs a better match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from quire.index.catalog import Index
from quire.index.search import Filter, Searcher
from quire.model import limits
from quire.model.records import Record
from quire.retrieval.journal_evidence import (
    Evidence,
    actions_of,
    age_key,
    evidence_of,
    is_list,
    is_tool_run,
    plain_line,
    unlabelled,
)
from quire.retrieval.journal_words import Wanted, wanted_words
from quire.retrieval.query import Ask, ask

_CANDIDATES = 32
_SCANNED = 1_000
"""How many records are read for other forms of the question's words, where the index knows none of them."""
_ENGINE, _LINE, _WHOLE = 0.5, 0.3, 0.2
"""What makes a match: the engine's relevance, the best line, the whole text."""
_FIRST_HAND = {"bundle": 1.0, "event": 0.96, "checkpoint": 0.8}
_REPEATED = 0.75
_ALIKE = 0.02
"""Scores that differ by less are alike."""
_COVERED, _PARTLY, _FAINTLY = 0.65, 0.45, 0.3
_NEAR, _NEARER, _NEAREST = 0.34, 0.42, 0.55
"""How much of the question's words must be there, the less the nearer the meaning is."""
_NEAREST_SHARING = 0.65
"""A word in common makes a meaning near, though it be all that they have in common."""
_KNOWN_LETTERS = 0.7
"""Meaning is known for Latin letters: of a text with fewer of them it says nothing."""
_NAMED = re.compile(r"(?<![\w-])(?:(?:event|checkpoint|bundle):[\w.~-]+|(?:evt|chk)-\d+)", re.I)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<=[。！？])")
_NEXT = "Next: "


class Sentence(msgspec.Struct, frozen=True):
    """A sentence, safe to show, and what the words of the question in it count, as a share."""

    text: str
    weight: float
    found: tuple[str, ...] = ()


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of evidence and how it matches."""

    evidence: Evidence
    score: float
    found: tuple[str, ...]
    """The words of the question that it holds."""
    share: float
    nearness: float
    named: bool = False
    said: tuple[Sentence, ...] = ()
    """What it says, the best match first."""


def has_answer(match: Match) -> bool:
    """Whether this covers the question: nearly all of its words, or fewer of them and a near meaning."""
    share, nearness = match.share, match.nearness
    return (
        match.named
        or share >= _COVERED
        or (share >= _PARTLY and nearness >= _NEAR)
        or (share >= _FAINTLY and nearness >= _NEARER)
        or nearness >= (_NEAREST if share == 0.0 else _NEAREST_SHARING)
    )


def named_in(index: Index, question: str, allowed: Filter) -> list[Record]:
    """The records that a question names by their ids."""
    found: dict[str, Record] = {}
    for name in _NAMED.findall(question):
        ref = name.lower()
        ref = ref if ":" in ref else f"{'event' if ref.startswith('evt') else 'checkpoint'}:{ref}"
        record = index.find(ref)
        if record is not None and allowed.allows(record):
            found[ref] = record
    return list(found.values())


class Matching:
    """One question, and everything that is held against it."""

    def __init__(self, index: Index, question: str, text: str) -> None:
        self._index = index
        self._searcher: Searcher = index.searcher()
        self.question = question
        self.text = text
        self.wanted: Wanted = wanted_words(self._searcher, text, question)
        letters = [char for char in text if char.isalpha()]
        self._has_meaning = sum(char < "\u0250" for char in letters) >= _KNOWN_LETTERS * len(letters)

    def best(self, allowed: Filter, everything: bool = False) -> list[Match]:
        """What there is on the question, the best match first."""
        records = {record.ref: (record, 1.0, 1.0) for record in named_in(self._index, self.question, allowed)}
        named = set(records)
        if self.wanted.stems:
            asked = Ask(
                question=self.text,
                budget=limits.BUDGET_LEAST,
                limit=_CANDIDATES,
                allowed=allowed,
                everything=everything,
                rank_all=True,
                rendered=False,
                weigh=lambda _: 1.0,
            )
            hits = ask(self._index, asked).hits
            most = max((hit.parts.get("relevance", 0.0) for hit in hits), default=0.0) or 1.0
            for hit in hits:
                known = hit.parts.get("relevance", most) / most, hit.parts.get("nearness", 0.0)
                records.setdefault(hit.record.ref, (hit.record, *known))
        found = [
            self.judged(evidence_of(record), relevance, nearness, ref in named)
            for ref, (record, relevance, nearness) in records.items()
        ]
        if not any(map(has_answer, found)):
            found += self._scanned(allowed, set(records))
        return sorted(found, key=_order, reverse=True)

    def _scanned(self, allowed: Filter, known: set[str]) -> list[Match]:
        """Records that hold the words in other forms. The index knows the forms of English only."""
        if self.text.isascii():
            return []
        records = self._index.page(allowed, limit=_SCANNED)
        judged = (self.judged(evidence_of(record), 0.5, 0.0) for record in records if record.ref not in known)
        return [match for match in judged if has_answer(match)]

    def judged(self, evidence: Evidence, relevance: float = 0.0, nearness: float = 0.0, named: bool = False) -> Match:
        """How evidence matches, line by line."""
        wanted = self.wanted
        ranked = self._sentences(evidence.lines)
        # Lines that have nothing to do with each other answer nothing together.
        counted = ranked[:1] if is_list(evidence) else ranked
        words = {word for sentence in counted for word in sentence.found}.union(self._title(evidence))
        held = tuple(word for word in wanted.stems if word in words)
        line = ranked[0].weight if ranked else 0.0
        score = _ENGINE * relevance + _LINE * line + _WHOLE * wanted.weight(held)
        if evidence.source_type == "bundle" and set(evidence.category.split("-")) == wanted.stems.keys():
            score += _LINE  # `project` asks for that part
        return Match(
            evidence=evidence,
            score=2.0 if named else score * _first_hand(evidence.record),
            found=held,
            share=wanted.share(held),
            nearness=nearness if self._has_meaning else 0.0,
            named=named,
            said=tuple(ranked),
        )

    def _title(self, evidence: Evidence) -> tuple[str, ...]:
        """The words in its name: what an event is about, its lines are about, and `project` is about the project."""
        name = evidence.record.ref if evidence.source_type == "bundle" else ""
        return self.wanted.found_in(self._searcher.stems(f"{evidence.summary} {evidence.record.title} {name}"))

    def _sentences(self, lines: Iterable[str]) -> list[Sentence]:
        """The best first, else as they stand."""
        texts = [plain for line in lines for text in _SENTENCE.split(line) if (plain := plain_line(text))]
        found = ((text, self.wanted.found_in(self._searcher.stems(unlabelled(text)))) for text in texts)
        return sorted((Sentence(text, self.wanted.weight(held), held) for text, held in found), key=_by_weight)

    def named(self, record: Record) -> Evidence:
        return evidence_of(record)

    def split_focus(self, match: Match) -> Match:
        """Of the current focus, the suggested action that matched, where it was that."""
        best = match.said[0] if match.said else None
        if best is None or match.evidence.source_id != "current-focus" or not best.text.startswith(_NEXT):
            return match
        for action in actions_of(match.evidence):
            text = plain_line(action.summary)
            if text.startswith(best.text.removeprefix(_NEXT)):
                said = (Sentence(text, best.weight, best.found),)
                return msgspec.structs.replace(match, evidence=action, said=said)
        return match


def _by_weight(sentence: Sentence) -> float:
    return -sentence.weight


def _first_hand(record: Record) -> float:
    return _REPEATED if is_tool_run(record) else _FIRST_HAND.get(record.kind, 1.0)


def _order(match: Match) -> tuple[float, object]:
    """By relevance; what differs by less than can be meant, by age."""
    return round(match.score / _ALIKE), age_key(match.evidence.record)
