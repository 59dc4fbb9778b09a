"""JSON with comments and trailing commas is read as its data; what else is not JSON is refused with its place."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.files.jsonc_parser import (
    read_jsonc,
    same,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_all_that_is_json_is_read_as_json(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    assert same(read_jsonc(json.dumps(value, indent=indent, ensure_ascii=ascii_only)), value)


@each(
    ("text", "data"),
    [
        ("{}", {}),
        (" [ ] ", []),
        ("\ufeff{}", {}),
        ("\ufeff\r\n{\r\n}\r\n", {}),
        ("// first\n{} // last", {}),
        ("/* a */ {/**/} /* b\nc */", {}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ('{"a" /*x*/ : // y\n 1 /* z */ , }', {"a": 1}),
        ('{"url": "https://host/*not*/a//comment"}', {"url": "https://host/*not*/a//comment"}),
        ('{"quote": "\\" // \\\\"}', {"quote": '" // \\'}),
        ('{"": 0}', {"": 0}),
        ('"just text"', "just text"),
        ('["\\ud83d\\ude00", "😀", "\\ud800"]', ["😀", "😀", "\ud800"]),
        ("[1e5, -0, 1.5E-3, 12345678901234567890]", [1e5, 0, 0.0015, 12345678901234567890]),
        ('{"a": 1 //\r\n}', {"a": 1}),
        ("{/*/ */}", {}),
        ("{/* * / ** */}", {}),
    ],
)
def test_what_people_write_is_read(text: str, data: Any) -> None:
    assert same(read_jsonc(text), data)


@each(
    ("text", "message"),
    [
        ("", "A value was expected, but the text ends, line 1, column 1."),
        ("  \n ", "A value was expected, but the text ends, line 2, column 2."),
        ("// only a comment\n", "A value was expected, but the text ends, line 2, column 1."),
        ("{", "A key in double quotes was expected, but the text ends, line 1, column 2."),
        ('{\n  "a": 1\n  "b": 2\n}', "A comma or `}` was expected, line 3, column 3."),
        ('{\r\n  "a": 1\r\n  "b": 2\r\n}', "A comma or `}` was expected, line 3, column 3."),
        ("[1 2]", "A comma or `]` was expected, line 1, column 4."),
        ("[1, 2", "A comma or `]` was expected, but the text ends, line 1, column 6."),
        ("[1}", "A comma or `]` was expected, line 1, column 3."),
        ("{,}", "A key in double quotes was expected, line 1, column 2."),
        ('{"a": 1,,}', "A key in double quotes was expected, line 1, column 9."),
        ("[,]", "A value was expected, line 1, column 2."),
        ("[1,,]", "A value was expected, line 1, column 4."),
        ("{a: 1}", "A key in double quotes was expected, line 1, column 2."),
        ("{'a': 1}", "A key in double quotes was expected, line 1, column 2."),
        ('{"a" 1}', "A colon was expected, line 1, column 6."),
        ('{"a": }', "A value was expected, line 1, column 7."),
        ("{\"a\": 'x'}", "A value was expected, line 1, column 7."),
        ('{"a": 1, "b": 2, "a": 3}', "The key `a` occurs twice in one object, line 1, column 18."),
        ('{"sk-abc def": 1, "sk-abc def": 3}', "A key occurs twice in one object, line 1, column 19."),
        ("{} {}", "Text follows the end of the value, line 1, column 4."),
        ("{} x", "Text follows the end of the value, line 1, column 4."),
        ("truex", "Text follows the end of the value, line 1, column 5."),
        ("01", "Text follows the end of the value, line 1, column 2."),
        ("[1 /* never\n\n", "The comment never ends, line 1, column 4."),
        ("/* never", "The comment never ends, line 1, column 1."),
        ("[1 # no]", "A comma or `]` was expected, line 1, column 4."),
        ("[/ 1]", "A value was expected, line 1, column 2."),
        ('{"a": "never', "The quotation marks are never closed, line 1, column 7."),
        ('{"a": "line\nbreak"}', "A control character is in a text, line 1, column 12."),
        ('["\\x"]', "Invalid escape after a backslash, line 1, column 3."),
        ("[nul]", "A value was expected, line 1, column 2."),
        ("[1]\x00", "Text follows the end of the value, line 1, column 4."),
        ("{\u00a0}", "A key in double quotes was expected, line 1, column 2."),
        ("[" + "1" * 5000 + "]", "The number is too long, line 1, column 2."),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        read_jsonc(text)
    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"not JSON, line 2, column 5\."):
        read_jsonc(f'{{\n"a":{name}}}')


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [65, 5_000, 200_000])
def test_nesting_without_end_is_refused(opening: str, depth: int) -> None:
    with pytest.raises(ValueError, match="deeper than 64 levels, line 1, column"):
        read_jsonc(opening * depth)


def test_nesting_to_the_limit_is_read() -> None:
    assert read_jsonc("[" * 64 + "]" * 64)


@given(st.text(alphabet='{}[]:,"/*\\ \n\r\ta1tn-.e', max_size=20))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    """Whatever Python's own reader takes is taken alike; nothing else than ValueError is raised."""
    try:
        expected = json.loads(text)
    except ValueError:
        expected = Ellipsis
    try:
        found, refusal = read_jsonc(text), ""
    except ValueError as error:
        found, refusal = Ellipsis, str(error)
    assert bool(refusal) == bool(re.search(r", line \d+, column \d+\.$", refusal))
    assert expected is Ellipsis or "stands twice" in refusal or same(found, expected)


def test_true_is_not_one_and_order_says_nothing() -> None:
    assert same({"a": 1, "b": [None]}, {"b": [None], "a": 1})
    assert not same(True, 1)
    assert not same(1, 1.0)
    assert not same([1], [1, 2])
    assert not same({"a": 1}, {"a": 1, "b": 1})
    assert not same({}, [])
    assert same(float("nan"), float("nan"))
