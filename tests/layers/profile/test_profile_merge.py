"""What must hold for every merge of profile documents: whichever side is ours, whichever branch comes first."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.files.json_files import pretty
from quire.layers.profile.document import parse_document
from quire.layers.profile.merge import merge_profile, settled_profile
from quire.model.contested import Choice
from quire.model.errors import InvalidStore
from thorough import examples

TIMES = st.sampled_from(["2026-02-09T14:00:00Z", "2026-02-09T15:00:00+01:00", "2026-02-11T00:00:00Z"])
KEYS = st.sampled_from(["pager", "editor", "shell"])
LINKS = st.builds(lambda key: {"target": f"tools.{key}", "relation": "related-to"}, KEYS)
ENTRIES = st.fixed_dictionaries(
    {"value": st.sampled_from(["one", "two", "three"]), "links": st.lists(LINKS, max_size=2, unique_by=str)},
    optional={
        "created_at": TIMES,
        "updated_at": TIMES,
        "tags": st.lists(st.sampled_from("pqr"), unique=True),
        "source": st.sampled_from([{"type": "session", "detail": None}, {"type": "user", "detail": "x"}]),
        "novel": st.sampled_from([1, "1", {"a": 1}]),
    },
)
DOCUMENTS = st.builds(
    lambda memories, count: {"schema_version": "1.2", "session_count": count, "memories": memories},
    st.fixed_dictionaries({"tools": st.dictionaries(KEYS, ENTRIES)}, optional={"user": st.dictionaries(KEYS, ENTRIES)}),
    st.integers(0, 4),
)


def in_every_order(base: bytes | None, sides: Sequence[bytes]) -> dict[str, Any]:
    results = set()
    for order in itertools.islice(itertools.permutations(sides), 12):
        found = order[0]
        for side in order[1:]:
            found = merge_profile(base, found, side).data or b""
        results.add(found)
    assert len(results) == 1
    (found,) = results
    assert merge_profile(base, found, found).data == found
    assert len(list(parse_document(found, "merged").read())) >= 0
    value: dict[str, Any] = json.loads(found)
    return value


@settings(max_examples=examples(300))
@given(DOCUMENTS, st.lists(DOCUMENTS, min_size=2, max_size=3))
def test_documents_are_merged_alike_in_every_order(base: Any, sides: list[Any]) -> None:
    found = in_every_order(pretty(base), [pretty(side) for side in sides])
    known = base["memories"].get("tools", {})
    for side in sides:
        for key, entry in side["memories"]["tools"].items():
            if key not in known:
                assert key in found["memories"]["tools"]
            assert key not in found["memories"]["tools"] or found["memories"]["tools"][key]["value"]
            held = found["memories"]["tools"].get(key)
            if held is not None and entry["value"] != known.get(key, {}).get("value"):
                values = held.get("contested", {}).get("value", [held["value"]])
                assert entry["value"] in values


def document(**tools: Any) -> bytes:
    entries = {key: {"value": value, "links": []} if isinstance(value, str) else value for key, value in tools.items()}
    return pretty({"schema_version": "1.2", "session_count": 1, "memories": {"tools": entries}})


def test_entries_of_both_are_kept_and_one_value_is_contested() -> None:
    base = document(pager="less", old="x")
    found = merge_profile(base, document(pager="more", editor="vim"), document(pager="most", old="x", shell="fish"))
    entries = json.loads(found.data or b"")["memories"]["tools"]
    assert list(entries) == ["pager", "editor", "shell"]
    (field,) = found.contested
    assert (field.ref, field.field, field.values) == ("profile:tools.pager", "value", ("more", "most"))
    settled = settled_profile(found.data or b"", [Choice(ref=field.ref, field="value", value="more")])
    entries = json.loads(settled)["memories"]["tools"]
    assert entries["pager"]["value"] == "more"
    assert "contested" not in entries["pager"]


def test_what_one_forgot_and_the_other_changed_stays_contested() -> None:
    base = document(pager="less", editor="vim")
    found = merge_profile(base, document(editor="vim"), document(pager="more", editor="vim"))
    assert [(one.ref, one.field) for one in found.contested] == [("profile:tools.pager", "record")]
    gone = settled_profile(found.data or b"", [Choice(ref="profile:tools.pager", field="record", value=None)])
    assert list(json.loads(gone)["memories"]["tools"]) == ["editor"]
    read = document(pager={"value": "less", "links": [], "access_count": 3}, editor="vim")
    assert merge_profile(base, document(editor="vim"), read).data == document(editor="vim")


def test_links_are_merged_and_so_are_first_entries() -> None:
    link = [{"target": "tools.pager", "relation": "related-to"}]
    base = document(pager="less", editor={"value": "vim", "links": link})
    ours = document(editor={"value": "vim", "links": []})
    theirs = document(pager="less", editor={"value": "vim", "links": link}, shell={"value": "fish", "links": link})
    entries = json.loads(merge_profile(base, ours, theirs).data or b"")["memories"]["tools"]
    assert {key: entry["links"] for key, entry in entries.items()} == {"editor": [], "shell": link}
    first = json.loads(merge_profile(None, document(pager="less"), document(shell="fish")).data or b"")
    assert list(first["memories"]["tools"]) == ["pager", "shell"]


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"schema_version": "1.2"}', b"<<<<<<< a\n", b"\xff"])
def test_a_side_that_cannot_be_read_is_not_merged(data: bytes) -> None:
    with pytest.raises(InvalidStore, match="cannot be merged"):
        merge_profile(None, document(pager="less"), data)
    assert merge_profile(data, document(pager="less"), document(shell="fish")).data
