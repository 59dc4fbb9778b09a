"""Open sessions: checkpoints that outlive a killed process, and the one episode that each session leaves."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.files import disk
from quire.layers.facts.layout import LINE_BYTES
from quire.layers.facts.lines import encode_record, read_lines
from quire.layers.facts.sessions import (
    OpenSession,
    checkpoint_session,
    episode_of,
    forget_session,
    merge_session,
    read_sessions,
)
from quire.layers.facts.types import Episode
from quire.model.errors import InputError, OutsideProject, StorageFailed, UnsupportedVersion

START = "2026-03-02T11:19:00+00:00"
END = "2026-03-02T11:22:05+00:00"
ROOT = "/home/tess/harbor"


def session(name: str = "s-1", **fields: Any) -> OpenSession:
    return OpenSession(**{"session_id": name, "started_at": START, "updated_at": START, **fields})


def file_of(root: Path, name: str = "s-1") -> Path:
    checkpoint_session(str(root), session(name), "t")
    (path,) = [path for path in (root / ".memory/local/sessions").iterdir() if f'"{name}"' in path.read_text()]
    return path


# -- checkpoints ----------------------------------------------------------------------------


def test_without_a_folder_no_session_is_open(tmp_path: Path) -> None:
    assert read_sessions(str(tmp_path)) == ([], [])
    assert not forget_session(str(tmp_path), "s")
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_is_one_file_that_says_everything(tmp_path: Path) -> None:
    full = session(
        "s-1",
        title="Invoices",
        updated_at=END,
        turns=3,
        tool_calls=12,
        files=("src/a.py",),
        facts=("f1", "f2"),
        narrative="It went\nwell.",
        commit="abc123",
    )
    assert checkpoint_session(str(tmp_path), full, "t") == full
    (path,) = (tmp_path / ".memory" / "local" / "sessions").iterdir()
    assert path.name == "6a840baf5d8c3ff241688aeb14546e65.json"
    assert json.loads(path.read_text()) == {"version": 1, **json.loads(msgspec.json.encode(full))}
    before = path.read_bytes()
    assert checkpoint_session(str(tmp_path), full, "t") == full
    assert path.read_bytes() == before
    assert read_sessions(str(tmp_path)) == ([full], [])


def test_any_id_is_safe(tmp_path: Path) -> None:
    names = ["../../../etc/passwd", "a/b", ".", "CON", "ü" * 1000, "with\nbreak", "\0", "x.json"]
    for name in names:
        checkpoint_session(str(tmp_path), session(name), "t")
    assert sorted(found.session_id for found in read_sessions(str(tmp_path))[0]) == sorted(names)
    assert os.listdir(tmp_path) == [".memory"]
    assert all(forget_session(str(tmp_path), name) for name in names)
    assert read_sessions(str(tmp_path)) == ([], [])


@pytest.mark.parametrize("name", ["", "x" * 1001, "\ud800"])
def test_what_is_no_id_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as refusal:
        checkpoint_session(str(tmp_path), session(name), "t")
    assert refusal.value.details["field"] == "session_id"
    assert list(tmp_path.iterdir()) == []


def test_sessions_are_listed_by_their_start(tmp_path: Path) -> None:
    for name, start in [("b", END), ("c", "2026-03-02T13:19:00+02:00"), ("a", START), ("z", "")]:
        checkpoint_session(str(tmp_path), session(name, started_at=start), "t")
    assert [found.session_id for found in read_sessions(str(tmp_path))[0]] == ["a", "c", "b", "z"]


def test_a_checkpoint_adds_to_what_is_stored(tmp_path: Path) -> None:
    checkpoint_session(str(tmp_path), session(turns=5, files=("a",), title="T"), "t")
    stored = checkpoint_session(str(tmp_path), session(turns=2, files=("b",), updated_at=END), "t")
    assert stored == session(turns=5, files=("a", "b"), title="T", updated_at=END)
    assert read_sessions(str(tmp_path))[0] == [stored]


def test_forgetting_removes_one_file(tmp_path: Path) -> None:
    for name in "ab":
        checkpoint_session(str(tmp_path), session(name), "t")
    assert forget_session(str(tmp_path), "a")
    assert not forget_session(str(tmp_path), "a")
    assert [found.session_id for found in read_sessions(str(tmp_path))[0]] == ["b"]


def test_keys_that_nobody_knows_survive(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": {"name": "m"}}))
    checkpoint_session(str(tmp_path), session(turns=4), "t")
    assert json.loads(path.read_text())["model"] == {"name": "m"}
    assert json.loads(path.read_text())["turns"] == 4


def test_what_is_stored_has_bounds_and_is_text(tmp_path: Path) -> None:
    wild = session(
        files=(*(f"src/{number}.py" for number in range(6_000)),),
        facts=("ok", "bad\ud800"),
        title="t" * 1000,
        narrative="n" * 50_000 + "\udc80",
        commit="\udcff",
        turns=-3,
        tool_calls=2**70,
    )
    stored = checkpoint_session(str(tmp_path), wild, "t")
    assert read_sessions(str(tmp_path)) == ([stored], [])
    assert (len(stored.files), len(stored.title), len(stored.narrative)) == (5_000, 300, 20_000)
    assert (stored.facts, stored.commit, stored.turns, stored.tool_calls) == (("ok", "bad?"), "?", 0, 2**53 - 1)


KILLED = """
import os, signal, sys
from quire.files import disk
from quire.layers.facts.sessions import OpenSession, checkpoint_session
def session(turns):
    return OpenSession(session_id="s-1", started_at="2026-03-02", updated_at="2026-03-02", turns=turns)
checkpoint_session(sys.argv[1], session(1), "one")
def die(operation, path):
    if operation == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
disk.before = die
checkpoint_session(sys.argv[1], session(2), "two")
"""


@pytest.mark.parametrize(
    ("operation", "turns"), [("create", 1), ("fsync", 1), ("rename", 1), ("sync_folder", 2), ("none", 2)]
)
def test_a_killed_process_leaves_a_whole_checkpoint(tmp_path: Path, operation: str, turns: int) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), operation], check=False)
    assert done.returncode == (0 if operation == "none" else -signal.SIGKILL)
    sessions, problems = read_sessions(str(tmp_path))
    assert [found.turns for found in sessions] == [turns]
    assert problems == []
    checkpoint_session(str(tmp_path), session(turns=3), "three")
    assert len(os.listdir(tmp_path / ".memory" / "local" / "sessions")) == 1


# -- damage ---------------------------------------------------------------------------------

DAMAGED = {
    "garbage": b"\x00\xff",
    "empty": b"",
    "cut": b'{"version": 1, "session_id": "s-',
    "list": b"[]",
    "no version": b'{"session_id": "s-1", "started_at": "", "updated_at": ""}',
    "no id": b'{"version": 1, "started_at": "", "updated_at": ""}',
    "other id": b'{"version": 1, "session_id": "s-2", "started_at": "", "updated_at": ""}',
    "negative": b'{"version": 1, "session_id": "s-1", "started_at": "", "updated_at": "", "turns": -1}',
    "files": b'{"version": 1, "session_id": "s-1", "started_at": "", "updated_at": "", "files": [5]}',
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_checkpoint_stops_no_other_and_is_kept(tmp_path: Path, data: bytes) -> None:
    path = file_of(tmp_path)
    file_of(tmp_path, "good")
    path.write_bytes(data)
    sessions, problems = read_sessions(str(tmp_path))
    assert [found.session_id for found in sessions] == ["good"]
    assert [(found.code, found.severity, found.path) for found in problems] == [
        ("LocalStateDamaged", "warning", f".memory/local/sessions/{path.name}")
    ]
    assert checkpoint_session(str(tmp_path), session(turns=1), "t") == session(turns=1)
    aside = path.with_name(path.name + ".damaged")
    assert aside.read_bytes() == data
    assert len(read_sessions(str(tmp_path))[0]) == 2
    path.write_bytes(b"again")
    assert forget_session(str(tmp_path), "s-1")
    assert not path.exists()
    assert aside.read_bytes() == data


def test_forgetting_a_damaged_checkpoint_sets_it_aside(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    path.write_bytes(b"{")
    assert forget_session(str(tmp_path), "s-1")
    assert [found.name for found in path.parent.iterdir()] == [path.name + ".damaged"]
    assert read_sessions(str(tmp_path)) == ([], [])


def test_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    data = b'{"version": 2, "session_id": "s-1", "started_at": "", "updated_at": ""}'
    path.write_bytes(data)
    sessions, problems = read_sessions(str(tmp_path))
    assert (sessions, [found.code for found in problems]) == ([], ["LocalStateNewer"])
    with pytest.raises(UnsupportedVersion):
        checkpoint_session(str(tmp_path), session(), "t")
    with pytest.raises(UnsupportedVersion):
        forget_session(str(tmp_path), "s-1")
    assert path.read_bytes() == data


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "huge"])
def test_what_is_no_plain_file_is_not_touched(tmp_path: Path, kind: str) -> None:
    path = file_of(tmp_path)
    target = tmp_path / "target.json"
    path.rename(target)
    content = target.read_bytes()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(target)
    else:
        with path.open("wb") as huge:
            huge.truncate(9 * 1024 * 1024)
    sessions, problems = read_sessions(str(tmp_path))
    assert (sessions, [found.code for found in problems]) == ([], ["LocalStateDamaged"])
    if kind == "huge":
        assert checkpoint_session(str(tmp_path), session(), "t") == session()
        return
    expected = OutsideProject if kind == "link" else StorageFailed
    with pytest.raises(expected):
        checkpoint_session(str(tmp_path), session(turns=9), "t")
    with pytest.raises(expected):
        forget_session(str(tmp_path), "s-1")
    assert os.path.lexists(path)
    assert target.read_bytes() == content


@pytest.mark.parametrize("name", [".memory/local", ".memory/local/sessions"])
@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_folder_that_is_none_is_said(tmp_path: Path, name: str, kind: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    file_of(elsewhere)
    root = tmp_path / "root"
    (root / name).parent.mkdir(parents=True)
    if kind == "link":
        (root / name).symlink_to(elsewhere / name)
    else:
        (root / name).write_text("mine")
    sessions, problems = read_sessions(str(root))
    assert (sessions, [found.code for found in problems]) == ([], ["LocalStateDamaged"])
    assert str(tmp_path) not in problems[0].message
    for call in (lambda: checkpoint_session(str(root), session(), "t"), lambda: forget_session(str(root), "s-1")):
        with pytest.raises(OutsideProject if kind == "link" else StorageFailed):
            call()
    assert len(read_sessions(str(elsewhere))[0]) == 1


def test_files_of_other_names_are_no_sessions(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    for name in ("notes.json", ".quire-1-x.tmp", path.name + ".damaged", "A" * 32 + ".json"):
        path.with_name(name).write_text("{")
    assert [found.session_id for found in read_sessions(str(tmp_path))[0]] == ["s-1"]
    assert read_sessions(str(tmp_path))[1] == []


def test_a_disk_that_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file_of(tmp_path)

    def refuse(operation: str, path: str) -> None:
        if operation in ("create", "remove"):
            raise OSError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(disk, "before", refuse)
    with pytest.raises(StorageFailed, match="permission was denied"):
        checkpoint_session(str(tmp_path), session(turns=1), "t")
    with pytest.raises(StorageFailed, match="permission was denied"):
        forget_session(str(tmp_path), "s-1")
    assert read_sessions(str(tmp_path)) == ([session()], [])


# -- merging --------------------------------------------------------------------------------


def test_merging_takes_the_larger_counts_the_wider_times_and_the_newer_texts() -> None:
    old = session(
        started_at="2026-03-02T12:00:00+01:00",
        updated_at=START,
        turns=5,
        tool_calls=1,
        files=("b", "a"),
        facts=("f1",),
        title="Old",
        narrative="Before.",
        commit="c1",
    )
    new = session(updated_at=END, turns=2, tool_calls=9, files=("a", "c"), facts=("f2", "f1"), title=" ", commit="c2")
    merged = session(
        started_at="2026-03-02T12:00:00+01:00",
        updated_at=END,
        turns=5,
        tool_calls=9,
        files=("b", "a", "c"),
        facts=("f1", "f2"),
        title="Old",
        narrative="Before.",
        commit="c2",
    )
    assert merge_session(old, new) == merged
    assert merge_session(None, new) == new
    assert msgspec.structs.replace(merge_session(new, old), files=(), facts=()) == msgspec.structs.replace(
        merged, files=(), facts=()
    )


def test_between_equal_times_the_second_is_newer_and_times_that_name_nothing_lose() -> None:
    assert merge_session(session(title="a"), session(title="b")).title == "b"
    merged = merge_session(session(title="a"), session(title="b", started_at="?", updated_at="?"))
    assert (merged.title, merged.started_at, merged.updated_at) == ("a", START, START)


def test_two_sessions_are_not_merged() -> None:
    with pytest.raises(InputError):
        merge_session(session("a"), session("b"))


TIMES = st.sampled_from([START, END, "2026-03-02T11:20:00Z", "2026-03-02T10:00:00-02:00", ""])
NAMES = st.lists(st.sampled_from("abcd"), unique=True).map(tuple)
SESSIONS = st.builds(
    session,
    started_at=TIMES,
    updated_at=TIMES,
    turns=st.integers(0, 9),
    tool_calls=st.integers(0, 9),
    files=NAMES,
    facts=NAMES,
    title=st.sampled_from(["", "x", "y"]),
)


@given(SESSIONS, SESSIONS)
def test_merging_again_changes_nothing(old: OpenSession, new: OpenSession) -> None:
    merged = merge_session(old, new)
    assert merge_session(merged, merged) == merged
    assert merge_session(merged, new) == merged
    assert set(merged.files) == set(old.files) | set(new.files)


# -- the episode ----------------------------------------------------------------------------


def test_the_episode_of_a_session() -> None:
    found = episode_of(
        session(
            turns=3,
            tool_calls=12,
            files=("src/a.py", "b.py", f"{ROOT}/c/d.py", "e.py", "f.py", "g.py", "h.py"),
            facts=("f1", "f2"),
            commit="abc123",
            narrative="  We repaired the invoices.\n\nThen rested. ",
        ),
        END,
        ROOT,
    )
    assert found == Episode(
        id="session-6a840baf5d8c",
        title="Session 2026-03-02: 3t 12tc",
        narrative="Session on 2026-03-02: 3 turns, 12 tool calls, 3m 5s. "
        "Files: a.py, b.py, d.py, e.py, f.py (+2 more). 2 facts stored. Commit abc123.\n\n"
        "We repaired the invoices.\n\nThen rested.",
        date="2026-03-02",
        session_id="s-1",
        created_at=START,
        fact_ids=("f1", "f2"),
        files_changed=("src/a.py", "b.py", "c/d.py", "e.py", "f.py", "g.py", "h.py"),
        tags=("auto",),
        tool_calls_count=12,
        extra={"turns": 3, "seconds": 185},
    )


def test_the_episode_of_a_session_that_did_nothing() -> None:
    found = episode_of(session(), START, ROOT)
    assert found.title == "Session 2026-03-02: 0t 0tc"
    assert found.narrative == "Session on 2026-03-02: 0 turns, 0 tool calls, 0s."
    assert found.files_changed == ()


def test_one_of_each_is_said_in_the_singular() -> None:
    found = episode_of(session(turns=1, tool_calls=1, files=("a",), facts=("f",)), START, ROOT)
    assert found.narrative == "Session on 2026-03-02: 1 turn, 1 tool call, 0s. Files: a. 1 fact stored."


def test_a_given_title_is_one_line_behind_the_date() -> None:
    found = episode_of(session(title=" Repair\nthe  invoices "), END, ROOT)
    assert found.title == "Session 2026-03-02: Repair the invoices"
    assert len(episode_of(session(title="x" * 999), END, ROOT).title) == 300


@pytest.mark.parametrize(
    ("closed", "seconds", "said"),
    [
        ("2026-03-02T11:19:59.600Z", 60, "1m 0s"),
        ("2026-03-02T11:19:42Z", 42, "42s"),
        ("2026-03-02T14:29:00+01:00", 7_800, "2h 10m"),
        ("2026-03-04T11:19:00Z", 172_800, "48h 0m"),
        ("2026-03-01T11:19:00Z", 0, "0s"),
        ("whenever", 0, "0s"),
    ],
)
def test_how_long_it_took(closed: str, seconds: int, said: str) -> None:
    found = episode_of(session(turns=2), closed, ROOT)
    assert found.extra == {"turns": 2, "seconds": seconds}
    assert found.narrative == f"Session on 2026-03-02: 2 turns, 0 tool calls, {said}."


@pytest.mark.parametrize(
    ("started", "date"),
    [
        ("2026-03-02T00:30:00+02:00", "2026-03-01"),
        ("", "2026-03-02"),
        ("0001-01-01T00:00:00+02:00", "2026-03-02"),
        ("0999-01-01T00:00:00Z", "0999-01-01"),
    ],
)
def test_the_date_is_that_of_the_start_in_utc(started: str, date: str) -> None:
    found = episode_of(session(started_at=started), END, ROOT)
    assert found.date == date
    assert found.title.startswith(f"Session {date}: ")
    assert found.created_at == started


@each(
    ("path", "shown"),
    [
        ("src/a.py", "src/a.py"),
        ("./src//x/../a.py", "src/a.py"),
        (f"{ROOT}/src/a.py", "src/a.py"),
        (f" {ROOT}/src/../../harbor/a.py ", "a.py"),
        (f"{ROOT}-other/secret.py", "secret.py"),
        ("/home/tess/.ssh/config", "config"),
        ("~/notes.md", "notes.md"),
        ("~tess/notes.md", "notes.md"),
        ("../sibling/a.py", "a.py"),
        ("src/../../x/a.py", "a.py"),
        ("C:\\Users\\Tess\\a.py", "a.py"),
        ("\\\\server\\share\\a.py", "a.py"),
        ("src\\deep\\a.py", "src/deep/a.py"),
        ("file:///home/tess/harbor/a.py", "a.py"),
        ("~backup", "~backup"),
    ],
)
def test_no_path_leads_out_of_the_project(path: str, shown: str) -> None:
    found = episode_of(session(files=(path,)), END, ROOT)
    assert found.files_changed == (shown,)
    assert f"Files: {shown.rpartition('/')[2]}." in found.narrative


@pytest.mark.parametrize("path", ["", " ", "/", "..", "~", ".", "../..", ROOT, ROOT + "/"])
def test_what_names_no_file_is_left_out(path: str) -> None:
    found = episode_of(session(files=(path,)), END, ROOT)
    assert found.files_changed == ()
    assert "Files" not in found.narrative


def test_the_checkpoint_holds_no_path_of_the_machine(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    link = tmp_path / "link"
    link.symlink_to(root)
    files = (f"{root}/a.py", f"{link}/b.py", f"{link}/a.py", f"{tmp_path}/c.py")
    stored = checkpoint_session(str(link), session(files=files), "t")
    assert stored.files == ("a.py", "b.py", "c.py")
    (path,) = (root / ".memory" / "local" / "sessions").iterdir()
    assert str(tmp_path) not in path.read_text()


def test_two_paths_of_one_file_are_one() -> None:
    assert episode_of(session(files=("a.py", f"{ROOT}/a.py", "./a.py")), END, ROOT).files_changed == ("a.py",)


@pytest.mark.proof
def test_however_much_happened_the_line_can_be_read() -> None:
    wild = session(
        "ü" * 1000,
        files=tuple(f"{number}/" + "ü" * 900 for number in range(3_000)),
        facts=tuple("🙂" * 150 + str(number) for number in range(3_000)),
        narrative="\x01" * 100_000,
        title="\x01" * 1000,
        turns=2**80,
        tool_calls=-1,
    )
    found = episode_of(wild, END, ROOT)
    line = encode_record(found)
    assert len(line) < LINE_BYTES
    reading = read_lines(line + b"\n")
    assert reading.episodes == [found]
    assert reading.problems == []
    assert "(+2995 more). 3000 facts stored." in found.narrative


def test_a_name_that_could_deceive_is_left_out() -> None:
    found = episode_of(session(files=("x/a\nb.py", "red\x1b[31m.py", "left\u202eright.py", "c.py")), END, ROOT)
    assert found.files_changed == ("c.py",)
    assert "Files: c.py." in found.narrative


@given(SESSIONS, TIMES)
def test_the_same_session_gives_the_same_episode(found: OpenSession, closed: str) -> None:
    episode = episode_of(found, closed, ROOT)
    assert episode_of(found, closed, ROOT) == episode
    assert read_lines(encode_record(episode) + b"\n").episodes == [episode]
