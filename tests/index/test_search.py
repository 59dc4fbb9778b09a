"""Candidates: which records a question's words and its meaning find, within a filter, in a stable order."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.index.search import Filter, Searcher
from quire.model.records import Record
from quire.model.vocabulary import LayerName
from thorough import examples

ALL = Filter()


class Notes:
    """A layer of records that lie nowhere but here."""

    layer: LayerName = "graph"

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = {record.path: record for record in records}

    def folder_stamps(self) -> dict[str, int]:
        return {}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        return dict.fromkeys(self.records if paths is None else paths, "1")

    def read(self, paths: Iterable[str]) -> Iterator[Record]:
        return (self.records[path] for path in paths)


def note(slug: str, title: str = "", text: str = "", **more: Any) -> Record:
    fields = {"layer": "graph", "kind": "decision", "status": "active", **more}
    return Record(ref=f"{fields['kind']}.{slug}", title=title, text=text, path=f"memory/{slug}.json", **fields)


@pytest.fixture
def search() -> Iterator[Callable[..., Searcher]]:
    opened: list[Index] = []

    def fill(*records: Record) -> Searcher:
        index = Index(open_in_memory())
        opened.append(index)
        index.bring_up([Notes(records)], None)
        return index.searcher()

    yield fill
    for index in opened:
        index.close()


def by_words(searcher: Searcher, text: str, allowed: Filter = ALL) -> list[int]:
    return [found.id for found in searcher.by_words(searcher.question(text), allowed, 50)]


def by_meaning(searcher: Searcher, text: str, allowed: Filter = ALL) -> list[int]:
    return [found.id for found in searcher.by_meaning(searcher.question(text), allowed, 50)]


def test_a_match_in_the_title_counts_more_than_one_in_the_names_and_that_more_than_one_in_the_body(
    search: Callable[..., Searcher],
) -> None:
    filler = "other things are said here about something else entirely"
    searcher = search(
        note("a", "Plain title one", f"{filler} queue"),
        note("b", "Plain title two", f"{filler} words", tags=("queue",)),
        note("c", "Plain queue three", f"{filler} words"),
    )
    assert by_words(searcher, "queue") == [3, 2, 1]


def test_more_words_of_the_question_count_more(search: Callable[..., Searcher]) -> None:
    searcher = search(
        note("a", "One", "webhook and nothing else of it is here"),
        note("b", "Two", "webhook retries in the worker are here"),
        note("c", "Three", "webhook retries and nothing else here"),
    )
    assert by_words(searcher, "webhook retries worker") == [2, 3, 1]


def test_a_rare_word_counts_more_than_a_common_one(search: Callable[..., Searcher]) -> None:
    common = [note(f"n{n}", f"Note {n}", "the queue is full") for n in range(20)]
    searcher = search(*common, note("rare", "Rare", "the zanzibar is full"))
    question = searcher.question("queue zanzibar")
    assert question.rarity["zanzibar"] > 5 * question.rarity["queue"]
    assert by_words(searcher, "queue zanzibar")[0] == 21
    assert searcher.question("unheard").rarity["unheard"] >= question.rarity["zanzibar"]


@pytest.mark.parametrize(
    ("written", "asked"), [("reminders", "reminder"), ("reminder", "reminders"), ("retried", "retry")]
)
def test_forms_of_a_word_are_one_word(search: Callable[..., Searcher], written: str, asked: str) -> None:
    assert by_words(search(note("a", "X", written), note("b", "Y", "else")), asked) == [1]


@pytest.mark.parametrize(
    "asked", ["retry-queue", "retry queue", "decision.retry-queue", "apps/mobile/main.py", "billing"]
)
def test_ref_tags_and_anchors_are_words_too(search: Callable[..., Searcher], asked: str) -> None:
    wanted = note("retry-queue", "Title", "Body", tags=("billing",), anchors=("apps/mobile/main.py",))
    assert by_words(search(note("other", "Else", "thing"), wanted), asked)[0] == 2


def test_meaning_finds_what_shares_no_word(search: Callable[..., Searcher]) -> None:
    searcher = search(
        note("soup", "Onion soup", "Fry onions slowly and add broth."),
        note("login", "Authentication", "People prove who they are with a password before they are let in."),
        note("whales", "Whales", "They migrate south in autumn."),
    )
    assert by_words(searcher, "how does a user sign on?") == []
    assert by_meaning(searcher, "how does a user sign on?")[0] == 2


def test_a_long_text_is_found_by_the_meaning_of_its_end(search: Callable[..., Searcher]) -> None:
    filler = "Fry the onions slowly in butter until they are brown and then add the broth. " * 40
    searcher = search(
        note("short", "Soup", filler), note("long", "Soup", filler + "The database password is rotated monthly.")
    )
    assert by_meaning(searcher, "how often do we change credentials")[0] == 2


def test_one_record_comes_once_however_many_of_its_passages_are_near(search: Callable[..., Searcher]) -> None:
    found = by_meaning(search(note("a", "Queue", "the retry queue is drained by the worker " * 200)), "retry queue")
    assert found == [1]


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (Filter(kinds=("gotcha",)), {2}),
        (Filter(kinds=("gotcha", "feature")), {2, 3}),
        (Filter(tags=("billing",)), {1, 3}),
        (Filter(tags=("billing", "slow")), {3}),
        (Filter(layers=("graph",)), {1, 2, 3}),
        (Filter(layers=("facts",)), set()),
        (Filter(kinds=("feature",), tags=("nothing",)), set()),
        (Filter(tags=("bill",)), set()),
        (Filter(tags=("x' OR 1=1 --",)), set()),
    ],
)
def test_only_what_the_filter_lets_through_is_found(
    search: Callable[..., Searcher], allowed: Filter, expected: set[int]
) -> None:
    searcher = search(
        note("a", "Queue", "queue", kind="decision", tags=("billing",)),
        note("b", "Queue", "queue", kind="gotcha", tags=("slow",)),
        note("c", "Queue", "queue", kind="feature", tags=("billing", "slow")),
    )
    assert set(by_words(searcher, "queue", allowed)) == expected
    assert set(by_meaning(searcher, "queue", allowed)) == expected


def test_equal_matches_keep_one_order(search: Callable[..., Searcher]) -> None:
    searcher = search(*(note(f"n{n}", "Queue", "the same words") for n in range(30)))
    assert by_words(searcher, "queue") == by_words(searcher, "queue") == list(range(1, 31))
    assert by_meaning(searcher, "queue") == list(range(1, 31))


@pytest.mark.parametrize("asked", ["", " ", "?", "🎉🎉", "x", "_", "\0", '"', "((", "*" * 1000])
def test_a_question_of_next_to_nothing_finds_next_to_nothing_and_does_not_fail(
    search: Callable[..., Searcher], asked: str
) -> None:
    searcher = search(note("a", "Queue", "words"))
    assert by_words(searcher, asked) == []
    assert len(by_meaning(searcher, asked)) <= 1


def test_an_empty_index_answers_too(search: Callable[..., Searcher]) -> None:
    searcher = search()
    assert by_words(searcher, "queue") == by_meaning(searcher, "queue") == []
    assert searcher.meaning_of(searcher.question("queue"), []) == {}


# Of characters added to Unicode since 2012 the full-text tokenizer does not know whether they are letters.
@settings(max_examples=examples(60))
@given(st.text(st.characters(max_codepoint=0x36F, exclude_categories=["Cn", "M"]), max_size=200))
def test_any_question_is_answered(text: str) -> None:
    index = Index(open_in_memory())
    index.bring_up([Notes([note("a", "Retry queue", "text " + text), note("b", "Other", "text")])], None)
    searcher = index.searcher()
    found = by_words(searcher, text)
    by_meaning(searcher, text)
    if searcher.question(text).words and any(searcher.stems(word) for word in searcher.question(text).words):
        assert 1 in found
    index.close()
