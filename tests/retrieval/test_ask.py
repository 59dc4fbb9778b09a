"""From question to hits: what comes first, what is left out, and what is said when nothing answers."""

from collections.abc import Callable
from typing import Any

import pytest

from quire.index.search import Filter
from quire.model.records import Record

Shelf = Callable[..., Any]
Make = Callable[..., Any]

NOTES = [
    ("feature.retry-queue", "Retry queue", "Webhook deliveries that failed are kept in a table and sent again later."),
    (
        "decision.retries-in-worker",
        "Webhook retries run in the worker",
        "The web process must answer within a second, so sending again is left to the worker.",
    ),
    ("gotcha.pdf-fonts", "PDF rendering needs the font package", "Without it the letters of invoices are boxes."),
    ("decision.postgres", "PostgreSQL is the only database", "One engine to run, back up and restore."),
    ("feature.login", "Sign in with a passkey", "People prove who they are with their device instead of a password."),
    ("gotcha.timezones", "Reports use the clinic's time zone", "Dates in the export are local, not UTC."),
    ("question.retention", "How long are deliveries kept?", "Legal has not answered yet."),
    ("feature.reminders", "Appointment reminders", "A text message goes out the evening before."),
    ("decision.no-orm", "No object-relational mapper", "SQL is written by hand and reviewed."),
    ("project.harbor", "Harbor", "Scheduling for small clinics."),
]


@pytest.fixture
def notes(shelf: Shelf, record: Make) -> Any:
    return shelf(*(record(*fields) for fields in NOTES))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("why do webhook retries run in the worker?", "decision.retries-in-worker"),
        ("retry queue", "feature.retry-queue"),
        ("retryQueue", "feature.retry-queue"),
        ("reminder", "feature.reminders"),
        ("which fonts does the PDF renderer need", "gotcha.pdf-fonts"),
        ("postgresql", "decision.postgres"),
        ("how do users authenticate", "feature.login"),
        ("time zone of the export", "gotcha.timezones"),
        ("ORM", "decision.no-orm"),
        ("object relational mapping", "decision.no-orm"),
        ("how long do we keep deliveries", "question.retention"),
        ("feature.login", "feature.login"),
        ("`feature.login`", "feature.login"),
        ("  feature.login\n", "feature.login"),
        ("memory/decision-no-orm.json", "decision.no-orm"),
        (".memory/memory/decision-no-orm.json", "decision.no-orm"),
        (".memory/memory/decision-no-orm.md", "decision.no-orm"),
    ],
)
def test_the_record_that_answers_comes_first(notes: Any, question: str, expected: str) -> None:
    assert notes.refs(question)[0] == expected


@pytest.mark.parametrize(
    "question",
    [
        "zebra migrations in the savannah",
        "xyzzy plugh",
        "recipe for onion soup",
        "the of and",
        "is it",
        "what is this",
        "!!!",
        "🎉🚀",
        "q",
        "kubernetes helm chart values",
        "NEAR(",
    ],
)
def test_a_question_that_nothing_is_near_gets_an_honest_nothing_with_hints(notes: Any, question: str) -> None:
    answer = notes(question)
    assert answer.hits == []
    assert "Nothing in the memory is near this." in answer.markdown
    assert "--path" in answer.markdown
    assert not answer.connected


def test_what_may_answer_is_shown_on_a_line_and_marked_as_uncertain(notes: Any) -> None:
    answer = notes('"; DROP TABLE records; --')
    assert [(hit.record.ref, hit.tier) for hit in answer.hits] == [("feature.retry-queue", "possible")]
    assert "Nothing in the memory clearly answers this." in answer.markdown
    assert "## Possible, not certain\n- feature.retry-queue — Retry queue: Webhook deliveries" in answer.markdown
    assert answer.weak
    strict = notes('"; DROP TABLE records; --', strict=True)
    assert strict.hits == []
    assert "Nothing in the memory is near this." in strict.markdown


def test_at_most_three_possible_ones_are_shown(shelf: Shelf, record: Make) -> None:
    texts = [
        "Invoices are sent by mail",
        "Invoices are kept ten years",
        "Invoices have no gaps",
        "Invoices are PDF files",
    ]
    asked = shelf(*(record(f"decision.n{n}", f"Note {n}", text) for n, text in enumerate(texts)))
    found = asked("who may cancel an invoice that was paid with a voucher?")
    assert found.weak
    assert len(found.hits) == 3


def test_what_was_left_out_says_by_which_rule(notes: Any) -> None:
    found = notes("how do users authenticate", explain=True)
    shown = {hit.record.ref for hit in found.hits}
    assert len(found.left_out) == len(NOTES) - len(shown)
    assert all(item.rule and item.ref not in shown for item in found.left_out)
    rule = {item.ref: item.rule for item in notes("webhook retries", limit=1, explain=True).left_out}
    assert rule["feature.retry-queue"] == "more than the 1 results that were asked for"


def test_an_exact_id_comes_first_even_where_others_match_its_words_better(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        *(record(f"decision.n{n}", "Feature login", "feature login " * 5) for n in range(5)),
        record("feature.login", "Einstieg", "Nothing of the sort."),
    )
    hit = asked("feature.login").hits[0]
    assert (hit.record.ref, hit.why) == ("feature.login", "named")


@pytest.mark.parametrize(
    ("status", "stage"), [("stale", None), ("superseded", None), ("active", "dead"), ("closed", None)]
)
def test_an_exact_id_comes_first_and_is_shown_even_when_it_is_retired(
    shelf: Shelf, record: Make, status: str, stage: str | None
) -> None:
    asked = shelf(
        *(record(f"decision.n{n}", "Feature login", "feature login") for n in range(5)),
        record("feature.login", "Einstieg", "Nothing of the sort.", status=status, stage=stage),
    )
    answer = asked("feature.login")
    assert answer.hits[0].record.ref == "feature.login"
    assert f"[{status}" in answer.markdown


def test_a_phrase_in_its_order_beats_the_same_words_apart(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("decision.apart", "Note one", "The queue is long. Nobody likes to retry the import. It is slow."),
        record("decision.phrase", "Note two", "The import is slow. Nobody likes the long retry queue. It is so."),
        *(record(f"decision.n{n}", f"Other {n}", "Nothing of the sort is said here.") for n in range(10)),
    )
    assert asked.refs("retry queue")[0] == "decision.phrase"


def test_a_title_beats_a_body(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("decision.body", "Something else", "It is about rate limiting, among other things that are said."),
        record("decision.title", "Rate limiting", "It is about something, among other things that are said here."),
    )
    assert asked.refs("rate limiting")[0] == "decision.title"


def test_more_words_sharpen_the_result(shelf: Shelf, record: Make) -> None:
    records = [
        record(f"gotcha.{city}", f"{city} depot", "The import of the depot is slow.") for city in ("oslo", "rome")
    ]
    asked = shelf(*records, *(record(f"feature.f{n}", f"Depot {n}", "Import.") for n in range(5)))
    assert asked.refs("depot import rome")[0] == "gotcha.rome"


def test_ties_are_stable(shelf: Shelf, record: Make) -> None:
    records = [record(f"decision.n{n}", "Queue", "Same words.") for n in range(9, 0, -1)]
    orders = [shelf(*rows).refs("queue") for rows in (records, records[::-1], records[4:] + records[:4])]
    assert orders[0] == orders[1] == orders[2] == sorted(orders[0])


def test_the_same_question_gets_the_same_answer_letter_by_letter(notes: Any) -> None:
    assert notes("webhook retries").markdown == notes("webhook retries").markdown


@pytest.mark.parametrize(
    ("allowed", "kinds"),
    [(Filter(kinds=("decision",)), {"decision"}), (Filter(kinds=("gotcha", "feature")), {"feature"})],
)
def test_a_filter_holds_for_every_result(notes: Any, allowed: Filter, kinds: set[str]) -> None:
    assert {hit.record.kind for hit in notes("webhook deliveries sent again", allowed=allowed).hits} == kinds


def test_a_filter_holds_for_the_record_that_the_question_names(notes: Any) -> None:
    assert "feature.login" not in notes.refs("feature.login", allowed=Filter(kinds=("decision",)))


def test_a_filter_holds_where_only_a_file_is_asked_about(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("feature.a", "A", "x", anchors=("src/",), tags=("t",)), record("decision.b", "B", "x", anchors=("src/",))
    )
    assert asked.refs("", governs=lambda _: True, allowed=Filter(kinds=("decision",))) == ["decision.b"]
    assert asked.refs("", governs=lambda _: True, allowed=Filter(tags=("t",))) == ["feature.a"]
    assert asked.refs("", governs=lambda _: True, allowed=Filter(layers=("facts",))) == []


def test_what_governs_a_file_is_found_among_many_better_matches(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        *(record(f"decision.n{n}", "Retry queue", "Retry queue.", anchors=("other/",)) for n in range(80)),
        record(
            "decision.wanted", "Sending", "It is about the retry queue and many things besides.", anchors=("src/a.py",)
        ),
    )
    assert asked.refs("retry queue", governs=lambda found: "src/a.py" in found.anchors) == ["decision.wanted"]


def test_the_limit_is_kept_and_said(notes: Any) -> None:
    answer = notes("webhook deliveries retries queue worker", limit=1)
    assert len(answer.hits) == 1
    assert answer.truncated


@pytest.mark.parametrize(
    "question", ["queue " * 200_000, "a" * 1_000_000, "検索" * 500_000, "🎉" * 250_000, "\0" * 1_000_000]
)
def test_a_question_of_a_megabyte_is_answered_within_the_budget(notes: Any, question: str) -> None:
    answer = notes(question[:4000])
    assert answer.tokens <= 2000
    assert len(answer.markdown.split("\n")[0]) < 220


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("la base de données PostgreSQL", "decision.postgres"),
        ("Warum läuft webhook im worker?", "decision.retries-in-worker"),
        ("PDF の フォント", "gotcha.pdf-fonts"),
    ],
)
def test_a_question_in_another_language_finds_what_shares_a_name_with_it(
    notes: Any, question: str, expected: str
) -> None:
    assert notes.refs(question)[0] == expected


def test_a_record_in_another_language_is_found_in_its_own(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("decision.a", "Перезапуск очереди", "Очередь повторов опустошается рабочим процессом."),
        record("decision.b", "全文検索の設定", "検索エンジンは二文字ずつ索引する。"),
        record("decision.c", "검색 설정", "검색엔진은 두 글자씩 색인한다."),
        record("decision.d", "Warteschlange", "Zustellungen werden nachts wiederholt."),
    )
    assert asked.refs("очередь повторов")[0] == "decision.a"
    assert asked.refs("検索エンジン")[0] == "decision.b"
    assert asked.refs("검색엔진")[0] == "decision.c"
    assert asked.refs("Zustellung wiederholen")[0] == "decision.d"


def test_every_part_of_a_score_is_reported(notes: Any) -> None:
    for hit in notes("webhook retries in the worker").hits:
        parts = hit.parts
        names = {"nearness", "evidence", "coverage", "kinship", "clearness", "relevance", "weight"}
        assert set(parts) >= names
        assert hit.score == pytest.approx(parts["relevance"] * parts["weight"], abs=1e-3)
        assert hit.why


def test_a_record_s_weight_counts(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("decision.a", "Queue", "Same.", weight=0.2), record("decision.b", "Queue", "Same.", weight=0.9)
    )
    assert asked.refs("queue") == ["decision.b", "decision.a"]


def test_what_is_retired_is_not_offered_as_the_nearest_entry_either(shelf: Shelf, record: Make) -> None:
    states: list[dict[str, str]] = [{"status": "stale"}, {"status": "superseded"}, {"stage": "dead"}]
    asked = shelf(*(record(f"feature.n{n}", "Fax gateway", "Sends a fax.", **state) for n, state in enumerate(states)))
    assert asked("who reads the mail").hits == []
    assert asked("fax gateway").hits == []


def test_an_empty_memory_says_so(shelf: Shelf) -> None:
    answer = shelf()("anything at all")
    assert answer.hits == []
    assert "Nothing in the memory is near this." in answer.markdown


def test_an_event_says_in_which_session_it_was_said(shelf: Shelf) -> None:
    event = Record(
        ref="event:evt-000007",
        layer="graph",
        kind="event",
        title="Cache keys must include the tenant",
        text="Cache keys must include the tenant.",
        status="active",
        path="history/events.jsonl",
        created_at="2026-03-01T14:30:00Z",
        updated_at="2026-03-01T14:30:00Z",
        names=("0199b-codex-2",),
    )
    found = shelf(event)("cache keys tenant")
    assert found.hits[0].session == "0199b-codex-2"
    assert "said in session 0199b-codex-2\n" in found.markdown
    assert "2026-03-01]" in found.markdown
