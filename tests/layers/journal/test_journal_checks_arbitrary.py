"""The checks of a journal, whatever is in its files or in the place of its folders: never an exception."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_journal_checks import AT, CHK, CONFIG, EVENTS, SOURCES, STATE, Store, daemon_bytes, run_bytes

from quire.layers.journal import layout
from quire.layers.journal.canonical import file_bytes
from quire.model.records import Problem


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "harbor"
    root.mkdir()
    return Store.made(root)


FILES = (
    STATE,
    CONFIG,
    SOURCES,
    EVENTS,
    CHK,
    layout.DAEMON,
    layout.DAEMON_LOCK,
    layout.LATEST_RUN,
    "archive/prune-1/manifest.json",
    "archive/prune-1/events.jsonl",
    "local/pages-due.json",
    "local/imports.json",
    "recovery/transaction-1/intent.json",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Store:
    root = tmp_path_factory.mktemp("sound") / "harbor"
    root.mkdir()
    store = Store.made(root)
    store.batch("prune-1", 90)
    store.put(layout.DAEMON, daemon_bytes(99))
    store.put(layout.DAEMON_LOCK, file_bytes({"pid": 99, "createdAt": AT}))
    store.put(layout.LATEST_RUN, run_bytes("idle"))
    return store


def _with(store: Store, name: str, data: bytes) -> list[Problem]:
    path = store.folder / name
    before = path.read_bytes() if path.exists() else None
    try:
        store.put(name, data)
        return store.validate()
    finally:
        path.unlink() if before is None else path.write_bytes(before)


@given(name=st.sampled_from(FILES), data=st.binary(max_size=200))
def test_arbitrary_bytes_in_any_file_never_raise(sound: Store, name: str, data: bytes) -> None:
    found = _with(sound, name, data)
    assert {one.severity for one in found} <= {"pass", "warning", "error"}
    assert all(one.code.isprintable() and one.message.isprintable() for one in found)


@given(name=st.sampled_from(FILES), value=JSON)
def test_arbitrary_values_in_any_file_never_raise(sound: Store, name: str, value: Any) -> None:
    assert _with(sound, name, json.dumps(value).encode())


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


@given(
    data=st.data(), name=st.sampled_from((STATE, CONFIG, SOURCES, CHK, layout.DAEMON, layout.LATEST_RUN)), value=JSON
)
def test_an_arbitrary_value_anywhere_in_a_document_never_raises(
    sound: Store, data: st.DataObject, name: str, value: Any
) -> None:
    held = whole = sound.value(name)
    place = data.draw(st.sampled_from(_places(whole)[1:]))
    for key in place[:-1]:
        held = held[key]
    held[place[-1]] = value
    assert _with(sound, name, json.dumps(whole).encode())


@given(cut_at=st.integers(0, 5000), name=st.sampled_from((STATE, CONFIG, SOURCES, EVENTS, CHK)))
def test_a_file_cut_off_anywhere_never_raises(sound: Store, cut_at: int, name: str) -> None:
    assert _with(sound, name, sound.read(name)[:cut_at])


@pytest.mark.parametrize("name", ["history", "local", "automation", "recovery", "archive/prune-1"])
@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_something_else_in_the_place_of_a_folder_never_raises(store: Store, name: str, kind: str) -> None:
    store.batch("prune-1", 90)
    path = store.folder / name
    shutil.rmtree(path, ignore_errors=True)
    if kind == "file":
        path.write_bytes(b"x")
    elif kind == "link":
        path.symlink_to(store.root / "docs")
    else:
        os.mkfifo(path)
    assert store.validate()
