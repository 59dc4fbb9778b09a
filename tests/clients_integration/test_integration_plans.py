"""Plans for single files, for any file that people may have: there and back, also with their changes in between."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.clients.integration.catalogue import parts_of
from quire.clients.integration.diffs import unified
from quire.clients.integration.file_plan import FilePlan, plan_install, plan_remove
from quire.clients.integration.manifest import Manifest, make_manifest
from quire.clients.integration.types import Part, Surroundings

AROUND = Surroundings(root="/nowhere/project", home="/nowhere/home", env={})
PARTS = {
    name: [
        part
        for client in ("claude", "cursor", "gemini", "opencode")
        for part in parts_of(client, "project", AROUND)
        if part.shown == name
    ]
    for name in (".mcp.json", ".claude/settings.json", ".cursor/hooks.json", ".gemini/settings.json", "opencode.json")
}
WORDS = st.text('abcdef "\\é/', max_size=6)
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | WORDS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3))
GROUPS = st.lists(st.fixed_dictionaries({"hooks": st.just([{"type": "command", "command": "./x"}])}), max_size=2)
OBJECTS = st.builds(
    lambda more, servers, hooks, first: dict(sorted({**more, **servers, **hooks}.items(), reverse=first)),
    st.dictionaries(WORDS, VALUES, max_size=3),
    st.fixed_dictionaries({}, optional={"mcpServers": st.dictionaries(WORDS, VALUES, max_size=2)}),
    st.fixed_dictionaries(
        {}, optional={"hooks": st.fixed_dictionaries({}, optional={"Stop": GROUPS, "SessionStart": GROUPS})}
    ),
    st.booleans(),
)
STYLES = st.tuples(
    st.sampled_from([None, 1, 2, 4, "\t"]), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans()
)


def written(value: Any, style: tuple[Any, str, bool, bool]) -> bytes:
    indent, newline, ends, marked = style
    text = json.dumps(value, indent=indent, ensure_ascii=False) + ("\n" if ends else "")
    return (("\ufeff" if marked else "") + text.replace("\n", newline)).encode()


def recorded(plan: FilePlan, part: Part) -> Manifest:
    assert plan.after is not None
    made = make_manifest(part.shown, "project", (part.client,), plan.base, plan.after)
    return msgspec.structs.replace(made, made=tuple(sorted(plan.made)))


@given(st.sampled_from(sorted(PARTS)), OBJECTS, STYLES)
def test_any_file_is_wired_once_and_comes_back(name: str, value: Any, style: Any) -> None:
    parts = PARTS[name]
    before = written(value, style)
    plan = plan_install(before, None, parts)
    assert plan.base == before
    assert plan.after is not None
    assert all(part.look(plan.after).state == "present" for part in parts)
    again = plan_install(plan.after, recorded(plan, parts[0]), parts)
    assert (again.after, again.base) == (plan.after, before)
    back = plan_remove(plan.after, recorded(plan, parts[0]), parts, [])
    assert back is not None
    assert back.after == before


@pytest.mark.proof
@given(st.sampled_from(sorted(PARTS)), OBJECTS, STYLES, st.sampled_from(["zz", "yy"]))
def test_what_the_user_adds_later_stays_as_it_is(name: str, value: Any, style: Any, key: str) -> None:
    parts = PARTS[name]
    # A file with hooks has a version: without it Cursor does not read it.
    value = {"first": 1, "version": 1, **value}
    before = written(value, style)
    plan = plan_install(before, None, parts)
    assert plan.after is not None

    def edited(data: bytes) -> bytes:
        return data.replace(b'"first"', f'/* mine */ "{key}": [1, 2], "first"'.encode(), 1)

    manifest = recorded(plan, parts[0])
    again = plan_install(edited(plan.after), manifest, parts)
    assert again.after == edited(plan.after)
    for known in (manifest, recorded(again, parts[0])):
        back = plan_remove(edited(plan.after), known, parts, [])
        assert back is not None
        assert back.after == edited(before)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_a_difference_shows_every_line_that_differs(before: bytes, after: bytes) -> None:
    said = unified(before, after, "x")
    assert (said == "") is (before == after)
    assert not said or said.startswith("--- a/x\n+++ b/x\n")


def test_a_difference_hides_the_lines_that_hold_secrets() -> None:
    key = "ghp_" + "a8Zk3LmP0qRsT7uVwXyB1cD2eF4gH5iJ6kL9"
    before = f'{{\n  "env": {{"GITHUB_TOKEN": "{key}"}},\n  "a": 1\n}}\n'.encode()
    said = unified(before, before.replace(b'"a": 1', b'"a": 2'), "x.json")
    assert said == (
        '--- a/x.json\n+++ b/x.json\n@@ -1,4 +1,4 @@\n {\n (a line that holds a secret)\n-  "a": 1\n+  "a": 2\n }\n'
    )
