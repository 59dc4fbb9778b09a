"""From candidates to an order: words and meaning in one score, each part kept so that it can be explained."""

from __future__ import annotations

import re

import msgspec

from quire.index import Candidate, Filter, Question, Searcher, all_words

_CANDIDATES = 50
_WORDS_MOST, _WORDS_LEAST = 0.7, 0.05
"""What words weigh against meaning: where the question's words are found, and where they are not."""
_WORDS_TAUGHT = 0.55
"""What they weigh at most where the documents' vectors are the teacher's, which know more."""
_WORDS_NAMES = 0.95
"""What they weigh at most where the question is nothing but names from code, or keywords meant as they stand: a near
meaning is then another name."""
_EVIDENCE_LOW, _EVIDENCE_HIGH = 0.2, 0.5
_TELLING_WORDS = 3
_KEYWORDS = 4
"""A question of so few words is a list of keywords, no sentence."""
_COVERING = 0.25
"""What a record gains by holding all of them, as a share of the best match."""

_NAME = re.compile(r"\w[_./:#()+-]+\w|\w\(|[a-z0-9][A-Z]|^[A-Z]{2,}$")

__all__ = ["Scored", "code_names", "fuse", "keywords", "seed"]


class Scored(msgspec.Struct, kw_only=True):
    """A record with its relevance and what it is made of."""

    id: int
    score: float
    words: float
    """Against the best match of this question, 0 to 1."""
    meaning: float
    """Within the range of the nearest records, 0 to 1."""
    evidence: float
    """The words alone, against what the question's rarest words could give: comparable between questions."""
    nearness: float
    """The cosine alone, which does not depend on the other candidates either."""


def seed(searcher: Searcher, question: Question, allowed: Filter, *, literal: bool = False) -> list[Scored]:
    """The records that may answer, best first.

    Of a few words every one is meant: what holds them all gains by it. With `literal` it comes first altogether.
    """
    by_words = searcher.by_words(question, allowed, _CANDIDATES)
    wanted = keywords(question.text)
    covering = searcher.covering(question, wanted, allowed, _CANDIDATES) if wanted and by_words else []
    by_words = _raised(by_words, covering, literal)
    by_meaning = searcher.by_meaning(question, allowed, _CANDIDATES)
    near = {candidate.id: candidate.meaning or 0.0 for candidate in by_meaning}
    missing = [candidate.id for candidate in by_words if candidate.id not in near]
    near.update(searcher.meaning_of(question, missing) if missing else {})
    return fuse(by_words, by_meaning, near, question, _WORDS_NAMES if covering and literal else None)


def _raised(found: list[Candidate], covering: list[Candidate], literal: bool) -> list[Candidate]:
    """The matches, where those that hold every word count for more."""
    if not covering:
        return found
    best = max(candidate.words for candidate in found)
    scores = {candidate.id: candidate.words for candidate in found}
    for candidate in covering:
        known = scores.get(candidate.id, 0.0)
        scores[candidate.id] = best + candidate.words if literal else known + _COVERING * best
    return [Candidate(id=record, words=score) for record, score in sorted(scores.items(), key=lambda i: (-i[1], i[0]))]


def fuse(
    by_words: list[Candidate],
    by_meaning: list[Candidate],
    near: dict[int, float],
    question: Question,
    most: float | None = None,
) -> list[Scored]:
    """A weighted sum: the word score against the best one, the cosine within the range of the nearest records.

    `most` is what words weigh at most against meaning, where it is known already.
    """
    matched = {candidate.id: candidate.words for candidate in by_words}
    best = max(matched.values(), default=0.0)
    cosines = [candidate.meaning or 0.0 for candidate in by_meaning]
    low, high = (cosines[-1], cosines[0]) if cosines else (0.0, 0.0)
    possible = _possible(question)
    if most is None:
        most = _WORDS_NAMES if _is_names(question.text) else _most(by_meaning)
    weight = _words_weight(best / possible, most)
    scored = []
    for record in {**matched, **dict.fromkeys(candidate.id for candidate in by_meaning)}:
        found = matched.get(record, 0.0)
        words = found / best if best else 0.0
        cosine = near.get(record, 0.0)
        meaning = min(1.0, max(0.0, (cosine - low) / (high - low))) if high > low else float(bool(cosines))
        scored.append(
            Scored(
                id=record,
                score=weight * words + (1 - weight) * meaning,
                words=words,
                meaning=meaning,
                evidence=found / possible,
                nearness=cosine,
            )
        )
    return sorted(scored, key=lambda item: (-item.score, item.id))


def _possible(question: Question) -> float:
    """What a match of the question's three rarest words would be worth: the measure of evidence."""
    return sum(sorted(question.rarity.values(), reverse=True)[:_TELLING_WORDS]) or 1.0


def _most(by_meaning: list[Candidate]) -> float:
    taught = sum(candidate.taught for candidate in by_meaning)
    return _WORDS_TAUGHT if 2 * taught > len(by_meaning) else _WORDS_MOST


def code_names(text: str) -> list[str]:
    """The words of a question that look like they were copied from code: `retry_queue`, `maxRetries`, `a/b.ts`."""
    return [word.strip("`'\"()[]{}<>,;:.?!") for word in text.split() if _NAME.search(word)]


def keywords(text: str) -> list[str]:
    """The words of a question that is nothing but a few of them; none where it is a sentence, or a single word."""
    words = all_words(text)
    return words if 1 < len(words) <= _KEYWORDS else []


def _is_names(text: str) -> bool:
    words = text.split()
    return bool(words) and len(code_names(text)) == len(words)


def _words_weight(found: float, most: float) -> float:
    """Words first, as far as they were found: a paraphrase shares none and is left to its meaning."""
    share = (found - _EVIDENCE_LOW) / (_EVIDENCE_HIGH - _EVIDENCE_LOW)
    return _WORDS_LEAST + (most - _WORDS_LEAST) * min(1.0, max(0.0, share))
