"""Clocks, languages, disks, homes and gits of every kind: the same memory, or a sentence that says why not."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from version_stores import Store, newest, opened
from version_verbs import LOOKING, TOUR, WRITING, given_to, lines_for

from installed import Git, Memory
from promised import proves, tally
from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.facts.store import Store as StoreFact
from quire.verbs.facts.store import store as store_fact
from quire.verbs.graph.save import save_nodes
from thorough import either, some

NEWEST = newest()
DRIVER = Path(__file__).with_name("version_driver.py")
STRICT = ("-bb", "-X", "warn_default_encoding", "-W", "error")
ONE_EACH = {
    "graph": "save --stdin",
    "facts": "facts store Specs|A queue has one owner.",
    "profile": "profile remember tools editor|an editor of some sort",
    "journal": "journal update",
}
"""A change of each layer."""
ASKED = ("status", "query|retry queue", "facts recall|retries", "profile about-me", "journal status", "check", "inbox")
NEGATIVE = re.compile(
    r"(?<![\w.:/-])-\d+(?:\.\d+)? ?(?:s|m|h|d|seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b"
)


def drive(store: Store, lines: list[list[str]], *flags: str, env: Mapping[str, str] | None = None) -> list[Any]:
    """Lines run one after the other in one fresh process."""
    file = store.root.parent / "lines.json"
    file.write_text(json.dumps([[line, given_to(line).decode()] for line in lines]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *flags, str(DRIVER), str(file)],
        cwd=store.root,
        env={**store.env, **(env or {})},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found: list[Any] = json.loads(done.stdout)
    for line, _, out, err in found:
        assert "Quire itself failed" not in out + err, (line, err)
    return found


# -- C2, C3: disks and folders that do not let us ----------------------------------------


@pytest.fixture
def read_only(tmp_path: Path) -> Callable[[Store], list[str]]:
    """What runs a command with the project on a disk that is read-only, for that command alone."""

    def prefix(store: Store) -> list[str]:
        script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'
        for line in (["unshare", "-m"], ["unshare", "-rm"]):
            if shutil.which(line[0]):
                found = [*line, "sh", "-c", script, str(store.root)]
                if subprocess.run([*found, "true"], capture_output=True, check=False).returncode == 0:
                    return found
        pytest.skip("mounts of one's own are not permitted here (unshare -m)")

    return prefix


@pytest.mark.proof
@proves("P1.3", "C2", over="graph facts profile journal")
def test_on_a_read_only_disk_every_layer_answers_and_refuses_to_write(
    tmp_path: Path, read_only: Callable[[Store], list[str]]
) -> None:
    store = opened(NEWEST, tmp_path)
    memory = Memory(store.root, store.env, read_only(store))
    before = store.files()
    for line in lines_for(store.said, some(LOOKING, 4)):
        assert memory(*line, stdin=given_to(line)).code in (0, 1), line
    assert memory("status", "--json").data["nodes_by_kind"] == store.said["status"]["nodes_by_kind"]
    for line in lines_for(store.said, tuple(ONE_EACH.values())):
        run = memory(*line, "--json", stdin=given_to(line))
        assert run.code == 1, (line, run)
        assert "read-only" in run.error["message"]
        assert run.error["hint"]
    assert store.files() == before


def _obeying() -> list[str]:
    """What makes even root obey the modes of files."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root may do everything, and nothing here takes that away (setpriv)")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]


@proves("P1.3", "C3", over="graph facts profile journal")
@pytest.mark.parametrize("mode", [0o000, 0o555])
@pytest.mark.parametrize("layer", ONE_EACH)
def test_a_folder_that_may_not_be_read_or_written_is_named(layer: str, mode: int, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    memory = Memory(store.root, store.env, _obeying())
    place = {"graph": ".memory", "facts": ".memory", "profile": ".ai-state", "journal": ".agent-memory"}[layer]
    before = store.files()
    folders = [store.root / place] if mode == 0 else [store.root / place, *_folders(store.root / place)]
    modes = {folder: stat.S_IMODE(folder.stat().st_mode) for folder in folders}
    for folder in reversed(folders):
        folder.chmod(mode)
    (line,) = lines_for(store.said, (ONE_EACH[layer],))
    try:
        run = memory(*line, "--json", stdin=given_to(line))
    finally:
        for folder, kept in modes.items():
            folder.chmod(kept)
    assert run.code in (1, 3), run
    assert place in run.error["message"], run
    assert run.error["hint"]
    assert store.files() == before


def _folders(top: Path) -> list[Path]:
    return [path for path in sorted(top.rglob("*")) if path.is_dir()]


# -- C5: clocks ----------------------------------------

CLOCKS = {
    "years ahead": "2031-03-02T11:00:00+00:00",
    "years behind": "2016-03-02T11:00:00+00:00",
    "before our time": "1970-01-01T00:00:00+00:00",
}


@pytest.mark.proof(keep=1)
@proves("P1.5", "C5", over="graph facts profile journal")
@pytest.mark.parametrize("clock", some(list(CLOCKS), 2))
def test_a_clock_that_is_wrong_by_years_stops_nothing_and_no_age_is_negative(clock: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    said = store.said
    for line in lines_for(said, (*ONE_EACH.values(), "sync", "facts session 8d2f --turns 3 --close", "note|late")):
        assert store(*line, stdin=given_to(line), env={"MEMORY_NOW": CLOCKS[clock]}).code == 0, line
    for now in (store.env["MEMORY_NOW"], CLOCKS[clock]):
        for line in lines_for(said, some(LOOKING, 16)):
            run = store(*line, stdin=given_to(line), env={"MEMORY_NOW": now})
            assert run.code in (0, 1), (line, run)
            assert not NEGATIVE.search(run.out), (line, NEGATIVE.search(run.out))
    for line in lines_for(said, ("facts store Specs|Back in our time.", "profile remember tools pager|less", "sync")):
        assert store(*line, stdin=given_to(line)).code == 0, line
    assert store.data("check")["errors"] == []


@proves("P1.5", "C5", over="graph facts profile journal")
def test_a_clock_that_jumps_gives_every_record_a_name_of_its_own_in_the_order_of_their_making(
    repo: Path, world: World
) -> None:
    start = datetime(2026, 3, 2, tzinfo=UTC)
    hours = iter([0, 24 * 365 * 5, -24 * 365 * 10, 1, 1, 0, -1, 2] * 9)
    jumping = World(
        cwd=world.cwd,
        env=world.env,
        now=lambda: start + timedelta(hours=next(hours, 3)),
        token=world.token,
        sleep=world.sleep,
        pid=world.pid,
    )
    project = Project.open(str(repo), jumping)
    init_memory(project)
    made = [
        save_nodes(project, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Same", "body": f"B{n}."}]})
        for n in (1, 2)
    ]
    names = [done.memory_created[0] for done in made]
    assert len(set(names)) == 2
    facts = [
        store_fact(project, StoreFact(section="Specs", content=f"Number {number} of many.")).fact.id
        for number in range(8)
    ]
    assert len(set(facts)) == len(facts)
    lines = [json.loads(line) for line in (repo / ".memory/facts.jsonl").read_bytes().splitlines()]
    told = [line for line in lines if line.get("_type") == "fact"]
    assert [line["id"] for line in told] == facts
    versions = [line["version"] for line in told]
    assert versions == sorted(set(versions)), "a later change always counts more, whatever the clock said"


@proves("P8.4", "C5", "G9", over="facts")
def test_what_was_written_in_the_future_does_not_count_more_for_ever(tmp_path: Path) -> None:
    """The same words, told once by a clock years ahead: it leads by nothing that time gave it."""
    store = opened(NEWEST, tmp_path)
    ahead = {"MEMORY_NOW": CLOCKS["years ahead"]}
    late = store.store("Specs", "Lighthouse keepers polish brass lamps at dusk.", env=ahead)
    now = store.store("Specs", "Lighthouse keepers polish brass lamps at dawn.")
    found = store.data("facts", "recall", "lighthouse keepers polish brass lamps")["results"]
    scores = {item["id"]: item for item in found}
    assert set(scores) >= {late, now}
    assert scores[late]["confidence"] <= 1.0
    assert scores[late]["score"] <= scores[now]["score"] * 1.001


# -- C6, C7: languages, time zones, warnings ----------------------------------------


def _languages() -> Iterator[tuple[str, dict[str, str]]]:
    yield "kathmandu", {"TZ": "Asia/Kathmandu"}
    yield "new york in spring", {"TZ": "America/New_York", "LC_ALL": "C"}
    yield "ascii", {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    known = subprocess.run(["locale", "-a"], capture_output=True, check=False).stdout.decode().lower().split()
    if "tr_tr.utf8" in known:
        yield "turkish", {"LC_ALL": "tr_TR.UTF-8"}


SAME = (
    "save --stdin",
    *list(ONE_EACH.values())[1:],
    "sync",
    "profile forget tools package_manager",
    "facts store Specs|Ünïcøde İı.",
)


@pytest.mark.proof
@proves("P1.5", "C6", over="graph facts profile journal")
def test_time_zones_and_languages_write_the_same_bytes(tmp_path: Path) -> None:
    trees: dict[str, dict[str, bytes]] = {}
    for name, env in (("plain", {}), *_languages()):
        folder = tmp_path / "same"
        shutil.rmtree(folder, ignore_errors=True)
        store = opened(NEWEST, folder)
        ended = drive(store, lines_for(store.said, SAME), env=env)
        assert [code for _, code, _, _ in ended] == [0] * len(SAME), ended
        trees[name] = store.files()
    for name, tree in trees.items():
        assert tree == trees["plain"], name


@pytest.mark.proof
@proves("P1.5", "C7")
def test_every_warning_of_python_is_an_error_and_none_comes(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    ended = drive(store, lines_for(store.said), *STRICT)
    assert {code for _, code, _, _ in ended} <= {0, 1}
    assert all("Warning" not in err for _, _, _, err in ended), ended
    tally("P1.5", inputs=len(ended))


@proves("P1.5", "C7")
@pytest.mark.parametrize("line", either(["status"], ["status", "check", "facts", "profile", "journal", "query retry"]))
def test_the_command_itself_starts_without_a_warning(line: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    program = [sys.executable, *STRICT, "-m", "quire", *line.split()]
    done = subprocess.run(program, cwd=store.root, env=store.env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr


# -- C8: homes and gits ----------------------------------------

NEWER_OPTIONS = (
    "--path-format*|--batch-command*|-Z|--sparse|--merge-base|--deduplicate|--object-only|--show-ref-format*"
    "|--config-env*|--since-as-filter*|--no-advice|--attr-source*"
)
"""What git has learned since 2.25."""


def old_git(folder: Path) -> str:
    """A folder for the path with a git that knows nothing newer, and is git otherwise."""
    real = shutil.which("git")
    folder.mkdir()
    program = folder / "git"
    program.write_text(
        f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nfor word in "$@"; do\n  case "$word" in\n    --) break;;\n'
        f'    {NEWER_OPTIONS}) echo "error: unknown option $word" >&2; exit 129;;\n  esac\ndone\nexec {real} "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return str(folder)


@pytest.mark.proof
@proves("P1.5", "C8")
def test_an_old_git_answers_as_a_new_one(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path / "one")
    other = opened(NEWEST, tmp_path / "two")
    other.env["PATH"] = f"{old_git(tmp_path / 'bin')}:{other.env['PATH']}"
    assert other.asked() == store.asked() == store.said
    for line in lines_for(store.said, ("sync --dry-run", "brief src/queue.py", "why src/queue.py:1", "diff", "check")):
        assert other(*line).code == store(*line).code == 0, line
        assert other(*line).out.replace("/two/", "/one/") == store(*line).out, line


HOMES: dict[str, dict[str, str]] = {
    "unset": {"HOME": "", "MEMORY_HOME": ""},
    "not writable": {"HOME": "/proc/nowhere", "MEMORY_HOME": "/proc/nowhere/registry"},
}


@proves("P1.5", "C8")
@pytest.mark.parametrize("home", HOMES)
def test_without_a_home_everything_in_the_project_works(home: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    store.env.update(HOMES[home])
    for line in lines_for(store.said, some(TOUR, 30)):
        run = store(*line, stdin=given_to(line))
        assert run.code in (0, 1, 3), (line, run)
        if run.code == 3:
            assert "hint: " in run.err, (line, run)
            assert line[0] in ("projects", "journal", "integrate", "profile", "doctor"), (line, run)
    assert store.data("check")["errors"] == []


@proves("P1.5", "C8")
@pytest.mark.parametrize("place", ["no program", "no repository"])
def test_without_git_all_but_what_asks_git_works(place: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    if place == "no program":
        store.env["PATH"] = str(tmp_path / "nowhere")
    else:
        shutil.rmtree(store.root / ".git")
    needs = (
        "diff",
        "sync",
        "why",
        "review",
        "merge",
        "merge-driver",
        "resolve",
        "fold",
        "brief",
        "check",
        "journal",
        "inspect",
    )
    for line in lines_for(store.said, (*some(LOOKING, 24), *some(WRITING, 14))):
        run = store(*line, stdin=given_to(line))
        assert run.code in (0, 1, 3), (line, run)
        if run.code == 3:
            assert line[0] in needs, (line, run)
            assert "hint: " in run.err
    graph = {name: said for name, said in store.asked().items() if name.startswith("inspect decision")}
    assert graph == {name: said for name, said in store.said.items() if name.startswith("inspect decision")}


@proves("P1.5", "C8")
def test_a_bare_repository_is_a_folder_like_any_other(tmp_path: Path, environment: dict[str, str], memory: Any) -> None:
    bare = tmp_path / "bare.git"
    Git(tmp_path, environment)("init", "--quiet", "--bare", str(bare))
    assert memory("status", cwd=bare).code == 3
    assert memory("init", "--json", cwd=bare).code == 0
    assert memory("facts", "store", "Specs", "One owner.", cwd=bare).code == 0
    assert memory("diff", "--json", cwd=bare).error["code"] == "MemoryGitRequired"
    assert memory("check", cwd=bare).code == 0


# -- C12, C13: names ----------------------------------------

RESERVED = ("con", "PRN", "aux", "nul", "com1", "lpt9", "nul.", "con .", "aux.txt", "COM1 ", "progra~1")


@proves(
    "P1.5", "C13", over="graph", found="a project called nul got a file that Windows cannot have, and check refused"
)
@pytest.mark.parametrize("name", some(RESERVED, 5))
def test_a_project_of_a_reserved_name_is_sound(name: str, repo: Path, world: World) -> None:
    project = Project.open(str(repo), world)
    init_memory(project, name=name.strip())
    assert check_files(project).errors == []
    assert inspect_node(project, project.graph.config().project.id) is not None
    legal(repo)


@proves("P1.5", "C13", over="graph facts profile journal inbox")
def test_titles_keys_and_sources_of_reserved_names_get_legal_files(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    for number, name in enumerate(RESERVED):
        intent = {"task": "t", "nodes": [{"kind": "gotcha", "title": name, "body": f"B{number}."}]}
        assert store("save", "--stdin", stdin=json.dumps(intent)).code == 0, name
        assert store("inbox", "reject", "--value", f"{name} is what we use", "--reason", "no").code == 0, name
        assert store("facts", "session", name.strip(), "--turns", "2").code in (0, 2), name
        source = ("journal", "add", "claude-local", "sessions", "--name", name.strip(), "--all-folders")
        assert store(*source).code in (0, 1, 2), name
    assert store("journal", "sync", "--all").code in (0, 1)
    assert store.data("check")["errors"] == []
    legal(store.root)


ILLEGAL = re.compile(r'[<>:"\\|?*\x00-\x1f]|[. ]$')
BARE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def legal(root: Path) -> None:
    """Every name that we made can be one on every system."""
    for path in root.rglob("*"):
        if ".git" not in path.parts:
            assert not ILLEGAL.search(path.name), path
            assert not BARE.fullmatch(path.name), path


@proves("P1.5", "C12", over="graph facts profile")
@proves("P5.4", "C12", over="graph facts profile")
def test_names_that_differ_by_case_or_composition_alone_do_not_collide(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    pairs = (("Café", "Cafe\u0301"), ("Straße", "STRASSE"), ("Alpha", "ALPHA"), ("ﬁle", "file"))
    made: list[str] = []
    for number, pair in enumerate(pairs):
        for title in pair:
            intent = {"task": "t", "nodes": [{"kind": "gotcha", "title": title, "body": f"B{number} {len(made)}."}]}
            done = store("save", "--stdin", "--json", stdin=json.dumps(intent))
            made += done.data["memory_created"]
    assert len(made) == len({name.casefold() for name in made}) == 2 * len(pairs)
    bodies = {store.data("inspect", name)["object"]["body"] for name in made}
    assert len(bodies) == len(made)
    facts = [store.store("Specs", text) for pair in pairs for text in (f"{pair[0]} one.", f"{pair[1]} two.")]
    assert len(set(facts)) == len(facts)
    assert store("profile", "remember", "tools", "editor", "vi for every small thing").code == 0
    assert store("profile", "remember", "tools", "editor2", "emacs for every large thing").code == 0
    assert store("profile", "remember", "tools", "Editor", "ed for nothing at all").code in (1, 2)
    names = [path.relative_to(store.root).as_posix() for path in store.root.rglob("*") if ".git" not in path.parts]
    assert len({name.casefold() for name in names}) == len(names)
    assert all(path.name.isascii() for path in (store.root / ".memory/memory").iterdir())
    assert store.data("check")["errors"] == []


# -- C11, C15: repositories and line ends ----------------------------------------


@proves("P1.5", "C11")
@pytest.mark.parametrize("name", some(["with space", "new\nline", "ünï ☃", "[glob]*", "-dash"], 3))
def test_a_project_at_an_odd_path_works_in_every_layer(name: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path / "kept")
    odd = tmp_path / name
    shutil.move(store.root, odd)
    moved = Store(odd, store.env)
    moved.said = store.said
    assert moved.asked() == store.said
    for line in lines_for(store.said, tuple(ONE_EACH.values())):
        assert moved(*line, stdin=given_to(line)).code == 0, line
    assert moved.data("check")["errors"] == []


@proves("P1.5", "C11")
def test_a_project_whose_path_is_no_text_says_so(tmp_path: Path, memory: Memory) -> None:
    store = opened(NEWEST, tmp_path / "kept")
    odd = os.fsencode(tmp_path) + b"/caf\xe9"
    os.rename(store.root, odd)
    run = memory("status", "--json", cwd=Path(os.fsdecode(odd)))
    assert run.code == 1
    assert "not UTF-8" in run.error["message"]


@proves("P6.4", "C15", over="graph facts profile journal")
@proves("P1.5", "C15", over="graph facts profile journal")
def test_a_checkout_with_windows_line_ends_is_the_same_memory_and_stays_so(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    (store.root / ".gitattributes").unlink(missing_ok=True)
    store.git.commit()
    store.git("config", "core.autocrlf", "true")
    store.git("rm", "--cached", "-r", "--quiet", ".")
    store.git("reset", "--hard", "--quiet")
    body = store.root / ".memory/memory/retry-queue.json"
    assert b"\r\n" in body.read_bytes()
    assert store.data("check")["errors"] == []
    said = dict(store.said)
    said["inspect feature.mailer"] = {**said["inspect feature.mailer"], "body": "Sends mail.\nEdited by hand.\n"}
    asked = store.asked()
    assert {name: asked[name] for name in asked if name != "inspect feature.mailer"} == {
        name: said[name] for name in said if name != "inspect feature.mailer"
    }
    assert asked["inspect feature.mailer"]["body"].replace("\r\n", "\n") == "Sends mail.\nEdited by hand.\n"
    ended = {path: b"\r\n" in path.read_bytes() for path in store.root.glob(".memory/memory/*")}
    for line in lines_for(store.said, tuple(ONE_EACH.values())):
        assert store(*line, stdin=given_to(line)).code == 0, line
    assert {path: b"\r\n" in path.read_bytes() for path in ended} == ended
    assert store.data("check")["errors"] == []
    changed = store.git("diff", "--numstat").split("\n")
    touched = {row.split("\t")[2]: int(row.split("\t")[0]) for row in changed if row}
    assert touched[".ai-state/memory.json"] <= 60, touched
    assert ".memory/memory/retry-queue.json" not in touched
