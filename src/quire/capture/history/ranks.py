"""Choose the findings to propose: how sure × how much of it lives × how rare, near-duplicates joined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from quire.capture.history.findings import HistoryFinding

SURE = 0.4
_ALIKE, _NEAR = 0.7, 0.3
"""Two bodies that share so much of their words say the same; so do two such titles over bodies that are near."""
_LOOKED_AT = 400
_EVIDENCE_MOST = 4
_WORD = re.compile(r"\w+")


def ranked(findings: Iterable[HistoryFinding], limit: int) -> list[HistoryFinding]:
    """The best, the first one first.

    Rare is what says something of code that none before it speaks of. What is less sure than `SURE` is none.
    """
    sure = sorted((one for one in findings if one.score >= SURE), key=lambda one: (-one.score, one.origin))
    waiting = joined(sure[: max(_LOOKED_AT, 3 * limit)])
    spoken: Counter[str] = Counter()
    chosen: list[HistoryFinding] = []
    while waiting and len(chosen) < limit:
        best = max(waiting, key=lambda one: one.score * float((1 + spoken[_place(one)] / 2) ** (-0.5)))
        waiting.remove(best)
        chosen.append(best)
        spoken[_place(best)] += 1
    return chosen


def _place(finding: HistoryFinding) -> str:
    return finding.paths[0] if finding.paths else finding.source


def joined(findings: Iterable[HistoryFinding]) -> list[HistoryFinding]:
    """Findings that say the same as one: the first, with the evidence of the others."""
    kept: list[tuple[HistoryFinding, frozenset[str], frozenset[str]]] = []
    for finding in findings:
        title, body = _words(finding.title), _words(finding.body)
        for number, (other, its_title, its_body) in enumerate(kept):
            near = _share(body, its_body)
            if near >= _ALIKE or (near >= _NEAR and _share(title, its_title) >= _ALIKE):
                kept[number] = (_with(other, finding), its_title, its_body)
                break
        else:
            kept.append((finding, title, body))
    return [finding for finding, _, _ in kept]


def _with(first: HistoryFinding, other: HistoryFinding) -> HistoryFinding:
    return msgspec.structs.replace(
        first,
        evidence=(*first.evidence, *other.evidence)[:_EVIDENCE_MOST],
        commits=tuple(dict.fromkeys((*first.commits, *other.commits)))[:_EVIDENCE_MOST],
        also=(*first.also, other.origin, *other.also),
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _share(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first and second else 0.0
