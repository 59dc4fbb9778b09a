"""Score journal records against a question: the relevance of `retrieval.query` first, then each line.

The engine ranks whole records. A journal record covers many subjects, and two kinds, the events of our own runs and the
checkpoints, repeat what other records say. So the best single line counts too, and among texts that match equally well
the original comes first. Relevance still decides: no source outweighs a better match.

A question may hold words that any question may hold. They are no match, and their absence is no miss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from quire.guard.hostile_text import safe_line
from quire.index.catalog import Index
from quire.index.search import Filter, Question, Searcher
from quire.layers.journal.question import stop_words
from quire.model import limits
from quire.model.records import Record
from quire.model.text import words
from quire.retrieval.journal.evidence import (
    JournalEvidence,
    actions_of,
    age_key,
    evidence_of,
    is_list,
    is_tool_run,
    unlabelled,
)
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
_SAYING_LITTLE = words(
    "work works working handle handles use uses used using happen happens happened mean means know explain "
    "describe tell show give say says said get gets make makes made need needs want please way thing things kind "
    "many much exactly actually currently must need supposed go goes going come comes let find look see question "
    "answer long often right now anything something everything reason decide decided"
)
"""What a question about anything may hold: that a text does not say it means nothing."""
_ROOT, _ROOT_ELSEWHERE = 5, 3
_ENDING, _ENDING_ELSEWHERE = 2, 3
"""Where a word is another with an ending: how long it must be, and how long the ending may be, in ASCII and not."""
_COMPOUND = 6
"""From so many letters on, in other languages than English, a word may begin a longer one."""


class QuestionWords(msgspec.Struct, frozen=True):
    """The words of a question that must be there, with their stems and what each counts."""

    question: Question
    stems: dict[str, frozenset[str]]
    weights: dict[str, float]
    has_compounds: bool = False

    def found_in(self, stems: Iterable[str]) -> tuple[str, ...]:
        """Which of the words a text has, given its stems."""
        held = frozenset(stems)
        return tuple(word for word, own in self.stems.items() if own & held or self._has_root(own, held))

    def _has_root(self, wanted: frozenset[str], held: frozenset[str]) -> bool:
        """Whether a text has a word in another form, which the stems of English do not bring together."""
        return any(
            _is_form(first, second) or (self.has_compounds and len(first) >= _COMPOUND and second.startswith(first))
            for first in wanted
            for second in held
        )

    def share(self, words: Iterable[str]) -> float:
        """How many of the words these are, as a share."""
        return len(tuple(words)) / len(self.stems) if self.stems else 0.0

    def weight(self, words: Iterable[str]) -> float:
        """What these words count, as a share of all that can be found at all."""
        total = sum(self.weights.values())
        return sum(self.weights[word] for word in words if word in self.weights) / total if total else 0.0


class ScoredSentence(msgspec.Struct, frozen=True):
    """A sentence, safe to show, and what the words of the question in it count, as a share."""

    text: str
    weight: float
    found: tuple[str, ...] = ()


class JournalMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of evidence and how it matches."""

    evidence: JournalEvidence
    score: float
    found: tuple[str, ...]
    """The words of the question that it holds."""
    share: float
    nearness: float
    named: bool = False
    said: tuple[ScoredSentence, ...] = ()
    """What it says, the best match first."""


def has_answer(match: JournalMatch) -> bool:
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


class JournalMatcher:
    """One question, and everything that is held against it."""

    def __init__(self, index: Index, question: str, text: str) -> None:
        self._index = index
        self._searcher: Searcher = index.searcher()
        self.question = question
        self.text = text
        self.wanted: QuestionWords = wanted_words(self._searcher, text, question)
        letters = [char for char in text if char.isalpha()]
        self._has_meaning = sum(char < "\u0250" for char in letters) >= _KNOWN_LETTERS * len(letters)

    def best(self, allowed: Filter, everything: bool = False) -> list[JournalMatch]:
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

    def _scanned(self, allowed: Filter, known: set[str]) -> list[JournalMatch]:
        """Records that hold the words in other forms. The index knows the forms of English only."""
        if self.text.isascii():
            return []
        records = self._index.page(allowed, limit=_SCANNED)
        judged = (self.judged(evidence_of(record), 0.5, 0.0) for record in records if record.ref not in known)
        return [match for match in judged if has_answer(match)]

    def judged(
        self, evidence: JournalEvidence, relevance: float = 0.0, nearness: float = 0.0, named: bool = False
    ) -> JournalMatch:
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
        record = evidence.record
        first_hand = _REPEATED if is_tool_run(record) else _FIRST_HAND.get(record.kind, 1.0)
        return JournalMatch(
            evidence=evidence,
            score=2.0 if named else score * first_hand,
            found=held,
            share=wanted.share(held),
            nearness=nearness if self._has_meaning else 0.0,
            named=named,
            said=tuple(ranked),
        )

    def _title(self, evidence: JournalEvidence) -> tuple[str, ...]:
        """The words in its name: what an event is about, its lines are about, and `project` is about the project."""
        name = evidence.record.ref if evidence.source_type == "bundle" else ""
        return self.wanted.found_in(self._searcher.stems(f"{evidence.summary} {evidence.record.title} {name}"))

    def _sentences(self, lines: Iterable[str]) -> list[ScoredSentence]:
        """The best first, else as they stand."""
        texts = [plain for line in lines for text in _SENTENCE.split(line) if (plain := safe_line(text))]
        found = ((text, self.wanted.found_in(self._searcher.stems(unlabelled(text)))) for text in texts)
        scored = (ScoredSentence(text, self.wanted.weight(held), held) for text, held in found)
        return sorted(scored, key=lambda sentence: -sentence.weight)

    def split_focus(self, match: JournalMatch) -> JournalMatch:
        """Of the current focus, the suggested action that matched, where it was that."""
        best = match.said[0] if match.said else None
        if best is None or match.evidence.source_id != "current-focus" or not best.text.startswith(_NEXT):
            return match
        for action in actions_of(match.evidence):
            text = safe_line(action.summary)
            if text.startswith(best.text.removeprefix(_NEXT)):
                said = (ScoredSentence(text, best.weight, best.found),)
                return msgspec.structs.replace(match, evidence=action, said=said)
        return match


def _order(match: JournalMatch) -> tuple[float, object]:
    """By relevance; what differs by less than can be meant, by age."""
    return round(match.score / _ALIKE), age_key(match.evidence.record)


def wanted_words(searcher: Searcher, text: str, question: str = "") -> QuestionWords:
    """The words of a text that a record must hold to be about it; the whole question tells the language."""
    found = searcher.question(text)
    telling = [word for word in found.words if word not in _SAYING_LITTLE and not _is_letter(word)]
    telling = [] if found.is_plain else telling or found.words
    stems = {word: frozenset(searcher.stems(word)) for word in telling}
    weights = {word: max((found.rarity.get(stem, 0.0) for stem in own), default=0.0) for word, own in stems.items()}
    has_compounds = bool(stop_words(question))
    return QuestionWords(found, {word: own for word, own in stems.items() if own}, weights, has_compounds)


def _is_letter(word: str) -> bool:
    """A single letter is no word, unless the script writes words so."""
    return len(word) == 1 and word.isalpha() and word < "\u0e00"


def _is_form(first: str, second: str) -> bool:
    short, long = (first, second) if len(first) <= len(second) else (second, first)
    if not long.startswith(short):
        return False  # as nearly always
    root, ending = (_ROOT, _ENDING) if short.isascii() else (_ROOT_ELSEWHERE, _ENDING_ELSEWHERE)
    return len(short) >= root and len(long) - len(short) <= ending
