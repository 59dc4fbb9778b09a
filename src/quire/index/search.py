"""Candidates for a question: records whose words match, and records whose meaning is near."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from quire.index.analysis import TOKENIZER, index_text, match_any, question_words
from quire.index.embedding import Vector, embedder

_NEAR = 300
"""Passages that are looked at exactly after a first look at their signs."""
_COMMON = 0.05
"""In a large store, words in more than this part of the records are left to the second look."""
_LARGE = 20_000

__all__ = ["Candidate", "Filter", "Question", "Searcher"]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which records may answer at all; an empty part lets all through."""

    layers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def condition(self) -> tuple[str, list[str]]:
        """As SQL over the table of records."""
        parts, values = [], list[str]()
        for column, allowed in (("layer", self.layers), ("kind", self.kinds)):
            if allowed:
                parts.append(f"{column} IN ({','.join('?' * len(allowed))})")
                values += allowed
        for tag in self.tags:
            parts.append("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)")
            values.append(tag)
        return " AND ".join(parts), values


class Question(msgspec.Struct, frozen=True):
    """A question as the index sees it: its stems with their rarity, and its vector."""

    text: str
    words: list[str]
    rarity: dict[str, float]
    vector: Vector | None


class Candidate(msgspec.Struct):
    """A record that may answer: how well its words match, how near its meaning is."""

    id: int
    words: float = 0.0
    meaning: float | None = None


class Searcher:
    """Reads one index; writes nothing."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        name, *arguments = TOKENIZER.split()
        self._tokenizer = connection.fts5_tokenizer(name, arguments)

    def stems(self, text: str) -> list[str]:
        """The words of a text as the index holds them."""
        data = index_text(text).encode("utf-8", "replace")
        found: Any = self._tokenizer(
            data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
        return list(found)

    def question(self, text: str) -> Question:
        """Look up how rare each word is; a word that no record holds is the rarest."""
        words = question_words(text)
        total = self._count("SELECT sum(number) FROM tallies")
        rarity = {}
        for word in words:
            for stem in self.stems(word):
                found = self._count("SELECT doc FROM vocabulary WHERE term = ?", stem)
                rarity[stem] = math.log(1 + (total - found + 0.5) / (found + 0.5))
        return Question(text, words, rarity, embedder().embed(text))

    def by_words(self, question: Question, allowed: Filter, limit: int) -> list[Candidate]:
        """The best matches of the question's words, best first."""
        words = self._telling(question)
        if not words:
            return []
        condition, values = allowed.condition()
        inside = f" AND rowid IN (SELECT id FROM records WHERE {condition})" if condition else ""
        rows = self._connection.execute(
            f"SELECT rowid, rank FROM words WHERE words MATCH ?{inside} ORDER BY rank, rowid LIMIT ?",
            (match_any(words), *values, limit),
        )
        return [Candidate(id=row, words=-rank) for row, rank in rows]

    def by_meaning(self, question: Question, allowed: Filter, limit: int) -> list[Candidate]:
        """The records with the nearest passage, nearest first."""
        if question.vector is None:
            return []
        condition, values = allowed.condition()
        chosen = f"SELECT v.id FROM vectors v JOIN records ON records.id = v.record WHERE {condition}"
        inside = f" WHERE id IN ({chosen})" if condition else ""
        rows = self._connection.execute(
            "SELECT record, max(1 - vec_distance_cosine(vec_int8(vector), vec_int8(?))) AS near FROM vectors"
            f" WHERE id IN (SELECT id FROM signs{inside}"
            " ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(?)) LIMIT ?)"
            " GROUP BY record ORDER BY near DESC, record LIMIT ?",
            (question.vector.values, *values, question.vector.bits, _NEAR, limit),
        )
        return [Candidate(id=row, meaning=near) for row, near in rows]

    def meaning_of(self, question: Question, records: Iterable[int]) -> dict[int, float]:
        """How near these records are, also those that are not among the nearest."""
        if question.vector is None:
            return {}
        listed = ",".join(map(str, records))
        return dict(
            self._connection.execute(
                "SELECT record, max(1 - vec_distance_cosine(vec_int8(vector), vec_int8(?))) FROM vectors"
                f" WHERE record IN ({listed}) GROUP BY record",
                (question.vector.values,),
            )
        )

    def _telling(self, question: Question) -> list[str]:
        """The words to search by. In a large store, common ones cost much and tell little."""
        total = self._count("SELECT sum(number) FROM tallies")
        if total < _LARGE:
            return question.words
        floor = math.log(1 + (1 - _COMMON) / _COMMON)
        rare = [w for w in question.words if max((question.rarity[s] for s in self.stems(w)), default=0.0) >= floor]
        return rare or question.words

    def _count(self, query: str, *values: str) -> int:
        row = self._connection.execute(query, values).get
        return int(row) if row is not None else 0
