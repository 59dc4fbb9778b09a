"""Two versions of the profile document become one: what holds, what is told, and what is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from cases import each
from quire.files.json_files import pretty
from quire.layers.profile.entries import new_fields
from quire.layers.profile.layout import CATEGORIES
from quire.layers.profile.merge import (
    Merged,
    merge_documents,
    merge_memories,
)
from quire.layers.profile.merge_fields import (
    Disagreement,
)
from quire.layers.profile.migration import migrated
from quire.model.errors import InvalidStore

CASES = Path(__file__).parents[4] / "shared" / "fixtures" / "profile" / "merge"
DOCUMENTS = CASES.parent / "docs"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the recorded merges lie outside the repository")

MONDAY, TUESDAY, FRIDAY = "2026-02-09T14:00:00Z", "2026-02-10T14:00:00Z", "2026-02-13T14:00:00Z"


def entry(value: str = "A text.", now: str = MONDAY, **fields: Any) -> dict[str, Any]:
    return new_fields(value, now, **fields)


def document(version: str = "1.2", count: int = 0, /, **memories: Any) -> dict[str, Any]:
    return {"schema_version": version, "session_count": count, "memories": memories}


def merge(base: dict[str, Any] | None, ours: dict[str, Any], theirs: dict[str, Any]) -> Merged:
    found = merge_documents(None if base is None else pretty(base), pretty(ours), pretty(theirs))
    assert json.loads(found.data) == found.document
    assert found.data == pretty(found.document)
    return found


def changed(source: dict[str, Any], /, **fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(source), **fields}


def merged_entry(base: Any, ours: Any, theirs: Any) -> tuple[Any, list[Disagreement]]:
    """One entry `user.email` through a merge of documents that differ elsewhere, too; None where it is not there."""
    versions = [{} if version is None else {"email": version} for version in (base, ours, theirs)]
    common, mine, yours = (document(user=version) for version in versions)
    mine["memories"]["tools"] = {"mine": entry("Only in ours.")}
    yours["memories"]["tools"] = {"yours": entry("Only in theirs.")}
    found = merge(common, mine, yours)
    assert list(found.document["memories"]["tools"]) == ["mine", "yours"]
    return found.document["memories"]["user"].get("email"), list(found.disagreements)


def quiet(base: Any, ours: Any, theirs: Any) -> Any:
    """The same, where there is nothing to tell."""
    found, told = merged_entry(base, ours, theirs)
    assert told == []
    return found


# ---------------------------------------------------------------------------------------------------- entries


def test_what_each_side_added_is_there_in_the_order_of_ours_then_theirs() -> None:
    base = document(user={"a": entry()}, tools={})
    ours = document(tools={}, user={"b": entry("B"), "a": entry()})
    theirs = document(user={"c": entry("C"), "a": entry(), "d": entry("D")}, tools={}, novel={"x": entry("X")})
    found = merge(base, ours, theirs)
    assert found.disagreements == ()
    assert list(found.document["memories"]) == ["tools", "user", "novel"]
    assert list(found.document["memories"]["user"]) == ["b", "a", "c", "d"]
    assert found.document["memories"]["novel"] == {"x": entry("X")}


def test_what_one_side_deleted_stays_deleted() -> None:
    assert quiet(entry(), None, entry()) is None
    assert quiet(entry(), entry(), None) is None
    assert quiet(entry(), None, None) is None


def test_reading_an_entry_does_not_bring_it_back() -> None:
    read = entry(access_count=7, last_accessed=FRIDAY)
    assert quiet(entry(), None, read) is None
    assert quiet(entry(), read, None) is None
    without = {name: value for name, value in entry().items() if name not in ("access_count", "last_accessed")}
    assert quiet(without, read, None) is None


@pytest.mark.parametrize(
    "fields", [{"value": "New."}, {"status": "archived"}, {"tags": ["a"]}, {"updated_at": FRIDAY}, {"novel": None}]
)
def test_what_one_side_deleted_and_the_other_changed_stays_and_is_told(fields: dict[str, Any]) -> None:
    left = changed(entry(), **fields)
    found, told = merged_entry(entry(), None, left)
    assert found == left
    assert told == [
        Disagreement(
            name="user.email",
            field="",
            base=entry(),
            ours=None,
            theirs=left,
            taken="theirs",
            message="`user.email` was deleted in ours and changed in theirs: it stays. Delete it again if it is to go.",
        )
    ]
    found, [told_again] = merged_entry(entry(), left, None)
    assert found == left
    assert (told_again.taken, told_again.ours, told_again.theirs) == ("ours", left, None)
    assert "deleted in theirs and changed in ours" in told_again.message


def test_an_entry_that_only_lost_the_link_to_what_was_deleted_with_it_is_not_changed() -> None:
    link = {"target": "user.b", "relation": "related-to"}
    base = document(user={"a": entry(links=[link]), "b": entry("B")})
    ours = document(user={"b": entry("B")})
    theirs = document(user={"a": entry(links=[])})
    found = merge(base, ours, theirs)
    assert (found.document["memories"], found.disagreements) == ({"user": {}}, ())


# ---------------------------------------------------------------------------------------------------- fields


def test_different_fields_changed_on_both_sides_all_hold() -> None:
    ours = changed(entry(), value="New.", importance=9, updated_at=TUESDAY)
    theirs = changed(entry(), status="archived", confidence=0.5, updated_at=FRIDAY)
    expected = changed(entry(), value="New.", importance=9, status="archived", confidence=0.5, updated_at=FRIDAY)
    assert quiet(entry(), ours, theirs) == expected
    assert quiet(entry(), theirs, ours) == expected


@pytest.mark.parametrize(
    ("field", "mine", "yours"),
    [
        ("value", "Mine.", "Yours."),
        ("importance", 1, 9),
        ("confidence", 0.25, None),
        ("source", {"type": "inferred", "detail": None}, {"type": "session", "detail": "said so"}),
        ("status", "archived", "superseded"),
        ("novel", [1], [2]),
    ],
)
def test_a_field_that_both_changed_is_that_of_the_later_side_and_told(field: str, mine: Any, yours: Any) -> None:
    base = entry(confidence=0.75, novel=[])
    ours, theirs = (changed(base, **{field: value}) for value in (mine, yours))
    for mine_at, yours_at, taken in (
        (TUESDAY, FRIDAY, "theirs"),
        (FRIDAY, TUESDAY, "ours"),
        (TUESDAY, TUESDAY, "ours"),
        # Earlier as text, later as a moment.
        ("2026-02-10T13:59:59Z", "2026-02-10T13:00:00-01:00", "theirs"),
        ("2026-02-10T14:00:00.900000Z", "2026-02-10T14:00:00Z", "ours"),
        ("no time", TUESDAY, "theirs"),
        (None, 5, "ours"),
    ):
        found, told = merged_entry(base, {**ours, "updated_at": mine_at}, {**theirs, "updated_at": yours_at})
        told = [item for item in told if item.field != "updated_at"]
        assert found[field] == (mine if taken == "ours" else yours)
        assert [(item.name, item.field, item.base, item.ours, item.theirs, item.taken) for item in told] == [
            ("user.email", field, base[field], mine, yours, taken)
        ]


def test_the_sentence_says_what_was_taken_and_what_the_other_side_says() -> None:
    ours = changed(entry(), value="Mine,\nin two lines.", updated_at=TUESDAY)
    theirs = changed(entry(), value="Yours.", updated_at=FRIDAY)
    _, [told] = merged_entry(entry(), ours, theirs)
    assert told.message == (
        "`value` of `user.email` was changed on both sides; theirs was taken, which is newer. "
        'Change it if ours is right, which says: "Mine,\\nin two lines."'
    )
    _, [told] = merged_entry(entry(), ours, {**theirs, "value": "x" * 1_000, "updated_at": TUESDAY})
    assert told.message.startswith(
        "`value` of `user.email` was changed on both sides; ours was taken, as neither is newer. "
        'Change it if theirs is right, which says: "xxx'
    )
    assert told.message.endswith("x…")
    assert len(told.message) < 320


def test_where_nobody_wrote_when_an_entry_changed_its_creation_counts() -> None:
    ours = {"value": "Mine.", "created_at": TUESDAY}
    theirs = {"value": "Yours.", "created_at": FRIDAY}
    found, [told] = merged_entry({"value": "Old."}, ours, theirs)
    assert (found["value"], told.taken) == ("Yours.", "theirs")


def test_any_time_is_later_than_none() -> None:
    theirs = {"value": "Yours.", "updated_at": "1960-01-01T00:00:00Z"}
    found, [told] = merged_entry({"value": "Old."}, {"value": "Mine.", "updated_at": "soon"}, theirs)
    assert (found, told.taken) == (theirs, "theirs")


def test_numbers_and_truth_are_not_confused() -> None:
    """To Python, 1 and true and 1.0 are equal; in a file they are not."""
    base = entry(importance=1)
    found = quiet(base, changed(base, importance=True, value="New."), changed(base, status="archived"))
    assert found["importance"] is True
    _, [told] = merged_entry(base, changed(base, importance=True), changed(base, importance=1.0))
    assert told.field == "importance"


def test_the_source_is_taken_whole() -> None:
    base = entry(source={"type": "session", "detail": None})
    ours = changed(base, source={"type": "user-stated", "detail": None}, updated_at=TUESDAY)
    theirs = changed(base, source={"type": "session", "detail": "a file"}, updated_at=FRIDAY)
    found, [told] = merged_entry(base, ours, theirs)
    assert found["source"] == {"type": "session", "detail": "a file"}
    assert (told.field, told.taken) == ("source", "theirs")


def test_unknown_fields_are_merged_inside() -> None:
    base = entry(novel={"a": 1, "b": {"c": 1, "d": 1}, "e": 1})
    ours = changed(base, novel={"a": 2, "b": {"c": 2, "d": 1}, "e": 1, "mine": 1}, updated_at=TUESDAY)
    theirs = changed(base, novel={"a": 1, "b": {"c": 3, "d": 3}, "yours": 1}, updated_at=FRIDAY)
    found, told = merged_entry(base, ours, theirs)
    assert found["novel"] == {"a": 2, "b": {"c": 3, "d": 3}, "mine": 1, "yours": 1}
    assert list(found["novel"]) == ["a", "b", "mine", "yours"]
    assert [(item.field, item.base, item.ours, item.theirs) for item in told] == [("novel.b.c", 1, 2, 3)]


def test_a_field_that_one_side_removed_and_the_other_changed_stays() -> None:
    base = entry(novel=1)
    ours = {name: value for name, value in base.items() if name != "novel"}
    assert "novel" not in quiet(base, {**ours, "value": "New."}, changed(base, status="archived"))
    found, [told] = merged_entry(base, {**ours, "updated_at": FRIDAY}, changed(base, novel=2))
    assert (found["novel"], told.field, told.ours, told.taken) == (2, "novel", None, "theirs")
    assert told.message.startswith("`novel` of `user.email` was deleted in ours and changed in theirs: it stays.")


# ---------------------------------------------------------------------------------------------------- times, counts


def test_the_later_reading_and_the_later_change_hold() -> None:
    base = entry(last_accessed=None)
    ours = changed(base, last_accessed="2026-02-13T23:30:00-02:00", updated_at=TUESDAY)
    theirs = changed(base, last_accessed="2026-02-14T00:00:00Z", updated_at=FRIDAY)
    found = quiet(base, ours, theirs)
    assert (found["last_accessed"], found["updated_at"]) == ("2026-02-13T23:30:00-02:00", FRIDAY)
    found = quiet(base, changed(base, last_accessed=FRIDAY), changed(base, last_accessed="garbage"))
    assert found["last_accessed"] == FRIDAY
    found = quiet(entry(last_accessed=TUESDAY), changed(base, last_accessed=None), changed(base, last_accessed=FRIDAY))
    assert found["last_accessed"] == FRIDAY


def test_what_one_side_alone_made_of_a_time_or_a_count_holds() -> None:
    base = entry(access_count=9, last_accessed=FRIDAY, now=FRIDAY)
    ours = changed(base, access_count=0, last_accessed=None, created_at=TUESDAY, updated_at=MONDAY)
    theirs = changed(base, value="New.")
    found = quiet(base, ours, theirs)
    assert found == changed(ours, value="New.")


def test_times_that_are_none_on_both_sides_are_told() -> None:
    base = entry()
    _, [told] = merged_entry(base, changed(base, last_accessed="soon"), changed(base, last_accessed="late"))
    assert (told.field, told.ours, told.theirs, told.taken) == ("last_accessed", "soon", "late", "ours")


def test_an_entry_was_created_when_the_first_of_both_was() -> None:
    assert quiet(None, entry(now=FRIDAY), entry(now=TUESDAY))["created_at"] == TUESDAY
    assert quiet(None, entry(now=TUESDAY), entry(now=FRIDAY))["created_at"] == TUESDAY
    found = quiet(entry(), changed(entry(), created_at="gone"), changed(entry(), created_at=FRIDAY))
    assert found["created_at"] == FRIDAY


@each(
    ("base", "ours", "theirs", "expected"),
    [
        (5, 50, 9, 54),
        (5, 7, 7, 9),
        (5, 5, 9, 9),
        (9, 2, 9, 2),
        (9, 2, 3, 3),
        (9, 2, 12, 12),
        (0, 1, 2, 3),
        (None, 4, 2, 6),
        ("many", 4, 2, 6),
        (5, None, 8, 8),
        (5, -3, 8, 8),
        (5, -3, -4, 0),
        (5, 6.0, 7, 8),
        (0, True, 4, 4),
        (0, 10**30, 10**30 + 1, 2 * 10**30 + 1),
    ],
)
def test_counts_are_added_up_and_not_doubled(base: Any, ours: Any, theirs: Any, expected: int) -> None:
    common = entry(access_count=base)
    mine = changed(common, access_count=ours, last_accessed=TUESDAY)
    yours = changed(common, access_count=theirs, last_accessed=FRIDAY)
    assert quiet(common, mine, yours)["access_count"] == expected
    assert quiet(common, yours, mine)["access_count"] == expected
    sides = [document(user={}, tools={name: entry()}) for name in ("a", "b", "c")]
    for side, count in zip(sides, (base, ours, theirs), strict=True):
        side["session_count"] = count
    found = merge(*sides)
    assert (found.document["session_count"], found.disagreements) == (expected, ())


def test_readings_that_one_side_took_over_from_the_other_count_once() -> None:
    base = entry(access_count=5)
    ours = changed(base, access_count=8, last_accessed=FRIDAY, value="New.")
    theirs = changed(base, access_count=8, last_accessed=FRIDAY)
    assert quiet(base, ours, theirs)["access_count"] == 8
    assert quiet(base, ours, {**theirs, "last_accessed": TUESDAY})["access_count"] == 11


def test_counts_that_are_no_numbers_are_told() -> None:
    found, [told] = merged_entry(entry(), entry(access_count="many"), entry(access_count=[]))
    assert (found["access_count"], told.field) == ("many", "access_count")
    ours, theirs = document(user={"a": entry()}), document(user={"b": entry()})
    found_top = merge(document(), {**ours, "session_count": "x"}, {**theirs, "session_count": None})
    assert found_top.document["session_count"] == "x"
    assert [(item.name, item.field) for item in found_top.disagreements] == [("", "session_count")]


# ---------------------------------------------------------------------------------------------------- tags, links


def test_tags_of_both_without_what_either_removed() -> None:
    base = entry(tags=["a", "b", "c"])
    ours, theirs = changed(base, tags=["new", "c", "a"]), changed(base, tags=["b", "c", "x", "new", "y"])
    assert quiet(base, ours, theirs)["tags"] == ["new", "c", "x", "y"]
    assert quiet(base, theirs, ours)["tags"] == ["c", "x", "new", "y"]
    assert quiet(base, changed(base, tags=["c", "b", "a"]), changed(base, value="New."))["tags"] == ["c", "b", "a"]


def test_tags_that_are_none_yield_to_tags() -> None:
    base = entry(tags=["a"])
    assert quiet(base, changed(base, tags=None), changed(base, tags=["a", "b"]))["tags"] == ["b"]
    found, [told] = merged_entry(base, changed(base, tags="a, b"), changed(base, tags=["a", "b"]))
    assert (found["tags"], told.field) == ("a, b", "tags")


def test_links_of_both_without_what_either_removed() -> None:
    one, two, three = ({"target": f"user.{name}", "relation": "related-to"} for name in ("a", "b", "c"))
    others = {name: entry() for name in ("a", "b", "c")}
    odd = ["no link", {"target": 5}, {"target": "user.a", "relation": "elaborates", "novel": 1}]
    base = document(user={**others, "x": entry(links=[one])})
    ours = document(user={**others, "x": entry(links=[one, two, *odd])})
    theirs = document(user={**others, "x": entry(links=[three, dict(reversed(two.items()))])})
    found = merge(base, ours, theirs)
    assert found.document["memories"]["user"]["x"]["links"] == [two, *odd, three]
    assert found.disagreements == ()


def linked(relation: str = "related-to") -> dict[str, str]:
    return {"target": "user.b", "relation": relation}


def test_links_to_what_was_deleted_go_with_it() -> None:
    base = document(user={"a": entry(links=[linked()]), "b": entry("B")})
    ours = document(user={"a": entry(links=[]), "c": entry("C", links=[])})
    theirs = document(user={"a": changed(entry(links=[linked()]), value="New."), "b": entry("B")})
    for found in (merge(base, ours, theirs), merge(base, theirs, ours)):
        assert found.document["memories"]["user"]["a"] == changed(entry(links=[]), value="New.")
        assert found.disagreements == ()


def test_an_entry_that_stays_loses_its_links_to_what_does_not() -> None:
    base = document(user={"a": entry(links=[linked()]), "b": entry("B")})
    theirs = document(user={"a": entry("New.", links=[linked()]), "b": entry("B")}, tools={})
    found = merge(base, document(user={}), theirs)
    assert found.document["memories"]["user"] == {"a": entry("New.")}
    assert [(item.name, item.field) for item in found.disagreements] == [("user.a", "")]


def test_a_new_link_to_what_was_deleted_is_left_out_and_told() -> None:
    base = document(user={"a": entry(), "b": entry("B")})
    ours = document(user={"a": entry(links=[linked()]), "b": entry("B"), "n": entry("N", links=[linked("elaborates")])})
    theirs = document(user={"a": entry()})
    found = merge(base, ours, theirs)
    assert found.document["memories"]["user"] == {"a": entry(), "n": entry("N")}
    assert [(item.name, item.field, item.ours, item.theirs, item.taken) for item in found.disagreements] == [
        ("user.a", "links", linked(), None, "theirs"),
        ("user.n", "links", linked("elaborates"), None, "theirs"),
    ]
    assert found.disagreements[0].message == (
        "`user.a` was linked to `user.b` in ours, which was deleted in theirs: the link is left out. "
        "Restore `user.b` if it is still needed."
    )
    [told, _] = merge(base, theirs, ours).disagreements
    assert (told.ours, told.theirs, told.taken) == (None, linked(), "ours")


def test_a_link_that_led_nowhere_before_stays() -> None:
    never = {"target": "user.never", "relation": "related-to"}
    base = document(user={"a": entry(links=[never, linked()]), "b": entry("B")})
    ours = document(user={"a": changed(entry(links=[never, linked()]), value="New.")})
    theirs = document(user={"a": entry(links=[never, linked()]), "b": entry("B"), "c": entry("C", links=[never])})
    found = merge(base, ours, theirs)
    assert found.document["memories"]["user"]["a"]["links"] == [never, linked()]
    assert found.document["memories"]["user"]["c"]["links"] == [never]
    assert "b" not in found.document["memories"]["user"]


def test_a_link_that_was_removed_with_an_entry_that_stays_is_there_again() -> None:
    base = document(user={"a": entry(links=[linked()]), "b": entry("B")})
    ours = document(user={"a": changed(entry(links=[]), value="New.")})
    theirs = document(user={"a": entry(links=[linked()]), "b": entry("B changed")})
    for found in (merge(base, ours, theirs), merge(base, theirs, ours)):
        assert found.document["memories"]["user"]["a"] == changed(entry(links=[linked()]), value="New.")
        assert found.document["memories"]["user"]["b"] == entry("B changed")
        assert [item.name for item in found.disagreements] == ["user.b"]
    ours["memories"]["user"]["a"]["links"] = [linked()]
    assert merge(base, ours, theirs).document["memories"]["user"]["a"]["links"] == [linked()]
    theirs["memories"]["user"]["a"]["links"] = []
    assert merge(base, ours, theirs).document["memories"]["user"]["a"]["links"] == []


def test_an_entry_that_supersedes_another_brings_its_status_along() -> None:
    base = document(user={"b": entry("B")})
    ours = document(user={"b": changed(entry("B"), status="archived"), "n": entry("N", links=[linked("supersedes")])})
    theirs = document(user={"b": changed(entry("B"), tags=["x"], access_count=3)})
    found = merge(base, ours, theirs)
    assert found.disagreements == ()
    assert found.document["memories"]["user"] == {
        "b": changed(entry("B"), status="archived", tags=["x"], access_count=3),
        "n": entry("N", links=[linked("supersedes")]),
    }


# ---------------------------------------------------------------------------------------------------- both added


def test_both_added_the_same_is_merged_in_silence() -> None:
    ours = entry(now=TUESDAY, access_count=2, last_accessed=TUESDAY, tags=["a"])
    theirs = entry(now=FRIDAY, access_count=3, last_accessed=FRIDAY, tags=["b"])
    expected = changed(ours, updated_at=FRIDAY, access_count=5, last_accessed=FRIDAY, tags=["a", "b"])
    assert quiet(None, ours, theirs) == expected


def test_both_added_what_holds_since_another_moment() -> None:
    """Newer documents say when an entry began to hold, which is when it was created."""
    ours, theirs = entry(now=FRIDAY, valid_at=FRIDAY), entry(now=TUESDAY, valid_at=TUESDAY)
    assert quiet(None, ours, theirs)["valid_at"] == TUESDAY


def test_copies_of_one_entry_do_not_add_up_what_they_counted_together() -> None:
    ours, theirs = entry(access_count=12), entry(access_count=10, last_accessed=FRIDAY)
    assert quiet(None, ours, theirs)["access_count"] == 12
    mine, yours = document("1.2", 14, user={"a": ours}), document("1.2", 15, user={"a": theirs})
    assert merge(None, mine, yours).document["session_count"] == 15
    yours = document("1.2", 15, user={"a": changed(theirs, created_at=FRIDAY)})
    assert merge(None, mine, yours).document["session_count"] == 29
    assert merge(None, mine, mine).document == mine


def test_both_added_with_another_value_is_told() -> None:
    found, told = merged_entry(None, entry("Mine.", TUESDAY, importance=3), entry("Yours.", FRIDAY))
    assert (found["value"], found["importance"], found["created_at"], found["updated_at"]) == (
        "Yours.",
        5,
        TUESDAY,
        FRIDAY,
    )
    assert [(item.field, item.base, item.ours, item.theirs, item.taken) for item in told] == [
        ("value", None, "Mine.", "Yours.", "theirs"),
        ("importance", None, 3, 5, "theirs"),
    ]
    assert told[0].message.startswith("`value` of `user.email` was added on both sides; theirs was taken")


@pytest.mark.parametrize("empty", [None, b"", b" \n", b"\xef\xbb\xbf\n"])
def test_without_a_base_everything_of_both_sides_is_there(empty: bytes | None) -> None:
    ours = document("1.2", 3, user={"a": entry("A"), "same": entry()}, tools={})
    theirs = document("1.2", 3, user={"b": entry("B", FRIDAY), "same": entry()}, learnings={})
    found = merge_documents(empty, pretty(ours), pretty(theirs))
    assert found.disagreements == ()
    assert found.document == document(
        "1.2", 3, user={"a": entry("A"), "same": entry(), "b": entry("B", FRIDAY)}, tools={}, learnings={}
    )


# ---------------------------------------------------------------------------------------------------- odd documents


def test_what_is_no_entry_is_merged_as_a_value() -> None:
    assert quiet("old", "old", "new") == "new"
    assert quiet("old", "new", "old") == "new"
    assert quiet("old", None, "old") is None
    assert quiet("old", entry(), "old") == entry()
    found, [told] = merged_entry("old", "mine", ["yours"])
    assert (found, told.name, told.field, told.taken) == ("mine", "user.email", "", "ours")
    for pair in ((entry(), "text"), ("text", entry())):
        found, [told] = merged_entry("old", *pair)
        assert found == entry()
        assert "which is an object" in told.message
    found, [told] = merged_entry("old", None, "new")
    assert (found, told.taken) == ("new", "theirs")


def test_categories_without_entries_are_kept_and_deleted_ones_are_gone() -> None:
    base = document(user={}, tools={"a": entry()}, novel={}, odd={"x": entry()})
    ours = document(user={}, project={})
    theirs = document(user={}, tools={"a": entry()}, novel={}, learnings={}, odd={"x": entry("Changed.")})
    found = merge(base, ours, theirs)
    assert found.document["memories"] == {
        "user": {},
        "project": {},
        "learnings": {},
        "odd": {"x": entry("Changed.")},
    }


def test_a_category_that_holds_no_entries_yields_to_one_that_does() -> None:
    base = document(user={}, tools=None)
    ours = document(user={"a": entry()}, tools=[1])
    theirs = document(user=None, tools={"b": entry()}, novel=5)
    for found in (merge(base, ours, theirs), merge(base, theirs, ours)):
        assert found.document["memories"] == {"user": {"a": entry()}, "tools": {"b": entry()}, "novel": 5}
        assert [(item.name, item.field) for item in found.disagreements] == [
            ("", "memories.user"),
            ("", "memories.tools"),
        ]
    found = merge(base, ours, document(user={}, tools=None, other={}))
    assert found.document["memories"] == {"user": {"a": entry()}, "tools": [1], "other": {}}


def test_unknown_fields_of_the_document_are_merged_too() -> None:
    base = {**document(user={}), "novel": {"a": 1, "b": 1}, "old": 1}
    ours = {"first": 1, **document(user={}), "novel": {"a": 2, "b": 2}, "mine": None}
    theirs = {**document(user={}), "novel": {"a": 1, "b": 3, "c": 3}, "old": 1, "yours": []}
    found = merge(base, ours, theirs)
    assert list(found.document) == ["first", "schema_version", "session_count", "memories", "novel", "mine", "yours"]
    assert found.document["novel"] == {"a": 2, "b": 2, "c": 3}
    [told] = found.disagreements
    assert (told.name, told.field, told.taken) == ("", "novel.b", "ours")
    assert told.message.startswith("`novel.b` was changed on both sides; ours was taken, as neither is newer.")


def test_nothing_that_is_given_is_changed() -> None:
    base = {"user": {"a": entry(links=[linked()]), "b": entry("B")}, "odd": {"x": entry(links=[linked()])}}
    ours = copy.deepcopy(base)
    ours["user"]["a"]["value"] = ours["odd"]["x"]["value"] = "New."
    theirs: dict[str, Any] = {"user": {"a": entry(links=[linked()], tags=["x"])}, "odd": None}
    before = copy.deepcopy((base, ours, theirs))
    for pair in ((ours, theirs), (theirs, ours)):
        assert merge_memories(base, *pair)[0]["odd"]["x"]["links"] == []
    assert (base, ours, theirs) == before


# ---------------------------------------------------------------------------------------------------- versions


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("2.0", "10.0"),
        ("1.2", "1.3"),
        ("1.9", "1.10"),
        ("1.2", "1.2.1"),
        ("1.2", "1.02.1"),
        ("1.02", "1.3"),
        ("1.x", "1.0.1"),
        ("1.0.5", "2.0"),
        ("9" * 5_000, "1" + "0" * 5_000),
    ],
)
def test_of_two_versions_the_higher_one_is_kept_and_told(lower: str, higher: str) -> None:
    low = document(lower, user={"low": entry("L")})
    high = document(higher, user={"high": entry("H", type="gotcha")})
    found = merge(document(lower, user={}), low, high)
    assert found.document == document(higher, user={"low": entry("L"), "high": entry("H", type="gotcha")})
    [told] = found.disagreements
    assert (told.name, told.field, told.base, told.taken) == ("", "schema_version", lower, "theirs")
    [told] = merge(document(lower, user={}), high, low).disagreements
    assert (told.ours, told.theirs, told.taken) == (higher, lower, "ours")


def test_a_newer_version_on_one_side_alone_is_that_side() -> None:
    base, theirs = document(user={"a": entry()}), document("2.0", user={"a": entry(type="gotcha")})
    for found in (merge(base, base, theirs), merge(base, theirs, base)):
        assert (found.document, found.disagreements) == (theirs, ())


def test_older_versions_are_brought_up_to_ours_first() -> None:
    plain = {"value": "A text.", "created_at": MONDAY, "updated_at": MONDAY, "tags": [], "confidence": None}
    base = {"schema_version": "1.0", "memories": {"user": {"a": plain, "gone": plain}}}
    ours = {"schema_version": "1.0", "memories": {"user": {"a": {**plain, "value": "New."}, "gone": plain}}}
    theirs = document("1.2", 4, user={"a": entry(importance=9)})
    found = merge(base, ours, theirs)
    assert found.disagreements == ()
    assert found.document == document("1.2", 4, user={"a": entry("New.", importance=9)})
    middle = {**plain, "importance": 5, "source": entry()["source"], "status": "active"}
    middle |= {"access_count": 0, "last_accessed": None}
    found = merge(base, ours, {"schema_version": "1.1", "session_count": 2, "memories": {"user": {"a": middle}}})
    assert (found.document, found.disagreements) == (document("1.2", 2, user={"a": entry("New.")}), ())


# ---------------------------------------------------------------------------------------------------- what is refused

GOOD = pretty(document(user={"a": entry()}))
OTHER = pretty(document(user={"a": entry("B")}))
MARKS = (
    b'{\n  "schema_version": "1.2",\n<<<<<<< HEAD\n  "session_count": 1,\n=======\n  "session_count": 2,\n>>>>>>> x\n'
)
BAD = [
    (b"{broken", "is not JSON: Expecting property name enclosed in double quotes", (1, 2)),
    (GOOD[:-40], "is not JSON: ", None),
    (b"", "is not JSON: Expecting value", (1, 1)),
    (b"\xef\xbb\xbf\n  this", "is not JSON: Expecting value", (2, 3)),
    (MARKS + b'  "memories": {}\n}\n', "it holds the marks of a merge conflict", (3, 1)),
    (b'{\r\n||||||| base\r\n"memories": {}}', "it holds the marks of a merge conflict", (2, 1)),
    (b'{\r\n=======\r\n"memories": {}}', "it holds the marks of a merge conflict", (2, 1)),
    (b'{"schema_version": "1.2",\n "x": "\xc3\xa9\xff"}', "it is not UTF-8 text", (2, 9)),
    (b'{"schema_version": "1.2", "memories": {}, "memories": {}}', "the key `memories` stands twice", None),
    (b'{"schema_version": "1.2", "memories": {}, "x": NaN}', "NaN is not JSON", None),
    (b'{"memories": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001, "is nested too deeply", None),
    (b"[1, 2]", "the top level is no object", None),
    (b'{"schema_version": "1.2"}', "it has no object `memories`", None),
    (b'{"schema_version": "1.2", "memories": null}', "it has no object `memories`", None),
    (
        b'{"schema_version": "1.2", "memories": {"user": {"a": {"value": "\\ud83d"}}}}',
        "`memories.user.a.value` holds a number or a character that cannot be written again",
        None,
    ),
    (b'{"schema_version": "1.2", "memories": {}, "x": [1e999]}', "`x` holds a number or a character", None),
]


@each(("bad", "reason", "place"), BAD)
@each("side", ["ours", "theirs"])
def test_a_side_that_cannot_be_read_is_refused(
    side: str, bad: bytes, reason: str, place: tuple[int, int] | None
) -> None:
    sides = (bad, GOOD) if side == "ours" else (GOOD, bad)
    with pytest.raises(InvalidStore) as raised:
        merge_documents(OTHER, *sides)
    error = raised.value
    assert error.message.startswith(f"The side `{side}` ")
    assert reason in error.message
    assert error.hint == "Mend it by hand and merge again; nothing was merged."
    assert error.details["source"] == side
    if place is not None:
        assert (error.details["line"], error.details["column"]) == place
        assert error.message.endswith(f", line {place[0]}, column {place[1]}.")


@each("version", [1.2, None, ["1.2"], "", " ", ...])
@each("side", ["ours", "theirs"])
def test_a_version_that_is_no_text_is_refused(side: str, version: Any) -> None:
    odd = {name: value for name, value in document(user={}).items() if name != "schema_version"}
    odd |= {} if version is ... else {"schema_version": version}
    sides = (pretty(odd), GOOD) if side == "ours" else (GOOD, pretty(odd))
    with pytest.raises(InvalidStore, match=rf"^The side `{side}` cannot be merged: `schema_version` is not there"):
        merge_documents(OTHER, *sides)


@each("bad", [bad for bad, _, _ in BAD if bad])
def test_a_base_that_cannot_be_read_is_none_and_that_is_told(bad: bytes) -> None:
    """It cannot be mended any more. Without it too much is kept; with an error nothing could ever be merged."""
    ours = document("1.2", 14, user={"a": entry("Mine.", access_count=6), "b": entry("B")})
    theirs = document("1.2", 15, user={"a": changed(entry("Yours.", access_count=8), updated_at=FRIDAY)})
    found = merge_documents(bad, pretty(ours), pretty(theirs))
    assert found.document["memories"]["user"]["a"]["value"] == "Yours."
    assert found.document["memories"]["user"]["b"] == entry("B")
    assert found.document["memories"]["user"]["a"]["access_count"] == 8
    assert found.document["session_count"] == 15
    first, second = found.disagreements
    assert (first.name, first.field, first.taken) == ("", "", "both")
    assert first.message.startswith("The side `base` ")
    assert first.message.endswith("look whether something is back that was deleted.")
    assert (second.name, second.field) == ("user.a", "value")
    assert merge_documents(bad, pretty(ours), pretty(ours)).disagreements == ()


def test_a_base_without_a_version_still_says_what_was_deleted() -> None:
    base = {"memories": {"user": {"a": entry(), "b": entry("B")}}}
    found = merge(base, document(user={"b": entry("B")}), document(user={"a": entry()}))
    assert (found.document, found.disagreements) == (document(user={}), ())


def test_a_byte_order_mark_and_other_layouts_are_read() -> None:
    compact = b"\xef\xbb\xbf" + json.dumps(document(user={"a": entry("\u00e9")})).encode()
    found = merge_documents(compact, compact, compact.replace(b"\\u00e9", b"\\u00e8").replace(b"{", b"{\r\n"))
    assert found.data == pretty(document(user={"a": entry("\u00e8")}))


# ---------------------------------------------------------------------------------------------------- recorded merges


def recorded(case: str) -> Merged:
    base, ours, theirs = ((CASES / case / f"{side}.json").read_bytes() for side in ("base", "ours", "theirs"))
    return merge_documents(base, ours, theirs)


def of_case(case: str, side: str) -> Any:
    return json.loads((CASES / case / f"{side}.json").read_bytes())


@needs_cases
def test_recorded_changes_on_both_sides() -> None:
    """The original program brought the deleted entry back, counted 29 sessions and dropped the empty category."""
    ours, theirs = of_case("memory-two-sided", "ours"), of_case("memory-two-sided", "theirs")
    found = recorded("memory-two-sided")
    expected = copy.deepcopy(ours)
    expected["session_count"] = 17
    expected["memories"]["user"]["username"]["access_count"] = 54
    expected["memories"]["user"]["email"] = theirs["memories"]["user"]["email"]
    expected["memories"]["user"]["github_url"]["links"] = [{"target": "user.email", "relation": "related-to"}]
    expected["memories"]["learnings"]["only_theirs"] = theirs["memories"]["learnings"]["only_theirs"]
    assert found.document == expected
    assert found.document["memories"]["tools"] == {}
    assert list(found.document["memories"]) == list(CATEGORIES)
    assert list(found.document["memories"]["learnings"])[-2:] == ["only_ours", "only_theirs"]
    assert [(item.name, item.field, item.ours, item.theirs, item.taken) for item in found.disagreements] == [
        ("user.email", "value", "ours@example.com", "theirs@example.com", "theirs")
    ]


@needs_cases
def test_recorded_times_of_mixed_precision() -> None:
    """The original program compared them as text, and so took the older one."""
    found = recorded("memory-mixed-precision")
    assert found.document == of_case("memory-mixed-precision", "ours")
    assert [(item.name, item.ours, item.theirs, item.taken) for item in found.disagreements] == [
        ("user.email", "frac", "whole", "ours")
    ]


@needs_cases
def test_recorded_versions() -> None:
    """The original program kept 2.0 over 10.0, and doubled the sessions."""
    found = recorded("memory-version-mix")
    assert found.document == of_case("memory-version-mix", "theirs")
    assert (found.document["schema_version"], found.document["session_count"]) == ("10.0", 12)
    assert [(item.field, item.taken) for item in found.disagreements] == [("schema_version", "theirs")]


@needs_cases
def test_recorded_empty_documents() -> None:
    """The original program dropped all six categories."""
    found = recorded("memory-empty-both")
    assert found.data == (CASES / "memory-empty-both" / "ours.json").read_bytes()
    assert found.disagreements == ()


@needs_cases
def test_a_recorded_side_that_is_broken() -> None:
    with pytest.raises(InvalidStore, match=r"^The side `theirs` is not JSON: .*, line 1, column 2\.$"):
        recorded("memory-corrupt-theirs")


@needs_cases
@pytest.mark.parametrize("path", sorted(DOCUMENTS.glob("real-*.json")), ids=lambda path: path.stem)
def test_real_documents_merge_with_their_own_changes(path: Path) -> None:
    """Each side changes one entry, deletes one with the links to it, and adds one; all else is as it was."""
    data = path.read_bytes()
    base = migrated(json.loads(data))
    assert merge_documents(None, data, data).document == base
    names = [(category, key) for category, entries in base["memories"].items() for key in entries]
    ours, theirs, expected = (copy.deepcopy(base) for _ in range(3))
    if len(names) >= 4:
        first, second, third, fourth = names[:4]
        for side in (ours, expected):
            side["memories"][first[0]][first[1]]["value"] = "Changed in ours."
            forget(side, *third)
        for side in (theirs, expected):
            side["memories"][second[0]][second[1]]["status"] = "archived"
            forget(side, *fourth)
    for side, key in ((ours, "mine"), (theirs, "yours")):
        for held in (side, expected):
            held["memories"].setdefault("learnings", {})[key] = entry(key)
    found = merge_documents(data, pretty(ours), pretty(theirs))
    assert found.disagreements == ()
    assert found.data == pretty(expected)


def forget(side: dict[str, Any], category: str, key: str) -> None:
    del side["memories"][category][key]
    for entries in side["memories"].values():
        for fields in entries.values():
            if "links" in fields:
                fields["links"] = [link for link in fields["links"] if link["target"] != f"{category}.{key}"]
