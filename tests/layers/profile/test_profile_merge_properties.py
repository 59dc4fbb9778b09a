"""What must hold for every three versions of the profile document, not only for those we thought of."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from quire.files.json_files import compact, decode_object, pretty
from quire.layers.profile.merge import (
    merge_documents,
    merge_memories,
)
from quire.layers.profile.merge_fields import (
    Disagreement,
)
from quire.layers.profile.migration import migrated
from quire.model.times import instant

Versions = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]

CATEGORIES = ("user", "tools", "novel")
KEYS = ("a", "b", "c.d")
READINGS = ("access_count", "last_accessed")
UNTOLD = (*READINGS, "created_at", "updated_at", "valid_at", "tags", "links")
"""Fields with a rule for what both sides changed."""
# Read anew each time: a value that stands in two places is never one object.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    ["null", "true", "1", "1.0", "-2", "0.5", '"text"', '""', "[]", '["x"]', "{}", '{"x": 1}']
).map(json.loads)
TIMES = st.sampled_from(
    [
        "2026-02-09T14:00:00Z",
        "2026-02-09T15:00:00+01:00",
        "2026-02-09T14:00:00.900000Z",
        "2026-02-10T00:00:00",
        "2026-02-11T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "no time",
    ]
)
LINKS = st.builds(
    lambda target, relation: {"target": target, "relation": relation},
    st.sampled_from([f"{category}.{key}" for category in CATEGORIES for key in KEYS] + ["user.never", "nowhere"]),
    st.sampled_from(["related-to", "supersedes"]),
)
COUNTS = st.integers(0, 9)
NESTED = st.recursive(ODD, lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3), max_leaves=6)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "value": st.sampled_from(["one", "two", "three"]),
    "created_at": TIMES,
    "updated_at": TIMES,
    "tags": st.lists(st.sampled_from("pqrs"), max_size=4),
    "confidence": st.sampled_from([None, 0.5, 0.75]),
    "importance": st.integers(1, 3),
    "source": st.fixed_dictionaries({"type": st.sampled_from(["session", "inferred"]), "detail": ODD}),
    "access_count": COUNTS,
    "last_accessed": st.none() | TIMES,
    "status": st.sampled_from(["active", "archived"]),
    "links": st.lists(LINKS, max_size=3),
    "novel": NESTED,
}
ENTRIES = st.fixed_dictionaries({}, optional=FIELDS)
ODD_ENTRIES = st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, ODD))
ANY_ENTRY = st.one_of(ENTRIES, ENTRIES, ENTRIES, ODD_ENTRIES, ODD)
CATEGORY = st.dictionaries(st.sampled_from(KEYS), ANY_ENTRY, max_size=3)
MEMORIES = st.dictionaries(st.sampled_from(CATEGORIES), st.one_of(CATEGORY, CATEGORY, CATEGORY, ODD), max_size=3)
TOPS = st.fixed_dictionaries(
    {"schema_version": st.sampled_from(["1.2", "1.2", "1.2", "1.0", "1.1", "2.0", "10.0"])},
    optional={"session_count": COUNTS | ODD, "novel": NESTED},
)


@st.composite
def _edited(draw: st.DrawFn, base: dict[str, Any]) -> dict[str, Any]:
    """Memories as somebody left them who had these."""
    found = copy.deepcopy(base)
    for category, entries in base.items():
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            action = draw(st.sampled_from(["keep", "keep", "delete", "read", "change", "change", "replace"]))
            if action == "delete":
                del found[category][key]
            elif action == "replace":
                found[category][key] = draw(ANY_ENTRY)
            elif action != "keep" and isinstance(entry, dict):
                names = READINGS if action == "read" else tuple(FIELDS)
                several = st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)
                found[category][key] |= {name: draw(FIELDS[name]) for name in draw(several)}
        if draw(st.sampled_from([False] * 7 + [True])):
            del found[category]
    for category, entries in draw(MEMORIES).items():
        known = found.setdefault(category, {})
        if isinstance(known, dict) and isinstance(entries, dict):
            found[category] = {**entries, **known} if draw(st.booleans()) else {**known, **entries}
    return found


@st.composite
def _three(draw: st.DrawFn) -> Versions:
    """Memories of a base and two sides that come from it, or have nothing to do with it."""
    base = draw(MEMORIES)
    if draw(st.sampled_from([True, True, True, False])):
        return base, draw(_edited(base)), draw(_edited(base))
    return base, draw(MEMORIES), draw(MEMORIES)


@st.composite
def _documents(draw: st.DrawFn) -> Versions:
    base, ours, theirs = ({**draw(TOPS), "memories": memories} for memories in draw(_three()))
    for side in (ours, theirs):
        if draw(st.booleans()):
            side.update({name: value for name, value in base.items() if name != "memories"})
    return base, ours, theirs


def is_same(one: Any, other: Any) -> bool:
    """The same JSON: keys in any order, but 1 is not true."""
    return compact(one) == compact(other)


def entries_of(memories: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for category, entries in memories.items():
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            yield f"{category}.{key}", entry


def moment(entry: Any) -> Any:
    texts = [entry.get(name) for name in ("updated_at", "created_at")] if isinstance(entry, dict) else []
    return next((found for text in texts if isinstance(text, str) and (found := instant(text)) is not None), None)


# ---------------------------------------------------------------------------------------------------- one side alone


@given(_documents())
def test_what_both_sides_say_holds_whatever_was_before(versions: Versions) -> None:
    base, ours, _ = versions
    for before in (pretty(base), None, b"{"):
        found = merge_documents(before, pretty(ours), pretty(ours))
        assert found.disagreements == ()
        assert found.data == pretty(migrated(ours))
        assert decode_object(found.data) == found.document


@given(_documents())
def test_what_only_one_side_changed_holds(versions: Versions) -> None:
    base, side, _ = versions
    for ours, theirs in ((base, side), (side, base)):
        found = merge_documents(pretty(base), pretty(ours), pretty(theirs))
        assert found.disagreements == ()
        assert is_same(found.document, migrated(side))


@given(_three())
def test_the_same_holds_entry_by_entry(versions: Versions) -> None:
    """Documents that are equal as a whole are not looked into; memories always are."""
    base, side, other = versions
    for ours, theirs in ((base, side), (side, base), (side, side)):
        found, told = merge_memories(base, ours, theirs)
        assert is_same(found, side)
        assert told == []
    found, told = merge_memories(other, side, side)
    assert is_same(found, side)
    assert told == []


@given(_three())
def test_merging_the_result_with_a_side_again_changes_nothing(versions: Versions) -> None:
    base, ours, theirs = versions
    merged, _ = merge_memories(base, ours, theirs)
    for side in (ours, theirs):
        for pair in ((merged, side), (side, merged)):
            found, told = merge_memories(side, *pair)
            assert is_same(found, merged)
            assert told == []


@given(_documents())
def test_merging_the_merged_document_with_a_side_again_changes_nothing(versions: Versions) -> None:
    base, ours, theirs = (pretty(version) for version in versions)
    merged = merge_documents(base, ours, theirs)
    for side in (ours, theirs):
        assert merge_documents(side, merged.data, side).data == merged.data
        assert is_same(merge_documents(side, side, merged.data).document, merged.document)
    assert merge_documents(None, merged.data, merged.data).data == merged.data


# ---------------------------------------------------------------------------------------------------- sides exchanged


@given(_documents())
def test_it_does_not_matter_which_side_is_ours(versions: Versions) -> None:
    """But for the order of keys, tags and links, and where neither side is newer."""
    base, ours, theirs = (pretty(version) for version in versions)
    one, other = merge_documents(base, ours, theirs), merge_documents(base, theirs, ours)
    ties = {
        (item.name, item.field)
        for item in one.disagreements
        if any(is_tie(item, again) for again in other.disagreements)
    }
    sides = [dict(entries_of(migrated(version)["memories"])) for version in versions[1:]]
    for name, _ in ties:
        assert not name or moment(sides[0].get(name)) == moment(sides[1].get(name))
    assert is_same(outcome(one.document, ties), outcome(other.document, ties))
    assert told(one.disagreements, ties) == told([exchanged(item) for item in other.disagreements], ties)


def is_tie(item: Disagreement, again: Disagreement) -> bool:
    """Whether ours was taken both times, although ours was theirs in between."""
    return (item.taken, again.taken) == ("ours", "ours") and is_same(
        [item.name, item.field, item.ours, item.theirs], [again.name, again.field, again.theirs, again.ours]
    )


def exchanged(item: Disagreement) -> Disagreement:
    taken = {"ours": "theirs", "theirs": "ours"}.get(item.taken, item.taken)
    return Disagreement(
        name=item.name,
        field=item.field,
        base=item.base,
        ours=item.theirs,
        theirs=item.ours,
        taken=taken,  # type: ignore[arg-type]
        message="",
    )


def told(items: Any, ties: set[tuple[str, str]]) -> list[bytes]:
    return sorted(
        compact([item.name, item.field, item.base, item.ours, item.theirs, item.taken])
        for item in items
        if (item.name, item.field) not in ties
    )


def outcome(document: dict[str, Any], ties: set[tuple[str, str]]) -> dict[str, Any]:
    """The document without what was decided by side, its tags and links in one order."""
    found = copy.deepcopy(document)
    for name, field in ties:
        first, _, rest = field.partition(".")
        if not name and first == "memories":
            found["memories"].pop(rest, None)
        elif not name:
            found.pop(first, None)
        else:
            category, _, key = name.partition(".")
            if field:
                found["memories"][category][key].pop(first, None)
            else:
                del found["memories"][category][key]
    for _, entry in entries_of(found["memories"]):
        for field in ("tags", "links"):
            if isinstance(entry, dict) and isinstance(entry.get(field), list):
                entry[field] = sorted(entry[field], key=compact)
    return found


# ---------------------------------------------------------------------------------------------------- nothing is lost


@given(_three())
def test_no_entry_is_lost_that_the_other_side_did_not_delete(versions: Versions) -> None:
    base, ours, theirs = versions
    merged, told_items = merge_memories(base, ours, theirs)
    before, after = dict(entries_of(base)), dict(entries_of(merged))
    told_whole = {item.name for item in told_items if item.name and not item.field}
    for side, other in ((ours, theirs), (theirs, ours)):
        others = dict(entries_of(other))
        for name, entry in entries_of(side):
            if name in others or name not in before:
                assert name in after
            elif not isinstance(other.get(name.partition(".")[0], {}), dict):
                continue  # The other side has no entries there: the category is merged as a whole.
            elif is_same(essence(entry), essence(before[name])):
                assert (name in after, name in told_whole) == (False, False)
            elif is_same(links_of(entry), links_of(before[name])):
                assert (name in after, name in told_whole) == (True, True)
    assert after.keys() <= dict(entries_of(ours)).keys() | dict(entries_of(theirs)).keys()


def essence(entry: Any) -> Any:
    return {name: value for name, value in entry.items() if name not in READINGS} if isinstance(entry, dict) else entry


def links_of(entry: Any) -> Any:
    return entry.get("links") if isinstance(entry, dict) else None


@given(_three())
def test_every_field_is_that_of_the_side_that_changed_it(versions: Versions) -> None:
    """What both changed is told, and is what the told side says; tags of both are there."""
    base, ours, theirs = (dict(entries_of(version)) for version in versions)
    merged, told_items = merge_memories(*versions)
    after = dict(entries_of(merged))
    chosen = {(item.name, item.field): item for item in told_items}
    for name in ours.keys() & theirs.keys() & after.keys():
        mine, yours, found = ours[name], theirs[name], after[name]
        if not (isinstance(mine, dict) and isinstance(yours, dict)):
            continue
        was = base[name] if isinstance(base.get(name), dict) else {}
        for field in (mine.keys() | yours.keys() | was.keys()) - {*UNTOLD, "novel"}:
            values = [version.get(field, ...) for version in (was, mine, yours)]
            keys = [b"" if value is ... else compact(value) for value in values]
            value = compact(found[field]) if field in found else b""
            if keys[0] == keys[1] or keys[0] == keys[2] or keys[1] == keys[2]:
                assert value == (keys[2] if keys[0] == keys[1] else keys[1])
                assert (name, field) not in chosen
            elif not all(isinstance(item, dict) for item in values[1:]) or field == "source":
                item = chosen[name, field]
                assert value == keys[1 if item.taken == "ours" else 2]
        lists = [version.get("tags", []) for version in (was, mine, yours)]
        if all(isinstance(tags, list) for tags in lists):
            before, one, other = ({compact(tag) for tag in tags} for tags in lists)
            assert {compact(tag) for tag in found.get("tags", [])} == (one | other) - (before - one) - (before - other)


@given(_three())
def test_counts_are_never_below_what_a_side_counted_nor_above_both(versions: Versions) -> None:
    base, ours, theirs = (dict(entries_of(version)) for version in versions)
    after = dict(entries_of(merge_memories(*versions)[0]))
    for name in ours.keys() & theirs.keys() & after.keys():
        found = [count_of(version.get(name)) for version in (base, ours, theirs)]
        if not all(type(count) is int and count >= 0 for count in found[1:]):
            continue
        was, mine, yours = found
        merged = after[name]["access_count"]
        if type(was) is int and was >= 0 and was <= min(mine, yours):
            assert max(mine, yours) <= merged <= mine + yours - was
        else:
            assert min(mine, yours) <= merged <= mine + yours


def count_of(entry: Any) -> Any:
    return entry.get("access_count") if isinstance(entry, dict) else None


@given(_documents())
def test_what_is_told_is_something_that_the_sides_did_not_agree_on(versions: Versions) -> None:
    base, ours, theirs = (pretty(version) for version in versions)
    found = merge_documents(base, ours, theirs)
    assume(found.disagreements)
    for item in found.disagreements:
        assert not is_same(item.ours, item.theirs) or None in (item.ours, item.theirs)
        assert item.taken in ("ours", "theirs")
        assert item.message.endswith((".", "…")) or "which says: " in item.message
        assert "\n" not in item.message
        assert f"`{item.name or item.field}`" in item.message
    names = [(item.name, item.field) for item in found.disagreements if item.field != "links"]
    assert len(names) == len(set(names))
