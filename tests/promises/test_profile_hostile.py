"""A repository may bring any document, link, pipe or transaction: refused in words, and nothing outside changes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from profile_trials import DOCUMENT, HOME, LOCAL, SETTING, STATE, filled, index_differs, kept_at_home, kept_here, pretty
from profile_trials import read_before as read_lately
from profile_trials import write as put
from trials import LATER, open_project

from installed import without_shell
from promised import proves
from quire.model.errors import InvalidStore, QuireError, UnsupportedVersion
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.inspect import Inspect, inspect
from quire.verbs.ask.status import status as status_of
from quire.verbs.profile.connections import entry_connections
from quire.verbs.profile.context import ShowProfileContext, profile_context
from quire.verbs.profile.export import ExportProfile, export_profile
from quire.verbs.profile.link import LinkEntries, UnlinkEntries, link_entries, unlink_entries
from quire.verbs.profile.options import EntryName
from quire.verbs.profile.pages import ShowIndex, about_me, about_us, entry_index
from quire.verbs.profile.private import KeepPrivate, keep_private
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.reflect import ReflectOnEntries, reflect_on_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, RestoreEntry, forget_entry, forgotten_entries, restore_entry
from quire.verbs.profile.search import SearchEntries, search_entries
from quire.verbs.profile.session_start import start_session
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments
from thorough import some

pytestmark = proves("P5.2")

FIXTURES = Path(__file__).parents[3] / "shared" / "fixtures" / "profile" / "docs"
SECRET = "The secret outside."
OUTSIDE: dict[str, Any] = {
    "schema_version": "1.2",
    "session_count": 0,
    "memories": {"user": {"secret": {"value": SECRET}}},
}
ENTRY = {"value": "Europe/Madrid", "created_at": "2026-01-05T09:00:00Z", "updated_at": "2026-01-05T09:00:00Z"}
WHOLE = pretty({"schema_version": "1.2", "session_count": 3, "memories": {"user": {"timezone": ENTRY}}})
DAMAGED: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\n",
    "zeros": b"\0" * 600,
    "not json": b"this is not json\n",
    "truncated": WHOLE[: len(WHOLE) // 2],
    "a byte order mark": b"\xef\xbb\xbf" + WHOLE,
    "not utf-8": WHOLE.replace(b"Madrid", b"Madr\xff\xfe"),
    "utf-16": WHOLE.decode().encode("utf-16"),
    "conflict": WHOLE.replace(b'  "session_count": 3,', b"<<<<<<< HEAD\n  1,\n=======\n  2,\n>>>>>>> side"),
    "a list": b"[1, 2]\n",
    "no memories": b'{"schema_version": "1.2"}\n',
    "memories null": b'{"schema_version": "1.2", "memories": null}\n',
    "no version": b'{"memories": {}}\n',
    "a version that is a number": b'{"schema_version": 1.2, "memories": {}}\n',
    "a later version": b'{"schema_version": "9.9", "memories": {}}\n',
    "a bomb": b"[" * 100_000,
}
NOT_READ = [*DAMAGED, *sorted(path.name for path in FIXTURES.glob("corrupt-*.json"))]

Operation = Callable[[Project], object]
READING: dict[str, Operation] = {
    "recall": lambda project: recall_entries(project, RecallEntries(category="user")),
    "recall one": lambda project: recall_entries(project, RecallEntries(category="user", key="timezone")),
    "search": lambda project: search_entries(project, SearchEntries(query="where do I live?")),
    "connections": lambda project: entry_connections(project, EntryName(category="user", key="timezone")),
    "inspect": lambda project: inspect(project, Inspect(id="profile:user.timezone")),
    "about-me": lambda project: about_me(project, Arguments()),
    "about-us": lambda project: about_us(project, Arguments()),
    "index": lambda project: entry_index(project, ShowIndex()),
    "context": lambda project: profile_context(project, ShowProfileContext()),
    "status": lambda project: profile_status(project, Arguments()),
    "reflect": lambda project: reflect_on_entries(project, ReflectOnEntries()),
    "export": lambda project: export_profile(project, ExportProfile(output_format="json")),
    "preview": lambda project: keep_private(project, KeepPrivate(place="here")),
    "dry run": lambda project: remember_entry(
        project, RememberEntry(category="tools", key="fresh", value="Something quite fresh.", dry_run=True)
    ),
}
CHANGING: dict[str, Operation] = {
    "remember": lambda project: remember_entry(
        project, RememberEntry(category="tools", key="fresh", value="Something quite fresh.")
    ),
    "update": lambda project: remember_entry(
        project, RememberEntry(category="user", key="timezone", value="Europe/Lisbon")
    ),
    "link": lambda project: link_entries(
        project, LinkEntries(source="user.timezone", target="user.editor", relation="related-to")
    ),
    "unlink": lambda project: unlink_entries(project, UnlinkEntries(source="user.editor", target="user.timezone")),
    "forget": lambda project: forget_entry(project, ForgetEntry(category="tools", key="shell")),
    "restore": lambda project: restore_entry(project, RestoreEntry(category="tools", key="shell")),
    "session-start": lambda project: start_session(project, Arguments()),
    "reflect --apply": lambda project: reflect_on_entries(project, ReflectOnEntries(apply=["archive", "confidence"])),
    "here": lambda project: keep_private(project, KeepPrivate(place="here", apply=True)),
    "home": lambda project: keep_private(project, KeepPrivate(place="home", apply=True)),
    "shared": lambda project: keep_private(project, KeepPrivate(place="shared", apply=True)),
}
ELSEWHERE: dict[str, Operation] = {
    "query": lambda project: answer_question(project, "where do I live?"),
    "check": lambda project: check_files(project),
    "memory status": lambda project: status_of(project),
    "rebuild": lambda project: rebuild(project, Rebuild()),
    "forgotten": lambda project: forgotten_entries(project),
    "init": lambda project: init_memory(project, guidance=False, layers=("profile",)),
}
EVERYTHING = {**READING, **CHANGING, **ELSEWHERE}


@pytest.fixture(autouse=True)
def _nobody_hangs() -> Iterator[None]:
    """A pipe that somebody waits on would wait for ever."""
    signal.alarm(100)
    yield
    signal.alarm(0)


@pytest.fixture
def space(tmp_path: Path) -> str:
    """A profile with entries, links and readings, beside a memory; no git."""
    folder = tmp_path / "space"
    folder.mkdir()
    read_lately(str(folder))
    return str(folder)


def made(tmp_path: Path, prepare: Callable[[str], None]) -> str:
    folder = tmp_path / "another"
    folder.mkdir()
    prepare(str(folder))
    return str(folder)


def attempt(operation: Operation, space: str) -> QuireError | None:
    """The error that it refuses with; any other error is a crash and comes through."""
    refusal: QuireError | None = None
    try:
        assert SECRET not in repr(operation(open_project(space, LATER)))
    except QuireError as error:
        refusal = error
    assert refusal is None or (refusal.message and refusal.hint), refusal
    return refusal


Looks = dict[str, tuple[int, bytes]]


def looks(top: str | Path) -> Looks:
    """Every file and link below a folder, when it was changed and what it holds; no index, and a lock may be taken."""
    found: Looks = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in (".git", "index")]
        for name in [*files, *folders]:
            path = os.path.join(folder, name)
            held = os.lstat(path)
            shown = os.path.relpath(path, top)
            if stat.S_ISREG(held.st_mode):
                found[shown] = 0 if name.endswith(".lock") else held.st_mtime_ns, Path(path).read_bytes()
            else:
                found[shown] = 0, os.readlink(path).encode() if os.path.islink(path) else b"folder or special"
    return found


# -- documents that cannot be used --------------------------------------------------------------------------------


def damaged(name: str) -> bytes:
    return DAMAGED[name] if name in DAMAGED else (FIXTURES / name).read_bytes()


@proves("P5.2", "D1", "A11", over="profile")
@pytest.mark.parametrize("name", some(NOT_READ, 3))
def test_a_document_that_cannot_be_used_is_refused_by_every_verb_and_left_as_it_is(space: str, name: str) -> None:
    put(space, DOCUMENT, damaged(name))
    before = looks(space)
    for called, operation in READING.items():
        refused = attempt(operation, space)
        assert isinstance(refused, InvalidStore | UnsupportedVersion), called
        assert "`.ai-state/memory.json`" in refused.message
        assert looks(space) == before, called
    for called, operation in CHANGING.items():
        refused = attempt(operation, space)
        assert isinstance(refused, InvalidStore | UnsupportedVersion), called
        assert "`.ai-state/memory.json`" in refused.message
        assert looks(space) == before, called
    for called in ("query", "check", "memory status", "rebuild", "forgotten"):
        assert attempt(ELSEWHERE[called], space) is None, called
        assert looks(space) == before, called
    project = open_project(space, LATER)
    assert [problem.path for problem in check_files(project).errors] == [".ai-state/memory.json"]
    assert [item["path"] for item in status_of(project).unreadable] == [".ai-state/memory.json"]


LINES = [
    ["recall", "user"],
    ["search", "where do I live?"],
    ["session-start"],
    ["remember", "tools", "fresh", "Something quite fresh."],
    ["forget", "user", "timezone"],
    ["link", "user.timezone", "user.editor", "elaborates"],
    ["export", "--format", "json"],
    ["private", "here", "--yes"],
    ["reflect", "--apply", "all"],
]


@pytest.mark.parametrize("name", ["truncated", "a later version"])
def test_the_command_says_where_a_document_is_damaged_and_git_sees_nothing_new(
    memory: Any, repo: Path, git: Any, name: str
) -> None:
    (repo / ".ai-state").mkdir()
    (repo / ".ai-state/memory.json").write_bytes(DAMAGED[name])
    git.commit("as it came")
    for line in LINES:
        run = memory("profile", *line)
        assert run.code == 3, line
        assert run.out == ""
        assert "error: `.ai-state/memory.json`" in run.err
        assert "hint: " in run.err
        assert name != "truncated" or "line 7, column 23" in run.err
    assert memory("query", "where?").code == 0
    run = memory("check")
    assert run.code == 1
    assert ".ai-state/memory.json" in run.out
    assert memory("diff").code == 0
    # Neither a lock nor a folder: whoever commits everything commits what was there.
    assert git("status", "--porcelain", "--untracked-files=all") == ""


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize(
    ("place", "depth"),
    [("field", 65), ("value", 900), ("category", 65), ("top", 900), ("field", 1_100), ("top", 100_000)],
)
def test_a_bottomless_document_is_refused_for_writing_and_stays_as_it_is(space: str, place: str, depth: int) -> None:
    fields = json.loads(Path(space, DOCUMENT).read_bytes())
    entry = fields["memories"]["user"]["timezone"]
    holder, name = {
        "field": (entry, "odd"),
        "value": (entry, "value"),
        "category": (fields["memories"], "odd"),
        "top": (fields, "odd"),
    }[place]
    holder[name] = "@"
    put(space, DOCUMENT, json.dumps(fields, indent=2).replace('"@"', "[" * depth + "]" * depth).encode())
    before = Path(space, DOCUMENT).read_bytes()
    for called, operation in EVERYTHING.items():
        refused = attempt(operation, space)
        if called in ("remember", "update", "forget", "here"):
            assert isinstance(refused, InvalidStore), called
            assert "nested too deeply" in refused.message, called
        assert Path(space, DOCUMENT).read_bytes() == before


@pytest.mark.proof
def test_a_document_of_300_mb_is_not_read(space: str) -> None:
    with open(os.path.join(space, DOCUMENT), "r+b") as file:
        file.truncate(300 * 1024 * 1024)
    before = os.stat(os.path.join(space, DOCUMENT)).st_mtime_ns
    for operation in (*READING.values(), *CHANGING.values()):
        refused = attempt(operation, space)
        assert isinstance(refused, InvalidStore)
        assert "larger than" in refused.message
    assert os.stat(os.path.join(space, DOCUMENT)).st_mtime_ns == before
    os.truncate(os.path.join(space, DOCUMENT), 0)


# -- links, folders and pipes -------------------------------------------------------------------------------------

FOLDERS = ("", "local", "recovery")
PLACES = [
    *FOLDERS,
    "memory.json",
    "memory.lock",
    "memory.backup.json",
    "local/.gitignore",
    "local/memory.json",
    "local/memory.backup.json",
    "local/private.json",
    "local/access.jsonl",
    "local/access-folding.jsonl",
    "local/forgotten.jsonl",
]


ODD_SHAPES = [(place, shape) for place in PLACES for shape in ("link", "dangling link", "folder", "pipe")]


def in_the_way(shape: str, path: str, outside: str) -> None:
    """Something else than a plain file, or folder, in this place."""
    if os.path.isdir(path):
        shutil.rmtree(path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    if shape in ("link", "dangling link"):
        os.symlink(outside if shape == "link" else f"{outside}-nothing", path)
    elif shape == "folder":
        os.makedirs(os.path.join(path, "inside"))
    elif shape == "pipe":
        os.mkfifo(path)


def brought_outside(space: str, place: str) -> str:
    """What a link leads to: a copy of what is there, or a document with a secret."""
    here, outside = os.path.join(space, STATE, place).rstrip("/"), os.path.join(os.path.dirname(space), "outside")
    if place in FOLDERS:
        shutil.copytree(here, outside) if os.path.isdir(here) else os.mkdir(outside)
    else:
        Path(outside).write_bytes(Path(here).read_bytes() if os.path.isfile(here) else pretty(OUTSIDE))
    return outside


@proves("P5.4", "D10", "D11", over="profile")
@pytest.mark.parametrize(("place", "shape"), some(ODD_SHAPES, 5))
def test_what_is_no_plain_file_is_never_written_through_and_stops_nobody_for_ever(
    space: str, place: str, shape: str
) -> None:
    if shape == "folder" and place in FOLDERS:
        pytest.skip("that is what it should be")
    outside = brought_outside(space, place)
    path = os.path.join(space, STATE, place).rstrip("/")
    in_the_way(shape, path, outside)
    parent = os.path.dirname(space)
    before = {name: held for name, held in looks(parent).items() if not name.startswith("space")}
    mode = stat.S_IFMT(os.lstat(path).st_mode)
    for called, operation in EVERYTHING.items():
        attempt(operation, space)
        after = {name: held for name, held in looks(parent).items() if not name.startswith("space")}
        assert after == before, called
        # Only what belongs to us alone may be replaced by what it should be.
        assert stat.S_IFMT(os.lstat(path).st_mode) == mode or place == "local/.gitignore", called
    assert [name for name in looks(space) if name.endswith(".tmp")] == []


@proves("P7.2", "D10", over="profile")
def test_a_folder_of_ours_that_is_a_link_out_is_not_read_either(space: str) -> None:
    """A document that is a link is not read; neither is one in a folder that is."""
    outside = Path(space).with_name("outside")
    outside.mkdir()
    (outside / "memory.json").write_bytes(pretty(OUTSIDE))
    (outside / "forgotten.jsonl").write_bytes(
        json.dumps({"at": "x", "category": "user", "key": "secret", "fields": {"value": SECRET}}).encode() + b"\n"
    )
    in_the_way("link", os.path.join(space, LOCAL).rstrip("/"), str(outside))
    for operation in EVERYTHING.values():
        attempt(operation, space)


@without_shell
@proves("P1.3", "C3", over="profile")
@pytest.mark.skipif(not shutil.which("setpriv"), reason="somebody who may not read everything is needed")
@pytest.mark.parametrize(
    ("place", "mode"),
    some([("", 0), ("memory.json", 0), ("memory.lock", 0o444), ("local", 0), ("local", 0o555), ("recovery", 0)], 2),
)
def test_what_may_not_be_read_or_written_is_named_and_no_reason_to_crash(
    memory: Any, repo: Path, tmp_path: Path, place: str, mode: int
) -> None:
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    command = type(memory)(repo, {**memory.env, "MEMORY_LOCK_TIMEOUT": "1"}, prefix)
    put(str(tmp_path), DOCUMENT, WHOLE)
    put(str(tmp_path), f"{LOCAL}access.jsonl", b"")
    (repo / ".ai-state/recovery").mkdir()
    (repo / ".ai-state/memory.lock").touch()
    if os.geteuid() == 0:
        tmp_path.chmod(0o755)
        for path in [tmp_path, *tmp_path.rglob("*")]:
            os.chown(path, 65534, 65534)
    path = repo / ".ai-state" / place
    before = stat.S_IMODE(path.stat().st_mode)
    path.chmod(mode)
    try:
        runs = {
            " ".join(line): command("profile", *line)
            for line in (["recall", "user"], ["status"], ["remember", "tools", "fresh", "Fresh."], ["session-start"])
        }
    finally:
        path.chmod(before)
    for line, run in runs.items():
        # It is there: nobody may be told that nothing is.
        assert run.code != 0 or "timezone" in run.out or line.startswith(("status", "session", "remember")), line
        assert run.code == 0 or "hint: " in run.err, line
    assert (repo / ".ai-state/memory.json").read_bytes() == WHOLE or runs["session-start"].code == 0


# -- transactions that a repository brings ------------------------------------------------------------------------

STEPS: dict[str, list[dict[str, Any]]] = {
    "a file outside": [{"action": "replace", "path": "../../../outside", "staged": "0.new"}],
    "a file of the project": [{"action": "replace", "path": "../src.py", "staged": "0.new"}],
    "an absolute path": [{"action": "remove", "path": "/outside"}],
    "through a link": [{"action": "replace", "path": "sub/outside", "staged": "0.new"}],
    "from outside": [{"action": "replace", "path": "memory.json", "staged": "../../../../outside"}],
    "a link as its content": [{"action": "replace", "path": "memory.json", "staged": "1.new"}],
    "an addition outside": [{"action": "append", "path": "../../../outside", "text": "evil\n", "size": 0}],
    "an addition to the private document": [
        {"action": "append", "path": "local/memory.json", "text": "evil\n", "size": 0}
    ],
    "an addition to what git ignores": [{"action": "append", "path": "local/.gitignore", "text": "!*\n", "size": 0}],
    "the private document away": [{"action": "remove", "path": "local/memory.json"}],
    "the private document replaced": [{"action": "replace", "path": "local/memory.json", "staged": "0.new"}],
}


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("steps", STEPS)
def test_a_transaction_that_a_repository_brings_reaches_nothing_of_the_users(tmp_path: Path, steps: str) -> None:
    space = made(tmp_path, kept_here)
    outside = tmp_path / "outside"
    outside.write_bytes(pretty(OUTSIDE))
    put(space, "harbor/src.py", b"1\n")
    os.symlink(tmp_path, os.path.join(space, STATE, "sub"))
    folder = f"{STATE}recovery/transaction-brought"
    put(space, f"{folder}/0.new", b"evil\n")
    os.symlink(outside, os.path.join(space, folder, "1.new"))
    put(space, f"{folder}/intent.json", json.dumps({"version": 1, "steps": STEPS[steps]}).encode())
    kept = {name: Path(space, name).read_bytes() for name in (DOCUMENT, f"{LOCAL}memory.json", f"{LOCAL}.gitignore")}
    for operation in READING.values():
        attempt(operation, space)
    assert {name: Path(space, name).read_bytes() for name in kept} == kept
    for called in ("remember", "session-start"):
        attempt(CHANGING[called], space)
    assert outside.read_bytes() == pretty(OUTSIDE)
    assert Path(space, "harbor/src.py").read_bytes() == b"1\n"
    told = {
        view.key
        for view in recall_entries(open_project(space, LATER), RecallEntries(category="user"), note=False).results
    }
    assert told == {"editor", "timezone"}


@pytest.mark.parametrize("what", ["a folder", "a pipe", "an intent that is a pipe", "an intent of a later version"])
def test_a_transaction_that_cannot_be_understood_keeps_nobody_from_writing(space: str, what: str) -> None:
    folder = os.path.join(space, STATE, "recovery", "transaction-brought")
    os.makedirs(folder)
    if what == "a folder":
        os.makedirs(os.path.join(folder, "sub", "deep"))
    elif what == "an intent of a later version":
        Path(folder, "intent.json").write_bytes(b'{"version": 2, "steps": "of another kind"}')
    else:
        os.mkfifo(os.path.join(folder, "intent.json" if "intent" in what else "0.new"))
    assert attempt(READING["recall"], space) is None
    assert attempt(CHANGING["remember"], space) is None
    assert attempt(CHANGING["session-start"], space) is None


def test_many_transactions_are_swept_at_once(space: str) -> None:
    for number in range(2_000):
        os.makedirs(os.path.join(space, STATE, "recovery", f"transaction-{number}"))
    assert attempt(CHANGING["remember"], space) is None
    assert os.listdir(os.path.join(space, STATE, "recovery")) == []


# -- what this machine keeps beside it ----------------------------------------------------------------------------

GARBAGE: dict[str, bytes] = {
    **{name: DAMAGED[name] for name in ("empty", "zeros", "not json", "not utf-8", "utf-16", "conflict", "a bomb")},
    "values": b"[]\nnull\n1e999\n{}\n",
    "wrong types": b'{"version": 1, "place": 7}\n{"at": 1, "names": 7}\n{"at": "x", "category": 1}\n',
    "newer": b'{"version": 2, "place": "home"}\n',
    "nowhere": b'{"version": 1, "place": "/etc"}\n',
    "surrogates": b'{"version": 1, "place": "\\ud800"}\n{"at": "2026-01-01T00:00:00Z", "names": ["\\ud800"]}\n',
    "names": b'{"at": "2026-01-01T00:00:00Z", "names": ["", "user", "user.", ".x", "nobody.there"]}\n' * 3,
    "times": b'{"at": "0001-01-01T00:00:00+23:59", "names": ["user.editor"]}\n{"at": "", "names": ["user.editor"]}\n',
}


@pytest.mark.proof(keep=8)
@pytest.mark.parametrize(
    ("name", "garbage"),
    [
        *((name, garbage) for name in ("access.jsonl", "forgotten.jsonl") for garbage in GARBAGE),
        *(("access-folding.jsonl", garbage) for garbage in ("not json", "not utf-8", "names")),
    ],
)
def test_garbage_in_what_is_kept_beside_it_stops_nobody(tmp_path: Path, name: str, garbage: str) -> None:
    space = made(tmp_path, filled)
    put(space, LOCAL + name, GARBAGE[garbage])
    fields = json.loads(Path(space, DOCUMENT).read_bytes())["memories"]["user"]["timezone"]
    for called in ("recall", "recall one", "search", "status", *CHANGING, "forgotten"):
        refused = attempt(EVERYTHING[called], space)
        assert refused is None or called in ("restore", "unlink"), refused
    project = open_project(space, LATER)
    counted = (
        recall_entries(project, RecallEntries(category="user", key="timezone"), note=False).results[0].access_count
    )
    # Twice recalled, once found, and whatever the files say that can be told.
    assert counted - fields["access_count"] in (2, 3), counted
    assert check_files(project).errors == []
    assert index_differs(project) == []
    if name == "forgotten.jsonl" and GARBAGE[garbage]:
        kept = Path(space, LOCAL, name).read_bytes()
        assert all(line in kept for line in GARBAGE[garbage].splitlines() if line.strip()), "lines stay as they are"


FORGOTTEN: dict[str, dict[str, Any]] = {
    "no value": {"fields": {}},
    "a number for a value": {"fields": {"value": 7}},
    "links from nowhere": {
        "fields": {"value": "Helix."},
        "incoming": [{"source": "nodot", "relation": "x"}, {"source": "", "relation": ""}],
    },
    "a category that is a path": {"category": "../x", "fields": {"value": "Helix."}},
    "a key that is a path": {"key": "../../etc/passwd", "fields": {"value": "Helix."}},
    "a key that clears the screen": {"key": "\x1b[2J", "fields": {"value": "\x1b[2J"}},
    "fields without a bottom": {"fields": {"value": "Helix.", "odd": json.loads("[" * 60 + "]" * 60)}},
}


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("name", FORGOTTEN)
def test_what_a_hand_wrote_into_the_forgotten_is_restored_or_refused_in_words(tmp_path: Path, name: str) -> None:
    space = made(tmp_path, filled)
    line = {"at": "2026-01-01T00:00:00Z", "category": "user", "key": "brought", **FORGOTTEN[name]}
    put(space, f"{LOCAL}forgotten.jsonl", json.dumps(line).encode() + b"\n")
    before = set(json.loads(Path(space, DOCUMENT).read_bytes())["memories"]["user"])
    refused = attempt(
        lambda project: restore_entry(project, RestoreEntry(category=line["category"], key=line["key"])), space
    )
    project = open_project(space, LATER)
    assert check_files(project).errors == []
    assert index_differs(project) == []
    now = set(json.loads(Path(space, DOCUMENT).read_bytes())["memories"]["user"])
    assert now - before == (set() if refused or line["category"] != "user" else {line["key"]})
    assert before <= now
    assert (Path(space, LOCAL, "forgotten.jsonl").exists()) is (refused is not None)


@pytest.mark.parametrize("garbage", ["empty", "not json", "newer", "nowhere", "wrong types"])
def test_a_setting_that_cannot_be_read_lets_nothing_personal_into_the_shared_document(
    tmp_path: Path, garbage: str
) -> None:
    """Nobody knows any more where the private entries are kept; what is not personal goes on."""
    space = made(tmp_path, kept_at_home)
    put(space, SETTING, GARBAGE[garbage])
    attempt(
        lambda project: remember_entry(project, RememberEntry(category="user", key="address", value="12 Hidden Lane.")),
        space,
    )
    assert b"Hidden Lane" not in Path(space, DOCUMENT).read_bytes()
    assert attempt(CHANGING["remember"], space) is None
    assert attempt(READING["recall"], space) is None
    warned = [problem.path for problem in check_files(open_project(space, LATER)).warnings]
    assert ".ai-state/local/private.json" in warned


# -- the document in the user's home ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["truncated", "conflict", "empty", "a later version"])
def test_a_document_at_home_that_cannot_be_used_is_named_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    space = made(tmp_path, kept_at_home)
    put(space, f"{HOME}memory.json", DAMAGED[name])
    before = looks(space)
    for called, operation in {**READING, **CHANGING}.items():
        refused = attempt(operation, space)
        assert isinstance(refused, InvalidStore | UnsupportedVersion), called
        assert "`~/registry/profile/memory.json`" in refused.message, called
        assert looks(space) == before, called
    project = open_project(space, LATER)
    assert [problem.path for problem in check_files(project).errors] == ["~/registry/profile/memory.json"]
    # The shared document is sound, and the question goes to it.
    assert [hit.record.ref for hit in answer_question(project, "which shell?").hits][:1] == ["profile:tools.shell"]


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("prepare", [kept_at_home, filled, kept_here])
def test_an_older_document_at_home_is_brought_up_to_date_whoever_needs_it_first(
    tmp_path: Path, prepare: Callable[[str], None], version: str
) -> None:
    space = made(tmp_path, prepare)
    old = pretty({"schema_version": version, "memories": {"user": {"language": ENTRY}}})
    put(space, f"{HOME}memory.json", old)
    assert attempt(CHANGING["home"], space) is None
    told = [
        view.key
        for view in recall_entries(open_project(space, LATER), RecallEntries(category="user"), note=False).results
    ]
    assert "language" in told
    assert json.loads(Path(space, HOME, "memory.json").read_bytes())["schema_version"] == "1.2"
    assert Path(space, HOME, f"memory.pre-migration-{version}.json").read_bytes() == old


@proves("P5.5", "D15", over="profile")
@pytest.mark.parametrize("version", ["1.3", "2.0"])
def test_a_newer_document_at_home_is_read_and_never_written_to(tmp_path: Path, version: str) -> None:
    space = made(tmp_path, kept_at_home)
    put(space, f"{HOME}memory.json", pretty({"schema_version": version, "memories": {"user": {"language": ENTRY}}}))
    before = looks(space)
    project = open_project(space, LATER)
    assert [view.key for view in recall_entries(project, RecallEntries(category="user")).results] == ["language"]
    status = profile_status(project, Arguments())
    assert not status.writable
    assert "ProfileReadOnly" in {problem.code for problem in status.warnings}
    assert isinstance(attempt(CHANGING["update"], space), UnsupportedVersion)
    assert start_session(project, Arguments()).counted is False
    # Readings that can never be written down are not gathered.
    assert looks(space) == before
