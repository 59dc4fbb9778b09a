"""Older documents brought up to our version: what comes out by hand, and the bytes that are kept beside it."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from entry_making import SHARED, Store, entry, parsed, written
from hypothesis import given
from hypothesis import strategies as st

from quire.files import disk
from quire.layers.profile.migration import migrated, steps
from quire.layers.profile.store import migrate, read_documents
from quire.model.errors import InvalidStore

DAY = "2026-02-09T14:00:00Z"
FIRST = {
    "schema_version": "1.0",
    "memories": {
        "user": {
            "email": {"value": "a@b.c", "created_at": DAY, "updated_at": DAY, "tags": ["personal"], "confidence": None},
            "größe": {"value": "eins", "importance": 9, "colour": "red", "status": None, "source": "an old note"},
        },
        "learnings": {},
        "novel": {"x": {"value": "kept"}},
        "tools": ["no", "entries"],
        "project": {"odd": "a text", "none": None, "list": [1]},
    },
    "written_by": "somebody",
}
SECOND = {
    "schema_version": "1.1",
    "memories": {
        "user": {
            "email": {
                "value": "a@b.c",
                "created_at": DAY,
                "updated_at": DAY,
                "tags": ["personal"],
                "confidence": None,
                "importance": 5,
                "source": {"type": "session", "detail": None},
                "access_count": 0,
                "last_accessed": None,
                "status": "active",
            },
            "größe": {
                "value": "eins",
                "importance": 9,
                "colour": "red",
                "status": None,
                "source": "an old note",
                "access_count": 0,
                "last_accessed": None,
            },
        },
        "learnings": {},
        "novel": {
            "x": {
                "value": "kept",
                "importance": 5,
                "source": {"type": "session", "detail": None},
                "access_count": 0,
                "last_accessed": None,
                "status": "active",
            }
        },
        "tools": ["no", "entries"],
        "project": {"odd": "a text", "none": None, "list": [1]},
    },
    "written_by": "somebody",
    "session_count": 0,
}


def third() -> dict[str, Any]:
    found = copy.deepcopy(SECOND)
    found["schema_version"] = "1.2"
    memories: Any = found["memories"]
    for held in (memories["user"]["email"], memories["user"]["größe"], memories["novel"]["x"]):
        held["links"] = []
    return found


def run(store: Store) -> list[str]:
    return migrate(store.places, store.world)


def kept(store: Store) -> dict[str, bytes]:
    """Every file of the profile but the lock."""
    top = store.root / ".ai-state"
    return {name: (top / name).read_bytes() for name in store.names()}


# -- by hand --------------------------------------------------------------------------------


def test_each_step_is_what_it_is_by_hand() -> None:
    before = copy.deepcopy(FIRST)
    assert [json.dumps(step) for step in steps(FIRST)] == [json.dumps(SECOND), json.dumps(third())]
    assert before == FIRST
    assert json.dumps(migrated(FIRST)) == json.dumps(migrated(SECOND)) == json.dumps(third())
    assert steps(third()) == []
    assert migrated(third()) == third()


@pytest.mark.parametrize("version", ["1.2", "1.3", "2.0", "9.9", "", None, 1.0, ["1.0"]])
def test_other_versions_stay_as_they_are(version: Any) -> None:
    value = {**FIRST, "schema_version": version}
    assert steps(value) == []
    assert migrated(value) is value


def test_what_is_there_wins_over_every_default() -> None:
    value = {
        "schema_version": "1.0",
        "session_count": 7,
        "memories": {
            "user": {
                "a": {
                    "value": "v",
                    "importance": 1,
                    "source": None,
                    "access_count": -1,
                    "last_accessed": "x",
                    "status": "archived",
                    "links": None,
                }
            }
        },
    }
    assert migrated(value) == {**value, "schema_version": "1.2"}


def test_defaults_are_not_shared_between_entries() -> None:
    value = {"schema_version": "1.0", "memories": {"user": {"a": {"value": "v"}, "b": {"value": "w"}}}}
    first, second = migrated(value)["memories"]["user"].values()
    assert first["source"] is not second["source"]
    assert first["links"] is not second["links"]


@pytest.mark.parametrize("memories", [None, [], "x", {}, {"user": None}, {"user": {"a": None}}])
def test_documents_without_entries(memories: Any) -> None:
    value = {"schema_version": "1.0", "memories": memories}
    assert migrated(value) == {"schema_version": "1.2", "memories": memories, "session_count": 0}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda held: st.lists(held, max_size=2) | st.dictionaries(st.text(max_size=5), held, max_size=2),
    max_leaves=4,
)
HELD = st.dictionaries(st.sampled_from((*entry(), "novel")), JSON, max_size=6)


@given(
    st.sampled_from(("1.0", "1.1")),
    st.dictionaries(st.text(max_size=4), st.dictionaries(st.text(max_size=4), HELD | JSON, max_size=3) | JSON),
    st.sampled_from(({}, {"session_count": 4}, {"novel": [1]})),
)
def test_nothing_is_lost_and_once_is_enough(version: str, memories: dict[str, Any], top: dict[str, Any]) -> None:
    value = {"schema_version": version, **top, "memories": memories}
    found = migrated(value)
    assert found["schema_version"] == "1.2"
    assert {**found, "schema_version": version, "memories": None} == {
        **({"session_count": 0} if version == "1.0" else {}),
        **value,
        "memories": None,
    }
    assert list(found["memories"]) == list(memories)
    for category, held in memories.items():
        if not isinstance(held, dict):
            assert found["memories"][category] == held
            continue
        assert list(found["memories"][category]) == list(held)
        for key, item in held.items():
            now = found["memories"][category][key]
            if not isinstance(item, dict):
                assert now == item
                continue
            assert {name: now[name] for name in item} == item
            assert list(now)[: len(item)] == list(item)
            added = {"importance", "source", "access_count", "last_accessed", "status"} if version == "1.0" else set()
            assert set(now) == {*item, *added, "links"}
    assert migrated(found) is found


# -- on the disk ----------------------------------------------------------------------------


def test_a_first_document_leaves_two_backups_and_ours(tmp_path: Path) -> None:
    """The first as its bytes were; the second, which never was a file, as we would have written it."""
    data = json.dumps(FIRST, indent=7).encode() + b"\r\n\r\n"
    store = Store(tmp_path, data)
    assert run(store) == ["1.0"]
    assert kept(store) == {
        "memory.json": written(third()),
        "memory.pre-migration-1.0.json": data,
        "memory.pre-migration-1.1.json": written(SECOND),
    }
    assert run(store) == []
    assert len(kept(store)) == 3


def test_a_second_document_leaves_one_backup(tmp_path: Path) -> None:
    data = json.dumps(SECOND).encode()
    store = Store(tmp_path, data)
    assert run(store) == ["1.1"]
    assert kept(store) == {"memory.json": written(third()), "memory.pre-migration-1.1.json": data}


@pytest.mark.parametrize("version", ["1.2", "1.3", "2.0"])
def test_nothing_is_done_to_others(tmp_path: Path, version: str) -> None:
    data = json.dumps({**third(), "schema_version": version}).encode()
    store = Store(tmp_path, data)
    before = os.stat(store.shared)
    assert run(store) == []
    assert kept(store) == {"memory.json": data}
    assert os.stat(store.shared).st_mtime_ns == before.st_mtime_ns


def test_where_nothing_is_nothing_is_made(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert run(store) == []
    assert list(store.root.iterdir()) == []


def test_earlier_backups_that_say_something_else_stay(tmp_path: Path) -> None:
    data = written(FIRST)
    store = Store(tmp_path, data)
    top = store.root / ".ai-state"
    (top / "memory.pre-migration-1.0.json").write_bytes(b"of last year")
    (top / "memory.pre-migration-1.0.1.json").write_bytes(b"of the year before")
    (top / "memory.pre-migration-1.1.json").write_bytes(written(SECOND))
    run(store)
    assert kept(store) == {
        "memory.json": written(third()),
        "memory.pre-migration-1.0.json": data,
        "memory.pre-migration-1.0.1.json": b"of the year before",
        "memory.pre-migration-1.0.2.json": b"of last year",
        "memory.pre-migration-1.1.json": written(SECOND),
    }


def test_an_older_document_that_comes_back_is_brought_up_again(tmp_path: Path) -> None:
    store = Store(tmp_path, written(FIRST))
    run(store)
    after = kept(store)
    store.shared.write_bytes(written(FIRST))
    assert run(store) == ["1.0"]
    assert kept(store) == after


def test_the_private_twin_is_brought_up_beside_itself(tmp_path: Path) -> None:
    store = Store(tmp_path, third(), twin=written(FIRST))
    assert run(store) == ["1.0"]
    assert kept(store) == {
        "memory.json": written(third()),
        "local/memory.json": written(third()),
        "local/memory.pre-migration-1.0.json": written(FIRST),
        "local/memory.pre-migration-1.1.json": written(SECOND),
    }


def test_the_document_in_the_home_is_brought_up_there(tmp_path: Path) -> None:
    store = Store(tmp_path, written(SECOND), home=written(FIRST))
    assert run(store) == ["1.1", "1.0"]
    assert {path.name: path.read_bytes() for path in store.at_home.parent.iterdir() if path.is_file()} == {
        "memory.json": written(third()),
        "memory.pre-migration-1.0.json": written(FIRST),
        "memory.pre-migration-1.1.json": written(SECOND),
    }
    assert store.shared.read_bytes() == written(third())


def test_letters_stay_letters_and_numbers_what_they_are(tmp_path: Path) -> None:
    value = {"schema_version": "1.0", "memories": {"user": {"größe": {"value": "東京 🎉", "n": 2**70, "f": 0.1}}}}
    store = Store(tmp_path, json.dumps(value).encode())
    run(store)
    found = store.stored()["memories"]["user"]["größe"]
    assert (found["value"], found["n"], found["f"]) == ("東京 🎉", 2**70, 0.1)
    assert "größe" in store.shared.read_text()


def with_number(number: str) -> bytes:
    return f'{{"schema_version": "1.0", "memories": {{"user": {{"a": {{"value": "v", "n": {number}}}}}}}}}'.encode()


@pytest.mark.parametrize("number", ["1.50", "1E5", "-0.0", "9" * 400])
def test_numbers_of_any_form_stay_the_same_number(tmp_path: Path, number: str) -> None:
    store = Store(tmp_path, with_number(number))
    assert run(store) == ["1.0"]
    assert json.loads(store.shared.read_bytes())["memories"]["user"]["a"]["n"] == json.loads(number)
    assert (store.root / ".ai-state" / "memory.pre-migration-1.0.json").read_bytes() == with_number(number)


@pytest.mark.parametrize("number", ["1e400", "9" * 5000])
def test_a_number_that_cannot_be_read_is_kept_or_keeps_the_document_as_it_is(tmp_path: Path, number: str) -> None:
    store = Store(tmp_path, with_number(number))
    try:
        run(store)
    except InvalidStore:
        assert kept(store) == {"memory.json": with_number(number)}
    else:
        assert f'"n": {number}'.encode() in store.shared.read_bytes()


@pytest.mark.parametrize("indent", [None, 2])
def test_a_key_that_stands_twice_is_not_brought_up(tmp_path: Path, indent: int | None) -> None:
    data = json.dumps(FIRST, indent=indent, ensure_ascii=False).encode() + b"\n"
    twice = data.replace(
        b'"colour":', b'"colour": "blue", "colour":' if indent is None else b'"colour": "blue",\n        "colour":'
    )
    assert twice != data
    store = Store(tmp_path, twice)
    with pytest.raises(InvalidStore, match="occurs twice"):
        run(store)
    assert kept(store) == {"memory.json": twice}


def test_what_is_read_before_it_is_brought_up_is_read_as_it_is() -> None:
    found = [item if isinstance(item, str) else item.name for item in parsed(FIRST).read()]
    assert found == [
        "user.email",
        "user.größe",
        "novel.x",
        "`tools`: it is not an object, so it holds no records.",
        "`project.odd`: it is not an object.",
        "`project.none`: it is not an object.",
        "`project.list`: it is not an object.",
    ]


def test_the_backups_are_complete_before_the_document_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped at any write, the document is the old one as long as a backup is missing."""
    data = written(FIRST)

    class Stop(BaseException):
        pass

    at = 0
    while True:
        folder = tmp_path / str(at)
        folder.mkdir()
        store = Store(folder, data)
        left = at

        def before(*_: object) -> None:
            nonlocal left
            if left == 0:
                raise Stop
            left -= 1

        with monkeypatch.context() as patch:
            patch.setattr(disk, "before", before)
            try:
                run(store)
            except Stop:
                pass
            else:
                break
        found = kept(store)
        if found["memory.json"] != data:
            assert found["memory.json"] == written(third())
            assert found["memory.pre-migration-1.0.json"] == data
            assert found["memory.pre-migration-1.1.json"] == written(SECOND)
        at += 1
    assert at > 4


def test_read_documents_gives_both(tmp_path: Path) -> None:
    store = Store(tmp_path, FIRST, twin=SECOND)
    shared, private = read_documents(store.places)
    assert shared is not None
    assert private is not None
    assert (shared.version, shared.where, private.version, private.where) == (
        "1.0",
        SHARED,
        "1.1",
        ".ai-state/local/memory.json",
    )
