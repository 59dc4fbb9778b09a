"""Questions that the memory cannot answer: how many get an honest "nothing found", and what that costs elsewhere.

The floor of the engine was chosen with the notes in view. The questions that are put to a project they do not belong to
were not looked at for it, least of all those of the outside sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchmarks.corpus import Corpus, searchable
from benchmarks.metrics import DEPTH
from benchmarks.notes import PRODUCTS, note_set
from benchmarks.sets import SETS, Absent
from quire.index.catalog import Index
from quire.retrieval.answer import Answer
from quire.retrieval.query import Ask, ask

BUDGET = 2_000
_STRANGERS = (("cosqa", "adrs"), ("locomo, sessions", "adrs"), ("adrs", "locomo, sessions"), ("cosqa", "notes, near"))
"""Questions of the first set, put to the projects of the second."""
_QUESTIONS = 100

__all__ = ["Refusals", "measure_refusals", "notes_refusals"]


class Refusals(msgspec.Struct):
    """Counts over the notes' questions."""

    unanswerable: int = 0
    unanswerable_refused: int = 0
    answerable: dict[str, int] = msgspec.field(default_factory=dict)
    answerable_refused: dict[str, int] = msgspec.field(default_factory=dict)
    foreign: int = 0
    foreign_refused: int = 0
    foreign_first: int = 0
    foreign_found: int = 0
    other_product: int = 0
    other_product_refused: int = 0

    @property
    def refused_share(self) -> float:
        return self.unanswerable_refused / self.unanswerable


def notes_refusals() -> Refusals:
    """The notes' questions through the whole engine, each product an index of its own."""
    counts = Refusals()
    for product in PRODUCTS:
        with searchable([note.record() for note in note_set().of(product)]) as index:
            _put(index, product, counts)
    return counts


def measure_refusals() -> dict[str, Any]:
    counts = notes_refusals()
    return {
        "notes, unanswerable": _share(counts.unanswerable_refused, counts.unanswerable),
        "notes, of another product": _share(counts.other_product_refused, counts.other_product),
        **{
            f"notes, answerable, {form}": _share(counts.answerable_refused[form], counts.answerable[form])
            for form in counts.answerable
        },
        "notes, in another language": {
            **_share(counts.foreign_refused, counts.foreign),
            "first": counts.foreign_first,
            "among the answers": counts.foreign_found,
        },
        **_strangers(),
    }


def _put(index: Index, product: str, counts: Refusals) -> None:
    notes = note_set()
    for unanswerable in notes.unanswerable:
        if unanswerable.product == product:
            counts.unanswerable += 1
            counts.unanswerable_refused += _refused(_ask(index, unanswerable.question))
    for note in notes.notes:
        if note.product != product:
            counts.other_product += 1
            counts.other_product_refused += _refused(_ask(index, note.near))
            continue
        for form in ("near", "paraphrase"):
            counts.answerable[form] = counts.answerable.get(form, 0) + 1
            refused = _refused(_ask(index, getattr(note, form)))
            counts.answerable_refused[form] = counts.answerable_refused.get(form, 0) + refused
    for foreign in notes.foreign:
        if foreign.product == product:
            answer = _ask(index, foreign.question)
            found = [hit.record.ref for hit in answer.hits]
            counts.foreign += 1
            counts.foreign_refused += _refused(answer)
            counts.foreign_first += found[:1] == [foreign.id]
            counts.foreign_found += foreign.id in found


def _strangers() -> dict[str, Any]:
    """Questions put to projects that have nothing to do with them."""
    loaders = {chosen.name: chosen.load for chosen in SETS}
    found: dict[str, Any] = {}
    for asking, asked in _STRANGERS:
        try:
            questions = _spread(loaders[asking]())
            corpora = loaders[asked]()
        except Absent:
            continue
        refused = total = 0
        for corpus in corpora:
            with searchable(corpus.records) as index:
                refused += sum(_refused(_ask(index, text)) for text in questions)
                total += len(questions)
        found[f"{asking}, put to {asked}"] = _share(refused, total)
    return found


def _spread(corpora: Iterable[Corpus]) -> list[str]:
    """A number of questions from all parts of a set."""
    texts = [question.text for corpus in corpora for question in corpus.questions]
    return texts[:: max(1, len(texts) // _QUESTIONS)]


def _ask(index: Index, question: str) -> Answer:
    return ask(index, Ask(question=question, budget=BUDGET, limit=DEPTH))


def _refused(answer: Answer) -> bool:
    """Nothing clearly answers, and nothing is said to be withheld."""
    return all(hit.tier == "possible" for hit in answer.hits) and not answer.withheld


def _share(refused: int, total: int) -> dict[str, Any]:
    return {"questions": total, "refused": refused, "share": round(refused / total, 3)}
