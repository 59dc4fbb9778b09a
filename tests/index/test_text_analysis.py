"""Words: what of a text is found by what of a question, tried in the full-text table itself."""

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.index.database import open_in_memory
from quire.index.search import Searcher
from quire.index.text_analysis import index_text, match_any, phrases, question_words


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    connection = open_in_memory()
    yield connection
    connection.close()


def found(connection: apsw.Connection, text: str, question: str) -> bool:
    """Whether a record with this body is found by this question's words."""
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    connection.execute("INSERT INTO words (rowid, title, names, body) VALUES (1, '', '', ?)", (index_text(text),))
    words = question_words(question)
    return bool(words) and connection.execute("SELECT 1 FROM words WHERE words MATCH ?", (match_any(words),)).get == 1


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("call retryQueue when it fails", "retry"),
        ("call retryQueue when it fails", "queue"),
        ("call retryQueue when it fails", "retryQueue"),
        ("the retry queue", "retryQueue"),
        ("retry_queue_size is the limit", "queue"),
        ("set MAX_RETRY_COUNT", "max retry count"),
        ("set MAX_RETRY_COUNT", "max_retry_count"),
        ("HTTPServer is wrapped", "server"),
        ("parseJSONBody", "json"),
        ("utf8Decoder", "decoder"),
        ("see services/billing/retry.ts", "retry.ts"),
        ("see services/billing/retry.ts", "billing"),
        ("see services/billing/retry.ts", "services/billing/retry.ts"),
        ("src\\win\\path.c", "path.c"),
        ("start it with --no-sandbox", "--no-sandbox"),
        ("start it with --no-sandbox", "sandbox"),
        ("error HARB-112 on start", "HARB-112"),
        ("error HARB-112 on start", "harb 112"),
        ("fails with E1042", "e1042"),
        ("fails with E1042", "what is E1042?"),
        ("needs node 22.14.0", "22.14.0"),
        ("v2.3.1-rc.1 is broken", "v2.3.1"),
        ("the café is closed", "cafe"),
        ("the cafe is closed", "café"),
        ("ÜBERSICHT der Zahlungen", "ubersicht"),
        ("naïve façade", "naive facade"),
        ("smörgåsbord", "smorgasbord"),
        ("send reminders daily", "reminder"),
        ("a reminder is sent", "reminders"),
        ("retrying the webhook", "retries"),
        ("the queue is draining", "drained"),
        ("全文検索エンジンの設定", "検索"),
        ("全文検索エンジンの設定", "エンジン設定"),
        ("数据库连接池已经用完", "连接池"),
        ("검색엔진을 설정한다", "엔진"),
        ("ระบบค้นหาข้อความ", "ค้นหา"),
        ("ការស្វែងរក", "ស្វែង"),
        ("очередь повторов", "очередь"),
        ("ουρά επαναλήψεων", "ουρά"),
        ("الطابور ممتلئ", "الطابور"),
        ("कतार भर गई है", "कतार"),
        ("deploy検索server", "server"),
        ("deploy検索server", "検索"),
    ],
)
def test_a_text_is_found_by_a_part_of_it_however_it_is_spelt(
    connection: apsw.Connection, text: str, question: str
) -> None:
    assert found(connection, text, question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("re\u0301sume\u0301 of the talks", "résumé"),
        ("résumé of the talks", "re\u0301sume\u0301"),
        ("\u1100\u1165\u11b7\u1109\u1162\u11a8 엔진", "검색"),
        ("ＡＰＩ の 鍵", "api"),
        ("a \ufb01le is missing", "file"),
    ],
)
def test_two_ways_to_write_the_same_letters_are_the_same_word(
    connection: apsw.Connection, text: str, question: str
) -> None:
    assert found(connection, text, question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("the worker answers", "queue"),
        ("全文検索エンジン", "設定"),
        ("HARB-112", "HARB9"),
        ("why is it so", "the of and"),
    ],
)
def test_a_text_is_not_found_by_what_is_not_in_it(connection: apsw.Connection, text: str, question: str) -> None:
    assert not found(connection, text, question)


@pytest.mark.parametrize(
    "question",
    [
        '"',
        '""',
        "NEAR(",
        "NEAR(retry queue, 5)",
        "retry*",
        "*",
        "^retry",
        "title:retry",
        "title : retry",
        "{title body} : retry",
        "- retry",
        "retry AND NOT queue",
        "AND OR NOT",
        "AND",
        "'; DROP TABLE words; --",
        "retry'); DELETE FROM records; --",
        'a" OR "b',
        "retry\0queue",
        "(((",
        "+ + +",
        "?1 :name @x $y",
    ],
)
def test_operators_and_quotes_are_only_words(connection: apsw.Connection, question: str) -> None:
    found(connection, "retry and queue", question)
    expression = match_any(question_words(question))
    if expression:
        words = [part.strip('"') for part in expression.split(" OR ")]
        assert all(word.isalnum() for word in words)
        list(connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)))
    assert connection.execute("SELECT count(*) FROM words").get == 1


def test_a_question_that_says_or_or_not_still_finds_its_other_words(connection: apsw.Connection) -> None:
    assert found(connection, "drain the queue", "NOT queue")
    assert question_words("AND OR NOT retry") == ["retry"]


def test_only_words_that_carry_meaning_are_asked_for() -> None:
    assert question_words("Why do the webhook retries run in the worker?") == ["webhook", "retries", "run", "worker"]
    assert question_words("retry Retry RETRY") == ["retry"]
    assert question_words("") == question_words("?!… 🎉 _ __") == []


def test_neighbouring_words_make_phrases_and_stop_words_part_them() -> None:
    asked = "retry queue of the worker pool"
    assert phrases(asked, set(question_words(asked))) == ['"retry queue"', '"worker pool"']
    assert phrases(asked, {"worker", "pool"}) == ['"worker pool"']
    assert phrases("queue", {"queue"}) == []


@pytest.mark.proof
@given(st.text(max_size=300))
def test_any_text_is_a_valid_question(text: str) -> None:
    connection = open_in_memory()
    words = question_words(text)
    assert all(word and '"' not in word for word in words)
    for expression in [match_any(words), *phrases(text, set(words))]:
        if expression:
            list(connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)))
    Searcher(connection).question(text)
    connection.close()


@given(st.text(alphabet=st.characters(categories=["L", "N"], max_codepoint=0x24F), min_size=1, max_size=40))
def test_any_word_that_is_in_a_text_is_found_by_itself(word: str) -> None:
    connection = open_in_memory()
    if question_words(word) and Searcher(connection).stems(word):
        assert found(connection, f"before {word} after", word)
    connection.close()


def test_a_huge_question_asks_for_a_bounded_number_of_words() -> None:
    assert len(question_words(" ".join(f"word{n}" for n in range(100_000)))) == 64
    words = [f"word{n}" for n in range(100_000)]
    assert len(phrases(" ".join(words), set(words))) <= 16
