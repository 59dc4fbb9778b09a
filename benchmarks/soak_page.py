"""The page in a soak: somebody looks at it and writes in it, and another one only listens."""

from __future__ import annotations

import json
import signal
import subprocess
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.soak_ground import Place
from benchmarks.soak_servers import LAYERS, Actor, close, ended

_SCREENS = (
    *("today", "records?limit=100", "map", "graph", "timeline", "inbox", "health/anchors", "health/receipts"),
    *("health/files", "health/coverage", "records?layer=facts&limit=50"),
)

__all__ = ["Listener", "Page", "PageUser"]


class Page:
    """`memory view --write`, and requests to it."""

    def __init__(self, place: Place, aside: Path) -> None:
        self.aside = aside
        with aside.open("wb") as file:
            self._process = subprocess.Popen(
                [place.program("memory"), "view", "--write", "--json"],
                cwd=place.root,
                env=place.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=file,
            )
        assert self._process.stdout is not None
        link: str = json.loads(self._process.stdout.readline())["data"]["url"]
        self.port = int(link.partition("127.0.0.1:")[2].partition("/")[0])
        self.headers = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
        self._connection = self.connect()
        self.project: str = self.ask("/api/session")["project"]

    @property
    def pid(self) -> int:
        return self._process.pid

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=60)

    def about(self, path: str) -> str:
        return f"/api/projects/{quote(self.project, safe='')}/{path}"

    def ask(self, path: str, body: Any = None) -> Any:
        try:
            status, data = self._asked(path, body)
        except (ConnectionError, HTTPException):  # it was idle for so long that the server closed it
            self._connection.close()
            status, data = self._asked(path, body)
        if status != 200:
            raise RuntimeError(f"{path} was answered with {status}: {data[:300]!r}")
        return json.loads(data)["data"]

    def _asked(self, path: str, body: Any) -> tuple[int, bytes]:
        data = None if body is None else json.dumps(body).encode()
        headers = {**self.headers, "Content-Type": "application/json"}
        self._connection.request("GET" if body is None else "POST", path, data, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def finish(self) -> str:
        self._connection.close()
        self._process.send_signal(signal.SIGTERM)
        code = ended(self._process)
        close(self._process.stdout)
        said = self.aside.read_bytes()
        return "" if code in (0, -signal.SIGTERM) and not said else f"ended with {code} and said {said[:300]!r}"


class Listener(Actor):
    """A page that is open: it waits for what the server tells of changes."""

    def __init__(self, page: Page, *given: Any) -> None:
        super().__init__(*given)
        self.page = page

    def turn(self, number: int) -> None:  # noqa: ARG002
        connection = self.page.connect()
        try:
            connection.request("GET", f"/api/events?project={quote(self.page.project)}", headers=self.page.headers)
            answer = connection.getresponse()
            while not self.over.is_set() and (line := answer.readline()):
                if line.startswith(b"data:"):
                    self.ledger.count("events that a page was told")
        finally:
            connection.close()


class PageUser(Actor):
    """Somebody at the page: looks at screens, searches, edits, replaces, marks as stale and takes it back."""

    def __init__(self, page: Page, *given: Any) -> None:
        super().__init__(*given)
        self.page = page
        self._board = ""
        self._ref = "decision.page-decision"

    def turn(self, number: int) -> None:
        way = number % 6
        if way == 1:
            self._edit()
        elif way == 3:
            self._replace()
        elif way == 5 and number % 12 == 5:
            self._take_back()
        elif way == 4:
            self._search()
        else:
            screen = _SCREENS[number // 2 % len(_SCREENS)]
            self._ask(self.page.about(screen), screen)

    def _ask(self, path: str, what: str, body: Any = None) -> Any:
        with self.ledger.timed(f"{self.name}: {what}"):
            found = self.page.ask(path, body)
        self.ledger.count(f"{self.name}, requests")
        return found

    def _act(self, **asked: str) -> Any:
        return self._ask(self.page.about("actions"), asked["action"], asked)

    def _record(self, ref: str) -> Any:
        return self._ask(self.page.about(f"record?ref={quote(ref)}"), "record")

    def _edit(self) -> None:
        word = self.ledger.word("graph")
        revision = self._record("gotcha.page-board")["revision"]
        if self._board:
            self.ledger.give_up(self._board)
        self._act(action="edit", ref="gotcha.page-board", revision=revision, body=f"Now it is {word}.")
        self.ledger.keep(word, self.name)
        self._board = word

    def _replace(self) -> None:
        word = self.ledger.word("graph")
        self._act(action="supersede", ref=self._ref, title=f"Pier {word}", body=f"The pier {word} is longer.")
        self.ledger.keep(word, self.name)
        self._ref = f"decision.pier-{word}"

    def _take_back(self) -> None:
        done = self._act(action="stale", ref=self._ref, reason="for a moment")
        self._ask(self.page.about("undo"), "undo", {"undo": done["undo"]})
        if self._record(self._ref)["item"]["status"] != "active":
            self.ledger.fail(f"{self.name}: what was taken back still counts: {self._ref}")

    def _search(self) -> None:
        known = self.ledger.last(8, LAYERS)
        if known:
            told = self.chance.choice(known)
            found = self._ask(self.page.about(f"search?q={told.word}"), "search")
            if told.word not in json.dumps(found) and told.word not in self.ledger.replaced:
                self.ledger.fail(f"{self.name}: {told.word}, which {told.by} told to {told.layer}, is not found")
