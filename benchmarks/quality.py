"""How well questions find their records: by words, by meaning, by both, and through the whole engine."""

from __future__ import annotations

from typing import Any

import msgspec

from benchmarks.corpus import Corpus, searchable
from benchmarks.metrics import DEPTH, Figures, Tally, is_testing
from benchmarks.reference import ELSEWHERE, PEERS_ON_LOCOMO_SESSIONS, judged
from benchmarks.refusal import measure_refusals
from benchmarks.sets import SETS, Absent
from quire.index.catalog import Index
from quire.index.search import Filter, Searcher
from quire.retrieval import relevance
from quire.retrieval.query import Ask, ask

WAYS = ("words", "meaning", "hybrid", "answer")
"""BM25 alone, vectors alone, the fusion of both, and what the engine answers after its floor."""
BUDGET = 2_000
_ALL = Filter()
_NAMES = {"recall_5": "recall@5", "recall_10": "recall@10", "ndcg_10": "nDCG@10", "mrr_10": "MRR@10"}

__all__ = ["Measured", "measure", "run"]


class Measured(msgspec.Struct):
    """One set: the figures of each way, and how many of its questions were told that there is no answer."""

    ways: dict[str, Figures]
    testing: dict[str, float]
    """nDCG@10 of each way over the half of the questions that nothing was fitted on."""
    records: int
    questions: int
    refused: int


def run() -> dict[str, Any]:
    results: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    for chosen in SETS:
        try:
            measured = measure(chosen.load())
        except Absent as absent:
            skipped[chosen.name] = str(absent)
            continue
        ndcg = {way: figures.ndcg_10 for way, figures in measured.ways.items()}
        results[chosen.name] = {
            "about": chosen.about,
            "records": measured.records,
            "questions": measured.questions,
            "nDCG@10, testing half": measured.testing,
            **{way: _named(figures) for way, figures in measured.ways.items()},
            "refused though answerable": measured.refused,
            **judged(chosen.name, ndcg["words"], ndcg["hybrid"]),
            "measured elsewhere, nDCG@10": ELSEWHERE.get(chosen.name, {}),
        }
    return {
        "sets": results,
        "skipped": skipped,
        "questions without an answer": measure_refusals(),
        "peers on LoCoMo sessions, measured elsewhere": PEERS_ON_LOCOMO_SESSIONS,
    }


def measure(corpora: list[Corpus]) -> Measured:
    """Every question of a set, each put to the index of its own corpus."""
    tallies = {way: Tally() for way in WAYS}
    testing = {way: Tally() for way in WAYS}
    refused = 0
    for corpus in corpora:
        with searchable(corpus.records) as index:
            searcher = index.searcher()
            for question in corpus.questions:
                found = _ranked(index, searcher, question.text)
                answer = ask(index, Ask(question=question.text, budget=BUDGET, limit=DEPTH))
                found["answer"] = [hit.record.ref for hit in answer.hits]
                refused += not answer.hits and not answer.withheld
                for way, refs in found.items():
                    tallies[way].add(refs, question.relevant)
                    if is_testing(question.text):
                        testing[way].add(refs, question.relevant)
    return Measured(
        ways={way: tally.figures() for way, tally in tallies.items()},
        testing={way: tally.figures().ndcg_10 for way, tally in testing.items()},
        records=sum(len(corpus.records) for corpus in corpora),
        questions=sum(len(corpus.questions) for corpus in corpora),
        refused=refused,
    )


def _ranked(index: Index, searcher: Searcher, text: str) -> dict[str, list[str]]:
    question = searcher.question(text)
    ids = {
        "words": [candidate.id for candidate in searcher.by_words(question, _ALL, DEPTH)],
        "meaning": [candidate.id for candidate in searcher.by_meaning(question, _ALL, DEPTH)],
        "hybrid": [scored.id for scored in relevance.measure(index, question, _ALL)[:DEPTH]],
    }
    records = index.by_ids(list({number for found in ids.values() for number in found}))
    return {way: [records[number].ref for number in found] for way, found in ids.items()}


def _named(figures: Figures) -> dict[str, float]:
    return {_NAMES[name]: value for name, value in msgspec.structs.asdict(figures).items()}
