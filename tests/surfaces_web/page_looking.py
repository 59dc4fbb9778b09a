"""Somebody who looks at the page in a real browser, with an ear for everything that goes wrong in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response
from sample_store import NOW
from web_serving import PageDoor

__all__ = ["FLAGS", "Look", "Looking", "look_at", "project_of"]

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
READY = """() => !!document.querySelector("main h1")
    && !document.querySelector(".loading, [aria-busy=true], .project-wait, .graph[data-settled=false]")"""
SECONDS = 20


class Looking:
    """Somebody who looks at the page. Whatever a test is about, an error of the page fails it."""

    def __init__(self, context: BrowserContext, url: str, token: str, project: str, seconds: float = SECONDS) -> None:
        self.context = context
        self.url = url
        self.origin = url
        """Where everything has to come from."""
        self.token = token
        self.project = project
        self.expected: list[str] = []
        """What the browser may complain of in this test: patterns."""
        self.wrong: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(seconds * 1000)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(f"page error: {error}"))
        self.page.on("response", self._answered)
        self.page.on("request", lambda request: self._asked(request.url))

    def _answered(self, response: Response) -> None:
        if response.status >= 500:
            self.wrong.append(f"{response.status} {response.url}: {response.text()[:300]}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.wrong.append(f"console: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.origin, "data:")):
            self.wrong.append(f"asked elsewhere: {url}")

    def check(self) -> None:
        left = [said for said in self.wrong if not any(re.search(one, said) for one in self.expected)]
        assert left == [], left

    def link(self, screen: str = "", rest: str = "", **query: str) -> str:
        """The address of a screen of the project; without one, of the list of projects."""
        chosen = f"?{urlencode(query)}" if query else ""
        if not screen:
            return f"#/{chosen}"
        behind = f"/{quote(rest, safe='')}" if rest else ""
        return f"#/p/{quote(self.project, safe='')}/{screen}{behind}{chosen}"

    def sign_in(self) -> None:
        """Follow the link that the command prints."""
        self.page.goto(f"{self.url}#token={self.token}")
        self.ready()

    def open(self, screen: str = "", rest: str = "", **query: str) -> Page:
        """Type an address afresh, and wait until all of it is shown."""
        self.page.goto("about:blank")
        self.page.goto(self.url + self.link(screen, rest, **query))
        self.ready()
        return self.page

    def ready(self) -> None:
        self.page.wait_for_function(READY)

    def until(self, condition: str, argument: Any = None) -> None:
        """Wait until a function of JavaScript says yes."""
        self.page.wait_for_function(condition, arg=argument)

    @property
    def hash(self) -> str:
        return self.page.url.partition("#")[2]

    @property
    def heading(self) -> str:
        return self.page.locator("main h1").inner_text()


Look = Callable[..., Looking]


def project_of(door: PageDoor) -> str:
    project: str = door.get("/api/session")["project"]
    return project


def look_at(
    browser: Browser,
    door: PageDoor,
    *,
    now: str = NOW,
    width: int = 1280,
    height: int = 800,
    seconds: float = SECONDS,
    **options: Any,
) -> Looking:
    """Somebody who came in by the link, at the time of the product."""
    context = browser.new_context(viewport={"width": width, "height": height}, **{"timezone_id": "UTC", **options})
    context.clock.set_fixed_time(now)
    looking = Looking(context, f"{door.base}/", door.token, project_of(door), seconds)
    looking.sign_in()
    return looking
