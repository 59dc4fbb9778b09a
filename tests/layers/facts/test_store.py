"""The file itself: what is appended, what is written anew, and what nobody's change may touch or lose."""

import contextlib
import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drafting import Store
from hypothesis import given
from hypothesis import strategies as st
from making import data, edge, episode, fact, resolved

from quire.files import disk
from quire.files.world import World
from quire.files.write_access import write_access
from quire.layers.facts import store as store_module
from quire.layers.facts.archive import archive_facts, restore_facts
from quire.layers.facts.connect import connect
from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.layout import LINE_BYTES
from quire.layers.facts.lines import encode_record
from quire.layers.facts.source import stamp_now
from quire.layers.facts.store import commit, create_file, ensure_attribute, read_file, replace_file
from quire.layers.facts.store_fact import FactInput, store_fact, supersede_fact
from quire.model.errors import Conflict, InputError, InvalidStore, OutsideProject, QuireError

ATTRIBUTE = b"facts.jsonl merge=union text eol=lf\n"
ODD_IDS = ["ä", 'a"b', "a\\b", "a/b", "🙂", "a,b", "{a}", "ﬁ", "a\u200bb", "-", ".", "(a|b)*", "\\u0061"]


def told(content: str = "New.", name: str = "new") -> FactInput:
    return FactInput(id=name, content=content, section="Specs")


def archived(store: Store, *names: str, reason: str | None = None) -> None:
    draft = store.draft()
    archive_facts(draft, names, reason)
    store.write(draft)


# -- appending ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "gap"),
    [
        (b"", b""),
        (b"\n", b""),
        (data(fact("a")), b""),
        (data(fact("a")).rstrip(b"\n"), b"\n"),
        (data(fact("a")).replace(b"\n", b"\r\n"), b""),
        (data(fact("a")).rstrip(b"\n") + b"\r", b"\n"),
        (b"\xef\xbb\xbf" + data(fact("a")), b""),
        (b"\xff\xfe no text", b"\n"),
        (b'{"half": ', b"\n"),
        (b"<<<<<<< ours\n" + data(fact("a")) + b"=======\n>>>>>>> theirs\n", b""),
        (b"\n\n\n" + data(fact("a")) + b"\n\n", b""),
    ],
)
def test_a_new_line_leaves_every_byte_before_it(tmp_path: Path, before: bytes, gap: bytes) -> None:
    store = Store(tmp_path)
    store.path.write_bytes(before)
    draft = store.draft()
    new = store_fact(draft, told()).fact
    done = commit(store.root, store.world, draft)
    assert store.data == before + gap + encode_record(new) + b"\n"
    assert (done.after, done.before != done.after) == (stamp_now(store.root), True)


def test_where_there_is_no_file_one_is_made(tmp_path: Path) -> None:
    store = Store(tmp_path)
    draft = store.draft()
    store_fact(draft, told())
    done = commit(store.root, store.world, draft)
    assert (done.before, done.after) == ("", stamp_now(store.root))
    assert store.data.count(b"\n") == 1


def test_several_new_lines_are_one_append(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"))
    before = store.data
    draft = store.draft()
    store_fact(draft, told("One.", "b"))
    store_fact(draft, told("Two.", "c"))
    connect(draft, "e", "b", "c", "enables")
    store.write(draft)
    assert store.data.startswith(before)
    assert [json.loads(line)["id"] for line in store.lines()[:-1]] == ["a", "b", "c", "e"]


# -- changing -------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("end", [True, False])
def test_only_the_line_that_changes_is_another(tmp_path: Path, newline: bytes, end: bool) -> None:
    rows = data(fact("a"), fact("b", " Spaces   inside. ", colour={"z": 1, "a": 2}), fact("c"), "junk", "", fact("d"))
    lines = rows.split(b"\n")[:-1]
    store = Store(tmp_path)
    store.path.write_bytes(newline.join(lines) + (newline if end else b""))
    before = store.data.split(b"\n")
    archived(store, "c", reason="stale")
    after = store.data.split(b"\n")
    assert [line for number, line in enumerate(after) if number != 2][:5] == before[:2] + before[3:6]
    assert store.data.endswith(b"\n")
    changed = json.loads(after[2])
    assert (changed["id"], changed["status"], changed["reason"]) == ("c", "archived", "stale")


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("end", [True, False])
def test_the_first_the_last_and_the_one_between(tmp_path: Path, place: int, end: bool) -> None:
    store = Store(tmp_path)
    rows = [fact("a"), fact("b"), fact("c")]
    store.path.write_bytes(data(*rows) if end else data(*rows)[:-1])
    before = data(*rows).split(b"\n")
    archived(store, "abc"[place])
    after = store.data.split(b"\n")
    assert len(after) == len(before)
    assert after[place] != before[place]
    assert [line for number, line in enumerate(after) if number != place] == [
        line for number, line in enumerate(before) if number != place
    ]


@pytest.mark.parametrize("name", ODD_IDS)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_ids_that_are_not_plain(tmp_path: Path, name: str, ascii_only: bool) -> None:
    lines = [json.dumps(fact(name, "One."), ensure_ascii=ascii_only), json.dumps(fact("a", "Two."))]
    store = Store(tmp_path, *lines)
    archived(store, name, reason="stale")
    assert store.fact(name).status == "archived"
    assert store.lines()[1] == lines[1].encode()
    draft = store.draft()
    restore_facts(draft, name)
    store.write(draft)
    draft = store.draft()
    supersede_fact(draft, name, told())
    store.write(draft)
    assert [(item.id, item.status) for item in store.stored()] == [
        (name, "superseded"),
        ("a", "active"),
        ("new", "active"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"_type":"fact","id":"\\u0061\\u0062","section":"Specs","content":"One."}',
        '{ "_type" : "fact" , "id" : "ab" , "section" : "Specs" , "content" : "One." }',
        '\ufeff{"_type":"fact","id":"ab","section":"Specs","content":"One."}',
        '{"id":"ab","section":"Specs","content":"One."}',
        '{"content":"One.","section":"specs","id":"ab","_type":"fact","status":"ACTIVE"}\r',
        '{"_type":"fact","\\u0069d":"ab","section":"Specs","content":"One."}',
    ],
)
def test_a_line_however_it_is_written(tmp_path: Path, line: str) -> None:
    store = Store(tmp_path, fact("abc", "About ab."), line, fact("x", "ab"))
    before = store.lines()
    archived(store, "ab")
    after = store.lines()
    assert (after[0], after[2:]) == (before[0], before[2:])
    assert json.loads(after[1])["status"] == "archived"


def test_an_id_inside_other_ids_and_texts_is_not_meant(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("aa", "a"),
        fact("a", "The one."),
        edge("a", "a", "aa"),
        episode("a", narrative="a"),
        {"_type": "mind", "name": "a"},
        fact("b", "a and a", supersedes="a", tags=["a"]),
    )
    before = store.lines()
    archived(store, "a")
    assert [number for number, (old, new) in enumerate(zip(before, store.lines(), strict=True)) if old != new] == [1]
    draft = store.draft()
    archive_facts(draft, "edge:a", None)
    store.write(draft)
    assert [number for number, (old, new) in enumerate(zip(before, store.lines(), strict=True)) if old != new] == [1, 2]


def test_unknown_keys_stay_whatever_is_done(tmp_path: Path) -> None:
    more: dict[str, Any] = {"colour": "red", "deep": {"list": [1, None, {"x": 1e300}]}, "_private": True, "": "empty"}
    store = Store(tmp_path, fact("a", "One.", decay_rate="fast", version="7", **more))
    expected = {"decay_rate": "fast", **more}
    archived(store, "a")
    assert store.fact("a").extra == expected
    draft = store.draft()
    restore_facts(draft, "a")
    store.write(draft)
    assert store.fact("a").extra == expected
    draft = store.draft()
    store_fact(draft, told("One."))
    store.write(draft)
    draft = store.draft()
    supersede_fact(draft, "a", told("Two."))
    store.write(draft)
    assert store.fact("a").extra == expected
    assert store.fact("new").extra == {}
    assert store.fact("a").version == 11


# -- several lines of one thing -------------------------------------------------------------


def test_history_stays_and_copies_go(tmp_path: Path) -> None:
    copy = fact("a", "Newest.", version=5)
    store = Store(
        tmp_path,
        fact("a", "Oldest.", version=1),
        copy,
        fact("b", "Between."),
        fact("a", "Older.", version=4, tags=["x"]),
        copy,
        fact("a", "Newest.", version=3),
    )
    before = store.lines()
    archived(store, "a")
    after = store.lines()
    assert [after[0], *after[2:4], after[4:]] == [before[0], before[2], before[3], [b""]]
    found = resolved(store.data)
    assert (found.facts["a"].status, found.facts["a"].content, found.facts["a"].version) == ("archived", "Newest.", 6)
    assert [loser.content for loser in found.conflicts[0].losers] == ["Older.", "Oldest."]


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_what_history_says_of_another_time_is_not_said_of_this_one(tmp_path: Path, status: str) -> None:
    """It was put away once, for a reason; then it held again, and now it is put away for none."""
    store = Store(
        tmp_path,
        fact("a", "Oldest.", version=1, status=status, reason="an old reason", same_as="b"),
        fact("a", "Newest.", version=5),
        fact("b", "Other."),
    )
    draft = store.draft()
    if status == "archived":
        archive_facts(draft, "a", None)
    else:
        supersede_fact(draft, "a", told("New."))
    store.write(draft)
    found = store.fact("a")
    assert (found.content, found.status, found.reason, found.same_as) == ("Newest.", status, None, None)


def test_what_is_gone_by_now_is_an_error(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"), fact("b"))
    draft = store.draft()
    archive_facts(draft, "a", None)
    store.path.write_bytes(data(fact("b")))
    with pytest.raises(InputError, match="no longer in the file"):
        store.write(draft)
    assert store.data == data(fact("b"))


# -- long lines -----------------------------------------------------------------------------


def long_fact(name: str, size: int, **fields: Any) -> bytes:
    """A line of exactly this many bytes."""
    empty = data(fact(name, "", **fields)).rstrip(b"\n")
    return data(fact(name, "x" * (size - len(empty)), **fields)).rstrip(b"\n")


def test_very_long_lines_of_others_stay(tmp_path: Path) -> None:
    longest, longer = long_fact("a", LINE_BYTES - 1_000), long_fact("b", LINE_BYTES + 1)
    store = Store(tmp_path, longest, longer, fact("c"))
    archived(store, "c")
    assert store.lines()[:2] == [longest, longer]
    draft = store.draft()
    store_fact(draft, told())
    store.write(draft)
    assert store.lines()[:2] == [longest, longer]


@pytest.mark.parametrize("room", [1_000, 200, 100, 10, 0])
def test_a_very_long_fact_is_not_lost_by_being_put_away(tmp_path: Path, room: int) -> None:
    """A line grows by being archived; where it would become too long to be read, that must not be done."""
    store = Store(tmp_path, long_fact("a", LINE_BYTES - room), fact("b"))
    before = resolved(store.data)
    assert set(before.facts) == {"a", "b"}
    draft = store.draft()
    try:
        archive_facts(draft, "a", "stale")
        store.write(draft)
    except QuireError:
        pass
    assert set(resolved(store.data).facts) == {"a", "b"}


# -- other programs -------------------------------------------------------------------------


def during(monkeypatch: pytest.MonkeyPatch, operation: str, work: Callable[[], Any]) -> None:
    """Let another program do something at the first such operation on the disk."""
    done: list[str] = []

    def before(found: str, path: str) -> None:
        if found == operation and not done:
            done.append(path)
            work()

    monkeypatch.setattr(disk, "before", before)


def foreign(store: Store, line: bytes) -> Callable[[], None]:
    def work() -> None:
        with store.path.open("ab") as file:
            file.write(line)

    return work


FOREIGN = data(fact("x", "Foreign."))


def test_a_line_that_came_after_planning_stays(tmp_path: Path) -> None:
    for change in (lambda draft: store_fact(draft, told()), lambda draft: archive_facts(draft, "a", None)):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        store = Store(folder, fact("a"), fact("b"))
        draft = store.draft()
        change(draft)
        foreign(store, FOREIGN)()
        store.write(draft)
        assert FOREIGN in store.data
        assert {"a", "b", "x"} <= set(resolved(store.data).facts)


@pytest.mark.parametrize("operation", ["make_folder", "create", "fsync", "sync_folder", "append", "rename"])
def test_a_line_that_came_while_a_new_one_was_written_stays(
    tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, fact("a"))
    draft = store.draft()
    store_fact(draft, told())
    during(monkeypatch, operation, foreign(store, FOREIGN))
    commit(store.root, store.world, draft)
    assert set(resolved(store.data).facts) == {"a", "new", "x"}


@pytest.mark.parametrize("operation", ["make_folder", "create", "fsync", "set_mode", "sync_folder"])
def test_a_line_that_came_while_others_were_written_anew_is_not_lost(
    tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, fact("a"), fact("b"))
    draft = store.draft()
    archive_facts(draft, "a", None)
    during(monkeypatch, operation, foreign(store, FOREIGN))
    with contextlib.suppress(Conflict):
        commit(store.root, store.world, draft)
    assert FOREIGN in store.data


def test_a_file_that_changed_is_not_replaced_as_a_whole(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"))
    planned = read_file(store.root)
    foreign(store, FOREIGN)()
    with pytest.raises(Conflict):
        replace_file(store.root, store.world, b"", planned)
    assert store.data == planned + FOREIGN
    done = replace_file(store.root, store.world, planned, store.data)
    assert (store.data, done.after) == (planned, stamp_now(store.root))


def test_a_file_that_appeared_is_not_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path)
    foreign(store, FOREIGN)()
    with pytest.raises(Conflict):
        replace_file(store.root, store.world, b"x", b"")
    assert store.data == FOREIGN


# -- a process that dies --------------------------------------------------------------------


class Death(BaseException):
    """The process is gone."""


CHANGES: dict[str, Callable[[FactsDraft], Any]] = {
    "append": lambda draft: store_fact(draft, told()),
    "rewrite": lambda draft: archive_facts(draft, ["a", "c"], "stale"),
    "both": lambda draft: supersede_fact(draft, "b", told("Two.")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whenever_the_process_dies_the_change_is_made_or_not(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    seen = set()
    for moment in range(200):
        folder = tmp_path / f"{moment}"
        folder.mkdir()
        store = Store(folder, fact("a", "One."), fact("b", "Before."), fact("c", "Three."))
        before = store.data
        draft = store.draft()
        CHANGES[change](draft)
        count = iter(range(10_000))

        def die(_operation: str, _path: str, count: Any = count, moment: int = moment) -> None:
            if next(count) >= moment:
                raise Death

        with monkeypatch.context() as patch:
            patch.setattr(disk, "before", die)
            try:
                commit(store.root, store.world, draft)
            except Death:
                pass
            else:
                seen.add(store.data == before)
                break
        with write_access(store.root, ".memory", store.world, "recover"):
            pass
        seen.add(store.data == before)
        if store.data != before:
            assert resolved(store.data).version > 0
            assert len(store.data.splitlines()) == (3 if change == "rewrite" else 4)
        assert not os.path.exists(folder / ".memory" / "recovery") or not os.listdir(folder / ".memory" / "recovery")
    else:
        raise AssertionError("it never came to its end")
    assert seen == {True, False}


# -- places that are none -------------------------------------------------------------------


@pytest.mark.parametrize("change", ["append", "rewrite"])
def test_a_link_is_not_written_through(tmp_path: Path, change: str) -> None:
    store = Store(tmp_path / "project", fact("a"), fact("c"))
    draft = store.draft()
    CHANGES[change](draft)
    elsewhere = tmp_path / "elsewhere.jsonl"
    store.path.rename(elsewhere)
    before = elsewhere.read_bytes()
    store.path.symlink_to(elsewhere)
    with pytest.raises((OutsideProject, InvalidStore, OSError)):
        store.write(draft)
    assert elsewhere.read_bytes() == before
    assert store.path.is_symlink()


def test_a_file_that_would_be_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, fact("a"))
    before = store.data
    monkeypatch.setattr(store_module, "FILE_BYTES", len(before) + 10)
    for change in ("append", "rewrite"):
        draft = store.draft()
        if change == "append":
            store_fact(draft, told())
        else:
            archive_facts(draft, "a", "x" * 100)
        with pytest.raises(InputError, match="the limit is"):
            store.write(draft)
        assert store.data == before


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    assert read_file(str(tmp_path)) == b""


# -- beside the file ------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, World, Path]:
    store = Store(tmp_path)
    return store.root, store.world, tmp_path / ".memory" / ".gitattributes"


def test_git_is_told_how_to_merge(place: tuple[str, World, Path]) -> None:
    root, world, path = place
    assert ensure_attribute(root, world)
    assert path.read_bytes().endswith(b"\n" + ATTRIBUTE)
    before = path.read_bytes()
    assert not ensure_attribute(root, world)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        b"facts.jsonl merge=union\n",
        b"/facts.jsonl  text merge=union",
        b"*.json text\r\nfacts.jsonl merge=union\r\n",
        b"\tfacts.jsonl\tmerge=union\n",
    ],
)
def test_what_is_said_already_is_not_said_again(place: tuple[str, World, Path], text: bytes) -> None:
    root, world, path = place
    path.write_bytes(text)
    assert not ensure_attribute(root, world)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("text", "gap", "newline"),
    [
        (b"# facts.jsonl merge=union\n", b"", b"\n"),
        (b"facts.jsonl text", b"\n", b"\n"),
        (b"facts.jsonl -merge\n", b"", b"\n"),
        (b"other.jsonl merge=union\r\n", b"", b"\r\n"),
        (b"facts.jsonl merge=unions\n", b"", b"\n"),
        (b"\xff\xfe\n", b"", b"\n"),
    ],
)
def test_what_else_is_said_there_stays(place: tuple[str, World, Path], text: bytes, gap: bytes, newline: bytes) -> None:
    root, world, path = place
    path.write_bytes(text)
    assert ensure_attribute(root, world)
    after = path.read_bytes()
    assert after.startswith(text + gap)
    assert after.endswith(newline + ATTRIBUTE.replace(b"\n", newline))
    assert not ensure_attribute(root, world)


@pytest.mark.parametrize("later", [b"facts.jsonl -merge\n", b"* merge=binary\n", b"*.jsonl merge=ours\n"])
def test_what_a_later_line_takes_back_is_said_again(place: tuple[str, World, Path], later: bytes) -> None:
    """Of several lines about a file git takes the last."""
    root, world, path = place
    path.write_bytes(ATTRIBUTE + later)
    assert ensure_attribute(root, world)


def test_an_empty_file_is_made_once(place: tuple[str, World, Path]) -> None:
    root, world, path = place
    assert create_file(root, world, dry_run=True) == [".memory/facts.jsonl"]
    assert not path.exists()
    assert create_file(root, world) == [".memory/facts.jsonl"]
    assert (path.parent / "facts.jsonl").read_bytes() == b""
    assert path.exists()
    assert create_file(root, world) == []


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for change in CHANGES:
        folder = tmp_path / change
        folder.mkdir()
        store = Store(folder, fact("a", "One."), fact("b", "Before."), fact("c", "Three."))
        before = store.data
        draft = store.draft()
        CHANGES[change](draft)

        def full(operation: str, path: str) -> None:
            if operation in ("create", "append"):
                raise OSError(errno.ENOSPC, "No space left on device", path)

        with monkeypatch.context() as patch:
            patch.setattr(disk, "before", full)
            with pytest.raises(OSError):
                commit(store.root, store.world, draft)
        assert store.data == before
        store.write(draft)
        assert store.data != before


# -- anything -------------------------------------------------------------------------------

LINES = st.lists(
    st.builds(
        lambda name, text, version, status, space: json.dumps(
            fact(name, text, version=version, status=status), separators=(", ", ": ") if space else (",", ":")
        ).encode(),
        st.sampled_from("abc"),
        st.sampled_from(["One.", "Two.", "Three."]),
        st.integers(0, 3),
        st.sampled_from(["active", "archived", "superseded"]),
        st.booleans(),
    )
    | st.sampled_from([b"", b"junk", b'{"_type":"mind","name":"a"}', b"<<<<<<< a", b"{}"]),
    max_size=8,
)


@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.sampled_from("abc"))
def test_whatever_the_file_holds(
    tmp_path_factory: pytest.TempPathFactory, rows: list[bytes], newline: bytes, end: bool, name: str
) -> None:
    """One fact archived or restored: its status is the new one, every other is as it was, no foreign line goes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        store = Store(tmp_path_factory.mktemp("any"))
        store.path.write_bytes(newline.join(rows) + (newline if rows and end else b""))
        before = resolved(store.data)
        rows_before = store.data.split(b"\n")
        draft = store.draft()
        held = draft.fact(name)
        if held is None:
            return
        work = archive_facts(draft, name, "why") if held.fact.is_active else restore_facts(draft, name)
        if draft.is_empty:
            assert not work[0].done
            return
        after = store.write(draft)
    touched = {held.fact.id, *(twin.id for twin in held.twins)}
    assert after.find(name).status == ("archived" if held.fact.is_active else "active")  # type: ignore[union-attr]
    assert {key: item for key, item in after.facts.items() if key not in touched} == {
        key: item for key, item in before.facts.items() if key not in touched
    }
    assert after.aside == before.aside
    assert after.version > before.version
    rows_after = store.data.split(b"\n")
    for row in rows_before:
        if not any(f'"{key}"'.encode() in row for key in touched) and row:
            assert row in rows_after
