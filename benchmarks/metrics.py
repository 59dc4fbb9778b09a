"""How good an order of results is: recall, nDCG and MRR over the first ten."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Set

import msgspec

DEPTH = 10

__all__ = ["DEPTH", "Figures", "Tally", "is_testing"]


def is_testing(question: str) -> bool:
    """Whether a question is of the half that nothing may be fitted on: by its hash, so that nobody can choose."""
    return hashlib.sha1(question.encode()).digest()[0] % 2 == 1


class Figures(msgspec.Struct, frozen=True):
    recall_5: float
    recall_10: float
    ndcg_10: float
    mrr_10: float


class Tally:
    """Collects one order of results per question."""

    def __init__(self) -> None:
        self.questions = 0
        self._sums = [0.0, 0.0, 0.0, 0.0]

    def add(self, found: list[str], relevant: Set[str]) -> None:
        """`found` best first; what is in no order of ten counts as not found."""
        gains = [ref in relevant for ref in found[:DEPTH]]
        best = sum(1 / math.log2(rank + 2) for rank in range(min(DEPTH, len(relevant))))
        parts = (
            sum(gains[:5]) / len(relevant),
            sum(gains) / len(relevant),
            sum(1 / math.log2(rank + 2) for rank, gain in enumerate(gains) if gain) / best,
            next((1 / (rank + 1) for rank, gain in enumerate(gains) if gain), 0.0),
        )
        self._sums = [total + part for total, part in zip(self._sums, parts, strict=True)]
        self.questions += 1

    def figures(self) -> Figures:
        return Figures(*(round(total / max(1, self.questions), 4) for total in self._sums))
