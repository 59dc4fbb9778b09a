"""What says nearly the same: found among whatever else there is, and nothing that only shares a few words."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.index.search import Filter
from quire.model.records import Record
from quire.model.vocabulary import LayerName
from quire.retrieval.similar_records import similar_to
from thorough import examples

TEXT = "The retry queue keeps failed invoices in Redis for ninety days."
Fill = Callable[..., Any]
Make = Callable[..., Record]


def found(index: Index, text: str, limit: int = 3, **parts: Any) -> list[tuple[str, float]]:
    return [(item.record.ref, item.share) for item in similar_to(index, text, Filter(**parts), limit)]


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (TEXT, 1.0),
        (TEXT.upper(), 1.0),
        ("the retry queue keeps the failed invoice in redis, for ninety day", 1.0),
        (TEXT.replace("ninety", "thirty"), 0.8333),
        (TEXT.replace("Redis", "Postgres").replace("ninety", "ten"), 0.6923),
        (TEXT + " They are sent again at night.", 0.6471),
    ],
)
def test_nearly_the_same_words(shelf: Fill, record: Make, text: str, share: float) -> None:
    asked = shelf(record("decision.a", "A", TEXT), record("decision.b", "B", "Boats are named after rivers."))
    ((ref, near),) = found(asked.index, text)
    assert ref == "decision.a"
    assert near == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "queue",
        "retry queue",
        "Redis is fast.",
        "The invoices are in the archive for ninety years and nobody reads them again.",
        "的 queue",
        "🙂 🙂 🙂 🙂",
        "the of and to",
    ],
)
def test_what_is_something_else(shelf: Fill, record: Make, text: str) -> None:
    asked = shelf(record("decision.a", "A", TEXT))
    assert found(asked.index, text) == []


def test_the_nearest_first_and_not_more_than_asked_for(shelf: Fill, record: Make) -> None:
    words = TEXT.split()
    asked = shelf(*(record(f"decision.d{cut}", "T", " ".join(words[cut:])) for cut in range(4)))
    assert [ref for ref, _ in found(asked.index, TEXT, 9)] == [
        "decision.d0",
        "decision.d1",
        "decision.d2",
        "decision.d3",
    ]
    assert [ref for ref, _ in found(asked.index, TEXT, 1)] == ["decision.d0"]


def test_equals_stand_in_the_order_of_their_names(shelf: Fill, record: Make) -> None:
    asked = shelf(*(record(f"decision.{name}", "T", TEXT) for name in "cab"))
    assert [ref for ref, _ in found(asked.index, TEXT)] == ["decision.a", "decision.b", "decision.c"]


def test_only_among_what_is_allowed(shelf: Fill, record: Make) -> None:
    asked = shelf(
        record("decision.a", "T", TEXT, section="Specs"),
        record("decision.b", "T", TEXT, section="Decisions"),
        record("decision.c", "T", TEXT, section="Specs", status="archived"),
        record("decision.d", "T", TEXT, section="Specs", scope="side"),
    )
    assert [ref for ref, _ in found(asked.index, TEXT, sections=("Specs",), statuses=("active",))] == ["decision.a"]
    assert [ref for ref, _ in found(asked.index, TEXT, scope="side")] == ["decision.d"]


@pytest.mark.parametrize("others", [25, 60])
def test_what_is_not_allowed_takes_nobodys_place(shelf: Fill, record: Make, others: int) -> None:
    """The same was said often elsewhere: in another section, another mind, or long ago."""
    asked = shelf(
        *(record(f"decision.a{number:02}", "T", TEXT, status="archived") for number in range(others)),
        record("decision.z", "T", TEXT.replace("ninety", "eighty")),
    )
    assert [ref for ref, _ in found(asked.index, TEXT, statuses=("active",))] == ["decision.z"]


def test_words_that_everybody_uses_hide_nothing(shelf: Fill, record: Make) -> None:
    """Most words of both are the same; that the rarest ones are not does not make them two things."""
    first = "It is not to be the same as the one that we had before, and there it was in the queue of the server."
    second = first.replace("queue", "stack").replace("server", "client")
    asked = shelf(record("decision.a", "T", first))
    assert [ref for ref, _ in found(asked.index, second)] == ["decision.a"]


def test_names_from_code(shelf: Fill, record: Make) -> None:
    asked = shelf(record("decision.a", "T", "`retryQueue` calls `send_invoice` in src/billing/worker.py at start."))
    ((ref, _),) = found(asked.index, "`retryQueue` calls send_invoice in src/billing/worker.py at the start")
    assert ref == "decision.a"


@pytest.mark.parametrize("text", ['" OR "', "a AND (b NEAR c) NOT d*", "'; DROP TABLE words; --", "\0 a b c d", "^a:b"])
def test_nothing_in_a_text_is_an_operator(shelf: Fill, record: Make, text: str) -> None:
    asked = shelf(record("decision.a", "T", TEXT))
    assert found(asked.index, text + " " + TEXT)[:1] in (
        [],
        [("decision.a", found(asked.index, text + " " + TEXT)[0][1])],
    )


WORDS = ("boat", "ferry", "river", "harbour", "port", "ticket", "invoice", "queue", "retry", "map", "night", "day")
COMMON = ("the", "of", "and", "in", "to", "is")
SAID = st.lists(st.sampled_from(WORDS + COMMON), min_size=1, max_size=14, unique=True).map(" ".join)


class Page:
    """Records with these texts."""

    layer: LayerName = "graph"

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def folder_stamps(self) -> dict[str, int]:
        return {}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        return {"file": "1"}

    def read(self, paths: Iterable[str]) -> Iterator[Record]:
        for number, text in enumerate(self.texts):
            yield Record(
                ref=f"decision.d{number}",
                layer="graph",
                kind="fact",
                title="T",
                text=text,
                status="active",
                path="file",
            )


@settings(max_examples=examples(150))
@given(SAID, st.lists(SAID, max_size=12))
@example("boat ferry the of", ["boat river the of"])
def test_as_if_every_record_were_compared(text: str, others: list[str]) -> None:
    """Whatever shares six words of ten with the text is found, as by comparing it with each."""
    index = Index(open_in_memory())
    index.bring_up([Page(others)], None)
    stems = set(index.searcher().stems(text))
    expected = set()
    for number, other in enumerate(others):
        theirs = set(index.searcher().stems(other))
        if len(stems) >= 4 and len(stems & theirs) / len(stems | theirs) >= 0.6:
            expected.add(f"decision.d{number}")
    assert {ref for ref, _ in found(index, text, 50)} == expected
    index.close()


def test_an_empty_index() -> None:
    index = Index(open_in_memory())
    assert found(index, TEXT) == []
    index.close()
