"""Find candidates for a question: by full-text match and by vector distance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw
import msgspec

from quire.index.text_analysis import (
    TOKENIZER,
    all_words,
    index_text,
    match_all,
    match_any,
    phrases,
    plain_words,
    question_words,
)
from quire.index.vector_table import Vector, embedder
from quire.model.records import Record
from quire.model.vocabulary import LIVE_STATUSES

_NEAR = 300
"""At most so many passages are looked at exactly after a first look at their signs."""
_COMMON = 0.05
"""In a large store, words in more than this part of the records are left to the second look."""
_LARGE = 20_000
_TAUGHT = 0.08
"""How much lower cosines with the teacher's vectors are than with the table's; added, so that one floor serves both."""
_PHRASE_SHARE = 0.2
"""What the match of a phrase adds, as a share of its own word score."""
_WORDS = 64
_TELLING_LETTERS = 4
"""Of a question that has nothing but stop words, those with so many letters are searched for."""
_TEXT_WORDS = 600
"""So many of a text's words are compared with the words of a question."""
_ALIKE = "2, 2, 2"
"""The weights of title, names and body, where all of the words are there anyway."""
_IN_FORCE = (*LIVE_STATUSES, "closed")
_RARE = 150
_MOST = 0.2
"""Where at least this part of the records is allowed, the best of all are searched and then sifted."""
_NEARNESS = f"max(1 - vec_distance_cosine(vec_int8(vector), vec_int8(?)) + {_TAUGHT} * (space != ?))"


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which records may answer at all; an empty part lets all through."""

    layers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    scope: str = ""
    """Exactly this one: what is kept apart is never mixed."""
    refs: tuple[str, ...] | None = None
    """Only these records, where it is given at all."""

    def allows(self, record: Record) -> bool:
        """Whether this record may answer."""
        return (
            (not self.layers or record.layer in self.layers)
            and (not self.kinds or record.kind in self.kinds)
            and (not self.sections or record.section in self.sections)
            and (not self.statuses or record.status in self.statuses)
            and record.scope == self.scope
            and set(self.tags) <= set(record.tags)
            and (self.refs is None or record.ref in self.refs)
        )

    def broad(self) -> tuple[str, list[str]]:
        """The part that tallies can answer, as SQL over them or over the table of records."""
        parts, values = ["scope = ?"], [self.scope]
        columns = (
            ("layer", self.layers),
            ("kind", self.kinds),
            ("section", self.sections),
            ("status", self.statuses),
        )
        for column, allowed in columns:
            if allowed:
                parts.append(f"{column} = ?" if len(allowed) == 1 else f"{column} IN ({','.join('?' * len(allowed))})")
                values += allowed
        if self.sections:
            parts.append("section != ''")  # what the index by section is made for
        return " AND ".join(parts), values

    def condition(self) -> tuple[str, list[str]]:
        """As SQL over the table of records."""
        broad, values = self.broad()
        parts = [broad]
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
    rarest: list[tuple[str, float]] = []
    """Each word with its rarity, the rarest first; of words with one stem the first."""
    is_plain: bool = False
    """Whether it consists of stop words alone, which are searched for only then."""


class SearchCandidate(msgspec.Struct):
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
        """The stemmed words of a text, as the index stores them."""
        data = index_text(text).encode("utf-8", "replace")
        found: Any = self._tokenizer(
            data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
        return list(found)

    def question(self, text: str) -> Question:
        """Parse a question and look up how rare each word is; an unknown word is the rarest."""
        words = question_words(text)
        is_plain = not words
        if is_plain:
            words = [word for word in all_words(text) if len(word) >= _TELLING_LETTERS][:_WORDS]
        total = self._count("SELECT sum(number) FROM tallies")
        rarity: dict[str, float] = {}
        rarest = []
        for word in words:
            stems = self.stems(word)
            if not stems or rarity.keys() >= set(stems):
                continue
            # Counted, not looked up: the vocabulary of such a table still knows what was deleted.
            found = self._count("SELECT count(*) FROM words WHERE words MATCH ?", match_any([word]))
            rarest.append((word, math.log(1 + (total - found + 0.5) / (found + 0.5))))
            rarity.update(dict.fromkeys(stems, rarest[-1][1]))
        rarest.sort(key=lambda item: -item[1])
        return Question(text, words, rarity, embedder().embed(text), rarest, is_plain)

    def sharing(self, words: Iterable[str], number: int, least: int) -> list[int]:
        """Records that hold at least `least` of the `number` rarest of these words, those with the most first.

        Without ranks: a word in more records than can be looked at says nothing here.
        """
        holding: dict[str, list[int]] = {}
        for word in words:
            query = f"SELECT rowid FROM words WHERE words MATCH ? LIMIT {_RARE}"
            holding[word] = [row for (row,) in self._connection.execute(query, (match_any([word]),))]
        rarest = sorted(holding, key=lambda word: len(holding[word]))[:number]
        if all(len(holding[word]) == _RARE for word in rarest):
            return [candidate.id for candidate in self.any_of(rarest, Filter(), _RARE)]
        counts = Counter(row for word in rarest for row in holding[word])
        return [row for row, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count >= least]

    def by_words(self, question: Question, allowed: Filter, limit: int) -> list[SearchCandidate]:
        """The best matches of the question's words, best first."""
        words = self._telling(question)
        return self._with_phrases(question, words, self.any_of(words, allowed, limit))

    def any_of(self, words: list[str], allowed: Filter, limit: int) -> list[SearchCandidate]:
        """The best matches of any of these words, best first."""
        if not words:
            return []
        condition, values = allowed.condition()
        # The words first, in the order of their rank, and each match looked up: told in another order, the search would
        # be made once for every record that is allowed.
        rows = self._connection.execute(
            "SELECT words.rowid, words.rank FROM words CROSS JOIN records ON records.id = words.rowid"
            f" WHERE words MATCH ? AND {condition} ORDER BY words.rank LIMIT ?",
            (match_any(words), *values, limit),
        )
        found = [SearchCandidate(id=row, words=-rank) for row, rank in rows]
        return sorted(found, key=lambda item: (-item.words, item.id))

    def covering(self, question: Question, words: list[str], allowed: Filter, limit: int) -> dict[int, float]:
        """The records that hold every one of these words, and how well they match, wherever the words stand.

        Those in force come first, so that retired ones cannot take their places.
        """
        condition, values = allowed.condition()
        rows = self._connection.execute(
            f"SELECT words.rowid, bm25(words, {_ALIKE}) AS match FROM words CROSS JOIN records"
            f" ON records.id = words.rowid WHERE words MATCH ? AND {condition}"
            f" ORDER BY status NOT IN ({_marks(_IN_FORCE)}) OR stage = 'dead', match, words.rowid LIMIT ?",
            (match_all(words), *values, *_IN_FORCE, limit),
        )
        found = self._with_phrases(question, words, [SearchCandidate(id=row, words=-match) for row, match in rows])
        return {candidate.id: candidate.words for candidate in found}

    def naming(self, name: str, allowed: Filter, limit: int) -> list[int]:
        """The records that have these words next to each other among their names: ref, tags, anchors."""
        condition, values = allowed.condition()
        rows = self._connection.execute(
            "SELECT words.rowid FROM words CROSS JOIN records ON records.id = words.rowid WHERE words MATCH ?"
            f" AND {condition} LIMIT ?",
            (f'names : "{_quoted(name)}"', *values, limit),
        )
        return [row for (row,) in rows]

    def is_rare(self, phrase: str, share: float) -> bool:
        """Whether no more than this share of the records, or a single one, hold these words next to each other."""
        most = max(1, int(share * self._count("SELECT sum(number) FROM tallies")))
        query = f"SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT {most + 1})"
        return self._count(query, f'"{_quoted(phrase)}"') <= most

    def holding(self, word: str, records: Sequence[int]) -> set[int]:
        """Of these records, those that hold a word."""
        rows = self._connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? INTERSECT SELECT value FROM json_each(?)",
            (match_any([word]), msgspec.json.encode(records).decode()),
        )
        return {row for (row,) in rows}

    def nearest_words(self, wanted: Sequence[str], texts: Mapping[int, str]) -> dict[int, list[float]]:
        """For each text, how near its nearest word comes to each of the words that are wanted, as a cosine."""
        table = embedder()
        asked = [found.values for word in wanted if (found := table.embed(word))]
        places: dict[str, int] = {}
        rows: list[bytes] = []
        said: dict[int, list[int]] = {}
        for number, text in texts.items():
            said[number] = []
            for word in plain_words(text, _TEXT_WORDS):
                if word not in places:
                    row = table.word(word)
                    places[word] = len(rows) if row else -1
                    rows += [row] if row else []
                if (place := places[word]) >= 0:
                    said[number].append(place)
        if not rows or len(asked) < len(wanted):
            return {number: [0.0] * len(wanted) for number in texts}
        word = f"vec_int8(substr(?1, {table.dimensions} * place + 1, {table.dimensions}))"
        columns = ", ".join(f"1 - vec_distance_cosine({word}, vec_int8(?{at}))" for at in range(3, 3 + len(asked)))
        near = list(
            self._connection.execute(
                "WITH RECURSIVE each(place) AS (VALUES (0) UNION ALL SELECT place + 1 FROM each WHERE place + 1 < ?2)"
                f" SELECT {columns} FROM each",
                (b"".join(rows), len(rows), *asked),
            )
        )
        return {
            number: [max((near[place][at] for place in places_said), default=0.0) for at in range(len(wanted))]
            for number, places_said in said.items()
        }

    def _share(self, allowed: Filter) -> float:
        """Estimate the share of records that the filter allows."""
        total = self._count("SELECT sum(number) FROM tallies")
        if total == 0:
            return 0.0
        condition, values = allowed.broad()
        number = self._count(f"SELECT sum(number) FROM tallies WHERE {condition}", *values)
        if allowed.tags or allowed.refs is not None:
            return min(number / total, _MOST / 2)
        return number / total

    def _with_phrases(
        self, question: Question, words: list[str], found: list[SearchCandidate]
    ) -> list[SearchCandidate]:
        """Words that stand together in the question and in the record count for a little more."""
        together = phrases(question.text, set(words))
        if not together or not found:
            return found
        query = "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        bonus = dict(self._connection.execute(query, (" OR ".join(together), 4 * len(found))))
        for candidate in found:
            candidate.words -= _PHRASE_SHARE * bonus.get(candidate.id, 0.0)
        return sorted(found, key=lambda candidate: (-candidate.words, candidate.id))

    def by_meaning(self, question: Question, allowed: Filter, limit: int) -> list[SearchCandidate]:
        """The records with the nearest passage, nearest first."""
        if question.vector is None:
            return []
        share = self._share(allowed)
        if share == 0.0:
            return []
        condition, values = allowed.condition()
        spaces, others = self._spaces()
        own = embedder().revision
        inside, near, among = "", self._near(), ""
        if others or share < _MOST:
            chosen = f"SELECT v.id FROM vectors v JOIN records ON records.id = v.record WHERE {condition}"
            if others:
                chosen += f" AND v.space IN ({_marks(spaces)})"
                values += spaces
            inside = f" WHERE id IN ({chosen})"
            first, second = values, []
        else:
            # Where most are allowed, a few more are looked at, and those that are not allowed are left out of them.
            near = int(near / share) + 1
            among = f" AND record IN (SELECT id FROM records WHERE id = record AND {condition})"
            first, second = [], values
        rows = self._connection.execute(
            f"SELECT record, {_NEARNESS} AS near FROM vectors"
            f" WHERE id IN (SELECT id FROM signs{inside}"
            " ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(?)) LIMIT ?)"
            f" AND space IN ({_marks(spaces)}){among} GROUP BY record ORDER BY near DESC, record LIMIT ?",
            (question.vector.values, own, *first, question.vector.bits, near, *spaces, *second, limit),
        )
        return [SearchCandidate(id=row, meaning=near) for row, near in rows]

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

    def passages_of(self, records: Iterable[int]) -> dict[int, int]:
        """In how many passages the text of each of these records is held."""
        listed = ",".join(map(str, records))
        query = f"SELECT record, count(*) FROM vectors WHERE record IN ({listed}) GROUP BY record"
        return dict(self._connection.execute(query))

    def nearness_of(self, one: str, other: str) -> tuple[float, int]:
        """How near the nearest passages of two records are to each other, and among how many pairs of passages."""
        rows = self._connection.execute(
            "SELECT max(1 - vec_distance_cosine(vec_int8(a.vector), vec_int8(b.vector))), count(*)"
            " FROM vectors a, vectors b WHERE a.record = (SELECT id FROM records WHERE ref = ?) AND b.record ="
            " (SELECT id FROM records WHERE ref = ?) AND a.space = b.space",
            (one, other),
        )
        near, pairs = next(iter(rows))
        return near or 0.0, pairs

    def _near(self) -> int:
        """How many passages deserve an exact look: fewer where there are few."""
        return min(_NEAR, 60 + self._count("SELECT sum(number) FROM tallies") // 20)

    def _spaces(self) -> tuple[list[str], bool]:
        """The spaces whose vectors a question may be compared with, and whether the index holds others, too."""
        names = [name for (name,) in self._connection.execute("SELECT name FROM spaces")]
        shared = [name for name in names if embedder().shares(name)]
        return shared, len(shared) < len(names)

    def _telling(self, question: Question) -> list[str]:
        """The words to search by: in a large store without common ones, which are slow and say little."""
        total = self._count("SELECT sum(number) FROM tallies")
        if total < _LARGE:
            return question.words
        floor = math.log(1 + (1 - _COMMON) / _COMMON)
        rare = [w for w in question.words if max((question.rarity[s] for s in self.stems(w)), default=0.0) >= floor]
        return rare or question.words

    def _count(self, query: str, *values: str) -> int:
        row = self._connection.execute(query, values).get
        return int(row) if row is not None else 0


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


def _quoted(text: str) -> str:
    """A text as it may stand between the quotes of a full-text expression."""
    return index_text(text).replace('"', " ")
