"""The page's server as a process of its own: how many answers it gives, what it costs while nothing happens."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

IDLE_SECONDS = 30.0
REQUESTS = 1_000
_ASKED = 300
_SETTLE_SECONDS = 3.0

__all__ = ["IDLE_SECONDS", "REQUESTS", "Running", "first_answers", "measure_server", "running"]


class Running:
    """A page that is served, and one connection to it that is kept."""

    def __init__(self, memory: str, root: Path) -> None:
        begin = time.perf_counter()
        self._process = subprocess.Popen([memory, "view", "--json"], cwd=root, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        told = json.loads(self._process.stdout.readline())
        assert "data" in told, told
        self.link: str = told["data"]["url"]
        self.started = time.perf_counter() - begin
        # The clock of another process, as the kernel names it; threads that have ended are counted too.
        self._clock = (~self._process.pid << 3) | 2
        self._port = int(self.link.partition("127.0.0.1:")[2].partition("/")[0])
        self._token = {"Authorization": f"Bearer {self.link.partition('token=')[2]}"}
        self._connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        session = self.data("session")
        self.project: str = session["project"]
        assert self.project

    def get(self, path: str, *, inner: bool = True) -> bytes:
        """The body of an answer; `inner` paths are of the interface."""
        try:
            return self._got(path, inner=inner)
        except ConnectionError:  # it was idle for so long that the server closed it
            self._connection.close()
            return self._got(path, inner=inner)

    def _got(self, path: str, *, inner: bool) -> bytes:
        self._connection.request("GET", f"/api/{path}" if inner else path, headers=self._token)
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status == 200, (path, answer.status, data[:300])
        return data

    def data(self, path: str) -> Any:
        return json.loads(self.get(path))["data"]

    def about(self, path: str) -> str:
        return f"projects/{self.project}/{path}"

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Somebody listens, as an open page does."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        connection.request("GET", f"/api/events?project={self.project}", headers=self._token)
        answer = connection.getresponse()
        while not answer.readline().startswith(b"data:"):
            pass
        try:
            yield
        finally:
            connection.close()

    def cpu(self) -> float:
        return time.clock_gettime(self._clock)

    def held(self) -> float | None:
        """What the process holds in memory, in MB; only Linux says."""
        try:
            lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        except OSError:
            return None
        return next(round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith("VmRSS"))

    def end(self) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.communicate()


@contextlib.contextmanager
def running(memory: str, root: Path) -> Iterator[Running]:
    server = Running(memory, root)
    try:
        yield server
    finally:
        server.end()


def measure_server(memory: str, root: Path) -> dict[str, Any]:
    """Answers in a second, one after another on one connection; the idle page; what it holds in the end."""
    with running(memory, root) as server:
        records = server.about("records?limit=100")
        server.get(records)
        with server.listening():
            time.sleep(_SETTLE_SECONDS)
            begin, before = time.perf_counter(), server.cpu()
            time.sleep(IDLE_SECONDS)
            idle = (server.cpu() - before) / (time.perf_counter() - begin)
        floor = _rate(lambda _: server.get("/icon.svg", inner=False))
        kept = _rate(lambda _: server.get(records))
        pages = _rate(lambda number: server.get(server.about(f"records?limit=100&offset={number}")), _ASKED // 5)
        asked = _rate(lambda number: server.get(server.about(f"search?q=webhook+retry+{number}")), _ASKED // 5)
        before_many = server.held()
        for number in range(REQUESTS):
            server.get(server.about(f"search?q=refund+{number}") if number % 10 == 0 else records)
        return {
            "a file of the page, from memory: answers in a second": floor,
            "a kept answer (100 records): answers in a second": kept,
            "another page of records each time: answers in a second": pages,
            "another question each time: answers in a second": asked,
            "kept answer over the file, time": round(floor / kept, 2),
            "idle with one page that listens, share of a core": round(idle, 4),
            f"MB held, and after {REQUESTS:,} more requests": [before_many, server.held()],
            "kB of the kept answer": round(len(server.get(records)) / 1000, 1),
        }


def _rate(ask: Any, number: int = _ASKED) -> float:
    begin = time.perf_counter()
    for turn in range(number):
        ask(turn)
    return round(number / (time.perf_counter() - begin), 1)


def first_answers(memory: str, root: Path, paths: tuple[str, ...]) -> dict[str, list[float]]:
    """Milliseconds of the first answer after a commit, when every verdict is worked out anew, and of each one after."""
    found: dict[str, list[float]] = {}
    for path in paths:
        commit = ["git", "commit", "-q", "--allow-empty", "-m", "Another"]
        subprocess.run(commit, cwd=root, check=True, capture_output=True)
        with running(memory, root) as server:
            times = []
            for other in (path, *(one for one in paths if one != path)):
                begin = time.perf_counter()
                server.get(server.about(other))
                times.append(round((time.perf_counter() - begin) * 1000, 1))
            found[path] = times
    return found
