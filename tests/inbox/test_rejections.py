"""Values that were rejected: when a text repeats one, what is left of it without, and how they lie on the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.inbox.proposals import value_digest
from quire.inbox.rejections import Rejection, Rejections, named_rejection, read_rejections, write_rejection
from quire.model.errors import InputError, NotFound, UnsupportedVersion, ValueRejected

REDIS = "The queue lives in Redis on port 6380."
TWO = "Retries run in the worker. A request never waits for one."
WORDS = st.lists(
    st.sampled_from(["queue", "Redis", "tenant", "worker", "cache", "C++", "5%"]), min_size=4, max_size=7
).map(" ".join)


def those(*values: str, lifted_at: str = "") -> Rejections:
    items = [Rejection(value=value, rejected_at="2026-03-01T09:00:00Z", lifted_at=lifted_at) for value in values]
    return Rejections({item.digest: item for item in items})


# -- the same value -------------------------------------------------------------------------------


@each(
    "text",
    [
        REDIS,
        "the  QUEUE lives in redis, on port 6380",
        "# The queue lives in Redis on port 6380",
        f"We looked at it again. {REDIS} It is fine.",
        f"What we know:\n\n- {REDIS}\n- Something else.",
        f"1. {REDIS}",
        f"- [x] {REDIS}",
        f"> {REDIS}",
        f"Decision: {REDIS}",
        f"First line\nRoot cause: {REDIS}\nlast line",
        "The queue lives in Redis on port 6380",
        "Of the queue:\nThe queue lives\nin Redis on\nport 6380.\nIt is so.",
        "Line ends\r\nThe queue lives in Redis on port 6380.\r\nas others have them",
    ],
)
def test_a_value_is_known_again(text: str) -> None:
    found = those("Something else entirely was said.", REDIS).match(text)
    assert found is not None
    assert found.value == REDIS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "…",
        "The queue lives in Redis on port 6381.",
        "The queue lives in Redis.",
        "Nobody knows whether the queue lives in Redis on port 6380.",
        "The queue, which lives in Redis on port 6380.",
    ],
)
def test_another_value_is_not(text: str) -> None:
    assert those(REDIS).match(text) is None
    assert those(REDIS).without(text) == text


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("Servers run Python < 3.11 only.", "Servers run Python >= 3.11 only."),
        ("The parser is written in C.", "The parser is written in C++."),
        ("The offset there is 5.", "The offset there is -5."),
        ("Use tabs", "Use tabs, always"),
    ],
)
def test_a_sign_makes_another_value(value: str, other: str) -> None:
    assert those(value).match(value) is not None
    assert those(value).match(other) is None
    assert those(other).match(value) is None


def test_an_arrow_a_heading_and_a_quote_are_no_signs() -> None:
    assert those("Orders -> billing goes over the bus").match("Orders → billing goes over the bus") is not None
    assert those("> Orders and billing share a bus").match("### Orders and billing share a bus") is not None


def test_a_short_value_is_only_known_as_a_whole() -> None:
    short = those("Use tabs")
    assert short.match("use tabs!") is not None
    assert short.match("We met.\nUse tabs\nWe left.") is None


def test_a_value_of_several_sentences_is_known_within_a_text() -> None:
    assert those(TWO).match("- Retries run in the worker\n- A request never waits for one") is not None
    assert those(TWO).match(f"Before it.\n{TWO}\nAfter it.") is not None
    assert those(TWO).match("Retries run in the worker. Nobody waits.") is None


def test_writing_without_spaces() -> None:
    found = those("缓存必须包含租户标识。")
    assert found.match("你好。缓存必须包含租户标识。谢谢。") is not None
    assert found.without("你好。缓存必须包含租户标识。谢谢。") == "你好。谢谢。"


def test_a_value_that_was_longer_than_is_kept(tmp_path: Path) -> None:
    long = "word " * 2_000
    write_rejection(str(tmp_path), Rejection(value=long, rejected_at="2026-03-01T09:00:00Z"), "00")
    found = read_rejections(str(tmp_path))
    assert found.match(long) is not None
    assert found.match("word " * 700) is None


def test_a_value_of_no_words_rejects_nothing() -> None:
    empty = those("—", "")
    assert empty.match("…") is None
    assert empty.match("anything") is None


def test_what_was_lifted_is_allowed() -> None:
    lifted = those(REDIS, lifted_at="2026-03-02T09:00:00Z")
    assert lifted.standing == {}
    assert lifted.match(REDIS) is None
    lifted.refuse({"content": REDIS})


def test_texts_are_refused_by_the_name_of_their_field() -> None:
    item = Rejection(value=REDIS, rejected_at="2026-03-01T09:00:00Z", reason="it moved to the database")
    with pytest.raises(ValueRejected) as refused:
        Rejections({item.digest: item}).refuse({"title": "Queue", "body": f"Hear this. {REDIS}"})
    assert refused.value.message == (
        f"`body` repeats what was rejected on 2026-03-01 (it moved to the database): “{REDIS}”."
    )
    assert refused.value.details == {"field": "body", "id": item.id}
    assert refused.value.hint is not None
    assert f"`memory inbox lift {item.id}`" in refused.value.hint


# -- what is left ---------------------------------------------------------------------------------


def test_what_is_left_of_a_text() -> None:
    found = those(REDIS, TWO)
    assert found.without(f"We looked again. {REDIS} It is fine.") == "We looked again. It is fine."
    assert found.without(f"# Queue\n\n- {REDIS}\n- It is small.\n") == "# Queue\n\n- It is small."
    assert found.without(f"Before it.\n{TWO}\nAfter it.") == "Before it.\nAfter it."
    assert found.without(f"Decision: {REDIS}") == ""
    assert found.kept(["one", REDIS, "two"]) == ["one", "two"]


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, max_size=6), st.sampled_from(["\n", ". ", "\n- "]))
def test_what_is_left_is_never_rejected(values: list[str], others: list[str], between: str) -> None:
    found = those(*values)
    text = between.join([*others, *values])
    assert found.match(text) is not None
    left = found.without(text)
    assert found.match(left) is None
    assert all(other in left for other in others if found.match(other) is None) or left == ""


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_at_all(text: str, value: str) -> None:
    found = those(value)
    assert (found.match(value) is None) == (value_digest(value) == value_digest(""))
    assert found.match(found.without(text)) is None


# -- on the disk ----------------------------------------------------------------------------------


def test_where_nothing_was_rejected(tmp_path: Path) -> None:
    assert read_rejections(str(tmp_path)) == Rejections()


def test_written_and_read_again(tmp_path: Path) -> None:
    item = Rejection(value=REDIS, rejected_at="2026-03-01T09:00:00Z", kind="fact", reason="no", origin="user")
    place = write_rejection(str(tmp_path), item, "00")
    assert place == f".memory/rejected/{item.digest}.json"
    assert dict(read_rejections(str(tmp_path)).found) == {item.digest: item}
    lifted = Rejection(value=REDIS, rejected_at="2026-03-01T09:00:00Z", lifted_at="2026-03-02T09:00:00Z")
    assert write_rejection(str(tmp_path), lifted, "00") == place
    assert dict(read_rejections(str(tmp_path)).found) == {item.digest: lifted}


def test_a_file_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    write_rejection(str(tmp_path), Rejection(value=REDIS, rejected_at="2026-03-01T09:00:00Z"), "00")
    folder = tmp_path / ".memory/rejected"
    (folder / f"{'0' * 32}.json").write_text("<<<<<<< ours\n")
    (folder / f"{'1' * 32}.json").write_text('{"value": "x", "rejected_at": "", "version": 2}')
    (folder / f"{'2' * 32}.json").symlink_to(tmp_path / "elsewhere")
    (folder / "README.md").write_text("Of nobody's concern.")
    found = read_rejections(str(tmp_path))
    assert found.match(REDIS) is not None
    assert [(problem.code, problem.path) for problem in found.problems] == [
        ("RejectionUnreadable", f".memory/rejected/{digit * 32}.json") for digit in "012"
    ]


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    (tmp_path / ".memory/rejected").write_text("")
    (problem,) = read_rejections(str(tmp_path)).problems
    assert (problem.code, problem.path) == ("RejectionUnreadable", ".memory/rejected")


def test_a_file_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    item = Rejection(value=REDIS, rejected_at="2026-03-01T09:00:00Z")
    path = tmp_path / write_rejection(str(tmp_path), item, "00")
    newer = json.dumps({"version": 2, "values": [REDIS]})
    path.write_text(newer)
    with pytest.raises(UnsupportedVersion):
        write_rejection(str(tmp_path), item, "00")
    assert path.read_text() == newer


def test_a_file_that_was_renamed_counts_but_can_be_lifted(tmp_path: Path) -> None:
    item = Rejection(value=REDIS, rejected_at="2026-03-01T09:00:00Z")
    path = tmp_path / write_rejection(str(tmp_path), item, "00")
    for digit in ("0", "f"):
        path.with_name(f"{digit * 32}.json").write_bytes(path.read_bytes())
    path.unlink()
    assert read_rejections(str(tmp_path)).match(REDIS) is not None
    lifted = Rejection(value=REDIS, rejected_at="2026-03-01T09:00:00Z", lifted_at="2026-03-02T09:00:00Z")
    write_rejection(str(tmp_path), lifted, "00")
    assert read_rejections(str(tmp_path)).match(REDIS) is None


def test_by_which_names_one_is_meant() -> None:
    found = those(REDIS, TWO)
    redis = found.found[value_digest(REDIS)]
    for name in (redis.id, redis.id[:8], redis.digest, redis.digest[:4], REDIS, REDIS.upper()):
        assert named_rejection(found, name) == redis
    for name in ("in-", "in-zzzz", "something else"):
        with pytest.raises(NotFound):
            named_rejection(found, name)
    twins = Rejections({f"abcd{digit * 28}": redis for digit in "01"})
    with pytest.raises(InputError, match="could be any of"):
        named_rejection(twins, "abcd")
