"""`memory view --detach` and `--stop`: one page of a project that goes on alone, known by its lock."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_here import LINK, SECONDS, children, fetch, is_alive, made, until

from installed import Git, Memory, Run
from quire.files import daemons
from quire.files.digests import hex_digest

STARTED = "import sys, time; print(flush=True); time.sleep(60)"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Processes that go on alone must not be started by a process of the tests' that stands by."""
    memory = made(tmp_path_factory.mktemp("detach").resolve())
    return Memory(memory.cwd, memory.env, fresh=True)


@pytest.fixture
def here(place: Memory) -> Iterator[Memory]:
    """After each test no page is left."""
    yield place
    for lock in locks(place):
        said = daemons.holder_of(str(lock))
        if said:
            os.kill(json.loads(said)["pid"], signal.SIGKILL)
        lock.unlink(missing_ok=True)


def folder(memory: Memory) -> Path:
    return Path(memory.env["MEMORY_HOME"], "view")


def locks(memory: Memory) -> list[Path]:
    return sorted(folder(memory).glob("*")) if folder(memory).is_dir() else []


def held(memory: Memory) -> dict[str, Any]:
    [lock] = locks(memory)
    told: dict[str, Any] = json.loads(lock.read_text())
    return told


def detached(memory: Memory, *arguments: str, **options: Any) -> dict[str, Any]:
    run = memory("view", "--detach", "--json", *arguments, **options)
    assert run.code == 0, run
    assert run.err == ""
    data: dict[str, Any] = run.data
    return data


def answers(url: str) -> bool:
    try:
        return fetch(url, "/api/session")[0] == 200
    except OSError:
        return False


# -- one page of a project ------------------------------------------------------------------------


def test_it_goes_on_and_is_ended(here: Memory) -> None:
    run = here("view", "--detach")
    assert (run.code, run.err) == (0, "")
    link = LINK.search(run.out)
    assert link
    assert run.out == (
        f"Memory viewer: {link[0]}\n"
        "Projects: 1 (~/registry/projects.json)\n"
        "Running in the background. Stop it with `memory view --stop`.\n"
    )
    assert fetch(link[0], "/api/session")[1]["data"]["write"] is False
    pid = held(here)["pid"]
    stopped = here("view", "--stop")
    assert (stopped.code, stopped.out, stopped.err) == (0, "Stopped the page.\n", "")
    assert not is_alive(pid)
    assert not answers(link[0])
    assert locks(here) == [], "no file is left"


def test_twice_is_the_same_page(here: Memory) -> None:
    first, second = detached(here), detached(here)
    assert first == second
    assert first["detached"] is True
    assert first["project_root"] == str(here.cwd)
    assert fetch(first["url"], "/api/session")[0] == 200


@pytest.mark.proof
def test_many_at_once_start_one_page(here: Memory) -> None:
    lines = [here.start("view", "--detach", "--json", stdin=subprocess.DEVNULL) for _ in range(4)]
    said = [process.communicate(timeout=60) for process in lines]
    told = [json.loads(out) for out, _ in said]
    urls = {item["data"]["url"] for item in told if item["ok"]}
    assert len(urls) == 1, told
    for item in told:
        assert item["ok"] or "runs already" in item["error"]["message"], item
    [url] = urls
    assert url == held(here)["url"]
    assert answers(url)


@pytest.mark.proof
def test_from_two_folders_of_one_project_and_over_a_link(here: Memory, tmp_path: Path) -> None:
    below = here.cwd / "src"
    below.mkdir(exist_ok=True)
    other = tmp_path / "over"
    other.symlink_to(here.cwd)
    first = detached(here)
    assert detached(here, cwd=below)["url"] == first["url"]
    assert detached(here, cwd=other)["url"] == first["url"]
    assert len(locks(here)) == 1
    assert here("view", "--stop", cwd=below).out == "Stopped the page.\n"


@pytest.mark.proof
def test_another_project_has_another_page(here: Memory, tmp_path: Path) -> None:
    root = tmp_path / "quay"
    root.mkdir()
    Git(root, here.env)("init", "--quiet")
    first, second = detached(here), detached(here, cwd=root)
    assert first["port"] != second["port"]
    assert first["url"].partition("token=")[2] != second["url"].partition("token=")[2]
    assert len(locks(here)) == 2
    assert here("view", "--stop", cwd=root).code == 0
    assert answers(first["url"])
    assert not answers(second["url"])


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("more", [("--write",), ("--port", "1")])
def test_another_wish_is_a_conflict(here: Memory, more: tuple[str, ...]) -> None:
    first = detached(here)
    run = here("view", "--detach", "--json", *more)
    assert run.code == 1
    assert run.error["code"] == "MemoryConflictDetected"
    assert (
        run.error["message"] == f"A page of this project is already running, on port {first['port']}, without --write."
    )
    assert answers(first["url"]), "the one that runs goes on"
    assert detached(here, "--port", str(first["port"]))["url"] == first["url"]


@pytest.mark.proof
def test_one_that_may_write(here: Memory) -> None:
    first = detached(here, "--write")
    assert fetch(first["url"], "/api/session")[1]["data"]["write"] is True
    run = here("view", "--detach", "--json")
    assert run.error["message"].endswith("with --write.")
    assert detached(here, "--write")["url"] == first["url"]


def test_one_in_the_foreground_is_none_of_it(here: Memory) -> None:
    process = here.start("view", "--json", stdin=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["data"]["url"]
        assert here("view", "--stop").out == "No page of this project runs in the background.\n"
        assert answers(url)
        assert detached(here)["url"] != url
    finally:
        process.kill()
        process.communicate()


def test_nothing_to_stop(here: Memory) -> None:
    run = here("view", "--stop", "--json")
    assert (run.code, run.data) == (0, {"stopped": False, "project_root": str(here.cwd)})
    detached(here)
    pid = held(here)["pid"]
    assert here("view", "--stop", "--json").data == {"stopped": True, "pid": pid, "project_root": str(here.cwd)}
    assert here("view", "--stop", "--json").data == {"stopped": False, "project_root": str(here.cwd)}


def test_a_port_that_is_taken_says_why(here: Memory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = here("view", "--detach", "--port", str(port))
    assert run.code == 1
    assert run.err == (
        f"error: Cannot listen on 127.0.0.1 port {port}: Address already in use.\n"
        "hint: Choose another port with --port, or 0 for any free one.\n"
    )
    assert locks(here) == []


# -- the browser ----------------------------------------------------------------------------------


def test_a_browser_gets_a_ticket_each_time(here: Memory, tmp_path: Path) -> None:
    script, seen = tmp_path / "browser", tmp_path / "seen"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{seen}"\n')
    script.chmod(0o755)
    env = {"BROWSER": f"{script} %s"}
    first, second = (detached(here, "--open", env=env) for _ in range(2))
    assert (first["opened"], second["opened"], first["url"]) == (True, True, second["url"])
    links = until(lambda: len(found := seen.read_text().split()) == 2 and found)
    token = first["url"].partition("token=")[2]
    tickets = [link.partition("#ticket=")[2] for link in links]
    assert token not in tickets
    assert fetch(first["url"], "/api/ticket", {"ticket": tickets[0]}, token="")[0] == 404, "the newer one is the one"
    assert fetch(first["url"], "/api/ticket", {"ticket": tickets[1]}, token="") == (200, {"data": {"token": token}})


# -- the process ----------------------------------------------------------------------------------


def test_it_survives_the_terminal_and_its_starter_and_says_nothing(here: Memory) -> None:
    url = detached(here)["url"]
    pid = held(here)["pid"]
    assert os.getsid(pid) == pid, "a session of its own: no terminal hangs it up"
    for number in (0, 1, 2):
        assert os.readlink(f"/proc/{pid}/fd/{number}") == "/dev/null"
    assert answers(url)
    assert url.partition("token=")[2].encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    opened = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it is at work, and closes what it has read
            opened.add(os.readlink(path))
    assert not [path for path in opened if path.startswith("pipe:")], "no pipe of whoever started it is held"
    assert pid not in children(os.getpid())


def test_a_hangup_ends_it_when_it_is_meant(here: Memory) -> None:
    """Nobody sends one by accident any more; one that comes is meant."""
    url = detached(here)["url"]
    pid = held(here)["pid"]
    os.kill(pid, signal.SIGHUP)
    until(lambda: not is_alive(pid))
    assert locks(here) == []
    assert not answers(url)


def test_no_dead_process_is_left_beside_one_that_started_it(here: Memory) -> None:
    """The starter is a child of this test, which waits for it; what it started belongs to nobody of ours."""
    before = set(children(os.getpid()))
    detached(here)
    pid = held(here)["pid"]
    here("view", "--stop")
    until(lambda: not Path(f"/proc/{pid}").exists() or pid not in children(os.getpid()))
    assert set(children(os.getpid())) <= before


# -- its lock -------------------------------------------------------------------------------------


def test_only_its_user_may_read_where_it_is(here: Memory) -> None:
    folder(here).mkdir(exist_ok=True)
    folder(here).chmod(0o755)
    mask = os.umask(0)
    try:
        detached(here)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(folder(here).stat().st_mode) == 0o700
    assert held(here)["pid"] > 1


@pytest.mark.proof
def test_a_killed_holder_is_no_obstacle(here: Memory) -> None:
    first = detached(here)
    pid = held(here)["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    assert len(locks(here)) == 1, "it could not tidy up"
    assert here("view", "--stop").out == "No page of this project runs in the background.\n"
    second = detached(here)
    assert second["url"] != first["url"]
    assert answers(second["url"])
    assert here("view", "--stop").out == "Stopped the page.\n"


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of somebody else's program."""
    process = subprocess.Popen([sys.executable, "-c", STARTED], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def lock_of(here: Memory) -> Path:
    """Where the page of this project keeps its lock."""
    folder(here).mkdir(exist_ok=True)
    return folder(here) / f"{hex_digest(str(here.cwd))[:16]}.lock"


def forged(here: Memory, pid: int, mark: str) -> Path:
    """The lock of this project, with what somebody else wrote into it."""
    told = {"pid": pid, "mark": mark, "url": f"http://127.0.0.1:1/#token={'0' * 48}", "root": str(here.cwd)}
    lock_of(here).write_text(json.dumps({**told, "write": False, "started_at": "2026-03-02T11:19:00+00:00"}))
    return lock_of(here)


FORGED: dict[str, Callable[[int], tuple[int, str]]] = {
    "the right mark": lambda pid: (pid, daemons.process_mark(pid, os.environ)),
    "another mark": lambda pid: (pid, "long ago"),
    "no mark": lambda pid: (pid, ""),
    "a group": lambda pid: (-pid, ""),
    "everybody": lambda _: (-1, ""),
    "whoever asks": lambda _: (0, ""),
    "the first of all": lambda _: (1, daemons.process_mark(1, os.environ)),
    "none": lambda _: (2**40, ""),
}


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("is_held", [False, True], ids=["nobody holds it", "somebody holds it"])
@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_lock_ends_nobody(here: Memory, victim: subprocess.Popen[bytes], kind: str, is_held: bool) -> None:
    lock = forged(here, *FORGED[kind](victim.pid))
    with lock.open("rb") as file:
        if is_held:
            fcntl.flock(file, fcntl.LOCK_EX)
        run = here("view", "--stop")
        assert (run.code, run.out) == (0, "No page of this project runs in the background.\n")
        assert victim.poll() is None
        if is_held:
            again = here("view", "--detach")
            assert (again.code, again.out) == (1, "")
            assert again.err.startswith("error: A page of this project is already running.\n")
    assert victim.poll() is None


@pytest.mark.proof
def test_a_lock_with_nonsense_in_it_is_no_obstacle(here: Memory) -> None:
    lock = lock_of(here)
    for text in ("", "{", "[]", "{}", "\0" * 5000, '{"pid": "x"}', "x" * 100_000):
        lock.write_text(text)
        assert here("view", "--stop").out == "No page of this project runs in the background.\n"
    assert answers(detached(here)["url"])
    assert locks(here) == [lock], "this is the one"


@pytest.mark.proof
def test_a_lock_that_is_a_link_or_a_folder_is_not_followed(here: Memory, tmp_path: Path) -> None:
    lock = lock_of(here)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    lock.symlink_to(mine)
    run: Run = here("view", "--detach", seconds=SECONDS)
    assert run.code == 1, run
    assert run.err.startswith("error: ")
    assert mine.read_text() == "mine"
    lock.unlink()
    lock.mkdir()
    try:
        assert here("view", "--stop").code == 0
        assert here("view", "--detach").code == 1
    finally:
        lock.rmdir()


# -- where ----------------------------------------------------------------------------------------


def test_outside_any_project_it_shows_the_list(here: Memory, tmp_path: Path) -> None:
    data = detached(here, cwd=tmp_path)
    assert fetch(data["url"], "/api/session")[1]["data"]["project"] == ""
    [entry] = fetch(data["url"], "/api/projects")[1]["data"]["projects"]
    assert (entry["name"], entry["current"]) == ("harbor", False)
    assert list(tmp_path.iterdir()) == []
    assert here("view", "--stop", cwd=tmp_path).out == "Stopped the page.\n"


def test_a_home_that_cannot_be_written(here: Memory, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    run = here("view", "--detach", env={"MEMORY_HOME": str(tmp_path / "home")})
    assert run.code == 1
    assert run.err.startswith("error: ")
    assert "hint: " in run.err
