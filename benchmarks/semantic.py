"""What the extra `semantic` gives: the same questions, cold, against documents embedded with the full network.

Needs numpy and the folder of all-MiniLM-L6-v2 in the environment variable QUIRE_TEACHER; is skipped without it. The
network's own questions ("network alone") only show that it computes what it is known to compute.
"""

from __future__ import annotations

import os
import time
from typing import Any

import msgspec

from benchmarks.corpus import Corpus, searchable
from benchmarks.metrics import DEPTH, Tally
from benchmarks.sets import SETS, Absent
from quire.index.catalog import Index
from quire.index.search import Filter
from quire.index.sentence_model import SentenceModel, open_sentence_model
from quire.retrieval import relevance
from quire.retrieval.query import Ask, ask

VARIABLE = "QUIRE_TEACHER"
CHOSEN = ("cacm", "cosqa", "notes, near", "notes, paraphrase")
TARGETS = {"cosqa": 0.505, "cacm": 0.466}
ELSEWHERE = {
    "cosqa": {"static question, network's documents": 0.500, "with words": 0.505, "network alone": 0.591},
    "cacm": {"static question, network's documents": 0.262, "with words": 0.466, "network alone": 0.410},
}
"""nDCG@10 of an earlier study, which gave every document one vector; long ones have several here."""
_ALL = Filter()

__all__ = ["run"]


def run() -> dict[str, Any]:
    folder = os.environ.get(VARIABLE)
    if not folder:
        print(f"semantic: skipped, because {VARIABLE} does not name the folder of the network")
        raise SystemExit(0)
    teacher = open_sentence_model(folder)
    results: dict[str, Any] = {}
    for chosen in SETS:
        if chosen.name in CHOSEN:
            try:
                results[chosen.name] = _measure(chosen.name, chosen.load(), teacher)
            except Absent as absent:
                results[chosen.name] = {"skipped": str(absent)}
    return {"space": teacher.space, "nDCG@10": results}


def _measure(name: str, corpora: list[Corpus], teacher: SentenceModel) -> dict[str, Any]:
    tallies: dict[str, Tally] = {}
    passages, seconds = 0, 0.0
    for corpus in corpora:
        with searchable(corpus.records) as index:
            _ask_all(index, corpus, "static", None, tallies)
            begin = time.perf_counter()
            index.teach(teacher, "", None)
            seconds += time.perf_counter() - begin
            passages += index.spaces()[teacher.space]
            _ask_all(index, corpus, "semantic", teacher, tallies)
    ndcg = {way: tally.figures().ndcg_10 for way, tally in tallies.items()}
    verdict = {"target": TARGETS[name], "target met": ndcg["semantic"] >= TARGETS[name]} if name in TARGETS else {}
    return {
        "records": sum(len(corpus.records) for corpus in corpora),
        "questions": sum(len(corpus.questions) for corpus in corpora),
        "passages": passages,
        "passages embedded in a second": round(passages / seconds, 1),
        **ndcg,
        **verdict,
        "measured elsewhere": ELSEWHERE.get(name, {}),
    }


def _ask_all(index: Index, corpus: Corpus, way: str, teacher: SentenceModel | None, tallies: dict[str, Tally]) -> None:
    """Every question by meaning alone, with words, and as the engine answers it; last, by the network's own vector."""
    searcher = index.searcher()
    refs = {number: record.ref for number, record in index.by_ids(list(range(1, len(corpus.records) + 1))).items()}
    own = teacher.embed([question.text for question in corpus.questions]) if teacher is not None else []
    for number, asked in enumerate(corpus.questions):
        question = searcher.question(asked.text)
        found = {
            f"{way}, meaning alone": [near.id for near in searcher.by_meaning(question, _ALL, DEPTH)],
            way: [scored.id for scored in relevance.measure(index, question, _ALL)[:DEPTH]],
        }
        if own:
            taught = msgspec.structs.replace(question, vector=own[number])
            found["network alone"] = [near.id for near in searcher.by_meaning(taught, _ALL, DEPTH)]
        for name, ids in found.items():
            tallies.setdefault(name, Tally()).add([refs[number] for number in ids], asked.relevant)
        answer = ask(index, Ask(question=asked.text, budget=2_000, limit=DEPTH))
        answered = tallies.setdefault(f"{way}, answer", Tally())
        answered.add([hit.record.ref for hit in answer.hits], asked.relevant)
