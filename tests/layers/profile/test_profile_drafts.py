"""A change while it is planned, and written: both documents, what is kept beside them, and what the index is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from entry_making import AT, BEFORE, EMPTY, Store, document, entry, link, written

from quire.layers.profile.entries import Entry
from quire.layers.profile.forgotten import Forgotten, read_forgotten
from quire.layers.profile.store import create_document, migrate, open_draft, profile_access
from quire.model.errors import Conflict, InputError, InvalidStore, NotFound, StorageFailed, UnsupportedVersion
from quire.model.records import Record

LATER = "2026-03-02T12:00:00Z"
ODD = document(
    user={"a": entry("A", colour="red", n=2**70), "text": "no entry", "valueless": {"x": 1}},
    novel={"b.c": entry("B")},
    tools=[1],
) | {"written_by": "somebody"}


# -- looking --------------------------------------------------------------------------------


def test_entries_are_found_whatever_they_are_called(tmp_path: Path) -> None:
    draft = Store(tmp_path, ODD).draft()
    found = draft.find("user", "a")
    assert found is not None
    assert (found.value, found.fields["colour"], found.is_private) == ("A", "red", False)
    assert draft.need("novel", "b.c").value == "B"
    for category, key in (("user", "text"), ("user", "valueless"), ("user", "z"), ("tools", "a"), ("novel", "a")):
        assert draft.find(category, key) is None
        with pytest.raises(NotFound) as caught:
            draft.need(category, key, what="source record")
        assert caught.value.message == f"There is no source record `{category}.{key}`."
        assert caught.value.details == {"id": f"profile:{category}.{key}"}
    with pytest.raises(InputError, match="Unknown category `none`"):
        draft.need("none", "a")
    assert draft.is_taken("user", "text")
    assert draft.is_taken("user", "valueless")
    assert not draft.is_taken("user", "z")
    assert not draft.is_taken("tools", "a")
    assert [item.name for item in draft.entries()] == ["user.a", "novel.b.c"]
    assert draft.is_empty


def test_the_private_document_counts_more(tmp_path: Path) -> None:
    shared = document(user={"a": entry("shared"), "b": entry("only shared")})
    twin = document(user={"a": entry("private"), "c": entry("only private")})
    draft = Store(tmp_path, shared, twin).draft()
    assert [(item.name, item.value, item.is_private) for item in draft.entries()] == [
        ("user.a", "private", True),
        ("user.b", "only shared", False),
        ("user.c", "only private", True),
    ]
    assert [is_private for _, is_private in draft.documents()] == [True, False]
    assert draft.versions == ("1.2", "1.2")
    assert draft.session_count == 3


def test_what_is_no_entry_hides_none(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"a": entry("shared")}), document(user={"a": "a text"}))
    assert store.draft().need("user", "a").value == "shared"
    assert [item.value for item in store.draft().entries()] == ["shared"]


def test_a_change_of_an_entry_is_made_where_the_entry_is(tmp_path: Path) -> None:
    """What stands in its place in the other document stays, readable or not."""
    store = Store(tmp_path, document(user={"a": entry("shared")}), document(user={"a": "a text"}))
    draft = store.draft()
    draft.change(draft.need("user", "a"), importance=9)
    store.write(draft)
    assert store.memories(store.twin) == {"user": {"a": "a text"}}
    assert store.memories()["user"]["a"]["importance"] == 9


def test_who_links_to_an_entry(tmp_path: Path) -> None:
    shared = document(
        user={"a": entry(links=[link("tools.größe")]), "b": entry("tools.größe"), "c": "odd"},
        tools={"größe": entry(links=[link("tools.größe")]), "d": entry(links=[link("tools.größer")])},
    )
    twin = document(relationships={"e": entry(links=[link("user.a"), link("tools.größe", "elaborates")])})
    store = Store(tmp_path, json.dumps(shared).encode(), twin)
    assert sorted(item.name for item in store.draft().linked_to("tools.größe")) == ["relationships.e", "user.a"]


# -- changing -------------------------------------------------------------------------------


def test_fields_are_set_and_everything_else_stays(tmp_path: Path) -> None:
    store = Store(tmp_path, ODD)
    draft = store.draft()
    changed = draft.change(draft.need("user", "a"), importance=9)
    assert changed.importance == 9
    draft.change(draft.need("novel", "b.c"), touch=False, links=[link("user.a")])
    store.write(draft)
    expected = json.loads(json.dumps(ODD))
    expected["memories"]["user"]["a"] |= {"importance": 9, "updated_at": AT}
    expected["memories"]["novel"]["b.c"]["links"] = [link("user.a")]
    assert store.shared.read_bytes() == written(expected)


def test_a_new_entry_goes_where_its_category_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path, document(), document())
    draft = store.draft()
    for category in ("user", "assistant", "project", "relationships", "tools", "learnings"):
        made = draft.put(category, "k", entry(category))
        assert made.is_private == (category in ("user", "relationships"))
    store.write(draft)
    assert list(store.memories()) == ["assistant", "project", "tools", "learnings"]
    assert list(store.memories(store.twin)) == ["user", "relationships"]


def test_an_entry_that_is_there_is_changed_where_it_is(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"old": entry()}), document(tools={"own": entry()}))
    draft = store.draft()
    draft.change(draft.need("user", "old"), importance=1)
    draft.change(draft.need("tools", "own"), importance=2)
    store.write(draft)
    assert store.memories()["user"]["old"]["importance"] == 1
    assert store.memories(store.twin)["tools"]["own"]["importance"] == 2


def test_the_first_entry_makes_the_document(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (store.root / ".ai-state").mkdir()
    draft = store.draft()
    assert draft.versions == ("", "")
    assert draft.entries() == []
    draft.put("tools", "a", entry())
    done = store.write(draft)
    expected = json.loads(EMPTY)
    expected["memories"]["tools"]["a"] = entry()
    assert store.shared.read_bytes() == written(expected)
    assert done.size == len(written(expected))
    assert store.names() == ["local/.gitignore", "memory.json"]
    assert (store.root / ".ai-state" / "local" / ".gitignore").read_text() == "*\n"


def test_a_private_entry_in_the_home_makes_that_document(tmp_path: Path) -> None:
    store = Store(tmp_path, document(), home=document())
    store.at_home.unlink()
    draft = store.draft()
    draft.put("user", "a", entry())
    store.write(draft)
    assert store.memories(store.at_home)["user"] == {"a": entry()}
    assert store.shared.read_bytes() == written(document())


def test_sessions_are_counted(tmp_path: Path) -> None:
    store = Store(tmp_path, document(), document())
    draft = store.draft()
    assert (draft.count_session(), draft.count_session(), draft.session_count) == (4, 5, 5)
    store.write(draft)
    assert store.stored()["session_count"] == 5
    assert store.stored(store.twin)["session_count"] == 3


def test_what_is_discarded_is_empty(tmp_path: Path) -> None:
    draft = Store(tmp_path, document()).draft()
    draft.put("tools", "a", entry())
    assert not draft.is_empty
    draft.discard()
    assert draft.is_empty


def test_removing_keeps_the_document_as_it_was_beside_it(tmp_path: Path) -> None:
    """To the byte, however it was written; the next removal keeps the next one."""
    data = json.dumps(document(user={"a": entry(), "b": entry("B")}), indent=4).encode()
    store = Store(tmp_path, data)
    backup = store.root / ".ai-state" / "memory.backup.json"
    draft = store.draft()
    draft.remove("user", "a")
    store.write(draft)
    assert backup.read_bytes() == data
    assert store.memories() == {"user": {"b": entry("B")}}
    between = store.shared.read_bytes()
    draft = store.draft()
    draft.remove("user", "b")
    store.write(draft)
    assert backup.read_bytes() == between
    assert store.memories() == {"user": {}}


def test_only_what_changes_is_kept_and_written(tmp_path: Path) -> None:
    twin = json.dumps(document(user={"a": entry()}), indent=3).encode()
    store = Store(tmp_path, document(tools={"b": entry()}), twin)
    before = os.stat(store.twin).st_mtime_ns
    draft = store.draft()
    draft.remove("tools", "b")
    store.write(draft)
    assert store.twin.read_bytes() == twin
    assert os.stat(store.twin).st_mtime_ns == before
    assert store.names() == ["local/.gitignore", "local/memory.json", "memory.backup.json", "memory.json"]


def test_the_backup_of_the_home_is_in_the_home(tmp_path: Path) -> None:
    home = written(document(user={"a": entry()}))
    store = Store(tmp_path, document(), home=home)
    draft = store.draft()
    draft.remove("user", "a")
    store.write(draft)
    assert (store.at_home.parent / "memory.backup.json").read_bytes() == home
    assert store.memories(store.at_home) == {"user": {}}
    assert "memory.backup.json" not in store.names()


def test_an_ordinary_change_keeps_no_backup(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"b": entry()}))
    draft = store.draft()
    draft.put("tools", "c", entry())
    store.write(draft)
    assert store.names() == ["local/.gitignore", "memory.json"]


def test_what_is_forgotten_and_restored_is_written_with_it(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"b": entry()}))
    draft = store.draft()
    draft.remove("tools", "b")
    draft.forgotten.append(Forgotten(at=AT, category="tools", key="b", fields=entry(novel=2**70)))
    store.write(draft)
    path = store.root / ".ai-state" / "local" / "forgotten.jsonl"
    line = json.loads(path.read_bytes())
    assert (line["category"], line["key"], line["fields"]) == ("tools", "b", entry(novel=2**70))
    draft = store.draft()
    draft.put("tools", "b", line["fields"])
    draft.restored += read_forgotten(str(store.root))
    store.write(draft)
    assert not path.exists()
    assert store.memories()["tools"]["b"] == entry(novel=2**70)


# -- what was read --------------------------------------------------------------------------


def test_readings_are_folded_into_the_next_change(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"a": entry(access_count=2, last_accessed=BEFORE), "b": entry()}))
    store.read("tools.a", "tools.gone")
    store.read("tools.a", at=LATER)
    draft = store.draft()
    draft.put("tools", "c", entry())
    store.write(draft)
    assert store.memories()["tools"] == {
        "a": entry(access_count=4, last_accessed=LATER),
        "b": entry(),
        "c": entry(),
    }
    assert store.names() == ["local/.gitignore", "memory.json"]
    draft = store.draft()
    draft.put("tools", "d", entry())
    store.write(draft)
    assert store.memories()["tools"]["a"]["access_count"] == 4


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, AT),
        ("", AT),
        ("soon", AT),
        (7, AT),
        (BEFORE, AT),
        (LATER, LATER),
        ("2026-03-02T12:19:00+01:00", "2026-03-02T12:19:00+01:00"),
        ("2026-03-02T11:18:59.999999Z", AT),
        ("2999-01-01T00:00:00Z", "2999-01-01T00:00:00Z"),
    ],
)
def test_the_last_reading_is_the_later_one(tmp_path: Path, before: Any, after: str) -> None:
    store = Store(tmp_path, document(tools={"a": entry(last_accessed=before)}))
    store.read("tools.a")
    store.read("tools.a")
    draft = store.draft()
    assert draft.is_empty
    draft.count_session()
    store.write(draft)
    assert store.memories()["tools"]["a"] == entry(last_accessed=after, access_count=2)


def test_readings_of_private_entries_are_folded_where_they_are(tmp_path: Path) -> None:
    shared = document(user={"a": entry("shared"), "b": entry()})
    store = Store(tmp_path, shared, document(user={"a": entry("private")}))
    store.read("user.a", "user.b", "user.c", "odd", ".")
    draft = store.draft()
    draft.count_session()
    store.write(draft)
    assert store.memories()["user"] == {"a": entry("shared"), "b": entry(access_count=1, last_accessed=AT)}
    assert store.memories(store.twin)["user"] == {"a": entry("private", access_count=1, last_accessed=AT)}


def test_an_entry_of_an_odd_category_is_counted(tmp_path: Path) -> None:
    store = Store(tmp_path, document(novel={"b.c": entry()}))
    store.read("novel.b.c")
    draft = store.draft()
    draft.count_session()
    store.write(draft)
    assert store.memories()["novel"]["b.c"]["access_count"] == 1


def test_what_is_read_while_a_change_is_planned_is_counted(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"a": entry(), "b": entry()}))
    store.read("tools.a")
    draft = store.draft()
    assert draft.need("tools", "a").access_count == 1
    store.read("tools.a", "tools.b", at=LATER)
    draft.count_session()
    store.write(draft)
    assert store.memories()["tools"] == {
        "a": entry(access_count=2, last_accessed=LATER),
        "b": entry(access_count=1, last_accessed=LATER),
    }


def test_what_another_change_took_meanwhile_is_not_counted_twice(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"a": entry(access_count=5)}))
    store.read("tools.a")
    draft = store.draft()
    (store.root / ".ai-state" / "local" / "access.jsonl").unlink()
    draft.count_session()
    store.write(draft)
    assert store.memories()["tools"]["a"]["access_count"] == 5


def test_a_change_that_was_refused_keeps_no_reading_from_being_folded(tmp_path: Path) -> None:
    """What is read after a plan that came to nothing is folded by the next change all the same."""
    store = Store(tmp_path, document(tools={"a": entry()}))
    store.read("tools.a")
    assert store.draft().is_empty
    store.read("tools.a", at=LATER)
    draft = store.draft()
    draft.put("tools", "b", entry())
    store.write(draft)
    assert store.memories()["tools"]["a"] == entry(access_count=2, last_accessed=LATER)
    assert store.names() == ["local/.gitignore", "memory.json"]


# -- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.3", "2.0"])
@pytest.mark.parametrize("twin", [False, True])
def test_only_our_own_version_is_ever_changed(tmp_path: Path, version: str, twin: bool) -> None:
    other = document(version, user={"a": entry()})
    store = Store(tmp_path, document(), other) if twin else Store(tmp_path, other)
    with pytest.raises(UnsupportedVersion, match=f"schema version `{version}`"):
        store.draft()


def twice(indent: int | None) -> bytes:
    data = json.dumps(document(user={"a": {"value": "x"}, "b": {"value": "z"}}), indent=indent).encode()
    comma = b", " if indent is None else b",\n        "
    return data.replace(b'"value": "x"', b'"value": "x"' + comma + b'"value": "y"') + b"\n"


def test_what_would_lose_something_is_not_opened_for_a_change(tmp_path: Path) -> None:
    store = Store(tmp_path, twice(None))
    with pytest.raises(InvalidStore, match="occurs twice"):
        store.draft()
    assert store.shared.read_bytes() == twice(None)


def test_in_a_document_as_we_write_it_only_what_is_touched_could_lose_something(tmp_path: Path) -> None:
    store = Store(tmp_path, twice(2))
    draft = store.draft()
    for work in (
        lambda: draft.change(draft.need("user", "a"), importance=9),
        lambda: draft.put("user", "a", entry()),
    ):
        with pytest.raises(InvalidStore, match="occurs twice"):
            work()
    draft.change(draft.need("user", "b"), importance=9)
    store.write(draft)
    assert b'"value": "x",\n        "value": "y"' in store.shared.read_bytes()


def test_reading_what_stands_twice_keeps_nobody_from_changing_something_else(tmp_path: Path) -> None:
    store = Store(tmp_path, twice(2))
    store.read("user.a", "user.b")
    draft = store.draft()
    draft.put("user", "c", entry())
    store.write(draft)
    found = json.loads(store.shared.read_bytes())["memories"]["user"]
    assert (found["c"], found["b"]["access_count"]) == (entry(), 1)
    assert b'"value": "x",\n        "value": "y"' in store.shared.read_bytes()


def test_a_document_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"a": entry()}))
    draft = store.draft()
    draft.put("tools", "b", entry())
    store.shared.write_bytes(written(document(tools={"c": entry()})))
    with pytest.raises(Conflict):
        store.write(draft)
    assert store.memories()["tools"] == {"c": entry()}


def test_a_document_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (store.root / ".ai-state").mkdir()
    draft = store.draft()
    draft.put("tools", "b", entry())
    store.shared.write_bytes(written(document(tools={"c": entry()})))
    with pytest.raises(Conflict):
        store.write(draft)
    assert store.memories()["tools"] == {"c": entry()}


def test_a_folder_in_the_place_of_the_backup_stops_a_removal_before_anything_is_written(tmp_path: Path) -> None:
    data = written(document(tools={"a": entry()}))
    store = Store(tmp_path, data)
    (store.root / ".ai-state" / "memory.backup.json").mkdir()
    draft = store.draft()
    draft.remove("tools", "a")
    with pytest.raises(StorageFailed, match=r"memory\.backup\.json"):
        store.write(draft)
    assert store.shared.read_bytes() == data


def test_a_folder_in_the_place_of_the_document(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.shared.mkdir(parents=True)
    with pytest.raises(InvalidStore, match="cannot be read"):
        store.draft()


# -- what the index is told -----------------------------------------------------------------


def test_what_is_gone_and_what_is_new(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"a": entry(links=[link("tools.b")]), "b": entry(), "c": entry()}))
    draft = store.draft()
    assert (draft.gone(), draft.items()) == ([], [])
    draft.change(draft.need("tools", "a"), links=[link("tools.c", "elaborates")])
    draft.remove("tools", "b")
    draft.put("tools", "d", entry("D"))
    assert sorted(draft.gone()) == [
        "profile:tools.a",
        "profile:tools.a related-to profile:tools.b",
        "profile:tools.b",
        "profile:tools.d",
    ]
    assert [item.ref for item in draft.items()] == [
        "profile:tools.a",
        "profile:tools.a elaborates profile:tools.c",
        "profile:tools.d",
    ]
    first = draft.items()[0]
    assert isinstance(first, Record)
    assert first.updated_at == AT


def test_what_was_changed_and_changed_back_was_as_it_was_at_first(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"a": entry(links=[link("tools.b")])}))
    draft = store.draft()
    draft.change(draft.need("tools", "a"), links=[])
    draft.change(draft.need("tools", "a"), links=[link("tools.c")])
    assert sorted(draft.gone()) == ["profile:tools.a", "profile:tools.a related-to profile:tools.b"]


def test_the_stamps_before_and_after(tmp_path: Path) -> None:
    store = Store(tmp_path, document())
    draft, before = open_draft(store.places, store.world)
    draft.put("tools", "a", entry())
    done = store.write(draft)
    assert done.after
    assert done.after != before
    assert open_draft(store.places, store.world)[1] == done.after


# -- documents ------------------------------------------------------------------------------


def test_an_empty_document_is_made_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    root = str(store.root)
    assert create_document(root, store.world, dry_run=True) == [".ai-state/memory.json"]
    assert list(store.root.iterdir()) == []
    with profile_access(store.places, store.world, "begin"):
        assert create_document(root, store.world) == [".ai-state/memory.json"]
        assert create_document(root, store.world) == []
        assert migrate(store.places, store.world) == []
    assert store.shared.read_text() == EMPTY


def test_the_lock_stays_and_is_empty(tmp_path: Path) -> None:
    store = Store(tmp_path, document(), home=document())
    with profile_access(store.places, store.world, "look"):
        pass
    assert (store.root / ".ai-state" / "memory.lock").read_bytes() == b""
    assert (store.at_home.parent / "memory.lock").read_bytes() == b""


def test_an_entry_as_it_is_understood(tmp_path: Path) -> None:
    made = Store(tmp_path, document()).draft().put("tools", "a", entry("A"))
    assert made == Entry(category="tools", key="a", value="A", created_at=BEFORE, updated_at=BEFORE, fields=entry("A"))
