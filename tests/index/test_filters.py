"""Which records may answer: the rule in words and the rule in SQL are one, and every search obeys it."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.index.search import Filter
from quire.model.records import Record
from quire.model.vocabulary import LayerName

LAYERS: tuple[LayerName, ...] = ("graph", "facts")
ODD = ("a", "A", "a ", "1", "true", "null", '"', "'", "%", "_", "a,b", "ü", "", "[]")


class Shelf:
    def __init__(self, layer: LayerName, records: Iterable[Record]) -> None:
        self.layer: LayerName = layer
        self.records = [record for record in records if record.layer == layer]

    def folder_stamps(self) -> dict[str, int]:
        return {}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        return {"file": "1"}

    def read(self, paths: Iterable[str]) -> Iterator[Record]:
        return iter(self.records)


def shelf(*records: Record) -> Index:
    index = Index(open_in_memory())
    index.bring_up([Shelf(layer, records) for layer in LAYERS], None)
    return index


def record(number: int, text: str = "Boats on the river.", **more: Any) -> Record:
    fields: dict[str, Any] = {"layer": "facts", "kind": "fact", "status": "active", "raw": str(number).encode()}
    return Record(ref=f"fact:{number}", title=text, text=text, path="file", **{**fields, **more})


RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "layer": st.sampled_from(LAYERS),
            "kind": st.sampled_from(["fact", "episode", "feature"]),
            "status": st.sampled_from(["active", "archived", "odd's"]),
            "section": st.sampled_from(["", "Specs", "Known Issues", "specs"]),
            "scope": st.sampled_from(["", "side", "Side"]),
            "tags": st.lists(st.sampled_from(ODD), max_size=3, unique=True).map(tuple),
            "text": st.sampled_from(["Boats on the river.", "A ferry over the water.", "Invoices and bills."]),
        }
    ),
    max_size=12,
).map(lambda found: [record(number, **fields) for number, fields in enumerate(found)])
FILTERS = st.builds(
    Filter,
    layers=st.lists(st.sampled_from(LAYERS), max_size=2).map(tuple),
    kinds=st.lists(st.sampled_from(["fact", "episode", "none"]), max_size=2).map(tuple),
    statuses=st.lists(st.sampled_from(["active", "archived", "odd's"]), max_size=2).map(tuple),
    sections=st.lists(st.sampled_from(["Specs", "Known Issues", "%"]), max_size=2).map(tuple),
    scope=st.sampled_from(["", "side", "none"]),
    tags=st.lists(st.sampled_from(ODD), max_size=2).map(tuple),
    refs=st.none() | st.lists(st.integers(0, 12).map(lambda number: f"fact:{number}"), max_size=4).map(tuple),
)


@given(RECORDS, FILTERS)
def test_in_words_and_in_sql(records: list[Record], allowed: Filter) -> None:
    index = shelf(*records)
    expected = {item.ref for item in records if allowed.allows(item)}
    assert {item.ref for item in index.page(allowed)} == expected
    index.close()


@given(RECORDS, FILTERS)
def test_no_search_gives_anything_else(records: list[Record], allowed: Filter) -> None:
    index = shelf(*records)
    searcher = index.searcher()
    question = searcher.question("boats on the water")
    expected = {item.ref for item in records if allowed.allows(item)}
    numbers = index.by_ids([row for (row,) in index._connection.execute("SELECT id FROM records")])
    by_words = searcher.by_words(question, allowed, 50)
    by_meaning = searcher.by_meaning(question, allowed, 50)
    texts = {ref for ref in expected if "Invoices" not in next(item.text for item in records if item.ref == ref)}
    assert {numbers[item.id].ref for item in by_words} == texts
    assert {numbers[item.id].ref for item in by_meaning} == expected
    index.close()


@given(RECORDS, FILTERS, st.integers(1, 3))
def test_a_limit_cuts_what_is_allowed_and_not_what_is_not(records: list[Record], allowed: Filter, limit: int) -> None:
    index = shelf(*records)
    searcher = index.searcher()
    question = searcher.question("boats")
    everything = searcher.by_words(question, allowed, 50)
    found = searcher.by_words(question, allowed, limit)
    assert len(found) == min(limit, len(everything))
    assert [item.words for item in found] == [item.words for item in everything[:limit]]
    near = searcher.by_meaning(question, allowed, 50)
    assert [item.meaning for item in searcher.by_meaning(question, allowed, limit)] == [
        item.meaning for item in near[:limit]
    ]
    index.close()


@pytest.mark.parametrize("others", [0, 1, 30, 400])
@pytest.mark.parametrize(
    "allowed",
    [
        Filter(statuses=("archived",)),
        Filter(scope="side"),
        Filter(sections=("Specs",)),
        Filter(tags=("rare",)),
        Filter(refs=("fact:0",)),
    ],
    ids=["status", "scope", "section", "tag", "ref"],
)
def test_one_among_many_that_match_better_is_found(others: int, allowed: Filter) -> None:
    """However many others match, and match better: they take no place from the one that may answer."""
    one = record(0, "A boat, seen once.", status="archived", scope=allowed.scope, section="Specs", tags=("rare",))
    index = shelf(one, *(record(number, "Boat, boat, boat and boat.") for number in range(1, others + 1)))
    searcher = index.searcher()
    question = searcher.question("boat")
    for found in (searcher.by_words(question, allowed, 5), searcher.by_meaning(question, allowed, 5)):
        assert [item.ref for item in index.by_ids([item.id for item in found]).values()] == ["fact:0"]
    index.close()


def test_what_is_kept_apart_is_never_mixed() -> None:
    index = shelf(record(1), record(2, scope="side"), record(3, scope="other"))
    assert [[item.ref for item in index.page(Filter(scope=scope))] for scope in ("", "side", "none")] == [
        ["fact:1"],
        ["fact:2"],
        [],
    ]
    assert index.scopes("facts") == {"": 1, "other": 1, "side": 1}
    index.close()


# -- pages ----------------------------------------------------------------------------------


def test_pages_by_section_and_age() -> None:
    index = shelf(
        record(1, section="B", created_at="2026-03-02"),
        record(2, section="A", created_at="2026-03-01"),
        record(3, section="B", created_at="2026-03-01"),
        record(4, section="Z", created_at="2026-03-01"),
        record(5, section="Y", created_at="2026-03-01"),
        record(6, section="B", created_at="2026-03-01"),
    )
    ordered = ["fact:3", "fact:6", "fact:1", "fact:2", "fact:5", "fact:4"]
    assert [item.ref for item in index.page(Filter(), ("B", "A"))] == ordered
    pages = [index.page(Filter(), ("B", "A"), offset, 4) for offset in (0, 4, 8)]
    assert [[item.ref for item in page] for page in pages] == [ordered[:4], ordered[4:], []]
    index.close()


def test_pages_without_sections_are_the_newest_first() -> None:
    index = shelf(
        record(1, updated_at="2026-03-01T00:00:00Z"),
        record(2, updated_at="2026-03-01T02:00:00+02:00"),
        record(3, updated_at="2026-03-02"),
        record(4, updated_at="never"),
    )
    assert [item.ref for item in index.page(Filter())] == ["fact:3", "fact:1", "fact:2", "fact:4"]
    assert [item.ref for item in index.page(Filter(), limit=1, offset=1)] == ["fact:1"]
    index.close()


@given(RECORDS, FILTERS, st.integers(1, 4))
def test_pages_hold_each_record_once(records: list[Record], allowed: Filter, size: int) -> None:
    index = shelf(*records)
    whole = [item.ref for item in index.page(allowed, ("Specs",))]
    pages = [index.page(allowed, ("Specs",), offset, size) for offset in range(0, 13, size)]
    assert [item.ref for page in pages for item in page] == whole
    assert len(set(whole)) == len(whole)
    index.close()


# -- counts ---------------------------------------------------------------------------------


@given(RECORDS)
def test_tallies_count_what_is_there(records: list[Record]) -> None:
    index = shelf(*records)
    for layer in LAYERS:
        for scope in ("", "side"):
            own = [item for item in records if item.layer == layer and item.scope == scope]
            expected: dict[tuple[str, str, str], int] = {}
            for item in own:
                key = (item.kind, item.section, item.status)
                expected[key] = expected.get(key, 0) + 1
            assert index.section_counts(layer, scope) == expected
    index.close()


# -- refs -----------------------------------------------------------------------------------


def test_refs_by_their_beginning() -> None:
    index = shelf(*(record(0, raw=b"x") for _ in ()), *(record(number) for number in (1, 10, 11, 2)))
    assert index.refs_from("fact:1", 9) == ["fact:1", "fact:10", "fact:11"]
    assert index.refs_from("fact:1", 2) == ["fact:1", "fact:10"]
    assert (index.refs_from("fact:9", 9), index.refs_from("fact:%", 9), index.refs_from("FACT:1", 9)) == ([], [], [])
    index.close()
