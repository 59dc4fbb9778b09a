"""The head of a document: what is read, what is reported, and that nothing is guessed."""

from __future__ import annotations

import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from promised import proves
from quire.capture.front_matter import HEAD_CHARS, FrontMatter, read_front_matter


def yaml(*lines: str) -> FrontMatter:
    return read_front_matter("\n".join(["---", *lines, "---", "Body.", ""]))


def toml(*lines: str) -> FrontMatter:
    return read_front_matter("\n".join(["+++", *lines, "+++", "Body.", ""]))


def told(found: FrontMatter) -> list[tuple[str, str | None, int | None]]:
    assert {problem.severity for problem in found.problems} <= {"warning"}
    return [(problem.code, problem.field, problem.line) for problem in found.problems]


# -- where it begins and ends ---------------------------------------------------------------------


def test_a_head_and_its_body() -> None:
    found = read_front_matter("---\nid: cache\nstatus: decided\n---\n\n# Cache\n")
    assert found == FrontMatter({"id": "cache", "status": "decided"}, "\n# Cache\n", 5)


@pytest.mark.parametrize("text", ["", "# Title\n", " ---\nid: a\n---\n", "----\nid: a\n---\n", "--\n", "id: a\n"])
def test_without_a_head_all_is_body(text: str) -> None:
    assert read_front_matter(text) == FrontMatter({}, text)


@pytest.mark.parametrize("text", ["---", "---\n", "---\nid: a\n", "---\nid: a\n ---\nText\n", "+++\nid = 'a'\n---\n"])
def test_a_head_without_its_end_is_not_read(text: str) -> None:
    found = read_front_matter(text, "docs/a.md")
    assert (found.fields, found.body, found.body_line) == ({}, text, 1)
    assert told(found) == [("FrontMatterUnread", None, 1)]
    assert found.problems[0].path == "docs/a.md"


def test_the_head_may_end_with_dots_and_blanks_behind_the_marks() -> None:
    assert read_front_matter("--- \t\nid: a\n... \nx").fields == {"id": "a"}
    assert read_front_matter("---\n---\n") == FrontMatter({}, "", 3)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_and_a_byte_order_mark_are_no_difference(end: str) -> None:
    text = "\ufeff" + end.join(["---", "id: a", "open_questions:", "  - One?", "  - Two?", "---", "Body.", ""])
    assert read_front_matter(text) == FrontMatter({"id": "a", "open_questions": ["One?", "Two?"]}, "Body.\n", 7)


def test_a_second_rule_in_the_body_stays_there() -> None:
    assert read_front_matter("---\nid: a\n---\nOne\n---\nTwo\n").body == "One\n---\nTwo\n"


def test_a_head_that_is_too_long_is_not_read() -> None:
    assert yaml("id: a", *["# x" * 100] * (HEAD_CHARS // 300 + 1)).fields == {}
    assert told(yaml("x" * (HEAD_CHARS + 1))) == [("FrontMatterUnread", None, 1)]


# -- YAML -----------------------------------------------------------------------------------------


@each(
    ("line", "value"),
    [
        ("k: plain text", "plain text"),
        ("k:   spaced   ", "spaced"),
        ("k :\tafter a tab", "after a tab"),
        ("k: a — b – c - d", "a — b – c - d"),
        ("k: Phase 1: the rest", "Phase 1: the rest"),
        ("k: http://example.com/#part", "http://example.com/#part"),
        ("k: text # comment", "text"),
        ("k: C#", "C#"),
        ("k: # comment", ""),
        ("k:", ""),
        ("k: ~", ""),
        ("k: null", ""),
        ("k: true", "true"),
        ("k: 007", "007"),
        ("k: 1e3", "1e3"),
        ("k: 2026-03-02", "2026-03-02"),
        ("k: -5", "-5"),
        ("k: it's", "it's"),
        ('k: "quoted: # text"', "quoted: # text"),
        ('k: "a" # comment', "a"),
        (r'k: "tab\there \"q\" \\ é \U0001F600 \x41"', 'tab\there "q" \\ é 😀 A'),
        ("k: 'it''s'", "it's"),
        ("k: ''", ""),
        ("k: []", []),
        ("k: [a, b]", ["a", "b"]),
        ("k: [a, \"b, c\", 'd]' ,e ]", ["a", "b, c", "d]", "e"]),
        ("k: [a, b,] # comment", ["a", "b"]),
        ("k: [feature/x: y, 1]", ["feature/x: y", "1"]),
        ("k: [~, a]", ["a"]),
    ],
)
def test_a_value_on_its_line(line: str, value: str | list[str]) -> None:
    found = yaml(line)
    assert found.fields == {"k": value}
    assert found.problems == ()


@pytest.mark.parametrize("indent", ["", "  ", "    "])
def test_a_list_of_lines(indent: str) -> None:
    found = yaml(
        "open_questions: # those still open",
        f"{indent}- What now: this, or that - or both?",
        f'{indent}- "In quotes: yes?"',
        "",
        f"{indent}# left out",
        f"{indent}-   Third # and why",
        f"{indent}-",
        "status: seed",
    )
    assert found.fields == {
        "open_questions": ["What now: this, or that - or both?", "In quotes: yes?", "Third"],
        "status": "seed",
    }
    assert found.problems == ()


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["k: |", "  17. Use UDP"], "17. Use UDP"),
        (["k: | ", "  One: two", "", "    # three", "  - four", ""], "One: two\n\n  # three\n- four"),
        (["k: >-  # folded", "  One", "  two", "", "  three", "", "", "  four"], "One two\nthree\n\nfour"),
        (["k: |2", "    deep"], "  deep"),
        (["k: >2-", "    deep"], "  deep"),
        (["k: |-", "# no text"], ""),
        (["k: >+", " x"], "x"),
    ],
)
def test_a_block_of_text(lines: list[str], value: str) -> None:
    found = yaml(*lines, "next: a")
    assert found.fields == {"k": value, "next": "a"}
    assert found.problems == ()


@proves("P5.1", "D5", over="graph inbox")
@each(
    "lines",
    [
        ["k: |", "  text", " less"],
        ["k: >-", "- item"],
        ["k: |", "\ttext"],
        ["k: | text", "  more"],
        ["k: one", "  two"],
        ["k:", "  nested: a"],
        ["k:", "  one"],
        ["k:", "  - a", "    b"],
        ["k:", "  - a", "    - b"],
        ["k:", "  - a", "  b: c"],
        ["k:", "  - - a"],
        ["k:", "  - [a]"],
        ["k:", "  - {a: b}"],
        ["k:", "\t- a"],
        ["k: - a"],
        ["k: {a: b}"],
        ["k: [a"],
        ["k: [a, # c", "  b]"],
        ["k: [a, [b]]"],
        ["k: [a, {b: c}]"],
        ["k: [a,, b]"],
        ["k: [a] b"],
        ['k: ["a" b]'],
        ['k: "a" b'],
        ['k: "a'],
        ["k: 'a"],
        [r'k: "\q"'],
        [r'k: "\ud800"'],
        [r'k: "\U00110000"'],
        ["k: &anchor a"],
        ["k: *alias"],
        ["k: !!str a"],
        ["k: @a"],
        ["k: `a`"],
        ["k: ? a"],
    ],
)
def test_anything_else_is_reported_with_its_key_and_left_out(lines: list[str]) -> None:
    found = yaml("id: a", *lines, "status: seed")
    assert found.fields == {"id": "a", "status": "seed"}
    assert told(found) == [("FieldUnusable", "k", 3)]


def test_a_line_that_is_no_field_spoils_no_other() -> None:
    found = yaml("id: a", "status:decided", "oops", "title: T", '"quoted": x')
    assert found.fields == {"id": "a", "title": "T"}
    assert told(found) == [("FieldUnusable", None, line) for line in (3, 4, 6)]


@proves("P5.1", "D5", over="graph inbox")
def test_of_a_key_that_stands_twice_neither_is_taken() -> None:
    found = yaml("id: a", "status: seed", "id: b", "id: a")
    assert found.fields == {"status": "seed"}
    assert told(found) == [("KeyTwice", "id", 4), ("KeyTwice", "id", 5)]


# -- TOML -----------------------------------------------------------------------------------------


def test_toml() -> None:
    found = toml(
        'id = "a"', 'open_questions = ["One?", "Two, or three?"]', "priority = 1", "done = false", "day = 2026-03-02"
    )
    assert found.fields == {
        "id": "a",
        "open_questions": ["One?", "Two, or three?"],
        "priority": "1",
        "done": "false",
        "day": "2026-03-02",
    }
    assert (found.body, found.body_line, found.problems) == ("Body.\n", 8, ())


def test_what_is_nested_in_toml_is_reported_and_left_out() -> None:
    found = toml('id = "a"', 'deep = [["x"]]', "long = 0x" + "f" * 9_000, "[table]", 'x = "y"')
    assert found.fields == {"id": "a"}
    assert told(found) == [("FieldUnusable", name, None) for name in ("deep", "long", "table")]


@pytest.mark.parametrize(
    "line", ["id: a", 'id = "a"\nid = "b"', "id = ", "a = " + "[" * 20_000, "a = " + "9" * 5_000, "a\x00 = 1"]
)
def test_what_is_no_toml_is_not_read_at_all(line: str) -> None:
    found = toml(line)
    assert found.fields == {}
    assert found.body.startswith("+++\n")
    assert told(found) == [("FrontMatterUnread", None, 1)]


def test_a_key_of_very_many_parts_costs_nothing() -> None:
    assert told(toml(".".join("a" * 16_000) + " = 1")) == [("FrontMatterUnread", None, 1)]


# -- any text -------------------------------------------------------------------------------------

_printable = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)
_keys = st.text(string.ascii_letters + "_", min_size=1, max_size=8)
_values = _printable | st.lists(_printable.filter(bool), max_size=4)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.dictionaries(_keys, _values), st.sampled_from([_quoted, _double]), st.booleans(), _printable)
def test_what_is_written_in_quotes_comes_back(
    fields: dict[str, str | list[str]], quote: Callable[[str], str], in_lines: bool, body: str
) -> None:
    head = []
    for name, value in fields.items():
        if isinstance(value, str):
            head.append(f"{name}: {quote(value)}")
        elif in_lines and value:
            head += [f"{name}:", *(f"  - {quote(item)}" for item in value)]
        else:
            head.append(f"{name}: [{', '.join(map(quote, value))}]")
    found = read_front_matter("\n".join(["---", *head, "---", body]))
    assert found == FrontMatter(fields, body, len(head) + 3)


@given(st.sampled_from(["---", "+++"]), st.text("abk:=-#'\"[]{},\\ \t\n|>&*!\r\x00é", max_size=80), st.booleans())
def test_any_text_is_read_or_reported(mark: str, head: str, ended: bool) -> None:
    text = f"{mark}\n{head}\n{mark if ended else ''}\nbody"
    found = read_front_matter(text)
    assert found == read_front_matter(text)
    assert found.body.endswith("body")
    assert found.body == "\n".join(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[found.body_line - 1 :])
    for value in found.fields.values():
        assert isinstance(value, str) or all(isinstance(item, str) for item in value)


def test_a_long_head_takes_no_time() -> None:
    for line in (
        "k: [" + "a," * 16_000,
        'k: "' + "\\a" * 16_000,
        "k: " + " #" * 16_000,
        "-" * 32_000,
        "k: " + "'" * 32_001,
    ):
        yaml(line)
