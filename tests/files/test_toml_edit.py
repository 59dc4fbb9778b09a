"""A table comes and goes in TOML files of other people; all else stays, and what cannot be done safely is refused."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cases import each
from quire.files.toml_edit import (
    remove_table,
    set_table,
)
from quire.files.toml_scanner import (
    read_toml,
)

NAMES = ("mcp_servers", "quire")
FIELDS = {"command": "memory-mcp", "args": ["--toolset", "all"]}
BLOCK = '[mcp_servers.quire]\ncommand = "memory-mcp"\nargs = ["--toolset", "all"]\n'

CODEX = '''\
# Codex of the team
model = "gpt-5-codex"   # the one we pay for
approval_policy = "on-request"
notify = [
  "python3", # [not.a.header]
  "/opt/notify.py",
]
instructions = """
Be brief.
[mcp_servers.quire]
command = "this is text"
\\"""not the end\\"""
"""

[profiles.fast]
model = "o4-mini"

[profiles."very slow"]
model = 'C:\\models\\['

[[hooks.stop]]
run = "a"

[[hooks.stop]]
run = "b"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]
env = { TOKEN = "very-secret" } # [x]

# the projects we trust
[projects."/home/me/work"]
trust_level = "trusted"
'''


@each(
    ("text", "after"),
    [
        ("", BLOCK),
        ("\ufeff", "\ufeff" + BLOCK),
        ("\n", "\n\n" + BLOCK),
        ("\n\n", "\n\n\n" + BLOCK),
        ("  ", "  \n\n" + BLOCK[:-1]),
        ("# only a comment", "# only a comment\n\n" + BLOCK[:-1]),
        ('model = "o3"', 'model = "o3"\n\n' + BLOCK[:-1]),
        ('model = "o3"\n', 'model = "o3"\n\n' + BLOCK),
        ('model = "o3"\n\n\n', 'model = "o3"\n\n\n\n' + BLOCK),
        ('\ufeffmodel = "o3"\n', '\ufeffmodel = "o3"\n\n' + BLOCK),
        ('model = "o3"\r\n', ('model = "o3"\n\n' + BLOCK).replace("\n", "\r\n")),
        ('model = "o3"\r\nx = 1\r\ny = 2', ('model = "o3"\nx = 1\ny = 2\n\n' + BLOCK[:-1]).replace("\n", "\r\n")),
        ("x = 1\n[mcp_servers]\n", "x = 1\n[mcp_servers]\n\n" + BLOCK),
        ("[mcp_servers.other]\nx = 1\n# end\n", "[mcp_servers.other]\nx = 1\n# end\n\n" + BLOCK),
        ("mcp_servers.other.command = 'x'\n", "mcp_servers.other.command = 'x'\n\n" + BLOCK),
        (CODEX, CODEX + "\n" + BLOCK),
        (CODEX.replace("\n", "\r\n"), (CODEX + "\n" + BLOCK).replace("\n", "\r\n")),
    ],
)
def test_a_table_is_added_at_the_end_and_removed_without_a_trace(text: str, after: str) -> None:
    assert set_table(text, NAMES, FIELDS) == after
    assert set_table(after, NAMES, FIELDS) == after
    assert remove_table(after, NAMES) == text
    assert remove_table(text, NAMES) == text


def test_what_follows_the_table_stays() -> None:
    text = set_table(CODEX, NAMES, FIELDS)
    later = "\n# about the next one\n\n[tui]\nnotifications = true\n"
    assert remove_table(text + later, NAMES) == CODEX + later


def test_tables_below_it_go_with_it_wherever_they_stand() -> None:
    text = (
        "x = 1\n\n"
        + BLOCK
        + '\n[mcp_servers.quire.env]\nA = """\n[tui]\n"""\n\n'
        + "[tui]\ny = 2\n\n[[mcp_servers.quire.tools]]\nname = 'a'\n# about the end\n\n[end]\n"
    )
    assert remove_table(text, NAMES) == "x = 1\n\n[tui]\ny = 2\n# about the end\n\n[end]\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("[mcp_servers.quire]\n[tui]\n", "[tui]\n"),
        ("a = 1\n[mcp_servers.quire]\n# kept\n", "a = 1\n# kept\n"),
        (
            "a = 1\n[ mcp_servers . \"quire\" ] # ours\ncommand = 'x' # ours\n# not ours\n[tui]\n",
            "a = 1\n# not ours\n[tui]\n",
        ),
        ("  ['mcp_servers'.quire]\n  a = [\n 1, # ]\n [ 2 ] ]\n  [tui]\n", "  [tui]\n"),
        (
            '[mcp_servers]\nquire = { command = "x" }\nother = { command = "y" }\n',
            '[mcp_servers]\nother = { command = "y" }\n',
        ),
        ('mcp_servers.quire.command = "x"\nmcp_servers.quire.args = []\ny = 1\n', "y = 1\n"),
        ('[mcp_servers]\nquire.command = "x" # ours\n# kept\nz = 1\n', "[mcp_servers]\n# kept\nz = 1\n"),
        ("[mcp_servers.quire.env]\nA = '1'\n", ""),
        ("[mcp_servers.quire]\nx = 1\r\n\r\n[tui]\r\n", "\r\n[tui]\r\n"),
    ],
)
def test_a_table_in_other_hands_is_removed_too(text: str, after: str) -> None:
    assert remove_table(text, NAMES) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("[mcp_servers.quire]\n", BLOCK),
        ("[mcp_servers.quire]", BLOCK[:-1]),
        (
            '[mcp_servers.quire] # ours\ncommand = "old" # why\nextra = 1\n\n[tui]\n',
            '[mcp_servers.quire] # ours\ncommand = "memory-mcp" # why\nextra = 1\n'
            'args = ["--toolset", "all"]\n\n[tui]\n',
        ),
        (
            '[mcp_servers."quire"]\r\n  args = [\r\n    "a", # b\r\n  ] # c\r\n# end\r\n',
            '[mcp_servers."quire"]\r\n  args = ["--toolset", "all"] # c\r\n  command = "memory-mcp"\r\n# end\r\n',
        ),
        (
            "[mcp_servers.quire]\nextra = '''\n[x]\ncommand = 1'''''\n[mcp_servers.quire.env]\nA = '1'\n",
            "[mcp_servers.quire]\nextra = '''\n[x]\ncommand = 1'''''\n"
            'command = "memory-mcp"\nargs = ["--toolset", "all"]\n[mcp_servers.quire.env]\nA = \'1\'\n',
        ),
        (
            '[mcp_servers.quire]\n"command"="x"\nargs=["--toolset", "all"]',
            '[mcp_servers.quire]\n"command"="memory-mcp"\nargs=["--toolset", "all"]',
        ),
        ("[mcp_servers.quire.env]\nA = '1'\n", "[mcp_servers.quire.env]\nA = '1'\n\n" + BLOCK),
    ],
)
def test_of_a_table_that_is_there_only_the_given_keys_change(text: str, after: str) -> None:
    assert set_table(text, NAMES, FIELDS) == after
    assert set_table(after, NAMES, FIELDS) == after


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { quire = { command = "memory-mcp", args = ["--toolset", "all"], more = 1 } }\n',
        '[mcp_servers]\nquire = { args = ["--toolset", "all"], command = "memory-mcp" }\n',
        'mcp_servers.quire.command = "memory-mcp"\nmcp_servers.quire.args = ["--toolset", \'all\']\n',
    ],
)
def test_a_table_that_says_the_same_in_another_way_stays(text: str) -> None:
    assert set_table(text, NAMES, FIELDS) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'mcp_servers = { quire = { command = "x" } }\n',
            "`mcp_servers.quire` is not written as a table with a header",
        ),
        ('[mcp_servers]\nquire = { command = "x" }\n', "`mcp_servers.quire` is not written as a table with a header"),
        ('mcp_servers.quire.command = "x"\n', "`mcp_servers.quire` is not written as a table with a header"),
        ("mcp_servers = { other = {} }\n", "`mcp_servers.quire` cannot be changed in the way this text is written"),
        ("mcp_servers = 1\n", "`mcp_servers` is not a table"),
        ("[[mcp_servers]]\nname = 'x'\n", "`mcp_servers` is not a table"),
        ("[[mcp_servers]]\n[mcp_servers.quire]\nname = 'x'\n", "`mcp_servers` is not a table"),
        ("[[mcp_servers.quire]]\nname = 'x'\n", "`mcp_servers.quire` is not a table"),
        ("mcp_servers.quire = 1\n", "`mcp_servers.quire` is not a table"),
        ("[mcp_servers.quire]\ncommand.x = 1\n", "`mcp_servers.quire.command` is not written as one line"),
        (
            "[mcp_servers.quire]\n[mcp_servers.quire.command]\n",
            "`mcp_servers.quire.command` is not written as one line",
        ),
    ],
)
def test_what_cannot_be_done_safely_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        set_table(text, NAMES, FIELDS)
    assert str(raised.value).startswith(message)
    assert str(raised.value).endswith(": change it by hand.")


def test_a_table_inside_a_line_of_others_is_not_removed() -> None:
    text = 'mcp_servers = { quire = { command = "x" }, other = { command = "y" } }\n'
    with pytest.raises(ValueError, match=r"^`mcp_servers\.quire` cannot be changed"):
        remove_table(text, NAMES)
    arrays = "[[mcp_servers]]\n[mcp_servers.quire]\nname = 'x'\n"
    assert remove_table(arrays, NAMES) == arrays


@pytest.mark.parametrize(
    "text", ["a = ", "a = 1\na = 2\n", "[a]\n[a]\n", "a = 1 b = 2", "x = [" * 2000, "\ufeff\ufeff"]
)
def test_what_is_not_toml_is_refused(text: str) -> None:
    for call in (read_toml, lambda text: set_table(text, NAMES, FIELDS), lambda text: remove_table(text, NAMES)):
        with pytest.raises(ValueError):
            call(text)


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^It is nested deeper than 64 levels\.$"):
        read_toml("a = " + "[" * 80 + "]" * 80)
    with pytest.raises(ValueError, match=r"^It is nested deeper than 64 levels\.$"):
        read_toml("a = " + "[" * 100_000)


@pytest.mark.parametrize("value", [None, object(), float("nan"), float("inf"), "\ud800", {"a": None}, [None]])
def test_what_cannot_be_written_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="cannot be written as TOML"):
        set_table("", NAMES, {"x": value})


def test_a_table_has_a_name() -> None:
    with pytest.raises(ValueError, match="at least one name"):
        set_table("", (), FIELDS)
    assert remove_table("a = 1\n", ()) == "a = 1\n"


def test_names_are_quoted_where_they_must_be() -> None:
    text = set_table("", ("a b", "c.d", 'e"', "f-1"), {"x y": 1, "ä": True, "z": {}, "t": (1, 2.5)})
    assert text == '["a b"."c.d"."e\\"".f-1]\n"x y" = 1\n"ä" = true\nz = {}\nt = [1, 2.5]\n'
    assert remove_table(text, ("a b", "c.d", 'e"', "f-1")) == ""


# -- any text ------------------------------------------------------------------------------------

NAME = st.text(max_size=6) | st.sampled_from(["a", "b", "mcp_servers", "quire"])
SIMPLE = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3), max_leaves=6
)

LINES = [
    "",
    "# comment",
    "  # [mcp_servers.quire]",
    '{k} = "text # [x]"',
    "{k} = '''\n[mcp_servers.quire]\n'' '''''",
    '{k} = """\n[mcp_servers.quire]\n\\"""\n""" # end',
    "{k} = [ # one\n  [1],\n  2, # ]\n]",
    "{k} = {{ a = [ 1, 2 ], b = '}}' }} # end",
    '"{k} q" = 2024-01-02 03:04:05Z  ',
    "  {k}.x.'y' = 1",
    "[{k}]",
    "[ mcp_servers . {k} ] # header",
    '["{k}".sub]',
    "[[{k}]]",
    "[mcp_servers]",
]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A valid TOML text of somebody else: any statements, any line ends, with or without a final one."""
    text = ""
    for at, line in enumerate(draw(st.lists(st.sampled_from(LINES), max_size=9))):
        added = text + line.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).format(k=f"k{at % 7}")
        try:
            tomllib.loads(added)
        except tomllib.TOMLDecodeError:
            continue
        text = added + draw(st.sampled_from(["\n", "\n", "\r\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return draw(st.sampled_from(["", "", "\ufeff"])) + text


@given(documents(), st.dictionaries(NAME, VALUES, max_size=4))
def test_any_table_is_added_and_removed_without_a_trace(text: str, fields: dict[str, Any]) -> None:
    assume("quire" not in read_toml(text).get("mcp_servers", {}))
    after = set_table(text, NAMES, fields)
    assert after.startswith(text)
    assert set_table(after, NAMES, fields) == after
    assert remove_table(after, NAMES) == text
    # The same with what others add behind it.
    theirs = "\n# theirs\n[zz.y]\nx = 1\n"
    if after.endswith("\n"):
        assert remove_table(after + theirs, NAMES) == text + theirs
    else:
        assert remove_table(after + "\n" + theirs, NAMES) in (text + "\n" + theirs, text + "\r\n" + theirs)


@given(
    documents(),
    st.sampled_from(["k0", "k1", "k2", "k3", "mcp_servers"]),
    st.none() | st.sampled_from(["k3", "sub", "x"]),
)
def test_whatever_is_removed_all_else_reads_as_before(text: str, first: str, second: str | None) -> None:
    names = (first, second) if second else (first,)
    before = read_toml(text)
    after = remove_table(text, names)
    found: Any = read_toml(after)
    assert all(found[key] == value for key, value in before.items() if key != first)
    assert remove_table(after, names) == after
    holder = found.get(first, {}) if second else found
    assert not isinstance(holder, dict) or names[-1] not in holder


@given(
    documents(),
    st.sampled_from(["k1", "k2", "k3"]),
    st.dictionaries(st.sampled_from(["k2", "k3", "n"]), VALUES, max_size=2),
)
def test_whatever_is_set_reads_back_or_is_refused(text: str, name: str, fields: dict[str, Any]) -> None:
    before = read_toml(text)
    try:
        after = set_table(text, (name,), fields)
    except ValueError:
        assert name in before
        return
    found = read_toml(after)
    assert {key: value for key, value in found.items() if key != name} == {
        key: value for key, value in before.items() if key != name
    }
    assert found.get(name, {}) == {**before.get(name, {}), **fields}
    assert set_table(after, (name,), fields) == after
