"""`memory view` as a process of its own: what it says, what it answers, how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from installed import Git, Memory, make_environment

__all__ = ["Shown", "children", "fetch", "is_alive", "made", "until", "viewing"]

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{48})(?![0-9a-f])")
SECONDS = 30.0


def until(holds: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """Wait until something holds; what it was then."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def children(pid: int) -> list[int]:
    """The processes that were started by one, dead ones among them."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


def fetch(url: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
    """An answer of the page of a link: its status, and its JSON."""
    found = LINK.search(url)
    assert found, url
    connection = HTTPConnection("127.0.0.1", int(found[1]), timeout=SECONDS)
    headers = {"authorization": f"Bearer {found[2] if token is None else token}", "content-type": "application/json"}
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request("GET" if body is None else "POST", path, data, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


class Shown:
    """A page that is served in the foreground."""

    def __init__(self, process: subprocess.Popen[bytes], said: str) -> None:
        self.process = process
        self.said = said
        found = LINK.search(said)
        assert found, said
        self.url, self.port, self.token = found[0], int(found[1]), found[2]

    def get(self, path: str) -> Any:
        status, told = fetch(self.url, path)
        assert status == 200, told
        return told["data"]

    def end(self, number: int = signal.SIGINT) -> tuple[int, bytes, bytes]:
        """Ask it to end; how it ended, and what else it said."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@contextlib.contextmanager
def viewing(
    memory: Memory, *arguments: str, env: Mapping[str, str] | None = None, lines: int = 3, **options: Any
) -> Iterator[Shown]:
    """The page on any free port, once it has said so many lines; ended afterwards."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(
        [*memory.program, "view", *arguments],
        **{"cwd": memory.cwd, "env": {**memory.env, **(env or {})}, **pipes, **options},
    )
    try:
        yield Shown(process, said_by(process, lines))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def said_by(process: subprocess.Popen[bytes], lines: int) -> str:
    assert process.stdout is not None
    said, end = b"", time.monotonic() + SECONDS
    while said.count(b"\n") < lines:
        ready = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0]
        more = os.read(process.stdout.fileno(), 65_536) if ready else b""
        assert more, (said.decode(), process.poll())
        said += more
    return said.decode()


def made(place: Path, *, layers: str = "") -> Memory:
    """A repository with a memory, in a home of its own."""
    env = make_environment(place)
    root = place / "harbor"
    root.mkdir()
    Git(root, env)("init", "--quiet")
    memory = Memory(root, env)
    memory.init(*(("--with", layers) if layers else ()))
    return memory
