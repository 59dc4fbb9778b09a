"""Candidates for a question: records whose words match, and records whose meaning is near."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from quire.index.analysis import TOKENIZER, index_text, match_any, phrases, question_words
from quire.index.embedding import Vector, embedder
from quire.model import Record

_NEAR = 300
"""At most so many passages are looked at exactly after a first look at their signs."""
_COMMON = 0.05
"""In a large store, words in more than this part of the records are left to the second look."""
_LARGE = 20_000
_TAUGHT = 0.08
"""How much lower cosines with the teacher's vectors are than with the table's; added, so that one floor serves both."""
_PHRASE_SHARE = 0.2
"""What the match of a phrase adds, as a share of its own word score."""
_NEARNESS = f"max(1 - vec_distance_cosine(vec_int8(vector), vec_int8(?)) + {_TAUGHT} * (space != ?))"

__all__ = ["Candidate", "Filter", "Question", "Searcher"]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which records may answer at all; an empty part lets all through."""

    layers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] | None = None
    """Only these records, where it is given at all."""

    def allows(self, record: Record) -> bool:
        """Whether this record may answer."""
        return (
            (not self.layers or record.layer in self.layers)
            and (not self.kinds or record.kind in self.kinds)
            and set(self.tags) <= set(record.tags)
            and (self.refs is None or record.ref in self.refs)
        )

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
        if self.refs is not None:
            parts.append("ref IN (SELECT value FROM json_each(?))")
            values.append(msgspec.json.encode(self.refs).decode())
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
    taught: bool = False
    """Whether its vector is the teacher's, not the static table's."""


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
        found = [Candidate(id=row, words=-rank) for row, rank in rows]
        return self._with_phrases(question, words, found)

    def _with_phrases(self, question: Question, words: list[str], found: list[Candidate]) -> list[Candidate]:
        """Words that stand together in the question and in the record count for a little more."""
        together = phrases(question.text, set(words))
        if not together or not found:
            return found
        query = "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        bonus = dict(self._connection.execute(query, (" OR ".join(together), 4 * len(found))))
        for candidate in found:
            candidate.words -= _PHRASE_SHARE * bonus.get(candidate.id, 0.0)
        return sorted(found, key=lambda candidate: (-candidate.words, candidate.id))

    def by_meaning(self, question: Question, allowed: Filter, limit: int) -> list[Candidate]:
        """The records with the nearest passage, nearest first."""
        if question.vector is None:
            return []
        condition, values = allowed.condition()
        spaces, others = self._spaces()
        own = embedder().revision
        if others:
            condition = " AND ".join(filter(None, [condition, f"v.space IN ({_marks(spaces)})"]))
            values += spaces
        chosen = f"SELECT v.id FROM vectors v JOIN records ON records.id = v.record WHERE {condition}"
        inside = f" WHERE id IN ({chosen})" if condition else ""
        rows = self._connection.execute(
            f"SELECT record, {_NEARNESS} AS near, space FROM vectors"
            f" WHERE id IN (SELECT id FROM signs{inside}"
            " ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(?)) LIMIT ?)"
            f" AND space IN ({_marks(spaces)}) GROUP BY record ORDER BY near DESC, record LIMIT ?",
            (question.vector.values, own, *values, question.vector.bits, self._near(), *spaces, limit),
        )
        return [Candidate(id=row, meaning=near, taught=space != own) for row, near, space in rows]

    def meaning_of(self, question: Question, records: Iterable[int]) -> dict[int, float]:
        """How near these records are, also those that are not among the nearest."""
        if question.vector is None:
            return {}
        listed = ",".join(map(str, records))
        spaces, _ = self._spaces()
        return dict(
            self._connection.execute(
                f"SELECT record, {_NEARNESS} FROM vectors"
                f" WHERE record IN ({listed}) AND space IN ({_marks(spaces)}) GROUP BY record",
                (question.vector.values, embedder().revision, *spaces),
            )
        )

    def _near(self) -> int:
        """How many passages deserve an exact look: fewer where there are few."""
        return min(_NEAR, 60 + self._count("SELECT max(id) FROM vectors") // 20)

    def _spaces(self) -> tuple[list[str], bool]:
        """The spaces whose vectors a question may be compared with, and whether the index holds others, too."""
        names = [name for (name,) in self._connection.execute("SELECT name FROM spaces")]
        shared = [name for name in names if embedder().shares(name)]
        return shared, len(shared) < len(names)

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


def _marks(values: list[str]) -> str:
    return ",".join("?" * len(values))
