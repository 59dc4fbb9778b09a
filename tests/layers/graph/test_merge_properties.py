"""What must hold for every merge of nodes and texts: the order of branches and sides makes no difference."""

from __future__ import annotations

import copy
import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.thorough import examples

from quire.files.json_files import decode_object, pretty
from quire.layers.graph.merge import merge_file
from quire.layers.graph.merge_body import contested_blocks, merge_bodies, readings

NODE = ".memory/memory/retry-queue.json"
BASE: dict[str, Any] = {
    "id": "feature.retry-queue",
    "type": "feature",
    "status": "active",
    "title": "Retry queue",
    "stage": "idea",
    "tags": ["a", "b"],
    "anchors": ["src/x.py"],
    "evidence": [],
    "body_path": "memory/retry-queue.md",
    "content_hash": "sha256:" + "1" * 64,
    "created_at": "2026-01-01T00:00:00+00:00",
    "updated_at": "2026-01-01T00:00:00+00:00",
    "origin": {"kind": "user", "locator": "desk"},
}
VALUES: dict[str, list[Any]] = {
    "title": ["Retry queue", "Queue of retries", "Queue"],
    "stage": ["building", "shipped", None],
    "status": ["active", "stale", "superseded"],
    "superseded_by": ["feature.a", "feature.b"],
    "tags": [["a"], ["b", "c"], [], ["a", "b", "d"], ["e", "a", "b"]],
    "updated_at": ["2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00"],
    "content_hash": ["sha256:" + digit * 64 for digit in "234"],
    "origin": [None, {"kind": "user", "locator": "mail"}],
    "novel": [1, {"x": 1}, None, ["y"]],
}
EDITS = st.lists(
    st.sampled_from(sorted(VALUES)).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(VALUES[name]))),
    max_size=4,
)
BRANCHES = st.lists(st.none() | EDITS, min_size=2, max_size=4)
"""What each branch did to the node; None where it deleted it."""

WORDS = ("alpha", "bravo", "carol", "delta", "early")
PARAGRAPHS = [f"Of {word} we know that {word} holds {word[::-1]} in {word} {word}." for word in WORDS]
_DROPPED = 1
"""Of two neighbours, one removed and one written anew, a text does not tell which is which."""
CHANGES = st.lists(
    st.tuples(st.sampled_from(["edit", "drop", "end"]), st.integers(0, 4), st.integers(0, 3)), max_size=3
)


def edited(edits: list[tuple[str, Any]]) -> dict[str, Any]:
    node = copy.deepcopy(BASE) | dict(edits)
    return {name: value for name, value in node.items() if value is not None}


def merged(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    found = merge_file(NODE, base, ours, theirs)
    assert found is not None
    assert found == merge_file(NODE, base, theirs, ours)
    return found.data


@settings(max_examples=examples(500))
@given(BRANCHES)
def test_nodes_are_merged_alike_in_all_orders(branches: list[list[tuple[str, Any]] | None]) -> None:
    base = pretty(BASE)
    sides = [None if edits is None else pretty(edited(edits)) for edits in branches]
    results = set()
    for order in itertools.permutations(sides):
        found = order[0]
        for side in order[1:]:
            whole = merged(base, found, side)
            assert merged(base, whole, whole) == whole
            assert merged(found, whole, found) == whole
            found = whole
        results.add(found)
    assert len(results) == 1


@settings(max_examples=examples(500))
@given(EDITS, EDITS)
def test_what_is_contested_was_changed_by_both(one: list[tuple[str, Any]], other: list[tuple[str, Any]]) -> None:
    ours, theirs = edited(one), edited(other)
    found = merge_file(NODE, pretty(BASE), pretty(ours), pretty(theirs))
    assert found is not None
    assert found.data is not None
    fields = decode_object(found.data)
    for field in found.contested:
        versions = [side.get(field.field) for side in (BASE, ours, theirs)]
        assert all(versions.count(value) == 1 for value in versions)
        assert set(map(repr, field.values)) == set(map(repr, versions[1:]))
        assert fields.get(field.field) == field.values[-1]
    for name in fields.keys() - {"contested", "content_hash", "evidence", *(f.field for f in found.contested)}:
        if ours.get(name) == BASE.get(name) or theirs.get(name) == BASE.get(name):
            wanted = theirs if ours.get(name) == BASE.get(name) else ours
            assert fields[name] == wanted.get(name)


def text_of(branch: int, changes: list[tuple[str, int, int]]) -> str:
    paragraphs = list(PARAGRAPHS)
    for how, place, number in changes:
        if how == "edit" and abs(place - _DROPPED) != 1 and paragraphs[place]:
            paragraphs[place] = PARAGRAPHS[place].replace("holds", ("keeps", "bears", "lacks", "gives")[number])
        elif how == "drop":
            paragraphs[_DROPPED] = ""
        elif how == "end":
            paragraphs.append(f"Branch {branch} wrote words of {number} at the end.")
    return "\n\n".join(filter(None, paragraphs)) + "\n"


@settings(max_examples=examples(500))
@given(st.lists(CHANGES, min_size=2, max_size=4))
def test_texts_are_merged_alike_in_all_orders(branches: list[list[tuple[str, int, int]]]) -> None:
    base = "\n\n".join(PARAGRAPHS) + "\n"
    sides = [text_of(number, changes) for number, changes in enumerate(branches)]
    results = set()
    for order in itertools.permutations(sides):
        found = order[0]
        for side in order[1:]:
            whole = merge_bodies(base, found, side)
            assert whole == merge_bodies(base, side, found)
            assert merge_bodies(base, whole, side) == whole
            found = whole
        results.add(found)
    assert len(results) == 1
    whole = results.pop()
    for side in sides:
        assert all(paragraph in whole for paragraph in side.split("\n\n") if paragraph.strip() not in PARAGRAPHS)
    assert bool(contested_blocks(whole)) == bool(readings(whole))
