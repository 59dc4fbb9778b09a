"""The file as a whole: put in order without a loss, completed from another one, and told how it is."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from making import REAL, canonical, data, edge, episode, fact, needs_real, outcome, resolved

from quire.layers.facts.normalize import changed_ids, file_state, normal_file, take_in

MIND = {"_type": "mind", "name": "side"}
KEY = "AKIA" + "Z7Q2M4X9P1L5K8W3"

NAMES = st.sampled_from("abcd")
FACTS = st.builds(
    lambda name, text, more: fact(name, text, **more),
    NAMES,
    st.sampled_from(["One.", "Two.", "ONE."]),
    st.fixed_dictionaries(
        {},
        optional={
            "version": st.integers(0, 3),
            "status": st.sampled_from(["active", "archived", "superseded", "pending"]),
            "supersedes": NAMES,
            "same_as": NAMES,
            "mind": st.sampled_from(["default", "side"]),
            "reason": st.sampled_from(["x", "y"]),
            "tags": st.sampled_from([["t"], ["u", "t"]]),
            "colour": st.sampled_from([1, "red"]),
            "created_at": st.sampled_from(["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "?"]),
        },
    ),
)
ROWS: st.SearchStrategy[dict[str, Any] | str] = (
    FACTS
    | st.builds(lambda name, source, target: edge(name, source, target), NAMES, NAMES, NAMES)
    | st.builds(lambda name, number: episode(name, version=number), NAMES, st.integers(0, 2))
    | st.sampled_from([MIND, "junk", "", "<<<<<<< ours", "{}", '{"_type":"fact"}'])
)
FILES = st.lists(ROWS, max_size=8).map(lambda rows: data(*rows))


# -- the normal form ------------------------------------------------------------------------


def test_a_merged_file_in_order() -> None:
    before = data(
        fact("b", "Two.", section="Specs"),
        "junk",
        fact("a", "One.", version=2),
        fact("a", "One.", version=1),
        fact("a", "Earlier.", version=1),
        fact("a", "One.", version=2),
        "<<<<<<< ours",
    )
    normal = normal_file(before)
    lines = normal.data.split(b"\n")
    assert [json.loads(line)["id"] for line in lines[:3]] == ["a", "a", "b"]
    assert lines[3:] == [b"junk", b""]
    assert (normal.lines_before, normal.lines_after) == (7, 4)
    assert normal.diff.startswith("--- facts.jsonl\n+++ facts.jsonl\n@@")
    again = normal_file(normal.data)
    assert (again.data, again.diff, again.lines_before) == (normal.data, "", 4)


@given(FILES)
def test_order_loses_nothing_and_is_kept(before: bytes) -> None:
    normal = normal_file(before)
    assert normal_file(normal.data).data == normal.data
    assert normal.data == canonical(resolved(before))
    found, again = outcome(resolved(before)), outcome(resolved(normal.data))
    assert (found.facts, found.twins, found.connections, found.episodes, found.conflicts, found.aside) == (
        again.facts,
        again.twins,
        again.connections,
        again.episodes,
        again.conflicts,
        again.aside,
    )


@pytest.mark.parametrize(
    ("text", "number"), [(b"", 0), (b"x", 1), (b"x\n", 1), (b"x\ny", 2), (b"\n", 1), (b"x\r\ny\r\n", 2)]
)
def test_lines_are_counted_with_or_without_an_end(text: bytes, number: int) -> None:
    assert normal_file(text).lines_before == number
    assert file_state(text).lines == number


def test_a_long_difference_is_cut() -> None:
    normal = normal_file(data(*(fact(f"f{number:04}", "x" * 500) for number in reversed(range(500)))))
    shown = normal.diff.split("\n")
    assert len(shown) <= 200
    assert max(map(len, shown)) == 200


# -- another file taken in ------------------------------------------------------------------


def test_only_what_is_not_here_is_added() -> None:
    ours = data(fact("a", "One."), fact("b", "Two."))
    theirs = data(
        fact("c", "Three."), fact("b", "Two."), fact("a", "One."), "junk", "<<<<<<< ours", fact("c", "Three.")
    )
    found = take_in(ours, theirs, "other.jsonl")
    assert (found.lines, found.added, found.set_aside) == (4, 1, 1)
    assert found.data.startswith(ours)
    assert set(resolved(found.data).facts) == {"a", "b", "c"}
    assert [(problem.code, problem.path, problem.line) for problem in found.problems] == [
        ("JsonInvalid", "other.jsonl", 4)
    ]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_every_byte_of_ours_stays(end: bytes) -> None:
    ours = data(fact("a", "One.")).rstrip(b"\n") + end
    found = take_in(ours, data(fact("b")), "x")
    assert found.data.startswith(ours)
    assert set(resolved(found.data).facts) == {"a", "b"}
    assert take_in(ours, ours, "x").data == ours
    assert take_in(b"", b"", "x").data == b""


@given(FILES, FILES)
@example(
    data(fact("a", "One.", created_at="2026-03-01T00:00:00Z", supersedes="a")),
    data(fact("a", "One.", created_at="2026-03-01T00:00:00Z"), fact("a", "One.", supersedes="b")),
)
def test_taking_in_twice_is_once_and_the_order_does_not_matter(ours: bytes, theirs: bytes) -> None:
    once = take_in(ours, theirs, "x")
    assert once.data.startswith(ours)
    again = take_in(once.data, theirs, "x")
    assert (again.data, again.added) == (once.data, 0)
    assert take_in(ours, ours, "x").added == 0
    # What is said then is what both files say together.
    merged = resolved(ours + (b"" if ours.endswith(b"\n") or not ours else b"\n") + theirs)
    found = resolved(once.data)
    assert (found.facts, found.connections, found.episodes) == (merged.facts, merged.connections, merged.episodes)


@given(FILES, FILES)
def test_what_was_taken_in_and_put_in_order_is_not_taken_in_again(ours: bytes, theirs: bytes) -> None:
    """A file that holds everything already has nothing to gain, whichever form it is in."""
    whole = normal_file(take_in(ours, theirs, "x").data).data
    again = take_in(whole, theirs, "x")
    assert (again.data, again.added) == (whole, 0)


def test_a_copy_by_another_writer_is_known() -> None:
    ours = data(fact("a", "One."))
    theirs = json.dumps(dict(reversed(fact("a", "One.").items())), indent=None, separators=(" , ", " : ")).encode()
    assert take_in(ours, theirs + b"\r\n", "x").added == 0


@pytest.mark.parametrize(
    "line",
    [
        fact("s", f"The key is {KEY}."),
        fact("s", "x", reason=KEY),
        fact("s", "x", tags=[KEY]),
        edge("s", "a", "b", description=KEY),
        episode("s", narrative=f"We used {KEY}."),
        episode("s", title=KEY),
        fact("s", "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi\n" * 4),
        fact("s", "x", note=f"key {KEY}"),
    ],
    ids=["content", "reason", "tag", "description", "narrative", "title", "several lines", "unknown key"],
)
def test_credentials_are_not_taken_in(line: dict[str, Any]) -> None:
    found = take_in(b"", data(fact("a", "One."), line), "other.jsonl")
    assert (found.added, found.refused, found.set_aside) == (1, 1, 0)
    assert KEY.encode() not in found.data
    assert b"PRIVATE KEY" not in found.data
    assert [(problem.code, problem.path) for problem in found.problems] == [("MemorySecretDetected", "other.jsonl")]


# -- how it is ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "word", "counts"),
    [
        ([], "empty", {"lines": 0, "active": 0}),
        ([fact("a")], "in order", {"lines": 1, "active": 1}),
        ([fact("a"), fact("a")], "to normalize", {"duplicates": 1, "active": 1}),
        ([fact("a", version=2), fact("a", version=1)], "to normalize", {"duplicates": 1}),
        ([fact("a", version=2), fact("a", "Other.", version=1)], "in order", {"duplicates": 0, "conflicts": 0}),
        ([fact("a"), fact("a", "Other.")], "needs a look", {"conflicts": 1}),
        ([fact("a"), "junk"], "needs a look", {"bad_lines": 1}),
        ([fact("a"), "<<<<<<< ours"], "to normalize", {"bad_lines": 0}),
        (
            [fact("a", status="superseded"), fact("b", "B.", supersedes="a"), fact("c", "C.", supersedes="a")],
            "needs a look",
            {"contradictions": 1, "active": 2},
        ),
        ([fact("a"), edge("e", "a", "none")], "in order", {"parked": 1}),
        ([fact("a", "Same."), fact("b", "Same.")], "in order", {"active": 1, "duplicates": 0}),
    ],
)
def test_the_state_of_a_file(rows: list[Any], word: str, counts: dict[str, int]) -> None:
    state = file_state(data(*rows))
    assert state.word == word
    assert {name: getattr(state, name) for name in counts} == counts


@given(FILES)
def test_a_normal_file_has_nothing_to_normalize(before: bytes) -> None:
    assert file_state(normal_file(before).data).duplicates == 0


# -- what changed ---------------------------------------------------------------------------


def test_what_two_versions_tell_differently() -> None:
    before = data(fact("a"), fact("b"), edge("e", "a", "b"), MIND, "junk")
    after = data(edge("e", "a", "b", version=1), fact("b"), fact("c"), episode("ep"), "other junk")
    assert changed_ids(before, after) == ["a", "c", "e", "ep"]
    assert changed_ids(before, before) == []
    assert changed_ids(b"", b"") == []


def test_an_order_and_an_end_of_lines_tell_nothing() -> None:
    before = data(fact("a"), fact("b"))
    assert changed_ids(before, data(fact("b"), fact("a"))) == []
    assert changed_ids(before, before + before) == []
    assert changed_ids(before, before.rstrip(b"\n")) == []
    assert changed_ids(before, before.replace(b"\n", b"\r\n")) == []


# -- real files -----------------------------------------------------------------------------


@pytest.mark.proof
@needs_real
def test_real_files_are_taken_in_once() -> None:
    files = sorted(REAL.rglob("*.jsonl"))[:12]
    whole = b""
    for path in files:
        whole = take_in(whole, path.read_bytes(), path.name).data
    for path in files:
        assert take_in(whole, path.read_bytes(), path.name).added == 0
    assert normal_file(normal_file(whole).data).data == normal_file(whole).data
