"""The canonical text: the same bytes as a JavaScript engine makes, and one order for every set of names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journaling import DATA, needs_real, vectors

from cases import each
from quire.layers.journal.canonical import (
    canonical_text,
    content_hash,
    declared_text,
    decode_json,
    file_bytes,
    line_bytes,
)
from quire.layers.journal.collation import collation_key
from quire.model.errors import InvalidJson

MADE = json.loads((DATA / "canonical.json").read_text(encoding="utf-8"))
TEXTS = st.text(st.characters(codec=None), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@each(("text", "digest", "canonical"), MADE["canonical"])
def test_a_value_has_the_text_and_the_hash_that_other_programs_give_it(text: str, digest: str, canonical: str) -> None:
    value = decode_json(text.encode())
    assert canonical_text(value) == canonical
    assert content_hash(value) == digest
    assert file_bytes(value) == canonical.encode() + b"\n"


@needs_real
def test_the_recorded_values_have_their_recorded_hashes() -> None:
    recorded = vectors("canonical-json")
    assert len(recorded) == 18
    for one in recorded:
        value = decode_json(one["input"].encode())
        assert (canonical_text(value), content_hash(value)) == (one["canonical"], one["sha256"])


@each(("written", "read_back"), MADE["numbers"])
def test_a_number_is_written_as_javascript_writes_it(written: str, read_back: str) -> None:
    assert canonical_text(decode_json(written.encode())) == read_back


def test_names_are_in_the_order_of_the_default_comparison() -> None:
    assert len(MADE["names"]) == 400
    turned = MADE["names"][::-1]
    assert sorted(turned, key=collation_key) == MADE["names"]


def test_control_characters_do_not_count_and_white_space_comes_first() -> None:
    assert sorted(["b", "a\x00b", "a b", "a\tb", "ab", "_"], key=collation_key) == [
        "_",
        "a\tb",
        "a b",
        "a\x00b",
        "ab",
        "b",
    ]


def test_beyond_ascii_accents_follow_their_letter_and_scripts_follow_each_other() -> None:
    names = [
        "a",
        "A",
        "ä",
        "Ä",
        "æ",
        "b",
        "đ",
        "e",
        "é",
        "ø",
        "p",
        "ss",
        "ß",
        "z",
        "λ",
        "я",
        "あ",
        "ア",
        "い",
        "日",
        "本",
    ]
    turned = names[::-1]
    assert sorted(turned, key=collation_key) == names
    assert sorted(["é1", "e2", "E1"], key=collation_key) == ["E1", "é1", "e2"]
    assert sorted(["йа", "иж", "ß", "SS"], key=collation_key) == ["SS", "ß", "иж", "йа"]
    assert sorted(["z", "😀", "9", "٣", "$", "£"], key=collation_key) == ["😀", "$", "£", "٣", "9", "z"]


@needs_real
def test_the_recorded_comparisons_hold() -> None:
    recorded = vectors("locale-order")
    words, chars = recorded["words"][::-1], recorded["asciiOrder"][::-1]
    assert sorted(words, key=collation_key) == recorded["words"]
    assert "".join(sorted(chars, key=collation_key)) == recorded["asciiOrder"]
    assert len(recorded["pairs"]) == 900
    for first, second, order in recorded["pairs"]:
        one, other = collation_key(first), collation_key(second)
        assert (one > other) - (one < other) == order, (first, second)


@given(st.lists(TEXTS, unique=True, max_size=6))
def test_the_order_is_total_whatever_the_names(names: list[str]) -> None:
    assert len({collation_key(name) for name in names}) == len(names)
    turned = names[::-1]
    assert sorted(names, key=collation_key) == sorted(turned, key=collation_key)


@given(VALUES)
def test_the_canonical_text_says_the_same_and_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    text = canonical_text(value)
    text.encode("utf-8")
    assert decode_json(text.encode()) == decode_json(line_bytes(value))
    assert canonical_text(_turned(value)) == text
    assert canonical_text(decode_json(text.encode())) == text


def _turned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(value)}
    return [_turned(item) for item in value] if isinstance(value, list) else value


def test_settings_keep_their_order_and_a_line_has_no_spaces() -> None:
    value = {"b": {"z": [], "a": [1, {}]}, "a": "é\u2028"}
    assert (
        declared_text(value)
        == '{\n  "b": {\n    "z": [],\n    "a": [\n      1,\n      {}\n    ]\n  },\n  "a": "é\u2028"\n}'
    )
    assert line_bytes(value) == '{"b":{"z":[],"a":[1,{}]},"a":"é\u2028"}'.encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Expecting value, line 1, column 1"),
        (b'{"a": 1', "Expecting ',' delimiter, line 1, column 8"),
        (b'\n{"a" 1}', "Expecting ':' delimiter, line 2, column 6"),
        (b'{"a": NaN}', "JSON is malformed: invalid character (byte 6)"),
        (b'"\xff"', "not UTF-8 text (byte 1)"),
        (b"[" * 65 + b"]" * 65, "nested too deeply: the limit is 64 levels"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply: the limit is 64 levels"),
    ],
)
def test_what_is_no_json_says_where(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        decode_json(data)
    assert str(caught.value) == reason


def test_a_value_as_deep_as_is_read_can_be_written_and_no_deeper() -> None:
    deepest = decode_json(b"[" * 64 + b"]" * 64)
    assert decode_json(canonical_text(deepest).encode()) == deepest
    with pytest.raises(InvalidJson, match="nested too deeply: the limit is 64 levels"):
        canonical_text([deepest])


def test_a_byte_order_mark_and_half_a_character_are_read() -> None:
    assert decode_json(b'\xef\xbb\xbf{"a": "\\ud83d"}') == {"a": "\ud83d"}
    assert canonical_text("\ud83d\ude00 \ud83d") == '"😀 \\ud83d"'
