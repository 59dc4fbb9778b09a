"""A document: its bytes exactly, what survives a change of something else, and what is refused with a reason."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from entry_making import AT, EMPTY, SHARED, document, entry, parsed, written
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.layers.profile.document import empty_document, parse_document
from quire.layers.profile.entries import Entry
from quire.layers.profile.layout import FILE_BYTES
from quire.model.errors import InvalidStore, UnsupportedVersion

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda held: st.lists(held, max_size=3) | st.dictionaries(TEXTS, held, max_size=3),
    max_leaves=6,
)
ENTRIES = st.dictionaries(TEXTS, VALUES, max_size=3).flatmap(
    lambda more: st.sampled_from(({}, {"value": "A text."})).map(lambda known: {**known, **more})
)
CATEGORY = st.dictionaries(TEXTS, ENTRIES | VALUES, max_size=3) | VALUES
NAMES = st.sampled_from(("user", "tools", "learnings")) | TEXTS
DOCUMENTS = st.builds(
    lambda memories, top, count: {"schema_version": "1.2", **top, "memories": memories, **count},
    st.dictionaries(NAMES, CATEGORY, max_size=4),
    st.dictionaries(TEXTS.filter(lambda name: name not in ("schema_version", "memories")), VALUES, max_size=2),
    st.sampled_from(({}, {"session_count": 3}, {"session_count": "many"})),
)
FORMS = st.sampled_from(
    (
        {"indent": 2, "ensure_ascii": False},
        {"indent": 4, "ensure_ascii": False},
        {"indent": None, "ensure_ascii": False, "separators": (",", ":")},
        {"indent": "\t", "ensure_ascii": True},
    )
)


# -- the bytes ------------------------------------------------------------------------------


def test_a_new_document_has_all_six_categories_and_191_bytes() -> None:
    found = empty_document(SHARED).render()
    assert found.decode() == EMPTY
    assert len(found) == 191


def test_an_entry_is_written_over_many_lines_in_the_order_of_its_fields() -> None:
    held = empty_document(SHARED)
    held.put("user", "größe", entry("東京 🎉 \t tab", tags=["a", "b"], links=[{"target": "user.b", "relation": "x"}]))
    assert held.render().decode() == EMPTY.replace(
        '"user": {}',
        """"user": {
      "größe": {
        "value": "東京 🎉 \\t tab",
        "created_at": "2026-02-09T14:00:00Z",
        "updated_at": "2026-02-09T14:00:00Z",
        "tags": [
          "a",
          "b"
        ],
        "confidence": null,
        "importance": 5,
        "source": {
          "type": "session",
          "detail": null
        },
        "access_count": 0,
        "last_accessed": null,
        "status": "active",
        "links": [
          {
            "target": "user.b",
            "relation": "x"
          }
        ]
      }
    }""",
    )


@given(DOCUMENTS)
def test_what_nobody_changed_is_written_as_it_stands(value: dict[str, Any]) -> None:
    """A number beside a control character alone may be written in another form: it is the same number."""
    data = written(value)
    found = parsed(data).render()
    assert found == data or b"\\u" in data
    assert in_order(json.loads(found)) == in_order(value)


@given(DOCUMENTS, FORMS)
def test_a_change_leaves_everything_else(value: dict[str, Any], form: dict[str, Any]) -> None:
    """Whoever wrote it, and however: the order, fields nobody knows, and what stands in the place of entries."""
    held = parsed((json.dumps(value, **form) + "\n").encode())
    category = next((name for name, held in value["memories"].items() if isinstance(held, dict)), "tools")
    if not isinstance(value["memories"].get(category, {}), dict):
        return
    held.put(category, "new_key", entry())
    expected = json.loads(json.dumps(value))
    expected["memories"].setdefault(category, {})["new_key"] = entry()
    found = held.render()
    assert json.loads(found) == expected
    assert in_order(json.loads(found)) == in_order(expected)
    if b"\\u" not in held.data:
        assert found == written(expected)
    # Written again it is the same, and so it is when somebody opens it anew.
    assert held.render() == found
    assert parsed(found).render() == found


def in_order(value: Any) -> Any:
    """With the order of all keys in it."""
    if isinstance(value, dict):
        return [(key, in_order(item)) for key, item in value.items()]
    return [in_order(item) for item in value] if isinstance(value, list) else value


ODD_NUMBERS = (
    "1.0",
    "1.50",
    "1E5",
    "1e-7",
    "-0",
    "-0.0",
    "0.1000000000000000055511151231257827",
    "18446744073709551616",
    "123456789012345678901234567890123456789012345678901234567890",
    "1e400",
    "-1e400",
    "1" + "0" * 400,
)


def odd(number: str, text: str) -> bytes:
    return (
        '{"schema_version": "1.2", "session_count": 3, "odd": %s, "memories": {"tools": '  # noqa: UP031
        '{"a": {"value": "v", "n": %s}, "b": {"value": "%s"}}, "novel": [%s]}}' % (number, number, text, number)
    ).encode()


@each("number", ODD_NUMBERS)
@each("text", ["plain", "größe", r"gr\u00f6\u00dfe", r"a bell \u0007", r"C:\\users\\me"])
def test_numbers_of_any_form_survive_in_what_is_not_touched(number: str, text: str) -> None:
    held = parsed(odd(number, text))
    held.refuse_loss()
    held.put("tools", "c", entry())
    found = held.render().decode()
    assert len(re.findall(rf"(?<![\d.eE+-]){re.escape(number)}(?![\d.eE+-])", found)) == 3
    assert json.loads(found, parse_float=str, parse_int=str)["memories"]["tools"]["a"]["n"] == number
    assert json.loads(found, parse_float=str, parse_int=str)["memories"]["tools"]["b"]["value"] == json.loads(
        f'"{text}"'
    )


@pytest.mark.parametrize("text", ["plain", r"a bell \u0007"])
def test_a_number_that_no_program_reads_survives_or_keeps_the_document_from_being_written(text: str) -> None:
    held = parsed(odd("9" * 5000, text))
    try:
        held.refuse_loss()
    except InvalidStore:
        return
    held.put("tools", "c", entry())
    assert held.render().count(b"9" * 5000) == 3


@pytest.mark.parametrize("number", ["18446744073709551616", "9" * 60, "1.5", "100000.0", "-7"])
def test_numbers_survive_in_what_is_touched(number: str) -> None:
    held = parsed(odd(number, "x"))
    fields = held.fields("tools", "a")
    assert fields is not None
    held.put("tools", "a", {**fields, "importance": 7})
    assert f'"n": {number}' in held.render().decode()


def test_letters_that_were_written_as_numbers_are_written_as_letters() -> None:
    """Controls alone stay numbers: JSON has no other way to write them."""
    value = document(user={"größe": entry('日本 🎉 "quoted" \\ back / slash \x07 \x7f \u2028')})
    held = parsed(json.dumps(value).encode())
    held.put("user", "new", entry())
    value["memories"]["user"]["new"] = entry()
    assert held.render() == written(value)


def test_lines_that_end_as_on_windows_end_as_ours_after_a_change() -> None:
    value = document(user={"a": entry("One line.")})
    held = parsed(written(value).replace(b"\n", b"\r\n"))
    held.refuse_loss()
    held.set_session_count(4)
    assert held.render() == written({**value, "session_count": 4})


@pytest.mark.parametrize("top", [("memories", "session_count"), ("session_count", "memories")])
def test_the_top_level_keeps_its_order(top: tuple[str, str]) -> None:
    value: dict[str, Any] = {"schema_version": "1.2", "colour": "red"}
    value |= {name: {"user": {}} if name == "memories" else 3 for name in top}
    held = parsed(value)
    held.set_session_count(4)
    assert held.render() == written({**value, "session_count": 4})


def test_a_count_that_was_missing_comes_last() -> None:
    held = parsed({"schema_version": "1.2", "memories": {}})
    assert held.session_count == 0
    held.set_session_count(1)
    assert held.render() == written({"schema_version": "1.2", "memories": {}, "session_count": 1})


@pytest.mark.parametrize(
    ("count", "read"), [(0, 0), (12, 12), (-4, 0), (None, 0), (True, 0), ([], 0), ("12", 0), (2**80, 2**80)]
)
def test_the_count_of_sessions(count: Any, read: int) -> None:
    assert parsed({"schema_version": "1.2", "session_count": count, "memories": {}}).session_count == read


def test_a_count_of_sessions_in_another_form_is_not_begun_anew() -> None:
    assert parsed({"schema_version": "1.2", "session_count": 12.0, "memories": {}}).session_count == 12


def test_a_category_that_was_missing_comes_last() -> None:
    held = parsed(document(tools={}))
    held.put("user", "a", entry())
    held.put("tools", "b", entry())
    assert held.render() == written(document(tools={"b": entry()}, user={"a": entry()}))


def test_what_stands_in_the_place_of_a_category_is_not_replaced() -> None:
    held = parsed(document(user=[1, 2], tools={}))
    with pytest.raises(InvalidStore) as caught:
        held.put("user", "a", entry())
    assert "`user` holds no records" in caught.value.message
    assert held.render() == written(document(user=[1, 2], tools={}))


def test_an_entry_that_is_replaced_keeps_its_place_and_one_that_is_removed_leaves_no_trace() -> None:
    held = parsed(document(user={"a": entry(), "b": entry(), "c": entry()}))
    held.put("user", "a", entry("Another."))
    held.remove("user", "b")
    assert held.render() == written(document(user={"a": entry("Another."), "c": entry()}))
    held.remove("user", "a")
    held.remove("user", "c")
    assert held.render() == written(document(user={}))


def test_whether_it_was_changed() -> None:
    held = parsed(document(user={"a": entry()}))
    assert not held.is_changed
    held.fields("user", "a")
    list(held.read())
    held.render()
    assert not held.is_changed
    held.put("user", "a", entry())
    assert held.is_changed


# -- what it holds --------------------------------------------------------------------------


def told(held: dict[str, Any]) -> list[str]:
    """Names of entries in order; sentences in the place of what is none."""
    return [item.name if isinstance(item, Entry) else item for item in parsed(held).read()]


def test_what_is_no_entry_is_told_of_in_its_place() -> None:
    value = document(
        user={"a": entry(), "b": "a text", "c": None, "d": [entry()], "e": {}, "f": {"value": 7}, "g": entry("")},
        tools=[entry()],
        novel={"h": {"value": "Nobody knows the category."}},
        project=None,
        learnings="text",
    )
    assert told(value) == [
        "user.a",
        "`user.b`: it is not an object.",
        "`user.c`: it is not an object.",
        "`user.d`: it is not an object.",
        "`user.e`: it has no text in `value`.",
        "`user.f`: it has no text in `value`.",
        "user.g",
        "`tools`: it is not an object, so it holds no records.",
        "novel.h",
        "`project`: it is not an object, so it holds no records.",
        "`learnings`: it is not an object, so it holds no records.",
    ]
    held = parsed(value)
    assert held.categories() == ["user", "novel"]
    assert held.keys("user") == ["a", "b", "c", "d", "e", "f", "g"]
    assert held.keys("tools") == held.keys("nowhere") == []
    assert held.has("user", "b")
    assert held.has("user", "c")
    assert not held.has("user", "z")
    assert not held.has("tools", "a")
    assert held.fields("user", "b") is held.fields("user", "c") is held.fields("tools", "a") is None
    assert held.fields("user", "e") == {}


def test_names_are_cut_in_what_is_told() -> None:
    (said,) = told(document(**{"c" * 200: {"k" * 300: 1}}))
    assert said == f"`{'c' * 39}….{'k' * 79}…`: it is not an object."


def test_numbers_beyond_all_range_make_one_entry_unreadable_and_no_other() -> None:
    data = odd("1e400", "fine")
    assert [item.name if isinstance(item, Entry) else item for item in parsed(data).read()] == [
        "`tools.a`: it is not an object.",
        "tools.b",
        "`novel`: it is not an object, so it holds no records.",
    ]


@each("field", ["importance", "confidence", "access_count", "novel"])
@each("digits", [20, 400, 4000])
def test_a_number_of_many_digits_is_read_like_any_other(field: str, digits: int) -> None:
    number = 10**digits
    (found,) = parsed(document(tools={"a": {"value": "v", field: number}})).read()
    assert isinstance(found, Entry)
    assert found.fields[field] == number


def test_a_value_of_ten_million_characters() -> None:
    value = document(user={"a": entry("ö" * 10_000_000), "b": entry()})
    held = parsed(value)
    first, second = held.read()
    assert isinstance(first, Entry)
    assert len(first.value) == 10_000_000
    assert isinstance(second, Entry)
    held.put("user", "b", entry("changed"))
    value["memories"]["user"]["b"] = entry("changed")
    assert held.render() == written(value)


def test_private_entries_know_that_they_are() -> None:
    assert [item.is_private for item in parsed(document(user={"a": entry()})).read(is_private=True)] == [True]


@pytest.mark.parametrize(
    ("stored", "finds"),
    [
        ('"tools.größe"', True),
        (r'"tools.gr\u00f6\u00dfe"', True),
        (r'"tools.gr\u00F6ße"', True),
        ('"tools.größer"', False),
        ('"x tools.größe"', False),
    ],
)
def test_where_a_text_stands(stored: str, finds: bool) -> None:
    data = f'{{"schema_version": "1.2", "memories": {{"a": {{"b": {{"links": [{stored}]}}, "c": {{}}}}, "d": []}}}}'
    found = parsed(data.encode()).holding("tools.größe")
    assert (("a", "b") in found) or not finds
    assert ("a", "c") not in found


# -- what is refused ------------------------------------------------------------------------

REFUSED = {
    b"": "it is empty",
    b" \n\t\r\n": "it is empty",
    b'\xef\xbb\xbf{"schema_version": "1.2", "memories": {}}': "byte order mark (line 1, column 1)",
    b'{\n "a": "\xff"}': "it is not UTF-8 text: line 2, column 8",
    b'{\n  "schema_version": "1.2",\n  "memories": {}\n': "it ends too early, line 4, column 1",
    b'{"schema_version": "1.2", "memories": {},}': "it is not JSON: line 1, column 4",
    b'{"schema_version": "1.2",\n "memories": {NaN}}': "it is not JSON: line 2, column",
    b'{"schema_version": "1.2", "memories": {"a": NaN}}': "it is not JSON: line 1, column",
    b'{"schema_version": "1.2", "memories": {"a": {"b": Infinity}}}': "it is not JSON: line 1, column",
    b'{"schema_version": "1.2", "memories": {"a": {"b": 01}}}': "it is not JSON: line 1, column",
    b'{"schema_version": "1.2", "memories": {}} x': "it is not JSON: line 1, column 4",
    b"[]": "the top level is not an object",
    b'"1.2"': "the top level is not an object",
    b"null": "the top level is not an object",
    b'{"memories": {}}': "it has no `schema_version`",
    b'{"schema_version": "1.2"}': "it has no `memories`",
    b'{"schema_version": "1.2", "memories": null}': "`memories` is not an object",
    b'{"schema_version": "1.2", "memories": []}': "`memories` is not an object",
    b'<<<<<<< HEAD\n{"schema_version": "1.2", "memories": {}}\n=======\n': "merge conflict marks: line 1, column 1",
    b'{"schema_version": "1.2",\n<<<<<<< ours\n"memories": {}}': "merge conflict marks: line 2, column 1",
    b'{"schema_version": "1.2",\r\n<<<<<<< ours\r\n"memories": {}}': "merge conflict marks: line 2, column 1",
}


@each("data", REFUSED)
def test_damage_is_refused_with_its_place(data: bytes) -> None:
    with pytest.raises(InvalidStore) as caught:
        parse_document(data, SHARED)
    assert REFUSED[data] in caught.value.message
    assert caught.value.message.startswith(f"`{SHARED}` cannot be used: ")
    assert caught.value.hint is not None
    assert ("memory resolve" if "conflict marks" in caught.value.message else "not changed") in caught.value.hint
    assert caught.value.details == {"path": SHARED}


def test_the_place_counts_characters_and_not_bytes() -> None:
    with pytest.raises(InvalidStore, match="line 2, column 10"):
        parse_document('{"schema_version": "1.2",\n"größe": ?}'.encode(), SHARED)


def test_marks_of_a_conflict_inside_a_value_are_a_value() -> None:
    value = document(learnings={"git": entry("A conflict is marked\n<<<<<<< HEAD\n=======\n>>>>>>> other")})
    (found,) = parsed(value).read()
    assert isinstance(found, Entry)


def test_bottomless_nesting_is_damage_and_no_crash() -> None:
    depth = 1_000_000
    data = b'{"schema_version": "1.2", "memories": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    with pytest.raises(InvalidStore, match=SHARED):
        parse_document(data, SHARED)


def test_nesting_that_can_be_read_survives_a_change() -> None:
    deep: Any = "bottom"
    for _ in range(50):
        deep = [deep]
    value = document(user={"a": entry(novel=deep), "b": entry()})
    held = parsed(value)
    held.refuse_loss()
    held.put("user", "b", entry("changed"))
    value["memories"]["user"]["b"] = entry("changed")
    assert held.render() == written(value)


HALF = r'{"schema_version": "1.2", "memories": {"user": {"a": {"value": "half \ud800 of one"}, "b": {"value": "b"}}}}'


def test_half_a_character_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidStore, match=r"it is not JSON: line 1, column [678]\d"):
        parse_document(HALF.encode(), SHARED)


@pytest.mark.parametrize("version", ['"1.4"', '"2.1"', '"9.9"', '""', '"1.20"', '" 1.2"', '"' + "9" * 100 + '"'])
def test_versions_that_nobody_knows(version: str) -> None:
    with pytest.raises(UnsupportedVersion) as caught:
        parse_document(f'{{"schema_version": {version}, "memories": {{}}}}'.encode(), SHARED)
    assert "It is neither read nor written." in caught.value.message
    assert caught.value.details["supported"] == "1.2"
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("version", ["1.2", "2", "null", "[]", "{}", "true", "1e400"])
def test_versions_that_are_no_text(version: str) -> None:
    with pytest.raises(UnsupportedVersion, match="which is not text"):
        parse_document(f'{{"schema_version": {version}, "memories": {{}}}}'.encode(), SHARED)


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.3", "2.0"])
def test_versions_that_are_read_and_not_written_to(version: str) -> None:
    held = parsed(document(version, user={"a": entry()}))
    assert held.version == version
    assert not held.is_writable
    assert len(list(held.read())) == 1
    error = held.refuse_version()
    assert f"schema version `{version}`" in error.message
    assert ("It can be read and searched" in error.message) == (version in ("1.3", "2.0"))
    assert error.details == {"path": SHARED, "version": version, "supported": "1.2"}


def test_our_own_version_is_written_to() -> None:
    assert parsed(document()).is_writable


# -- what would be lost ---------------------------------------------------------------------

CANONICAL_TWICE = written(document(user={"a": entry()})).replace(
    b'"value": "A text."', b'"value": "A text.",\n        "value": "Another."'
)
TWICE = {
    "at the top": b'{"schema_version": "1.2", "memories": {}, "memories": {"user": {}}}',
    "a category": b'{"schema_version": "1.2", "memories": {"user": {"a": {"value": "x"}}, "user": {}}}',
    "an entry": b'{"schema_version": "1.2", "memories": {"user": {"a": {"value": "x"}, "a": {"value": "y"}}}}',
    "a field": b'{"schema_version": "1.2", "memories": {"user": {"a": {"value": "x", "value": "y"}}}}',
    "deep below": b'{"schema_version": "1.2", "memories": {"user": {"a": {"value": "x", "n": [{"b": 1, "b": 2}]}}}}',
}


@pytest.mark.parametrize("where", TWICE)
@pytest.mark.parametrize("thorough", [False, True])
def test_a_key_that_stands_twice_is_read_and_keeps_the_document_from_being_written(where: str, thorough: bool) -> None:
    held = parsed(TWICE[where])
    list(held.read())
    with pytest.raises(InvalidStore) as caught:
        held.refuse_loss(thorough=thorough)
    assert "occurs twice in one object" in caught.value.message
    assert SHARED in caught.value.message
    assert "nothing was changed" in (caught.value.hint or "").lower()


def test_where_we_wrote_it_a_key_that_stands_twice_keeps_its_entry_from_being_written() -> None:
    held = parsed(CANONICAL_TWICE)
    held.refuse_loss()
    held.put("user", "b", entry())
    with pytest.raises(InvalidStore, match="occurs twice in one object"):
        held.put("user", "a", entry())
    with pytest.raises(InvalidStore, match="occurs twice in one object"):
        held.refuse_loss(thorough=True)
    assert CANONICAL_TWICE.split(b'"tags"')[0] in held.render()


def test_nothing_is_lost_of_what_is_well() -> None:
    for value in (document(), document(user={"a": entry(), "b": "odd"}, novel=[1])):
        for data in (written(value), json.dumps(value).encode()):
            parsed(data).refuse_loss()
    empty_document(SHARED).refuse_loss()


def test_what_we_are_told_to_write_is_what_is_read_again() -> None:
    held = empty_document(SHARED)
    fields = entry("x", updated_at=AT, novel={"deep": [1, {"a": None}]})
    held.put("tools", "a", fields)
    assert held.fields("tools", "a") == fields
    assert parsed(held.render()).fields("tools", "a") == fields


def test_how_large_a_document_may_be() -> None:
    assert FILE_BYTES == 256 * 1024 * 1024
