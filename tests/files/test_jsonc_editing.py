"""Members and items come and go in JSON files of other people; all else stays, and removal leaves no trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cases import each
from quire.files.jsonc_edit import (
    append_item,
    remove_items,
    remove_member,
    set_member,
)
from quire.files.jsonc_parser import (
    parse,
    read_jsonc,
    same,
)

SERVER = {"command": "memory-mcp", "args": []}

# -- texts of real life ------------------------------------------------------------------------

CLAUDE_SETTINGS = """\
{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Read(~/.zshrc)"],
    "deny": []
  },
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [{ "type": "command", "command": "npx prettier --write" }]
      }
    ]
  },
  "env": { "API_KEY": "very-secret" }
}
"""

VSCODE = """\
// Place your settings in this file to overwrite the defaults.
{
\t"editor.fontSize": 13,
\t/* Formatting
\t   of all files */
\t"editor.formatOnSave": true, // always
\t"[python]": {
\t\t"editor.tabSize": 4, // PEP 8
\t},
\t// "editor.wordWrap": "on",
}
"""

OPENCODE = """\
{
    "$schema": "https://opencode.ai/config.json",
    // models
    "model": "anthropic/claude-sonnet-4",
    "mcp": {
        "docs": {"type": "remote", "url": "https://host.example/mcp"} // keep
        // "off": {}
    },
    "plugin": ["one"]
}"""


def test_a_server_in_the_settings_of_claude() -> None:
    after = set_member(CLAUDE_SETTINGS, ["mcpServers", "quire"], SERVER)
    assert after == CLAUDE_SETTINGS.replace(
        '"very-secret" }\n}',
        """\
"very-secret" },
  "mcpServers": {
    "quire": {
      "command": "memory-mcp",
      "args": []
    }
  }
}""",
    )
    assert remove_member(after, ["mcpServers"]) == CLAUDE_SETTINGS


def test_hooks_beside_those_of_others() -> None:
    entry = {"hooks": [{"type": "command", "command": "quire hook claude session-end || true"}]}
    once = append_item(CLAUDE_SETTINGS, ["hooks", "PostToolUse"], entry)
    assert once == CLAUDE_SETTINGS.replace(
        "      }\n    ]",
        """\
      },
      {
        "hooks": [
          {
            "type": "command",
            "command": "quire hook claude session-end || true"
          }
        ]
      }
    ]""",
    )
    twice = append_item(once, ["hooks", "SessionEnd"], entry)
    assert (
        twice
        == once[: once.index("\n  },\n  " + '"env"')]
        + """,
    "SessionEnd": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "quire hook claude session-end || true"
          }
        ]
      }
    ]"""
        + once[once.index("\n  },\n  " + '"env"') :]
    )

    def is_ours(item: Any) -> bool:
        return "quire hook" in str(item)

    emptied = remove_items(twice, ["hooks", "SessionEnd"], is_ours)
    assert read_jsonc(emptied)["hooks"]["SessionEnd"] == []
    back = remove_items(remove_member(emptied, ["hooks", "SessionEnd"]), ["hooks", "PostToolUse"], is_ours)
    assert back == CLAUDE_SETTINGS


def test_tabs_comments_and_trailing_commas_of_vs_code() -> None:
    after = set_member(VSCODE, ["mcp"], {"servers": {"quire": SERVER}})
    assert (
        after
        == VSCODE[:-2]
        + """\
\t"mcp": {
\t\t"servers": {
\t\t\t"quire": {
\t\t\t\t"command": "memory-mcp",
\t\t\t\t"args": []
\t\t\t}
\t\t}
\t},
}
"""
    )
    assert remove_member(after, ["mcp"]) == VSCODE
    inner = set_member(VSCODE, ["[python]", "editor.rulers"], [120])
    assert inner == VSCODE.replace("// PEP 8\n", '// PEP 8\n\t\t"editor.rulers": [\n\t\t\t120\n\t\t],\n')
    assert remove_member(inner, ["[python]", "editor.rulers"]) == VSCODE


def test_a_comment_after_the_last_member_stays_where_it_is() -> None:
    after = set_member(OPENCODE, ["mcp", "quire"], {"type": "local", "command": ["memory-mcp"], "enabled": True})
    assert after == OPENCODE.replace(
        '} // keep\n        // "off": {}\n',
        """}, // keep
        // "off": {}
        "quire": {
            "type": "local",
            "command": [
                "memory-mcp"
            ],
            "enabled": true
        }
""",
    )
    assert remove_member(after, ["mcp", "quire"]) == OPENCODE


def test_windows_line_ends_and_the_mark_at_the_start_survive() -> None:
    text = "\ufeff" + CLAUDE_SETTINGS.replace("\n", "\r\n")
    after = set_member(text, ["mcpServers"], {"quire": SERVER})
    assert after.count("\n") == after.count("\r\n") == CLAUDE_SETTINGS.count("\n") + 6
    assert after.replace("\r\n", "\n") == "\ufeff" + set_member(CLAUDE_SETTINGS, ["mcpServers"], {"quire": SERVER})
    assert remove_member(after, ["mcpServers"]) == text


# -- one by one ----------------------------------------------------------------------------------

ADDED = [
    ("{}", '{\n  "q": 1\n}'),
    ("{}\n", '{\n  "q": 1\n}\n'),
    ("{ }", '{ "q": 1 }'),
    ("{  }", '{  "q": 1  }'),
    ("{\n}\n", '{\n  "q": 1\n\n}\n'),
    ("{\r\n}\r\n", '{\r\n  "q": 1\r\n\r\n}\r\n'),
    ("{\n\n}", '{\n  "q": 1\n\n\n}'),
    ("{ // nothing\n}", '{ // nothing\n  "q": 1\n}'),
    ("{\n    // nothing\n}", '{\n    // nothing\n    "q": 1\n}'),
    ("{\n  // one\n\n  /* two */\n\n}", '{\n  // one\n\n  /* two */\n  "q": 1\n\n}'),
    ("{/* nothing */}", '{/* nothing */ "q": 1}'),
    ("{ /* nothing */ }", '{ /* nothing */ "q": 1 }'),
    ('{"a":1}', '{"a":1,"q":1}'),
    ('{"a": 1}', '{"a": 1, "q": 1}'),
    ('{ "a" : 1 }', '{ "a" : 1, "q" : 1 }'),
    ('{"a": 1,"b": 2}', '{"a": 1,"b": 2,"q": 1}'),
    ('{"a": 1,}', '{"a": 1, "q": 1,}'),
    ('{"a": 1, }', '{"a": 1, "q": 1, }'),
    ('{"a": 1 /* x */}', '{"a": 1, /* x */ "q": 1}'),
    ('{"a": 1 // x\n}', '{"a": 1, // x\n  "q": 1\n}'),
    ('{"a": 1, // x\n}', '{"a": 1, // x\n  "q": 1,\n}'),
    ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "q": 1\n}'),
    ('{\n  "a": 1,\n}', '{\n  "a": 1,\n  "q": 1,\n}'),
    ('{\n "a": 1\n}', '{\n "a": 1,\n "q": 1\n}'),
    ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"q": 1\n}'),
    ('{\n"a": 1\n}', '{\n"a": 1,\n"q": 1\n}'),
    ('{\n  "a": 1\n\n}', '{\n  "a": 1,\n  "q": 1\n\n}'),
    ('{\n  "a": 1 // x\n}', '{\n  "a": 1, // x\n  "q": 1\n}'),
    ('{\n  "a": 1\n  // x\n}', '{\n  "a": 1,\n  // x\n  "q": 1\n}'),
    ('{\n  "a": 1\n  , // x\n}', '{\n  "a": 1\n  , // x\n  "q": 1,\n}'),
    ('{ "a": 1,\n  "b": 2 }', '{ "a": 1,\n  "b": 2,\n  "q": 1 }'),
    ('{\n  "a": 1, "b": 2\n}', '{\n  "a": 1, "b": 2,\n  "q": 1\n}'),
    ('{\n  "a": [\n    1\n  ]}', '{\n  "a": [\n    1\n  ],\n  "q": 1}'),
    ("/* x */{}// y", '/* x */{\n  "q": 1\n}// y'),
    ("\ufeff{}", '\ufeff{\n  "q": 1\n}'),
]


@each(("text", "after"), ADDED)
def test_a_member_is_added_last_and_removed_without_a_trace(text: str, after: str) -> None:
    assert set_member(text, ["q"], 1) == after
    assert set_member(after, ["q"], 1) == after
    assert remove_member(after, ["q"]) == text


ITEMS = [
    ('{"a": []}', '{"a": ["x"]}'),
    ('{"a": [ ]}', '{"a": [ "x" ]}'),
    ('{\n  "a": []\n}', '{\n  "a": [\n    "x"\n  ]\n}'),
    ('{\n\t"a": [],\n}', '{\n\t"a": [\n\t\t"x"\n\t],\n}'),
    ('{\n  "a": [1]\n}', '{\n  "a": [1, "x"]\n}'),
    ('{\n  "a": [1,2]\n}', '{\n  "a": [1,2,"x"]\n}'),
    ('{\n  "a": [1, ]\n}', '{\n  "a": [1, "x", ]\n}'),
    ('{\n  "a": [\n    1 // one\n  ]\n}', '{\n  "a": [\n    1, // one\n    "x"\n  ]\n}'),
    ('{\n  "a": [\n  ]\n}', '{\n  "a": [\n    "x"\n\n  ]\n}'),
    ('{\n  "a": [ // none\n  ]\n}', '{\n  "a": [ // none\n    "x"\n  ]\n}'),
    ('{"a":["y"]}', '{"a":["y","x"]}'),
]


@pytest.mark.parametrize(("text", "after"), ITEMS)
def test_an_item_is_added_last_and_removed_without_a_trace(text: str, after: str) -> None:
    assert append_item(text, ["a"], "x") == after
    assert remove_items(after, ["a"], lambda item: item == "x") == text


def test_items_are_removed_wherever_they_stand() -> None:
    text = '{\n  "a": [\n    "x", // first\n    1, // one\n    "x",\n    2, "x", 3,\n    "x" // last\n  ]\n}\n'
    after = '{\n  "a": [\n    // first\n    1, // one\n    2, 3\n    // last\n  ]\n}\n'
    assert remove_items(text, ["a"], lambda item: item == "x") == after
    assert remove_items(after, ["a"], lambda item: item == "x") == after


def test_an_array_that_is_the_whole_text() -> None:
    assert append_item("[1]\n", [], 2) == "[1, 2]\n"
    assert remove_items("[1, 2]\n", [], lambda item: item == 2) == "[1]\n"


@each(
    ("text", "after"),
    [
        ('{"a": 1, "q": 2, "b": 3}', '{"a": 1, "b": 3}'),
        ('{"q": 2, "b": 3}', '{ "b": 3}'),
        ('{\n  "q": 2,\n  "b": 3\n}', '{\n  "b": 3\n}'),
        ('{\n  "a": 1,\n  "q": {\n    "x": 1\n  },\n  "b": 3\n}', '{\n  "a": 1,\n  "b": 3\n}'),
        ('{\n  "a": 1, // about a\n  "q": 2, // ours\n  "b": 3\n}', '{\n  "a": 1, // about a\n  // ours\n  "b": 3\n}'),
        ('{\n  "a": 1, // about a\n  "q": 2, "b": 3\n}', '{\n  "a": 1, // about a\n  "b": 3\n}'),
        ('{\n  "a": 1, // about a\n  "q": 2 }', '{\n  "a": 1 // about a\n  }'),
        ('{\n  "a": 1, // a\n  "q": 2 /* ours */ }', '{\n  "a": 1 // a\n  /* ours */ }'),
        ('{\n  "a": 1,\n  "q": 2 // ours\n}', '{\n  "a": 1\n  // ours\n}'),
        ('{\n  "q": 2 // ours\n}', "{\n  // ours\n}"),
        ('{ "q": 2 /* ours */ }', "{ /* ours */ }"),
        ('{\n  "a": 1,\n  // about q\n  "q": 2\n}', '{\n  "a": 1\n  // about q\n}'),
        ('{\n  "a": 1,\n  "q": 2 /* ours */,\n  "b": 3\n}', '{\n  "a": 1,\n   /* ours */\n  "b": 3\n}'),
        ('{"a": 1 /* a */, "q": 2}', '{"a": 1 /* a */}'),
        ('{"a": 1, // a\n"q": 2 \n}', '{"a": 1 // a\n}'),
        ('{\n  "a": 1\n  , "q": 2\n}', '{\n  "a": 1\n  \n}'),
        ('{"q": 2,}', "{}"),
        ('{"q": 2}', "{}"),
        ('{\n  "q": 2\n}', "{}"),
        ('{\n  "q": 2,\n}', "{}"),
    ],
)
def test_a_member_of_anywhere_is_removed_and_comments_stay(text: str, after: str) -> None:
    assert remove_member(text, ["q"]) == after


@pytest.mark.parametrize(
    ("text", "path", "value", "after"),
    [
        ('{"q": 1, "b": 2}', ["q"], 3, '{"q": 3, "b": 2}'),
        ('{"q":1,"b":2}', ["q"], {"x": [1]}, '{"q":{"x":[1]},"b":2}'),
        ('{"q": 1 /* c */, "b": 2}', ["q"], [], '{"q": [] /* c */, "b": 2}'),
        (
            '{\n    "q" /* k */ : {"x": 1}, // c\n    "b": 2\n}',
            ["q"],
            {"y": [2]},
            '{\n    "q" /* k */ : {\n        "y": [\n            2\n        ]\n    }, // c\n    "b": 2\n}',
        ),
        (
            '{\r\n\t"o": {\r\n\t\t"q": 1\r\n\t}\r\n}',
            ["o", "q"],
            [2],
            '{\r\n\t"o": {\r\n\t\t"q": [\r\n\t\t\t2\r\n\t\t]\r\n\t}\r\n}',
        ),
    ],
)
def test_a_value_is_replaced_in_its_place(text: str, path: list[str], value: Any, after: str) -> None:
    assert set_member(text, path, value) == after
    assert set_member(after, path, value) == after


def test_an_equal_value_changes_nothing() -> None:
    text = '{"q": {"b" : [ 1 ,\n2 /* two */ ], "a": "\\u00e4"}}'
    assert set_member(text, ["q"], {"a": "ä", "b": [1, 2]}) is text
    assert set_member('{"q": 1}', ["q"], True) == '{"q": true}'


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}", '{\n  "a": {\n    "b": {\n      "q": 1\n    }\n  }\n}'),
        ("{\n}\n", '{\n  "a": {\n    "b": {\n      "q": 1\n    }\n  }\n}\n'),
        ('{"a": {}}', '{"a": {"b": {"q": 1}}}'),
        (
            '{\n    "a": {},\n    "z": 1\n}',
            '{\n    "a": {\n        "b": {\n            "q": 1\n        }\n    },\n    "z": 1\n}',
        ),
        ('{\n    "a": {"x": 1}\n}', '{\n    "a": {"x": 1, "b": {"q": 1}}\n}'),
        ('{\n\t"a": {\n\t\t"b": {}\n\t}\n}', '{\n\t"a": {\n\t\t"b": {\n\t\t\t"q": 1\n\t\t}\n\t}\n}'),
    ],
)
def test_objects_on_the_way_are_made(text: str, after: str) -> None:
    assert set_member(text, ["a", "b", "q"], 1) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", '{\n  "a": {\n    "q": 1\n  }\n}\n'),
        (" \n\n", '{\n  "a": {\n    "q": 1\n  }\n}\n'),
        ("\r\n", '{\r\n  "a": {\r\n    "q": 1\r\n  }\r\n}\r\n'),
        ("\ufeff", '\ufeff{\n  "a": {\n    "q": 1\n  }\n}\n'),
    ],
)
def test_an_empty_text_counts_as_an_empty_object(text: str, after: str) -> None:
    assert set_member(text, ["a", "q"], 1) == after
    assert remove_member(text, ["a", "q"]) == text
    assert remove_items(text, ["a"], lambda _: True) == text
    assert append_item(text, ["a", "q"], 1) == set_member(text, ["a", "q"], [1])


@pytest.mark.parametrize("path", [["x"], ["a", "x"], ["a", "b", "c"], ["list", "0"], []])
def test_what_is_not_there_is_removed_by_doing_nothing(path: list[str]) -> None:
    text = '{"a": {"b": 1}, "list": [1],}'
    assert remove_member(text, path) == text
    assert remove_items(text, path, lambda _: True) == text


def test_strings_are_written_as_text_and_what_is_none_is_escaped() -> None:
    assert set_member("{ }", ['größe "x"\n'], "日本 \ud800") == '{ "größe \\"x\\"\\n": "\\u65e5\\u672c \\ud800" }'
    assert set_member("{ }", ["q"], "日本") == '{ "q": "日本" }'


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("[]", ["q"], "The top level is not an object, line 1, column 1."),
        ('{\n  "a": 1\n}', ["a", "q"], "`a` is not an object, line 2, column 8."),
        ('{"a": {"b": []}}', ["a", "b", "q"], "`a.b` is not an object, line 1, column 13."),
        ('{"a": 1', ["q"], "A comma or `}` was expected, but the text ends, line 1, column 8."),
        ("// nothing\n", ["q"], "A value was expected, but the text ends, line 2, column 1."),
        ("{}", [], "A path has at least one key."),
    ],
)
def test_what_cannot_be_set_is_refused(text: str, path: list[str], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        set_member(text, path, 1)
    assert str(raised.value) == message


def test_what_is_no_array_gets_no_items() -> None:
    with pytest.raises(ValueError, match=r"^`a` is not an array, line 1, column 7\.$"):
        append_item('{"a": {}}', ["a"], 1)
    assert remove_items('{"a": {"x": 1}}', ["a"], lambda _: True) == '{"a": {"x": 1}}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, {("a",): 1}])
def test_a_value_that_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^The value cannot be written as JSON"):
        set_member("{}", ["q"], value)


def test_one_text_is_no_path() -> None:
    with pytest.raises(TypeError):
        set_member("{}", "abc", 1)


def test_a_value_too_deep_to_be_read_again_is_not_written() -> None:
    deep: Any = 1
    for _ in range(64):
        deep = [deep]
    with pytest.raises(ValueError, match="cannot be edited safely"):
        set_member("{}", ["q"], deep)


# -- any text ------------------------------------------------------------------------------------

GAPS = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\r\n\t", "\n\n    ", "// x, }\n", ' // "y": 1\r\n  ', "/* z */", " /*{*/ "]
)
KEYS = st.sampled_from(["a", "b", "c d", "ä", ""])
PLAIN = st.sampled_from(["1", "-2.5", "true", "null", '"s"', '"// no"', '"}"', '"/*"'])


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> str:
    """A value of somebody else, with anything that may stand between its pieces."""
    kind = draw(st.sampled_from(["plain", "object", "object", "array"])) if depth else "plain"
    if kind == "plain":
        return draw(PLAIN)
    return draw(objects(depth)) if kind == "object" else draw(arrays(depth))


@st.composite
def objects(draw: st.DrawFn, depth: int = 3) -> str:
    keys = draw(st.lists(KEYS, max_size=3, unique=True))
    parts = [f'"{key}"{draw(GAPS)}:{draw(GAPS)}{draw(texts(depth - 1))}' for key in keys]
    return "{" + draw(joined(parts)) + "}"


@st.composite
def arrays(draw: st.DrawFn, depth: int = 3) -> str:
    return "[" + draw(joined(draw(st.lists(texts(depth - 1), max_size=3)))) + "]"


@st.composite
def joined(draw: st.DrawFn, parts: list[str]) -> str:
    text = draw(GAPS)
    for index, part in enumerate(parts):
        comma = "," if index < len(parts) - 1 or draw(st.booleans()) else ""
        text += part + draw(GAPS) + comma + draw(GAPS)
    return text


@st.composite
def documents(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(["", "\ufeff"])) + draw(GAPS) + draw(objects()) + draw(GAPS)


NEW = st.sampled_from([1, [], {}, "x", [1, {"k": []}], {"k": {"l": 2}, "m": None}])


def paths(data: Any, kind: type, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all objects or arrays that can be reached by keys alone."""
    if isinstance(data, kind):
        yield above
    if isinstance(data, dict):
        for key, value in data.items():
            yield from paths(value, kind, (*above, key))


def comments(text: str) -> list[str]:
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', text, re.S)
    return [token for token in tokens if token.startswith("/")]


def is_within(small: str, large: str) -> bool:
    """Whether all characters of the one are in the other, in their order."""
    rest = iter(large)
    return all(char in rest for char in small)


@given(documents(), st.data())
@example("{\n}", None)
def test_a_new_member_leaves_all_else_and_goes_without_a_trace(text: str, data: Any) -> None:
    holders = list(paths(read_jsonc(text), dict))
    path = (*(data.draw(st.sampled_from(holders)) if data else ()), "new key")
    value = data.draw(NEW) if data else {}
    after = set_member(text, path, value)
    assert is_within(text, after)
    assert comments(after) == comments(text)
    assert set_member(after, path, value) == after
    assert remove_member(after, path) == text
    # A second one beside it goes alike, whichever goes first.
    other = (*path[:-1], "other")
    both = set_member(after, other, value)
    assert remove_member(remove_member(both, other), path) == text


@given(documents(), NEW, st.data())
def test_a_new_item_leaves_all_else_and_goes_without_a_trace(text: str, value: Any, data: Any) -> None:
    found = list(paths(read_jsonc(text), list))
    assume(found)
    path = data.draw(st.sampled_from(found))
    item = {"ours": value}
    after = append_item(text, path, item)
    assert is_within(text, after)
    assert comments(after) == comments(text)
    both = append_item(after, path, item)
    assert remove_items(after, path, lambda found: found == item) == text
    assert remove_items(both, path, lambda found: found == item) == text


@given(documents(), st.lists(KEYS, min_size=1, max_size=4), NEW)
def test_whatever_path_is_set_reads_back_and_keeps_the_rest(text: str, path: list[str], value: Any) -> None:
    before = read_jsonc(text)
    holder: Any = before
    for key in path[:-1]:
        holder = holder.get(key, {}) if isinstance(holder, dict) else None
    if not isinstance(holder, dict):
        with pytest.raises(ValueError, match="is not an object"):
            set_member(text, path, value)
        return
    after = set_member(text, path, value)
    found = read_jsonc(after)
    for key in path:
        found = found[key]
    assert same(found, value)
    rest = read_jsonc(remove_member(after, path[:1]))
    assert same(rest, {key: inner for key, inner in before.items() if key != path[0]})
    assert set_member(after, path, value) == after


@given(documents(), st.data())
def test_whatever_is_removed_the_rest_and_its_comments_stay(text: str, data: Any) -> None:
    found = [path for kind in (dict, list, int, float, str, bool, type(None)) for path in paths(read_jsonc(text), kind)]
    path = data.draw(st.sampled_from(found))
    assume(path)
    after = remove_member(text, path)
    assert is_within(after, text)
    assert remove_member(after, path) == after
    holder = read_jsonc(after)
    for key in path[:-1]:
        holder = holder[key]
    assert path[-1] not in holder
    # Only comments within the member are gone.
    node, part = parse(text), None
    for key in path:
        part = next(part for part in node.parts if part.key == key)
        node = part.node
    assert part
    assert sorted(comments(after) + comments(text[part.begin : node.end])) == sorted(comments(text))


@given(documents(), st.data())
def test_all_items_of_an_array_can_be_removed(text: str, data: Any) -> None:
    found = list(paths(read_jsonc(text), list))
    assume(found)
    path = data.draw(st.sampled_from(found))
    removed: Any = read_jsonc(remove_items(text, path, lambda _: True))
    for key in path:
        removed = removed[key]
    assert removed == []
