"""Keeping what is personal apart: carried over and back, nothing lost where two differ, nothing written by a look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from entry_making import AT, BEFORE, EMPTY, SHARED, TWIN, Store, document, entry, link, written

from quire.layers.profile.forgotten import read_forgotten
from quire.layers.profile.privacy import Move, carry_out, plan_move, retarget
from quire.layers.profile.store import profile_access
from quire.model.errors import Conflict, InputError, InvalidStore, QuireError, UnsupportedVersion

AT_HOME = "~/registry/profile/memory.json"
PERSONAL = {"user": {"a": entry("A"), "b": entry("B")}, "relationships": {"r": entry("R")}}
REST = {"tools": {"t": entry("T", links=[link("user.a")])}, "learnings": {}}


def move(store: Store, place: str, prefer: str = "") -> Move:
    with profile_access(retarget(store.places, place), store.world, "move"):
        return carry_out(store.places, store.world, place, prefer)


def tree(store: Store) -> dict[str, bytes]:
    top = store.root.parent
    return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}


# -- a look ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "target"), [("here", TWIN), ("home", AT_HOME), ("shared", SHARED)], ids=["here", "home", "shared"]
)
def test_a_look_writes_nothing(tmp_path: Path, place: str, target: str) -> None:
    store = Store(tmp_path, document(**PERSONAL, **REST))
    before = tree(store)
    found = plan_move(store.places, store.world, place)
    personal = ["user.a", "user.b", "relationships.r"] if place != "shared" else []
    assert found == Move(
        before="shared",
        after=place,
        target=target,
        moved=personal,
        copied=[],
        differing=[],
        linked=["tools.t"] if personal else [],
    )
    assert tree(store) == before


def test_places_there_are(tmp_path: Path) -> None:
    store = Store(tmp_path, document())
    for place in ("", "nowhere", "HERE"):
        with pytest.raises(InputError, match="Unknown place"):
            plan_move(store.places, store.world, place)


def test_without_a_home_there_is_no_home(tmp_path: Path) -> None:
    store = Store(tmp_path, document(**PERSONAL))
    store.world = msgspec.structs.replace(store.world, env={})
    before = tree(store)
    with pytest.raises(InputError, match="There is no home folder"):
        plan_move(store.places, store.world, "home")
    with pytest.raises(QuireError, match="There is no home folder"):
        move(store, "home")
    assert {name: data for name, data in tree(store).items() if not name.endswith(".lock")} == before


# -- there and back -------------------------------------------------------------------------


def test_to_the_twin_and_back(tmp_path: Path) -> None:
    shared = document(**PERSONAL, **REST, novel=[1]) | {"extra": "ä"}
    store = Store(tmp_path, shared)
    done = move(store, "here")
    assert (done.moved, done.copied, done.differing) == (["user.a", "user.b", "relationships.r"], [], [])
    expected = {"user": {}, "relationships": {}, **REST, "novel": [1]}
    assert store.shared.read_bytes() == written({**document(**expected), "extra": "ä"})
    twin = json.loads(EMPTY)
    twin["memories"] |= PERSONAL
    assert store.twin.read_bytes() == written(twin)
    assert (store.root / ".ai-state" / "local" / ".gitignore").read_text() == "*\n"
    assert store.places.private == "here"
    kept = store.twin.read_bytes()
    done = move(store, "shared")
    assert (done.before, done.after, done.moved) == ("here", "shared", ["user.a", "user.b", "relationships.r"])
    assert store.shared.read_bytes() == written(shared)
    assert store.places.private == "shared"
    assert (store.root / ".ai-state" / "local" / "memory.backup.json").read_bytes() == kept


def test_to_the_home_and_back(tmp_path: Path) -> None:
    shared = document(**PERSONAL, **REST)
    store = Store(tmp_path, shared)
    done = move(store, "home")
    assert done.moved == ["user.a", "user.b", "relationships.r"]
    assert store.places.private == "home"
    assert store.memories() == {"user": {}, "relationships": {}, **REST}
    assert store.memories(store.at_home)["user"] == PERSONAL["user"]
    assert store.names() == ["local/.gitignore", "local/private.json", "memory.json", "memory.lock"]
    home = store.at_home.read_bytes()
    done = move(store, "shared")
    assert (done.moved, done.copied) == ([], ["user.a", "user.b", "relationships.r"])
    assert store.memories() == {**PERSONAL, **REST}
    assert store.at_home.read_bytes() == home
    assert store.names() == ["local/.gitignore", "memory.json", "memory.lock"]


def test_from_the_twin_to_the_home_and_to_the_twin(tmp_path: Path) -> None:
    store = Store(tmp_path, document(**REST), document(**PERSONAL))
    done = move(store, "home")
    assert (done.before, done.moved) == ("here", ["user.a", "user.b", "relationships.r"])
    assert not store.twin.exists()
    assert {name: store.memories(store.at_home)[name] for name in PERSONAL} == PERSONAL
    home = store.at_home.read_bytes()
    done = move(store, "here")
    assert (done.moved, done.copied) == ([], ["user.a", "user.b", "relationships.r"])
    assert store.at_home.read_bytes() == home
    assert {name: store.memories(store.twin)[name] for name in PERSONAL} == PERSONAL
    assert store.memories() == REST
    assert store.places.private == "here"


@pytest.mark.parametrize("place", ["here", "home", "shared"])
def test_moving_to_where_it_is_changes_nothing(tmp_path: Path, place: str) -> None:
    store = Store(tmp_path, document(**PERSONAL, **REST))
    move(store, place)
    before = tree(store)
    done = move(store, place)
    assert (done.before, done.after, done.moved, done.copied) == (place, place, [], [])
    assert tree(store) == before


@pytest.mark.parametrize("place", ["here", "home"])
def test_what_was_shared_later_follows(tmp_path: Path, place: str) -> None:
    store = Store(tmp_path, document())
    move(store, place)
    value = store.stored()
    value["memories"]["user"] = {"late": entry("Late.")}
    store.shared.write_bytes(written(value))
    assert move(store, place).moved == ["user.late"]
    assert store.memories()["user"] == {}


def test_without_a_document_there_is_a_place_all_the_same(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert move(store, "here").moved == []
    assert store.twin.read_text() == EMPTY
    assert not store.shared.exists()
    assert store.places.private == "here"


def test_entries_are_carried_as_they_are(tmp_path: Path) -> None:
    odd = {"value": "v", "tags": None, "importance": "7", "novel": {"ü": [1, 2.5, None]}, "n": 2**70}
    store = Store(tmp_path, document(user={"Odd Key.x": odd}))
    move(store, "here")
    assert json.dumps(store.memories(store.twin)["user"]["Odd Key.x"]) == json.dumps(odd)
    move(store, "shared")
    assert json.dumps(store.memories()["user"]["Odd Key.x"]) == json.dumps(odd)


def test_categories_that_were_put_into_the_private_document_come_with_it(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={}), document(tools={"own": entry()}, novel={"n": entry()}))
    assert move(store, "shared").moved == ["tools.own", "novel.n"]
    assert store.memories() == {"tools": {"own": entry()}, "novel": {"n": entry()}}


# -- what is no entry -----------------------------------------------------------------------


def test_what_is_no_entry_stays_where_it_is(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"a": entry(), "odd": "a text"}, relationships=[1]))
    assert move(store, "here").moved == ["user.a"]
    assert store.memories() == {"user": {"odd": "a text"}, "relationships": [1]}


@pytest.mark.parametrize("place", ["shared", "home"])
@pytest.mark.parametrize(
    ("twin", "left"),
    [
        (document(user={"a": entry(), "odd": "a text"}), ["user.odd"]),
        (document(user={"a": entry()}, relationships=[1]), ["relationships"]),
        (document(user={"a": entry()}) | {"extra": 1}, ["extra"]),
    ],
)
def test_a_twin_goes_only_where_nothing_is_left_in_it(tmp_path: Path, place: str, twin: Any, left: list[str]) -> None:
    store = Store(tmp_path, document(), twin)
    before = tree(store)
    with pytest.raises(InvalidStore) as caught:
        move(store, place)
    assert caught.value.details == {"path": TWIN, "left": left}
    assert {name: data for name, data in tree(store).items() if not name.endswith((".lock", ".gitignore"))} == before


def test_what_is_no_entry_in_the_target_is_not_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"a": entry("A"), "b": entry("B")}), document(user={"a": "a text"}))
    assert move(store, "here").moved == ["user.b"]
    assert store.memories()["user"] == {"a": entry("A")}
    assert store.memories(store.twin)["user"] == {"a": "a text", "b": entry("B")}


# -- where two differ -----------------------------------------------------------------------


def differing(tmp_path: Path) -> Store:
    return Store(
        tmp_path,
        document(user={"a": entry("shared"), "b": entry("B")}),
        document(user={"a": entry("private"), "c": entry("C")}),
    )


@pytest.mark.parametrize("place", ["here", "shared", "home"])
def test_where_two_differ_somebody_has_to_say(tmp_path: Path, place: str) -> None:
    store = differing(tmp_path)
    before = tree(store)
    assert plan_move(store.places, store.world, place).differing == ["user.a"]
    with pytest.raises(Conflict) as caught:
        move(store, place)
    assert caught.value.details == {"entries": ["user.a"]}
    assert "--prefer" in (caught.value.hint or "")
    assert {name: data for name, data in tree(store).items() if not name.endswith((".lock", ".gitignore"))} == before


@pytest.mark.parametrize(
    ("place", "prefer", "holds"),
    [
        ("here", "target", "private"),
        ("here", "source", "shared"),
        ("shared", "target", "shared"),
        ("shared", "source", "private"),
    ],
)
def test_the_one_that_loses_can_be_restored(tmp_path: Path, place: str, prefer: str, holds: str) -> None:
    store = differing(tmp_path)
    move(store, place, prefer)
    path = store.twin if place == "here" else store.shared
    assert store.memories(path)["user"]["a"] == entry(holds)
    assert set(store.memories(path)["user"]) == {"a", "b", "c"}
    (lost,) = read_forgotten(str(store.root))
    other = {"private": "shared", "shared": "private"}[holds]
    assert (lost.at, lost.category, lost.key, lost.fields) == (AT, "user", "a", entry(other))


def test_a_look_at_where_it_is_leaves_even_the_form_of_the_document(tmp_path: Path) -> None:
    twin = json.dumps(document(user={"a": entry("A")})).encode()
    store = Store(tmp_path, document(), twin)
    move(store, "here")
    assert store.twin.read_bytes() == twin


def test_three_that_differ(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"a": entry("shared")}), document(user={"a": entry("twin")}))
    store.at_home.parent.mkdir(parents=True)
    store.at_home.write_bytes(written(document(user={"a": entry("home")})))
    move(store, "home", "target")
    assert store.memories(store.at_home)["user"]["a"] == entry("home")
    assert {item.fields["value"] for item in read_forgotten(str(store.root))} == {"shared", "twin"}


def test_what_differs_in_readings_alone_is_the_same(tmp_path: Path) -> None:
    """No reading is lost: the higher count and the later time stay."""
    often = entry("A", access_count=50, last_accessed="2026-02-20T10:00:00Z")
    seldom = entry("A", access_count=2, last_accessed=BEFORE)
    for number, (shared, twin) in enumerate(((often, seldom), (seldom, often))):
        folder = tmp_path / str(number)
        folder.mkdir()
        store = Store(folder, document(user={"a": shared}), document(user={"a": twin}))
        assert plan_move(store.places, store.world, "here").differing == []
        move(store, "here")
        assert store.memories(store.twin)["user"]["a"] == often


def test_the_home_of_another_project_keeps_what_it_has(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"b": entry("B")}))
    store.at_home.parent.mkdir(parents=True)
    theirs = document(user={"x": entry("X", n=2**70)}, novel={"y": entry("Y")}) | {"extra": 1}
    store.at_home.write_bytes(written(theirs))
    move(store, "home")
    theirs["memories"]["user"]["b"] = entry("B")
    assert store.at_home.read_bytes() == written(theirs)
    assert store.memories() == {"user": {}}


def test_links_that_will_lead_out_of_the_shared_document_are_told(tmp_path: Path) -> None:
    shared = document(
        user={"a": entry(links=[link("user.b")]), "b": entry()},
        tools={"x": entry(links=[link("user.b")]), "y": entry(links=[link("tools.x")])},
        learnings={"z": entry(links=[7, link("user.a", "novel")]), "odd": 7},
    )
    store = Store(tmp_path, shared)
    assert plan_move(store.places, store.world, "here").linked == ["learnings.z", "tools.x"]


# -- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.3", "2.0"])
@pytest.mark.parametrize("where", ["shared", "twin", "home"])
def test_documents_of_other_versions_are_not_written_to(tmp_path: Path, version: str, where: str) -> None:
    documents: dict[str, Any] = {"shared": document(**PERSONAL), where: document(version, user={"z": entry()})}
    store = Store(tmp_path, **documents)
    before = tree(store)
    for place in ("here", "home", "shared"):
        if place == store.places.private and where != "shared":
            continue
        with pytest.raises(UnsupportedVersion):
            move(store, place)
    assert {name: data for name, data in tree(store).items() if not name.endswith(".lock")} == before


def test_a_key_that_stands_twice_is_not_carried(tmp_path: Path) -> None:
    twice = b'{"schema_version": "1.2", "memories": {"user": {"a": {"value": "x"}, "a": {"value": "y"}}}}'
    store = Store(tmp_path, twice)
    with pytest.raises(InvalidStore, match="occurs twice"):
        move(store, "here")
    assert store.shared.read_bytes() == twice
    assert not store.twin.exists()


def test_a_category_that_holds_no_entries_in_the_target(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"a": entry()}), document(user=[1]))
    before = store.shared.read_bytes()
    with pytest.raises(InvalidStore, match="holds no records"):
        move(store, "here")
    assert store.shared.read_bytes() == before
