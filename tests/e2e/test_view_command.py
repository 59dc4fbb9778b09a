"""`memory view` in the foreground: what it says, what it refuses, where it may be started, how it ends."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from page_here import SECONDS, children, fetch, is_alive, made, said_by, until, viewing

from installed import Git, Memory

QUIET = subprocess.DEVNULL


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory that only the tests of this module look at."""
    memory = made(tmp_path_factory.mktemp("command").resolve())
    memory.save({"kind": "feature", "title": "Queue", "body": "A queue."})
    return memory


def home(memory: Memory) -> dict[str, bytes]:
    """Everything in the user's home folder."""
    top = Path(memory.env["HOME"])
    return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}


# -- what it says ---------------------------------------------------------------------------------


def test_it_prints_link_registry_and_count_and_serves(here: Memory) -> None:
    with viewing(here) as shown:
        assert shown.said == (
            f"Memory viewer: http://127.0.0.1:{shown.port}/#token={shown.token}\n"
            "Projects: 1 (~/registry/projects.json)\n"
            "Ctrl-C ends it.\n"
        )
        session = shown.get("/api/session")
        assert (session["write"], session["exported"]) == (False, False)
        summary = shown.get(f"/api/projects/{session['project']}")
        assert summary["name"] == "harbor"
        assert shown.end() == (0, b"", b"")


def test_writing_is_said(here: Memory) -> None:
    with viewing(here, "--write", lines=4) as shown:
        assert "\nRecords can be changed on this page (--write).\n" in shown.said
        assert shown.get("/api/session")["write"] is True


def test_json_is_one_envelope(here: Memory) -> None:
    with viewing(here, "--json", lines=1) as shown:
        told = json.loads(shown.said)
        assert (told["ok"], told["warnings"]) == (True, [])
        assert told["data"] == {
            "url": shown.url,
            "host": "127.0.0.1",
            "port": shown.port,
            "token_required": True,
            "write": False,
            "open_attempted": False,
            "opened": False,
            "detached": False,
            "registry_path": "~/registry/projects.json",
            "projects_count": 1,
            "project_root": str(here.cwd),
        }
        assert shown.end() == (0, b"", b""), "nothing but the envelope"


def test_the_token_is_another_each_time_and_no_process_list_shows_it(here: Memory) -> None:
    with viewing(here) as first, viewing(here) as second:
        assert first.token != second.token
        assert first.port != second.port
        for shown, other in ((first, second), (second, first)):
            shown.get("/api/session")
            line = Path(f"/proc/{shown.process.pid}/cmdline").read_bytes()
            assert b"surfaces.web" in line
            assert shown.token.encode() not in line
            wrong = shown.url.replace(shown.token, other.token)
            with pytest.raises(json.JSONDecodeError):
                fetch(wrong, "/api/session")


def test_it_listens_on_this_machine_alone(here: Memory) -> None:
    with viewing(here) as shown:
        table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        places = [line.split()[1] for line in table.splitlines() if f":{shown.port:04X} " in f"{line.split()[1]} "]
        assert places
        assert {place.partition(":")[0] for place in places} == {"0100007F"}


def test_a_terminal_without_utf8(here: Memory, tmp_path: Path) -> None:
    """What is said is UTF-8 wherever it goes, as every command says it."""
    root = tmp_path / "häfen"
    root.mkdir()
    Git(root, here.env)("init", "--quiet")
    memory = Memory(root, {**here.env, "MEMORY_HOME": str(tmp_path / "registry")}, fresh=True)
    memory.init()
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii"}
    with viewing(memory, "--json", env=env, lines=1) as shown:
        assert json.loads(shown.said)["data"]["project_root"] == str(root)
        [entry] = shown.get("/api/projects")["projects"]
        assert entry["root"].endswith("/häfen")
        assert shown.end() == (0, b"", b"")


# -- how it ends ----------------------------------------------------------------------------------


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_quietly_and_leaves_nothing(here: Memory, number: signal.Signals) -> None:
    """Also while somebody listens to its events, and somebody else has sent half of a request."""
    before = home(here)
    with viewing(here) as shown:
        project = shown.get("/api/session")["project"]
        asked = f"GET /api/events?project={project} HTTP/1.1\r\nHost: 127.0.0.1:{shown.port}\r\n"
        with (
            socket.create_connection(("127.0.0.1", shown.port), timeout=SECONDS) as listening,
            socket.create_connection(("127.0.0.1", shown.port), timeout=SECONDS) as half,
        ):
            listening.sendall(f"{asked}Authorization: Bearer {shown.token}\r\n\r\n".encode())
            assert listening.recv(16).startswith(b"HTTP/1.1 200")
            half.sendall(b"GET / HTTP/1.1\r\nHost: ")
            started = children(shown.process.pid)
            assert shown.end(number) == (0, b"", b"")
        assert not [pid for pid in started if is_alive(pid)]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", shown.port), timeout=SECONDS)
    assert home(here) == before


def test_control_c_on_a_terminal(here: Memory) -> None:
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [*here.program, "view"],
        cwd=here.cwd,
        env=here.env,
        stdin=its,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )
    os.close(its)
    try:
        said_by(process, 3)
        os.write(ours, b"\x03")
        assert process.communicate(timeout=SECONDS) == (b"", b"")
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
        os.close(ours)


def test_one_that_ignores_hangups_goes_on(here: Memory) -> None:
    ignoring = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    with viewing(here, preexec_fn=ignoring) as shown:
        shown.process.send_signal(signal.SIGHUP)
        assert shown.get("/api/session")["write"] is False
        assert shown.end(signal.SIGTERM) == (0, b"", b"")


def test_nobody_reads_what_it_says(here: Memory) -> None:
    """A link that nobody can read opens nothing: it ends as every command does whose reader is gone."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [*here.program, "view"], cwd=here.cwd, env=here.env, stdin=QUIET, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    try:
        _, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert (process.returncode, err) == (141, b"")


def test_a_reader_who_leaves_after_the_link_ends_nothing(here: Memory) -> None:
    with viewing(here) as shown:
        assert shown.process.stdout is not None
        shown.process.stdout.close()
        assert shown.get("/api/session")["write"] is False
        shown.process.send_signal(signal.SIGINT)
        assert shown.process.wait(SECONDS) == 0
        assert shown.process.stderr is not None
        assert shown.process.stderr.read() == b""
        shown.process.stdout = None


def test_a_closed_output_is_told_nothing(here: Memory, tmp_path: Path) -> None:
    """The browser stand-in shows that it serves all the same."""
    seen = tmp_path / "seen"
    line = ["sh", "-c", 'exec "$@" >&-', "sh", *here.program, "view", "--open"]
    env = {**here.env, "BROWSER": f"{stand_in(tmp_path, seen)} %s"}
    process = subprocess.Popen(line, cwd=here.cwd, env=env, stdin=QUIET, stderr=subprocess.PIPE)
    try:
        assert "#ticket=" in until(lambda: seen.exists() and seen.read_text())
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=SECONDS)[1] == b""
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


# -- the port -------------------------------------------------------------------------------------


def test_a_port_of_ones_own(here: Memory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with viewing(here, "--port", str(port)) as shown:
        assert shown.port == port


def test_a_port_that_is_taken(here: Memory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = here("view", "--port", str(port))
    assert run.code == 1
    assert run.err == (
        f"error: Cannot listen on 127.0.0.1 port {port}: Address already in use.\n"
        "hint: Choose another port with --port, or 0 for any free one.\n"
    )
    assert run.out == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="every port is open to this user")
def test_a_port_for_which_one_needs_rights(here: Memory) -> None:
    run = here("view", "--port", "1", "--json")
    assert run.code == 1
    assert run.error["message"] == "Cannot listen on 127.0.0.1 port 1: Permission denied."


@pytest.mark.parametrize("port", ["80a", "", " ", "-1", "65536", "99999999999999999999", "1.5", "0x50"])
def test_ports_that_are_none(here: Memory, port: str) -> None:
    run = here("view", f"--port={port}", "--json")
    assert run.code == 2, run
    assert run.error["code"] == "MemoryUsage"
    assert "port" in run.error["message"]


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--write",), ("--detach",), ("--export", "x"), ("--stop",)])
def test_never_without_a_token(here: Memory, more: tuple[str, ...]) -> None:
    run = here("view", "--no-token", *more)
    assert run.code == 2
    assert run.err.startswith("error: The page is never served without a token.\nhint: ")
    assert not (here.cwd / "x").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--stop", "--detach"), "--stop does not go with --detach."),
        (("--stop", "--open", "--write"), "--stop does not go with --write or --open."),
        (("--stop", "--port", "80"), "--stop does not go with --port."),
        (("--export", "x", "--detach"), "--export does not go with --detach."),
        (("--export", "x", "--write"), "--export does not go with --write."),
        (("--export", "x", "--stop"), "--stop does not go with --export."),
        (("--private",), "--private and --force belong to --export."),
        (("--force", "--write"), "--private and --force belong to --export."),
    ],
)
def test_options_that_do_not_go_together(here: Memory, given: tuple[str, ...], message: str) -> None:
    run = here("view", *given, "--json")
    assert (run.code, run.error["message"]) == (2, message)
    assert not (here.cwd / "x").exists()


def test_an_argument_is_none_of_it(here: Memory) -> None:
    assert here("view", "somewhere").code == 2


# -- where it is opened ---------------------------------------------------------------------------


def projects(shown: Any) -> list[tuple[str, bool, str]]:
    return [(item["name"], item["current"], item["problem"]) for item in shown.get("/api/projects")["projects"]]


def test_outside_any_project_it_lists_them(here: Memory, tmp_path: Path) -> None:
    with viewing(here, cwd=tmp_path) as shown:
        assert shown.get("/api/session")["project"] == ""
        assert projects(shown) == [("harbor", False, "")]
        assert not list(tmp_path.iterdir()), "looking makes nothing"


def test_with_no_project_at_all(here: Memory, tmp_path: Path) -> None:
    with viewing(here, cwd=tmp_path, env={"MEMORY_HOME": str(tmp_path / "none")}) as shown:
        assert shown.said.splitlines()[1] == f"Projects: 0 ({tmp_path}/none/projects.json)"
        assert shown.get("/api/projects")["projects"] == []
    assert not (tmp_path / "none").exists()


def test_from_a_folder_below_and_by_the_project_option(here: Memory, tmp_path: Path) -> None:
    below = here.cwd / "src" / "deep"
    below.mkdir(parents=True)
    with viewing(here, "--json", cwd=below, lines=1) as shown:
        assert json.loads(shown.said)["data"]["project_root"] == str(here.cwd)
    shutil.rmtree(here.cwd / "src")
    line = [*here.program, "-C", str(here.cwd), "view", "--json"]
    process = subprocess.Popen(line, cwd=tmp_path, env=here.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert json.loads(said_by(process, 1))["data"]["project_root"] == str(here.cwd)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def odd(here: Memory, tmp_path: Path) -> Memory:
    """A repository without a memory, and a list of projects of its own."""
    root = tmp_path / "odd"
    root.mkdir()
    env = {**here.env, "MEMORY_HOME": str(tmp_path / "registry")}
    Git(root, env)("init", "--quiet")
    return Memory(root, env)


@pytest.mark.parametrize("layer", ["profile", "journal"])
def test_a_project_with_one_other_layer(odd: Memory, layer: str) -> None:
    line = ("journal", "init") if layer == "journal" else ("profile", "remember", "tools", "shell", "fish")
    run = odd(*line)
    assert run.code == 0, run
    with viewing(odd) as shown:
        name = shown.get("/api/session")["project"]
        assert name
        [entry] = shown.get("/api/projects")["projects"]
        assert (entry["current"], entry["available"], entry["problem"]) == (True, True, "")
        for path in ("", "/today", "/map", "/records", "/graph", "/timeline", "/inbox", "/search?q=a"):
            assert isinstance(shown.get(f"/api/projects/{name}{path}"), dict)
        for path in ("anchors", "coverage", "receipts", "files"):
            assert isinstance(shown.get(f"/api/projects/{name}/health/{path}"), dict)
        assert shown.end() == (0, b"", b"")
    assert not (odd.cwd / ".memory/config.json").exists(), "looking makes no other layer"


def test_a_project_whose_settings_are_damaged_says_so(odd: Memory) -> None:
    odd.init()
    config = odd.cwd / ".memory/config.json"
    config.write_bytes(b"{ no json")
    with viewing(odd) as shown:
        [entry] = shown.get("/api/projects")["projects"]
        assert entry["current"] is True
        assert shown.get(f"/api/projects/{entry['id']}")["unreadable"] == 1
        [problem] = shown.get(f"/api/projects/{entry['id']}/today")["problems"]
        assert "config.json" in json.dumps(problem)
        assert shown.end() == (0, b"", b"")
    assert config.read_bytes() == b"{ no json"


def test_a_project_of_another_version_says_so(odd: Memory) -> None:
    odd.init()
    config = odd.cwd / ".memory/config.json"
    config.write_bytes(config.read_bytes().replace(b'"version": 5', b'"version": 99', 1))
    assert b"99" in config.read_bytes()
    with viewing(odd) as shown:
        [entry] = shown.get("/api/projects")["projects"]
        assert entry["current"] is True
        status, told = fetch(shown.url, f"/api/projects/{entry['id']}")
        assert (status, told["error"]["code"]) == (412, "MemoryUnsupportedStorageVersion"), told
        assert "99" in told["error"]["message"]
        assert told["error"]["hint"]
        assert shown.end() == (0, b"", b"")


# -- the browser ----------------------------------------------------------------------------------


def stand_in(place: Path, seen: Path) -> Path:
    """A browser that writes down what it is started with."""
    script = place / "browser"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{seen}.part" && mv "{seen}.part" "{seen}"\n')
    script.chmod(0o755)
    return script


def test_a_browser_is_given_a_ticket_that_works_once(here: Memory, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    with viewing(here, "--open", env={"BROWSER": f"{stand_in(tmp_path, seen)} %s"}, lines=4) as shown:
        assert "\nOpened in your browser.\n" in shown.said
        link = until(lambda: seen.exists() and seen.read_text()).strip()
        assert shown.token not in link
        place, _, ticket = link.partition("#ticket=")
        assert place == f"http://127.0.0.1:{shown.port}/"
        assert len(ticket) == 48
        assert fetch(shown.url, "/api/ticket", {"ticket": "0" * 48}, token="")[0] == 404
        assert fetch(shown.url, "/api/ticket", {"ticket": ticket}, token="") == (200, {"data": {"token": shown.token}})
        assert fetch(shown.url, "/api/ticket", {"ticket": ticket}, token="")[0] == 404
        assert shown.end() == (0, b"", b"")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
def test_without_a_screen_it_says_so(here: Memory) -> None:
    with viewing(here, "--open", lines=4) as shown:
        assert "\nNo browser could be opened: open the link yourself.\n" in shown.said
        assert shown.get("/api/session")["write"] is False


def test_a_browser_that_fails_says_so(here: Memory, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with viewing(here, "--open", "--json", env={"BROWSER": f"{broken} %s"}, lines=1) as shown:
        data = json.loads(shown.said)["data"]
        assert (data["open_attempted"], data["opened"]) == (True, False)
        assert shown.end() == (0, b"", b"")
