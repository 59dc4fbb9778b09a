"""Drop hits of the journal that only repeat another hit.

An event is left out where another record shows the lines of it that match. A checkpoint, and the event of a run of
ours, repeat the bundle as it was: they are shown for words that nothing else in the journal holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.index.catalog import Index
from quire.index.search import Searcher
from quire.layers.journal import layout
from quire.layers.journal.text_match import normal_text
from quire.model.records import Record
from quire.retrieval.answer import Hit
from quire.retrieval.journal.evidence import unlabelled

_TURNS = {"bundle": 0, "event": 1}


def without_repeats(index: Index, question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits in their order, without those of the journal that say nothing beyond the others."""
    told = sorted((hit for hit in hits if hit.record.layer == "journal"), key=_turn_of)
    if len(told) < 2:
        return list(hits)
    searcher = index.searcher()
    wanted = frozenset(searcher.stems(question))
    shown: list[tuple[set[str], set[str]]] = []
    repeats = set()
    for hit in told:
        record = hit.record
        held = {*wanted.intersection(searcher.stems(" ".join((record.ref, *record.tags, record.title, record.text))))}
        # Who asks for words that only this one holds together gets it.
        others = [words for other, words in shown if held <= other]
        lines = _matching(searcher, record, wanted) if _turn(record) < 2 else []
        if hit.why != "named" and others and all(any(_words(line) <= words for words in others) for line in lines):
            repeats.add(record.ref)
        else:
            shown.append((held, {word for line in record.text.split("\n") for word in _words(line)}))
    return [hit for hit in hits if hit.record.ref not in repeats]


def _turn_of(hit: Hit) -> tuple[bool, int]:
    """What is merely possible takes the place of no answer."""
    return hit.tier != "answer", _turn(hit.record)


def _turn(record: Record) -> int:
    """First what holds, then what was said, then what only repeats it."""
    return 2 if record.section == layout.TOOL_RUN else _TURNS.get(record.kind, 2)


def _matching(searcher: Searcher, record: Record, wanted: frozenset[str]) -> list[str]:
    """The lines that hold most of the words of the question."""
    counts = [(len(wanted.intersection(searcher.stems(line))), line) for line in record.text.split("\n")]
    most = max((count for count, _ in counts), default=0)
    return [line for count, line in counts if count == most]


def _words(line: str) -> set[str]:
    return set(normal_text(unlabelled(line)).split())
