"""Working memory: the rules of its 25 slots, and its file, whoever wrote it."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.files import disk
from quire.layers.facts.working_memory import (
    SESSIONS_MOST,
    SLOTS,
    PinnedFact,
    Working,
    automatic,
    follow,
    pin,
    read_working,
    unpin,
    write_working,
)
from quire.model.errors import InputError, OutsideProject, StorageFailed, UnsupportedVersion

NOW = "2026-03-02T11:19:00+00:00"
LATER = "2026-03-02T12:00:00+00:00"
FULL = Working(tuple(PinnedFact(f"f{number:02}", NOW) for number in range(SLOTS)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / ".memory" / "local" / "working.json"
    path.parent.mkdir(parents=True)
    return path


def root_of(file: Path) -> str:
    return str(file.parents[2])


def ids(working: Working) -> list[str]:
    return [item.id for item in working.pins]


def stored(file: Path) -> Any:
    return json.loads(file.read_text())


# -- the rules ------------------------------------------------------------------------------


def test_pins_stand_in_the_order_of_pinning() -> None:
    working, outcome = pin(Working(), ["b", "a", "b"], NOW)
    assert working == Working((PinnedFact("b", NOW), PinnedFact("a", NOW)))
    assert outcome == {"b": "pinned", "a": "pinned"}


def test_pinning_again_moves_to_the_newest_end() -> None:
    working, _ = pin(Working(released_at="x"), ["a", "b", "c"], NOW)
    working, outcome = pin(working, ["a"], LATER)
    assert working.pins == (PinnedFact("b", NOW), PinnedFact("c", NOW), PinnedFact("a", LATER))
    assert outcome == {"a": "already pinned"}
    assert working.released_at == "x"


def test_a_pin_is_never_pushed_out() -> None:
    working, outcome = pin(FULL, ["new", "f03", "newer"], LATER)
    assert outcome == {"new": "no slot", "f03": "already pinned", "newer": "no slot"}
    assert sorted(ids(working)) == ids(FULL)
    assert ids(working)[-1] == "f03"


def test_the_last_slot_is_given_to_the_first_that_asks() -> None:
    working, outcome = pin(Working(FULL.pins[:-1]), ["x", "y"], NOW)
    assert outcome == {"x": "pinned", "y": "no slot"}
    assert len(working.pins) == SLOTS == 25


def test_unpinning_some() -> None:
    working, _ = pin(Working(released_at=NOW), ["a", "b", "c"], NOW)
    working, outcome = unpin(working, ["b", "gone", "b"], LATER)
    assert ids(working) == ["a", "c"]
    assert outcome == {"b": "released", "gone": "not pinned"}
    assert working.released_at == NOW


def test_unpinning_nothing_by_name_is_not_unpinning_all() -> None:
    assert unpin(FULL, [], LATER) == (FULL, {})


def test_unpinning_all_says_when() -> None:
    working, _ = pin(Working(), ["a", "b"], NOW)
    assert unpin(working, None, LATER) == (Working((), LATER), {"a": "released", "b": "released"})
    assert unpin(Working(), None, LATER) == (Working((), LATER), {})


def test_a_superseded_pin_takes_the_new_id_and_keeps_place_and_time() -> None:
    working = Working((PinnedFact("a", NOW), PinnedFact("b", LATER), PinnedFact("c", LATER)), NOW)
    assert follow(working, {"a": "a2", "c": None, "other": "x"}) == Working(
        (PinnedFact("a2", NOW), PinnedFact("b", LATER)), NOW
    )


def test_following_goes_to_the_end_of_a_chain_and_stops_in_a_ring() -> None:
    working = Working((PinnedFact("a", NOW),))
    assert ids(follow(working, {"a": "b", "b": "c"})) == ["c"]
    assert ids(follow(working, {"a": "b", "b": None})) == []
    assert ids(follow(working, {"a": "b", "b": "a"})) == ["a"]
    assert ids(follow(working, {"a": "a"})) == ["a"]


def test_following_never_gives_two_pins_of_one_id() -> None:
    working = Working((PinnedFact("a", NOW), PinnedFact("b", LATER), PinnedFact("c", LATER)))
    assert follow(working, {"a": "b"}).pins == (PinnedFact("b", LATER), PinnedFact("c", LATER))
    assert follow(working, {"c": "b"}).pins == (PinnedFact("a", NOW), PinnedFact("b", LATER))
    assert follow(working, {"a": "x", "c": "x"}).pins == (PinnedFact("x", NOW), PinnedFact("b", LATER))
    assert follow(working, {"a": "b", "b": "a"}).pins == working.pins


NAMES = st.sampled_from("abcdef")


@given(st.lists(NAMES, unique=True), st.dictionaries(NAMES, st.none() | NAMES))
def test_following_keeps_ids_apart_and_invents_none(names: list[str], moves: dict[str, str | None]) -> None:
    found = ids(follow(Working(tuple(PinnedFact(name, NOW) for name in names)), moves))
    assert len(found) == len(set(found))
    assert set(found) <= set(names) | {target for target in moves.values() if target}


def test_what_was_read_fills_the_slots_that_pins_leave() -> None:
    accessed = {f"r{number:02}": f"2026-03-02T10:00:{number:02}+00:00" for number in range(40)}
    assert automatic(Working(), accessed) == [f"r{number:02}" for number in range(39, 14, -1)]
    assert automatic(Working(FULL.pins[:23]), accessed) == ["r39", "r38"]
    assert automatic(FULL, accessed) == []
    assert automatic(Working((*FULL.pins, PinnedFact("more", NOW))), accessed) == []


def test_what_is_pinned_excluded_or_read_at_no_time_is_not_automatic() -> None:
    accessed = {"a": NOW, "b": NOW, "c": NOW, "d": "soon", "e": ""}
    assert automatic(Working((PinnedFact("a", NOW),)), accessed, {"b"}) == ["c"]


def test_equal_times_go_by_id_and_times_are_compared_as_instants() -> None:
    accessed = {"z": NOW, "a": "2026-03-02T13:19:00+02:00", "late": "2026-03-02T08:20:00.000-03:00"}
    assert automatic(Working(), accessed) == ["late", "a", "z"]


def test_what_was_read_before_the_release_no_longer_counts() -> None:
    accessed = {"before": "2026-03-02T11:18:59Z", "then": "2026-03-02T11:19:00Z", "after": "2026-03-02T11:19:01Z"}
    assert automatic(Working(released_at=NOW), accessed) == ["after"]
    assert automatic(Working(released_at="never"), accessed) == ["after", "then", "before"]


# -- the file -------------------------------------------------------------------------------


def test_without_a_file_it_is_empty(tmp_path: Path) -> None:
    assert read_working(str(tmp_path)) == (Working(), [])
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_read_by_session(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert write_working(root, "", FULL, "t") == []
    assert write_working(root, "s-1", Working((PinnedFact("a", NOW),), LATER), "t") == []
    assert read_working(root) == (FULL, [])
    assert read_working(root, "s-1") == (Working((PinnedFact("a", NOW),), LATER), [])
    assert read_working(root, "s-2") == (Working(), [])
    assert sorted(os.listdir(tmp_path / ".memory" / "local")) == [".gitignore", "working.json"]


def test_the_file_has_one_form(file: Path) -> None:
    write_working(root_of(file), "s", Working((PinnedFact("ä", NOW),)), "t")
    expected = {"version": 1, "sessions": {"s": {"pins": [{"id": "ä", "at": NOW}], "released_at": ""}}}
    assert file.read_text() == json.dumps(expected, indent=2, ensure_ascii=False) + "\n"


def test_keys_that_nobody_knows_survive(file: Path) -> None:
    before = {
        "version": 1,
        "theme": {"dark": True},
        "sessions": {
            "s": {"pins": [{"id": "a", "at": NOW, "why": "x"}, {"id": "b", "at": NOW}], "colour": 7},
            "other": {"pins": [], "odd": None},
        },
    }
    file.write_text(json.dumps(before))
    write_working(root_of(file), "s", Working((PinnedFact("b", NOW), PinnedFact("a", LATER))), "t")
    found = stored(file)
    assert found["theme"] == {"dark": True}
    assert found["sessions"]["other"] == {"pins": [], "odd": None}
    pins = [{"id": "b", "at": NOW}, {"id": "a", "at": LATER, "why": "x"}]
    assert found["sessions"]["s"] == {"pins": pins, "colour": 7, "released_at": ""}


def test_of_two_pins_of_one_id_the_newer_holds(file: Path) -> None:
    pins = [{"id": "a", "at": NOW}, {"id": "b", "at": NOW}, {"id": "a", "at": LATER}]
    file.write_text(json.dumps({"version": 1, "sessions": {"": {"pins": pins}}}))
    assert read_working(root_of(file)) == (Working((PinnedFact("b", NOW), PinnedFact("a", LATER))), [])


def test_of_too_many_sessions_the_longest_untouched_without_pins_go_first(file: Path) -> None:
    pinned = {"pins": [{"id": "a", "at": NOW}], "released_at": ""}
    bare = {"pins": [], "released_at": NOW}
    sessions = {f"s{number:03}": pinned if number % 2 else bare for number in range(SESSIONS_MOST)}
    file.write_text(json.dumps({"version": 1, "sessions": sessions}))
    root = root_of(file)
    write_working(root, "s000", Working(), "t")
    assert write_working(root, "new", Working(), "t") == ["s002"]
    assert write_working(root, "newer", Working(), "t") == ["s004"]
    assert len(stored(file)["sessions"]) == SESSIONS_MOST


def test_where_all_have_pins_the_longest_untouched_goes_and_is_named(file: Path) -> None:
    pinned = {"pins": [{"id": "a", "at": NOW}]}
    sessions = {"": {"pins": []}, **{f"s{number:03}": pinned for number in range(SESSIONS_MOST - 1)}}
    file.write_text(json.dumps({"version": 1, "sessions": sessions}))
    assert write_working(root_of(file), "new", Working(), "t") == ["s000"]
    names = list(stored(file)["sessions"])
    assert (names[0], names[-1], len(names)) == ("", "new", SESSIONS_MOST)


@pytest.mark.parametrize("name", ["x" * 161, "a\nb", "\x1b[31m", "\u202e", "\ud800", "a\0"])
def test_the_name_of_a_session_is_checked(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_working(str(tmp_path), name)
    assert refusal.value.details["field"] == "session"
    with pytest.raises(InputError):
        write_working(str(tmp_path), name, Working(), "t")
    assert list(tmp_path.iterdir()) == []


def test_any_printable_name_will_do(tmp_path: Path) -> None:
    for name in ("ü/../…", "x" * 160, '"quoted" \\'):
        write_working(str(tmp_path), name, Working((PinnedFact("a", NOW),)), "t")
        assert ids(read_working(str(tmp_path), name)[0]) == ["a"]


@pytest.mark.parametrize("name", ["", "two words", "x" * 161, "\ud800", "a\n"])
def test_an_id_that_could_not_be_read_back_is_not_written(file: Path, name: str) -> None:
    write_working(root_of(file), "", FULL, "t")
    before = file.read_bytes()
    with pytest.raises(InputError) as refusal:
        write_working(root_of(file), "", Working((PinnedFact(name, NOW),)), "t")
    assert refusal.value.details["field"] == "fact_ids"
    assert file.read_bytes() == before


DAMAGED = {
    "garbage": b"\x00\xff{{{",
    "empty": b"",
    "cut": b'{"version": 1, "sessions": {"": {"pi',
    "list": b"[]",
    "deep": b"[" * 100_000,
    "no version": b'{"sessions": {}}',
    "odd version": b'{"version": "1", "sessions": {}}',
    "true version": b'{"version": true, "sessions": {}}',
    "version 0": b'{"version": 0, "sessions": {}}',
    "sessions": b'{"version": 1, "sessions": []}',
    "session": b'{"version": 1, "sessions": {"": 5}}',
    "pins": b'{"version": 1, "sessions": {"": {"pins": "a"}}}',
    "pin": b'{"version": 1, "sessions": {"": {"pins": [{"id": "a b", "at": ""}]}}}',
    "lone surrogate": b'{"version": 1, "sessions": {"": {"pins": [{"id": "\\ud800", "at": ""}]}}}',
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_counts_as_empty_and_is_kept_beside_the_new_one(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    working, problems = read_working(root_of(file))
    assert working == Working()
    assert [(item.code, item.severity, item.path) for item in problems] == [
        ("LocalStateDamaged", "warning", ".memory/local/working.json")
    ]
    assert file.read_bytes() == data
    write_working(root_of(file), "", FULL, "t")
    assert read_working(root_of(file)) == (FULL, [])
    aside = file.with_name("working.json.damaged")
    assert aside.read_bytes() == data
    file.write_bytes(b"damaged again")
    write_working(root_of(file), "", FULL, "t")
    assert read_working(root_of(file)) == (FULL, [])
    assert aside.read_bytes() == data


def test_a_session_that_cannot_be_read_takes_no_other_along(file: Path) -> None:
    file.write_text(json.dumps({"version": 1, "sessions": {"bad": 5, "good": {"pins": [{"id": "a", "at": NOW}]}}}))
    root = root_of(file)
    assert read_working(root, "good") == (Working((PinnedFact("a", NOW),)), [])
    write_working(root, "good", FULL, "t")
    assert stored(file)["sessions"]["bad"] == 5
    assert not file.with_name("working.json.damaged").exists()
    write_working(root, "bad", Working(), "t")
    assert read_working(root, "good") == (FULL, [])
    assert file.with_name("working.json.damaged").exists()


def test_a_newer_version_is_not_understood_and_not_overwritten(file: Path) -> None:
    data = b'{"version": 2, "sessions": {"": {"pins": [{"id": "a", "at": ""}]}}}'
    file.write_bytes(data)
    working, problems = read_working(root_of(file))
    assert working == Working()
    assert [(item.code, item.severity) for item in problems] == [("LocalStateNewer", "warning")]
    with pytest.raises(UnsupportedVersion) as refusal:
        write_working(root_of(file), "", FULL, "t")
    assert refusal.value.hint
    assert [entry.name for entry in file.parent.iterdir()] == ["working.json"]
    assert file.read_bytes() == data


def test_a_huge_file_is_not_read_and_moved_aside(file: Path) -> None:
    with file.open("wb") as huge:
        huge.truncate(9 * 1024 * 1024)
    assert [item.code for item in read_working(root_of(file))[1]] == ["LocalStateDamaged"]
    write_working(root_of(file), "", FULL, "t")
    assert read_working(root_of(file)) == (FULL, [])
    assert file.with_name("working.json.damaged").stat().st_size == 9 * 1024 * 1024


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling link"])
def test_what_is_no_plain_file_is_neither_read_nor_replaced(file: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target.json"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(target)
    content = '{"version": 1, "sessions": {"": {"pins": [{"id": "a", "at": ""}]}}}'
    if kind == "link":
        target.write_text(content)
    before = os.lstat(file)
    working, problems = read_working(root_of(file))
    assert working == Working()
    assert [item.code for item in problems] == ["LocalStateDamaged"]
    with pytest.raises(OutsideProject if "link" in kind else StorageFailed) as refusal:
        write_working(root_of(file), "", FULL, "t")
    assert refusal.value.hint
    assert os.path.samestat(os.lstat(file), before)
    assert [path.read_text() for path in (target,) if path.exists()] == ([content] if kind == "link" else [])


@pytest.mark.parametrize("name", [".memory", ".memory/local"])
def test_a_folder_behind_a_link_is_refused(tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_working(str(elsewhere), "", FULL, "t")
    root = tmp_path / "root"
    (root / name).parent.mkdir(parents=True)
    (root / name).symlink_to(elsewhere / name)
    working, problems = read_working(str(root))
    assert working == Working()
    assert [item.code for item in problems] == ["LocalStateDamaged"]
    with pytest.raises(OutsideProject):
        write_working(str(root), "", Working(), "t")
    assert read_working(str(elsewhere)) == (FULL, [])


def test_a_file_where_the_folder_should_be_is_said(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    (tmp_path / ".memory" / "local").write_text("mine")
    assert [item.code for item in read_working(str(tmp_path))[1]] == ["LocalStateDamaged"]
    with pytest.raises(StorageFailed):
        write_working(str(tmp_path), "", FULL, "t")
    assert (tmp_path / ".memory" / "local").read_text() == "mine"


@pytest.mark.parametrize("operation", ["create", "rename"])
def test_a_disk_that_refuses_is_said_and_loses_nothing(
    file: Path, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_working(root_of(file), "", FULL, "t")

    def refuse(found: str, path: str) -> None:
        if found == operation:
            raise OSError(errno.EROFS, "Read-only file system", path)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", refuse)
        with pytest.raises(StorageFailed, match="read-only"):
            write_working(root_of(file), "", Working(), "t")
    assert read_working(root_of(file)) == (FULL, [])
    assert sorted(os.listdir(file.parent)) == [".gitignore", "working.json"]


def test_a_file_that_cannot_be_read_just_now_is_not_replaced(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_working(root_of(file), "", FULL, "t")
    really = os.open

    def busy(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if str(path) == str(file):
            raise OSError(errno.EMFILE, "Too many open files", path)
        return really(path, flags, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", busy)
        with pytest.raises(StorageFailed, match="too many files are open"):
            read_working(root_of(file))
        with pytest.raises(StorageFailed, match="too many files are open"):
            write_working(root_of(file), "", Working(), "t")
    assert read_working(root_of(file)) == (FULL, [])
    assert sorted(os.listdir(file.parent)) == [".gitignore", "working.json"]
