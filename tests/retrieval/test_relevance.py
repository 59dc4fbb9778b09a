"""The one measure: what it is made of, what it calls clear, and what a question or a prompt names."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quire.retrieval.relevance import TABLE, code_names, keywords

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "retrieval.md"

Shelf = Callable[..., Any]
Make = Callable[..., Any]

NOTES = [
    ("feature.retry-queue", "Retry queue", "Failed webhooks are kept and sent again.", {"anchors": ("src/queue.py",)}),
    ("decision.helm", "Deployments", "We deploy with charts from the monorepo.", {"tags": ("k8s", "deploy")}),
    ("decision.staging", "Staging first", "Every release goes to staging before production.", {"tags": ("deploy",)}),
    ("gotcha.fonts", "Fonts in PDF files", "Without the font package letters are boxes.", {"anchors": ("src/pdf/",)}),
    ("gotcha.zones", "Time zones", "Reports use the time zone of the clinic.", {}),
]


@pytest.fixture
def notes(shelf: Shelf, record: Make) -> Any:
    return shelf(*(record(ref, title, text, **more) for ref, title, text, more in NOTES))


def test_every_constant_is_documented_with_its_value() -> None:
    rows = dict(re.findall(r"^\| ([a-z ]+) \| ([0-9.]+) \| ", PAGE.read_text(), re.MULTILINE))
    assert rows == {name: f"{constant.value:g}" for name, constant in TABLE.items()}
    assert all(constant.why and constant.fitted for constant in TABLE.values())


def test_the_parts_add_up(notes: Any) -> None:
    for hit in notes("what happens to webhooks that have failed before?").hits:
        parts = hit.parts
        relevance = (
            parts["nearness"]
            + TABLE["evidence"].value * parts["evidence"] ** TABLE["evidence power"].value
            + TABLE["coverage"].value * parts["coverage"]
            + TABLE["kinship"].value * parts["kinship"]
        )
        assert parts["relevance"] == pytest.approx(relevance, abs=1e-3)
        assert parts["clearness"] == pytest.approx(parts["nearness"] + 0.15 * parts["coverage"], abs=1e-3)


@pytest.mark.parametrize(
    ("question", "ref", "why"),
    [
        ("ugh, so I was wondering whether k8s is really what we want here", "decision.helm", "names its tag k8s"),
        (
            "please look into src/queue.py and tell me what I should know",
            "feature.retry-queue",
            "its file src/queue.py",
        ),
        ("what should I know before I touch queue.py today?", "feature.retry-queue", "names its file queue.py"),
        ("is the retry queue still the way it was?", "feature.retry-queue", "names its title"),
        ("retry queue", "feature.retry-queue", "names it"),
    ],
)
def test_what_a_question_names_is_an_answer(notes: Any, question: str, ref: str, why: str) -> None:
    first = notes(question).hits[0]
    assert (first.record.ref, first.tier) == (ref, "answer")
    assert why in first.why


@pytest.mark.parametrize(
    "question",
    [
        "what do we have in src/pdf/render.py?",  # a folder names nothing that lies in it
        "when do we deploy on fridays in december?",  # two of five records have the tag
    ],
)
def test_what_is_common_names_nothing(notes: Any, question: str) -> None:
    assert not any("names its" in hit.why for hit in notes(question).hits)


@pytest.mark.parametrize(
    "prompt",
    [
        "run the tests",
        "commit this",
        "what time is it?",
        "thanks, that works",
        "bump the version to 2.3",
        "make it shorter",
        "why did you delete that line",
        "My thesis has a table of contents, and since I moved the appendix every page number is off by one. I use a "
        "package for that and another one for the fonts. Can you find out which of them it is?",
    ],
)
def test_a_prompt_that_concerns_nothing_gets_nothing(notes: Any, prompt: str) -> None:
    assert notes(prompt, prompt=True, limit=3).hits == []


@pytest.mark.parametrize(
    ("prompt", "ref"),
    [
        ("webhooks that failed should be sent again only twice, change that please", "feature.retry-queue"),
        ("rename the class in src/queue.py", "feature.retry-queue"),
        ("the letters in our PDF invoices are boxes again, probably the font package", "gotcha.fonts"),
    ],
)
def test_a_prompt_that_concerns_a_record_gets_it(notes: Any, prompt: str, ref: str) -> None:
    assert [hit.record.ref for hit in notes(prompt, prompt=True, limit=3).hits] == [ref]


def test_a_prompt_gets_nothing_that_is_merely_possible(notes: Any) -> None:
    assert notes("where are reports shown that concern a clinic?").hits
    assert notes("write something about people who travel through places", prompt=True, limit=3).hits == []


def test_names_from_code_put_what_has_them_first(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("gotcha.other", "Retries", "The retry limit of the queue is five, and of the worker three."),
        record("gotcha.name", "A constant", "Set `MAX_RETRY` in the settings."),
    )
    assert asked.refs("MAX_RETRY")[0] == "gotcha.name"


def test_words_of_near_meaning_count_where_the_words_are_missing(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("gotcha.safari", "Sleep", "Safari drops the connection when the lid is closed."),
        record("gotcha.mail", "Sleep", "The mail server drops the connection at midnight."),
    )
    found = asked("which browser loses its connection")
    assert found.hits[0].record.ref == "gotcha.safari"
    assert found.hits[0].parts["kinship"] > 0


@pytest.mark.parametrize("question", ["against", "because of", "the", "what is this", "is it", "about"])
def test_stop_words_alone_answer_nothing_and_deny_nothing(shelf: Shelf, record: Make, question: str) -> None:
    asked = shelf(
        record("gotcha.a", "Insurance", "Nobody is insured against it, because of the law about boats."),
        record("gotcha.b", "Else", "Something else."),
    )
    found = asked(question)
    assert all(hit.tier == "possible" for hit in found.hits)
    longer = [word for word in question.split() if len(word) > 3]
    text = "nobody is insured against it, because of the law about boats."
    if longer and all(word in text for word in longer):
        assert [hit.record.ref for hit in found.hits] == ["gotcha.a"]


def test_a_word_that_is_repeated_a_thousand_times_counts_once(notes: Any) -> None:
    once, often = notes("webhooks"), notes(("webhooks " * 1000)[:4000])
    assert [hit.record.ref for hit in once.hits] == [hit.record.ref for hit in often.hits]


def test_a_record_of_a_megabyte_is_found_by_its_last_word(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("gotcha.long", "Long", "lorem ipsum " * 90_000 + "zanzibar"), record("gotcha.b", "Else", "Something.")
    )
    assert asked.refs("zanzibar") == ["gotcha.long"]


def test_names_and_keywords_are_told_apart() -> None:
    assert code_names("why is `retry_queue` in src/a.ts, and maxRetries not?") == [
        "retry_queue",
        "src/a.ts",
        "maxRetries",
    ]
    assert keywords("retry queue") == ["retry", "queue"]
    assert keywords("why is the retry queue slow") == []
