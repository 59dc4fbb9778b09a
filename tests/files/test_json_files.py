"""JSON goes out in one form and comes in strictly: nothing is guessed, nothing crashes."""

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import each
from quire.files.json_files import compact, decode_object, lines, parse_strict, pretty
from quire.model import limits
from quire.model.errors import InvalidJson

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_we_write_any_program_reads_back(value: Any) -> None:
    for written in (pretty(value), compact(value)):
        assert json.loads(written) == value


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_what_we_write_we_read_back(value: dict[str, Any]) -> None:
    assert decode_object(pretty(value)) == value
    assert decode_object(b"\xef\xbb\xbf" + compact(value)) == value
    assert parse_strict(pretty(value).decode(), "x") == value


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_the_compact_form_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    assert compact(dict(reversed(value.items()))) == compact(value)
    assert b"\n" not in compact(value)


def test_the_pretty_form_is_what_people_review() -> None:
    value = {"b": [1, {"é": "💾"}], "a": []}
    assert pretty(value).decode() == '{\n  "b": [\n    1,\n    {\n      "é": "💾"\n    }\n  ],\n  "a": []\n}\n'
    assert compact(value).decode() == '{"a":[],"b":[1,{"é":"💾"}]}'


@given(st.binary(max_size=200) | TEXT.map(str.encode))
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"1" * 5000)
@example(b'"\xff"')
@example(b'"\\ud800"')
@example(b"[]")
@example(b"null")
@example(b"")
def test_any_bytes_are_an_object_or_a_value_error(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(decode_object(data), dict)


@given(TEXT)
def test_any_text_is_json_or_invalid_json(text: str) -> None:
    with contextlib.suppress(InvalidJson):
        assert parse_strict(text, "the input") == json.loads(text)


@each(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "`a` occurs twice"),
        ('{"x": {"b": 1, "b": 1}}', "`b` occurs twice"),
        ("[NaN]", "NaN is not JSON"),
        ("[Infinity]", "Infinity is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 65 + "]" * 65, "limit is 64"),
        ('{"a":' * 70 + "1" + "}" * 70, "limit is 64"),
        ("9" * 5000, "digits"),
        ("{'a': 1}", "line 1, column 2"),
        ('{\n "a": 1\n "b": 2}', "line 3, column 2"),
        ('{"a": 1} extra', "column 10"),
        ("", "line 1, column 1"),
        ('"\t"', "control character"),
    ],
)
def test_what_would_have_to_be_guessed_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidJson, match=r"(?i).") as raised:
        parse_strict(text, "the input")
    assert reason.lower() in raised.value.message.lower()


def test_nesting_up_to_the_limit_is_fine() -> None:
    text = "[" * limits.JSON_DEPTH + "]" * limits.JSON_DEPTH
    value = parse_strict(text, "x")
    assert json.dumps(value) == text


def test_a_long_key_is_not_repeated_in_full() -> None:
    key = "k" * 10_000
    with pytest.raises(InvalidJson) as raised:
        parse_strict(f'{{"{key}": 1, "{key}": 2}}', "x")
    assert len(raised.value.message) < 300


def test_numbers_keep_their_value() -> None:
    value = parse_strict("[1e308, 0.1, -0, 123456789012345678901234567890]", "x")
    assert value == [1e308, 0.1, 0, 123456789012345678901234567890]
    assert math.isfinite(value[0])


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line and not line.endswith(b"\r"))))
def test_lines_are_numbered_from_one_whatever_ends_them(found: list[bytes]) -> None:
    for end in (b"\n", b"\r\n"):
        data = b"".join(line + end for line in found)
        assert list(lines(data)) == list(enumerate(found, start=1))


def test_a_last_line_without_its_end_is_a_line() -> None:
    assert list(lines(b"a\nb")) == [(1, b"a"), (2, b"b")]
    assert list(lines(b"a\n\nb\n")) == [(1, b"a"), (2, b""), (3, b"b")]
    assert list(lines(b"")) == []
