"""How a server behaves as a process: what it says where, when it ends, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from mcp_here import Here, folder, holding, prepared
from mcp_lines import PROGRAM, Server, call, hello, request, serving, until

from promised import proves
from thorough import either

ENDING_SECONDS = 60.0
MANY = 60
BIG = {
    "task": "Many at once",
    "nodes": [{"kind": "gotcha", "title": f"Many {n}", "body": f"Number {n}. " * 30} for n in range(MANY)],
}
NOISE = """
import os
import sys

LATE = ("mcp", "mcp_types", "quire.retrieval")


class Noisy:
    def find_spec(self, name, path=None, target=None):
        if name in LATE:
            print("noise of a library:", name, flush=True)
            sys.__stdout__.write("more noise\\n")
            os.write(1, b"still more noise\\n")
            import warnings

            warnings.warn("noise of a warning", DeprecationWarning)
        return None


sys.meta_path.insert(0, Noisy())
"""
numbers = count()


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.fixture
def own(here: Here) -> Here:
    return here.copy(f"own{next(numbers)}")


def end(server: Server, how: str) -> None:
    if how == "end of input":
        server.close()
    else:
        server.signal({"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}[how])


def left_behind(here: Here) -> tuple[list[str], list[int]]:
    """Locks in the project, and processes that still run in its environment."""
    locks = [str(path) for path in here.root.rglob("*.lock") if path.stat().st_size]
    running = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={here.env['HOME']}\0".encode() in (process / "environ").read_bytes():
                running.append(int(process.name))
        except OSError:
            continue
    return locks, running


# -- what it says -----------------------------------------------------------------------------


@pytest.mark.proof
@proves("P10.4", "H5")
def test_only_messages_are_on_the_standard_output_whatever_libraries_print(own: Here, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISE)
    env = {"PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}
    server = Server(own, "--toolset", "all", env=env)
    try:
        server.send(*hello(), request(1, "tools/list"), call(2, "query_memory", question="retries"))
        server.answers(0, 1, 2)
        assert server.ask(request(3, "nope"))["error"]["code"] == -32601
        assert server.ask(call(4, "query_memory", question="retries"))["result"]["isError"] is False
        # That every line was a message is looked at here.
        assert server.end(ENDING_SECONDS) == 0
        for said in ("noise of a library: mcp\n", "more noise\n", "still more noise\n", "noise of a warning"):
            assert said in server.errors
    finally:
        server.dispose()


def test_nothing_is_read_but_the_messages(own: Here, tmp_path: Path) -> None:
    """A program that the server starts, and that reads its input, does not take them."""
    real = next(Path(place, "git") for place in os.environ["PATH"].split(":") if Path(place, "git").exists())
    (tmp_path / "git").write_text(f'#!/bin/sh\ncat >/dev/null\nexec {real} "$@"\n')
    (tmp_path / "git").chmod(0o755)
    with serving(own, env={"PATH": f"{tmp_path}:{own.env['PATH']}"}) as server:
        server.send(*hello(), *(call(number, "brief_memory", files=["src/worker.py"]) for number in range(1, 21)))
        found = server.answers(*range(21))
        assert all(found[number]["result"]["isError"] is False for number in range(1, 21))


def test_no_child_outlives_its_call(own: Here) -> None:
    with serving(own, "--toolset", "all") as server:
        server.send(*hello())
        names = ("status_memory", "sync_memory", "brief_memory", "diff_memory", "check_memory", "memory_assess")
        server.send(*(call(name, name) for name in names), call("why", "why_memory", place="src/worker.py:4"))
        server.answers(0, *names, "why")
        children = [Path(task, "children").read_text() for task in Path(f"/proc/{server.pid}/task").iterdir()]
        assert "".join(children) == ""


# -- when it ends -----------------------------------------------------------------------------


@pytest.mark.proof(keep=3)
@proves("P10.4", "H5")
@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("arguments", [(), ("--sdk-first",)], ids=["front", "sdk"])
@pytest.mark.parametrize("opened", [False, True], ids=["before the handshake", "after it"])
def test_an_idle_server_ends_at_once(here: Here, how: str, arguments: tuple[str, ...], opened: bool) -> None:
    with serving(here, *arguments) as server:
        if opened:
            server.send(*hello(), call(1, "status_memory"))
            server.answers(0, 1)
        else:
            assert_ready(server)
        end(server, how)
        assert server.wait(ENDING_SECONDS) == 0


def assert_ready(server: Server) -> None:
    """It has taken its pipes: a signal before that is not its own to handle."""
    until(lambda: os.readlink(f"/proc/{server.pid}/fd/0") == "/dev/null")
    until(lambda: caught(server.pid, signal.SIGTERM))


def caught(pid: int, number: int) -> bool:
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt")]
    return bool(int(line.split()[1], 16) & 1 << (number - 1))


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("how", ["end of input", "SIGTERM"])
@pytest.mark.parametrize("arguments", [(), ("--sdk-first",)], ids=["front", "sdk"])
@pytest.mark.parametrize("moment", either([0.0, 0.02, 0.06], [0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2]))
def test_a_save_amid_the_end_is_whole_or_absent(own: Here, how: str, arguments: tuple[str, ...], moment: float) -> None:
    with serving(own, *arguments) as server:
        server.send(*hello(), call(1, "status_memory"))
        server.answers(0, 1)
        server.send(call(2, "save_memory", **BIG))
        # There is nothing to wait for: the test is about any moment.
        time.sleep(moment)
        end(server, how)
        assert server.wait(ENDING_SECONDS) == 0
    files = list((own.root / ".memory/memory").glob("many-*"))
    logged = (own.root / ".memory/events.jsonl").read_text().count("gotcha.many-")
    assert (len(files), logged) in ((0, 0), (2 * MANY, MANY))
    if answered := [message for message in server.said if message.get("id") == 2]:
        assert (answered[0]["result"]["isError"], len(files)) == (False, 2 * MANY)
    assert left_behind(own)[0] == []
    assert own.memory("check", "--json").data["valid"] is True


@pytest.mark.parametrize("how", ["end of input", "SIGTERM"])
def test_a_save_that_waits_for_another_writer_keeps_nobody_from_ending(own: Here, how: str) -> None:
    server = Server(own)
    try:
        first = {"task": "t", "nodes": [{"kind": "gotcha", "title": "First", "body": "So that all is loaded."}]}
        server.send(*hello(), call(1, "save_memory", **first))
        server.answers(0, 1)
        with holding(own.root):
            server.send(call(2, "save_memory", **BIG), call(3, "query_memory", question="what waits?"))
            server.answers(3)
            end(server, how)
            assert server.wait(ENDING_SECONDS) == 0
    finally:
        server.dispose()
    assert own.memory("check", "--json").data["valid"] is True


def test_a_second_signal_does_not_break_a_save(own: Here) -> None:
    """Clients that are in a hurry close the input, then send a signal, then another."""
    with serving(own) as server:
        server.send(*hello(), call(1, "save_memory", **BIG))
        server.answers(0)
        server.close()
        for _ in range(3):
            try:
                server.signal()
            except ProcessLookupError:
                break
        assert server.wait(ENDING_SECONDS) in (0, -signal.SIGTERM)
    files = list((own.root / ".memory/memory").glob("many-*"))
    assert len(files) in (0, 2 * MANY)


@proves("P10.4", "H5")
def test_a_client_that_goes_away_amid_calls_leaves_nothing_behind(own: Here) -> None:
    process = subprocess.Popen([PROGRAM], cwd=own.root, env=own.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    calls = [call(number, "query_memory", question=f"retries {number}") for number in range(1, 40)]
    calls[20:20] = [call("save", "save_memory", **BIG), call("sync", "sync_memory")]
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in [*hello(), *calls]))
    process.stdin.flush()
    assert process.stdout.readline()
    process.stdout.close()
    process.stdin.close()
    assert process.wait(ENDING_SECONDS) == 0
    assert len(list((own.root / ".memory/memory").glob("many-*"))) in (0, 2 * MANY)
    locks, running = left_behind(own)
    assert locks == []
    assert process.pid not in running
    assert own.memory.save({"kind": "gotcha", "title": "Afterwards", "body": "b"})["memory_created"]


def test_a_client_that_listens_no_more_does_not_stop_a_save(own: Here) -> None:
    """It closes its end of the output alone; what was asked before that is done, and the server ends with the input."""
    process = subprocess.Popen([PROGRAM], cwd=own.root, env=own.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in hello()))
    process.stdin.flush()
    assert process.stdout.readline()
    process.stdout.close()
    process.stdin.write(json.dumps(call(1, "save_memory", **BIG)).encode() + b"\n")
    process.stdin.flush()
    until(lambda: (own.root / ".memory/events.jsonl").read_text().count("gotcha.many-") == MANY)
    process.stdin.close()
    assert process.wait(ENDING_SECONDS) == 0


def test_nothing_runs_on_when_all_have_ended(here: Here) -> None:
    """Of all the servers that were started here, and of what they started."""
    with serving(here, fresh=True) as server:
        server.send(*hello(), call(1, "sync_memory"))
        server.answers(0, 1)
        assert server.pid in left_behind(here)[1]
    until(lambda: left_behind(here)[1] == [], 10)
