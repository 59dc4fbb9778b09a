"""Starting and ending the server over HTTP: where it listens, what it says, what it keeps to itself."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_here import PROGRAM, Here, folder, holding
from mcp_http_here import READER, WRITER, Door, empty_project, request_of, result_of, started

LIST = request_of("tools/list")
STORE = request_of("tools/call", name="memory_store", arguments={"section": "Specs", "content": "Stored at the end."})
NOT_LOCAL = "can be reached by other machines."


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield empty_project(place)


def refused(here: Here, *arguments: str, **env: str) -> tuple[int, str]:
    """How a start that must not work ended, and what it said."""
    done = subprocess.run(
        [PROGRAM, "--http", *arguments],
        cwd=here.root,
        env={**here.env, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, done.stderr.decode()


# -- where it listens -----------------------------------------------------------------------------


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", ""])
def test_other_machines_can_reach_it_only_if_that_is_meant(here: Here, host: str) -> None:
    code, said = refused(here, "--host", host, "--port", "0", MEMORY_MCP_TOKEN=WRITER)
    assert code == 2
    assert said == (
        f"memory-mcp: {host} {NOT_LOCAL}\n"
        "hint: Add --public to allow it, behind a proxy with TLS; or leave --host out.\n"
    )


def test_other_machines_can_reach_it_only_with_a_token_of_ones_own(here: Here) -> None:
    code, said = refused(here, "--host", "0.0.0.0", "--public", "--port", "0")
    assert code == 2
    assert said == (
        "memory-mcp: Listening on 0.0.0.0 needs a token of your own.\n"
        "hint: Set MEMORY_MCP_TOKEN or give --token-file; MEMORY_MCP_READ_TOKEN is for readers.\n"
    )


@pytest.mark.proof
def test_whoever_means_it_is_warned(here: Here) -> None:
    with started(here, "--host", "0.0.0.0", "--public") as door:
        assert door.said == (
            f"memory-mcp listens on http://0.0.0.0:{door.port}/mcp\n"
            "warning: other machines can reach this address, and what is sent is not encrypted."
            " Put a proxy with TLS before it; `memory docs mcp` says how.\n"
            "warning: no --allow-host was given, so only clients that name a loopback host are served.\n"
        )
        assert door.send(LIST).status == 200
        assert door.send(LIST, host=f"{socket.gethostname()}:{door.port}").status == 421
        assert door.send(LIST, host=f"0.0.0.0:{door.port}").status == 421


@pytest.mark.proof
def test_the_other_loopback_address(here: Here) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    with started(here, "--host", "::1") as door:
        assert door.said == f"memory-mcp listens on http://[::1]:{door.port}/mcp\n"
        assert door.send(LIST).status == 200
        assert door.send(LIST, host=f"localhost:{door.port}").status == 200
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", door.port), timeout=5)


def test_a_port_that_is_taken(here: Here) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refused(here, "--port", str(port))
    assert code == 1
    assert said.startswith(f"memory-mcp: Cannot listen on 127.0.0.1 port {port}: ")
    assert said.endswith("\nhint: Choose another port with --port, or 0 for any free one.\n")


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("host", ["no-such-host.invalid", "x" * 300, "a b", "1.2.3", "nul\u0443"])
def test_a_host_that_is_none(here: Here, host: str) -> None:
    code, said = refused(here, "--host", host, "--port", "0", "--public", MEMORY_MCP_TOKEN=WRITER)
    assert code == 1
    assert said.startswith(f"memory-mcp: Cannot listen on {host} port 0: ")
    assert "\nhint: " in said


# -- where it stands ------------------------------------------------------------------------------


@pytest.mark.proof
def test_it_stands_in_the_project_around_its_folder(here: Here) -> None:
    below = here.root / "src/deep"
    below.mkdir(parents=True)
    with started(here, cwd=below) as door:
        result = door.call("status_memory")
        assert result["isError"] is False, result["content"]
        assert result["structuredContent"]["meta"]["project_root"] == str(here.root)


@pytest.mark.proof
def test_it_opens_no_project_but_those_it_was_started_for(here: Here, tmp_path: Path) -> None:
    other = empty_project(tmp_path)
    with started(here, cwd=here.root) as door:
        result = door.call("status_memory", project_root=str(other.root))
        assert result["structuredContent"]["error"]["code"] == "MemoryNotInitialized"
        assert str(other.root) not in json.dumps(result)
    with started(here, "--project", str(here.root), "--project", str(other.root)) as door:
        assert door.call("status_memory")["structuredContent"]["meta"]["project_root"] == str(here.root)
        result = door.call("status_memory", project_root=str(other.root))
        assert result["structuredContent"]["meta"]["project_root"] == str(other.root)


# -- what it keeps to itself ----------------------------------------------------------------------


@pytest.mark.proof
def test_a_token_is_made_for_the_run_and_said_once(here: Here) -> None:
    with started(here, tokens=("", "")) as door:
        first, second = door.said.splitlines()
        assert first == f"memory-mcp listens on http://127.0.0.1:{door.port}/mcp"
        assert re.fullmatch("token for this run: [0-9a-f]{48}", second)
        token = second.removeprefix("token for this run: ")
        assert len(set(token)) > 6, "drawn by lot"
        assert result_of(door.send(LIST, token))["tools"]
        assert door.send(LIST, WRITER).status == 401
        assert token not in seen_by_others(door)
        assert token not in door.end()[1]


def seen_by_others(door: Door) -> str:
    """What every user of the machine sees of the process."""
    return Path(f"/proc/{door.process.pid}/cmdline").read_bytes().decode() if Path("/proc").is_dir() else ""


@pytest.mark.proof
def test_tokens_come_from_files_which_win_over_the_environment(here: Here, tmp_path: Path) -> None:
    for name, text in (("write", f"  {WRITER}\n"), ("read", f"{READER}\n\n")):
        (tmp_path / name).write_text(text)
    files = ("--token-file", str(tmp_path / "write"), "--read-token-file", str(tmp_path / "read"))
    with started(here, *files, tokens=("environment-0123456789", "")) as door:
        assert "token for" not in door.said
        assert door.send(LIST, WRITER).status == 200
        assert door.send(LIST, READER).status == 200
        assert door.send(LIST, "environment-0123456789").status == 401
        shown = seen_by_others(door)
        assert WRITER not in shown
        assert READER not in shown
        assert WRITER not in door.end()[1]


BAD_TOKENS = {
    "short": ({"MEMORY_MCP_TOKEN": "0123456789abcde"}, "at least 16 ASCII characters and no spaces"),
    "with spaces": ({"MEMORY_MCP_TOKEN": "0123456789 abcdefgh"}, "at least 16 ASCII characters and no spaces"),
    "not ASCII": ({"MEMORY_MCP_READ_TOKEN": "0123456789abcdefgé"}, "at least 16 ASCII characters and no spaces"),
    "the same": ({"MEMORY_MCP_TOKEN": WRITER, "MEMORY_MCP_READ_TOKEN": WRITER}, "Both tokens are the same."),
}


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("given", BAD_TOKENS)
def test_tokens_that_are_none(here: Here, given: str) -> None:
    env, message = BAD_TOKENS[given]
    code, said = refused(here, "--port", "0", **env)
    assert code == 1
    assert message in said
    assert "\nhint: " in said
    assert not [value for value in env.values() if value in said]


# -- the end --------------------------------------------------------------------------------------


@pytest.mark.proof
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly(here: Here, number: signal.Signals) -> None:
    """Also while somebody listens, and somebody else has only sent half of a request."""
    with started(here) as door:
        session = door.open_session()
        lines = f"Host: {door.name}\r\nAuthorization: Bearer {WRITER}\r\n"
        stream = f"GET /mcp HTTP/1.1\r\n{lines}Accept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
        with (
            socket.create_connection((door.host, door.port), timeout=30) as listening,
            socket.create_connection((door.host, door.port), timeout=30) as half,
        ):
            listening.sendall(stream.encode())
            assert listening.recv(16).startswith(b"HTTP/1.1 200")
            half.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
            code, said = door.end(number)
        assert (code, said) == (0, "")


@pytest.mark.proof
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_being_written_is_completed_first(here: Here, number: signal.Signals) -> None:
    """Another writer holds the project when the signal comes; then it lets go, and the change is made and answered."""
    file = here.root / ".memory/facts.jsonl"
    file.unlink(missing_ok=True)
    with started(here) as door:
        door.send(LIST)
        replies: list[bool] = []
        threads = threads_of(door)
        with holding(here.root):
            asking = threading.Thread(target=lambda: replies.append(result_of(door.send(STORE))["isError"]))
            asking.start()
            wait_until_at_work(door, threads)
            door.process.send_signal(number)
            wait_until_closed(door)
            assert door.process.poll() is None
            assert not file.exists()
        asking.join(20)
        assert replies == [False]
        _, err = door.process.communicate(timeout=20)
        assert json.loads(file.read_text())["content"] == "Stored at the end."
        assert (door.process.returncode, err.decode()) == (0, "")


def wait_until_at_work(door: Door, threads: int) -> None:
    """Until the call has a thread of its own, which then waits for the other writer."""
    end = time.monotonic() + 60
    while threads and threads_of(door) == threads and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)


def threads_of(door: Door) -> int:
    """How many threads the server has; none where the system does not tell."""
    folder = Path(f"/proc/{door.process.pid}/task")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def wait_until_closed(door: Door) -> None:
    """Until nobody new is let in."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection((door.host, door.port), timeout=5).close()
        except OSError:
            return
        time.sleep(0.01)
    raise AssertionError("it still listens")
